Call paths of a real trace:

  $ allotrace tree --min-share 40 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
   100.0% $47124242283684  639.3 MB ± 30.6 MB
    99.9%   Main (trace_ocamlopt/main.ml)  639.0 MB ± 30.6 MB
    99.9%   Main.main (trace_ocamlopt/main.ml)  639.0 MB ± 30.6 MB
    99.9%     Compenv.process_deferred_actions (driver/compenv.ml)  638.6 MB ± 30.6 MB
    99.9%     Stdlib__list.iter (list.ml)  638.6 MB ± 30.6 MB
    99.9%     Compenv.process_action (driver/compenv.ml)  638.6 MB ± 30.6 MB
    99.6%       Misc.try_finally (utils/misc.ml)  636.7 MB ± 30.5 MB
    99.6%       Misc.try_finally (utils/misc.ml)  636.7 MB ± 30.5 MB
    99.6%       Misc.try_finally (utils/misc.ml)  636.7 MB ± 30.5 MB
    99.6%       Compile_common.implementation.(fun) (driver/compile_common.ml)  636.7 MB ± 30.5 MB
    53.8%         Misc.try_finally (utils/misc.ml)  343.7 MB ± 22.4 MB
    53.8%         Optcompile.clambda.(fun) (driver/optcompile.ml)  343.7 MB ± 22.4 MB
    52.7%           Misc.try_finally (utils/misc.ml)  336.8 MB ± 22.2 MB
    52.7%           Asmgen.compile_unit.(fun) (asmcomp/asmgen.ml)  336.8 MB ± 22.2 MB
    52.7%           Misc.try_finally (utils/misc.ml)  336.8 MB ± 22.2 MB
    43.7%             Asmgen.end_gen_implementation (asmcomp/asmgen.ml)  279.2 MB ± 20.2 MB
    43.7%             Asmgen.(++) (asmcomp/asmgen.ml)  279.2 MB ± 20.2 MB
    43.7%             Misc.try_finally (utils/misc.ml)  279.2 MB ± 20.2 MB
  Left out: 12 call paths below 40% or deeper than 40 calls.
  $ allotrace tree --inverted --min-share 3 --top 2 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    15.5% Stdlib__set.Make.bal (set.ml)  99.2 MB ± 12.1 MB
    12.7%   Stdlib__set.Make.add (set.ml)  81.3 MB ± 10.9 MB
    11.1%     Stdlib__set.Make.add (set.ml)  71.0 MB ± 10.2 MB
     4.5% Btype.iter_type_expr.(fun) (typing/btype.ml)  29.0 MB ± 6.5 MB
  Left out: 379 call paths below 3% or deeper than 3 calls, or not among the largest.
  $ allotrace tree --inverted --by line --measure peak --filter 'heap:minor' --min-share 6 --depth 2 $TRACES/ocamlopt.ctf
  41.2 MB live at the peak, at 778 ms (± 7.8 MB, 108 samples at rate 2e-5)
  The filter keeps 1,666 of 1,676 sampled blocks.
  Sites below about 1.1 MB may be invisible at this rate.
     9.3% asmcomp/interf.ml:52 Interf.build_graph.add_interf  3.8 MB ± 2.4 MB
     9.3% set.ml:376 Stdlib__set.Make.iter  3.8 MB ± 2.4 MB
     7.4% set.ml:125 Stdlib__set.Make.bal  3.1 MB (1.3 MB … 6.0 MB)
     7.4% set.ml:90 Stdlib__set.Make.create  3.1 MB (1.3 MB … 6.0 MB)
     6.5% asmcomp/interf.ml:48 Interf.build_graph.add_interf  2.7 MB (1.1 MB … 5.5 MB)
     6.5% set.ml:376 Stdlib__set.Make.iter  2.7 MB (1.1 MB … 5.5 MB)
  Left out: 64 call paths below 6% or deeper than 2 calls.
  $ allotrace callers Stdlib__set.Make.bal --min-share 5 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    16.5% Stdlib__set.Make.bal  105.7 MB ± 12.4 MB
    13.6%   Stdlib__set.Make.add (set.ml)  87.0 MB ± 11.3 MB
    11.9%     Stdlib__set.Make.add (set.ml)  75.9 MB ± 10.5 MB
    10.7%       Stdlib__set.Make.add (set.ml)  68.3 MB ± 10.0 MB
     0.9%     Interf.build_graph.add_interf (asmcomp/interf.ml)  5.7 MB ± 2.9 MB
     0.9%     Stdlib__set.Make.iter (set.ml)  5.7 MB ± 2.9 MB
     1.1%   Interf.build_graph.add_interf (asmcomp/interf.ml)  6.9 MB ± 3.2 MB
     1.1%   Stdlib__set.Make.iter (set.ml)  6.9 MB ± 3.2 MB
  Left out: 31 call paths below 5% of it or deeper than 3 calls.
  $ allotrace callers --collapse-recursion Stdlib__set.Make.bal --min-share 2 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    16.5% Stdlib__set.Make.bal  105.7 MB ± 12.4 MB
    13.6%   Stdlib__set.Make.add (set.ml)  87.0 MB ± 11.3 MB
    11.6%     Interf.build_graph.add_interf (asmcomp/interf.ml)  74.0 MB ± 10.4 MB
    11.6%     Stdlib__set.Make.iter (set.ml)  74.0 MB ± 10.4 MB
     0.8%     Liveness.live (asmcomp/liveness.ml)  5.0 MB ± 2.7 MB
     0.8%     Liveness.fundecl (asmcomp/liveness.ml)  5.0 MB ± 2.7 MB
     0.5%     Ctype.occur_rec (typing/ctype.ml)  3.4 MB (1.6 MB … 6.5 MB)
     1.1%   Interf.build_graph.add_interf (asmcomp/interf.ml)  6.9 MB ± 3.2 MB
     1.1%   Stdlib__set.Make.iter (set.ml)  6.9 MB ± 3.2 MB
     0.6%     Interf.build_graph.add_interf_move (asmcomp/interf.ml)  3.8 MB ± 2.4 MB
     0.5%     Interf.build_graph.add_interf_set (asmcomp/interf.ml)  3.1 MB (1.3 MB … 6.0 MB)
     0.5%   Liveness.live (asmcomp/liveness.ml)  3.4 MB (1.6 MB … 6.5 MB)
     0.5%   Liveness.fundecl (asmcomp/liveness.ml)  3.4 MB (1.6 MB … 6.5 MB)
     0.5%   Asmgen.liveness (asmcomp/asmgen.ml)  3.4 MB (1.6 MB … 6.5 MB)
     0.5%   Stdlib__set.Make.remove (set.ml)  3.1 MB (1.3 MB … 6.0 MB)
     0.4%     Liveness.live (asmcomp/liveness.ml)  2.7 MB (1.1 MB … 5.5 MB)
     0.4%     Liveness.fundecl (asmcomp/liveness.ml)  2.7 MB (1.1 MB … 5.5 MB)
  Left out: 29 call paths below 2% of it or deeper than 3 calls.
  $ allotrace callees 'Btype.iter* > /list/' --depth 2 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
     0.1% Btype.iter* > /list/  390.6 KB (9.9 KB … 2.1 MB)
     0.1%   Ctype.generalize (typing/ctype.ml)  390.6 KB (9.9 KB … 2.1 MB)
     0.1%   Btype.set_level (typing/btype.ml)  390.6 KB (9.9 KB … 2.1 MB)
  Left out: 1 call path below 1% of it or deeper than 2 calls.
  $ allotrace callers Cmi_format --depth 2 --csv $TRACES/ocamlopt.ctf
  depth,share,value,low,high,samples,blocks,self,function,file,line
  1,0.005370,3600000,1646149,6833921,9,9,0,Cmi_format.read_cmi,file_formats/cmi_format.ml,
  2,0.004773,3200000,1381533,6305276,8,8,0,Persistent_env.Persistent_signature.load.(fun),typing/persistent_env.ml,
  2,0.000597,400000,10127,2228657,1,1,0,Persistent_env.read_pers_struct,typing/persistent_env.ml,
  $ allotrace callees Cmi_format.read_cmi --min-share 0.5 --json $TRACES/ocamlopt.ctf
  {"unit":"B","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"allocated",
   "total":{"value":670400000,"low":638684955,"high":703282309,"samples":1676},
   "tree":{"focus":"Cmi_format.read_cmi","share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9,"self":{"share":0.000000,"value":0,"low":0,"high":1475552,"samples":0,"blocks":0},"children":[
    {"function":"Cmi_format.input_cmi","file":"file_formats/cmi_format.ml","share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9,"self":{"share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9},"children":[],"children_omitted":0}],"children_omitted":0}}

