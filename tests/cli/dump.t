The text layout, which scripts parse, is byte for byte that of the second decoder:

  $ allotrace dump $TRACES/ocamlopt.ctf | sed -n '2p;5p'
  /tmp/tmpdtw0lrsi.sh: line 1: allotrace: command not found
  $ for trace in ocamlopt irmin-replay; do
  >   allotrace dump $TRACES/$trace.ctf >dump
  >   python3 $TESTDIR/../decode.py $TRACES/$trace.ctf | cmp - dump
  >   allotrace dump --format plain $TRACES/$trace.ctf >plain
  >   python3 $TESTDIR/../decode.py --plain $TRACES/$trace.ctf | cmp - plain
  > done
  /tmp/tmpdtw0lrsi.sh: line 4: allotrace: command not found
  cmp: EOF on dump which is empty
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/../decode.py", line 294, in <module>
      main(sys.argv[1:])
    File "/work/wt/cli/tests/cli/../decode.py", line 288, in main
      print_full(decoder, sys.stdout, option == "--changed")
    File "/work/wt/cli/tests/cli/../decode.py", line 263, in print_full
      out.write("".join([" " + decoder.frame_text(code) for code in frames]) + "\n")
  BrokenPipeError: [Errno 32] Broken pipe
  /tmp/tmpdtw0lrsi.sh: line 6: allotrace: command not found
  cmp: EOF on plain which is empty
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/../decode.py", line 294, in <module>
      main(sys.argv[1:])
    File "/work/wt/cli/tests/cli/../decode.py", line 286, in main
      print_plain(decoder, sys.stdout)
    File "/work/wt/cli/tests/cli/../decode.py", line 249, in print_plain
      out.write(f"{time:010d} {ident:010d} {end}\n")
  BrokenPipeError: [Errno 32] Broken pipe
  /tmp/tmpdtw0lrsi.sh: line 4: allotrace: command not found
  cmp: EOF on dump which is empty
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/../decode.py", line 294, in <module>
      main(sys.argv[1:])
    File "/work/wt/cli/tests/cli/../decode.py", line 288, in main
      print_full(decoder, sys.stdout, option == "--changed")
    File "/work/wt/cli/tests/cli/../decode.py", line 263, in print_full
      out.write("".join([" " + decoder.frame_text(code) for code in frames]) + "\n")
  BrokenPipeError: [Errno 32] Broken pipe
  /tmp/tmpdtw0lrsi.sh: line 6: allotrace: command not found
  cmp: EOF on plain which is empty
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/../decode.py", line 294, in <module>
      main(sys.argv[1:])
    File "/work/wt/cli/tests/cli/../decode.py", line 286, in main
      print_plain(decoder, sys.stdout)
    File "/work/wt/cli/tests/cli/../decode.py", line 249, in print_plain
      out.write(f"{time:010d} {ident:010d} {end}\n")
  BrokenPipeError: [Errno 32] Broken pipe
  [1]
  $ wc -l <dump
  0
  $ head -4 plain

Kinds of events:

  $ cut -d' ' -f3 dump | sort | uniq -c

Without backtraces, and with a part of them:

  $ allotrace dump --no-backtraces $TRACES/ocamlopt.ctf | head -2
  /tmp/tmpdtw0lrsi.sh: line 16: allotrace: command not found
  $ allotrace dump --max-depth 1 $TRACES/ocamlopt.ctf | head -2
  /tmp/tmpdtw0lrsi.sh: line 18: allotrace: command not found
  $ allotrace dump --max-depth 100000 $TRACES/irmin-replay.ctf | cmp - dump
  /tmp/tmpdtw0lrsi.sh: line 20: allotrace: command not found

CSV, with as many fields in each row, and JSON, an object a line:

  $ allotrace dump -f csv --max-depth 2 $TRACES/ocamlopt.ctf | sed -n '1,2p;6p'
  /tmp/tmpdtw0lrsi.sh: line 22: allotrace: command not found
  $ allotrace dump -f csv $TRACES/ocamlopt.ctf | python3 -c '
  > import csv, sys
  > print({len(row) for row in csv.reader(sys.stdin)})'
  /tmp/tmpdtw0lrsi.sh: line 24: allotrace: command not found
  set()
  $ allotrace dump -f json --max-depth 1 $TRACES/ocamlopt.ctf | sed -n '1p;5p'
  /tmp/tmpdtw0lrsi.sh: line 28: allotrace: command not found
  $ allotrace dump -f json --no-backtraces $TRACES/ocamlopt.ctf | head -1
  /tmp/tmpdtw0lrsi.sh: line 30: allotrace: command not found

All formats tell of the same samples:

  $ allotrace dump -f json $TRACES/irmin-replay.ctf | python3 -c '
  > import json, sys
  > print(sum(json.loads(line).get("samples", 0) for line in sys.stdin))'
  /tmp/tmpdtw0lrsi.sh: line 32: allotrace: command not found
  0
  $ allotrace dump -f csv $TRACES/irmin-replay.ctf | python3 -c '
  > import csv, sys
  > print(sum(int(row["samples"] or 0) for row in csv.DictReader(sys.stdin)))'
  /tmp/tmpdtw0lrsi.sh: line 36: allotrace: command not found
  0
  $ awk '/ alloc/ { n += $4 } END { print n }' dump
  

The reader of a pipe may go away; that is no failure, and nothing is said:

  $ allotrace dump $TRACES/irmin-replay.ctf | head -1 | cut -c-40; echo ${PIPESTATUS[0]}
  /tmp/tmpdtw0lrsi.sh: line 42: allotrace: command not found
  127

A full disk is one:

  $ allotrace dump $TRACES/ocamlopt.ctf >/dev/full
  /tmp/tmpdtw0lrsi.sh: line 44: allotrace: command not found
  [127]

A damaged trace: what can be read, and a warning.

  $ head -c 60000 $TRACES/ocamlopt.ctf >cut.ctf
  $ allotrace dump --format plain cut.ctf | tail -1
  /tmp/tmpdtw0lrsi.sh: line 48: allotrace: command not found
