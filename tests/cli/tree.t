Call paths of a real trace:

  $ allotrace tree --min-share 40 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share               MB       ±  samples  function
    100.0% ████████  639.3  ± 30.6    1,676  $47124242283684
     99.9% ████████  639.0  ± 30.6    1,675    Main (trace_ocamlopt/main.ml)
     99.9% ████████  639.0  ± 30.6    1,675    Main.main (trace_ocamlopt/main.ml)
     99.9% ████████  638.6  ± 30.6    1,674      Compenv.process_deferred_actions (driver/compenv.ml)
     99.9% ████████  638.6  ± 30.6    1,674      Stdlib__list.iter (list.ml)
     99.9% ████████  638.6  ± 30.6    1,674      Compenv.process_action (driver/compenv.ml)
     99.6% ████████  636.7  ± 30.5    1,669        Misc.try_finally (utils/misc.ml)
     99.6% ████████  636.7  ± 30.5    1,669        Misc.try_finally (utils/misc.ml)
     99.6% ████████  636.7  ± 30.5    1,669        Misc.try_finally (utils/misc.ml)
     99.6% ████████  636.7  ± 30.5    1,669        Compile_common.implementation.(fun) (driver/compile_common.ml)
     53.8% ████▎     343.7  ± 22.4      901          Misc.try_finally (utils/misc.ml)
     53.8% ████▎     343.7  ± 22.4      901          Optcompile.clambda.(fun) (driver/optcompile.ml)
     52.7% ████▎     336.8  ± 22.2      883            Misc.try_finally (utils/misc.ml)
     52.7% ████▎     336.8  ± 22.2      883            Asmgen.compile_unit.(fun) (asmcomp/asmgen.ml)
     52.7% ████▎     336.8  ± 22.2      883            Misc.try_finally (utils/misc.ml)
     43.7% ███▌      279.2  ± 20.2      732              Asmgen.end_gen_implementation (asmcomp/asmgen.ml)
     43.7% ███▌      279.2  ± 20.2      732              Asmgen.(++) (asmcomp/asmgen.ml)
     43.7% ███▌      279.2  ± 20.2      732              Misc.try_finally (utils/misc.ml)
  Omitted: 12 call paths below 40% or deeper than 40 calls.
  $ allotrace tree --inverted --min-share 3 --top 2 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  function
     15.5% █▎  99.2  ± 12.1      260  Stdlib__set.Make.bal (set.ml)
     12.7% █   81.3  ± 10.9      213    Stdlib__set.Make.add (set.ml)
     11.1% ▉   71.0  ± 10.2      186      Stdlib__set.Make.add (set.ml)
      4.5% ▍   29.0   ± 6.5       76  Btype.iter_type_expr.(fun) (typing/btype.ml)
  Omitted: 379 call paths below 3% or deeper than 3 calls, or not among the largest.
  $ allotrace tree --inverted --by line --measure peak --filter 'heap:minor' --min-share 6 --depth 2 $TRACES/ocamlopt.ctf
  41.2 MB live at the peak, at 778 ms (± 7.8 MB, 108 samples at rate 2e-5)
  Filter: heap:minor (matches 1,666 of 1,676 sampled blocks)
  Sites below about 1.1 MB may be invisible at this rate.
    share          KB                  ±  samples  function
      9.3% ▊  3,906.2          ± 2,421.1       10  asmcomp/interf.ml:52 Interf.build_graph.add_interf
      9.3% ▊  3,906.2          ± 2,421.1       10  set.ml:376 Stdlib__set.Make.iter
      7.4% ▋  3,125.0  1,349.2 … 6,157.5        8  set.ml:125 Stdlib__set.Make.bal
      7.4% ▋  3,125.0  1,349.2 … 6,157.5        8  set.ml:90 Stdlib__set.Make.create
      6.5% ▌  2,734.4  1,099.4 … 5,633.9        7  asmcomp/interf.ml:48 Interf.build_graph.add_interf
      6.5% ▌  2,734.4  1,099.4 … 5,633.9        7  set.ml:376 Stdlib__set.Make.iter
  Omitted: 64 call paths below 6% or deeper than 2 calls.
  $ allotrace callers Stdlib__set.Make.bal --min-share 5 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share         MB       ±  samples  function
     16.5% █▍  105.7  ± 12.4      277  Stdlib__set.Make.bal
     13.6% █▏   87.0  ± 11.3      228    Stdlib__set.Make.add (set.ml)
     11.9% █    75.9  ± 10.5      199      Stdlib__set.Make.add (set.ml)
     10.7% ▉    68.3  ± 10.0      179        Stdlib__set.Make.add (set.ml)
      0.9% ▏     5.7   ± 2.9       15      Interf.build_graph.add_interf (asmcomp/interf.ml)
      0.9% ▏     5.7   ± 2.9       15      Stdlib__set.Make.iter (set.ml)
      1.1% ▏     6.9   ± 3.2       18    Interf.build_graph.add_interf (asmcomp/interf.ml)
      1.1% ▏     6.9   ± 3.2       18    Stdlib__set.Make.iter (set.ml)
  Omitted: 31 call paths below 5% of it or deeper than 3 calls.
  $ allotrace callers --collapse-recursion Stdlib__set.Make.bal --min-share 2 --depth 3 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share         MB          ±  samples  function
     16.5% █▍  105.7     ± 12.4      277  Stdlib__set.Make.bal
     13.6% █▏   87.0     ± 11.3      228    Stdlib__set.Make.add (set.ml)
     11.6% ▉    74.0     ± 10.4      194      Interf.build_graph.add_interf (asmcomp/interf.ml)
     11.6% ▉    74.0     ± 10.4      194      Stdlib__set.Make.iter (set.ml)
      0.8% ▏     5.0      ± 2.7       13      Liveness.live (asmcomp/liveness.ml)
      0.8% ▏     5.0      ± 2.7       13      Liveness.fundecl (asmcomp/liveness.ml)
      0.5% ▏     3.4  1.6 … 6.5        9      Ctype.occur_rec (typing/ctype.ml)
      1.1% ▏     6.9      ± 3.2       18    Interf.build_graph.add_interf (asmcomp/interf.ml)
      1.1% ▏     6.9      ± 3.2       18    Stdlib__set.Make.iter (set.ml)
      0.6% ▏     3.8      ± 2.4       10      Interf.build_graph.add_interf_move (asmcomp/interf.ml)
      0.5% ▏     3.1  1.3 … 6.0        8      Interf.build_graph.add_interf_set (asmcomp/interf.ml)
      0.5% ▏     3.4  1.6 … 6.5        9    Liveness.live (asmcomp/liveness.ml)
      0.5% ▏     3.4  1.6 … 6.5        9    Liveness.fundecl (asmcomp/liveness.ml)
      0.5% ▏     3.4  1.6 … 6.5        9    Asmgen.liveness (asmcomp/asmgen.ml)
      0.5% ▏     3.1  1.3 … 6.0        8    Stdlib__set.Make.remove (set.ml)
      0.4% ▏     2.7  1.1 … 5.5        7      Liveness.live (asmcomp/liveness.ml)
      0.4% ▏     2.7  1.1 … 5.5        7      Liveness.fundecl (asmcomp/liveness.ml)
  Omitted: 29 call paths below 2% of it or deeper than 3 calls.
  $ allotrace callees 'Btype.iter* > /list/' --depth 2 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        KB              ±  samples  function
      0.1% ▏  390.6  9.9 … 2,176.4        1  Btype.iter* > /list/
      0.1% ▏  390.6  9.9 … 2,176.4        1    Ctype.generalize (typing/ctype.ml)
      0.1% ▏  390.6  9.9 … 2,176.4        1    Btype.set_level (typing/btype.ml)
  Omitted: 1 call path below 1% of it or deeper than 2 calls.
  $ allotrace callers Cmi_format --depth 2 --csv $TRACES/ocamlopt.ctf
  depth,share,value,low,high,samples,blocks,self,self_low,self_high,self_samples,function,file,line
  1,0.005370,3600000,1646149,6833921,9,9,0,0,1475552,0,Cmi_format.read_cmi,file_formats/cmi_format.ml,
  2,0.004773,3200000,1381533,6305276,8,8,0,0,1475552,0,Persistent_env.Persistent_signature.load.(fun),typing/persistent_env.ml,
  2,0.000597,400000,10127,2228657,1,1,0,0,1475552,0,Persistent_env.read_pers_struct,typing/persistent_env.ml,
  $ allotrace callees Cmi_format.read_cmi --min-share 0.5 --json $TRACES/ocamlopt.ctf
  {"unit":"B","rate":2e-05,"program":"/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe","measure":"allocated","headers":true,
   "total":{"value":670400000,"low":638684955,"high":703282309,"samples":1676},
   "tree":{"focus":"Cmi_format.read_cmi","share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9,"self":{"share":0.000000,"value":0,"low":0,"high":1475552,"samples":0,"blocks":0},"children":[{"share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9,"function":"Cmi_format.input_cmi","file":"file_formats/cmi_format.ml","self":{"share":0.005370,"value":3600000,"low":1646149,"high":6833921,"samples":9,"blocks":9},"children":[],"children_omitted":0}],"children_omitted":0}}