A line instead of a function; it is the file's whole name, or the end of its path:

  $ allotrace callers set.ml:125 --depth 2 --min-share 5 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    15.5% set.ml:125  99.2 MB ± 12.1 MB
     8.8%   set.ml:138 Stdlib__set.Make.add  56.1 MB ± 9.1 MB
     5.7%     set.ml:138 Stdlib__set.Make.add  36.6 MB ± 7.3 MB
     2.0%     set.ml:135 Stdlib__set.Make.add  13.0 MB ± 4.4 MB
     3.9%   set.ml:135 Stdlib__set.Make.add  25.2 MB ± 6.1 MB
     2.4%     set.ml:138 Stdlib__set.Make.add  15.3 MB ± 4.7 MB
     1.0%     set.ml:135 Stdlib__set.Make.add  6.1 MB ± 3.0 MB
     1.0%   asmcomp/interf.ml:46 Interf.build_graph.add_interf  6.5 MB ± 3.1 MB
     1.0%   set.ml:376 Stdlib__set.Make.iter  6.5 MB ± 3.1 MB
  Left out: 45 call paths below 5% of it or deeper than 2 calls.
  $ allotrace callees 'set.ml:376 > Interf.*' --depth 2 --min-share 5 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    16.8% set.ml:376 > Interf.*  107.6 MB ± 12.6 MB
    11.0%   set.ml:138 Stdlib__set.Make.add  70.2 MB ± 10.1 MB
     5.9%     set.ml:135 Stdlib__set.Make.add  37.8 MB ± 7.4 MB
     4.4%     set.ml:138 Stdlib__set.Make.add  27.8 MB ± 6.4 MB
     2.2%   set.ml:135 Stdlib__set.Make.add  14.1 MB ± 4.5 MB
     1.5%     set.ml:135 Stdlib__set.Make.add  9.5 MB ± 3.7 MB
     1.0%   set.ml:125 Stdlib__set.Make.bal  6.5 MB ± 3.1 MB
  Left out: 15 call paths below 5% of it or deeper than 2 calls.
  $ allotrace callers interf.ml:52 --depth 1 $TRACES/ocamlopt.ctf | tail -2
     0.8%   set.ml:376 Stdlib__set.Make.iter  5.0 MB ± 2.7 MB
  Left out: 2 call paths below 1% of it or deeper than 1 calls.
  $ allotrace callers erf.ml:52 --depth 1 $TRACES/ocamlopt.ctf | tail -1
  No call stack contains erf.ml:52.

