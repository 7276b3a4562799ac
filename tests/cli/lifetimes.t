How long blocks live, on a made-up trace at rate 1 (events are 1 ms apart):

  $ $TESTDIR/make-trace >a.ctf <<'END'
  > alloc minor 127 128 main@main.ml:1 parse@parse.ml:10
  > collect 0
  > alloc minor 63 64 main@main.ml:1 eval@eval.ml:20
  > alloc minor 63 64 main@main.ml:1 parse@parse.ml:10
  > promote 1
  > promote 2
  > collect 2
  > alloc major 1023 1024 main@main.ml:2 parse@parse.ml:30
  > alloc external 255 256 main@main.ml:3 buffer@buffer.c:5 xmalloc@util.c:5
  > collect 4
  > END
  $ allotrace lifetimes a.ctf
  12.0 KB total allocations (exact, 5 blocks at rate 1)
  
  Lifetimes (bytes):
    share                                   lifetime
     29.2%                 █████▉           1 ms … 10 ms
     70.8%                 ██████████████▏  alive at the end
  
  Short lives (bytes):
    share                              blocks
     25.0%                 █████       short-lived: freed within 1 ms
     50.0%                 ██████████  died young: never promoted, of blocks that left the minor heap
     50.0% (50.0 … 100.0)  ██████████  premature: of promoted blocks, freed within 100 ms
  
  Still live at an age (bytes); blocks that outlive the trace count up to its end:
    share                                   age
     75.0%                 ███████████████  1 ms
     75.0%                 ███████████████  2 ms
    50% are freed after 3 ms (3 ms … more than was observed)
    90% are freed after more than was observed (3 ms … more than was observed)
    99% are freed after more than was observed
  
  By site:
    share              B  short-lived  died young  premature  site
     66.7% █████▍  8,192    0%                                parse.ml:30 parse
     16.7% █▍      2,048  100%                                buffer.c:5 buffer
     12.5% █       1,536   67%          67%        100%       parse.ml:10 parse
      4.2% ▍         512    0%           0%                   eval.ml:20 eval
  $ allotrace lifetimes --measure blocks --by function --within 3ms --soon 500us --top 1 a.ctf
  5 blocks allocated (exact at rate 1)
  
  Lifetimes (blocks):
    share                                lifetime
     60.0%                 ████████████  1 ms … 10 ms
     40.0%                 ████████      alive at the end
  
  Short lives (blocks):
    share                                  blocks
     70.0% (60.0 … 80.0)   ██████████████  short-lived: freed within 3 ms
     33.3%                 ██████▋         died young: never promoted, of blocks that left the minor heap
      0.0%                                 premature: of promoted blocks, freed within 500 µs
  
  Still live at an age (blocks); blocks that outlive the trace count up to its end:
    share                                age
     60.0%                 ████████████  1 ms
     60.0%                 ████████████  2 ms
    50% are freed after 3 ms (3 ms … more than was observed)
    90% are freed after more than was observed (3 ms … more than was observed)
    99% are freed after more than was observed
  
  By site:
    share         blocks  short-lived      died young  premature  site
     60.0% ████▊       3  100% (67 … 100)   50%          0%       parse (parse.ml)
    2 more sites
  $ allotrace lifetimes --csv a.ctf
  share,value,low,high,samples,blocks,dead_soon,dead_soon_low,dead_soon_high,dead_soon_samples,dead_soon_of_samples,dead_in_minor_heap,dead_in_minor_heap_low,dead_in_minor_heap_high,dead_in_minor_heap_samples,dead_in_minor_heap_of_samples,premature,premature_low,premature_high,premature_samples,premature_of_samples,function,file,line
  0.666667,8192,8192,8192,1024,1,0,0,0,0,1024,0,0,1,0,0,0,0,1,0,0,parse,parse.ml,30
  0.166667,2048,2048,2048,256,1,1,1,1,256,256,0,0,1,0,0,0,0,1,0,0,buffer,buffer.c,5
  0.125000,1536,1536,1536,192,2,0.666667,0.666667,0.666667,128,192,0.666667,0.666667,0.666667,128,192,1,1,1,64,64,parse,parse.ml,10
  0.041667,512,512,512,64,1,0,0,0,0,64,0,0,0,0,64,0,0,1,0,0,eval,eval.ml,20
  $ allotrace lifetimes --csv --curve a.ctf
  us,alive,alive_low,alive_high,alive_samples,alive_of_samples
  1000,0.75,0.75,0.75,5,5
  3000,0.375,0.0243151,0.771945,2,5
  $ allotrace lifetimes --json --top 1 a.ctf
  {"unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,
   "total":{"value":12288,"low":12288,"high":12288,"samples":1536},
   "of":"bytes","within_us":1000,"soon_us":100000,"tick_us":0,
   "all":{"share":1.000000,"value":12288,"low":12288,"high":12288,"samples":1536,"blocks":5,"dead_soon":{"value":0.25,"low":0.25,"high":0.25,"samples":384,"of_samples":1536},"dead_in_minor_heap":{"value":0.5,"low":0.5,"high":0.5,"samples":128,"of_samples":256},"premature":{"value":0.5,"low":0.5,"high":1,"samples":64,"of_samples":64}},
   "histogram":[
    {"least_us":1000,"share":{"value":0.2916666666666667,"low":0.2916666666666667,"high":0.2916666666666667,"samples":448,"of_samples":1536}}],
   "alive":{"value":0.7083333333333334,"low":0.7083333333333334,"high":0.7083333333333334,"samples":1088,"of_samples":1536},
   "survival":[
    {"us":1000,"alive":{"value":0.75,"low":0.75,"high":0.75,"samples":5,"of_samples":5}},
    {"us":3000,"alive":{"value":0.375,"low":0.024315110760969757,"high":0.7719451842763526,"samples":2,"of_samples":5}}],
   "quantiles":[
    {"dead":0.5,"us":3000,"low_us":3000,"high_us":null},
    {"dead":0.9,"us":null,"low_us":3000,"high_us":null},
    {"dead":0.99,"us":null,"low_us":null,"high_us":null}],
   "sites":[
    {"share":0.666667,"value":8192,"low":8192,"high":8192,"samples":1024,"blocks":1,"dead_soon":{"value":0,"low":0,"high":0,"samples":0,"of_samples":1024},"dead_in_minor_heap":{"value":0,"low":0,"high":1,"samples":0,"of_samples":0},"premature":{"value":0,"low":0,"high":1,"samples":0,"of_samples":0},"function":"parse","file":"parse.ml","line":30}],
   "omitted":{"sites":3}}
  $ allotrace lifetimes --filter survived a.ctf | head -12
  8.5 KB total allocations (exact, 2 blocks at rate 1)
  Filter: survived (matches 2 of 5 sampled blocks)
  
  Lifetimes (bytes):
    share                                        lifetime
    100.0%                 ████████████████████  alive at the end
  
  Short lives (bytes):
    share                    blocks
      0.0%                   short-lived: freed within 1 ms
      0.0%                   died young: never promoted, of blocks that left the minor heap
  
  $ allotrace lifetimes --filter 'size:>1M' a.ctf
  Nothing to show: the filter matches 0 of 5 blocks: `size` removed the last 5.
  $ allotrace lifetimes --curve a.ctf
  allotrace: lifetimes: --curve requires --csv
  Try `allotrace lifetimes --help`.
  [2]

