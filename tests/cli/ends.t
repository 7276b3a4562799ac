A recording that a limit for the size of files ends, and what everything says about its trace.

  $ command -v gcc >/dev/null || exit 80
  $ cat >many.c <<'END'
  > #include <stdlib.h>
  > __attribute__((noinline)) static void *take(int n) { return malloc(n); }
  > int main(int argc, char **argv) {
  >     for (int i = 0; i < atoi(argv[1]); i++)
  >         free(take(16 + i % 100));
  >     return argc - 2;
  > }
  > END
  $ gcc -g -O1 -o many many.c
  $ times() { sed -E 's/[0-9.]+ (µs|ms|s)\b/TIME/g; s/at [0-9.e-]+ s/at TIME/; s/[0-9,.]+ (B|KB|MB)/SIZE/g; s/[0-9][0-9,]+ (blocks|samples|allocations|events)/MANY \1/g; s/byte [0-9]+/byte N/; s/[0-9.]+ s from/TIME from/; s#(\S*/)?early.ctf#early.ctf#g'; }

  $ (ulimit -f 1000; allotrace run -r 1 -o early.ctf -- ./many 300000) 2>&1 | times | grep -v 'top sites\|look closer\|peak:\|advice:'
  allotrace: early.ctf: recording has ended: File too large
  allotrace: recorded the allocations up to TIME, SIZE in MANY blocks, into early.ctf, SIZE
  allotrace: early.ctf ends early, at TIME: the trace cannot be written: File too large
  $ allotrace run -q -r 1 -o whole.ctf -- ./many 300000

Commands say so in their heads, and no figure is called exact for the whole run:

  $ allotrace info early.ctf | times | grep 'ends early\|allocated\|warnings\|program;' | sed 's/^ *[0-9,]*  *1  the/  N  1  the/'
    ends early       at TIME: the trace cannot be written: File too large; MANY allocations could not be written, and all later ones
    allocated        SIZE
    warnings         1
    N  1  the recording ended before the program; what came later is missing
  $ for command in hotspots peak timeline leaks lifetimes stats types tree advise; do
  >     allotrace $command early.ctf 2>&1 | times | head -4 | grep -c 'ends early, at TIME: the trace cannot be written: File too large'
  > done | sort | uniq -c | awk '{ print $1, $2 }'
  9 1
  $ allotrace hotspots early.ctf 2>/dev/null | times | head -3
  The trace ends early, at TIME: the trace cannot be written: File too large.
  Everything after that is missing: MANY allocations that could not be written, and all later ones.
  SIZE total allocations (exact up to TIME, MANY blocks at rate 1)
  $ for command in info hotspots peak timeline leaks lifetimes stats tree advise; do
  >     allotrace $command --json early.ctf 2>/dev/null | grep -o '"ends_early":{"time":[0-9]*,"how":"early","lost_allocations":[0-9]*,"reason":"the trace cannot be written: File too large"' | wc -l
  > done | sort | uniq -c | awk '{ print $1, $2 }'
  9 1
  $ allotrace hotspots --json whole.ctf | grep -c ends_early
  0
  [1]
  $ allotrace info --json whole.ctf | grep -o '"end":{"time":[0-9]*,"reason":""}' | wc -l
  1

Files for other tools say so, too:

  $ allotrace export --to sqlite -o early.db early.ctf 2>/dev/null; python3 -c "import sqlite3; print(sqlite3.connect('early.db').execute('SELECT ends_early > 0, reason FROM trace').fetchall())"
  [(1, 'the trace cannot be written: File too large')]

The index keeps it:

  $ allotrace hotspots --index early.ctf >/dev/null 2>&1; allotrace hotspots early.ctf 2>&1 | times | head -2
  The trace ends early, at TIME: the trace cannot be written: File too large.
  Everything after that is missing: MANY allocations that could not be written, and all later ones.
  $ rm early.ctf.idx

It is a defect, and reading strictly an error:

  $ allotrace doctor early.ctf | times
  byte N: the recording ended before the program; what came later is missing (TIME from its start: the trace cannot be written: File too large)
  early.ctf: 1 defect
    MANY events can be used, over TIME
  $ allotrace hotspots --strict early.ctf 2>&1 | times
  allotrace: early.ctf: byte N: TIME from its start: the trace cannot be written: File too large

