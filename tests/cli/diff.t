What changed between two traces; at rate 1, where numbers are exact. Lines of `parse` moved by two:

  $ $TESTDIR/make-trace >before.ctf <<'END'
  > alloc major 999 1000 main@main.c:30 parse@a.c:10
  > alloc major 99 100 main@main.c:30 parse@a.c:12
  > alloc major 499 500 main@main.c:31 old@a.c:40
  > END
  $ $TESTDIR/make-trace >after.ctf <<'END'
  > alloc major 399 400 main@main.c:30 parse@a.c:12
  > alloc major 99 100 main@main.c:30 parse@a.c:14
  > alloc major 49 50 main@main.c:31 new@a.c:50
  > END
  $ allotrace diff before.ctf after.ctf
  Before: 12.5 KB · After: 4.3 KB · Reduction: 66 %
       before      after                 change       q  site
       7.8 KB     3.1 KB                -4.7 KB  <0.001  a.c:10 → 12 parse
       3.9 KB        0 B                -3.9 KB  <0.001  a.c:40 old (only before)
          0 B      400 B                 +400 B  <0.001  a.c:50 new (only after)
  1 site did not change.
  $ allotrace diff --by function --top 1 before.ctf after.ctf
  Before: 12.5 KB · After: 4.3 KB · Reduction: 66 %
       before      after                 change       q  function
       8.6 KB     3.9 KB                -4.7 KB  <0.001  parse (a.c)
  2 more functions changed for sure.
  $ allotrace diff --per 10,5 before.ctf after.ctf
  Before: 1.2 KB · After: 880 B · Reduction: 31 %
  Note: amounts divided by 10 before and by 5 after
       before      after                 change       q  site
        400 B        0 B                 -400 B  <0.001  a.c:40 old (only before)
        800 B      640 B                 -160 B  <0.001  a.c:10 → 12 parse
         80 B      160 B                  +80 B  <0.001  a.c:12 → 14 parse
          0 B       80 B                  +80 B  <0.001  a.c:50 new (only after)
  $ cp before.ctf same.ctf; allotrace diff before.ctf same.ctf
  Before: 12.5 KB · After: 12.5 KB · no change
  3 sites did not change.
  $ allotrace diff --csv before.ctf after.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  1,0,0,8000,8000,8000,1000,3200,3200,3200,400,-4800,-4800,-4800,parse,a.c,10,12,
  1,0,0,4000,4000,4000,500,0,0,0,0,-4000,-4000,-4000,old,a.c,40,,
  1,0,0,0,0,0,0,400,400,400,50,400,400,400,new,a.c,,50,
  0,1,1,800,800,800,100,800,800,800,100,0,0,0,parse,a.c,12,14,
  $ allotrace diff --json --top 1 before.ctf after.ctf
  {"by":"line","unit":"B","unit_of_total":"B","false_discovery_rate":0.05,"decided":true,"measure":"allocated",
   "runs_before":[{"rate":1,"program":"prog","host":"host"}],
   "runs_after":[{"rate":1,"program":"prog","host":"host"}],
   "total":{"sure":true,"p":0,"before":{"value":12800,"low":12800,"high":12800,"samples":1600},"after":{"value":4400,"low":4400,"high":4400,"samples":550},"change":{"value":-8400,"low":-8400,"high":-8400,"samples":2150},"ratio":{"value":0.34375,"low":0.34375,"high":0.34375,"samples":2150}},
   "sites":[
    {"site_before":{"function":"parse","file":"a.c","line":10},"site_after":{"function":"parse","file":"a.c","line":12},"sure":true,"q":0,"p":0,"before":{"value":8000,"low":8000,"high":8000,"samples":1000},"after":{"value":3200,"low":3200,"high":3200,"samples":400},"change":{"value":-4800,"low":-4800,"high":-4800,"samples":1400},"ratio":{"value":0.4,"low":0.4,"high":0.4,"samples":1400}}],
   "omitted":{"sites":3,"sure":2}}
  $ allotrace diff --json before.ctf after.ctf | python3 -m json.tool >/dev/null

