What stays, on a made-up trace at rate 1: 120 times, parse keeps a block, eval keeps the last ten, and
main keeps one from the start (events are 1 ms apart):

  $ { echo alloc major 999 1000 main@main.ml:1; for i in $(seq 120); do
  >     echo alloc major 9 10 main@main.ml:2 parse@parse.ml:10
  >     echo alloc major 9 10 main@main.ml:3 eval@eval.ml:20
  >     [ $i -le 10 ] || echo collect $((2 * (i - 10)))
  >   done; } >script
  $ $TESTDIR/make-trace <script >a.ctf
  $ allotrace leaks a.ctf
  26.6 KB total allocations (exact, 3,400 samples at rate 1)
  Growth counts from 87.8 ms to 351 ms; what is allocated before is start-up.
  18.0 KB live at the end; in all, it changes by 26.0 KB/s.
  
    growing             9.4 KB  in 1 site: more and more is live, from many different times
    bounded              800 B  in 1 site: blocks come and go; growth is at most half of what is live
    start-up            7.8 KB  in 1 site: most was allocated at the start
  
    growing       parse.ml:10 parse
                  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  9.4 KB, 26.0 KB/s, p 6e-08, q 1.2e-07
    bounded       eval.ml:20 eval
                  ▅███████████████████████  800 B, 3 B/s
    start-up      main.ml:1 main
                  ████████████████████████  7.8 KB, 0 B/s
  allotrace: hint: who calls the first: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks --csv a.ctf
  class,live,live_low,live_high,live_samples,slope_per_second,slope_low,slope_high,p,q,startup_samples,at_exit_samples,function,file,line,remark
  growing,9600,9600,9600,1200,26666.3,26666.3,26666.3,5.96e-08,1.19e-07,320,0,parse,parse.ml,10,
  bounded,800,800,800,100,2.9,2.9,2.9,1,1,0,0,eval,eval.ml,20,
  start-up,8000,8000,8000,1000,0.0,0.0,0.0,1,1,1000,0,main,main.ml,1,
  $ allotrace leaks --top 1 --by function --json a.ctf | jq -c '[.from, .to, .cleaned_up], .classes[0], (.sites[0] | .p *= 1e12 | .p |= floor | .q *= 1e12 | .q |= floor | .slope_per_second |= map_values(round)), .omitted, .all_sites.class'
  [87750,351000,false]
  {"class":"growing","sites":1,"live":{"value":9600,"low":9600,"high":9600,"samples":1200}}
  {"function":"parse","file":"parse.ml","class":"growing","live":{"value":9600,"low":9600,"high":9600,"samples":1200},"slope_per_second":{"value":26666,"low":26666,"high":26666,"samples":880},"p":59604,"q":119209,"startup_samples":320,"at_exit_samples":0,"line":[70,130,180,230,280,320,370,420,470,520,570,620,670,710,760,810,860,910,960,1010,1060,1100,1150,1200]}
  {"sites":2,"sites_without_live":0}
  "growing"
  $ allotrace leaks --warm-up 50 --filter fn:eval a.ctf | tail -2
    bounded       eval.ml:20 eval
                  ▅███████████████████████  800 B, 3 B/s
  $ allotrace leaks --filter 'size:>1M' a.ctf
  Nothing to show: kept 0 of 241 blocks: `size` removed the last 241.

The same, and a program that frees all in the end, by which it is not fooled:

  $ { cat script; seq 0 240 | sed 's/^/collect /'; } | $TESTDIR/make-trace >b.ctf
  $ allotrace leaks b.ctf 2>/dev/null | head -4
  26.6 KB total allocations (exact, 3,400 samples at rate 1)
  From 351 ms on the program freed memory and allocated hardly anything: what was live before counts.
  Growth counts from 87.7 ms to 351 ms; what is allocated before is start-up.
  18.0 KB live before that; in all, it changes by 26.0 KB/s.

