Filters and measures, on a made-up trace at rate 1, where numbers are exact:

  $ $TESTDIR/make-trace >a.ctf <<'END'
  > alloc minor 127 128 main@main.ml:1 Lwt.bind@lwt.ml:10
  > alloc minor 63 64 main@main.ml:1 Stdlib.List.map@list.ml:20
  > promote 1
  > collect 0
  > alloc major 1023 1024 main@main.ml:2 parse@lib/parse.ml:30
  > alloc external 255 256 main@main.ml:3 buf@<type>:0|xmalloc@util.c:5
  > collect 2
  > END
  $ allotrace hotspots --filter 'heap:major' --csv a.ctf
  share,value,low,high,samples,blocks,function,file,line,type
  0.941176,8192,8192,8192,1024,1,parse,lib/parse.ml,30,
  0.058824,512,512,512,64,1,Stdlib.List.map,list.ml,20,
  $ allotrace hotspots --filter 'fn:/^main$/ -fn:Lwt.*,parse' a.ctf
  2.5 KB total allocations (exact, 2 blocks at rate 1)
  Filter: fn:/^main$/ -fn:Lwt.*,parse (matches 2 of 4 sampled blocks)
    share               B  blocks  site
     80.0% ██████▍  2,048       1  main.ml:3 main
     20.0% █▋         512       1  list.ml:20 Stdlib.List.map
     20.0%            512       1    via main.ml:1 main
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc
  $ allotrace hotspots --measure live --at 3ms a.ctf
  1.5 KB live at 3 ms (exact, 2 blocks at rate 1)
    share              B  blocks  site
     66.7% █████▍  1,024       1  lwt.ml:10 Lwt.bind
     66.7%         1,024       1    via main.ml:1 main
     33.3% ██▋       512       1  list.ml:20 Stdlib.List.map
     33.3%           512       1    via main.ml:1 main
  allotrace: hint: most of it is allocated in libraries; --filter hide:@library shows the code that calls them
  $ allotrace hotspots --measure peak --filter 'hide:/./' a.ctf
  10.5 KB live at the peak, at 6 ms (exact, 3 blocks at rate 1)
  Filter: hide:/./
    share              KB  blocks  site
    100.0% ████████  10.5       3  (all code hidden; shown without hide:)
  $ allotrace hotspots --measure blocks --by function --top 1 a.ctf
  4 blocks allocated (exact at rate 1)
    share      blocks  site
     25.0% ██       1  parse (lib/parse.ml)
     25.0%          1    via main (main.ml)
     75.0%  in 3 more functions
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc
  $ allotrace hotspots --measure byteseconds --top 1 --json a.ctf
  {"by":"line",
   "unit":"B·s","rate":1,"program":"prog","measure":"byteseconds","headers":true,
   "total":{"value":24,"low":24,"high":24,"samples":1472},
   "hotspots":[
    {"share":0.680851,"value":16,"low":16,"high":16,"samples":1024,"blocks":1,"function":"parse","file":"lib/parse.ml","line":30,"callers":[{"function":"main","file":"main.ml","line":2,"share":0.680851,"value":16,"low":16,"high":16,"samples":1024,"blocks":1}],"callers_omitted":0}],
   "omitted":{"sites":3,"share":0.319149,"value":8,"low":8,"high":8,"samples":448},
   "wrappers_skipped":[
    {"function":"xmalloc","file":"util.c","share":0.085106,"value":2,"low":2,"high":2,"samples":256,"blocks":1}]}
  $ allotrace hotspots --measure promoted a.ctf
  512 B promoted (exact, 1 block at rate 1)
    share              B  blocks  site
    100.0% ████████  512       1  list.ml:20 Stdlib.List.map
    100.0%           512       1    via main.ml:1 main
  allotrace: hint: most of it is allocated in libraries; --filter hide:@library shows the code that calls them
  $ allotrace types --measure survived a.ctf
  2.5 KB never freed (exact, 2 blocks at rate 1)
    share               B  blocks  type
     80.0% ██████▍  2,048       1  buf
     80.0%          2,048       1    via main.ml:3 main
     20.0% █▋         512       1  (type not recorded)
     20.0%            512       1    via list.ml:20 Stdlib.List.map
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc

