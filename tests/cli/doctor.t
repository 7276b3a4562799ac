A clean trace:

  $ cp $TRACES/irmin-replay.ctf good.ctf
  $ allotrace doctor good.ctf
  good.ctf: no defects
    21,940 events can be used, over 35.88 s

One that is cut short; the status says that there are defects:

  $ head -c 60000 good.ctf >cut.ctf
  $ allotrace doctor cut.ctf
  byte 59993: the trace is cut short; every whole event before the cut was used (the trace ends within a packet)
  cut.ctf: 1 defect
    2,926 events can be used, over 4.24 s
  allotrace: hint: to write what can be used as a clean trace: allotrace doctor -o clean.ctf cut.ctf
  [3]

One with rubbish in the middle, and its clean copy:

  $ (head -c 70000 good.ctf; head -c 5000 /dev/zero; tail -c +70001 good.ctf) >bad.ctf
  $ allotrace doctor bad.ctf -o clean.ctf
  byte 69986: packets were lost here; backtraces may be wrong until the cache refills (a backtrace uses a bucket never filled)
  byte 70001: an event that cannot be decoded; the rest of its packet was skipped (an event of unknown kind; 9841 bytes skipped)
  byte 79842: bytes that are no packet; searched for the next one (no magic number where a packet should begin; 4858 bytes skipped)
  byte 84766: a name given before packets were lost; it may be the wrong one (the names of code 0x2b1063d813c0 were given before packets were lost)
  byte 84785: a name given before packets were lost; it may be the wrong one (the names of code 0x2b1063d8132c were given before packets were lost)
  byte 84855: a name given before packets were lost; it may be the wrong one (the names of code 0x2b1063a5ca2c were given before packets were lost)
  byte 84874: a name given before packets were lost; it may be the wrong one (the names of code 0x2b1063e10364 were given before packets were lost)
  byte 84958: a name given before packets were lost; it may be the wrong one (the names of code 0x2b1063a49f6d were given before packets were lost)
  bad.ctf: 163 defects
    160 × a name given before packets were lost; it may be the wrong one
    1 × packets were lost here; backtraces may be wrong until the cache refills
    1 × bytes that are no packet; searched for the next one
    1 × an event that cannot be decoded; the rest of its packet was skipped
    (the first 5 of each kind are listed; --all lists the rest)
    20,899 events can be used, over 35.88 s
    14.4 KB in 1 place cannot be used: events of 1.65 s are missing
    written as a clean trace to clean.ctf, which notes that events are missing
  [3]
  $ allotrace doctor clean.ctf
  byte 106168: events are missing here; the trace from which this one was made was damaged (5.904642 s to 7.549816 s from its start; 14699 bytes could not be read)
  clean.ctf: no defects
    20,899 events can be used, over 35.88 s
    14.4 KB in 1 place cannot be used: events of 1.65 s are missing
  $ allotrace hotspots bad.ctf 2>warnings >before
  $ allotrace hotspots clean.ctf | grep -v '^[0-9TE]' | cmp - <(grep -v '^[0-9TE]' before)
  $ allotrace hotspots clean.ctf | head -3
  Missing: 1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read).
  All else is there; blocks that were freed in what is missing count as live.
  75.3 GB total allocations (± 1.5 GB, 10,104 samples at rate 1e-6)
  $ allotrace check -e total=1TB clean.ctf | tail -2
  Checks that depend on the missing part of the trace cannot be decided at any rate.
  0 passed, 0 failed, 1 undecided
  $ cat warnings
  allotrace: warning: bad.ctf: byte 69986: packets were lost here; backtraces may be wrong until the cache refills
  allotrace: warning: bad.ctf: byte 70001: an event that cannot be decoded; the rest of its packet was skipped
  allotrace: warning: bad.ctf: byte 79842: bytes that are no packet; searched for the next one
  allotrace: warning: bad.ctf: byte 84766: a name given before packets were lost; it may be the wrong one (160 times)

