A stretch of time; the new trace starts there:

  $ allotrace trim --from 5s --to 10s -o part.ctf $TRACES/irmin-replay.ctf
  part.ctf: 1,439 of 10,607 samples, in 1,439 of 10,607 blocks
  $ allotrace info part.ctf | grep -E 'started|duration|sampled|freed'
    started          2022-11-10 13:24:03 UTC
    duration         5.00 s
    sampled words    1,439
    sampled blocks   1,439
      freed          1,428
  $ allotrace doctor part.ctf
  part.ctf: no defects
    2,950 events can be used, over 5.00 s
  $ allotrace trim --from 5000ms --to 10 --live $TRACES/irmin-replay.ctf >live.ctf
  $ allotrace info live.ctf | grep -E 'started|duration|sampled|freed'
    started          2022-11-10 13:24:03 UTC
    duration         5.00 s
    sampled words    1,452
    sampled blocks   1,452
      freed          1,438

A quarter of the samples, always the same ones unless the seed is another:

  $ allotrace subsample 4 $TRACES/irmin-replay.ctf -o quarter.ctf
  quarter.ctf: 2,633 of 10,607 samples, in 2,633 of 10,607 blocks
  $ allotrace subsample 4 $TRACES/irmin-replay.ctf | cmp - quarter.ctf
  $ allotrace subsample 4 --seed 1 -o other.ctf $TRACES/irmin-replay.ctf
  other.ctf: 2,644 of 10,607 samples, in 2,644 of 10,607 blocks
  $ cmp -s other.ctf quarter.ctf
  [1]
  $ allotrace hotspots --top 1 --callers 1 quarter.ctf
  78.5 GB total allocations (± 3.0 GB, 2,633 samples at rate 2.5e-7)
  Sites below about 91.4 MB may be invisible at this rate.
    share          MB        ±  samples  site
      5.3% ▍  4,272.5  ± 707.7      140  map.ml:115 Stdlib__Map.Make.bal
      3.0%    2,441.4  ± 535.0       80    via src/irmin-pack/inode.ml:1210 Irmin_pack__Inode.Make_internal.Val_impl.stabilize_root, …
     94.7%  in 298 more sites
  $ allotrace doctor quarter.ctf
  quarter.ctf: no defects
    5,436 events can be used, over 35.88 s
  $ allotrace subsample 1 $TRACES/ocamlopt.ctf | allotrace hotspots - | cmp - <(allotrace hotspots $TRACES/ocamlopt.ctf)

Two halves of a trace make the whole again (but for what dies in the second), and a trace with a higher rate is thinned:

  $ allotrace trim --to 400ms -o a.ctf $TRACES/ocamlopt.ctf
  a.ctf: 670 of 1,676 samples, in 670 of 1,676 blocks
  $ allotrace trim --from 400ms -o b.ctf $TRACES/ocamlopt.ctf
  b.ctf: 1,006 of 1,676 samples, in 1,006 of 1,676 blocks
  $ allotrace merge a.ctf b.ctf -o both.ctf
  both.ctf: 1,676 samples in 1,676 blocks of 2 traces, rate 2e-5
  $ allotrace hotspots both.ctf | cmp - <(allotrace hotspots $TRACES/ocamlopt.ctf)

Commands that look at one trace see several as merge would make them one, also by a pattern that no shell has
taken apart, and leave no file:

  $ ls >before
  $ for look in 'hotspots --filter fn:/caml/' types tree 'callers Lexing' 'callees Parse' peak timeline leaks lifetimes stats advise 'check --budget any=1T' 'export --format collapsed -o -' dump; do
  >   allotrace ${look%% *} $(set -f; for w in $look; do [ "$w" = "${look%% *}" ] || echo "$w"; done) both.ctf >one.txt 2>one.err; one=$?
  >   for how in '[ab].ctf' 'a.ctf b.ctf'; do
  >     (set -f; allotrace ${look%% *} $(for w in $look; do [ "$w" = "${look%% *}" ] || echo "$w"; done) $how) >more.txt 2>more.err; more=$?
  >     [ $one = $more ] && cmp <(sed 's/both.ctf/FILES/' one.txt) <(sed 's/BEFORE.ctf/FILES/' more.txt) || echo "$look"
  >   done
  > done; rm -f one.* more.*; ls | grep -vx before | diff <(grep -vx before before) - && rm before
  $ allotrace hotspots 'no*.ctf'
  allotrace: no*.ctf: No such file or directory
  [1]
  $ allotrace hotspots a.ctf - <b.ctf
  allotrace: hotspots reads several traces twice, so standard input cannot be used
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace subsample 2 b.ctf -o thin.ctf
  thin.ctf: 519 of 1,006 samples, in 519 of 1,006 blocks
  $ allotrace merge a.ctf thin.ctf -o both.ctf
  allotrace: warning: a.ctf: thinned from rate 2e-5 to 1e-5, the lowest of these traces
  both.ctf: 868 samples in 868 blocks of 2 traces, rate 1e-5
  $ allotrace info both.ctf | grep -E 'context|rate|sampled|domains'
    context          2 merged traces
    rate             1e-5 (one sample represents 781.2 KB)
    sampled words    868
    sampled blocks   868
    domains          2
  $ allotrace doctor both.ctf
  both.ctf: no defects
    1,780 events can be used, over 852 ms
  $ allotrace hotspots a.ctf thin.ctf a.ctf a.ctf 2>&1 >/dev/null
  allotrace: warning: 3 of 4 traces: thinned to rate 1e-5, the lowest (of thin.ctf)