Sampled, at different rates; what is not sure is said to be so:

  $ printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\nalloc major 99999999 %d main@m.c:1 g@a.c:2\n' 400 30 | $TESTDIR/make-trace >few.ctf
  $ printf 'rate 1e-4\nalloc major 99999999 %d main@m.c:1 f@a.c:1\nalloc major 99999999 %d main@m.c:1 g@a.c:2\n' 2000 320 | $TESTDIR/make-trace >many.ctf
  $ allotrace diff few.ctf many.ctf
  Before: 328.1 MB · After: 177.0 MB · Reduction: 46 % ± 6 %
  Note: different rates (1e-5 before, 1e-4 after)
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
       before      after                 change       q  site
     305.2 MB   152.6 MB    -152.6 MB ± 31.0 MB  <0.001  a.c:1 f
  No sure change; these differences may be accidents:
      22.9 MB    24.4 MB       +1.5 MB ± 9.0 MB   0.825  a.c:2 g
  $ cp few.ctf copy.ctf; allotrace diff few.ctf copy.ctf
  Before: 328.1 MB · After: 328.1 MB · Change: 0 % ± 14 %, not sure
  Sites below about 2.3 MB may be invisible at this rate.
       before      after                 change       q  site
  No sure change; these differences may be accidents:
     305.2 MB   305.2 MB          0 B ± 42.9 MB   1.000  a.c:1 f
      22.9 MB    22.9 MB          0 B ± 12.3 MB   1.000  a.c:2 g
  $ allotrace diff --normalise total few.ctf many.ctf
  Before: 328.1 MB · After: 177.0 MB · Reduction: 46 % ± 6 %
  Note: different rates (1e-5 before, 1e-4 after), sites as shares of the total
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
       before      after                 change       q  site
       6.98 %    13.79 %       +6.82 % ± 3.05 %  <0.001  a.c:2 g
  No sure change; these differences may be accidents:
      93.02 %    86.21 %       -6.82 % ± 9.99 %   0.175  a.c:1 f
  $ allotrace diff before.ctf few.ctf | grep invisible
  Sites below about 2.3 MB after may be invisible at that rate.
  $ allotrace diff few.ctf after.ctf | grep invisible
  Sites below about 2.3 MB before may be invisible at that rate.
  $ allotrace diff --normalise time few.ctf copy.ctf | head -1
  Before: 160.2 GB/s · After: 160.2 GB/s · Change: 0 % ± 14 %, undecided

How long a run takes is different each time, of which one run a side says nothing:

  $ for o in '--normalise time' '--measure byteseconds' '--normalise total'; do allotrace diff $o few.ctf many.ctf | grep -E 'Note|Before|Undecided'; done
  Before: 160.2 GB/s · After: 86.4 GB/s · Change: -46 % ± 6 %, undecided
  Note: different rates (1e-5 before, 1e-4 after)
  Undecided: ± is of sampling alone, and one run a side does not tell how much times differ from run to run. Give several: --before A… --after B…
  Before: 312.5 KB·s · After: 156.2 KB·s · Change: -50 % ± 5 %, undecided
  Note: different rates (1e-5 before, 1e-4 after)
  Undecided: ± is of sampling alone, and one run a side does not tell how much times differ from run to run. Give several: --before A… --after B…
  Before: 328.1 MB · After: 177.0 MB · Reduction: 46 % ± 6 %
  Note: different rates (1e-5 before, 1e-4 after), sites as shares of the total
  $ allotrace diff --normalise time few.ctf many.ctf
  Before: 160.2 GB/s · After: 86.4 GB/s · Change: -46 % ± 6 %, undecided
  Note: different rates (1e-5 before, 1e-4 after)
  Undecided: ± is of sampling alone, and one run a side does not tell how much times differ from run to run. Give several: --before A… --after B…
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
       before      after                 change       q  site
   149.0 GB/s  74.5 GB/s -74.5 GB/s ± 15.2 GB/s       -  a.c:1 f
    11.2 GB/s  11.9 GB/s +762.9 MB/s ± 4.4 GB/s       -  a.c:2 g
  $ allotrace diff --normalise time --json few.ctf many.ctf | jq -c '.decided, .total.sure, .total.p, (.sites[] | [.sure, .q, .p])'
  false
  false
  null
  [false,null,null]
  [false,null,null]
  $ allotrace diff --normalise time --csv few.ctf many.ctf | cut -d, -f1-4
  sure,q,p,before
  0,,,1.6e+11
  0,,,1.2e+10
  $ allotrace diff --json few.ctf many.ctf | jq -c '.decided, .total.sure'
  true
  true
  $ allotrace diff --normalise time --before few.ctf few.ctf --after copy.ctf few.ctf | grep -E 'Note|Undecided'
  Note: means of several runs (2 before, 2 after)