What a program builds, and frees again at once, is no growth, in however many steps it is built:

  $ { for i in {0..299}; do echo alloc external 99 100 main@main.c:1 build@build.c:7; done
  >   for i in {0..299}; do echo same collect $i; done; echo alloc external 0 1 main@main.c:2; } | $TESTDIR/make-trace >built.ctf
  $ allotrace leaks built.ctf 2>/dev/null | sed -n '2p;5,9p'
  From 300 ms on the program freed memory and allocated hardly anything: what was live before counts.
  
    freed at exit     233.6 KB  in 1 site: most was freed when the program cleaned up, not before
  
    freed at exit build.c:7 build
                  ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▆▆▆▆▇▇████  233.6 KB, 781.2 KB/s

Of a real trace:

  $ allotrace leaks --top 4 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  Growth counts from 213 ms to 852 ms; what is allocated before is start-up.
  42.0 MB ± 7.8 MB live at the end; in all, it changes by 27.5 MB/s (10.2 MB/s … 45.2 MB/s).
  
    growing             4.2 MB ± 2.5 MB           in 1 site: more and more is live, from many different times
    in steps            6.1 MB ± 3.0 MB           in 3 sites: more is live than at first, but from few times, or no longer
    unclear            27.8 MB ± 6.4 MB           in 45 sites: too few samples to tell; of the largest, a rate of 5.4e-5 would likely tell
    bounded           390.6 KB (9.9 KB … 2.1 MB)  in 1 site: blocks come and go; growth is at most half of what is live
    start-up            3.4 MB (1.6 MB … 6.5 MB)  in 1 site: most was allocated at the start
  
    growing       asmcomp/interf.ml:52 Interf.build_graph.add_interf
                                 ▃▆▇▇█████  4.2 MB ± 2.5 MB, 8.8 MB/s (3.4 MB/s … 15.9 MB/s), p 0.0078, q 0.041
    in steps      asmcomp/linearize.ml:29 Linearize.copy_instr
                                 ▂▃▆▆▆████  2.3 MB (860.1 KB … 5.0 MB), 4.6 MB/s (166.3 KB/s … 10.3 MB/s), p 0.062, q 1
    in steps      asmcomp/interf.ml:48 Interf.build_graph.add_interf
                                 ▂▄▅▇███▆▆  1.9 MB (634.2 KB … 4.5 MB), 4.9 MB/s (451.0 KB/s … 10.7 MB/s), p 0.031, q 0.074
    in steps      set.ml:125 Stdlib__set.Make.bal
                                 ▂▂▆█▅▆█▄▄  1.9 MB (634.2 KB … 4.5 MB), 5.7 MB/s (1.3 MB/s … 11.0 MB/s), p 0.0021, q 0.027
    47 more sites with 31.7 MB ± 6.8 MB live
    393 sites of which no sampled block is left
  allotrace: hint: who calls the first: allotrace callers --filter survived 'interf.ml:52' */ocamlopt.ctf (glob)
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
    growing             6.1 MB ± 3.0 MB           in 2 sites: more and more is live, from many different times
    growing       asmcomp/interf.ml:52 Interf.build_graph.add_interf

