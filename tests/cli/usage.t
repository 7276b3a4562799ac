Without arguments, the next step:

  $ allotrace 2>&1 >/dev/null | grep -o '^  allotrace h.*'
  [1]
  $ allotrace >/dev/null 2>&1
  [127]

The commands, and one of them:

  $ allotrace --help | grep -e : -e hotspots -e '^$' | head -5
  /tmp/tmp5_r29jya.sh: line 5: allotrace: command not found
  $ allotrace help | cmp - <(allotrace --help)
  /tmp/tmp5_r29jya.sh: line 7: allotrace: command not found
  /tmp/tmp5_r29jya.sh: line 7: allotrace: command not found
  $ allotrace -h | cmp - <(allotrace --help)
  /tmp/tmp5_r29jya.sh: line 9: allotrace: command not found
  /tmp/tmp5_r29jya.sh: line 9: allotrace: command not found
  $ allotrace help hotspots
  /tmp/tmp5_r29jya.sh: line 11: allotrace: command not found
  [127]
  $ allotrace hotspots --help | cmp - <(allotrace help hotspots)
  /tmp/tmp5_r29jya.sh: line 13: allotrace: command not found
  /tmp/tmp5_r29jya.sh: line 13: allotrace: command not found
  $ memtrace-hotspot -h | cmp - <(allotrace help hotspots)
  /tmp/tmp5_r29jya.sh: line 15: memtrace-hotspot: command not found
  /tmp/tmp5_r29jya.sh: line 15: allotrace: command not found
  $ allotrace doctor -h | tail -5
  /tmp/tmp5_r29jya.sh: line 17: allotrace: command not found
  $ allotrace --version
  /tmp/tmp5_r29jya.sh: line 19: allotrace: command not found
  [127]

Every command explains itself, in lines that fit a terminal, and gives an example:

  $ for command in $(allotrace completion plain | cut -f1 | sort -u); do
  >   allotrace help $command >text || echo $command: status $?
  >   awk -v c=$command 'length > 80 { print c ": " $0 }' text
  >   grep -q "^usage: allotrace $command" text || echo $command: no usage
  >   grep -q '^Examples\?:' text || echo $command: no example
  >   grep -q '^Exit status:' text || echo $command: no statuses
  > done
  /tmp/tmp5_r29jya.sh: line 21: allotrace: command not found

Wrong command lines say what is wrong, what may have been meant, and end with status 2:

  $ allotrace hotspot x.ctf
  /tmp/tmp5_r29jya.sh: line 29: allotrace: command not found
  [127]
  $ allotrace out.ctf
  /tmp/tmp5_r29jya.sh: line 31: allotrace: command not found
  [127]
  $ allotrace frobnicate
  /tmp/tmp5_r29jya.sh: line 33: allotrace: command not found
  [127]
  $ allotrace --verbose
  /tmp/tmp5_r29jya.sh: line 35: allotrace: command not found
  [127]
  $ allotrace help dmup
  /tmp/tmp5_r29jya.sh: line 37: allotrace: command not found
  [127]
  $ allotrace hotspots
  /tmp/tmp5_r29jya.sh: line 39: allotrace: command not found
  [127]
  $ allotrace hotspots a.ctf b.ctf
  /tmp/tmp5_r29jya.sh: line 41: allotrace: command not found
  [127]
  $ allotrace hotspots --tpo 3 a.ctf
  /tmp/tmp5_r29jya.sh: line 43: allotrace: command not found
  [127]
  $ allotrace hotspots --frobnicate a.ctf
  /tmp/tmp5_r29jya.sh: line 45: allotrace: command not found
  [127]
  $ allotrace hotspots --top
  /tmp/tmp5_r29jya.sh: line 47: allotrace: command not found
  [127]
  $ allotrace hotspots --top many a.ctf
  /tmp/tmp5_r29jya.sh: line 49: allotrace: command not found
  [127]
  $ allotrace hotspots --min-share 200 a.ctf
  /tmp/tmp5_r29jya.sh: line 51: allotrace: command not found
  [127]
  $ allotrace hotspots --by lines a.ctf
  /tmp/tmp5_r29jya.sh: line 53: allotrace: command not found
  [127]
  $ allotrace hotspots --json=yes a.ctf
  /tmp/tmp5_r29jya.sh: line 55: allotrace: command not found
  [127]
  $ allotrace hotspots --json --csv a.ctf
  /tmp/tmp5_r29jya.sh: line 57: allotrace: command not found
  [127]
  $ allotrace hotspots -x a.ctf
  /tmp/tmp5_r29jya.sh: line 59: allotrace: command not found
  [127]
  $ allotrace dump --no-backtrace a.ctf
  /tmp/tmp5_r29jya.sh: line 61: allotrace: command not found
  [127]
  $ allotrace info
  /tmp/tmp5_r29jya.sh: line 63: allotrace: command not found
  [127]

Files that are no traces, with status 1:

  $ allotrace hotspots missing.ctf
  /tmp/tmp5_r29jya.sh: line 65: allotrace: command not found
  [127]
  $ allotrace hotspots .
  /tmp/tmp5_r29jya.sh: line 67: allotrace: command not found
  [127]
  $ allotrace dump /dev/null
  /tmp/tmp5_r29jya.sh: line 69: allotrace: command not found
  [127]
  $ echo 'What is this?' >text; allotrace info text
  /tmp/tmp5_r29jya.sh: line 71: allotrace: command not found
  [127]
  $ allotrace hotspots - </dev/null
  /tmp/tmp5_r29jya.sh: line 73: allotrace: command not found
  [127]

Help that cannot be written:

  $ allotrace help >/dev/full
  /tmp/tmp5_r29jya.sh: line 75: allotrace: command not found
  [127]
  $ allotrace help | true; echo ${PIPESTATUS[0]}
  /tmp/tmp5_r29jya.sh: line 77: allotrace: command not found
  127
