What stays, on a made-up trace at rate 1: 120 times, parse keeps a block, eval keeps the last ten, and
main keeps one from the start (events are 1 ms apart):

  $ { echo alloc major 999 1000 main@main.ml:1; for i in $(seq 120); do
  >     echo alloc major 9 10 main@main.ml:2 parse@parse.ml:10
  >     echo alloc major 9 10 main@main.ml:3 eval@eval.ml:20
  >     [ $i -le 10 ] || echo collect $((2 * (i - 10)))
  >   done; } >script
  $ $TESTDIR/make-trace <script >a.ctf
  $ allotrace leaks a.ctf
  26.6 KB total allocations (exact, 241 blocks at rate 1)
  Growth is measured from 87.8 ms to 351 ms; earlier allocations count as startup.
  18.0 KB live at the end, having grown by 6.9 KB in 263 ms.
  
  By class:
    class     live, B  sites  meaning
    growing     9,600      1  live memory keeps growing, with blocks from many different times
    bounded       800      1  steady: growth, if any, is at most half of what is live
    start-up    8,000      1  most was allocated at startup
  
  By site:
    class     live, B  growth       q  live over time            site
    growing     9,600   7,040  <0.001  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  parse.ml:10 parse
    bounded       800       0          ▅███████████████████████  eval.ml:20 eval
    start-up    8,000       0          ████████████████████████  main.ml:1 main
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks --csv a.ctf
  class,value,low,high,samples,slope,slope_low,slope_high,slope_samples,late,p,q,startup_samples,at_exit_samples,function,file,line
  growing,9600,9600,9600,1200,26666.3,26666.3,26666.3,880,26668.910289587962,5.960464477539072e-08,1.1920928955078144e-07,320,0,parse,parse.ml,10
  bounded,800,800,800,100,2.8942,2.8942,2.8942,980,15.049848447660604,0.9999990525721075,0.9999990525721075,0,0,eval,eval.ml,20
  start-up,8000,8000,8000,1000,0,0,0,0,0,1,1,1000,0,main,main.ml,1
  $ allotrace leaks --top 1 --by function --json a.ctf | jq -c '[.from, .to, .cleaned_up], .classes[0], (.sites[0] | .p *= 1e12 | .p |= floor | .q *= 1e12 | .q |= floor | .slope |= map_values(round)), .omitted, .all_sites.class'
  [87750,351000,false]
  {"class":"growing","value":9600,"low":9600,"high":9600,"samples":1200,"sites":1,"meaning":"live memory keeps growing, with blocks from many different times"}
  {"class":"growing","value":9600,"low":9600,"high":9600,"samples":1200,"slope":{"value":26666,"low":26666,"high":26666,"samples":880},"late":26668.910289587962,"p":59604,"q":119209,"startup_samples":320,"at_exit_samples":0,"history":[560,1040,1440,1840,2240,2560,2960,3360,3760,4160,4560,4960,5360,5680,6080,6480,6880,7280,7680,8080,8480,8800,9200,9600],"function":"parse","file":"parse.ml"}
  {"sites":2,"sites_without_live":0}
  "growing"
  $ allotrace leaks --warm-up 50 --filter fn:eval a.ctf | tail -2
    class    live, B  growth  live over time            site
    bounded      800       0  ▅███████████████████████  eval.ml:20 eval
  $ allotrace leaks --filter 'size:>1M' a.ctf
  Nothing to show: the filter matches 0 of 241 blocks: `size` removed the last 241.

The same, and a program that frees all in the end, by which it is not fooled:

  $ { cat script; seq 0 240 | sed 's/^/collect /'; } | $TESTDIR/make-trace >b.ctf
  $ allotrace leaks b.ctf 2>/dev/null | head -4
  26.6 KB total allocations (exact, 241 blocks at rate 1)
  The program cleaned up from 351 ms on; leaks are measured just before that.
  Growth is measured from 87.7 ms to 351 ms; earlier allocations count as startup.
  18.0 KB live before that, having grown by 7.0 KB in 263 ms.

What a program builds, and frees again at once, is no growth, in however many steps it is built:

  $ { for i in {0..299}; do echo alloc external 99 100 main@main.c:1 build@build.c:7; done
  >   for i in {0..299}; do echo same collect $i; done; echo alloc external 0 1 main@main.c:2; } | $TESTDIR/make-trace >built.ctf
  $ allotrace leaks built.ctf 2>/dev/null | sed -n '2p;5,9p'
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  233.6 KB live before that, having grown by 175.8 KB in 225 ms.
  
  By class:
    class          live, KB  sites  meaning
    freed at exit     233.6      1  most was freed when the program cleaned up, not before