By numbers of blocks: in main's place there is one block, however large:

  $ allotrace leaks -m blocks a.ctf
  241 blocks allocated (exact, 3,400 samples at rate 1)
  Growth counts from 87.8 ms to 351 ms; what is allocated before is start-up.
  131 blocks live at the end; in all, it changes by 333 blocks/s.
  
    growing         120 blocks  in 1 site: more and more is live, from many different times
    bounded          10 blocks  in 1 site: blocks come and go; growth is at most half of what is live
    start-up           1 block  in 1 site: most was allocated at the start
  
    growing       parse.ml:10 parse
                  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  120 blocks, 333 blocks/s, p 6e-08, q 1.2e-07
    bounded       eval.ml:20 eval
                  ▅███████████████████████  10 blocks, 0.0362 blocks/s
    start-up      main.ml:1 main
                  ████████████████████████  1 block, 0 blocks/s
  allotrace: hint: who calls the first: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks -m blocks --csv a.ctf
  class,live,live_low,live_high,live_samples,slope_per_second,slope_low,slope_high,p,q,startup_samples,at_exit_samples,function,file,line,remark
  growing,120,120,120,1200,333.3,333.3,333.3,5.96e-08,1.19e-07,320,0,parse,parse.ml,10,
  bounded,10,10,10,100,0.0,0.0,0.0,1,1,0,0,eval,eval.ml,20,
  start-up,1,1,1,1000,0.0,0.0,0.0,1,1,1000,0,main,main.ml,1,
  $ allotrace leaks -m blocks --top 3 $TRACES/ocamlopt.ctf
  19,652,679 blocks allocated (± 1,044,461, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  Growth counts from 213 ms to 852 ms; what is allocated before is start-up.
  1,545,456 blocks ± 328,626 live at the end; in all, it changes by 880,946 blocks/s (193,977 blocks/s … 1,581,370 blocks/s).
  
    growing         183,337 blocks (91,523 … 343,001)  in 1 site: more and more is live, from many different times
    in steps         50,002 blocks (16,237 … 153,625)  in 1 site: more is live than at first, but from few times, or no longer
    unclear       1,187,947 blocks ± 294,334           in 48 sites: too few samples to tell; of the largest, a rate of 5.4e-5 would likely tell
    start-up        124,170 blocks (55,759 … 259,540)  in 1 site: most was allocated at the start
  
    growing       asmcomp/interf.ml:52 Interf.build_graph.add_interf
                                 ▃▆▇▇█████  183,337 blocks (91,523 … 343,001), 386,265 blocks/s (97,868 blocks/s … 729,890 blocks/s), p 0.0078, q 0.041
    in steps      set.ml:125 Stdlib__set.Make.bal
                                 ▂▂▆█▅▆█▄▄  50,002 blocks (16,237 … 153,625), 150,080 blocks/s (35,295 blocks/s … 287,573 blocks/s), p 0.0021, q 0.027
    unclear       list.ml:58 Stdlib__list.rev_append
                  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁ ▁▁▁▁▁▁▁▄█  150,003 blocks (68,593 … 300,392), 64,606 blocks/s (-182,244 blocks/s … 300,709 blocks/s)
    48 more sites with 1,162,114 blocks ± 289,395 live
    393 sites of which no sampled block is left
  allotrace: hint: who calls the first: allotrace callers --filter survived 'interf.ml:52' */ocamlopt.ctf (glob)
  $ allotrace leaks -m blocks --json $TRACES/ocamlopt.ctf | jq -c '.unit, .all_sites.live, .classes[1], .sites[0].line'
  "blocks"
  {"value":1545456,"low":1247054,"high":1904306,"samples":110}
  {"class":"in steps","sites":1,"live":{"value":50002,"low":16237,"high":153625,"samples":5}}
  [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,50001,133336,150003,150003,166670,166670,183337,183337,183337]

By how long what is left has been held; classes and slopes are as before, and what comes to it is what hotspots says:

  $ allotrace leaks -m byteseconds a.ctf
  4.7 KB·s of bytes times lifetime (exact, 3,400 samples at rate 1)
  Growth counts from 87.8 ms to 351 ms; what is allocated before is start-up.
  4.4 KB·s held until then by what was live at the end; in all, it changes by 26.0 KB/s.
  
    growing          1.7 KB·s  in 1 site: more and more is live, from many different times
    bounded            12 B·s  in 1 site: blocks come and go; growth is at most half of what is live
    start-up         2.7 KB·s  in 1 site: most was allocated at the start
  
    growing       parse.ml:10 parse
                  ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇████  1.7 KB·s, 26.0 KB/s, p 6e-08, q 1.2e-07
    bounded       eval.ml:20 eval
                  ▅███████████████████████  12 B·s, 3 B/s
    start-up      main.ml:1 main
                  ████████████████████████  2.7 KB·s, 0 B/s
  allotrace: hint: who calls the first: allotrace callers --filter survived 'parse.ml:10' a.ctf
  $ allotrace leaks -m byteseconds --csv a.ctf | cut -d, -f1-6,13-
  class,live,live_low,live_high,live_samples,slope_per_second,function,file,line,remark
  growing,1728,1728,1728,1200,26666.3,parse,parse.ml,10,
  bounded,12,12,12,100,2.9,eval,eval.ml,20,
  start-up,2800,2800,2800,1000,0.0,main,main.ml,1,
  $ allotrace leaks -m byteseconds b.ctf 2>/dev/null | sed -n 4,8p
  4.4 KB·s held until then by what was live before that; in all, it changes by 26.0 KB/s.
  
    growing          1.7 KB·s  in 1 site: more and more is live, from many different times
    freed at exit    2.7 KB·s  in 2 sites: most was freed when the program cleaned up, not before
  
  $ allotrace leaks -m byteseconds --json $TRACES/ocamlopt.ctf | jq -c '.unit, (.all_sites | .live, .class), .sites[0].live'
  "B·s"
  {"value":12846960,"low":9850604,"high":16646650,"samples":110}
  "in steps"
  {"value":980967,"low":469708,"high":2367094,"samples":11}
  $ allotrace hotspots -m byteseconds --filter survived --json $TRACES/ocamlopt.ctf | jq -c .total
  {"value":12846960,"low":9850604,"high":16646650,"samples":110}

What the C library keeps for streams says so; it is judged as anything else, and none of its bytes is hidden:

  $ { for i in $(seq 20); do echo alloc external 511 512 main@main.c:$i puts@ioputs.c:35 _IO_file_doallocate@filedoalloc.c:101; done
  >   echo alloc external 59 60 main@main.c:3 fopen@iofopen.c:86 __fopen_internal@iofopen.c:65; } | $TESTDIR/make-trace >c.ctf
  $ allotrace leaks c.ctf
  80.5 KB total allocations (exact, 10,300 samples at rate 1)
  Growth counts from 5.25 ms to 21 ms; what is allocated before is start-up.
  80.5 KB live at the end; in all, it changes by 3.9 MB/s.
  
    growing            80.0 KB  in 1 site: more and more is live, from many different times
    bounded              480 B  in 1 site: blocks come and go; growth is at most half of what is live
  
    growing       filedoalloc.c:101 _IO_file_doallocate
                   ▁▁▂▂▂▃▃▃▄▄▄▅▅▆▆▆▆▇▇████  80.0 KB, 3.9 MB/s, p 3.1e-05, q 3.1e-05
                  (buffer of a stream, the C library's: freed by fclose; that of stdin, stdout or stderr stays to the end)
    bounded       iofopen.c:65 __fopen_internal
                                         █  480 B, 0 B/s
                  (stream that is open, the C library's: freed by fclose)
  allotrace: hint: who calls the first: allotrace callers --filter survived 'filedoalloc.c:101' c.ctf
  $ allotrace leaks --json c.ctf | jq -c '.sites[] | .function, .remark'
  "_IO_file_doallocate"
  "buffer of a stream, the C library's: freed by fclose; that of stdin, stdout or stderr stays to the end"
  "__fopen_internal"
  "stream that is open, the C library's: freed by fclose"
  $ allotrace leaks --csv c.ctf | cut -d, -f13-
  function,file,line,remark
  _IO_file_doallocate,filedoalloc.c,101,"buffer of a stream, the C library's: freed by fclose; that of stdin, stdout or stderr stays to the end"
  __fopen_internal,iofopen.c,65,"stream that is open, the C library's: freed by fclose"
