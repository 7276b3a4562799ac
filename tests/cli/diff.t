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
    before  12.5 KB
    after   4.3 KB
    change  -8.2 KB, -66%
    before, B  after  change       q  site
        8,000  3,200  -4,800  <0.001  a.c:12 parse (was line 10)
        4,000      0  -4,000  <0.001  a.c:40 old (gone)
            0    400    +400  <0.001  a.c:50 new (new)
  1 site did not change.
  Reduced by 66%; 3 sites changed significantly.
  $ allotrace diff --by function --top 1 before.ctf after.ctf
    before  12.5 KB
    after   4.3 KB
    change  -8.2 KB, -66%
    before, B  after  change       q  site
        8,800  4,000  -4,800  <0.001  parse (a.c)
  2 more functions changed significantly.
  Reduced by 66%; 3 functions changed significantly.
  $ allotrace diff --per 10,5 before.ctf after.ctf
    before  1.2 KB
    after   880 B
    change  -400 B, -31%
  Amounts are divided by 10 before and by 5 after.
    before, B  after  change       q  site
          400      0    -400  <0.001  a.c:40 old (gone)
          800    640    -160  <0.001  a.c:12 parse (was line 10)
           80    160     +80  <0.001  a.c:14 parse (was line 12)
            0     80     +80  <0.001  a.c:50 new (new)
  Reduced by 31%; 4 sites changed significantly.
  $ cp before.ctf same.ctf; allotrace diff before.ctf same.ctf
    before  12.5 KB
    after   12.5 KB
    change  0 B
  3 sites did not change.
  No change in total; no site changed significantly.
  $ allotrace diff --csv before.ctf after.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  1,0,0,8000,8000,8000,1000,3200,3200,3200,400,-4800,-4800,-4800,parse,a.c,10,12,
  1,0,0,4000,4000,4000,500,0,0,0,0,-4000,-4000,-4000,old,a.c,40,,
  1,0,0,0,0,0,0,400,400,400,50,400,400,400,new,a.c,,50,
  0,1,1,800,800,800,100,800,800,800,100,0,0,0,parse,a.c,12,14,
  $ allotrace diff --json --top 1 before.ctf after.ctf
  {"by":"line","unit":"B","unit_of_total":"B","false_discovery_rate":0.05,"decided":true,"measure":"allocated","normalise":"none",
   "runs_before":[
    {"rate":1,"program":"prog","host":"host"}],
   "runs_after":[
    {"rate":1,"program":"prog","host":"host"}],
   "total":{"sure":true,"p":0,"before":{"value":12800,"low":12800,"high":12800,"samples":1600},"after":{"value":4400,"low":4400,"high":4400,"samples":550},"change":{"value":-8400,"low":-8400,"high":-8400,"samples":2150},"ratio":{"value":0.34375,"low":0.34375,"high":0.34375,"samples":2150}},
   "sites":[
    {"site_before":{"function":"parse","file":"a.c","line":10},"site_after":{"function":"parse","file":"a.c","line":12},"sure":true,"q":0,"p":0,"before":{"value":8000,"low":8000,"high":8000,"samples":1000},"after":{"value":3200,"low":3200,"high":3200,"samples":400},"change":{"value":-4800,"low":-4800,"high":-4800,"samples":1400},"ratio":{"value":0.4,"low":0.4,"high":0.4,"samples":1400}}],
   "omitted":{"sites":3,"sure":2}}
  $ allotrace diff --json before.ctf after.ctf | python3 -m json.tool >/dev/null