Of a real trace:

  $ allotrace leaks --top 4 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  Growth is measured from 213 ms to 852 ms; earlier allocations count as startup.
  42.0 MB ± 7.8 MB live at the end, having grown by 22.9 MB (14.4 MB … 31.8 MB) in 639 ms.
  
  By class:
    class     live, MB          ±  sites  meaning
    growing        4.2      ± 2.5      1  live memory keeps growing, with blocks from many different times
    in steps       6.1      ± 3.0      3  live memory grew, but only a few times, or no longer
    unclear       27.8      ± 6.4     45  too few samples to tell
    bounded        0.4  0.0 … 2.1      1  steady: growth, if any, is at most half of what is live
    start-up       3.4  1.6 … 6.5      1  most was allocated at startup
  A recording with --rate 5.4e-5 would probably resolve the largest unclear site.
  
  By site:
    class     live, KB                ±   growth          ±      q  live over time            site
    growing    4,296.9        ± 2,539.2  4,296.9  ± 2,990.6  0.041                 ▃▆▇▇█████  asmcomp/interf.ml:52 Interf.build_graph.add_interf
    in steps   2,343.8  860.1 … 5,101.4  2,343.8  ± 2,412.9                        ▂▃▆▆▆████  asmcomp/linearize.ml:29 Linearize.copy_instr
    in steps   1,953.1  634.2 … 4,557.9  1,953.1  ± 2,279.1                        ▂▄▅▇███▆▆  asmcomp/interf.ml:48 Interf.build_graph.add_interf
    in steps   1,953.1  634.2 … 4,557.9  1,953.1  ± 2,279.1                        ▂▂▆█▅▆█▄▄  set.ml:125 Stdlib__set.Make.bal
    47 more sites with 31.7 MB ± 6.8 MB live
    393 more sites: all that was sampled is freed
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'interf.ml:52' */ocamlopt.ctf (glob)
  $ allotrace leaks --top 0 --csv $TRACES/ocamlopt.ctf | cut -d, -f1 | sort | uniq -c
        1 bounded
        1 class
        1 growing
        3 in steps
        1 start-up
       45 unclear

Of the blocks that a measure counts:

  $ allotrace leaks -m promoted --top 1 $TRACES/ocamlopt.ctf 2>/dev/null | sed -n '1p;/growing/p'
  98.0 MB promoted (± 12.0 MB, 257 samples at rate 2e-5)
    growing        6.1      ± 3.0      2  live memory keeps growing, with blocks from many different times
    growing   4,296.9  ± 2,539.2  4,296.9  ± 2,990.6  0.016                 ▃▆▇▇█████  asmcomp/interf.ml:52 Interf.build_graph.add_interf

