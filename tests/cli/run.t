A program, recorded:

  $ allotrace run --rate 0.1 -o a.ctf -- ls a.ctf 2>&1 | grep -v '^allotrace: \(growing\|advice\): '
  a.ctf
  allotrace: recorded \S+ .?B \(± \S+ .?B, [\d,]+ samples in [\d,]+ blocks at rate 0\.1\) into a\.ctf, \S+ KB (re)
  allotrace: top sites: \d+\.\d% .*; \d+\.\d% .*; \d+\.\d% .*: allotrace hotspots a\.ctf (re)
  allotrace: peak: \S+ .?B .* at \S+ .?s; \S+ .?B.* at the end: allotrace peak a\.ctf (re)
  allotrace: look closer: allotrace a.ctf
  $ allotrace info a.ctf | grep '^  rate'
    rate             0.1 (one sample represents 80 B)

One thread is written as version 2 of the format, which memtrace 0.2.3 reads; several take version 3. The second decoder
reads all of it, as strictly as memtrace does:

  $ version() { python3 $TESTDIR/../decode.py --packets $1 | grep -o 'version=.' | uniq; }
  $ version a.ctf
  version=2
  $ python3 $TESTDIR/../decode.py a.ctf | cmp - <(allotrace dump a.ctf)
  $ allotrace run -q --rate 0.1 --no-symbolize -o raw.ctf -- ls -d .; version raw.ctf
  .
  version=3
  $ allotrace symbolize raw.ctf >/dev/null; version raw.ctf
  version=2
  $ python3 $TESTDIR/../decode.py raw.ctf | cmp - <(allotrace dump raw.ctf)
  $ cat >threads.py <<'END'
  > import threading
  > work = [threading.Thread(target=lambda: [bytes(999) for _ in range(9999)]) for _ in range(2)]
  > [t.start() for t in work]
  > END
  $ allotrace run -q --rate 0.01 -o several.ctf -- /usr/bin/python3 threads.py; version several.ctf
  version=3
  $ python3 $TESTDIR/../decode.py several.ctf | cmp - <(allotrace dump several.ctf)
  $ allotrace subsample --format 2 2 several.ctf -o two.ctf
  allotrace: two.ctf: has several threads or domains, which requires version 3
  [1]

Options of allotrace stand before the program, those of the program behind it:

  $ allotrace run -o b.ctf ls -d . 2>/dev/null
  .
  $ allotrace run -o b.ctf --context 'a remark' -- ls -d . 2>/dev/null
  .
  $ allotrace info b.ctf | grep -c 'a remark'
  1

At rate 1 a trace is compressed unless its name says otherwise; any is that is called so:

  $ allotrace run --rate 1 -- ls -d . 2>/dev/null; allotrace doctor ls.*.ctf.zst | head -1
  .
  ls\.\d+\.ctf\.zst: no defects (re)
  $ MEMTRACE_RATE=1 allotrace run --no-symbolize -- ls -d . >/dev/null 2>&1; ls ls.*.ctf.zst | wc -l
  2
  $ zstd -tq ls.*.ctf.zst && rm ls.*.ctf.zst
  $ allotrace run --rate 1 -o c.ctf.gz -- ls -d . >/dev/null 2>&1; gzip -t c.ctf.gz && rm c.ctf.gz
  $ allotrace run -o 'c.%p.ctf.zst' --rate 1 -- sh -c 'ls; :' >/dev/null 2>&1; zstd -tq c.*.ctf.zst
  $ allotrace trim -o d.ctf.zst c.*.ctf.zst >/dev/null 2>&1; allotrace merge -o d.ctf.zst c.*.ctf.zst >/dev/null
  $ zstd -tq d.ctf.zst; allotrace doctor -o e.ctf.gz d.ctf.zst >/dev/null && gzip -t e.ctf.gz

Room for names is left where they will be written in place:

  $ for o in '' '-o c.ctf.zst' '-o c.ctf --no-symbolize' '-o c.ctf'; do
  >   allotrace run --rate 1 $o -- sh -c 'echo $MEMTRACE_ROOM' 2>/dev/null
  > done; rm sh.*.ctf.zst c.ctf c.ctf.zst
  0
  0
  0
  1

