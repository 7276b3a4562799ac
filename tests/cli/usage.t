Without arguments, the next step:

  $ allotrace
  allotrace: see where a program allocates memory.
  
    allotrace run -- PROGRAM ARGS…   record a program
    allotrace FILE.ctf               summarize a trace
    allotrace help                   list all commands
  [2]

The commands, and one of them:

  $ allotrace --help
  allotrace: see where a program allocates memory.
  
  usage: allotrace COMMAND [OPTIONS] [FILE…]
  
  Record:
    run         record a program's allocations
    attach      record a running process
    instrument  make an OCaml program write traces
  
  Look at a trace:
    view        show traces in a browser
    top         watch a program allocate, live in the terminal
    summary     show what matters most in a trace
    hotspots    show which code allocates most
    types       show which object types use the most memory
    tree        show allocations along call paths
    peak        show peak memory and what held it
    timeline    show live memory over time
    leaks       show what stays in memory, and whether it grows
    lifetimes   show how long blocks live
    advise      explain why the largest sites allocate, and what to change
    diff        show what changed between two traces
    check       check a trace against budgets
    info        show a trace's metadata
    export      convert a trace for other tools
    mcp         serve the analyses to coding agents (MCP)
  
  Repair and change traces:
    doctor      list and repair the defects of a trace
    symbolize   resolve the addresses in a trace to names
    trim        cut a trace to a time range
    merge       combine several traces into one
    import      make a trace from another tool's heap profile
  
  More: detach, agent, ctl, callers, callees, stats, dump, subsample, anonymise,
    help, completion
  
  `allotrace help COMMAND` explains a command. Further help topics: filter,
  measures, intervals, sites, heaps, environment, index, keep, push, statuses.
  FILE may be compressed with gzip or zstd; `-` is standard input.
  $ for c in '' $(allotrace completion plain | cut -f1 | sort -u); do allotrace help $c | awk -v c="$c" 'END { if (NR > 40) print c, NR }'; done
  $ allotrace help | cmp - <(allotrace --help)
  $ allotrace -h | cmp - <(allotrace --help)
  $ allotrace help hotspots
  usage: allotrace hotspots [OPTIONS] FILE…
  
  Shows the total that the program allocated, then the sites that allocated it,
  largest first, each with the nearest callers outside of libraries. By default
  all allocations count, freed or not; --measure selects others.
  
  Amounts are estimates from samples; ± is the 95% confidence interval. 1 MB is
  2^20 bytes.
  
  Options:
        --by BY                 one row per line (default), function, type,
                                thread, scope, trace or span
    -n, --top N                 show at most N rows
        --min-share P           hide rows below P percent (default 0.5)
        --callers N             show at most N callers of each row (default 3)
    -f, --filter FILTER         count only matching blocks: see `help filter`
    -m, --measure MEASURE       what to sum: see `help measures`
        --at TIME               the time for --measure live (default: the end)
        --wrappers skip|show    show functions such as xmalloc: see `help sites`
        --json                  write JSON instead of text
        --csv                   write CSV instead of text, one row per line
        --fields                list the fields of JSON and the columns of CSV
        --last TIME             use only the last TIME of the trace, such as 10min
        --color auto|always|never
                                colour the text (default: on a terminal)
        --full-names            do not shorten names
        --index                 save the parsed trace: see `help index`
        --strict                stop at the first defect of a trace
    -h, --help                  show this help
  
  Examples:
    allotrace hotspots out.ctf
    allotrace hotspots --by function --top 10 out.ctf
    allotrace hotspots --by thread --measure live out.ctf
    allotrace hotspots --measure peak --filter 'size:>=1M' out.ctf
  
  Exit status: 0 success; 1 an input or output cannot be used; 2 wrong usage.
  $ allotrace hotspots --help | cmp - <(allotrace help hotspots)
  $ memtrace-hotspot -h | cmp - <(allotrace help hotspots)
  $ memtrace-hotspot -help | cmp - <(allotrace help hotspots)
  $ memtrace-viewer -version | cmp - <(allotrace --version)
  $ memtrace-hotspot -top 1 -- -top 2>&1 | grep -o 'top: .*'
  top: No such file or directory
  $ memtrace-viewer -port=x x.ctf
  allotrace: --port: `x` is not a whole number
  Try `allotrace view --help`.
  [2]
  $ allotrace doctor -h | tail -5
    allotrace doctor out.ctf
    allotrace doctor out.ctf -o clean.ctf
  
  Exit status: 0 success; 1 an input or output cannot be used; 2 wrong usage;
    3  the trace can be read, but has defects (with -o: and was repaired)
  $ allotrace --version
  allotrace 0.1.0
  profiles are pushed by OTLP 1.10 (opentelemetry.proto.profiles.v1development)