On a real one:

  $ allotrace hotspots --filter 'alloc:0.2s..0.4s life:<1ms fn:/[Ss]et/' --top 2 --callers 1 $TRACES/ocamlopt.ctf
  4.6 MB total allocations (± 2.6 MB, 12 samples at rate 2e-5)
  Filter: alloc:0.2s..0.4s life:<1ms fn:/[Ss]et/ (matches 12 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
    share             KB                ±  samples  site
     41.7% ███▍  1,953.1  634.2 … 4,557.9        5  set.ml:125 Stdlib__set.Make.bal
     25.0%       1,171.9  241.7 … 3,424.7        3    via typing/ctype.ml:1774 Ctype.occur_rec, …
     16.7% █▍      781.2   94.6 … 2,822.1        2  set.ml:130 Stdlib__set.Make.add
     16.7%         781.2   94.6 … 2,822.1        2    via typing/ctype.ml:1774 Ctype.occur_rec
     41.7%  in 5 more sites
  $ allotrace hotspots --measure peak --top 1 --callers 1 $TRACES/ocamlopt.ctf
  45.0 MB live at the peak, at 778 ms (± 8.1 MB, 118 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share          KB                ±  samples  site
      8.5% ▋  3,906.2        ± 2,421.1       10  asmcomp/interf.ml:52 Interf.build_graph.add_interf
      4.2%    1,953.1  634.2 … 4,557.9        5    via asmcomp/interf.ml:63 Interf.build_graph.add_interf_set, …
     91.5%  in 56 more sites
  $ printf 'alloc major 99 100 f@a.c:1\nsame collect 0\nalloc major 199 200 g@a.c:2\ncollect 1\n' | $TESTDIR/make-trace >moment.ctf
  $ allotrace hotspots -f live:@start..@end moment.ctf
  1.6 KB total allocations (exact, 1 block at rate 1)
  Filter: live:@start..@end (matches 1 of 2 sampled blocks)
    share                B  blocks  site
    100.0% ████████  1,600       1  a.c:2 g
  $ allotrace hotspots -f 'life:0 live:..1ms' moment.ctf
  Nothing to show: the filter matches 0 of 2 blocks: `live` removed the last 1.
  $ allotrace hotspots -f 'fn:g alloc:@peak..500us' moment.ctf
  allotrace: --filter: column 6: the range ends before it begins: @peak is at 2000us in this trace
    fn:g alloc:@peak..500us
         ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots -f 'alloc:0..500us,5s..@peak' moment.ctf
  allotrace: --filter: column 1: the range ends before it begins: @peak is at 2000us in this trace
    alloc:0..500us,5s..@peak
    ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace export --to csv -f 'live:@end..1us' moment.ctf
  allotrace: --filter: column 1: the range ends before it begins: @end is at 3000us in this trace
    live:@end..1us
    ^
  Try `allotrace export --help`.
  [2]
  $ allotrace check -f 'live:@end..1us' -e total=1KB moment.ctf
  allotrace: --filter: column 1: the range ends before it begins: @end is at 3000us in this trace
    live:@end..1us
    ^
  Try `allotrace check --help`.
  [2]
  $ allotrace diff -f 'live:@peak..1us' moment.ctf moment.ctf
  allotrace: --filter: column 1: the range ends before it begins: @peak is at 2000us in this trace
    live:@peak..1us
    ^
  Try `allotrace diff --help`.
  [2]
  $ allotrace hotspots -f 'alloc:10s..@end' moment.ctf
  Nothing to show: the filter matches 0 of 2 blocks: `alloc` removed the last 2.
  $ allotrace hotspots -f 'alloc:@peak..1ms' moment.ctf
  allotrace: --filter: column 1: the range ends before it begins: @peak is at 2000us in this trace
    alloc:@peak..1ms
    ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots -f live:@peak --top 1 --callers 1 $TRACES/ocamlopt.ctf
  45.0 MB total allocations (± 8.1 MB, 118 samples at rate 2e-5)
  Filter: live:@peak (matches 118 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
    share          KB                ±  samples  site
      8.5% ▋  3,906.2        ± 2,421.1       10  asmcomp/interf.ml:52 Interf.build_graph.add_interf
      4.2%    1,953.1  634.2 … 4,557.9        5    via asmcomp/interf.ml:63 Interf.build_graph.add_interf_set, …
     91.5%  in 56 more sites
  $ allotrace hotspots -m blocks --json --top 1 --callers 0 $TRACES/ocamlopt.ctf
  {"by":"line",
   "unit":"blocks","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"blocks",
   "total":{"value":19652679,"low":18634653,"high":20723574,"samples":1676},
   "hotspots":[
    {"share":0.132303,"value":2600104,"low":2293647,"high":2936105,"samples":260,"blocks":260,"function":"Stdlib__set.Make.bal","file":"set.ml","line":125,"callers":[],"callers_omitted":19}],
   "omitted":{"sites":443,"share":0.867697,"value":17052575,"low":16084758,"high":18074502,"samples":1416}}
  $ allotrace types -m promoted -f survived $TRACES/ocamlopt.ctf --callers 1
  36.6 MB promoted (± 7.3 MB, 96 samples at rate 2e-5)
  Filter: survived (matches 110 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
    share              MB      ±  samples  type
    100.0% ████████  36.6  ± 7.3       96  (type not recorded)
     11.5%            4.2  ± 2.5       11    via asmcomp/interf.ml:52 Interf.build_graph.add_interf, …
  allotrace: hint: the trace records no types for these blocks; traces of OCaml programs never do; to see places: allotrace hotspots

A domain is no part of one:

  $ allotrace hotspots --filter 'domain:1,2.5' a.ctf
  allotrace: --filter: column 10: a domain must be a whole number
    domain:1,2.5
             ^
  Try `allotrace hotspots --help`.
  [2]

If nothing is left, the report says why; where a term's name alone does not say which one it was, by all of it:

  $ allotrace hotspots --filter 'heap:minor size:>=2K' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `size` removed the last 2.
  $ allotrace hotspots --filter 'fn:main size:>=1 -heap:minor -size:<1G' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `-size:<1G` removed the last 2.
  $ allotrace hotspots --filter 'fn:/a"/ fn:main' --json a.ctf | grep -o '"removed_by":.*'
  "removed_by":"fn:/a\"/","removed_last":4,
  $ allotrace hotspots --filter 'size:<600' --measure promoted a.ctf
  512 B promoted (exact, 1 block at rate 1)
  Filter: size:<600 (matches 1 of 4 sampled blocks)
    share              B  blocks  site
    100.0% ████████  512       1  list.ml:20 Stdlib.List.map
    100.0%           512       1    via main.ml:1 main
  $ allotrace hotspots --filter 'heap:external' --measure promoted a.ctf
  Nothing to show: of 1 sampled blocks, none was promoted.
  $ allotrace hotspots --filter 'size:>1G' --json a.ctf
  {"by":"line",
   "unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,"filter":"size:>1G","kept_blocks":0,"of_blocks":4,"removed_by":"size","removed_last":4,
   "total":{"value":0,"low":0,"high":0,"samples":0},
   "hotspots":[],
   "omitted":{"sites":0,"share":0.000000,"value":0,"low":0,"high":0,"samples":0}}

Without what belongs to libraries, known by its name or by its file, blocks are the program's own functions'. A name that
begins like that is put in quotes:

  $ "$TESTDIR"/make-trace > library.ctf << END
  > $(printf 'alloc external 9 9 main@prog.rs:1 prog::work@prog.rs:5 <T>::of@/rustc/ab12/library/core/src/x.rs:3 alloc::vec::reserve@vec.rs:8\n%.0s' {1..30})
  > $(printf 'alloc external 9 9 main@prog.rs:1 my_alloc::vec@prog.rs:9 std::vector<int>::push_back@stl.h:8\n%.0s' {1..20})
  > END
  $ allotrace hotspots --filter 'hide:@library' library.ctf | grep '%'
     60.0% ████▊  2,160      30  prog.rs:5 prog::work
     60.0%        2,160      30    via prog.rs:1 main
     40.0% ███▎   1,440      20  prog.rs:9 my_alloc::vec
     40.0%        1,440      20    via prog.rs:1 main
  $ allotrace hotspots --filter 'hide:"@library"' library.ctf | grep '%'
     60.0% ████▊  2,160      30  vec.rs:8 alloc::vec::reserve
     60.0%        2,160      30    via prog.rs:5 prog::work
     40.0% ███▎   1,440      20  stl.h:8 std::vector<int>::push_back
     40.0%        1,440      20    via prog.rs:9 my_alloc::vec

The functions of files are left out like those that are named. Stacks begin below a function or a path, end above one, and lose recursion;
blocks of stacks that cannot are left out:

  $ "$TESTDIR"/make-trace > stacks.ctf << END
  > alloc major 127 128 main@m.c:1 parse@p.c:2 eval@e.c:3 parse@p.c:4 leaf@l.c:5
  > alloc major 255 256 main@m.c:1 eval@e.c:3 eval@e.c:4 eval@e.c:4 leaf@l.c:5
  > alloc major 511 512 main@m.c:1 leaf@l.c:5
  > END
  $ tree() { allotrace tree --filter "$@" stacks.ctf; }
  $ tree hide-file:e.c
  7.0 KB total allocations (exact, 3 blocks at rate 1)
  Filter: hide-file:e.c
    share                B  blocks  function
    100.0% ████████  7,168       3  main (m.c)
     85.7% ██████▉   6,144       2    leaf (l.c)
     14.3% █▏        1,024       1    parse (p.c)
     14.3% █▏        1,024       1    parse (p.c)
     14.3% █▏        1,024       1    leaf (l.c)
  $ "$TESTDIR"/make-trace > modules.ctf << END
  > alloc external 127 128 main@src/app/m.c:1 f@./malloc/arena.c:2 g@lib/json/parse.c:4 xmalloc@lib/util/mem.c:5
  > alloc external 255 256 main@src/app/m.c:1 f@./malloc/arena.c:2 xmalloc@lib/util/mem.c:5
  > alloc external 511 512 main@src/app/m.c:1
  > END
  $ for f in module:json -module:libc module:app,json module:/^l/ hide-module:json module:util; do
  >   echo "$f: $(allotrace hotspots --json --filter "$f" modules.ctf | jq -c '[.hotspots[] | [.function, .samples]]')"; done
  module:json: [["g",128]]
  -module:libc: [["main",512],["g",128]]
  module:app,json: [["main",512],["g",128]]
  module:/^l/: [["f",256]]
  hide-module:json: [["main",512],["f",384]]
  module:util: []
  $ tree below:parse
  1.0 KB total allocations (exact, 1 block at rate 1)
  Filter: below:parse (matches 1 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  1,024       1  parse (p.c)
    100.0% ████████  1,024       1  eval (e.c)
    100.0% ████████  1,024       1  parse (p.c)
    100.0% ████████  1,024       1  leaf (l.c)
  $ tree above:parse
  1.0 KB total allocations (exact, 1 block at rate 1)
  Filter: above:parse (matches 1 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  1,024       1  main (m.c)
    100.0% ████████  1,024       1  parse (p.c)
    100.0% ████████  1,024       1  eval (e.c)
    100.0% ████████  1,024       1  parse (p.c)
  $ tree path:main,eval
  2.0 KB total allocations (exact, 1 block at rate 1)
  Filter: path:main,eval (matches 1 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  leaf (l.c)
  $ tree path:main,leaf
  4.0 KB total allocations (exact, 1 block at rate 1)
  Filter: path:main,leaf (matches 1 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  4,096       1  leaf (l.c)
  $ tree recursion:parse
  7.0 KB total allocations (exact, 3 blocks at rate 1)
  Filter: recursion:parse
    share                B  blocks  function
    100.0% ████████  7,168       3  main (m.c)
     57.1% ████▋     4,096       1    leaf (l.c)
     28.6% ██▎       2,048       1    eval (e.c)
     28.6% ██▎       2,048       1    eval (e.c)
     28.6% ██▎       2,048       1    eval (e.c)
     28.6% ██▎       2,048       1    leaf (l.c)
     14.3% █▏        1,024       1    parse (p.c)
     14.3% █▏        1,024       1    leaf (l.c)
  $ tree repeats:eval
  7.0 KB total allocations (exact, 3 blocks at rate 1)
  Filter: repeats:eval
    share                B  blocks  function
    100.0% ████████  7,168       3  main (m.c)
     57.1% ████▋     4,096       1    leaf (l.c)
     28.6% ██▎       2,048       1    eval (e.c)
     28.6% ██▎       2,048       1    leaf (l.c)
     14.3% █▏        1,024       1    parse (p.c)
     14.3% █▏        1,024       1    eval (e.c)
     14.3% █▏        1,024       1    parse (p.c)
     14.3% █▏        1,024       1    leaf (l.c)
  $ tree 'recursion:parse below:eval'
  2.0 KB total allocations (exact, 1 block at rate 1)
  Filter: recursion:parse below:eval (matches 1 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  eval (e.c)
    100.0% ████████  2,048       1  leaf (l.c)
  $ tree 'below:eval recursion:parse'
  3.0 KB total allocations (exact, 2 blocks at rate 1)
  Filter: below:eval recursion:parse (matches 2 of 3 sampled blocks)
    share                B  blocks  function
    100.0% ████████  3,072       2  eval (e.c)
     66.7% █████▍    2,048       1    eval (e.c)
     66.7% █████▍    2,048       1    eval (e.c)
     66.7% █████▍    2,048       1    leaf (l.c)
     33.3% ██▋       1,024       1    parse (p.c)
     33.3% ██▋       1,024       1    leaf (l.c)
  $ allotrace hotspots --filter above:parse stacks.ctf
  1.0 KB total allocations (exact, 1 block at rate 1)
  Filter: above:parse (matches 1 of 3 sampled blocks)
    share                B  blocks  site
    100.0% ████████  1,024       1  p.c:4 parse
    100.0%           1,024       1    via e.c:3 eval
  $ allotrace leaks --filter above:parse --csv stacks.ctf | cut -d, -f 1-4
  class,value,low,high
  in steps,1024,1024,1024
  $ allotrace export --to collapsed --filter 'repeats:eval path:main,eval' stacks.ctf
  eval;leaf 2048
  $ allotrace export --to pprof --filter 'repeats:eval path:main,eval' -o stacks.pb.gz stacks.ctf
  $ "$TESTDIR"/check-pprof stacks.pb.gz stacks.ctf -- -f 'repeats:eval path:main,eval' | grep -E 'sums|heap'
  sums: 1 2048 1 2048
  heap: major 2048
  same sums as hotspots at all 1 places: True
  $ tree -below:parse
  allotrace: --filter: column 1: below cannot be negated
    -below:parse
    ^
  Try `allotrace tree --help`.
  [2]
  $ tree below:parze
  Nothing to show: the filter matches 0 of 3 blocks: `below` removed the last 3.
  allotrace: hint: there is `parse`

What cannot be understood:

  $ allotrace hotspots --filter 'fn:main alloc:10x' a.ctf
  allotrace: --filter: column 17: a time must end in us, ms, s, min or h
    fn:main alloc:10x
                    ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --filter 'fn:/(/' a.ctf
  allotrace: --filter: column 4: Unmatched ( or \(
    fn:/(/
       ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --filter 'fn:/((.{1,255}){1,255}){1,255}/' a.ctf
  allotrace: --filter: column 4: Regular expression too big
    fn:/((.{1,255}){1,255}){1,255}/
       ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --at 3ms a.ctf
  allotrace: hotspots: --at requires --measure live
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --measure live --at noon a.ctf
  allotrace: --at: column 1: `noon` does not begin with a number
    noon
    ^
  Try `allotrace hotspots --help`.
  [2]

Where no function, file or type has a name, one that is like it is shown, as by callers; not for patterns, nor for what is
taken away:

  $ for f in fn:Interf.biuld_graph fn:interff fn:interf,colorign 'fn:"Interf.build_graph.add_inter"' file:asmcomp/interf.mll 'file:interff.ml size:>1' fn:/Interff/ 'fn:Interff*' -fn:Interff 'fn:Interf size:>=1G' fn:Zebra; do echo "$f"; allotrace hotspots -f "$f" $TRACES/ocamlopt.ctf 2>&1 | grep -E 'hint|Nothing'; done
  fn:Interf.biuld_graph
  Nothing to show: the filter matches 0 of 1,676 blocks: `fn` removed the last 1,676.
  allotrace: hint: there is `Interf.build_graph`
  fn:interff
  Nothing to show: the filter matches 0 of 1,676 blocks: `fn` removed the last 1,676.
  allotrace: hint: there is `Interf.build_graph.interf`
  fn:interf,colorign
  fn:"Interf.build_graph.add_inter"
  file:asmcomp/interf.mll
  Nothing to show: the filter matches 0 of 1,676 blocks: `file` removed the last 1,676.
  allotrace: hint: there is `asmcomp/interf.ml`
  file:interff.ml size:>1
  Nothing to show: the filter matches 0 of 1,676 blocks: `file` removed the last 1,676.
  allotrace: hint: there is `asmcomp/interf.ml`
  fn:/Interff/
  Nothing to show: the filter matches 0 of 1,676 blocks: `fn` removed the last 1,676.
  fn:Interff*
  Nothing to show: the filter matches 0 of 1,676 blocks: `fn` removed the last 1,676.
  -fn:Interff
  fn:Interf size:>=1G
  Nothing to show: the filter matches 0 of 1,676 blocks: `size` removed the last 296.
  fn:Zebra
  Nothing to show: the filter matches 0 of 1,676 blocks: `fn` removed the last 1,676.
  $ allotrace callers Interf.biuld_graph $TRACES/ocamlopt.ctf 2>&1 | grep hint
  allotrace: hint: there is `Interf.build_graph`
  $ allotrace export --to csv -f fn:Interf.biuld_graph $TRACES/ocamlopt.ctf 2>&1 | grep hint
  allotrace: hint: there is `Interf.build_graph`
  $ allotrace check --expect total=1MB -f fn:Interf.biuld_graph $TRACES/ocamlopt.ctf 2>&1 | grep hint
  allotrace: hint: there is `Interf.build_graph`
  $ allotrace diff -f fn:Interf.biuld_graph $TRACES/ocamlopt.ctf $TRACES/ocamlopt.ctf 2>&1 | grep hint
  allotrace: hint: there is `Interf.build_graph`
  $ allotrace diff -f fn:Interf.build_graph $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf 2>&1 | grep hint
  [1]
  $ allotrace hotspots --by function -n 1 -m blocks -f 'size:>=64K' $TRACES/irmin-replay.ctf
  189 blocks allocated (23 … 754, 4 samples at rate 1e-6)
  Filter: size:>=64K (matches 4 of 10,607 sampled blocks)
  Sites below about 22.9 MB may be invisible at this rate.
    share          blocks        ±  samples  site
     64.8% █████▏     123  3 … 681        1  Jsonm.encoder (src/jsonm.ml)
     64.8%            123  3 … 681        1    via Repr__Type_json.pp (src/repr/type_json.ml)
     35.2%  in 2 more functions
  $ allotrace check -e 'total=100 blocks' -f 'size:>=64K' $TRACES/irmin-replay.ctf
    verdict      actual  ±                         expected  within  ratio  site
    PASS     189 blocks  23 blocks … 754 blocks  100 blocks     10x   1.89  total, size:>=64K
  1 passed, 0 failed, 0 undecided
  $ allotrace check -e 'total=100 blocks' -f 'size:>=64M' $TRACES/irmin-replay.ctf
  allotrace: warning: the filter kept 0 of 10607 blocks: `size` removed the last 10607
    verdict     actual  ±                   expected  within  ratio  site
    FAIL     no sample  at most 0 blocks  100 blocks     10x   0.00  total, size:>=64M
  0 passed, 1 failed, 0 undecided
  [3]
  $ printf 'rate 1\nalloc external 8 9 main@a.c:1 Parser.node@<type>:0|f@a.c:2\n' | $TESTDIR/make-trace >typed.ctf; for f in type:Parser.noed type:parser type:/noed/; do allotrace types -f $f typed.ctf 2>&1 | grep -E 'hint|Nothing'; done
  Nothing to show: the filter matches 0 of 1 blocks: `type` removed the last 1.
  allotrace: hint: there is `Parser.node`
  Nothing to show: the filter matches 0 of 1 blocks: `type` removed the last 1.
  allotrace: hint: there is `Parser.node`
  Nothing to show: the filter matches 0 of 1 blocks: `type` removed the last 1.

Memory outside the heap is no part of it, even if a trace tells of its promotion (OCaml does, of the handle):

  $ $TESTDIR/make-trace >handles.ctf <<'END'
  > alloc minor 63 64 main@main.ml:1
  > promote 0
  > alloc external 255 256 main@main.ml:2
  > promote 1
  > END
  $ allotrace hotspots --measure promoted handles.ctf
  512 B promoted (exact, 1 block at rate 1)
    share              B  blocks  site
    100.0% ████████  512       1  main.ml:1 main
  $ for f in promoted heap:minor heap:major heap:external; do allotrace hotspots --filter $f --csv handles.ctf | tail -n +2; done
  1.000000,512,512,512,64,1,main,main.ml,1,
  1.000000,512,512,512,64,1,main,main.ml,1,
  1.000000,512,512,512,64,1,main,main.ml,1,
  1.000000,2048,2048,2048,256,1,main,main.ml,2,
  $ allotrace info --json handles.ctf | jq -c '.[0].promoted | map_values(. + 0)'
  {"value":512,"low":512,"high":512,"samples":64,"blocks":1,"share":1}
  $ allotrace peak --json handles.ctf | jq -c '.heaps[] | .value'
  0
  512
  2048
  $ allotrace advise --json handles.ctf | jq -c '[.advice[].what.promoted + 0]'
  [0.2]
  $ allotrace lifetimes --json handles.ctf | jq -c '.all.dead_in_minor_heap, .all.premature | .of_samples'
  64
  0

Temporary is what is freed before the next allocation with its call stack, and within 1 ms: of three blocks of a loop the
second is not, and one that is alone with its stack must die soon all the same:

  $ $TESTDIR/make-trace >temporary.ctf <<'END'
  > alloc external 15 16 main@m.c:1 loop@m.c:5
  > same collect 0
  > same alloc external 15 16 main@m.c:1 loop@m.c:5
  > same alloc external 15 16 main@m.c:1 loop@m.c:5
  > same collect 1
  > same collect 2
  > alloc external 31 32 main@m.c:1 once@m.c:9
  > collect 3
  > alloc external 7 8 main@m.c:1 kept@m.c:11
  > END
  $ allotrace hotspots -m temporary temporary.ctf
  256 B temporary (exact, 2 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share              B  blocks  site
    100.0% ████████  256       2  m.c:5 loop
    100.0%           256       2    via m.c:1 main
  $ allotrace hotspots -m temporary --filter 'fn:once' temporary.ctf
  Nothing to show: of 1 sampled blocks, none was temporary.
  $ allotrace timeline -m temporary --csv temporary.ctf | tail -n 1
  3990,4001,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
  $ allotrace stats -m temporary temporary.ctf | head -n 3
  256 B temporary (exact, 2 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  
  $ printf '[[budget]]\nsite = "loop"\nmeasure = "temporary"\nmax = "100B"\n' >t.toml
  $ allotrace check --budget t.toml temporary.ctf
    verdict  actual       expected  ratio  site
    FAIL      256 B  at most 100 B   2.56  loop, temporary
  0 passed, 1 failed, 0 undecided
  [3]

Each thread has a next allocation of its own: two that run the same loop could keep a buffer each.

  $ $TESTDIR/make-trace >loops.ctf <<'END'
  > alloc external 15 16 main@m.c:1 loop@m.c:5
  > domain 1
  > soon alloc external 15 16 main@m.c:1 loop@m.c:5
  > domain 0
  > soon collect 0
  > soon alloc external 15 16 main@m.c:1 loop@m.c:5
  > soon alloc external 15 16 main@m.c:1 loop@m.c:5
  > domain 1
  > soon collect 1
  > domain 0
  > soon collect 2
  > soon collect 3
  > END
  $ allotrace hotspots -m temporary loops.ctf | head -n 1
  384 B temporary (exact, 3 blocks at rate 1)

A thread has a name from where the trace says so. Threads of one name are one, and those without a name are called by their domain:

  $ $TESTDIR/make-trace >threads.ctf <<'END'
  > alloc external 63 64 main@a.c:1
  > alloc external 0 0 worker-1@<thread>:0
  > same collect 1
  > alloc external 127 128 main@a.c:1 work@a.c:2
  > alloc external 0 0 logger@<thread>:0
  > same collect 3
  > alloc external 255 256 main@a.c:1 write@a.c:3
  > alloc external 0 0 worker-1@<thread>:0
  > same collect 5
  > alloc external 31 32 main@a.c:1 write@a.c:3
  > END
  $ allotrace hotspots --by thread threads.ctf
  3.8 KB total allocations (exact, 4 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share             B  blocks  thread
     53.3% ████▎  2,048       1  logger
     53.3%        2,048       1    via a.c:3 write
     33.3% ██▋    1,280       2  worker-1
     26.7%        1,024       1    via a.c:2 work
      6.7%          256       1    via a.c:3 write
     13.3% █▏       512       1  thread 0
     13.3%          512       1    via a.c:1 main
  $ allotrace hotspots --by thread --csv threads.ctf
  share,value,low,high,samples,blocks,function,file,line,thread,type
  0.533333,2048,2048,2048,256,1,,,,logger,
  0.333333,1280,1280,1280,160,2,,,,worker-1,
  0.133333,512,512,512,64,1,,,,thread 0,
  $ allotrace hotspots --by thread --json threads.ctf | jq -c '.hotspots[] | [.thread, .value, [.callers[].function]]'
  ["logger",2048,["write"]]
  ["worker-1",1280,["work","write"]]
  ["thread 0",512,["main"]]
  $ for f in 'thread:worker-*' thread:logger,worker -thread:worker 'thread:"thread 0"' thread:nobody; do allotrace hotspots --csv -f "$f" threads.ctf 2>&1 | tail -n +2 | cut -d, -f2,7; done
  1024,work
  256,write
  2304,write
  1024,work
  2048,write
  512,main
  512,main
  $ allotrace hotspots --by thread --measure blocks -f fn:write threads.ctf
  2 blocks allocated (exact at rate 1)
  Filter: fn:write (matches 2 of 4 sampled blocks)
    share        blocks  thread
     50.0% ████       1  logger
     50.0%            1    via a.c:3 write
     50.0% ████       1  worker-1
     50.0%            1    via a.c:3 write
  $ allotrace timeline --by thread --json -p 1 threads.ctf | jq -c '.threads[] | [.name, .filter]'
  ["logger","thread:/^logger$/"]
  ["worker-1","thread:/^worker-1$/"]
  ["thread 0","domain:0 thread:/^thread 0$/"]
  $ allotrace hotspots --by thread --csv --filter 'domain:0 thread:/^thread 0$/' threads.ctf
  share,value,low,high,samples,blocks,function,file,line,thread,type
  1.000000,512,512,512,64,1,,,,thread 0,
  $ allotrace export --to csv threads.ctf | cut -d, -f 4,9
  size,thread
  504,
  1016,worker-1
  2040,logger
  248,worker-1
  $ allotrace trim --from 7ms --live -o part.ctf threads.ctf; allotrace hotspots --by thread --csv part.ctf | cut -d, -f2,10
  part.ctf: 480 of 480 samples, in 4 of 4 blocks
  value,thread
  2048,logger
  1280,worker-1
  512,thread 0
  $ allotrace anonymise -o blank.ctf threads.ctf >/dev/null; allotrace hotspots --by thread --csv blank.ctf | cut -d, -f10 | sed -E 's/^f[0-9a-f]{12}$/a name/'
  thread
  a name
  a name
  thread 0
  $ allotrace hotspots --index --by thread --csv threads.ctf >first; allotrace hotspots --index --by thread --csv threads.ctf | cmp - first && ls threads.ctf.idx
  threads.ctf.idx
  $ allotrace hotspots --filter -thread:nobody threads.ctf | head -n 2
  3.8 KB total allocations (exact, 4 blocks at rate 1)
  Filter: -thread:nobody
Ids of traces and spans are hexadecimal digits, from their beginning on:
  $ allotrace hotspots --filter trace:xyz a.ctf
  allotrace: --filter: column 7: `xyz` is not the id of a trace or the beginning of one, which has 32 hexadecimal digits; * stands for any
    trace:xyz
          ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --filter span:0123456789abcdef0 a.ctf
  allotrace: --filter: column 6: `0123456789abcdef0` is not the id of a span or the beginning of one, which has 16 hexadecimal digits; * stands for any
    span:0123456789abcdef0
         ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --filter 'trace:4b*' a.ctf
  allotrace: --filter: column 7: `4b*` is not the id of a trace or the beginning of one, which has 32 hexadecimal digits; * stands for any
    trace:4b*
          ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --filter 'span: trace:4b' a.ctf
  allotrace: --filter: column 6: a value is missing
    span: trace:4b
         ^
  Try `allotrace hotspots --help`.
  [2]
  $ allotrace hotspots --csv --filter '-trace:*,4b' threads.ctf | tail -n +2 | wc -l
  3
  $ allotrace hotspots --csv --by trace threads.ctf | cut -d, -f10-
  trace,type
  (no trace),