What cannot be found, or understood:

  $ allotrace callers nowhere $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  No call stack contains nowhere.
  $ allotrace callers iter_typ_exrp $TRACES/ocamlopt.ctf >/dev/null
  allotrace: hint: there is `Btype.iter_type_expr.(fun)`
  $ allotrace callers 'a > ' $TRACES/ocamlopt.ctf
  allotrace: FUNCTION: column 5: the name of a function is missing
    a > 
        ^
  Try `allotrace callers --help`.
  [2]
  $ allotrace callers $TRACES/ocamlopt.ctf
  allotrace: callers needs a function and a trace file
  Try `allotrace callers --help`.
  [2]
  $ allotrace tree --depth 0 $TRACES/ocamlopt.ctf
  allotrace: --depth: from 1 to 1000 calls can be shown
  Try `allotrace tree --help`.
  [2]

Where a program begins has other names in other languages:

  $ printf 'rate 1\nalloc minor 8 9 Stdlib@stdlib.ml:3\nalloc minor 80 81 Prog@prog.ml:9 Prog.f@prog.ml:2\nalloc minor 90 91 [deeper]@:0 Prog.f@prog.ml:2\n' | $TESTDIR/make-trace >ml.ctf
  $ allotrace callers main ml.ctf
  1.4 KB total allocations (exact, 181 samples at rate 1)
  No call stack contains main.
  allotrace: hint: most call stacks begin in `Prog`
  $ allotrace hotspots -f fn:main ml.ctf
  Nothing to show: kept 0 of 3 blocks: `fn` removed the last 3.
  allotrace: hint: most call stacks begin in `Prog`
  $ allotrace callees other ml.ctf 2>&1 | grep hint
  [1]
