What was live when, on a made-up trace at rate 1 (events are 1 ms apart):

  $ $TESTDIR/make-trace >a.ctf <<'END'
  > alloc minor 127 128 main@main.ml:1 parse@parse.ml:10
  > alloc minor 63 64 main@main.ml:1 eval@eval.ml:20
  > promote 1
  > collect 0
  > alloc major 1023 1024 main@main.ml:2 parse@parse.ml:30
  > alloc external 255 256 main@main.ml:3 buffer@buffer.c:5 xmalloc@util.c:5
  > collect 2
  > collect 3
  > END
  $ allotrace timeline --points 9 --top 2 a.ctf
  11.5 KB total allocations (exact, 4 blocks at rate 1)
  At the end, 512 B was live.
  
  Live (0 … 8 ms, a character is 889 µs):
    over time  most, KB       at  heap
     ▁▂▂▁▇█▂▁      10.5     6 ms  all
     ▆█▆            1.5  1.78 ms    minor
       ▁▁██▁▁       8.5  4.45 ms    major
          ██        2.0  5.33 ms    external
  Heaps are shown as they were at the end of each character.
  
  Per second:
    over time  most, KB/s     from  blocks
     ▁▁  █▂       8,998.9  4.45 ms  allocated
       █            562.4  2.67 ms  promoted
        ▁  █▂     8,998.9  6.22 ms  freed
  
  Live, by site:
    over time  most, B    at  site
         ██      8,192  5 ms  parse.ml:30 parse
          ██     2,048  6 ms  buffer.c:5 buffer
  $ allotrace timeline --points 3 --csv --filter heap:major a.ctf
  begin_us,end_us,live,live_low,live_high,live_samples,live_minor,live_minor_low,live_minor_high,live_minor_samples,live_major,live_major_low,live_major_high,live_major_samples,live_external,live_external_low,live_external_high,live_external_samples,allocated_per_second,allocated_per_second_low,allocated_per_second_high,allocated_per_second_samples,promoted_per_second,promoted_per_second_low,promoted_per_second_high,promoted_per_second_samples,freed_per_second,freed_per_second_low,freed_per_second_high,freed_per_second_samples
  0,2667,512,512,512,64,512,512,512,64,0,0,0,0,0,0,0,0,191976,191976,191976,64,0,0,0,0,0,0,0,0
  2667,5334,8704,8704,8704,1088,0,0,0,0,8704,8704,8704,1088,0,0,0,0,3071616,3071616,3071616,1024,191976,191976,191976,64,0,0,0,0
  5334,8001,512,512,512,64,0,0,0,0,512,512,512,64,0,0,0,0,0,0,0,0,0,0,0,0,3071616,3071616,3071616,1024
  $ allotrace timeline --points 2 --top 1 --by function --json a.ctf
  {"unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,
   "total":{"value":11776,"low":11776,"high":11776,"samples":1472},
   "peak":{"value":10752,"low":10752,"high":10752,"samples":1344,"time":6000},
   "at_end":{"value":512,"low":512,"high":512,"samples":64},
   "points":[
    {"begin":0,"end":4001,"live":{"value":512,"low":512,"high":512,"samples":64},"live_minor":{"value":0,"low":0,"high":0,"samples":0},"live_major":{"value":512,"low":512,"high":512,"samples":64},"live_external":{"value":0,"low":0,"high":0,"samples":0},"allocated_per_second":{"value":383904,"low":383904,"high":383904,"samples":192},"promoted_per_second":{"value":127968,"low":127968,"high":127968,"samples":64},"freed_per_second":{"value":255936,"low":255936,"high":255936,"samples":128}},
    {"begin":4001,"end":8001,"live":{"value":512,"low":512,"high":512,"samples":64},"live_minor":{"value":0,"low":0,"high":0,"samples":0},"live_major":{"value":512,"low":512,"high":512,"samples":64},"live_external":{"value":0,"low":0,"high":0,"samples":0},"allocated_per_second":{"value":2560000,"low":2560000,"high":2560000,"samples":1280},"promoted_per_second":{"value":0,"low":0,"high":0,"samples":0},"freed_per_second":{"value":2560000,"low":2560000,"high":2560000,"samples":1280}}],
   "gauges":[],
   "sites":[
    {"function":"parse","file":"parse.ml","peak":{"value":8192,"low":8192,"high":8192,"samples":1024,"time":5000},"live":[{"value":0,"low":0,"high":0,"samples":0},{"value":0,"low":0,"high":0,"samples":0}]}]}
  $ allotrace timeline --from 3ms --to 5ms --points 3 --csv a.ctf | cut -d, -f1-6
  begin_us,end_us,live,live_low,live_high,live_samples
  3000,3667,1536,1536,1536,192
  3667,4334,512,512,512,64
  4334,5001,8704,8704,8704,1088
  $ allotrace timeline --filter 'size:>1M' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `size` removed the last 4.
  $ allotrace timeline --from 5ms --to 3ms a.ctf
  allotrace: timeline: --from must be before --to
  Try `allotrace timeline --help`.
  [2]
  $ allotrace timeline --points 1000000 a.ctf
  allotrace: --points must be at most 100000
  Try `allotrace timeline --help`.
  [2]