Every command explains itself on a screen of 80 columns and 40 lines, and gives an example:

  $ for command in $(allotrace completion plain | cut -f1 | sort -u); do
  >   allotrace help $command >text || echo $command: status $?
  >   grep -E '^.{81}' text | sed "s|^|$command: |"
  >   [ $(wc -l <text) -le 40 ] || echo $command: $(wc -l <text) lines
  >   grep -q "^usage: allotrace $command" text || echo $command: no usage
  >   grep -q '^Examples\?:' text || echo $command: no example
  >   grep -q '^Exit status:' text || echo $command: no statuses
  > done

The settings of the recorder explain themselves as well, with their defaults:

  $ allotrace help environment | sed -n '/MEMTRACE_RATE/,/MEMTRACE_CONTEXT/p'
    MEMTRACE_RATE       the probability with which each allocated word is sampled,
                        above 0 and at most 1 (default: 1e-5)
    MEMTRACE_CONTEXT    a comment to store in the trace
  $ allotrace help environment | grep -o '^  MEMTRACE[A-Z_]*' | sort | cmp - <(grep -oE '"MEMTRACE[A-Z_]*"' $TESTDIR/../../src/contract/settings.h $TESTDIR/../../src/contract/runtimes.h | sed 's/.*"\(.*\)"/  \1/' | sort)

Wrong command lines say what is wrong, what may have been meant, and end with status 2:

  $ allotrace hotspot x.ctf
  allotrace: there is no command `hotspot`; did you mean `hotspots`?
  Try `allotrace --help`.
  [2]
  $ allotrace out.ctf
  allotrace: out.ctf: No such file or directory
  [1]
  $ for theirs in record report flamegraph live; do allotrace $theirs x 2>&1 | head -1; done
  allotrace: there is no command `record`; did you mean `run`?
  allotrace: there is no command `report`; did you mean `hotspots`?
  allotrace: there is no command `flamegraph`; did you mean `view`?
  allotrace: there is no command `live`; did you mean `top`?
  $ allotrace frobnicate
  allotrace: there is no command `frobnicate`
  Try `allotrace --help`.
  [2]
  $ allotrace --verbose
  allotrace: unknown option --verbose before the command
  Try `allotrace --help`.
  [2]
  $ allotrace help dmup
  allotrace: there is no command or topic `dmup`; did you mean `dump`?
  Try `allotrace --help`.
  [2]
  $ allotrace hotspots
  allotrace: hotspots needs a trace file
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace doctor a.ctf b.ctf
  allotrace: doctor takes only one trace; unexpected `b.ctf`
  Try `allotrace doctor --help`.
  [2]
  $ allotrace hotspots --tpo 3 a.ctf
  allotrace: hotspots has no option --tpo; did you mean --top?
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --frobnicate a.ctf
  allotrace: hotspots has no option --frobnicate
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --top
  allotrace: --top needs a value
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --top many a.ctf
  allotrace: --top: `many` is not a whole number
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --top 99999999999999999999 a.ctf
  allotrace: --top: `99999999999999999999` is too large: at most 18446744073709551615
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --min-share 0x10 a.ctf
  allotrace: --min-share: `0x10` is not a percentage from 0 to 100
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --min-share 200 a.ctf
  allotrace: --min-share: `200` is not a percentage from 0 to 100
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --by lines a.ctf
  allotrace: --by: `lines` is not one of line, function, type, thread, scope, trace, span; did you mean line?
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --json=yes a.ctf
  allotrace: --json takes no value
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --json --csv a.ctf
  allotrace: hotspots: --json and --csv exclude each other
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots -x a.ctf
  allotrace: hotspots has no option -x
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace dump --no-backtrace a.ctf
  allotrace: dump has no option --no-backtrace; did you mean --no-backtraces?
  Try `allotrace dump --help`.
  [2]
  $ allotrace info
  allotrace: info needs a trace file
  Try `allotrace info --help`.
  [2]