Without names, with the same numbers; traces made with one key can be compared:

  $ allotrace anonymise --key s3cret -o public.ctf $TRACES/ocamlopt.ctf
  $ allotrace hotspots --top 1 public.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB          ±  samples  site
     15.5% █▎  99.2     ± 12.1      260  pc986e1652ebf f5465766b770c
     12.7%     81.3     ± 10.9      213    via pc986e1652ebf f37324c2340f7
      1.0%      6.5      ± 3.1       17    via p43690af895e2 fb3e0e215effe
      0.5%      3.4  1.6 … 6.5        9    via p1984387625fb f7168dd674366, …
     84.5%  in 344 more sites
  $ allotrace anonymise --key s3cret --keep-lines --keep-structure $TRACES/ocamlopt.ctf | allotrace hotspots --top 1 -
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  site
     15.5% █▎  99.2  ± 12.1      260  p85cad03889d1.ml:125 f1e50d23ecc5a.f70702cdc2138.fc9bfac331c57
      8.8%     56.1   ± 9.1      147    via p85cad03889d1.ml:138 f1e50d23ecc5a.f70702cdc2138.fdebd88ffd970
      3.9%     25.2   ± 6.1       66    via p85cad03889d1.ml:135 f1e50d23ecc5a.f70702cdc2138.fdebd88ffd970
      1.0%      6.5   ± 3.1       17    via pfa48321c79c4/p0bc767a944df.ml:46 fbe33d883c763.f753097fde6ce.ffe651887cf65, …
     84.5%  in 443 more sites
  $ allotrace info public.ctf | head -4
  public.ctf
    program          -
    host             -
    pid              0
  $ strings -n 5 public.ctf | grep -ci -e stdlib -e btype -e ocamlopt -e jswork -e tarski
  0
  [1]
  $ cmp -s <(allotrace anonymise public.ctf) <(allotrace anonymise public.ctf)
  [1]
  $ allotrace doctor public.ctf
  public.ctf: no defects
    3,499 events can be used, over 852 ms

Whatever is made of a trace can be read by memtrace's own tools, which want more than is needed: the second decoder
is as strict. The version stays, but where a trace needs a domain for each of several, and symbolize writes version 2 if it can:

  $ for trace in irmin-replay ocamlopt; do
  >   in=$TRACES/$trace.ctf
  >   allotrace trim --from 100ms --live $in >d-trim.ctf
  >   allotrace subsample 3 $in >d-subsample.ctf
  >   allotrace anonymise $in >d-anonymise.ctf
  >   allotrace merge $in >d-merge-one.ctf
  >   allotrace merge $in $in >d-merge-two.ctf
  >   allotrace symbolize -o d-symbolize.ctf $in >d-output.txt
  >   head -c 90000 $in >cut.ctf
  >   allotrace doctor -o d-doctor.ctf cut.ctf >d-output.txt
  >   for made in d-*.ctf; do
  >     python3 $TESTDIR/../decode.py $made | cmp - <(allotrace dump $made)
  >     echo $trace $made $(python3 $TESTDIR/../decode.py --packets $made | grep -o 'version=.' | uniq)
  >   done
  > done; rm d-*
  irmin-replay d-anonymise.ctf version=2
  allotrace: warning: d-doctor.ctf: the trace ends early, at 8.71 s: the file is cut short
  irmin-replay d-doctor.ctf version=2
  irmin-replay d-merge-one.ctf version=2
  irmin-replay d-merge-two.ctf version=3
  irmin-replay d-subsample.ctf version=2
  irmin-replay d-symbolize.ctf version=2
  irmin-replay d-trim.ctf version=2
  ocamlopt d-anonymise.ctf version=3
  allotrace: warning: d-doctor.ctf: the trace ends early, at 480 ms: the file is cut short
  ocamlopt d-doctor.ctf version=3
  ocamlopt d-merge-one.ctf version=3
  ocamlopt d-merge-two.ctf version=3
  ocamlopt d-subsample.ctf version=3
  ocamlopt d-symbolize.ctf version=2
  ocamlopt d-trim.ctf version=3

The version can be chosen, where one domain is enough:

  $ allotrace trim --format 2 -o old.ctf $TRACES/ocamlopt.ctf
  old.ctf: 1,676 of 1,676 samples, in 1,676 of 1,676 blocks
  $ python3 $TESTDIR/../decode.py --packets old.ctf | grep -o 'version=.' | uniq
  version=2
  $ allotrace dump old.ctf | cmp - <(allotrace dump $TRACES/ocamlopt.ctf)
  $ allotrace trim --format 2 -o new.ctf both.ctf
  allotrace: new.ctf: has several threads or domains, which requires version 3
  [1]
  $ rm old.ctf