Reported by the system, and marks, are known where nothing was sampled:

  $ gauge() { echo "$3 alloc external $2 0 $1@<gauge>:0"; echo "same collect $((id++))"; }
  $ { id=0; gauge rss 1000; gauge heap 2000 same; gauge rss 40000; echo "alloc external 0 0 loaded@<mark>:0"; echo "same collect 3"
  >   gauge rss 20000; gauge heap 3000 same; } | $TESTDIR/make-trace >mapped.ctf
  $ allotrace timeline --points 8 mapped.ctf
  No allocations: the trace contains no samples at rate 1.
  
  Reported by the system (0 … 4 ms, a character is 501 µs):
    over time  most, KB    at  memory
     ▁▁████▄      312.5  2 ms  rss
     ▆▆▆▆▆▆█       23.4  4 ms  heap
  
  Marks:
      at  mark
    3 ms  loaded
  $ { id=1; echo 'alloc minor 9 10 f@a.c:1'; gauge rss 1000; } | $TESTDIR/make-trace >one.ctf
  $ allotrace timeline --points 8 --filter 'size:>1M' one.ctf
  Nothing to show: the filter matches 0 of 1 blocks: `size` removed the last 1.
  
  Reported by the system (0 … 2 ms, a character is 251 µs):
    over time  most, B    at  memory
           █     8,000  2 ms  rss