Runs that differ among themselves are believed less:

  $ for n in 300 500 250; do printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\n' $n | $TESTDIR/make-trace >a$n.ctf; done
  $ for n in 500 700 400; do printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\n' $n | $TESTDIR/make-trace >b$n.ctf; done
  $ allotrace diff a300.ctf b500.ctf
  Before: 228.9 MB · After: 381.5 MB · Increase: 67 % ± 24 %
  Sites below about 2.3 MB may be invisible at this rate.
       before      after                 change       q  site
     228.9 MB   381.5 MB    +152.6 MB ± 42.9 MB  <0.001  a.c:1 f
  $ allotrace diff --before a300.ctf a500.ctf a250.ctf --after b[0-9]*.ctf
  Before: 267.0 MB · After: 406.9 MB · Change: +52 % ± 117 %, not sure
  Note: means of several runs (3 before, 3 after)
  Sites below about 2.3 MB may be invisible at this rate.
       before      after                 change       q  site
  No sure change; these differences may be accidents:
     267.0 MB   406.9 MB   +139.9 MB ± 249.1 MB   0.193  a.c:1 f
  $ allotrace diff --after b[0-9]*.ctf --before a[0-9]*.ctf | cmp - <(allotrace diff --before a[0-9]*.ctf --after b[0-9]*.ctf)

Real traces; two of different programs have nothing in common:

  $ allotrace diff --top 2 $TRACES/ocamlopt.ctf $TRACES/ocamlopt.ctf
  Before and after are the same file: 639.3 MB on both sides, and all is equal.
  $ ln before.ctf link.ctf; allotrace diff --measure blocks before.ctf link.ctf
  Before and after are the same file: 3 blocks on both sides, and all is equal.
  $ allotrace diff --before before.ctf ./before.ctf --after before.ctf
  Before and after are the same file: 12.5 KB on both sides, and all is equal.
  $ allotrace diff --per 1,2 --top 1 before.ctf before.ctf
  Before: 12.5 KB · After: 6.2 KB · Reduction: 50 %
  Note: amounts divided by 1 before and by 2 after
       before      after                 change       q  site
       7.8 KB     3.9 KB                -3.9 KB  <0.001  a.c:10 parse
  2 more sites changed for sure.
  $ allotrace diff --csv --top 1 before.ctf before.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  0,1,1,8000,8000,8000,1000,8000,8000,8000,1000,0,0,0,parse,a.c,10,10,
  $ rm copy.ctf link.ctf
  $ allotrace diff --top 2 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
  Before: 639.3 MB · After: 79.0 GB · Increase: 12558 % ± 657 %
  Note: different programs (main.exe before, tree.exe after), different hosts (tarski before, pc1156-nvmp3 after), different rates (2e-5 before, 1e-6 after)
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
       before      after                 change       q  site
          0 B     3.7 GB     +3.7 GB ± 339.0 MB  <0.001  map.ml:115 Stdlib__Map.Make.bal (only after)
          0 B     2.9 GB     +2.9 GB ± 298.1 MB  <0.001  list.ml:58 Stdlib__List.rev_append (only after)
  337 more sites changed for sure.
  522 more sites without a sure change.