What does not work says so, and leaves files alone:

  $ allotrace trim - <part.ctf
  allotrace: trim reads its trace twice, so standard input cannot be used
  Try `allotrace trim --help`.
  [2]
  $ allotrace trim --from 2s --to 1s part.ctf
  allotrace: --from must be before --to
  Try `allotrace trim --help`.
  [2]
  $ allotrace trim --from soon part.ctf
  allotrace: --from: `soon` is not a time such as 10min, 1.5s or 20ms
  Try `allotrace trim --help`.
  [2]
  $ allotrace subsample 0.5 part.ctf
  allotrace: subsample: `0.5` is not a factor of 1 or more
  Try `allotrace subsample --help`.
  [2]
  $ allotrace subsample part.ctf
  allotrace: subsample needs a factor and a trace file
  Try `allotrace subsample --help`.
  [2]
  $ allotrace merge part.ctf missing.ctf -o quarter.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ allotrace doctor quarter.ctf | head -1
  quarter.ctf: no defects
  $ allotrace trim -o missing/x.ctf part.ctf
  allotrace: missing/x.ctf: No such file or directory
  [1]
  $ head -c 30000 part.ctf >cut.ctf
  $ allotrace trim --strict -o quarter.ctf cut.ctf
  allotrace: cut.ctf: byte 29962: the trace ends within a packet
  [1]
  $ allotrace trim -o cut2.ctf cut.ctf
  allotrace: warning: cut.ctf: byte 29962: the trace is cut short; every whole event before the cut was used
  cut2.ctf: 137 of 137 samples, in 137 of 137 blocks
  $ ls
  a.ctf
  b.ctf
  both.ctf
  cut.ctf
  cut2.ctf
  live.ctf
  other.ctf
  part.ctf
  public.ctf
  quarter.ctf
  thin.ctf

Where a block came from stays, whatever is made of a trace:

  $ $TESTDIR/make-trace >sources.ctf <<'EOF'
  > alloc minor 1 2 f@a.c:1
  > alloc major 2 3 f@a.c:1
  > alloc external 3 4 f@a.c:1
  > alloc minor 4 5 f@a.c:1
  > promote 3
  > alloc external 5 6 g@a.c:2
  > EOF
  $ sources() { allotrace export --to csv $1 | cut -d, -f4,7 | tail -n +2 | sort | xargs; }
  $ sources sources.ctf
  16,major 24,external 32,minor 40,external 8,minor
  $ allotrace trim -o r1.ctf sources.ctf >/dev/null; allotrace subsample 1 -o r2.ctf sources.ctf >/dev/null
  $ allotrace merge -o r3.ctf sources.ctf >/dev/null; allotrace anonymise -o r4.ctf sources.ctf >/dev/null
  $ allotrace doctor -o r5.ctf sources.ctf >/dev/null
  $ cp sources.ctf r6.ctf; allotrace symbolize r6.ctf
  r6.ctf: all places are already symbolized
  $ for i in 1 2 3 4 5 6; do [ "$(sources r$i.ctf)" = "$(sources sources.ctf)" ] || echo r$i: $(sources r$i.ctf); done

What is interrupted leaves what was there, and nothing beside it:

  $ mkdir ended; echo old >ended/part.ctf; cat >ended.py <<'END'
  > import os, signal, subprocess, sys, time
  > for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
  >     p = subprocess.Popen(["allotrace", "anonymise", "-o", "ended/part.ctf", "-"],
  >                          stdin=subprocess.PIPE,
  >                          preexec_fn=lambda: signal.signal(sig, signal.SIG_DFL))
  >     p.stdin.write(open(sys.argv[1], "rb").read(100000))
  >     p.stdin.flush()
  >     while p.poll() is None and len(os.listdir("ended")) < 2:
  >         time.sleep(0.01)
  >     p.send_signal(sig)
  >     print(p.wait() == -sig, os.listdir("ended"))
  > END
  $ python3 ended.py $TRACES/irmin-replay.ctf; cat ended/part.ctf
  True ['part.ctf']
  True ['part.ctf']
  True ['part.ctf']
  old

So does what is told twice at once, as by timeout:

  $ sed -i 's/^for sig in .*/for sig in [signal.SIGTERM] * 40:/; s/^    p.send_signal(sig)/&\n    p.send_signal(sig)/' ended.py
  $ python3 ended.py $TRACES/irmin-replay.ctf | sort | uniq -c
       40 True ['part.ctf']

The end of a trace goes through a temporary file, which is in /tmp where there can be none in $TMPDIR:

  $ cp $TRACES/ocamlopt.ctf end.ctf && TMPDIR=/no/such/folder allotrace hotspots --last 1s end.ctf | head -n 1
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
