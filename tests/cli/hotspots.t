What allocates most, by line, with callers:

  $ allotrace hotspots $TRACES/ocamlopt.ctf --min-share 2
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB          ±  samples  site
     15.5% █▎  99.2     ± 12.1      260  set.ml:125 Stdlib__set.Make.bal
     11.8%     75.1     ± 10.5      197    via asmcomp/interf.ml:46 Interf.build_graph.add_interf
      1.1%      6.9      ± 3.2       18    via asmcomp/liveness.ml:52 Liveness.live
      0.6%      3.8      ± 2.4       10    via asmcomp/liveness.ml:62 Liveness.live, …
      4.5% ▍   29.0      ± 6.5       76  typing/btype.ml:316 Btype.iter_type_expr.(fun)
      1.4%      8.8      ± 3.6       23    via typing/ctype.ml:2401 Ctype.find_lowest_level
      0.7%      4.2      ± 2.5       11    via typing/ctype.ml:1775 Ctype.occur_rec
      0.7%      4.2      ± 2.5       11    via typing/ctype.ml:2060 Ctype.deep_occur, …
      3.6% ▎   22.9      ± 5.8       60  map.ml:113 Stdlib__map.Make.bal
      1.8%     11.4      ± 4.1       30    via asmcomp/spill.ml:60 Spill.record_use
      0.3%      1.9  0.6 … 4.5        5    via asmcomp/CSEgen.ml:82 CSEgen.fresh_valnum_reg
      0.2%      1.1  0.2 … 3.3        3    via middle_end/compilenv.ml:375 Compilenv.new_structured_constant, …
      2.6% ▎   16.8      ± 5.0       44  set.ml:130 Stdlib__set.Make.add
      1.0%      6.5      ± 3.1       17    via asmcomp/interf.ml:46 Interf.build_graph.add_interf
      0.5%      3.4  1.6 … 6.5        9    via asmcomp/liveness.ml:52 Liveness.live
      0.5%      3.1  1.3 … 6.0        8    via typing/ctype.ml:1774 Ctype.occur_rec, …
     73.7%  in 440 more sites below 2% each

The alias is the same command:

  $ memtrace-hotspot --top 1 $TRACES/irmin-replay.ctf
  79.0 GB total allocations (± 1.5 GB, 10,607 samples at rate 1e-6)
  Sites below about 22.9 MB may be invisible at this rate.
    share          MB        ±  samples  site
      4.7% ▍  3,830.0  ± 335.0      502  map.ml:115 Stdlib__Map.Make.bal
      2.5%    2,044.7  ± 244.8      268    via src/irmin-pack/inode.ml:1210 Irmin_pack__Inode.Make_internal.Val_impl.stabilize_root
      1.7%    1,358.0  ± 199.5      178    via src/irmin-pack/inode.ml:1225 Irmin_pack__Inode.Make_internal.Val_impl.of_bin
      0.2%      160.2   ± 68.5       21    via bench/irmin-pack/trace_stat_summary.ml:408 Irmin_traces__Trace_stat_summary.Span_folder.create.accumulate.on_atom_seen_duration32, …
     95.3%  in 417 more sites

By function, and by type, which these traces do not have:

  $ allotrace hotspots --by function --top 2 --callers 1 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  site
     15.5% █▎  99.2  ± 12.1      260  Stdlib__set.Make.bal (set.ml)
     11.8%     75.1  ± 10.5      197    via Interf.build_graph.add_interf (asmcomp/interf.ml), …
      4.5% ▍   29.0   ± 6.5       76  Btype.iter_type_expr.(fun) (typing/btype.ml)
      1.4%      8.8   ± 3.6       23    via Ctype.find_lowest_level (typing/ctype.ml), …
     80.0%  in 343 more functions
  $ allotrace hotspots --by=type --callers=2 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share               MB       ±  samples  type
    100.0% ████████  639.3  ± 30.6    1,676  (type not recorded)
     15.5%            99.2  ± 12.1      260    via set.ml:125 Stdlib__set.Make.bal
      4.5%            29.0   ± 6.5       76    via typing/btype.ml:316 Btype.iter_type_expr.(fun), …
  allotrace: hint: the trace records no types for these blocks; traces of OCaml programs never do; to see places: allotrace hotspots