What is summed up is in six lines at most, and what would take long is left out:

  $ cat >grow.pl <<'END'
  > $text = join " ", 1 .. 2000;
  > for (1 .. 200) { push @kept, "x" x 5000; my @words = split / /, $text; select(undef, undef, undef, 0.003) }
  > END
  $ allotrace run --rate 1e-3 -o grow.ctf -- perl grow.pl
  allotrace: recorded .* into grow\.ctf, \S+ KB (re)
  allotrace: top sites: .* Perl_\w+: allotrace hotspots grow\.ctf (re)
  allotrace: peak: \S+ MB ± \S+ KB at \S+ m?s; \S+ [KM]B ± \S+ KB at the end: allotrace peak grow\.ctf (re)
  allotrace: growing: .* by \S+ [KM]B in \S+ m?s.*: allotrace leaks grow\.ctf (re)
  allotrace: advice: .*: .* Perl_\w+: allotrace advise grow\.ctf (re)
  allotrace: look closer: allotrace grow.ctf
  $ allotrace run --rate 1 -o exact.ctf -- ls -d . 2>&1 | cut -d: -f2
  .
   recorded every allocation, \S+ KB in \d+ blocks, into exact\.ctf, \S+ KB (re)
   top sites
   peak
   look closer

Where the order of events in different threads is unknown, the peak has bounds, which are those of the report:

  $ cat >order.c <<'END'
  > #include <pthread.h>
  > #include <stdlib.h>
  > static void *work(void *of) {
  >   for (int i = 0; i < 2000; i++)
  >     free(malloc(500 + i % 7));
  >   return of;
  > }
  > int main(void) {
  >   pthread_t t[8];
  >   for (int i = 0; i < 8; i++)
  >     pthread_create(&t[i], NULL, work, NULL);
  >   for (int i = 0; i < 8; i++)
  >     pthread_join(t[i], NULL);
  > }
  > END
  $ gcc -O1 -fno-builtin -pthread -o order order.c
  $ bounds() { head -1 | grep -o '[(].* … [^,)]*'; }
  $ until allotrace run --rate 1 -o order.ctf -- ./order >said 2>&1; allotrace peak order.ctf | bounds >reported; do :; done
  $ grep peak: said | bounds | cmp - reported && echo the same
  the same

A name that a shell would take apart is quoted:

  $ allotrace run --rate 0.1 -o "it's.ctf" -- ls -d . 2>&1 | tail -1
  allotrace: look closer: allotrace 'it'\''s.ctf'

How many allocations a large trace holds is counted, without its marks and gauges:

  $ allotrace run --rate 1 -o big.ctf -- perl -e 'for (1 .. 6000000) { my $a = [$_, 1] }' 2>said
  $ [ $(stat -c %s big.ctf) -gt $((80 << 20)) ] && echo large
  large
  $ grep -o 'recorded every allocation, [0-9,]* blocks, into' said | tr -dc '0-9' >counted
  $ allotrace info big.ctf | sed -n 's,^  sampled blocks *,,p' | tr -d , | cmp - <(cat counted; echo)
  $ rm big.ctf

Without a sample it says what that means, and with none to be had, that, too:

  $ allotrace run -o none.ctf -- true
  allotrace: recorded no sample at rate 1e-5 into none.ctf, \d+ B (re)
  allotrace: it allocated less than about 2.8 MB in all; --rate 1 records every allocation
  $ allotrace run --rate 1 -o none.ctf -- true
  allotrace: recorded no allocation at rate 1 into none.ctf, \d+ B, in place of the one of [\d :-]+ UTC (re)

A file that is replaced is named so, with its time; an empty one, or of other processes, is not worth it:

  $ : >empty.ctf; for o in empty.ctf empty.%p.ctf empty.%p.ctf; do allotrace run -o $o -- true; done 2>&1 | grep -c 'in place of'
  0
  [1]
  $ touch -d '2020-02-03 04:05:06 UTC' none.ctf; allotrace run -o none.ctf -- true 2>&1 | grep -o 'in place.*'
  in place of the one of 2020-02-03 04:05:06 UTC

A program that a signal killed is said to have been, but for Ctrl-C's:

  $ (allotrace run -o none.ctf -- sh -c 'kill -9 $$') 2>&1 | grep killed
  allotrace: sh was killed by signal 9 (Killed)
  $ (allotrace run --keep 1min -o kept -- sh -c 'kill -11 $$') 2>&1 | grep killed; rm -r kept
  allotrace: sh was killed by signal 11 (Segmentation fault)
  $ (allotrace run -q -o none.ctf -- sh -c 'kill -9 $$') 2>&1 | grep 'was killed'
  [1]
  $ (allotrace run -o none.ctf -- sh -c 'kill -INT $$') 2>&1 | grep killed
  [1]