Of real traces:

  $ allotrace lifetimes --top 1 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
  Lifetimes (bytes):
    share                             lifetime
      0.6% (0.3 … 1.1)     ▏          10 µs … 100 µs
     43.5% (41.1 … 45.9)   ████████▊  100 µs … 1 ms
     39.3% (37.0 … 41.7)   ███████▉   1 ms … 10 ms
      4.7% (3.7 … 5.8)     █          10 ms … 100 ms
      5.3% (4.3 … 6.5)     █          100 ms … 1 s
      6.6% (5.4 … 7.9)     █▍         alive at the end
  
  Short lives (bytes):
    share                                     blocks
     44.2% (41.8 … 46.6)   ████████▉          short-lived: freed within 1 ms
     84.5% (82.7 … 86.2)   ████████████████▉  died young: never promoted, of blocks that left the minor heap
     31.3% (25.5 … 37.7)   ██████▎            premature: of promoted blocks, freed within 100 ms
  
  Still live at an age (bytes); blocks that outlive the trace count up to its end:
    share                                        age
     99.9% (99.5 … 100.0)  ████████████████████  50 µs
     99.4% (98.9 … 99.7)   ███████████████████▉  100 µs
     97.4% (96.5 … 98.0)   ███████████████████▌  200 µs
     79.8% (77.8 … 81.7)   ████████████████      500 µs
     55.8% (53.4 … 58.1)   ███████████▏          1 ms
     30.0% (27.8 … 32.2)   ██████                2 ms
     16.9% (15.1 … 18.7)   ███▍                  5 ms
     16.4% (14.7 … 18.2)   ███▎                  10 ms
     16.1% (14.4 … 18.0)   ███▎                  20 ms
     13.9% (12.2 … 15.6)   ██▊                   50 ms
     11.4% (9.9 … 13.0)    ██▎                   100 ms
      7.6% (6.3 … 9.0)     █▌                    200 ms
    50% are freed after 1.18 ms (1.11 ms … 1.25 ms)
    90% are freed after 131 ms (97.9 ms … 151 ms)
    99% are freed after more than was observed
  
  By site:
    share        MB       ±  short-lived     died young      premature       site
     15.5% █▎  99.2  ± 12.1   53% (46 … 59)   95% (92 … 97)   48% (20 … 77)  set.ml:125 Stdlib__set.Make.bal
    443 more sites
  $ allotrace lifetimes --measure blocks --json $TRACES/irmin-replay.ctf | jq -c '.quantiles[], (.all.dead_soon | map_values(. * 1e4 | round)), (.survival | length)'
  {"dead":0.5,"us":458,"low_us":446,"high_us":472}
  {"dead":0.9,"us":1278,"low_us":1214,"high_us":1448}
  {"dead":0.99,"us":1195618,"low_us":956674,"high_us":1795309}
  {"value":8606,"low":8527,"high":8682,"samples":92520000,"of_samples":106060000}
  694