What is missing stands in what both say, which is the same but for the frees of blocks that were lost:

  $ for command in summary leaks peak hotspots timeline lifetimes stats types tree advise; do
  >     for kind in '' --json; do
  >         allotrace $command $kind bad.ctf 2>/dev/null | sed 's/bad.ctf/FILE/g' >bad.said
  >         allotrace $command $kind clean.ctf 2>clean.warned | sed 's/clean.ctf/FILE/g' | cmp - bad.said
  >     done
  > done
  $ for f in bad clean; do allotrace info $f.ctf | grep -E 'missing  |duration|sampled'; allotrace info --json $f.ctf | grep -o '"missing":{[^}]*}'; done
    duration         35.88 s
    missing          1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read)
    sampled words    10,104
    sampled blocks   10,104
  "missing":{"places":1,"from":5904642,"to":7549816,"duration":1645174,"bytes":14699,"of":265131}
    duration         35.88 s
    missing          1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read)
    sampled words    10,104
    sampled blocks   10,104
  "missing":{"places":1,"from":5904642,"to":7549816,"duration":1645174,"bytes":14699,"of":265131}
  $ allotrace hotspots bad.ctf 2>/dev/null | head -2
  Missing: 1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read).
  All else is there; blocks that were freed in what is missing count as live.
  $ allotrace hotspots clean.ctf 2>&1 >/dev/null | grep -v hint
  [1]
  $ allotrace hotspots --json clean.ctf 2>&1 >/dev/null
  allotrace: warning: clean.ctf: byte 106168: events are missing here; the trace from which this one was made was damaged
  $ allotrace hotspots --index clean.ctf >/dev/null; allotrace hotspots clean.ctf | head -1; rm clean.ctf.idx
  Missing: 1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read).
  $ allotrace doctor clean.ctf -o again.ctf | tail -1; allotrace info again.ctf | grep 'missing  '
    written as a clean trace to again.ctf, which notes that events are missing
    missing          1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read)
  $ allotrace diff good.ctf clean.ctf | sed '1p; $!d'
  After lacks events: 1.65 s at 5.90 s (14.4 KB, 5.5% of the trace, cannot be read).
  Undecided: a trace is incomplete, and its missing part cannot be compared. Record it again.

So it is in parts of it, where these are missing:

  $ allotrace trim --from 5s --to 7s bad.ctf -o part.ctf 2>/dev/null; allotrace info part.ctf | grep 'missing  '
  part.ctf: 276 of 10,104 samples, in 276 of 10,104 blocks
    missing          1.10 s at 905 ms (14.4 KB, 5.5% of the trace, cannot be read)
  $ allotrace trim --from 1s --to 5s bad.ctf -o part.ctf 2>/dev/null; allotrace info part.ctf | grep 'missing  \|warnings'
  part.ctf: 1,199 of 10,104 samples, in 1,199 of 10,104 blocks
    warnings         0

A long list is shortened, unless all of it is wanted:

  $ python3 -c '
  > data = bytearray(open("good.ctf", "rb").read())
  > at = 0
  > while at < len(data):
  >     size = int.from_bytes(data[at + 4:at + 8], "little") // 8
  >     begin = int.from_bytes(data[at + 8:at + 16], "little")
  >     if at:
  >         data[at + 8:at + 24] = (begin - 10**9 * at).to_bytes(8, "little", signed=True) * 2
  >     at += size
  > open("clock.ctf", "wb").write(data)'
  $ allotrace doctor clock.ctf >short
  allotrace: hint: to write what can be used as a clean trace: allotrace doctor -o clean.ctf clock.ctf
  [3]
  $ allotrace doctor --all clock.ctf >long
  allotrace: hint: to write what can be used as a clean trace: allotrace doctor -o clean.ctf clock.ctf
  [3]
  $ grep -c ^byte short; test $(grep -c ^byte long) -gt 5
  5
  $ tail -2 short | head -1
    (the first 5 of each kind are listed; --all lists the rest)

A trace may be repaired in place, and read from a pipe:

  $ cp cut.ctf here.ctf; allotrace doctor here.ctf -o here.ctf >/dev/null; allotrace doctor here.ctf
  byte 56929: the recording ended before the program; what came later is missing (4.235599 s from its start: the file is cut short)
  here.ctf: 1 defect
    2,926 events can be used, over 4.24 s
  [3]
  $ allotrace doctor - --output piped.ctf <cut.ctf | tail -1
    written as a clean trace to piped.ctf, which notes that events are missing
  $ cmp here.ctf piped.ctf

What cannot be read or written:

  $ allotrace doctor /etc/passwd
  allotrace: /etc/passwd: byte 0: not a memtrace trace: it begins with 72 6f 6f 74 instead of c1 1f fc c1
  [1]
  $ : >empty; allotrace doctor empty
  allotrace: empty: byte 0: empty file
  [1]
  $ allotrace doctor missing.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ allotrace doctor cut.ctf -o no/such/folder.ctf
  allotrace: no/such/folder.ctf: cannot write: No such file or directory
  [1]

Two traces one behind the other are not one:

  $ cat $TRACES/ocamlopt.ctf $TRACES/ocamlopt.ctf >twice.ctf
  $ allotrace doctor -o once.ctf twice.ctf
  byte 137067: another trace begins here; what follows was left out (the head of another trace)
  twice.ctf: 1 defect
    3,499 events can be used, over 852 ms
    written as a clean trace to once.ctf
  [3]
  $ allotrace doctor once.ctf | head -1
  once.ctf: no defects
  $ diff <(allotrace dump once.ctf) <(allotrace dump $TRACES/ocamlopt.ctf)
  $ allotrace hotspots --strict twice.ctf
  allotrace: twice.ctf: byte 137067: the head of another trace
  [1]