Numbers are decimal, everywhere:

  $ while read -r words; do
  >   for bad in 0x10 ' 5' -1 inf nan '' 1e999; do
  >     echo "$words" | sed "s/N/'$bad'/" >line
  >     (eval "$(cat line)") >said 2>&1
  >     [ $? = 2 ] && head -1 said | grep -q '^allotrace: ' || { cat line said; }
  >   done
  > done <<'EOF'
  > allotrace hotspots --top N a.ctf
  > allotrace hotspots --min-share N a.ctf
  > allotrace hotspots --measure live --at N a.ctf
  > allotrace run --rate N ls
  > allotrace run --depth N ls
  > allotrace subsample N -o b.ctf a.ctf
  > allotrace diff --per N a.ctf b.ctf
  > allotrace check --within N --expect f=1B a.ctf
  > allotrace check --expect f=N a.ctf
  > allotrace attach --duration N 1
  > allotrace detach N
  > allotrace hotspots --filter size:N a.ctf
  > EOF

An empty name is no name:

  $ allotrace hotspots ''
  allotrace: hotspots: word 1 is empty
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace export --to csv -o '' a.ctf
  allotrace: --output: file name is empty
  Try `allotrace export --help`.
  [2]

Files that are no traces, with status 1:

  $ allotrace hotspots missing.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ allotrace hotspots .
  allotrace: .: this folder contains no trace
  [1]
  $ allotrace dump /dev/null
  allotrace: /dev/null: byte 0: empty file
  [1]
  $ echo 'What is this?' >text; allotrace info text
  allotrace: text: byte 0: not a memtrace trace: it begins with 57 68 61 74 instead of c1 1f fc c1
  [1]
  $ allotrace hotspots - </dev/null
  allotrace: standard input: byte 0: empty file
  [1]