Sampled, at different rates; what is not sure is said to be so:

  $ printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\nalloc major 99999999 %d main@m.c:1 g@a.c:2\n' 400 30 | $TESTDIR/make-trace >few.ctf
  $ printf 'rate 1e-4\nalloc major 99999999 %d main@m.c:1 f@a.c:1\nalloc major 99999999 %d main@m.c:1 g@a.c:2\n' 2000 320 | $TESTDIR/make-trace >many.ctf
  $ allotrace diff few.ctf many.ctf
    before  328.1 MB ± 31.4 MB
    after   177.0 MB ± 7.2 MB
    change  -151.1 MB ± 32.2 MB, -46% ± 6%
  Different rates: 1e-5 before, 1e-4 after.
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
    before, MB  after  change       ±       q  site
         305.2  152.6  -152.6  ± 31.0  <0.001  a.c:1 f
  Not significant; may be due to chance:
          22.9   24.4    +1.5   ± 9.0   0.825  a.c:2 g
  q is the share of false results to expect among rows with that q or less.
  Reduced by 46% ± 6%; 1 site changed significantly.
  $ cp few.ctf copy.ctf; allotrace diff few.ctf copy.ctf
    before  328.1 MB ± 31.4 MB
    after   328.1 MB ± 31.4 MB
    change  0 B ± 44.4 MB, 0% ± 14%
  Sites below about 2.3 MB may be invisible at this rate.
    before, MB  after  change       ±      q  site
  Not significant; may be due to chance:
         305.2  305.2     0.0  ± 42.9  1.000  a.c:1 f
          22.9   22.9     0.0  ± 12.3  1.000  a.c:2 g
  q is the share of false results to expect among rows with that q or less.
  No significant change in total; no site changed significantly.
  $ allotrace diff --normalise total few.ctf many.ctf
    before  328.1 MB ± 31.4 MB
    after   177.0 MB ± 7.2 MB
    change  -151.1 MB ± 32.2 MB, -46% ± 6%
  Different rates: 1e-5 before, 1e-4 after.
  Sites are compared by their share of the total.
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
    before, %  after  change       ±       q  site
         6.98  13.79   +6.82  ± 3.05  <0.001  a.c:2 g
  Not significant; may be due to chance:
        93.02  86.21   -6.82  ± 9.99   0.175  a.c:1 f
  q is the share of false results to expect among rows with that q or less.
  Reduced by 46% ± 6%; 1 site changed significantly.
  $ allotrace diff before.ctf few.ctf | grep invisible
  Sites below about 2.3 MB after may be invisible at that rate.
  $ allotrace diff few.ctf after.ctf | grep invisible
  Sites below about 2.3 MB before may be invisible at that rate.
  $ allotrace diff --normalise time few.ctf copy.ctf | sed -n 3p
    change  0 B/s ± 21.7 GB/s, 0% ± 14%

How long a run takes is different each time, of which one run a side says nothing:

  $ for o in '--normalise time' '--measure byteseconds' '--normalise total'; do allotrace diff $o few.ctf many.ctf | grep -E '^  change|Undecided'; done
    change  -73.8 GB/s ± 15.7 GB/s, -46% ± 6%
  Undecided: ± covers sampling error only; one run per side cannot show how much times vary. Compare several runs, such as 5 per side: --before A… --after B…
    change  -156.2 KB·s ± 31.8 KB·s, -50% ± 5%
  Undecided: ± covers sampling error only; one run per side cannot show how much times vary. Compare several runs, such as 5 per side: --before A… --after B…
    change  -151.1 MB ± 32.2 MB, -46% ± 6%
  $ allotrace diff --normalise time few.ctf many.ctf
    before  160.2 GB/s ± 15.3 GB/s
    after   86.4 GB/s ± 3.5 GB/s
    change  -73.8 GB/s ± 15.7 GB/s, -46% ± 6%
  Different rates: 1e-5 before, 1e-4 after.
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
    before, GB/s  after  change       ±  site
           149.0   74.5   -74.5  ± 15.2  a.c:1 f
            11.2   11.9    +0.7   ± 4.4  a.c:2 g
  Undecided: ± covers sampling error only; one run per side cannot show how much times vary. Compare several runs, such as 5 per side: --before A… --after B…
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
  $ allotrace diff --normalise time --before few.ctf few.ctf --after copy.ctf few.ctf | grep -E '^Amounts|Undecided'
  Amounts are means of several runs: 2 before, 2 after.

Runs that differ among themselves are believed less:

  $ for n in 300 500 250; do printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\n' $n | $TESTDIR/make-trace >a$n.ctf; done
  $ for n in 500 700 400; do printf 'rate 1e-5\nalloc major 99999999 %d main@m.c:1 f@a.c:1\n' $n | $TESTDIR/make-trace >b$n.ctf; done
  $ allotrace diff a300.ctf b500.ctf
    before  228.9 MB ± 26.3 MB
    after   381.5 MB ± 33.8 MB
    change  +152.6 MB ± 42.9 MB, +67% ± 24%
  Sites below about 2.3 MB may be invisible at this rate.
    before, MB  after  change       ±       q  site
         228.9  381.5  +152.6  ± 42.9  <0.001  a.c:1 f
  q is the share of false results to expect among rows with that q or less.
  Increased by 67% ± 24%; 1 site changed significantly.
  $ allotrace diff --before a300.ctf a500.ctf a250.ctf --after b[0-9]*.ctf
    before  267.0 MB ± 250.7 MB
    after   406.9 MB ± 289.5 MB
    change  +139.9 MB ± 249.1 MB, +52% ± 117%
  Amounts are means of several runs: 3 before, 3 after.
  Sites below about 2.3 MB may be invisible at this rate.
    before, MB  after  change        ±      q  site
  Not significant; may be due to chance:
         267.0  406.9  +139.9  ± 249.1  0.193  a.c:1 f
  q is the share of false results to expect among rows with that q or less.
  A total change of this size would be significant with about 10 runs per side.
  No significant change in total; no site changed significantly.
  $ allotrace diff --after b[0-9]*.ctf --before a[0-9]*.ctf | cmp - <(allotrace diff --before a[0-9]*.ctf --after b[0-9]*.ctf)