Processes that it starts are not recorded without %p, and it says so; it doesn't where there are none, or all are:

  $ allotrace run -o "it's.ctf.zst" -- sh -c 'true; ls -d .'
  .
  allotrace: recorded no sample at rate 1e-5 into it's.ctf.zst, \d+ B (re)
  allotrace: it allocated less than about 2.8 MB itself
  allotrace: child processes were not recorded; to record each, use -o 'it'\''s.%p.ctf.zst'
  $ allotrace run -o out.d -- perl -e 'my @kept = map { [$_] } 1 .. 300000; if (!fork) { push @kept, [$_] for 1 .. 9; exit }; wait' 2>&1 | tail -1
  allotrace: child processes were not recorded; to record each, use -o out.d.%p
  $ for o in many.ctf many.%p.ctf; do allotrace run -o $o -- sh -c true; allotrace run -o %p.$o -- sh -c 'ls -d .'; done 2>&1 | grep 'not recorded'
  [1]
  $ allotrace run -q -o quiet.ctf -- sh -c 'ls -d .'
  .

Traces are found in a folder with a percent sign, which a pattern doubles:

  $ mkdir 50%; allotrace run --rate 1 -o '50%%/x-%p.ctf' -- sh -c 'ls -d .; :' 2>&1 | grep -o 'by 2 programs'
  by 2 programs
  $ ls 50% | sed 's/[0-9]\+/N/'
  x-N.ctf
  x-N.ctf

They see the environment that they would see without it but for settings, and do not load the recorder, however they are
started; others' libraries stay. Where each is recorded, the recorder is all that is added:

  $ cat >ways.py <<'EOF'
  > import os
  > env, e = "/usr/bin/env", dict(os.environ)
  > ways = [lambda: os.execv(env, ["env"]), lambda: os.execve(env, ["env"], e),
  >         lambda: os.execvpe("env", ["env"], e), lambda: os.execve(os.open(env, os.O_RDONLY), ["env"], e),
  >         lambda: os.waitpid(os.posix_spawn(env, ["env"], e), 0),
  >         lambda: os.waitpid(os.posix_spawnp("env", ["env"], e), 0)]
  > for way in ways:
  >     child = os.fork()
  >     if child == 0:
  >         way()
  >         os._exit(0)
  >     os.waitpid(child, 0)
  > EOF
  $ settings='^MEMTRACE\|^ASAN_OPTIONS=\|^_='
  $ for others in '' libm.so.6 'libm.so.6 libdl.so.2'; do
  >   (test -z "$others" || export LD_PRELOAD=$others; /usr/bin/python3 ways.py) | grep -v "$settings" >plain.env
  >   for name in ways.ctf ways.%p.ctf; do
  >     (test -z "$others" || export LD_PRELOAD=$others; allotrace run -q -o $name -- /usr/bin/python3 ways.py) |
  >       grep -v "$settings" >seen.env
  >     diff plain.env seen.env | grep '^[<>]' | sed 's,/.*/liball,liball,' | sort | uniq -c
  >   done
  > done
        6 > LD_PRELOAD=liballotrace-preload.so
        6 < LD_PRELOAD=libm.so.6
        6 > LD_PRELOAD=liballotrace-preload.so:libm.so.6
        6 < LD_PRELOAD=libm.so.6 libdl.so.2
        6 > LD_PRELOAD=liballotrace-preload.so:libm.so.6 libdl.so.2

Programs that had no sample leave no trace, and are counted, but no forked children that remain what they are:

  $ allotrace run -r 1e-12 -o 'no.%p.ctf' -- sh -c 'for i in 1 2 3; do (:); ls -d .; done; :' 2>&1 | grep more
  allotrace: 3 more programs had no samples and left no trace
  $ allotrace run -r 1e-12 -o 'no.%p.ctf' -- sh -c 'ls -d .; :' 2>&1 | grep more
  allotrace: 1 more program had no samples and left no trace
  $ allotrace run --rate 1 -o 'no.%p.ctf' -- sh -c 'ls -d .; :' 2>&1 | grep more
  [1]
  $ ls no.*.ctf | wc -l
  4