A name cannot give orders to a terminal, nor begin a line of its own:

  $ allotrace hotspots $'no\e[31msuch\xC2\x9B1m\xFF.ctf'
  allotrace: no?[31msuch?1m�.ctf: No such file or directory
  [1]
  $ printf 'alloc major 9 10 main@m.c:1 f\e[31m\u009b1m@a.c:2\n' | $TESTDIR/make-trace >orders.ctf
  $ allotrace hotspots orders.ctf | sed -n 2p
    share             B  blocks  site
  $ allotrace dump orders.ctf | cat -v
  0000001000 0000000000 alloc_major 10 len=9 dom=0    0: main@m.c:1:0-0 f?[31m?1m@a.c:2:0-0

Help that cannot be written:

  $ allotrace help >/dev/full
  allotrace: standard output: No space left on device
  [1]
  $ allotrace help | true; echo ${PIPESTATUS[0]}
  0

On a narrow terminal, help is as wide as that:

  $ on() { script -qec "stty cols $1; allotrace $2" /dev/null | tr -d '\r'; }
  $ on 40 'merge --help' | sed -n '1,/^Example/p'
  usage: allotrace merge [OPTIONS] FILE…
  
  Combines the traces of several processes
  or runs into one. Events are aligned by
  wall clock, and domains (threads) are
  renumbered in the order of the traces.
  Symbolize traces of native programs
  first, because the result contains
  places from many programs.
  
  Memory that a process still holds when
  its trace ends counts as freed at that
  time, unless the combined trace ends
  there, too.
  
  If rates differ, traces are thinned to
  the lowest, as by subsample, with a
  warning. Estimates stay unbiased.
  
  Options:
    -o, --output OUT
          write to OUT, replacing it,
          instead of standard output
        --seed N
          seed for thinning traces to a
          common rate (default 0)
        --strict
          stop at the first defect of a
          trace
    -h, --help
          show this help
  
  Example:
  $ on 44 'help' | sed -n '5,14p'
  Record:
    run         record a program's allocations
    attach      record a running process
    instrument  make an OCaml program write
                traces
  
  Look at a trace:
    view        show traces in a browser
    top         watch a program allocate, live
                in the terminal
  $ on 80 'leaks --help' | cmp - <(allotrace leaks --help)

What is said on standard error is as wide as a terminal as well, but for commands that are to be copied, and excerpts:

  $ on 40 "check --expect parser_of_expressions=1MB $TRACES/ocamlopt.ctf" | grep -A3 warning
  allotrace: warning: nothing in the trace
      is called `parser_of_expressions`:
      it allocates too little to be
      sampled, or has a different name
  $ on 40 "types $TRACES/ocamlopt.ctf" | grep -A3 hint
  allotrace: hint: the trace records no
      types for these blocks; traces of
      OCaml programs never do; to see
      places: allotrace hotspots
  $ on 24 "types $TRACES/ocamlopt.ctf" | grep hotspots
      allotrace hotspots
  $ on 30 "hotspots --filter 'fn:/a_long_pattern_that_is_wider/ alloc:10x' $TRACES/ocamlopt.ctf"
  allotrace: --filter: column
      43: a time must end in us,
      ms, s, min or h
    fn:/a_long_pattern_that_is_wider/ alloc:10x
                                              ^
  Try `allotrace hotspots --help`.
  $ COLUMNS=40 allotrace types $TRACES/ocamlopt.ctf 2>&1 >/dev/null
  allotrace: hint: the trace records no types for these blocks; traces of OCaml programs never do; to see places: allotrace hotspots
  $ on 40 'run -o s.ctf --rate 1 -- true' | sed -n 's/[0-9][0-9.,]*/N/gp'
      rate N into s.ctf, N B

Case does not count where a name is nearly right; command lines to copy are quoted for a shell:

  $ allotrace hotspots --TOP 3 missing.ctf
  allotrace: hotspots has no option --TOP; did you mean --top?
  Try `allotrace hotspots --help`.
  [2]
  $ cp $TRACES/ocamlopt.ctf "it's mine.ctf"
  $ allotrace leaks "it's mine.ctf" 2>&1 >/dev/null
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'interf.ml:52' 'it'\''s mine.ctf'
  $ allotrace "it's mine.ctf" | grep -m 1 More
  More: allotrace peak 'it'\''s mine.ctf'
  $ cp $TRACES/ocamlopt.ctf é.ctf
  $ allotrace advise é.ctf | grep -om1 "[^ ]*\.ctf.*"
  'é.ctf'

What debug information adds to a recording:

  $ allotrace help run | tr -s '\n ' ' ' | grep -o 'Call stacks name[^.]*\.'
  Call stacks name functions; with debug information (-g), also files, lines and inlined functions.

The library of the page's server is loaded only when a page is served. Here the loader cannot use it:

  $ mkdir none; : >none/libmicrohttpd.so.12
  $ LD_LIBRARY_PATH=$PWD/none allotrace view --no-open é.ctf
  allotrace: libmicrohttpd is not installed (Debian: apt-get install libmicrohttpd12)
  [1]