Real traces; two of different programs have nothing in common:

  $ allotrace diff --top 2 $TRACES/ocamlopt.ctf $TRACES/ocamlopt.ctf
  Before and after are the same file (639.3 MB), so nothing differs.
  $ ln before.ctf link.ctf; allotrace diff --measure blocks before.ctf link.ctf
  Before and after are the same file (3 blocks), so nothing differs.
  $ allotrace diff --before before.ctf ./before.ctf --after before.ctf
  Before and after are the same file (12.5 KB), so nothing differs.
  $ allotrace diff --per 1,2 --top 1 before.ctf before.ctf
    before  12.5 KB
    after   6.2 KB
    change  -6.2 KB, -50%
  Amounts are divided by 1 before and by 2 after.
    before, B  after  change       q  site
        8,000  4,000  -4,000  <0.001  a.c:10 parse
  2 more sites changed significantly.
  Reduced by 50%; 3 sites changed significantly.
  $ allotrace diff --csv --top 1 before.ctf before.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  0,1,1,8000,8000,8000,1000,8000,8000,8000,1000,0,0,0,parse,a.c,10,10,
  $ rm copy.ctf link.ctf
  $ allotrace diff --top 2 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
    before  639.3 MB ± 30.8 MB
    after   79.0 GB ± 1.5 GB
    change  +78.4 GB ± 1.5 GB, +12558% ± 657%
  Different programs: main.exe before, tree.exe after.
  Different hosts: tarski before, pc1156-nvmp3 after.
  Different rates: 2e-5 before, 1e-6 after.
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
    before, MB    after    change        ±       q  site
           0.0  3,830.0  +3,830.0  ± 339.0  <0.001  map.ml:115 Stdlib__Map.Make.bal (new)
           0.0  2,952.6  +2,952.6  ± 298.1  <0.001  list.ml:58 Stdlib__List.rev_append (new)
  q is the share of false results to expect among rows with that q or less.
  337 more sites changed significantly.
  522 more sites without a significant change.
  Increased by 12558% ± 657%; 339 sites changed significantly.

