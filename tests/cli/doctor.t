A clean trace:

  $ cp $TRACES/irmin-replay.ctf good.ctf
  $ allotrace doctor good.ctf
  /tmp/tmps_x37dww.sh: line 3: allotrace: command not found
  [127]

One that is cut short; the status says that there are defects:

  $ head -c 60000 good.ctf >cut.ctf
  $ allotrace doctor cut.ctf
  /tmp/tmps_x37dww.sh: line 7: allotrace: command not found
  [127]

One with rubbish in the middle, and its clean copy:

  $ (head -c 70000 good.ctf; head -c 5000 /dev/zero; tail -c +70001 good.ctf) >bad.ctf
  $ allotrace doctor bad.ctf -o clean.ctf
  /tmp/tmps_x37dww.sh: line 11: allotrace: command not found
  [127]
  $ allotrace doctor clean.ctf
  /tmp/tmps_x37dww.sh: line 13: allotrace: command not found
  [127]
  $ allotrace hotspots bad.ctf 2>warnings >before
  [127]
  $ allotrace hotspots clean.ctf | cmp - before
  /tmp/tmps_x37dww.sh: line 17: allotrace: command not found
  $ cat warnings
  /tmp/tmps_x37dww.sh: line 15: allotrace: command not found

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
  /tmp/tmps_x37dww.sh: line 32: allotrace: command not found
  [127]
  $ allotrace doctor --all clock.ctf >long
  /tmp/tmps_x37dww.sh: line 34: allotrace: command not found
  [127]
  $ grep -c ^byte short; test $(grep -c ^byte long) -gt 5
  0
  [1]
  $ tail -2 short | head -1

A trace may be repaired in place, and read from a pipe:

  $ cp cut.ctf here.ctf; allotrace doctor here.ctf -o here.ctf >/dev/null; allotrace doctor here.ctf
  /tmp/tmps_x37dww.sh: line 40: allotrace: command not found
  /tmp/tmps_x37dww.sh: line 40: allotrace: command not found
  [127]
  $ allotrace doctor - --output piped.ctf <cut.ctf | tail -1
  /tmp/tmps_x37dww.sh: line 42: allotrace: command not found
  $ cmp here.ctf piped.ctf
  cmp: piped.ctf: No such file or directory
  [2]

What cannot be read or written:

  $ allotrace doctor /etc/passwd
  /tmp/tmps_x37dww.sh: line 46: allotrace: command not found
  [127]
  $ : >empty; allotrace doctor empty
  /tmp/tmps_x37dww.sh: line 48: allotrace: command not found
  [127]
  $ allotrace doctor missing.ctf
  /tmp/tmps_x37dww.sh: line 50: allotrace: command not found
  [127]
  $ allotrace doctor cut.ctf -o no/such/folder.ctf
  /tmp/tmps_x37dww.sh: line 52: allotrace: command not found
  [127]