The names of all traces of a run are those that each gets alone:

  $ names() { allotrace hotspots -n 0 --min-share 0 --json "$@" 2>/dev/null | grep -o '"function":"[^"]*","file":"[^"]*"\|"line":[0-9]*' | sort -u; }
  $ work='for i in 1 2 3 4 5 6; do perl -e "my @kept = map { [\$_] } 1 .. 300"; sort /dev/null; ls -d . >/dev/null; done; :'
  $ allotrace run -q --rate 1 -o 'with.%p.ctf' -- sh -c "$work"
  $ allotrace run -q --rate 1 --no-symbolize -o 'each.%p.ctf' -- sh -c "$work"
  $ ls with.*.ctf | wc -l
  19
  $ cmp -s <(names with.*.ctf) <(names each.*.ctf)
  [1]
  $ for trace in each.*.ctf; do allotrace symbolize $trace; done >/dev/null
  $ diff <(names with.*.ctf) <(names each.*.ctf)
  $ names with.*.ctf | grep -q '"function":"Perl_'

Those that go on when it has ended are warned of, also before they have recorded anything:

  $ for i in 1 2 3 4 5; do
  >   allotrace run -o 'd.%p.ctf' -- perl -e 'exit if fork; exit if fork; close STDOUT; close STDERR; for (1 .. 3000) { exit if -e "over"; select(undef, undef, undef, 0.1) }' 2>&1 | grep 'still recording'
  > done; touch over
  allotrace: warning: (a process|processes) of this run (is|are) still recording; when .*: allotrace symbolize d\.(\d+|%p)\.ctf (re)
  allotrace: warning: (a process|processes) of this run (is|are) still recording; when .*: allotrace symbolize d\.(\d+|%p)\.ctf (re)
  allotrace: warning: (a process|processes) of this run (is|are) still recording; when .*: allotrace symbolize d\.(\d+|%p)\.ctf (re)
  allotrace: warning: (a process|processes) of this run (is|are) still recording; when .*: allotrace symbolize d\.(\d+|%p)\.ctf (re)
  allotrace: warning: (a process|processes) of this run (is|are) still recording; when .*: allotrace symbolize d\.(\d+|%p)\.ctf (re)

Python's objects are recorded. A program that has most of its memory from elsewhere than what is recorded is said to; with --mmap it is all there:

  $ cat >large.py <<EOF
  > large = [str(i) * 20 for i in range(600000)]
  > EOF
  $ allotrace run --rate 1e-3 -o python.ctf -- /usr/bin/python3 large.py 2>&1 | grep 'program held'
  [1]
  $ MEMTRACE_PYTHON=malloc allotrace run --rate 1e-3 -o python.ctf -- /usr/bin/python3 large.py 2>&1 | grep 'program held'
  allotrace: hint: the program held \S+ MB, but at most \S+ MB of it is recorded; it mapped the rest directly, which --mmap records; with PYTHONMALLOC=malloc in its environment, it takes all memory from malloc (re)
  $ MEMTRACE_PYTHON=malloc allotrace run --mmap -o python.ctf -- /usr/bin/python3 large.py 2>&1 | grep 'program held'
  [1]
  $ PYTHONMALLOC=malloc allotrace run -o python.ctf -- /usr/bin/python3 large.py 2>&1 | grep 'program held'
  [1]

A free-threaded Python takes none from malloc, and does not start if it is told to:

  $ cp /usr/bin/python3 python3.14t
  $ PYTHONHOME=/usr MEMTRACE_PYTHON=malloc allotrace run --rate 1e-3 -o python.ctf -- ./python3.14t large.py 2>&1 | grep 'program held'
  allotrace: hint: the program held \S+ MB, but at most \S+ MB of it is recorded; it mapped the rest directly, which --mmap records (re)

All that can be left out but for what went wrong:

  $ allotrace run -q -o quiet.ctf -- /usr/bin/python3 large.py
  $ allotrace run --quiet -o quiet.ctf --rate 1 -- ls -d .; allotrace doctor quiet.ctf | head -1
  .
  quiet.ctf: no defects
  $ allotrace run -q -o /dev/full -- true
  allotrace: /dev/full: nothing is recorded: No space left on device