A line instead of a function; it is the file's whole name, or the end of its path:

  $ allotrace callers set.ml:125 --depth 2 --min-share 5 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  function
     15.5% █▎  99.2  ± 12.1      260  set.ml:125
      8.8% ▊   56.1   ± 9.1      147    set.ml:138 Stdlib__set.Make.add
      5.7% ▌   36.6   ± 7.3       96      set.ml:138 Stdlib__set.Make.add
      2.0% ▏   13.0   ± 4.4       34      set.ml:135 Stdlib__set.Make.add
      3.9% ▍   25.2   ± 6.1       66    set.ml:135 Stdlib__set.Make.add
      2.4% ▎   15.3   ± 4.7       40      set.ml:138 Stdlib__set.Make.add
      1.0% ▏    6.1   ± 3.0       16      set.ml:135 Stdlib__set.Make.add
      1.0% ▏    6.5   ± 3.1       17    asmcomp/interf.ml:46 Interf.build_graph.add_interf
      1.0% ▏    6.5   ± 3.1       17    set.ml:376 Stdlib__set.Make.iter
  Omitted: 45 call paths below 5% of it or deeper than 2 calls.
  $ allotrace callees 'set.ml:376 > Interf.*' --depth 2 --min-share 5 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share         MB       ±  samples  function
     16.8% █▍  107.6  ± 12.6      282  set.ml:376 > Interf.*
     11.0% ▉    70.2  ± 10.1      184    set.ml:138 Stdlib__set.Make.add
      5.9% ▌    37.8   ± 7.4       99      set.ml:135 Stdlib__set.Make.add
      4.4% ▍    27.8   ± 6.4       73      set.ml:138 Stdlib__set.Make.add
      2.2% ▏    14.1   ± 4.5       37    set.ml:135 Stdlib__set.Make.add
      1.5% ▏     9.5   ± 3.7       25      set.ml:135 Stdlib__set.Make.add
      1.0% ▏     6.5   ± 3.1       17    set.ml:125 Stdlib__set.Make.bal
  Omitted: 15 call paths below 5% of it or deeper than 2 calls.
  $ allotrace callers interf.ml:52 --depth 1 $TRACES/ocamlopt.ctf | tail -2
      0.8% ▏  5,078.1  ± 2,760.4       13    set.ml:376 Stdlib__set.Make.iter
  Omitted: 2 call paths below 1% of it or deeper than 1 calls.
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
  allotrace: FUNCTION: column 5: missing function name
    a > 
        ^
  Try `allotrace callers --help`.
  [2]
  $ allotrace callers $TRACES/ocamlopt.ctf
  allotrace: callers needs a function and a trace file
  Try `allotrace callers --help`.
  [2]
  $ allotrace tree --depth 0 $TRACES/ocamlopt.ctf
  allotrace: --depth must be from 1 to 1000
  Try `allotrace tree --help`.
  [2]

Where a program begins has other names in other languages:

  $ printf 'rate 1\nalloc minor 8 9 Stdlib@stdlib.ml:3\nalloc minor 80 81 Prog@prog.ml:9 Prog.f@prog.ml:2\nalloc minor 90 91 [deeper]@:0 Prog.f@prog.ml:2\n' | $TESTDIR/make-trace >ml.ctf
  $ allotrace callers main ml.ctf
  1.4 KB total allocations (exact, 3 blocks at rate 1)
  No call stack contains main.
  allotrace: hint: most call stacks begin in `Prog`
  $ allotrace hotspots -f fn:main ml.ctf
  Nothing to show: the filter matches 0 of 3 blocks: `fn` removed the last 3.
  allotrace: hint: most call stacks begin in `Prog`
  $ allotrace callees other ml.ctf 2>&1 | grep hint
  [1]