Below a site stand the nearest callers that are in no library, or where there are none, the immediate ones:

  $ "$TESTDIR"/make-trace > library.ctf << END
  > $(printf 'alloc external 9 9 main@prog.rs:1 prog::work@prog.rs:5 <T>::of@/rustc/ab12/library/core/src/x.rs:3 alloc::vec::reserve@/rustc/ab12/library/alloc/src/vec.rs:8\n%.0s' {1..30})
  > $(printf 'alloc external 9 9 main@prog.rs:1 prog::rest@prog.rs:7 <T>::of@/rustc/ab12/library/core/src/x.rs:3 alloc::vec::reserve@/rustc/ab12/library/alloc/src/vec.rs:8\n%.0s' {1..10})
  > $(printf 'alloc external 9 9 <T>::of@/rustc/ab12/library/core/src/x.rs:3 alloc::vec::reserve@/rustc/ab12/library/alloc/src/vec.rs:8\n%.0s' {1..5})
  > $(printf 'alloc external 9 9 main@prog.rs:1 prog::rest@prog.rs:7 prog::own@prog.rs:9\n%.0s' {1..20})
  > END
  $ allotrace hotspots library.ctf | grep %
  allotrace: hint: most of it is allocated in libraries; --filter hide:@library shows the code that calls them
     69.2% █████▌  3,240      45  /rustc/ab12/library/alloc/src/vec.rs:8 alloc::vec::reserve
     46.2%         2,160      30    via prog.rs:5 prog::work
     15.4%           720      10    via prog.rs:7 prog::rest
      7.7%           360       5    via /rustc/ab12/library/core/src/x.rs:3 <T>::of
     30.8% ██▌     1,440      20  prog.rs:9 prog::own
     30.8%         1,440      20    via prog.rs:7 prog::rest
  $ allotrace hotspots --wrappers show --by function --top 1 library.ctf | grep %
  allotrace: hint: most of it is allocated in libraries; --filter hide:@library shows the code that calls them
     69.2% █████▌  3,240      45  alloc::vec::reserve (/rustc/ab12/library/alloc/src/vec.rs)
     69.2%         3,240      45    via <T>::of (/rustc/ab12/library/core/src/x.rs)
     30.8%  in 1 more function

What is left out is counted, also if it is everything:

  $ allotrace hotspots --callers 0 --min-share 4% $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  site
     15.5% █▎  99.2  ± 12.1      260  set.ml:125 Stdlib__set.Make.bal
      4.5% ▍   29.0   ± 6.5       76  typing/btype.ml:316 Btype.iter_type_expr.(fun)
     80.0%  in 442 more sites below 4% each
  $ allotrace hotspots --min-share 100 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    100.0%  in 444 sites below 100% each
  $ allotrace hotspots --min-share 0 --callers 0 $TRACES/ocamlopt.ctf | wc -l
  447

Every site and immediate caller agrees with sums by the second decoder:

  $ $TESTDIR/check-hotspots $TRACES/ocamlopt.ctf
  by line: 713 pairs of site and caller, 1676 samples
  by function: 577 pairs of site and caller, 1676 samples
  $ $TESTDIR/check-hotspots $TRACES/irmin-replay.ctf
  by line: 764 pairs of site and caller, 10607 samples
  by function: 546 pairs of site and caller, 10607 samples

