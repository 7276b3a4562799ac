  $ cd $TRACES; allotrace info ocamlopt.ctf irmin-replay.ctf; cd - >/dev/null
  ocamlopt.ctf
    program          /home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe
    host             tarski
    pid              17157
    runtime          OCaml, a=0,b=1,H=0,i=15,l=0,o=80,O=500,p=0,s=262144,t=0,v=0,w=1,W=0
    started          2020-04-15 15:48:31 UTC
    duration         852 ms
    rate             2e-5 (one sample represents 390.6 KB)
    sampled words    1,676
    sampled blocks   1,676
      freed          1,566
    allocated        639.3 MB ± 30.6 MB
      minor          635.5 MB ± 30.5 MB
      major          3.8 MB ± 2.4 MB
    promoted         15.4% of the minor heap's
    domains          1
    distinct stacks  1,516
    format           version 3, 64-bit words
    file             133.9 KB
    warnings         0
  
  irmin-replay.ctf
    program          /tmp/l/github/irmin-worktree-main/_build/default/bench/irmin-pack/tree.exe
    host             pc1156-nvmp3
    pid              41766
    runtime          OCaml, a=2,b=0,H=0,i=15,l=0,o=120,O=500,p=0,s=262144,t=0,v=0,w=1,W=0
    started          2022-11-10 13:23:58 UTC
    duration         35.88 s
    rate             1e-6 (one sample represents 7.6 MB)
    sampled words    10,607
    sampled blocks   10,607
      freed          10,606
    allocated        79.0 GB ± 1.5 GB
      minor          78.9 GB ± 1.5 GB
      major          91.6 MB ± 51.8 MB
    promoted         6.9% of the minor heap's
    domains          1
    distinct stacks  2,873
    format           version 2, 64-bit words
    file             254.0 KB
    warnings         0

The runtime is that of the frames; of a program without a heap of its own, what heaps have is left out:

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ printf 'rate 1\nalloc external 9 10 work@a.py:1 main@m.c:1\nalloc external 9 10 work@a.lua:1\ncollect 0\n' | "$TESTDIR"/make-trace >native.ctf
  $ allotrace info native.ctf
  native.ctf
    program          prog
    host             host
    pid              4242
    runtime          Python, Lua
    started          2023-11-14 22:13:20 UTC
    duration         3 ms
    rate             1 (one sample represents 8 B)
    sampled words    20
    sampled blocks   2
      freed          1
    allocated        160 B
    distinct stacks  2
    format           version 3, 64-bit words
    file             379 B
    warnings         0
  $ printf 'rate 1\nalloc external 9 10 main@m.c:1\nalloc major 9 10 main@m.c:2\n' | "$TESTDIR"/make-trace | allotrace info - | grep -E 'runtime|major|outside|promoted|domains'
      major          80 B
      outside        80 B
    domains          1
  $ allotrace info --json native.ctf | jq -c '.[0] | .runtime, .context, .domains, .collected_blocks, .promoted.value'
  ""
  ""
  1
  1
  0

As JSON, an array:

  $ allotrace info --json a.ctf
  [{"file":"a.ctf","file_size":137067,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","host":"tarski","pid":17157,"context":"","runtime":"a=0,b=1,H=0,i=15,l=0,o=80,O=500,p=0,s=262144,t=0,v=0,w=1,W=0","version":3,"word_size":64,"rate":2e-05,"start":1586965711174340,"duration":851795,"collected_blocks":1566,"domains":1,"distinct_stacks":1516,"suspect_blocks":0,"allocated":{"value":670400000,"low":638684955,"high":703282309,"samples":1676,"blocks":1676},"minor":{"value":666400000,"low":634780854,"high":699186439,"samples":1666,"blocks":1666},"major":{"value":4000000,"low":1918155,"high":7356142,"samples":10,"blocks":10},"external":{"value":0,"low":0,"high":1475552,"samples":0,"blocks":0},"promoted":{"value":102800000,"low":90614797,"high":116167150,"samples":257,"blocks":257,"share":0.154262},
   "marks":[],
   "gauges":[],
   "warnings":[]}]
  $ allotrace info --json a.ctf - <a.ctf | python3 -c '
  > import json, sys
  > for trace in json.load(sys.stdin): print(trace["file"], trace["allocated"]["samples"])'
  a.ctf 1676
  standard input 1676

Promotions agree with the events:

  $ allotrace dump --no-backtraces a.ctf | awk '
  > $3 == "alloc" { samples[$2] = $4; all += $4 }
  > $3 == "promote" { promoted += samples[$2] }
  > END { printf "%d of %d\n", promoted, all }'
  257 of 1666

What is wrong with a file is part of the answer; one that cannot be read does not hide the others:

  $ head -c 60000 a.ctf >cut.ctf
  $ allotrace info nothing.ctf cut.ctf | grep -A1 -e '^[^ ]' -e "^  warnings" -e "first at"
  allotrace: nothing.ctf: No such file or directory
  cut.ctf
    program          /home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe
  --
    warnings         1
  
  Warnings:
    first at byte  times  warning
           60,000      1  the trace is cut short; every whole event before the cut was used
  $ allotrace info nothing.ctf cut.ctf >/dev/null
  allotrace: nothing.ctf: No such file or directory
  [1]
  $ allotrace info --strict cut.ctf
  allotrace: cut.ctf: byte 60000: the trace ends within a packet
  [1]

Of the last part of a trace, the amounts include what was live at its start, and it is said how much that is:

  $ printf 'alloc major 99 100 main@a.c:1\nlater 10\nalloc major 9 10 main@a.c:2\n' | $TESTDIR/make-trace >early.ctf
  $ allotrace info --last 5s early.ctf | grep -A 1 allocated
    allocated        880 B
      before it      800 B
  $ allotrace info --last 5s --json early.ctf | jq -c '.[].before.value, .[].allocated.value'
  800
  880
  $ allotrace info --json early.ctf | jq -c '.[].before'
  null