Of a real trace; JSON and CSV say the same:

  $ allotrace timeline --top 2 $TRACES/ocamlopt.ctf
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  At the end, 42.0 MB ± 7.8 MB was live.
  
  Live (0 … 852 ms, a character is 17 ms):
    over time                                           most, MB          ±      at  heap
    ▁▂▃▃▃▃▄▃▄▄▄▄▄▄▄▄▅▅▄▅▆▇▆▇▇▆▆▇▇▃▄▄▅▄▅▅▆▇█▇▇▇▇███▇███      45.0      ± 8.1  778 ms  all
    ▃ ▁▂▁▁▂ ▅ ▂▁▁▁▄▁ ▄  ▃▆ ▃▁▂▁▄▁ ▂▂▂▁▃▃▁▄█▂▂▇▂▄▁▂▃▄ ▄       3.1  1.3 … 6.0  647 ms    minor
    ▁▂▃▃▃▃▄▃▃▄▄▄▄▄▄▄▅▅▅▅▆▇▇▇▇▆▆▇▇▃▄▅▅▄▅▅▆▇▇█▇▇████▇███      42.3      ± 7.9  767 ms    major
  Heaps are shown as they were at the end of each character.
  
  Per second:
    over time                                           most, MB/s        ±    from  blocks
    ▅▆▅▄▄▄▄▄▅▄▃▃▄▄▃▃▅▃▄▅▄▄ ▃▆▄▃▃▃▇▅▇▂▄▄▅▆▆▅▄▆▇▇▆▅▄▆▅▄█     1,433.4  ± 351.2  835 ms  allocated
    ▃█▃▁▃▃▃▂▂▄▂▃▁▂▄▁▅▁▃▅▄▇ ▁ ▂▁▅▂▄▅▇▂▂▅▆▄█▄▃▇▂▄▃▃▂▃▇▃        335.9  ± 170.0   17 ms  promoted
    ▃▃▂▃▂▂▂▃▃▂▂▂▂▂▂▂▃▂▃▃▂▂▁▂▄▃▂▁▂█▂▄▁▃▂▃▄▃▃▃▅▄▄▃▃▂▅▂▃▅     2,485.5  ± 462.4  494 ms  freed
  
  Live, by site:
    over time                                           most, KB                  ±      at  site
                                   ▂▃▃▆▆▇▇▇▇██████████   4,296.9          ± 2,539.2  781 ms  asmcomp/interf.ml:52 Interf.build_graph.add_interf
      ████████████████████████████████████████████████   3,515.6  1,607.6 … 6,673.8  362 ms  file_formats/cmi_format.ml:46 Cmi_format.input_cmi
  $ allotrace timeline --json $TRACES/ocamlopt.ctf | jq -r '.points[] | [.begin, .end, .live.value, .allocated_per_second.high] | @csv' >json
  $ allotrace timeline --csv $TRACES/ocamlopt.ctf | tail -n +2 | cut -d, -f1-3,21 | cmp - json
  $ wc -l <json
  200

Of the blocks that a measure counts:

  $ allotrace timeline -m peak $TRACES/ocamlopt.ctf | sed -n '1p;3p;7p;16p'
  45.0 MB live at the peak, at 778 ms (± 8.1 MB, 118 samples at rate 2e-5)
  At the end, 31.7 MB ± 6.8 MB was live.
    ▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▃▄▄▅▅▆▆▇▇▇███▆▆▆▆      45.0      ± 8.1  778 ms  all
                                                 ▃█          582.2  ± 223.8  784 ms  freed

By whom, and by how long blocks live; what was never freed lives on:

  $ allotrace timeline --points 9 --by life a.ctf | sed -n '/by lifetime/,$p'
  Live, by lifetime:
    over time  most, KB    at  blocks
     ▁▁▁ ▇█▂       10.0  6 ms  1 ms to 10 ms
      ███████       0.5  2 ms  never freed
  $ allotrace timeline --points 3 --by life --json a.ctf | jq -c '.lives[] | .name, .filter, [.live[].value]'
  "1 ms to 10 ms"
  "life:1000us..9999us -survived"
  [1024,8192,0]
  "never freed"
  "survived"
  [512,512,512]
  $ allotrace timeline --points 3 --by thread --csv a.ctf | cut -d, -f3,31
  live,live: thread 0
  1536,1536
  8704,8704
  512,512
  $ allotrace timeline --points 3 --top 2 --csv a.ctf | cut -d, -f3,31-
  live,live: parse.ml:30 parse,live: buffer.c:5 buffer
  1536,0,0
  8704,8192,0
  512,0,0
  $ allotrace timeline --by colour a.ctf
  allotrace: --by: `colour` is not one of line, function, thread, scope, trace, span, life
  Try `allotrace timeline --help`.
  [2]