Where the trace surely cannot be written, the program does not start: who goes on would take an earlier one for it.

  $ mkdir folder; allotrace run -o folder -- echo ran
  allotrace: folder: the trace cannot be written: Is a directory; echo was not started
  [1]
  $ allotrace run -o no/such/x.ctf -- echo ran
  allotrace: no/such/x.ctf: the trace cannot be written: No such file or directory; echo was not started
  [1]
  $ allotrace run -q -o no/such/%p.ctf -- echo ran
  allotrace: no/such/%p.ctf: the trace cannot be written: No such file or directory; echo was not started
  [1]
  $ MEMTRACE=no/such/x.ctf allotrace run -- echo ran
  allotrace: no/such/x.ctf: the trace cannot be written: No such file or directory; echo was not started
  [1]
  $ allotrace run -o empty.ctf/x.ctf -- echo ran
  allotrace: empty.ctf/x.ctf: the trace cannot be written: Not a directory; echo was not started
  [1]
  $ allotrace run -o $(printf %300s | tr ' ' x) -- echo ran 2>&1 | sed 's/x\{300\}/LONG/'
  allotrace: LONG: the trace cannot be written: File name too long; echo was not started
  $ ln -s folder/made.ctf link.ctf; allotrace run -q -o link.ctf -- echo ran; test -s folder/made.ctf
  ran

Other things are met when the trace is written: they are said once, and the program runs.

  $ allotrace run -o /dev/full -- echo ran
  allotrace: /dev/full: nothing is recorded: No space left on device
  ran
  $ MEMTRACE_RATE=abc allotrace run -- echo ran
  allotrace: MEMTRACE_RATE: `abc` is not a rate above 0 and at most 1, like 1e-5, so nothing is recorded
  ran
  $ allotrace run --rate 1 -o /dev/null -- ls -d .
  .
  allotrace: warning: /dev/null is not a regular file; the trace written there contains addresses instead of names

What makes no sense:

  $ allotrace run
  allotrace: run needs a program to run
  Try `allotrace run --help`.
  [2]
  $ allotrace run --rate 2 ls
  allotrace: --rate: `2` is not a rate above 0 and at most 1, such as 1e-5
  Try `allotrace run --help`.
  [2]
  $ allotrace run --depth 0 ls
  allotrace: --depth must be from 1 to 4096
  Try `allotrace run --help`.
  [2]
  $ allotrace run -o 'a%.ctf' ls
  allotrace: --output: `a%.ctf` is not a valid trace name: each % must be followed by p (the process id) or %
  Try `allotrace run --help`.
  [2]
  $ allotrace run --shallow 3 ls
  allotrace: run has no option --shallow
  Try `allotrace run --help`.
  [2]
  $ PATH=$(dirname "$(command -v allotrace)"):/usr/bin:/bin allotrace run no-such-program
  allotrace: no-such-program: command not found
  [127]

What a program leaves behind does not take the trace over, nor does one that changes the folder take
it elsewhere:

  $ allotrace run --rate 1 -o kept.ctf -- sh -c '(sleep 0.3; ls) >/dev/null 2>&1 & :' 2>/dev/null
  $ before=$(cksum < kept.ctf); sleep 0.8; [ "$before" = "$(cksum < kept.ctf)" ] && echo kept
  kept
  $ mkdir elsewhere
  $ allotrace run --rate 1 -o 'moved.%p.ctf' -- sh -c 'cd elsewhere; ls; :' 2>&1 | grep -o 'by . programs'
  by 2 programs
  $ ls elsewhere

A wrapper script becomes the program: each has a trace, and the summary says why:

  $ allotrace run --rate 1 -o wrapped.ctf -- sh -c 'ls >/dev/null; exec env sh -c "exec ls"' 2>&1 >/dev/null | grep -E 'exec|child'
  allotrace: one process ran them in turn (exec): wrapped.1.ctf is the first, wrapped.ctf the last
  allotrace: child processes were not recorded; to record each, use -o wrapped.%p.ctf
  $ allotrace run --rate 1 -o 'each.%p.ctf' -- sh -c '(exec ls); exec ls' 2>&1 >/dev/null | grep exec | sed 's/[0-9]*[.]1[.]ctf/PID.1.ctf/'
  allotrace: 2 of them ran another program (exec); their traces have a number before .ctf, such as each.PID.1.ctf

Programs under AddressSanitizer are told that they may start; other words to them stay:

  $ ASAN_OPTIONS=color=never allotrace run -o d.ctf -- sh -c 'echo $ASAN_OPTIONS' 2>/dev/null
  color=never:verify_asan_link_order=0

A trace can be named after a program with the longest of names:

  $ long=$(printf 'x%.0s' $(seq 255)); cp /bin/true $long
  $ allotrace run -- ./$long 2>/dev/null; ls xxx*.ctf | wc -l
  1