A part of the blocks, and other measures:

  $ allotrace diff --measure peak --top 1 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
  Before: 45.0 MB · After: 251.8 MB · Increase: 459 % ± 230 %
  Note: different programs (main.exe before, tree.exe after), different hosts (tarski before, pc1156-nvmp3 after), different rates (2e-5 before, 1e-6 after), measured is what is live at the peak
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
       before      after                 change       q  site
          0 B    30.5 MB    +30.5 MB (≥ 8.3 MB)  <0.001  src/repr/binary.ml:232 Repr__Binary.Mono_container.decode.sub (only after)
  6 more sites changed for sure.
  73 more sites without a sure change.
  $ allotrace diff --filter 'fn:parse' before.ctf after.ctf
  Before: 8.6 KB · After: 3.9 KB · Reduction: 55 %
  Note: filter fn:parse
       before      after                 change       q  site
       7.8 KB     3.1 KB                -4.7 KB  <0.001  a.c:10 → 12 parse
  1 site did not change.
  $ allotrace diff --filter 'fn:parse' --measure survived --json --top 1 before.ctf after.ctf | sed -n '1p'
  {"by":"line","unit":"B","unit_of_total":"B","false_discovery_rate":0.05,"decided":true,"measure":"survived","filter":"fn:parse",
  $ allotrace diff --measure blocks before.ctf after.ctf
  Before: 3 blocks · After: 3 blocks · no change
           before          after                        change       q  site
                1              0                            -1  <0.001  a.c:40 old (only before)
                0              1                            +1  <0.001  a.c:50 new (only after)
  2 sites did not change.
  $ allotrace diff --measure byteseconds --normalise total before.ctf after.ctf
  Before: 17 B·s · After: 7 B·s · Change: -57 %, undecided
  Note: sites as shares of the total
  Undecided: ± is of sampling alone, and one run a side does not tell how much times differ from run to run. Give several: --before A… --after B…
           before          after                        change       q  site
           4.76 %        11.11 %                       +6.35 %       -  a.c:12 → 14 parse
          95.24 %        88.89 %                       -6.35 %       -  a.c:10 → 12 parse
  2 sites did not change.
  $ allotrace subsample 2 $TRACES/ocamlopt.ctf >half.ctf
  $ allotrace diff --measure blocks --top 1 $TRACES/ocamlopt.ctf half.ctf
  Before: 19,652,679 blocks · After: 20,156,244 blocks · Change: +3 % ± 9 %, not sure
  Note: different rates (2e-5 before, 1e-5 after)
  Sites below about 1.1 MB before, 2.3 MB after may be invisible at these rates.
           before          after                        change       q  site
  No sure change; these differences may be accidents:
          216,671        100,001            -116,670 ± 195,204   1.000  asmcomp/interf.ml:52 Interf.build_graph.add_interf
  443 more sites without a sure change.
  $ printf 'alloc major 1 2 f@a.c:1\nalloc major 4 5 g@a.c:2\nalloc major 4 5 g@a.c:2\nalloc major 9999 10000 h@a.c:3\n' | $TESTDIR/make-trace >exact.ctf
  $ allotrace subsample 100 --seed 1 exact.ctf >rare.ctf
  $ allotrace diff --measure blocks exact.ctf rare.ctf
  Before: 4 blocks · After: 1 blocks · not sure
  Note: different rates (1 before, 0.01 after)
  Sites below about 2.3 KB after may be invisible at that rate.
           before          after                        change       q  site
  No sure change; these differences may be accidents:
                2              0                       -2 ± 37   1.000  a.c:2 g (only before)
                1              0                       -1 ± 92   1.000  a.c:1 f (only before)
  1 site did not change.
  $ allotrace diff --measure byteseconds --before exact.ctf exact.ctf --after rare.ctf rare.ctf
  Before: 0 B·s · After: 0 B·s · not sure
  Note: different rates (1 before, 0.01 after), means of several runs (2 before, 2 after)
  Sites below about 2.3 KB after may be invisible at that rate.
           before          after                        change       q  site
  No sure change; these differences may be accidents:
            0 B·s          0 B·s                -0 B·s ± 1 B·s   1.000  a.c:2 g (only before)
            0 B·s          0 B·s                -0 B·s ± 2 B·s   1.000  a.c:1 f (only before)
            0 B·s          0 B·s                0 B·s ± 91 B·s   1.000  a.c:3 h
  $ allotrace diff --measure byteseconds --normalise time --top 1 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
  Before: 26.3 MB·s/s · After: 94.8 MB·s/s · Change: +260 % ± 88 %, undecided
  Note: different programs (main.exe before, tree.exe after), different hosts (tarski before, pc1156-nvmp3 after), different rates (2e-5 before, 1e-6 after)
  Undecided: ± is of sampling alone, and one run a side does not tell how much times differ from run to run. Give several: --before A… --after B…
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
           before          after                        change       q  site
          0 B·s/s     9.4 MB·s/s      +9.4 MB·s/s ± 4.9 MB·s/s       -  list.ml:58 Stdlib__List.rev_append (only after)
  860 more sites, undecided.
  $ allotrace diff --measure blocks --csv --top 1 $TRACES/ocamlopt.ctf half.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  0,1,0.331872,216671,115370.71,384948.361,13,100001,20623.285,332567.532,3,-116670,-289780.072,100628.376,Interf.build_graph.add_interf,asmcomp/interf.ml,52,52,
  $ allotrace diff --filter 'siz:3' before.ctf after.ctf
  allotrace: --filter: column 1: `siz` is none of alloc, live, size, life, heap, fn, file, type, domain, promoted, survived, hide
    siz:3
    ^
  Try `allotrace diff --help`.
  [2]

No colours but on a terminal, and there for sure changes alone:

  $ script -qec "TERM=xterm allotrace diff few.ctf many.ctf" /dev/null | sed -n 's/\x1b/ESC/g; /a\.c/p' | tr -d '\r'
     305.2 MB   152.6 MBESC[32m    -152.6 MB ± 31.0 MBESC[0m  <0.001  a.c:1 f
  ESC[2m    22.9 MB    24.4 MB       +1.5 MB ± 9.0 MB   0.825  a.c:2 gESC[0m

What makes no sense:

  $ allotrace diff before.ctf
  allotrace: diff takes two traces, BEFORE and AFTER; several a side: --before A… --after B…
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff - - <before.ctf
  allotrace: diff: standard input, `-`, can be one trace alone
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before before.ctf
  allotrace: diff: --before and --after go together
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before --after after.ctf
  allotrace: diff: --after needs a trace
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff few.ctf --before before.ctf --after after.ctf
  allotrace: diff: `few.ctf` is on no side
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before a250.ctf --before a300.ctf --after after.ctf
  allotrace: --before is given twice
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --per none before.ctf after.ctf
  allotrace: --per: `none` is no number above 0, or two
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --json --csv before.ctf after.ctf
  allotrace: diff: --json and --csv exclude each other
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff before.ctf no-such.ctf
  allotrace: no-such.ctf: No such file or directory
  [1]

Where a side has no samples there is no ratio, and none is made up:

  $ allotrace subsample 200 -o thin.ctf $TRACES/irmin-replay.ctf 2>/dev/null
  thin.ctf: 59 of 10,607 samples, in 59 of 10,607 blocks
  $ allotrace diff -m blocks --filter fn:Jsonm $TRACES/irmin-replay.ctf thin.ctf 2>/dev/null | head -1
  Before: 722,347 blocks · After: 0 blocks · no samples after: not sure