Of some blocks alone:

  $ $TESTDIR/make-trace >some.ctf <<'END'
  > alloc minor 127 128 main@main.ml:1
  > alloc minor 63 64 main@main.ml:2
  > promote 1
  > collect 0
  > alloc major 1023 1024 main@main.ml:3
  > collect 1
  > END
  $ for m in promoted survived peak; do allotrace lifetimes --measure $m some.ctf | sed -n '1p;5,6p'; done
  512 B promoted (exact, 1 block at rate 1)
    100.0%                 ████████████████████  1 ms … 10 ms
      0.0%                                       alive at the end
  8.0 KB never freed (exact, 1 block at rate 1)
    100.0%                 ████████████████████  alive at the end
  
  8.5 KB live at the peak, at 5 ms (exact, 2 blocks at rate 1)
      5.9%                 █▏                   1 ms … 10 ms
     94.1%                 ██████████████████▉  alive at the end

What memory was held for, which is not what most of it is allocated for:

  $ allotrace lifetimes --measure byteseconds a.ctf
  25 B·s of bytes times lifetime (exact, 5 blocks at rate 1)
  
  Lifetimes (byte-seconds):
    share                                     lifetime
     18.8%                 ███▊               1 ms … 10 ms
     81.2%                 ████████████████▎  alive at the end
  
  Short lives (byte-seconds):
    share                                        blocks
     12.5%                 ██▌                   short-lived: by blocks that live up to 1 ms
     16.7%                 ███▍                  died young: never promoted, of blocks that left the minor heap
    100.0%                 ████████████████████  premature: of promoted blocks, by those that live on for up to 100 ms
  
  Held by blocks that live longer (byte-seconds), if all are freed at the end of the trace:
    share                                      age
     87.5%                 █████████████████▌  1 ms
     20.8%                 ████▏               2 ms
     14.6%                 ██▉                 5 ms
    50% by blocks that live up to 2 ms
    90% by blocks that live up to 7 ms
    99% by blocks that live up to 7 ms
  
  By site:
    share            B·s  short-lived  died young  premature  site
     66.7% █████▍  16.38    0%                                parse.ml:30 parse
     14.6% █▏       3.58    0%           0%        100%       eval.ml:20 eval
     10.4% ▉        2.56   40%          40%        100%       parse.ml:10 parse
      8.3% ▋        2.05  100%                                buffer.c:5 buffer
  $ allotrace lifetimes --measure byteseconds --top 1 $TRACES/ocamlopt.ctf
  22.4 MB·s of bytes times lifetime (± 3.8 MB·s, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  
  Lifetimes (byte-seconds):
    share                               lifetime
      0.0% (0.0 … 0.0)     ▏            10 µs … 100 µs
      0.7% (0.6 … 0.8)     ▏            100 µs … 1 ms
      2.2% (1.8 … 2.6)     ▍            1 ms … 10 ms
      7.1% (5.3 … 9.4)     █▍           10 ms … 100 ms
     35.5% (28.1 … 43.5)   ███████▏     100 ms … 1 s
     54.6% (46.0 … 62.5)   ██████████▉  alive at the end
  
  Short lives (byte-seconds):
    share                       blocks
      0.7% (0.6 … 0.8)     ▏    short-lived: by blocks that live up to 1 ms
      3.5% (2.9 … 4.3)     ▊    died young: never promoted, of blocks that left the minor heap
     11.6% (8.9 … 14.9)    ██▍  premature: of promoted blocks, by those that live on for up to 100 ms
  
  Held by blocks that live longer (byte-seconds), if all are freed at the end of the trace:
    share                                        age
    100.0% (100.0 … 100.0) ████████████████████  50 µs
    100.0% (100.0 … 100.0) ████████████████████  100 µs
    100.0% (100.0 … 100.0) ████████████████████  200 µs
     99.8% (99.8 … 99.8)   ████████████████████  500 µs
     99.3% (99.2 … 99.4)   ███████████████████▉  1 ms
     98.3% (97.9 … 98.5)   ███████████████████▋  2 ms
     97.2% (96.7 … 97.7)   ███████████████████▌  5 ms
     97.2% (96.6 … 97.6)   ███████████████████▍  10 ms
     97.1% (96.5 … 97.5)   ███████████████████▍  20 ms
     93.7% (92.2 … 94.9)   ██████████████████▊   50 ms
     87.7% (84.8 … 90.0)   █████████████████▌    100 ms
     71.6% (65.8 … 76.6)   ██████████████▍       200 ms
     26.2% (17.7 … 35.5)   █████▎                500 ms
    50% by blocks that live up to 346 ms (310 ms … 398 ms)
    90% by blocks that live up to 817 ms (810 ms … 826 ms)
    99% by blocks that live up to 849 ms (826 ms … more than was observed)
  
  By site:
    share        KB·s                  ±  short-lived   site
     11.9% █  2,732.3  1,239.5 … 5,255.8    0% (0 … 0)  file_formats/cmi_format.ml:46 Cmi_format.input_cmi
    443 more sites
  $ allotrace lifetimes --measure byteseconds --json $TRACES/ocamlopt.ctf | jq -c '.unit, .of, (.all | .value, (.dead_soon | (.value, .low, .high) |= (. * 1e9 | round))), ([.sites[] | .value] | add)'
  "B·s"
  "byte-seconds"
  23531959
  {"value":6763619,"low":5609264,"high":8143001,"samples":743,"of_samples":1676}
  9623581
  $ allotrace lifetimes --measure byteseconds --top 1 --csv $TRACES/ocamlopt.ctf
  share,value,low,high,samples,blocks,dead_soon,dead_soon_low,dead_soon_high,dead_soon_samples,dead_soon_of_samples,dead_in_minor_heap,dead_in_minor_heap_low,dead_in_minor_heap_high,dead_in_minor_heap_samples,dead_in_minor_heap_of_samples,premature,premature_low,premature_high,premature_samples,premature_of_samples,function,file,line
  0.118898,2797894,1269198,5381945,9,9,0,0,0.00116124,0,9,0,0,1,0,0,0,0,1,0,0,Cmi_format.input_cmi,file_formats/cmi_format.ml,46
  $ allotrace lifetimes --measure byteseconds --csv --curve $TRACES/ocamlopt.ctf | sed -n '1,2p;$p'
  us,alive,alive_low,alive_high,alive_samples,alive_of_samples
  39,0.999999,0.999995,1,1675,1676
  849340,0,0,0.0683932,1,1676

Of a single block, of whose end nothing is known:

  $ printf 'rate 1\nalloc major 9 10 main@m.c:1\n' | $TESTDIR/make-trace >one.ctf; allotrace lifetimes one.ctf; allotrace info one.ctf | grep -A1 block
  80 B total allocations (exact, 1 block at rate 1)
  
  Lifetimes (bytes):
    share                                        lifetime
    100.0%                 ████████████████████  alive at the end
  
  By site:
    share             B  site
    100.0% ████████  80  m.c:1 main
    sampled blocks   1
      freed          0

The head counts what the shares are of:

  $ allotrace lifetimes -m blocks --json a.ctf | jq -c '[.unit, .measure], .total, (.all | {value, low, high, samples})'
  ["blocks","blocks"]
  {"value":5,"low":5,"high":5,"samples":1536}
  {"value":5,"low":5,"high":5,"samples":1536}
  $ allotrace lifetimes -m blocks -f survived a.ctf | sed -n '1p; /By site/,$p'
  2 blocks allocated (exact at rate 1)
  By site:
    share        blocks  short-lived  died young  site
     50.0% ████       1    0%           0%        eval.ml:20 eval
     50.0% ████       1    0%                     parse.ml:30 parse