Under a limit for the size of files it runs as well; where names do not fit, all else stays:

  $ (ulimit -f 10000000; allotrace run --rate 1 -o limited.ctf -- ls -d . 2>&1) | grep -o 'recorded every allocation'
  recorded every allocation
  $ (ulimit -f 0; allotrace run -o limited.ctf -- ls -d . 2>&1 | grep -x .)
  .
  $ cat >long.c <<EOF
  > #include <stdlib.h>
  > #define NAME with_a_name_of_$(printf '%03000d' 0)_digits
  > __attribute__((noinline)) void *NAME(void) { void *volatile p = malloc(1000); return p; }
  > int main(void) { NAME(); }
  > EOF
  $ command -v gcc >/dev/null || exit 80
  $ gcc -O1 -o long long.c
  $ (ulimit -f 2; allotrace run --rate 0.1 -o limited.ctf -- ./long 2>&1) | head -1
  allotrace: limited.ctf: not symbolized: File too large
  $ allotrace doctor limited.ctf | head -1
  limited.ctf: no defects

Of several programs the largest sites are those of all:

  $ mkdir several; cd several; for n in 1 2 3; do
  >   printf 'void *malloc(unsigned long);\nvoid *volatile kept;\nint main(void) { for (int i = 0; i < 1000; i++) kept = malloc(%d); }\n' ${n}000 >p$n.c
  >   gcc -g -o p$n p$n.c
  > done
  $ allotrace run --rate 1 -o 'x.%p.ctf' -- sh -c './p1; ./p2; ./p3; exit' 2>&1 | sed 's/x\.[0-9]*\.ctf/ONE/g'
  allotrace: recorded every allocation, 5.7 MB in 3,\d+ blocks, by 4 programs, \S+ KB (re)
  allotrace: top sites: 49.9% several/p3.c:3 main; 33.3% several/p2.c:3 main; 16.7% several/p1.c:3 main: allotrace hotspots 'x.*.ctf'
  allotrace: peak in the largest: 2.9 MB at \S+ [mµ]?s; 2.9 MB at the end: allotrace peak ONE (re)
  allotrace: look closer: allotrace 'x.*.ctf'
  $ touch x.1.ctf; allotrace run --rate 1 -o 'x.%p.ctf' -- sh -c './p1; ./p2; exit' 2>&1 | grep -o 'hotspots x.*' | tr -d 0-9
  hotspots x..ctf x..ctf x..ctf

Libraries are hidden in all of several traces or in none, whichever suits most of the memory:

  $ printf '#include <vector>\nint main() { for (int i = 0; i < 1000; i++) std::vector<int> v(100); }\n' >p4.cc; g++ -g -o p4 p4.cc
  $ allotrace run --rate 1 -o p4.ctf -- ./p4 2>&1 | grep -o 'hotspots.*'
  hotspots --filter hide:@library p4.ctf
  $ allotrace run --rate 1 -o 'y.%p.ctf' -- sh -c './p4; ./p3; exit' 2>&1 | grep 'top sites'
  allotrace: top sites: 8\d\.\d% several/p3.c:3 main; .*new_allocator.h.*: allotrace hotspots 'y\.\*\.ctf' (re)

A folder of segments holds one process, too, unless it is asked for each:

  $ allotrace run --rate 1 --keep 1h -o ring -- sh -c 'ls >/dev/null; :' 2>&1 | grep child
  allotrace: child processes were not recorded; to record each, use -o /.*/ring/%p (re)
  $ allotrace run --rate 1 --keep 1h -o each/%p -- sh -c 'ls >/dev/null; :' 2>&1 | grep -c child
  0
  [1]

The programs that one process ran in turn are named by one pattern if they are many. What takes too long is named in the last line:

  $ cat >many.c <<'END'
  > #include <stdlib.h>
  > int main(void) { for (int i = 0; i < 550000; i++) { void *volatile p = malloc(1000); free(p); } }
  > END
  $ gcc -O1 -g -o many many.c
  $ allotrace run --rate 0.1 -o turn.ctf -- sh -c 'exec sh -c "exec sh -c \"exec sh -c \\\"exec ./many\\\"\""' 2>&1 | tail -2
  allotrace: top sites: .*several/many.c:2 main.*: allotrace hotspots 'turn\.\*ctf' (re)
  allotrace: peak, growth, advice: allotrace 'turn.*ctf'
