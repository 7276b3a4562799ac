The traces have short names here:

  $ cp $TRACES/ocamlopt.ctf $TRACES/irmin-replay.ctf .

What the largest functions allocate, why, and what to do; then the reason that many share:

  $ allotrace advise ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
   14.3% asmcomp/interf.ml:46 Interf.build_graph.add_interf
         tree-update: a Map or Set copies a path on every change
         what   91.2 MB ± 11.6 MB in about 2,390,000 blocks of 4 words (32 B); 95%
                die young, 5% are promoted
         from   set.ml:125 Stdlib__set.Make.bal
         why    Adding to or removing from a Map or Set allocates new nodes for
                the whole path from the root, about log2 of the number of
                elements, and more for rebalancing.
         do     If old versions are not needed, use a Hashtbl, a bit set or an
                array; build known contents at once with of_list or of_seq; merge
                in bulk with union instead of adding one by one. Adding an element
                that a Set already contains costs nothing.
         gain   at most 91.2 MB ± 11.6 MB, 14.3% of the total
         sure   definite: a function of Map.Make or Set.Make is on the stack
         check  allotrace hotspots --filter 'fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf
                allotrace diff --filter 'fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf AFTER.ctf
  
   10.6% in 33 functions, each below 10%:
             2.4%   asmcomp/liveness.ml:52 Liveness.live
             2.4%   asmcomp/spill.ml:60 Spill.record_use
             1.6%   typing/ctype.ml:1774 Ctype.occur_rec
             0.6%   asmcomp/deadcode.ml:61 Deadcode.deadcode, …
         tree-update: a Map or Set copies a path on every change
         what   67.9 MB ± 10.0 MB in about 1,650,000 blocks of 32 B to 40 B,
                2 sizes, 56% of 32 B; 93% die young, 7% are promoted; 3% are never
                freed
         from   set.ml:125 Stdlib__set.Make.bal
         why    as above
         gain   at most 67.9 MB ± 10.0 MB, 10.6% of the total, from all these
                functions together
         sure   definite: a function of Map.Make or Set.Make is on the stack
         check  allotrace hotspots --filter 'fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/' ocamlopt.ctf
                allotrace diff --filter 'fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/' ocamlopt.ctf AFTER.ctf
  
  The other 75.1% is spread over functions and reasons below 10% each.
  $ allotrace advise irmin-replay.ctf
  79.0 GB total allocations (± 1.5 GB, 10,607 samples at rate 1e-6)
  Sites below about 22.9 MB may be invisible at this rate.
  
   11.2% in 27 functions, each below 10%:
             3.0%   src/irmin/tree.ml:1695 Irmin__Tree.Make.find_tree
             1.6%   bench/irmin-pack/trace_replay.ml:200 Irmin_traces__Trace_replay.Make.exec_add
             1.1%   src/irmin/tree.ml:1681 Irmin__Tree.Make.sub.aux
             0.9%   src/irmin/tree.ml:1750 Irmin__Tree.Make.find, …
         promise: Lwt allocates promises and callbacks
         what   8.8 GB ± 514.5 MB in about 309,000,000 blocks of 8 B to 32 B,
                2 sizes, 80% of 32 B; 100% die young, 0% are promoted
         from   src/core/lwt.ml:1884 Lwt.Sequential_composition.bind.(fun)
         why    Each Lwt bind or map allocates closures, even on a resolved
                promise; on a pending one, also a new promise and a callback.
         do     Write steps that never wait as plain functions; process batches
                (one promise for many items) in inner loops; check Lwt.state
                before binding where the result is usually already there.
         gain   at most 8.8 GB ± 514.5 MB, 11.2% of the total, from all these
                functions together
         sure   definite: Lwt is on the stack
         check  allotrace hotspots --filter 'fn:/^Lwt/' irmin-replay.ctf
                allotrace diff --filter 'fn:/^Lwt/' irmin-replay.ctf AFTER.ctf
  
  The other 88.8% is spread over functions and reasons below 10% each.