A part of the blocks, and other measures:

  $ allotrace diff --measure peak --top 1 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
    before  45.0 MB ± 8.3 MB
    after   251.8 MB ± 90.1 MB
    change  +206.8 MB ± 90.5 MB, +459% ± 230%
  Different programs: main.exe before, tree.exe after.
  Different hosts: tarski before, pc1156-nvmp3 after.
  Different rates: 2e-5 before, 1e-6 after.
  Amounts: live at the peak.
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
    before, MB  after  change               ±       q  site
          0.00  30.52  +30.52  +8.27 … +78.14  <0.001  src/repr/binary.ml:232 Repr__Binary.Mono_container.decode.sub (new)
  q is the share of false results to expect among rows with that q or less.
  6 more sites changed significantly.
  73 more sites without a significant change.
  Increased by 459% ± 230%; 7 sites changed significantly.
  $ allotrace diff --filter 'fn:parse' before.ctf after.ctf
    before  8.6 KB
    after   3.9 KB
    change  -4.7 KB, -55%
  Filter: fn:parse
    before, B  after  change       q  site
        8,000  3,200  -4,800  <0.001  a.c:12 parse (was line 10)
  1 site did not change.
  Reduced by 55%; 1 site changed significantly.
  $ allotrace diff --filter 'fn:parse' --measure survived --json --top 1 before.ctf after.ctf | sed -n '1p'
  {"by":"line","unit":"B","unit_of_total":"B","false_discovery_rate":0.05,"decided":true,"measure":"survived","normalise":"none","filter":"fn:parse",
  $ allotrace diff --measure blocks before.ctf after.ctf
    before  3 blocks
    after   3 blocks
    change  0 blocks
    before, blocks  after  change       q  site
                 1      0      -1  <0.001  a.c:40 old (gone)
                 0      1      +1  <0.001  a.c:50 new (new)
  2 sites did not change.
  No change in total; 2 sites changed significantly.
  $ allotrace diff --measure byteseconds --normalise total before.ctf after.ctf
    before  17 B·s
    after   7.2 B·s
    change  -9.6 B·s, -57%
  Sites are compared by their share of the total.
    before, %  after  change  site
         4.76  11.11   +6.35  a.c:14 parse (was line 12)
        95.24  88.89   -6.35  a.c:12 parse (was line 10)
  2 sites did not change.
  Undecided: ± covers sampling error only; one run per side cannot show how much times vary. Compare several runs, such as 5 per side: --before A… --after B…
  $ allotrace subsample 2 $TRACES/ocamlopt.ctf >half.ctf
  $ allotrace diff --measure blocks --top 1 $TRACES/ocamlopt.ctf half.ctf
    before  19,652,679 blocks ± 1,044,461 blocks
    after   20,156,244 blocks ± 1,499,064 blocks
    change  +503,565 blocks ± 1,827,787 blocks, +3% ± 9%
  Different rates: 2e-5 before, 1e-5 after.
  Sites below about 1.1 MB before, 2.3 MB after may be invisible at these rates.
    before, blocks    after    change          ±      q  site
  Not significant; may be due to chance:
           216,671  100,001  -116,670  ± 195,204  1.000  asmcomp/interf.ml:52 Interf.build_graph.add_interf
  q is the share of false results to expect among rows with that q or less.
  443 more sites without a significant change.
  A total change of this size would be significant at a rate of 2.7e-4.
  No significant change in total; no site changed significantly.
  $ printf 'alloc major 1 2 f@a.c:1\nalloc major 4 5 g@a.c:2\nalloc major 4 5 g@a.c:2\nalloc major 9999 10000 h@a.c:3\n' | $TESTDIR/make-trace >exact.ctf
  $ allotrace subsample 100 --seed 1 exact.ctf >rare.ctf
  $ allotrace diff --measure blocks exact.ctf rare.ctf
    before  4 blocks
    after   1 block (1 block … 184 blocks)
    change  -3 blocks (-3 blocks … +180 blocks)
  Different rates: 1 before, 0.01 after.
  Sites below about 2.3 KB after may be invisible at that rate.
    before, blocks  after  change          ±      q  site
  Not significant; may be due to chance:
                 2      0      -2   -2 … +72  1.000  a.c:2 g (not sampled after)
                 1      0      -1  -1 … +183  1.000  a.c:1 f (not sampled after)
  q is the share of false results to expect among rows with that q or less.
  1 site did not change.
  No significant change in total; no site changed significantly.
  $ allotrace diff --measure byteseconds --before exact.ctf exact.ctf --after rare.ctf rare.ctf
    before  0.17 B·s
    after   0 B·s (0 B·s … 3 B·s)
    change  -0.17 B·s (-0.17 B·s … +2.8 B·s)
  Different rates: 1 before, 0.01 after.
  Amounts are means of several runs: 2 before, 2 after.
  Sites below about 2.3 KB after may be invisible at that rate.
    before, B·s  after  change              ±      q  site
  Not significant; may be due to chance:
           0.12      0   -0.12  -0.12 … +2.31  1.000  a.c:2 g (not sampled after)
           0.05      0   -0.05  -0.05 … +4.33  1.000  a.c:1 f (not sampled after)
              0      0       0       0 … +183  1.000  a.c:3 h
  q is the share of false results to expect among rows with that q or less.
  No significant change in total; no site changed significantly.
  $ allotrace diff --measure byteseconds --normalise time --top 1 $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf
    before  26.3 MB·s/s ± 4.5 MB·s/s
    after   94.8 MB·s/s ± 16.3 MB·s/s
    change  +68.4 MB·s/s ± 17.0 MB·s/s, +260% ± 88%
  Different programs: main.exe before, tree.exe after.
  Different hosts: tarski before, pc1156-nvmp3 after.
  Different rates: 2e-5 before, 1e-6 after.
  Sites below about 1.1 MB before, 22.9 MB after may be invisible at these rates.
    before, KB·s/s    after    change          ±  site
               0.0  9,655.3  +9,655.3  ± 4,994.1  list.ml:58 Stdlib__List.rev_append (new)
  860 more sites, undecided.
  Undecided: ± covers sampling error only; one run per side cannot show how much times vary. Compare several runs, such as 5 per side: --before A… --after B…
  $ allotrace diff --measure blocks --csv --top 1 $TRACES/ocamlopt.ctf half.ctf
  sure,q,p,before,before_low,before_high,before_samples,after,after_low,after_high,after_samples,change,change_low,change_high,function,file,line_before,line_after,type
  0,1,0.33187242271624257,216671,115371,384948,13,100001,20623,332568,3,-116670,-289780,100628,Interf.build_graph.add_interf,asmcomp/interf.ml,52,52,
  $ allotrace diff --filter 'siz:3' before.ctf after.ctf
  allotrace: --filter: column 1: `siz` is not one of alloc, live, size, life, heap, fn, file, module, type, thread, scope, trace, span, domain, promoted, survived, hide, hide-file, hide-module, below, above, path, recursion, repeats
    siz:3
    ^
  Try `allotrace diff --help`.
  [2]

For a comment on a pull request, as Markdown, in which names are code:

  $ allotrace diff --markdown few.ctf many.ctf
  |  | |
  | --- | --- |
  | before | 328.1 MB ± 31.4 MB |
  | after | 177.0 MB ± 7.2 MB |
  | change | **-151.1 MB ± 32.2 MB, -46% ± 6%** |
  
  Different rates: 1e-5 before, 1e-4 after.\
  Sites below about 2.3 MB before, 234.0 KB after may be invisible at these rates.
  
  | before, MB | after | change | ± | q | site |
  | ---: | ---: | ---: | ---: | ---: | --- |
  | 305.2 | 152.6 | **-152.6** | **± 31.0** | &lt;0.001 | `a.c:1 f` |
  | | | | | | *Not significant; may be due to chance:* |
  | 22.9 | 24.4 | +1.5 | ± 9.0 | 0.825 | `a.c:2 g` |
  
  *q is the share of false results to expect among rows with that q or less.*\
  **Reduced by 46% ± 6%**; 1 site changed significantly.
  $ printf 'alloc major 99 100 main@main.c:1 @you<b>@*.c:7\n' | $TESTDIR/make-trace >named.ctf
  $ allotrace diff --markdown --filter '-fn:@you*x*' before.ctf named.ctf | grep you | tr '\342\200\213' '...'
  Filter: -fn:@...you\*x\*
  | 0 | 800 | **+800** | &lt;0.001 | `*.c:7 @you<b>` (new) |
  $ allotrace diff --markdown --json few.ctf many.ctf
  allotrace: diff: --json, --csv and --markdown exclude each other
  Try `allotrace diff --help`.
  [2]

No colours but on a terminal, and there for sure changes alone:

  $ script -qec "TERM=xterm allotrace diff few.ctf many.ctf" /dev/null | sed -n 's/\x1b/ESC/g; /a\.c/p' | tr -d '\r'
  ESC[0m       305.2  152.6  ESC[32m-152.6ESC[0m  ESC[32m± 31.0ESC[0m  <0.001  a.c:1 f
  ESC[2m        22.9   24.4    +1.5   ± 9.0   0.825  a.c:2 gESC[0m

What makes no sense:

  $ allotrace diff before.ctf
  allotrace: diff takes two traces, BEFORE and AFTER; for several per side, use --before A… --after B…
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff - - <before.ctf
  allotrace: diff: only one trace can be standard input, `-`
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before before.ctf
  allotrace: diff: --before and --after must be used together
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before --after after.ctf
  allotrace: diff: --after needs a trace
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff few.ctf --before before.ctf --after after.ctf
  allotrace: diff: `few.ctf` is neither before nor after
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --before a250.ctf --before a300.ctf --after after.ctf
  allotrace: --before is given twice
  Try `allotrace diff --help`.
  [2]
  $ allotrace diff --per none before.ctf after.ctf
  allotrace: --per: `none` is not one or two numbers above 0
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
  $ allotrace diff -m blocks --filter fn:Jsonm $TRACES/irmin-replay.ctf thin.ctf 2>/dev/null | sed -n 3p
    change  -722,347 blocks (-1,743,585 blocks … +122,241,292 blocks), no samples after

Nothing is sure where a part of a trace is lost, of which the same run shows what would be said:

  $ cp $TRACES/ocamlopt.ctf damaged.ctf; for i in {0..5}; do printf '\377\377\377\377'; done | dd of=damaged.ctf bs=1 seek=116000 conv=notrunc status=none
  $ allotrace diff $TRACES/ocamlopt.ctf damaged.ctf 2>/dev/null | sed '/^  /d'
  After lacks events: 122 ms at 627 ms (10.9 KB, 8.1% of the trace, cannot be read).
  Sites below about 1.1 MB may be invisible at this rate.
  427 more sites, undecided.
  Undecided: a trace is incomplete, and its missing part cannot be compared. Record it again.
  $ allotrace diff --json $TRACES/ocamlopt.ctf damaged.ctf 2>/dev/null | jq -c '.decided, (.runs_before, .runs_after | map(del(.rate)))'
  false
  [{"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","host":"tarski"}]
  [{"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","host":"tarski","lacks_events":true}]
  $ allotrace hotspots --index damaged.ctf >/dev/null 2>&1; allotrace diff damaged.ctf $TRACES/ocamlopt.ctf 2>/dev/null | sed '1p; $!d'
  Before lacks events: 122 ms at 627 ms (10.9 KB, 8.1% of the trace, cannot be read).
  Undecided: a trace is incomplete, and its missing part cannot be compared. Record it again.

The peak of several threads differs from run to run, but not by more than their turns can explain:

  $ thread() { for i in $(seq $2); do echo alloc external $3 $3 main@m.c:1 $1@m.c:2; done; for i in $(seq 0 $(($2 - 1))); do echo collect $i; done; }
  $ threads() { for f in f g; do (echo rate $2; thread $f 50 $1) | $TESTDIR/make-trace >$f.ctf; done; allotrace merge -o $3 f.ctf g.ctf 2>/dev/null; }
  $ threads 100 1 small.ctf; threads 150 1 middle.ctf; threads 250 1 large.ctf; threads 4 1e-3 sampled.ctf
  small.ctf: 10,000 samples in 100 blocks of 2 traces, rate 1
  middle.ctf: 15,000 samples in 100 blocks of 2 traces, rate 1
  large.ctf: 25,000 samples in 100 blocks of 2 traces, rate 1
  sampled.ctf: 400 samples in 100 blocks of 2 traces, rate 0.001
  $ allotrace diff --measure peak small.ctf large.ctf
    before  78.1 KB
    after   195.3 KB
    change  +117.2 KB, +150%
  Amounts: live at the peak.
    before, KB  after  change  site
         39.06  97.66  +58.59  m.c:2 f
         39.06  97.66  +58.59  m.c:2 g
  Increased by 150% in these runs, more than the turns of threads can explain; one run per side cannot show which sites changed.
  $ allotrace diff --measure peak small.ctf middle.ctf | tail -1
  Undecided: ± covers sampling error only; one run per side cannot show how much the memory held by several threads at one time varies. Compare several runs, such as 5 per side: --before A… --after B…
  $ allotrace diff --measure peak --json large.ctf small.ctf | jq -c '.decided, .total.sure, .total.p'
  false
  true
  null
  $ allotrace diff --measure peak --filter fn:f small.ctf large.ctf | tail -1
  Undecided: ± covers sampling error only; one run per side cannot show how much the memory held by several threads at one time varies. Compare several runs, such as 5 per side: --before A… --after B…
  $ allotrace diff --measure live small.ctf large.ctf | tail -1
  Undecided: ± covers sampling error only; one run per side cannot show how much the memory held by several threads at one time varies. Compare several runs, such as 5 per side: --before A… --after B…
  $ allotrace diff --measure peak sampled.ctf large.ctf | tail -1
  Reduced by 93.8% ± 0.6% in these runs, more than the turns of threads can explain; one run per side cannot show which sites changed.

Of the last seconds of two traces, what was allocated before does not count as allocated, as in hotspots:

  $ printf 'alloc major 99 100 main@a.c:1\nlater 10\nalloc major 9 10 main@a.c:2\n' | $TESTDIR/make-trace >before.ctf
  $ printf 'alloc major 99 100 main@a.c:1\nlater 10\nalloc major 19 20 main@a.c:2\n' | $TESTDIR/make-trace >after.ctf
  $ allotrace diff --last 5s before.ctf after.ctf
    before  80 B
    after   160 B
    change  +80 B, +100%
    before, B  after  change       q  site
           80    160     +80  <0.001  a.c:2 main
  Increased by 100%; 1 site changed significantly.
  $ allotrace hotspots --last 5s --json before.ctf | jq -c .total.value
  80
  $ allotrace diff --last 5s --measure live before.ctf after.ctf | head -n 2
    before  880 B
    after   960 B
