The text layout, which scripts parse, is byte for byte that of the second decoder:

  $ allotrace dump $TRACES/ocamlopt.ctf | sed -n '2p;5p'
  0000000461 0000000001 alloc 1 len=2 dom=0    1: $47124242283684 Main@trace_ocamlopt/main.ml:144:2-9 Main.main@trace_ocamlopt/main.ml:52:4-76 Stdlib__list.iter@list.ml:110:12-15 Clflags.add_arguments.(fun)@utils/clflags.ml:487:18-37 Stdlib.(@)@stdlib.ml:296:22-31 Stdlib.(@)@stdlib.ml:296:22-31 Stdlib.(@)@stdlib.ml:296:22-31 Stdlib.(@)@stdlib.ml:296:22-31 Stdlib.(@)@stdlib.ml:296:22-31 Stdlib.(@)@stdlib.ml:296:16-31
  0000002378 0000000000 collect
  $ for trace in ocamlopt irmin-replay; do
  >   allotrace dump $TRACES/$trace.ctf >dump
  >   python3 $TESTDIR/../decode.py $TRACES/$trace.ctf | cmp - dump
  >   allotrace dump --format plain $TRACES/$trace.ctf >plain
  >   python3 $TESTDIR/../decode.py --plain $TRACES/$trace.ctf | cmp - plain
  > done
  $ wc -l <dump
  21940
  $ head -4 plain
  0000013924 0000000000 A 376181
  0000026254 0000000001 a 4
  0000027511 0000000001 P
  0000028849 0000000002 a 12

A number of common frames with four digits has a blank more, as memtrace's own tool prints it:

  $ deep="alloc minor 1 1 $(for i in {1..1200}; do printf 'f@a.c:%d ' $i; done)"
  $ printf '%s\n' "$deep" "$deep" | $TESTDIR/make-trace >flat.ctf
  $ allotrace doctor flat.ctf -o deep.ctf >flat.txt
  $ allotrace dump deep.ctf | cut -c-51
  0000001000 0000000000 alloc 1 len=1 dom=0    0: f@a
  0000002000 0000000001 alloc 1 len=1 dom=0  1200: f@
  $ python3 $TESTDIR/../decode.py deep.ctf | cmp - <(allotrace dump deep.ctf)

Kinds of events:

  $ cut -d' ' -f3 dump | sort | uniq -c
    10595 alloc
       12 alloc_major
    10606 collect
      727 promote

Without backtraces, and with a part of them:

  $ allotrace dump --no-backtraces $TRACES/ocamlopt.ctf | head -2
  0000000322 0000000000 alloc 1 len=65 dom=0    0:
  0000000461 0000000001 alloc 1 len=2 dom=0    0:
  $ allotrace dump --max-depth 1 $TRACES/ocamlopt.ctf | head -2
  0000000322 0000000000 alloc 1 len=65 dom=0    0: ...+6 Stdlib__buffer.resize@buffer.ml:87:19-40
  0000000461 0000000001 alloc 1 len=2 dom=0    1: ...+10 Stdlib.(@)@stdlib.ml:296:16-31
  $ allotrace dump --max-depth 100000 $TRACES/irmin-replay.ctf | cmp - dump

CSV, with as many fields in each row, and JSON, an object a line:

  $ allotrace dump -f csv --max-depth 2 $TRACES/ocamlopt.ctf | sed -n '1,2p;6p'
  time,id,event,domain,source,length,samples,type,backtrace
  322,0,alloc,0,minor,65,1,,"...+5;Stdlib__buffer.add_string@buffer.ml:229:34-46;Stdlib__buffer.resize@buffer.ml:87:19-40"
  2378,0,collect,0,,,,,
  $ allotrace dump -f csv $TRACES/ocamlopt.ctf | python3 -c '
  > import csv, sys
  > print({len(row) for row in csv.reader(sys.stdin)})'
  {9}
  $ allotrace dump -f json --max-depth 1 $TRACES/ocamlopt.ctf | sed -n '1p;5p'
  {"time":322,"id":0,"event":"alloc","domain":0,"source":"minor","length":65,"samples":1,"cut":6,"backtrace":[{"function":"Stdlib__buffer.resize","file":"buffer.ml","line":87,"start":19,"end":40}]}
  {"time":2378,"id":0,"event":"collect","domain":0}
  $ allotrace dump -f json --no-backtraces $TRACES/ocamlopt.ctf | head -1
  {"time":322,"id":0,"event":"alloc","domain":0,"source":"minor","length":65,"samples":1}

All formats tell of the same samples:

  $ allotrace dump -f json $TRACES/irmin-replay.ctf | python3 -c '
  > import json, sys
  > print(sum(json.loads(line).get("samples", 0) for line in sys.stdin))'
  10607
  $ allotrace dump -f csv $TRACES/irmin-replay.ctf | python3 -c '
  > import csv, sys
  > print(sum(int(row["samples"] or 0) for row in csv.DictReader(sys.stdin)))'
  10607
  $ awk '/ alloc/ { n += $4 } END { print n }' dump
  10607

The reader of a pipe may go away; that is no failure, and nothing is said:

  $ allotrace dump $TRACES/irmin-replay.ctf | head -1 | cut -c-40; echo ${PIPESTATUS[0]}
  0000013924 0000000000 alloc_major 1 len=
  0

A full disk is one:

  $ allotrace dump $TRACES/ocamlopt.ctf >/dev/full
  allotrace: standard output: No space left on device
  [1]

A damaged trace: what can be read, and a warning.

  $ head -c 60000 $TRACES/ocamlopt.ctf >cut.ctf
  $ allotrace dump --format plain cut.ctf | tail -1
  allotrace: warning: cut.ctf: byte 60000: the trace is cut short; every whole event before the cut was used
  0000325686 0000000561 P