JSON and CSV:

  $ allotrace hotspots --json --top 1 --callers 1 $TRACES/ocamlopt.ctf
  {"by":"line",
   "unit":"B","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"allocated","headers":true,
   "total":{"value":670400000,"low":638684955,"high":703282309,"samples":1676},
   "hotspots":[
    {"share":0.155131,"value":104000000,"low":91741631,"high":117440177,"samples":260,"blocks":260,"function":"Stdlib__set.Make.bal","file":"set.ml","line":125,"callers":[{"function":"Interf.build_graph.add_interf","file":"asmcomp/interf.ml","line":46,"share":0.117542,"value":78800000,"low":68179856,"high":90605495,"samples":197,"blocks":197}],"callers_omitted":18}],
   "omitted":{"sites":443,"share":0.844869,"value":566400000,"low":537279468,"high":596688632,"samples":1416}}
  $ allotrace hotspots --json --by type --callers 0 $TRACES/ocamlopt.ctf | python3 -m json.tool --compact
  {"by":"type","unit":"B","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"allocated","headers":true,"total":{"value":670400000,"low":638684955,"high":703282309,"samples":1676},"hotspots":[{"share":1.0,"value":670400000,"low":638684955,"high":703282309,"samples":1676,"blocks":1676,"type":null,"callers":[],"callers_omitted":444}],"omitted":{"sites":0,"share":0.0,"value":0,"low":0,"high":1475552,"samples":0}}
  $ allotrace hotspots --csv --top 2 $TRACES/ocamlopt.ctf
  share,value,low,high,samples,blocks,function,file,line,type
  0.155131,104000000,91741631,117440177,260,260,Stdlib__set.Make.bal,set.ml,125,
  0.045346,30400000,23951742,38050133,76,76,Btype.iter_type_expr.(fun),typing/btype.ml,316,
  $ allotrace hotspots --csv --by function --top 1 $TRACES/ocamlopt.ctf
  share,value,low,high,samples,blocks,function,file,line,type
  0.155131,104000000,91741631,117440177,260,260,Stdlib__set.Make.bal,set.ml,,

Compressed traces, pipes, and a name that looks like an option:

  $ gzip -c $TRACES/ocamlopt.ctf >a.ctf.gz
  $ zstd -q -c $TRACES/ocamlopt.ctf >a.ctf.zst
  $ allotrace hotspots $TRACES/ocamlopt.ctf >plain
  $ for trace in a.ctf.gz a.ctf.zst; do allotrace hotspots $trace | cmp - plain; done
  $ cat a.ctf.zst | allotrace hotspots - | cmp - plain
  $ allotrace hotspots - <$TRACES/ocamlopt.ctf | cmp - plain
  $ cp $TRACES/ocamlopt.ctf ./--top; allotrace hotspots -- --top | cmp - plain

No colours where there is no terminal; a terminal gets them, unless it asks not to:

  $ grep -c $'\033' plain
  0
  [1]
  $ script -qec "TERM=xterm allotrace hotspots --top 1 $TRACES/ocamlopt.ctf" /dev/null | grep -c $'\033'
  6
  $ script -qec "TERM=xterm NO_COLOR=1 allotrace hotspots --top 1 $TRACES/ocamlopt.ctf" /dev/null | grep -c $'\033'
  0
  [1]

What takes more than a second says how far it is, to who watches standard error; not among events that are printed as they
are read:

  $ echo 'head -c 130000 $TRACES/irmin-replay.ctf; sleep 1.2; tail -c +130001 $TRACES/irmin-replay.ctf' >slowly
  $ sed 's/sleep 1.2/for i in $(seq 1200); do grep -q "input: 0 MB" said \&\& break; sleep 0.1; done/' slowly >until_said
  $ watched() { : >said; script -qec "sh until_said | allotrace hotspots --top 1 - $1" /dev/null | tee said | tr '\r' '\n' | grep -m1 -o '^standard input: 0 MB$'; }
  $ watched; watched '>/dev/null'
  standard input: 0 MB
  standard input: 0 MB
  $ sh slowly | allotrace hotspots --top 1 - 2>&1 | grep -c 'standard input'
  0
  [1]
  $ script -qec "sh slowly | allotrace dump -" /dev/null | grep -c 'standard input'
  0
  [1]

A damaged trace gives what can be read, and one warning a kind:

  $ head -c 60000 $TRACES/ocamlopt.ctf >cut.ctf
  $ allotrace hotspots --top 1 --callers 1 cut.ctf
  allotrace: warning: cut.ctf: byte 60000: the trace is cut short; every whole event before the cut was used
  The trace ends early, at 326 ms: the file is cut short.
  Everything after that is missing.
  215.5 MB total allocations (± 17.8 MB, 565 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share       MB      ±  samples  site
     11.7% ▉  25.2  ± 6.1       66  typing/btype.ml:316 Btype.iter_type_expr.(fun)
      3.7%     8.0  ± 3.4       21    via typing/ctype.ml:2401 Ctype.find_lowest_level, …
     88.3%  in 212 more sites
  $ allotrace hotspots --strict cut.ctf
  allotrace: cut.ctf: byte 60000: the trace ends within a packet
  [1]

A trace without samples says why:

  $ head -c 66 $TRACES/irmin-replay.ctf >head.ctf; allotrace hotspots head.ctf
  allotrace: head.ctf: byte 66: * (glob)
  [1]
  $ $TESTDIR/first-packet $TRACES/irmin-replay.ctf >empty.ctf; allotrace hotspots empty.ctf
  No allocations: the trace contains no samples at rate 1e-6.
  A program that allocates less than about 28.1 MB in total may have no samples; record it at a higher rate.
  $ allotrace hotspots --json empty.ctf
  {"by":"line",
   "unit":"B","rate":1e-06,"program":"/tmp/l/github/irmin-worktree-main/_build/default/bench/irmin-pack/tree.exe","measure":"allocated","headers":true,
   "total":{"value":0,"low":0,"high":29511036,"samples":0},
   "hotspots":[],
   "omitted":{"sites":0,"share":0.000000,"value":0,"low":0,"high":29511036,"samples":0}}

Colours and whole names, where they are asked for:

  $ NO_COLOR=1 allotrace hotspots --color always -n 1 $TRACES/ocamlopt.ctf | head -1 | cat -v
  ^[[1m639.3 MB total allocations^[[0m (M-BM-1 30.6 MB, 1,676 samples at rate 2e-5)
  $ narrow() { script -qec "stty cols 50; allotrace hotspots -n 1 --callers 0 --color never $1 $TRACES/ocamlopt.ctf" /dev/null | tr -d '\r' | grep bal; }
  $ narrow
     15.5% █▎  99.2  ± 12.1  set.ml:125 …Make.bal
  $ narrow --full-names
     15.5% █▎  99.2  ± 12.1      260  set.ml:125 Stdlib__set.Make.bal

Where most types are only the functions that allocated, a hint says why and where to look:

  $ printf '%s\n' 'alloc external 40 41 main@a.rs:1 __rust_alloc@<type>:0|make@a.rs:2' 'alloc external 9 10 main@a.rs:1 Point@<type>:0|f@a.rs:3' | $TESTDIR/make-trace >rust.ctf
  $ allotrace types rust.ctf
  408 B total allocations (exact, 2 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share             B  blocks  type
     80.4% ██████▍  328       1  __rust_alloc
     80.4%          328       1    via a.rs:2 make
     19.6% █▋        80       1  Point
     19.6%           80       1    via a.rs:3 f
  allotrace: hint: C, C++ and Rust do not tell their allocators which type of object they make, so the type is the function that they call; to see which code makes them: allotrace hotspots
  $ printf '#include <vector>\nint main() { std::vector<int *> v; for (int i = 0; i < 9999; i++) v.push_back(new int[99]); return *v[9] > 1 << 30; }' >new.cc
  $ ${CXX:-c++} -g -O1 -o new new.cc; allotrace run -q -r 1 -o new.ctf -- ./new
  $ allotrace types new.ctf 2>&1 | grep -oE 'operator.*|hint: C, C..'
  operator new[]
  operator new
  hint: C, C++
  $ allotrace types --filter type:Point rust.ctf 2>&1 | grep hint
  [1]