By numbers of blocks: in main's place there is one block, however large:

  $ allotrace leaks -m blocks a.ctf
  241 blocks allocated (exact at rate 1)
  Growth is measured from 87.8 ms to 351 ms; earlier allocations count as startup.
  131 blocks live at the end, having grown by 88 in 263 ms.
  
  By class:
    class     live, blocks  sites  meaning
    growing            120      1  live memory keeps growing, with blocks from many different times
    bounded             10      1  steady: growth, if any, is at most half of what is live
    start-up             1      1  most was allocated at startup
  
  By site:
    class     live, blocks  growth       q  live over time            site
    growing            120      88  <0.001  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  parse.ml:10 parse
    bounded             10       0          ▅███████████████████████  eval.ml:20 eval
    start-up             1       0          ████████████████████████  main.ml:1 main
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks -m blocks --csv a.ctf
  class,value,low,high,samples,slope,slope_low,slope_high,slope_samples,late,p,q,startup_samples,at_exit_samples,function,file,line
  growing,120,120,120,1200,333.329,333.329,333.329,880,333.3613786198495,5.960464477539072e-08,1.1920928955078144e-07,320,0,parse,parse.ml,10
  bounded,10,10,10,100,0.0361775,0.0361775,0.0361775,980,0.18812310559579754,0.9999990525721072,0.9999990525721072,0,0,eval,eval.ml,20
  start-up,1,1,1,1000,0,0,0,0,0,1,1,1000,0,main,main.ml,1
  $ allotrace leaks -m blocks --top 3 $TRACES/ocamlopt.ctf
  19,652,679 blocks allocated (± 1,044,461, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  Growth is measured from 213 ms to 852 ms; earlier allocations count as startup.
  1,545,456 blocks ± 328,626 live at the end, having grown by 830,954 (475,915 … 1,203,324) in 639 ms.
  
  By class:
    class     live, blocks                 ±  sites  meaning
    growing        183,337  91,523 … 343,001      1  live memory keeps growing, with blocks from many different times
    in steps        50,002  16,237 … 153,625      1  live memory grew, but only a few times, or no longer
    unclear      1,187,947         ± 294,334     48  too few samples to tell
    start-up       124,170  55,759 … 259,540      1  most was allocated at startup
  A recording with --rate 5.4e-5 would probably resolve the largest unclear site.
  
  By site:
    class     live, blocks                 ±   growth                 ±      q  live over time            site
    growing        183,337  91,523 … 343,001  183,337  91,523 … 343,001  0.041                 ▃▆▇▇█████  asmcomp/interf.ml:52 Interf.build_graph.add_interf
    in steps        50,002  16,237 … 153,625   50,002  16,237 … 153,625                        ▂▂▆█▅▆█▄▄  set.ml:125 Stdlib__set.Make.bal
    unclear        150,003  68,593 … 300,392  133,336         ± 140,552         ▁▁▁▁▁▁▁▁▁▁▁▁▁▁ ▁▁▁▁▁▁▁▄█  list.ml:58 Stdlib__list.rev_append
    48 more sites with 1,162,114 blocks ± 289,395 live
    393 more sites: all that was sampled is freed
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'interf.ml:52' */ocamlopt.ctf (glob)
  $ allotrace leaks -m blocks --json $TRACES/ocamlopt.ctf | jq -c '.unit, (.all_sites | .value, .samples), .classes[1], .sites[0].history'
  "blocks"
  1545456
  110
  {"class":"in steps","value":50002,"low":16237,"high":153625,"samples":5,"sites":1,"meaning":"live memory grew, but only a few times, or no longer"}
  [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,50001,133336,150003,150003,166670,166670,183337,183337,183337]

By how long what is left has been held; classes and slopes are as before, and what comes to it is what hotspots says:

  $ allotrace leaks -m byteseconds a.ctf
  4.7 KB·s of bytes times lifetime (exact, 241 blocks at rate 1)
  Growth is measured from 87.8 ms to 351 ms; earlier allocations count as startup.
  4.4 KB·s held by what was live at the end, growing by 26.0 KB/s in total.
  
  By class:
    class     live, B·s  sites  meaning
    growing       1,728      1  live memory keeps growing, with blocks from many different times
    bounded       11.60      1  steady: growth, if any, is at most half of what is live
    start-up      2,800      1  most was allocated at startup
  
  By site:
    class     live, B·s  growth, KB·s/s       q  live over time            site
    growing       1,728            26.0  <0.001  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  parse.ml:10 parse
    bounded       11.60             0.0          ▅███████████████████████  eval.ml:20 eval
    start-up      2,800             0.0          ████████████████████████  main.ml:1 main
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks -m byteseconds --csv a.ctf | cut -d, -f1-6,13-
  class,value,low,high,samples,slope,startup_samples,at_exit_samples,function,file,line
  growing,1728,1728,1728,1200,26666.3,320,0,parse,parse.ml,10
  bounded,12,12,12,100,2.8942,0,0,eval,eval.ml,20
  start-up,2800,2800,2800,1000,0,1000,0,main,main.ml,1
  $ allotrace leaks -m byteseconds b.ctf 2>/dev/null | sed -n 4,8p
  4.4 KB·s held by what was live before that, growing by 26.0 KB/s in total.
  
  By class:
    class          live, B·s  sites  meaning
    growing            1,727      1  live memory keeps growing, with blocks from many different times
  $ allotrace leaks -m byteseconds --json $TRACES/ocamlopt.ctf | jq -c '.unit, (.all_sites | .value, .samples, .class), (.sites[0] | .value, .samples)'
  "B·s"
  12846960
  110
  "in steps"
  980967
  11
  $ allotrace hotspots -m byteseconds --filter survived --json $TRACES/ocamlopt.ctf | jq -c .total
  {"value":12846960,"low":9850604,"high":16646650,"samples":110}

What the C library keeps for streams says so; it is judged as anything else, and none of its bytes is hidden:

  $ { for i in $(seq 20); do echo alloc external 511 512 main@main.c:$i puts@ioputs.c:35 _IO_file_doallocate@filedoalloc.c:101; done
  >   echo alloc external 59 60 main@main.c:3 fopen@iofopen.c:86 __fopen_internal@iofopen.c:65; } | $TESTDIR/make-trace >c.ctf
  $ allotrace leaks c.ctf
  80.5 KB total allocations (exact, 21 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  Growth is measured from 5.25 ms to 21 ms; earlier allocations count as startup.
  80.5 KB live at the end, having grown by 60.5 KB in 15.8 ms.
  
  By class:
    class    live, KB  sites  meaning
    growing      80.0      1  live memory keeps growing, with blocks from many different times
    bounded       0.5      1  steady: growth, if any, is at most half of what is live
  
  By site:
    class    live, KB  growth       q  live over time            site
    growing     80.00   60.00  <0.001   ▁▁▂▂▂▃▃▃▄▄▄▅▅▆▆▆▆▇▇████  filedoalloc.c:101 _IO_file_doallocate (stream buffer of the C library: freed by fclose; those of stdin, stdout and stderr remain until the end)
    bounded      0.47    0.47                                 █  iofopen.c:65 __fopen_internal (open stream of the C library: freed by fclose)
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'filedoalloc.c:101' c.ctf
  $ allotrace leaks --json c.ctf | jq -c '.sites[] | .function, .remark'
  "_IO_file_doallocate"
  "stream buffer of the C library: freed by fclose; those of stdin, stdout and stderr remain until the end"
  "__fopen_internal"
  "open stream of the C library: freed by fclose"
  $ allotrace leaks --csv c.ctf | cut -d, -f13-
  startup_samples,at_exit_samples,remark,function,file,line
  2560,0,"stream buffer of the C library: freed by fclose; those of stdin, stdout and stderr remain until the end",_IO_file_doallocate,filedoalloc.c,101
  0,0,open stream of the C library: freed by fclose,__fopen_internal,iofopen.c,65

A cache that is filled once, late, grows in steps, and no more than it holds:

  $ { for i in {1..220}; do echo "alloc major 99 100 main@a.c:1 other@a.c:2"; echo "collect $((i-1))"; done
  >   for i in {1..120}; do echo "alloc major 99 100 main@a.c:1 fill@a.c:3"; done
  >   for i in {1..120}; do echo "alloc major 99 100 main@a.c:1 other@a.c:2"; echo "collect $((339+i))"; done; } | $TESTDIR/make-trace >cache.ctf
  $ allotrace leaks cache.ctf 2>/dev/null | sed -n '/By site/,$p'
  By site:
    class     live, KB  growth  live over time            site
    in steps     93.75   93.75               ▂▄▇████████  a.c:3 fill
    1 more site: all that was allocated is freed

Of several traces together, growth shows in each:

  $ allotrace leaks a.ctf cache.ctf 2>&1 >/dev/null | grep several
  allotrace: hint: this combines several traces, and what a process holds counts as freed when its trace ends; to see whether one grows, look at each: allotrace leaks FILE

Where nothing grows, the report says how large a leak could be that the sample does not show:

  $ allotrace leaks $TRACES/irmin-replay.ctf 2>/dev/null | grep 'may not show'
  A leak below about 183.1 MB may not show at this rate; with --rate 1e-4, one of 1.8 MB does.

That a library holds what stays is said of the first site, whatever allocates most:

  $ for i in {1..40}; do echo "alloc major 9 10 main@a.c:1 std::vector<int>::push_back@/usr/include/c++/12/bits/stl_vector.h:1"; done | $TESTDIR/make-trace >vector.ctf
  $ allotrace leaks vector.ctf 2>&1 >/dev/null | grep library
  allotrace: hint: the first site is in a library; --filter hide:@library shows the code that calls it

In Python, the line may not be the one that keeps the objects, and a hint says so:

  $ sed 's/parse.ml/parse.py/' script | $TESTDIR/make-trace >python.ctf; allotrace leaks python.ctf 2>&1 >/dev/null
  allotrace: hint: callers of the first site: allotrace callers --filter survived 'parse.py:10' python.ctf
  allotrace: hint: CPython reuses dead lists, dicts, tuples and floats, which stay at the line that made them first: if that line keeps nothing, look for other code that keeps objects of this type
  $ allotrace leaks --json python.ctf 2>&1 >/dev/null

A growth of less than a byte a second is shown as an amount, however long the window:

  $ for i in {1..40}; do echo later 3600; echo alloc external 9 10 main@m.c:1 leak@m.c:5; done | $TESTDIR/make-trace >slow.ctf
  $ allotrace leaks slow.ctf 2>/dev/null | grep -e grow
  3.1 KB live at the end, having grown by 2.4 KB in 30 h 0 min.
    growing    3,200      1  live memory keeps growing, with blocks from many different times
    class    live, B  growth       q  live over time            site
    growing    3,200   2,480  <0.001  ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███  m.c:5 leak
  $ allotrace leaks --measure blocks slow.ctf 2>/dev/null | grep having
  40 blocks live at the end, having grown by 31 in 30 h 0 min.