The commands that it names keep the blocks in question:

  $ allotrace hotspots --by function --top 1 --callers 1 --filter 'fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf
  91.2 MB total allocations (± 11.6 MB, 239 samples at rate 2e-5)
  Filter: fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w (matches 239 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
    share             MB       ±  samples  site
     82.4% ██████▋  75.1  ± 10.5      197  Stdlib__set.Make.bal (set.ml)
     82.4%          75.1  ± 10.5      197    via Interf.build_graph.add_interf (asmcomp/interf.ml)
     17.6%  in 2 more functions

Below 10 % it is not worth it:

  $ allotrace advise --min-share 5 --filter '-fn:/^Interf/' ocamlopt.ctf | grep -e gain -e '%'
   12.9% in 33 functions, each below 5%:
             3.0%   asmcomp/liveness.ml:52 Liveness.live
             2.9%   asmcomp/spill.ml:60 Spill.record_use
             1.9%   typing/ctype.ml:1774 Ctype.occur_rec
             0.7%   asmcomp/deadcode.ml:61 Deadcode.deadcode, …
                2 sizes, 56% of 32 B; 93% die young, 7% are promoted; 3% are never
         gain   at most 67.9 MB ± 10.0 MB, 12.9% of the total, from all these
    7.0% in 9 functions, each below 5%:
             3.4%   asmcomp/x86_gas.ml:307 X86_gas.generate_asm.(fun)
             1.9%   asmcomp/x86_gas.ml:258 X86_gas.print_line
             0.4%   asmcomp/x86_gas.ml:105 X86_gas.i2_s
             0.4%   typing/typecore.ml:673 Typecore.NameChoice.warn_if_ambiguous, …
                96% die young, 0% are promoted; 4% are never freed
         gain   at most 36.6 MB ± 7.3 MB, 7.0% of the total: not worth it
  The other 80.1% is spread over functions and reasons below 5% each.
  $ allotrace advise --min-share 6 --filter 'fn:/Interf/' --top 1 ocamlopt.ctf | tail -4
         check  allotrace hotspots --filter 'fn:/Interf/ fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf
                allotrace diff --filter 'fn:/Interf/ fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf AFTER.ctf
  
  For the other 19.3%, there is 1 more piece of advice above 6% (--top).
  $ allotrace advise --filter '-fn:/Stdlib__([Ss]et|[Mm]ap)/' ocamlopt.ctf
  457.8 MB total allocations (± 25.9 MB, 1,200 samples at rate 2e-5)
  Filter: -fn:/Stdlib__([Ss]et|[Mm]ap)/ (matches 1,200 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
  No function allocates 10% of the total for one reason. The largest, typing/btype.ml:316 Btype.iter_type_expr.(fun), has 6.3%.
  Nothing here is worth optimising.

For programs:

  $ allotrace advise --min-share 4 --csv ocamlopt.ctf
  share,value,low,high,samples,blocks,rule,certainty,worth,gain_share,function,file,line,places,filter
  0.142601,95600000,83863069,108519764,239,239,tree-update,definite,yes,0.142601,Interf.build_graph.add_interf,asmcomp/interf.ml,46,1,fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w
  0.106205,71200000,61124185,82462586,178,178,tree-update,definite,yes,0.106205,,,,33,fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/
  0.057279,38400000,31104123,46892972,96,96,formatting,definite,no,0.057279,,,,9,fn:/CamlinternalFormat|Stdlib__([Pp]rintf|[Ff]ormat|[Ss]canf)/
  $ allotrace advise --top 1 --json ocamlopt.ctf
  {"unit":"B","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"allocated","headers":true,
   "total":{"value":670400000,"low":638684955,"high":703282309,"samples":1676},
   "advice":[
    {"family":"ocaml","spreads":false,"few_samples":false,"share":0.142601,"value":95600000,"low":83863069,"high":108519764,"samples":239,"blocks":239,"places":[{"function":"Interf.build_graph.add_interf","file":"asmcomp/interf.ml","line":46,"share":0.142601,"value":95600000,"low":83863069,"high":108519764,"samples":239,"blocks":239}],"what":{"number":{"value":2390096,"low":2096675,"high":2713087,"samples":239},"min_words":4,"max_words":4,"words":4,"one_size":1.000000,"sizes":1,"died_young":0.945607,"promoted":0.054393,"within_1ms":0.523013,"never_freed":0.004184,"type":null,"allocator":{"function":"Stdlib__set.Make.bal","file":"set.ml","line":125}},"rule":"tree-update","title":"a Map or Set copies a path on every change","why":"Adding to or removing from a Map or Set allocates new nodes for the whole path from the root, about log2 of the number of elements, and more for rebalancing.","do":"If old versions are not needed, use a Hashtbl, a bit set or an array; build known contents at once with of_list or of_seq; merge in bulk with union instead of adding one by one. Adding an element that a Set already contains costs nothing.","certainty":"definite","evidence":"a function of Map.Make or Set.Make is on the stack","worth":true,"gain":{"share":0.142601,"value":95600000,"low":83863069,"high":108519764,"samples":239},"filter":"fn:/^Interf\\.build_graph\\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\\.Make/ size:4w","check":["allotrace hotspots --filter 'fn:/^Interf\\.build_graph\\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\\.Make/ size:4w' ocamlopt.ctf","allotrace diff --filter 'fn:/^Interf\\.build_graph\\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\\.Make/ size:4w' ocamlopt.ctf AFTER.ctf"]}],
   "omitted":1,"functions":374,"largest":{"function":"Interf.build_graph.add_interf","file":"asmcomp/interf.ml","line":46,"share":0.168258,"value":112800000,"low":100017501,"high":126763358,"samples":282,"blocks":282}}

Where no rule fits, there are the facts; at rate 1 they are exact:

  $ $TESTDIR/make-trace >native.ctf <<'END'
  > alloc external 8 9 main@main.c:10 realloc@<type>:0|grow@table.c:5
  > collect 0
  > alloc external 16 17 main@main.c:10 realloc@<type>:0|grow@table.c:5
  > alloc external 2 3 main@main.c:20 malloc@<type>:0|libfoo.so.1+0x1f30@/usr/lib/libfoo.so.1[ab12]:0
  > END
  $ allotrace advise native.ctf
  232 B total allocations (exact, 3 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  
   89.7% table.c:5 grow
         what   208 B in 2 blocks of 64 B to 128 B, 2 sizes, 65% of 128 B, by
                realloc; 0% are freed within 1 ms; 65% are never freed
         why    No rule applies. Look at the code, and at its callers (allotrace
                callers).
         check  allotrace hotspots --filter 'fn:/^grow$/' native.ctf
                allotrace diff --filter 'fn:/^grow$/' native.ctf AFTER.ctf
  
   10.3% libfoo.so.1+0x1f30
         where  an address, because libfoo.so.1 has no symbol for it. Other
                addresses of the same function may be counted separately.
         what   24 B in 1 block of 2 words (16 B), by malloc; none is freed
         why    No rule applies. Look at the code, and at its callers (allotrace
                callers).
         check  allotrace hotspots --filter 'fn:/^libfoo\.so\.1\+0x1f30$/' native.ctf
                allotrace diff --filter 'fn:/^libfoo\.so\.1\+0x1f30$/' native.ctf AFTER.ctf
  allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them, if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org: allotrace symbolize --debuginfod native.ctf
  $ allotrace advise --json native.ctf | grep -o '"rule":[^,]*'
  allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them, if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org: allotrace symbolize --debuginfod native.ctf
  "rule":null
  "rule":null

Where OCaml's heap grows is nobody's fault, whatever just then allocates, and whatever the runtime calls for it:

  $ $TESTDIR/make-trace >heap.ctf <<'END'
  > alloc external 60000 60001 Dig@dig.ml:1 Dig.digits@dig.ml:7 Stdlib.string_of_int@stdlib.ml:268 caml_alloc_string@alloc.c:1 expand_heap@memory.c:1 caml_alloc_for_heap@memory.c:2
  > alloc external 70000 70001 Dig@dig.ml:1 Dig.digits@dig.ml:7 caml_alloc_shr@memory.c:5 large_allocate@shared_heap.c:9
  > alloc external 9999 10000 Dig@dig.ml:1 Dig.digits@dig.ml:7 caml_ba_alloc@bigarray.c:3
  > END
  $ allotrace advise --top 9 --min-share 1 heap.ctf | grep -E '^ +[0-9].*%|ocaml-heap|rule'
   50.0% shared_heap.c:9 large_allocate
         ocaml-heap: the OCaml heap grows
   42.9% memory.c:2 caml_alloc_for_heap
         ocaml-heap: the OCaml heap grows
    7.1% dig.ml:7 Dig.digits
         why    No rule applies. Look at the code, and at its callers (allotrace

What is freed at once can take the place of another block, but not its own; a few lives are weak evidence:

  $ brief() { echo "alloc ${3-external} $2 $(($2 + 1)) $1@m.c:1"; echo "same collect $((id++))"; }
  $ { id=0; brief one 9000; for i in {1..9}; do brief one 300; done
  >   for i in 1 2 3 4; do brief four 2000; done; for i in {1..30}; do brief thirty 200; done
  >   brief cache 9000 major; for i in {1..9}; do brief cache 300 major; done
  >   for i in {1..10}; do brief ten 1200 major; done
  > } | "$TESTDIR/make-trace" >brief.ctf
  $ summary() { jq -r '.advice[] | "\(.places[0].function): \(.rule), \(.certainty)"' | sort; }
  $ allotrace advise --json brief.ctf | summary
  cache: null, null
  four: temporary, guess
  one: null, null
  ten: large-block, guess
  thirty: temporary, likely
  $ allotrace advise --json -m blocks brief.ctf | summary
  cache: large-block, guess
  one: temporary, guess
  ten: large-block, guess
  thirty: temporary, likely
  $ allotrace advise brief.ctf | grep -A1 sure
         sure   guess: sizes, and most blocks are freed while the program runs;
                but there are few blocks
  --
         sure   guess: lifetimes; the trace does not record who freed them; but
                there are few blocks
  --
         sure   likely: lifetimes; the trace does not record who freed them
         check  allotrace hotspots --filter 'fn:/^thirty$/ life:<1ms size:200w' brief.ctf

A copy that the program keeps had to be made once, whatever made it:

  $ append() { for i in {1..40}; do echo "alloc minor 20 21 $1@m.ml:1 $2@stdlib.ml:2"; [ $1 = kept ] || echo "collect $id"; id=$((id + 1)); done; }
  $ { id=0; append kept 'Stdlib.(^)'; append dropped 'Stdlib.(^)'; append kept 'Stdlib.(@)'; append dropped 'Stdlib.(@)'
  > } | "$TESTDIR/make-trace" >append.ctf
  $ allotrace advise --json append.ctf | summary
  dropped: list-append, definite
  dropped: string-concat, definite
  kept: null, null

What grows by steps, and what by a factor:

  $ grow() { echo "$4 alloc external $2 $(($2 + 1)) main@m.c:9 realloc@<type>:0|$1@m.c:1"; echo "collect $3"; }
  $ { for i in {0..29}; do grow steps $((1000 + 25 * i)) $i same; done
  >   for i in {0..11}; do grow factor $((10 << i)) $((30 + i)) same; done
  > } | "$TESTDIR/make-trace" >growth.ctf
  $ allotrace advise growth.ctf | grep -A1 what
         what   320.0 KB in 12 blocks of 80 B to 160.0 KB, 12 sizes, 50% of
                160.0 KB, by realloc; they grow by a factor of 2; 0% are freed
  --
         what   319.6 KB in 30 blocks of 7.8 KB to 13.5 KB, 30 sizes, by realloc;
                they grow by about 200 B at a time (1.9%); 0% are freed within

Few samples say nothing but the place; no samples nothing at all; a shell can take every name:

  $ $TESTDIR/make-trace >few.ctf <<'END'
  > rate 0.01
  > alloc minor 2 1 A.b'@a.ml:1 Stdlib.(@)@stdlib.ml:3
  > alloc minor 2 1 A.b'@a.ml:1 Stdlib.(@)@stdlib.ml:3
  > END
  $ cp few.ctf "it's few.ctf"
  $ allotrace advise "it's few.ctf"
  1.6 KB total allocations (197 B … 5.6 KB, 2 samples at rate 0.01)
  Sites below about 2.3 KB may be invisible at this rate.
  
  100.0% a.ml:1 A.b'
         what   1.6 KB (197 B … 5.6 KB) in about 67 blocks of 2 words (16 B); none
                is freed
         from   stdlib.ml:3 Stdlib.(@)
         why    Too few samples to tell; record with a higher --rate.
         check  allotrace hotspots --filter 'fn:/^A\.b.$/' 'it'\''s few.ctf'
                allotrace diff --filter 'fn:/^A\.b.$/' 'it'\''s few.ctf' AFTER.ctf
  $ allotrace advise few.ctf | sed -n 's/.*\(allotrace hotspots\)/\1 --callers 0/p' | sh
  1.6 KB total allocations (197 B … 5.6 KB, 2 samples at rate 0.01)
  Filter: fn:/^A\.b.$/
  Sites below about 2.3 KB may be invisible at this rate.
    share                B            ±  samples  site
    100.0% ████████  1,600  197 … 5,759        2  stdlib.ml:3 Stdlib.(@)
  $ $TESTDIR/make-trace >none.ctf </dev/null
  $ allotrace advise none.ctf
  No allocations: the trace contains no samples at rate 1.
  $ allotrace advise --filter 'size:>1G' few.ctf
  Nothing to show: the filter matches 0 of 2 blocks: `size` removed the last 2.
  $ allotrace advise --json none.ctf
  {"unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,
   "total":{"value":0,"low":0,"high":0,"samples":0},
   "advice":[],
   "omitted":0,"functions":0,"largest":{"function":null,"file":null,"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"blocks":0}}

What is not understood:

  $ allotrace advise --min-share much few.ctf
  allotrace: --min-share: `much` is not a percentage from 0 to 100
  Try `allotrace advise --help`.
  [2]
  $ allotrace advise --filter 'fn' few.ctf
  allotrace: --filter: column 3: `fn` needs a value: fn:…
    fn
      ^
  Try `allotrace advise --help`.
  [2]
  $ allotrace advise --json --csv few.ctf
  allotrace: advise: --json and --csv exclude each other
  Try `allotrace advise --help`.
  [2]
  $ allotrace advise
  allotrace: advise needs a trace file
  Try `allotrace advise --help`.
  [2]

Of what is live at the peak:

  $ allotrace advise -m peak --top 1 - <$TRACES/ocamlopt.ctf
  45.0 MB live at the peak, at 778 ms (± 8.1 MB, 118 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
   19.5% asmcomp/interf.ml:52 Interf.build_graph.add_interf (also lines 48, 44)
         what   8.8 MB ± 3.6 MB in about 383,000 blocks of 2 words (16 B); 4% die
                young, 96% are promoted; 65% are never freed
         why    No rule applies. Look at the code, and at its callers (allotrace
                callers).
         check  allotrace hotspots --measure peak --filter 'fn:/^Interf\.build_graph\.add_interf$/' BEFORE.ctf
                allotrace diff --measure peak --filter 'fn:/^Interf\.build_graph\.add_interf$/' BEFORE.ctf AFTER.ctf
  
  For the other 80.5%, there is 1 more piece of advice above 10% (--top).

By numbers of blocks, and by how much is held for how long; the total is that of hotspots:

  $ allotrace advise -m blocks --top 1 ocamlopt.ctf
  19,652,679 blocks allocated (± 1,044,461, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
   12.2% asmcomp/interf.ml:46 Interf.build_graph.add_interf
         tree-update: a Map or Set copies a path on every change
         what   2,390,096 blocks ± 308,206 of 4 words (32 B); 95% die young, 5%
                are promoted
         from   set.ml:125 Stdlib__set.Make.bal
         why    Adding to or removing from a Map or Set allocates new nodes for
                the whole path from the root, about log2 of the number of
                elements, and more for rebalancing.
         do     If old versions are not needed, use a Hashtbl, a bit set or an
                array; build known contents at once with of_list or of_seq; merge
                in bulk with union instead of adding one by one. Adding an element
                that a Set already contains costs nothing.
         gain   at most 2,390,096 blocks ± 308,206, 12.2% of the total
         sure   definite: a function of Map.Make or Set.Make is on the stack
         check  allotrace hotspots --measure blocks --filter 'fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf
                allotrace diff --measure blocks --filter 'fn:/^Interf\.build_graph\.add_interf$/ fn:/Stdlib__([Mm]ap|[Ss]et)\.Make/ size:4w' ocamlopt.ctf AFTER.ctf
  
  The other 87.8% is spread over functions and reasons below 10% each.
  $ allotrace advise -m byteseconds ocamlopt.ctf
  22.4 MB·s of bytes times lifetime (± 3.8 MB·s, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
   11.9% file_formats/cmi_format.ml:46 Cmi_format.input_cmi
         what   2.7 MB·s (1.2 MB·s … 5.1 MB·s) in about 124,000 blocks of 16 B to
                32 B, 3 sizes; none is freed
         why    No rule applies. Look at the code, and at its callers (allotrace
                callers).
         check  allotrace hotspots --measure byteseconds --filter 'fn:/^Cmi_format\.input_cmi$/' ocamlopt.ctf
                allotrace diff --measure byteseconds --filter 'fn:/^Cmi_format\.input_cmi$/' ocamlopt.ctf AFTER.ctf
  
  The other 88.1% is spread over functions and reasons below 10% each.
  $ for m in blocks byteseconds; do
  >   for c in advise hotspots; do allotrace $c -m $m --json ocamlopt.ctf | jq -c '.unit, .total'; done | sort -u
  > done
  "blocks"
  {"value":19652679,"low":18634653,"high":20723574,"samples":1676}
  "B·s"
  {"value":23531959,"low":19889052,"high":27876774,"samples":1676}

A function that was inlined into what starts threads is on no stack. What it called of the library then stands for it, and
not what starts the thread; where it is on the stack, it is the place, whatever of the library it was called through:

  $ "$TESTDIR"/make-trace > inlined.ctf << END
  > $(printf 'alloc external 9 9 clone3@clone3.S:1 start_thread@pthread_create.c:4 std::sys::backtrace::__rust_begin_short_backtrace@prog:0 core::ops::function::FnOnce::call_once@prog:0 alloc::fmt::format@fmt.rs:7 alloc::vec::reserve@vec.rs:8\n%.0s' {1..30})
  > $(printf 'alloc external 9 9 clone3@clone3.S:1 start_thread@pthread_create.c:4 prog::work@prog.rs:5 core::ops::function::FnOnce::call_once@prog:0 alloc::fmt::format@fmt.rs:7 alloc::vec::reserve@vec.rs:8\n%.0s' {1..20})
  > END
  $ allotrace advise inlined.ctf | grep '%'
   60.0% fmt.rs:7 alloc::fmt::format
   40.0% prog.rs:5 prog::work

What a filter hides is still what rules are about: it is nobody's own code, and nothing else:

  $ advice() { allotrace advise --json "$@" $TRACES/ocamlopt.ctf | jq -c '[.[] | .. | .rule? // empty]'; }
  $ advice >all; advice --filter hide:@library | cmp - all
