A trace without addresses stays as it is, to the byte:

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ allotrace symbolize a.ctf
  a.ctf: every place has its name already
  $ cmp a.ctf $TRACES/ocamlopt.ctf

With --output there is a copy of it, with the same events:

  $ allotrace symbolize -o b.ctf a.ctf
  a.ctf: every place has its name already
  $ cmp <(allotrace dump a.ctf) <(allotrace dump b.ctf)

It is read twice, so it has to be a file:

  $ allotrace symbolize - <a.ctf
  allotrace: symbolize reads its trace twice: it needs a file
  Try `allotrace symbolize --help`.
  [2]

One that cannot be used:

  $ allotrace symbolize missing.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ allotrace symbolize -o no/such/folder.ctf a.ctf
  allotrace: no/such/folder.ctf: No such file or directory
  [1]

One that some process is still recording:

  $ python3 -c 'import fcntl, subprocess, sys
  > with open("a.ctf", "r+b") as trace:
  >     fcntl.lockf(trace, fcntl.LOCK_EX)
  >     sys.exit(subprocess.run(["allotrace", "symbolize", "a.ctf"]).returncode)'
  allotrace: a.ctf: is still being recorded; use --output for what is there so far
  [1]
  $ cmp a.ctf $TRACES/ocamlopt.ctf
