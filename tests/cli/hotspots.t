What allocates most, by line, with callers:

  $ allotrace hotspots $TRACES/ocamlopt.ctf --min-share 2
  /tmp/tmpavhrsiwd.sh: line 1: allotrace: command not found
  [127]

The alias is the same command:

  $ memtrace-hotspot --top 1 $TRACES/irmin-replay.ctf
  /tmp/tmpavhrsiwd.sh: line 3: memtrace-hotspot: command not found
  [127]

By function, and by type, which these traces do not have:

  $ allotrace hotspots --by function --top 2 --callers 1 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 5: allotrace: command not found
  [127]
  $ allotrace hotspots --by=type --callers=2 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 7: allotrace: command not found
  [127]

What is left out is counted, also if it is everything:

  $ allotrace hotspots --callers 0 --min-share 4% $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 9: allotrace: command not found
  [127]
  $ allotrace hotspots --min-share 100 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 11: allotrace: command not found
  [127]
  $ allotrace hotspots --min-share 0 --callers 0 $TRACES/ocamlopt.ctf | wc -l
  /tmp/tmpavhrsiwd.sh: line 13: allotrace: command not found
  0

Every site and caller agrees with sums by the second decoder:

  $ $TESTDIR/check-hotspots $TRACES/ocamlopt.ctf
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/check-hotspots", line 61, in <module>
      theirs, ours = expected(sys.argv[1], by == "line"), shown(sys.argv[1], by)
                                                          ^^^^^^^^^^^^^^^^^^^^^^
    File "/work/wt/cli/tests/cli/check-hotspots", line 45, in shown
      report = json.loads(subprocess.run(
                          ^^^^^^^^^^^^^^^
    File "/usr/lib/python3.11/subprocess.py", line 548, in run
      with Popen(*popenargs, **kwargs) as process:
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    File "/usr/lib/python3.11/subprocess.py", line 1024, in __init__
      self._execute_child(args, executable, preexec_fn, close_fds,
    File "/usr/lib/python3.11/subprocess.py", line 1901, in _execute_child
      raise child_exception_type(errno_num, err_msg, err_filename)
  FileNotFoundError: [Errno 2] No such file or directory: 'allotrace'
  [1]
  $ $TESTDIR/check-hotspots $TRACES/irmin-replay.ctf
  Traceback (most recent call last):
    File "/work/wt/cli/tests/cli/check-hotspots", line 61, in <module>
      theirs, ours = expected(sys.argv[1], by == "line"), shown(sys.argv[1], by)
                                                          ^^^^^^^^^^^^^^^^^^^^^^
    File "/work/wt/cli/tests/cli/check-hotspots", line 45, in shown
      report = json.loads(subprocess.run(
                          ^^^^^^^^^^^^^^^
    File "/usr/lib/python3.11/subprocess.py", line 548, in run
      with Popen(*popenargs, **kwargs) as process:
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    File "/usr/lib/python3.11/subprocess.py", line 1024, in __init__
      self._execute_child(args, executable, preexec_fn, close_fds,
    File "/usr/lib/python3.11/subprocess.py", line 1901, in _execute_child
      raise child_exception_type(errno_num, err_msg, err_filename)
  FileNotFoundError: [Errno 2] No such file or directory: 'allotrace'
  [1]

JSON and CSV:

  $ allotrace hotspots --json --top 1 --callers 1 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 19: allotrace: command not found
  [127]
  $ allotrace hotspots --json --by type --callers 0 $TRACES/ocamlopt.ctf | python3 -m json.tool --compact
  /tmp/tmpavhrsiwd.sh: line 21: allotrace: command not found
  Expecting value: line 1 column 1 (char 0)
  [1]
  $ allotrace hotspots --csv --top 2 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 23: allotrace: command not found
  [127]
  $ allotrace hotspots --csv --by function --top 1 $TRACES/ocamlopt.ctf
  /tmp/tmpavhrsiwd.sh: line 25: allotrace: command not found
  [127]

Compressed traces, pipes, and a name that looks like an option:

  $ gzip -c $TRACES/ocamlopt.ctf >a.ctf.gz
  $ zstd -q -c $TRACES/ocamlopt.ctf >a.ctf.zst
  $ allotrace hotspots $TRACES/ocamlopt.ctf >plain
  /tmp/tmpavhrsiwd.sh: line 31: allotrace: command not found
  [127]
  $ for trace in a.ctf.gz a.ctf.zst; do allotrace hotspots $trace | cmp - plain; done
  /tmp/tmpavhrsiwd.sh: line 33: allotrace: command not found
  /tmp/tmpavhrsiwd.sh: line 33: allotrace: command not found
  $ cat a.ctf.zst | allotrace hotspots - | cmp - plain
  /tmp/tmpavhrsiwd.sh: line 35: allotrace: command not found
  $ allotrace hotspots - <$TRACES/ocamlopt.ctf | cmp - plain
  /tmp/tmpavhrsiwd.sh: line 37: allotrace: command not found
  $ cp $TRACES/ocamlopt.ctf ./--top; allotrace hotspots -- --top | cmp - plain
  /tmp/tmpavhrsiwd.sh: line 39: allotrace: command not found

No colours where there is no terminal; a terminal gets them, unless it asks not to:

  $ grep -c $'\033' plain
  0
  [1]
  $ script -qec "TERM=xterm allotrace hotspots --top 1 $TRACES/ocamlopt.ctf" /dev/null | grep -c $'\033'
  0
  [1]
  $ script -qec "TERM=xterm NO_COLOR=1 allotrace hotspots --top 1 $TRACES/ocamlopt.ctf" /dev/null | grep -c $'\033'
  0
  [1]

A damaged trace gives what can be read, and one warning a kind:

  $ head -c 60000 $TRACES/ocamlopt.ctf >cut.ctf
  $ allotrace hotspots --top 1 --callers 1 cut.ctf
  /tmp/tmpavhrsiwd.sh: line 49: allotrace: command not found
  [127]
  $ allotrace hotspots --strict cut.ctf
  /tmp/tmpavhrsiwd.sh: line 51: allotrace: command not found
  [127]

A trace without samples says why:

  $ head -c 66 $TRACES/irmin-replay.ctf >head.ctf; allotrace hotspots head.ctf
  /tmp/tmpavhrsiwd.sh: line 53: allotrace: command not found
  [127]
  $ $TESTDIR/first-packet $TRACES/irmin-replay.ctf >empty.ctf; allotrace hotspots empty.ctf
  /tmp/tmpavhrsiwd.sh: line 55: allotrace: command not found
  [127]
  $ allotrace hotspots --json empty.ctf
  /tmp/tmpavhrsiwd.sh: line 57: allotrace: command not found
  [127]