No check passes, and nothing is compared with it:

  $ allotrace check --expect 'total=1TB' early.ctf 2>/dev/null | tail -1; allotrace check --expect total=30MB early.ctf >/dev/null 2>&1
  0 passed, 0 failed, 1 undecided
  [4]
  $ allotrace check --expect total=1KB early.ctf >/dev/null 2>&1
  [3]
  $ allotrace diff whole.ctf early.ctf 2>/dev/null | times | sed -n '1p;$p'
  After ends early, at TIME: the trace cannot be written: File too large.
  Undecided: a trace is incomplete, and its missing part cannot be compared. Record it again.
  $ allotrace diff whole.ctf early.ctf 2>/dev/null | grep -c 'Reduced'
  0
  [1]
  $ allotrace diff --json whole.ctf early.ctf 2>/dev/null | grep -o '"decided":[a-z]*\|"ends_early"'
  "decided":false
  "ends_early"

Traces made from it keep it, as far as they reach there:

  $ ends() { for file; do allotrace info --json $file | grep -o '"ends_early"\|"end"' | tr '\n' ' '; done; echo; }
  $ allotrace doctor -o clean.ctf early.ctf >/dev/null
  [3]
  $ allotrace trim --to 1h -o trim.ctf early.ctf >/dev/null 2>&1
  $ allotrace subsample -o sub.ctf 2 early.ctf >/dev/null 2>&1; allotrace anonymise -o anonymous.ctf early.ctf >/dev/null 2>&1; allotrace merge -o merge.ctf whole.ctf early.ctf >/dev/null 2>&1
  $ allotrace symbolize -o names.ctf.zst early.ctf >/dev/null 2>&1
  $ ends clean.ctf trim.ctf sub.ctf anonymous.ctf merge.ctf names.ctf.zst
  "ends_early" "ends_early" "ends_early" "ends_early" "ends_early" "ends_early" 
  $ allotrace trim --to 100us -o trim.ctf early.ctf >/dev/null 2>&1; allotrace merge -o merge.ctf whole.ctf whole.ctf >/dev/null; ends trim.ctf merge.ctf whole.ctf
  "end" "end" "end" 

Where there is room for nothing but the head, nothing is recorded, and that is said; also at low rates,
and of what is compressed:

  $ (ulimit -f 1; allotrace run -r 1 -o early.ctf -- ./many 1000) 2>&1 | times | head -1
  allotrace: early.ctf: nothing is recorded: File too large
  $ ends early.ctf
  "ends_early" 
  $ rm early.ctf; (ulimit -f 1; allotrace run -r 0.01 -o early.ctf -- ./many 100000) 2>&1 | times | grep -v warning
  allotrace: early.ctf: recording has ended: File too large
  allotrace: recorded nothing into early.ctf, SIZE
  allotrace: early.ctf ends early, at TIME: the trace cannot be written: File too large
  $ (ulimit -f 1000; allotrace run -q -r 1 -o early.ctf.zst -- ./many 300000) 2>/dev/null; ends early.ctf.zst
  "ends_early" 

A program that is killed is recorded to its end. Where its recorder was alone with it, the end is
missing:

  $ cat >killed.sh <<'END'
  > ./many 1000
  > kill -9 $$
  > END
  $ (allotrace run -q -r 1 -o killed.ctf -- sh killed.sh; true) 2>/dev/null
  $ allotrace info killed.ctf | grep '^  end'
    end              a signal ended the process
  $ allotrace run -q -r 1 -o 'child.%p.ctf' -- sh -c 'sh killed.sh; true' >/dev/null 2>&1; allotrace info child.*.ctf | grep '^  end\|^  warnings' | sort | uniq -c | awk '{ $1 = ""; print }'
   end the process was killed, then or later
   warnings 0

Lox programs, and their traces, meet the limit in the same way:

  $ echo 'class A {} var a; for (var i = 0; i < 100000; i = i + 1) { a = A(); } print "done";' >a.lox
  $ (ulimit -f 200; MEMTRACE=lox.ctf MEMTRACE_RATE=1 lox a.lox) 2>&1
  done
  lox: the trace is incomplete: File too large
  $ ends lox.ctf; allotrace doctor lox.ctf | times
  "ends_early" 
  byte N: the recording ended before the program; what came later is missing (TIME from its start: the trace cannot be written: File too large)
  lox.ctf: 1 defect
    MANY events can be used, over TIME
  $ MEMTRACE=lox.ctf MEMTRACE_RATE=1 lox a.lox; ends lox.ctf
  done
  "end" 