By numbers of blocks, which are those of hotspots at the same moments:

  $ allotrace timeline -m blocks --points 9 --top 2 a.ctf
  4 blocks allocated (exact at rate 1)
  At the end, 1 block was live.
  
  Live (0 … 8 ms, a character is 889 µs):
    over time  most, blocks       at  heap
     ▃▆▆▃▆█▆▃             3  5.33 ms  all
     ▄█▄                  2  1.78 ms    minor
       ▄▄██▄▄             2  4.45 ms    major
          ██              1  5.33 ms    external
  
  Per second:
    over time  most, blocks/s     from  blocks
     ██  ██             1,125   889 µs  allocated
       █                1,125  2.67 ms  promoted
        █  ██           1,125  3.56 ms  freed
  
  Live, by site:
    over time  most, blocks       at  site
         ██               1  4.45 ms  parse.ml:30 parse
          ██              1  5.33 ms  buffer.c:5 buffer
  $ allotrace timeline -m blocks --points 9 --json a.ctf | jq -c '.unit, .total, .peak, .at_end, (.points[5] | .live, .live_major, .freed_per_second)'
  "blocks"
  {"value":4,"low":4,"high":4,"samples":1472}
  {"value":3,"low":3,"high":3,"samples":1344,"time":6000}
  {"value":1,"low":1,"high":1,"samples":64}
  {"value":2,"low":2,"high":2,"samples":1088}
  {"value":2,"low":2,"high":2,"samples":1088}
  {"value":0,"low":0,"high":0,"samples":0}
  $ allotrace timeline -m blocks --top 1 $TRACES/ocamlopt.ctf
  19,652,679 blocks allocated (± 1,044,461, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  At the end, 1,545,456 blocks ± 328,626 were live.
  
  Live (0 … 852 ms, a character is 17 ms):
    over time                                           most, blocks                 ±      at  heap
    ▁▂▃▃▃▄▄▃▄▄▄▄▄▄▄▄▅▆▅▅▆▇▆▇▇▆▆▇▇▃▄▄▄▄▅▅▆▆▇▇▇▇████▇███     1,545,456         ± 328,626  835 ms  all
    ▃ ▁▄▁▂▄ █ ▄▁▁▂▃▁ ▇  ▄▇ ▃▂▃▁▄▃ ▄▂▃▁▄▃▁▄█▂▂▆▂▃▁▄▅▇ ▅        86,670  36,645 … 202,738  647 ms    minor
    ▁▂▃▃▃▄▄▄▄▄▄▄▄▄▄▄▅▅▅▆▆▇▇▇▇▆▆▇▇▃▄▄▄▄▅▅▆▆▇▇▇▇████▇███     1,499,621         ± 324,749  818 ms    major
  
  Per second:
    over time                                           most, blocks/s                       ±    from  blocks
    ▅▆▆▄▄▄▃▄▆▄▃▄▄▄▃▃▆▃▄▅▄▄ ▃▅▄▃▃▃█▅▆▂▃▄▄▆▄▅▄▆▆▆▅▄▄▆▆▃▇      47,767,572            ± 14,678,277  494 ms  allocated
    ▃█▃▁▃▄▂▂▁▄▂▃▁▂▄▁▆▁▃▄▃▅ ▁ ▂▁▅▁▄▅▆▁▂▄▅▄▄▃▂▆▂▄▂▂▂▃█▃       13,207,546  6,728,636 … 23,859,280  801 ms  promoted
    ▂▂▃▂▂▂▂▃▃▂▁▃▂▂▂▂▃▂▃▂▂▁▁▂▃▃▂▁▂█▂▃▁▂▂▂▃▂▂▂▃▃▃▃▂▂▄▂▂▄      91,179,565            ± 19,388,006  494 ms  freed
  
  Live, by site:
    over time                                           most, blocks                 ±      at  site
                                   ▂▃▃▆▆▇▇▇▇██████████       183,337  91,523 … 343,001  767 ms  asmcomp/interf.ml:52 Interf.build_graph.add_interf
  $ allotrace timeline -m blocks --json $TRACES/ocamlopt.ctf | jq -c '.at_end, (.peak | del(.time))'
  {"value":1545456,"low":1247054,"high":1904306,"samples":110}
  {"value":1528714,"low":1242063,"high":1873779,"samples":118}
  $ for m in survived @peak; do
  >   f=live:$m; [ $m = @peak ] || f=$m
  >   allotrace hotspots -m blocks --filter $f --json $TRACES/ocamlopt.ctf | jq -c .total
  > done
  {"value":1545456,"low":1247054,"high":1904306,"samples":110}
  {"value":1528714,"low":1242063,"high":1873779,"samples":118}
  $ allotrace timeline -m blocks --csv $TRACES/ocamlopt.ctf | head -3 | cut -d, -f1-6,19-22
  begin_us,end_us,live,live_low,live_high,live_samples,allocated_per_second,allocated_per_second_low,allocated_per_second_high,allocated_per_second_samples
  0,4259,18334,2192,113484,2,12309631,3809575,37352741,6
  4259,8518,45001,7307,161981,3,31894101,14027033,65996038,10

By bytes times seconds: what each stretch holds adds up to the whole; no rate is lost, and the ends are those of
hotspots:

  $ allotrace timeline -m byteseconds --points 9 --top 2 a.ctf
  27 B·s of bytes times lifetime (exact, 4 blocks at rate 1)
  Of that, 3 B·s is held by blocks live at the end.
  
  Held (0 … 8 ms, a character is 889 µs):
    over time  most, B·s       at  heap
     ▁▂▂▁▃██▃       8.64  6.22 ms  all
     ▆█▇▃           1.25  1.78 ms    minor
       ▁▁▄██▁       7.74  5.33 ms    major
          ▃██       1.82  6.22 ms    external
  
  Per second:
    over time  most, KB·s/s     from  blocks
     ▂▂  █▂            18.0  4.45 ms  allocated
       █                3.4  2.67 ms  promoted
        ▂  █▂          18.0  6.22 ms  freed
  
  Held, by site:
    over time  most, B·s       at  site
         ▄█▇        7.28  5.33 ms  parse.ml:30 parse
          ▃██       1.82  6.22 ms  buffer.c:5 buffer
  $ allotrace timeline -m byteseconds --from 3ms --to 5ms --points 2 --csv a.ctf | cut -d, -f1-6,19-22
  begin_us,end_us,live,live_low,live_high,live_samples,allocated_per_second,allocated_per_second_low,allocated_per_second_high,allocated_per_second_samples
  3000,4001,2,2,2,192,0,0,0,0
  4001,5001,1,1,1,64,16384,16384,16384,1024
  $ allotrace timeline -m byteseconds --json $TRACES/ocamlopt.ctf >held
  $ jq -c '.unit, .total.value, ([.points[] | .live.value] | add | . / 1000 | round), .at_end, (.peak | del(.time))' held
  "B·s"
  23531959
  23532
  {"value":12846960,"low":9850604,"high":16646650,"samples":110}
  {"value":13676588,"low":10637128,"high":17503005,"samples":118}
  $ for f in survived live:@peak; do
  >   allotrace hotspots -m byteseconds --filter $f --json $TRACES/ocamlopt.ctf | jq -c .total
  > done
  {"value":12846960,"low":9850604,"high":16646650,"samples":110}
  {"value":13676588,"low":10637128,"high":17503005,"samples":118}
  $ allotrace timeline -m byteseconds --top 1 $TRACES/ocamlopt.ctf
  22.4 MB·s of bytes times lifetime (± 3.8 MB·s, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  Of that, 12.3 MB·s ± 3.2 MB·s is held by blocks live at the end.
  
  Held (0 … 852 ms, a character is 17 ms):
    over time                                           most, KB·s            ±      at  heap
    ▁▂▃▃▃▃▄▄▃▄▄▄▄▄▄▄▅▅▅▅▆▇▇▇▇▇▆▇▇▆▄▄▅▄▅▅▆▇▇█▇▇████▇▇██       741.4      ± 139.9  767 ms  all
    ▄▄▄▃▄▄▅▃▃▃▃▄▄▃▄▃▅▅▃▄▃▅█▂▄▃▃▄▃▆▃▄▃▄▃▅▄▄▄▄▅▄▄▄▄▄▄▅▃▃        39.7  14.6 … 86.5  375 ms    minor
    ▁▁▃▃▃▃▄▄▃▄▄▄▄▄▄▄▅▅▅▅▆▆▇▇▇▇▆▇▇▆▃▄▅▄▄▅▆▇▇█▇▇████▇▇██       726.5      ± 139.7  767 ms    major
  
  Per second:
    over time                                           most, MB·s/s        ±    from  blocks
    ▄██▁▁▁▁▁▂▂▁▂▁▁▂▁▂▁▁▂▂▃ ▁▁▁▁▂▁▂▃▃▁▁▂▃▂▂▁▁▂▁▁▁▁▁▁▁▁▁         185.2  ± 108.9   17 ms  allocated
    ▄█▂▁▂▁▁▁▂▂▁▂▁▁▁▁▂▁▁▂▁▂ ▁ ▁▁▂▁▂▂▃▁▁▂▃▂▂▁▁▂▁▁▁▁▁▁▁▁          184.5  ± 108.9   17 ms  promoted
    ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▁▁▁         373.0  ± 113.2  494 ms  freed
  
  Held, by site:
    over time                                           most, KB·s             ±      at  site
      ▆███████████████████████████████████████████████        59.9  27.4 … 113.7  375 ms  file_formats/cmi_format.ml:46 Cmi_format.input_cmi

On a narrow terminal, rows have fewer points, and lines go on below; data, and what no terminal sees, are what they are:

  $ on() { script -qec "stty cols $1; allotrace $2 $TRACES/ocamlopt.ctf" /dev/null | tr -d '\r' | sed 's/\x1b[[][0-9;]*m//g'; }
  $ on 40 timeline
  639.3 MB total allocations (± 30.6 MB,
      1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be
      invisible at this rate.
  At the end, 42.0 MB ± 7.8 MB was live.
  
  Live (0 … 852 ms, a character is
      42.6 ms):
    over time             most, MB
      ±      at  heap
    ▃▃▄▄▄▄▅▅▇▇▆▃▅▅▆▇████      45.0
      ± 8.1  778 ms  all
    ▄▂▂ ▆▆▇ █▂▄ ▃▄▂▃█▂▂▆       2.3
        0.8 … 5.0  341 ms    minor
    ▃▃▄▄▄▄▅▅▇▇▇▃▅▅▇███▇█      41.6
        ± 7.8  724 ms    major
  Heaps are shown as they were at the end
      of each character.
  
  Per second:
    over time             most, MB/s
      ±    from  blocks
    ▇▅▄▅▄▄▅▅▄▄▄▆▇▄▇▆█▆▆▇     1,209.2
      ± 204.0  681 ms  allocated
    ▇▃▃▃▃▃▄▄▆▁▃▅▇▃█▅▆▄▃▅       241.8
        ± 91.2  596 ms  promoted
    ▅▄▄▅▄▄▄▅▂▄▄█▅▄▆▅█▆▇▆     1,254.0
        ± 207.7  468 ms  freed
  $ on 50 'advise --top 1' | sed -n '4,13p'
      rate.
  
   14.3% …/interf.ml:46 …build_graph.add_interf
         tree-update: a Map or Set copies a path on
         every change
         what   91.2 MB ± 11.6 MB in about
                2,390,000 blocks of 4 words (32 B);
                95% die young, 5% are promoted
         from   set.ml:125 Stdlib__set.Make.bal
         why    Adding to or removing from a Map or
  $ for c in 40 60 80; do for x in timeline advise lifetimes stats leaks peak 'hotspots --top 5' tree info "diff $TRACES/irmin-replay.ctf"; do on $c "$x" | grep -vE '^ *([^ ]+|allotrace callers .*)$' | grep -E "^.{$((c + 1))}" | head -3; done; done
  $ on 40 'timeline --csv' | cmp - <(allotrace timeline --csv $TRACES/ocamlopt.ctf)
  $ COLUMNS=40 allotrace timeline $TRACES/ocamlopt.ctf | cmp - <(COLUMNS= allotrace timeline $TRACES/ocamlopt.ctf)
  $ COLUMNS=30 on 40 info | sed -n '2,3p'
    program
        /home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe
