The live table needs a terminal (tests/top has one):

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ allotrace top a.ctf </dev/null
  allotrace: top needs a terminal, but standard output is not one; use `allotrace hotspots` for a plain table
  [1]
  $ setsid -w allotrace run --live -- true </dev/null
  allotrace: --live needs a terminal
  [1]
  $ TERM=dumb script -qec 'allotrace top a.ctf' /dev/null </dev/null | tr -d '\r'
  allotrace: top needs a terminal that can move the cursor, and $TERM does not name one

What it takes:

  $ allotrace top
  allotrace: top needs a trace file or a process id
  Try `allotrace top --help`.
  [2]
  $ allotrace top a.ctf b.ctf
  allotrace: top takes only one trace or process; unexpected `b.ctf`
  Try `allotrace top --help`.
  [2]
  $ allotrace top -- cat a.ctf
  allotrace: top shows a trace or a process; to record a program and watch it: allotrace run --live -- cat …
  Try `allotrace top --help`.
  [2]
  $ allotrace top --sort size a.ctf
  allotrace: --sort: `size` is not one of live, allocated, rate, growth
  Try `allotrace top --help`.
  [2]
  $ allotrace top --filter size:x a.ctf
  allotrace: --filter: column 6: `x` does not begin with a number
    size:x
         ^
  Try `allotrace top --help`.
  [2]
  $ TERM=linux script -qec 'allotrace top missing.ctf; echo $?; allotrace top 99999999; echo $?' /dev/null </dev/null | tr -d '\r'
  allotrace: missing.ctf: No such file or directory
  1
  allotrace: there is no process 99999999
  1
