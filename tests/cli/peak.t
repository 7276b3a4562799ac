When most was live, on a made-up trace at rate 1 (events are 1 ms apart):

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
  $ allotrace peak a.ctf
  10.5 KB live at the peak, at 6 ms (exact, 3 blocks at rate 1)
  10.0 KB of it (exact) was freed later; 512 B (exact) was live at the end.
  
  By heap (external: outside of it):
    share               B  heap
     81.0% ██████▌  8,704  major
     19.0% █▌       2,048  external
  
  By age at the peak:
    share               B  age
     19.0% █▌       2,048  <1ms
     81.0% ██████▌  8,704  1ms..10ms
  
  By site:
    share               B  blocks  site
     76.2% ██████▏  8,192       1  parse.ml:30 parse
     76.2%          8,192       1    via main.ml:2 main
     19.0% █▌       2,048       1  buffer.c:5 buffer
     19.0%          2,048       1    via main.ml:3 main
      4.8% ▍          512       1  eval.ml:20 eval
      4.8%            512       1    via main.ml:1 main
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc
  $ allotrace peak --filter heap:minor --by function a.ctf
  512 B live at the peak, at 6 ms (exact, 1 block at rate 1)
  Filter: heap:minor (matches 2 of 4 sampled blocks)
  The blocks matching the filter peaked at 2 ms: 1.5 KB (exact).
  0 B of it (exact) was freed later; 512 B (exact) was live at the end.
  
  By age at the peak:
    share              B  age
    100.0% ████████  512  1ms..10ms
  
  By site:
    share              B  blocks  site
    100.0% ████████  512       1  eval (eval.ml)
    100.0%           512       1    via main (main.ml)
  $ allotrace peak --filter 'alloc:<2ms' a.ctf
  Nothing to show: of 1 sampled blocks, none was live at 6 ms.
  The blocks matching the filter peaked at 1 ms: 1.0 KB (exact).
  $ allotrace peak --json --top 1 --callers 0 a.ctf
  {"unit":"B","rate":1,"program":"prog","measure":"peak","time":6000,"headers":true,
   "total":{"value":10752,"low":10752,"high":10752,"samples":1344},
   "time_low":6000,"time_high":6000,"own_time":6000,"freed_later":{"value":10240,"low":10240,"high":10240,"samples":1280},"at_end":{"value":512,"low":512,"high":512,"samples":64},"own_peak":{"value":10752,"low":10752,"high":10752,"samples":1344},
   "heaps":[
    {"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"heap":"minor"},
    {"share":0.809524,"value":8704,"low":8704,"high":8704,"samples":1088,"heap":"major"},
    {"share":0.190476,"value":2048,"low":2048,"high":2048,"samples":256,"heap":"external"}],
   "ages":[
    {"share":0.190476,"value":2048,"low":2048,"high":2048,"samples":256,"age":"<1ms"},
    {"share":0.809524,"value":8704,"low":8704,"high":8704,"samples":1088,"age":"1ms..10ms"},
    {"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"age":"10ms..100ms"},
    {"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"age":"100ms..1s"},
    {"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"age":"1s..10s"},
    {"share":0.000000,"value":0,"low":0,"high":0,"samples":0,"age":">=10s"}],
   "hotspots":[
    {"share":0.761905,"value":8192,"low":8192,"high":8192,"samples":1024,"blocks":1,"function":"parse","file":"parse.ml","line":30,"callers":[],"callers_omitted":1}],
   "omitted":{"sites":2,"share":0.238095,"value":2560,"low":2560,"high":2560,"samples":320},
   "wrappers_skipped":[
    {"function":"xmalloc","file":"util.c","share":0.190476,"value":2048,"low":2048,"high":2048,"samples":256,"blocks":1}]}
  $ allotrace peak --csv a.ctf
  share,value,low,high,samples,blocks,function,file,line,type
  0.761905,8192,8192,8192,1024,1,parse,parse.ml,30,
  0.190476,2048,2048,2048,256,1,buffer,buffer.c,5,
  0.047619,512,512,512,64,1,eval,eval.ml,20,
  $ allotrace peak --filter 'size:>1M' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `size` removed the last 4.

Of a real trace; the sites are those that hotspots shows:

  $ allotrace peak --top 3 $TRACES/ocamlopt.ctf
  45.0 MB live at the peak, at 778 ms (± 8.1 MB, 118 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
  The peak may have occurred anywhere from 365 ms to 852 ms.
  13.4 MB of it (± 4.4 MB) was freed later; 42.0 MB (± 7.8 MB) was live at the end.
  
  By heap:
    share              MB          ±  heap
      7.6% ▋          3.4  1.6 … 6.5  minor
     92.4% ███████▍  41.6      ± 7.8  major
  
  By age at the peak:
    share            MB          ±  age
      5.1% ▍        2.3  0.8 … 5.0  <1ms
      2.5% ▎        1.1  0.2 … 3.3  1ms..10ms
     25.4% ██      11.4      ± 4.1  10ms..100ms
     66.9% █████▍  30.1      ± 6.6  100ms..1s
  
  By site:
    share          KB                  ±  samples  site
      8.5% ▋  3,906.2          ± 2,421.1       10  asmcomp/interf.ml:52 Interf.build_graph.add_interf
      4.2%    1,953.1    634.2 … 4,557.9        5    via asmcomp/interf.ml:63 Interf.build_graph.add_interf_set
      4.2%    1,953.1    634.2 … 4,557.9        5    via asmcomp/interf.ml:80 Interf.build_graph.add_interf_move
      7.6% ▋  3,515.6  1,607.6 … 6,673.8        9  file_formats/cmi_format.ml:46 Cmi_format.input_cmi
      7.6%    3,515.6  1,607.6 … 6,673.8        9    via file_formats/cmi_format.ml:75 Cmi_format.read_cmi
      6.8% ▌  3,125.0  1,349.2 … 6,157.5        8  set.ml:90 Stdlib__set.Make.create
      6.8%    3,125.0  1,349.2 … 6,157.5        8    via asmcomp/interf.ml:46 Interf.build_graph.add_interf
     77.1%  in 54 more sites
  $ allotrace hotspots --measure peak --csv $TRACES/ocamlopt.ctf | cmp - <(allotrace peak --csv $TRACES/ocamlopt.ctf)

What was live then, by other measures; the same as a filter gives:

  $ allotrace peak --measure blocks a.ctf | tail -8
    share       blocks  site
     33.3% ██▋       1  buffer.c:5 buffer
     33.3%           1    via main.ml:3 main
     33.3% ██▋       1  eval.ml:20 eval
     33.3%           1    via main.ml:1 main
     33.3% ██▋       1  parse.ml:30 parse
     33.3%           1    via main.ml:2 main
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc
  $ allotrace peak --measure byteseconds a.ctf | grep -B1 'By site'
  
  By site, as byteseconds (24 B·s in total):
  $ for m in blocks live promoted survived byteseconds; do
  >   allotrace peak --measure $m --csv a.ctf >by-peak
  >   allotrace hotspots --measure $m --filter live:@peak --csv a.ctf | cmp - by-peak || echo $m
  > done
  $ allotrace peak --measure blocks --filter heap:major --json --callers 0 a.ctf | tail -4
   "hotspots":[
    {"share":0.500000,"value":1,"low":1,"high":1,"samples":64,"blocks":1,"function":"eval","file":"eval.ml","line":20,"callers":[],"callers_omitted":1},
    {"share":0.500000,"value":1,"low":1,"high":1,"samples":1024,"blocks":1,"function":"parse","file":"parse.ml","line":30,"callers":[],"callers_omitted":1}],
   "omitted":{"sites":0,"share":0.000000,"value":0,"low":0,"high":0,"samples":0}}

Within a thread, the order of the trace says what was live, however many events have one time: three
rounds of blocks that are all freed again, and a ring of which one block after the other is replaced.

  $ block() { echo "$1 alloc external 125 126 main@main.c:1 $2"; }
  $ { id=0
  >   for round in 1 2 3; do
  >     for i in {1..100}; do block same work@work.c:10; done
  >     for i in {1..100}; do echo "same collect $((id++))"; done
  >   done; } | sed '1s/same//' | $TESTDIR/make-trace >rounds.ctf
  $ allotrace peak rounds.ctf | head -3
  98.4 KB live at the peak, at 1 ms (exact, 100 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  98.4 KB of it (exact) was freed later; 0 B (exact) was live at the end.
  $ { for i in {0..599}; do
  >     [ $i -lt 10 ] || echo "same collect $((i - 10))"
  >     block same ring@ring.c:20
  >   done; } | sed '1s/same//' | $TESTDIR/make-trace >ring.ctf
  $ allotrace peak ring.ctf | head -2
  9.8 KB live at the peak, at 1 ms (exact, 10 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.

The same from an index, and from whatever else speaks of the peak:

  $ for trace in rounds ring; do
  >   allotrace peak --json $trace.ctf >plain
  >   for i in 1 2; do allotrace peak --index --json $trace.ctf | cmp - plain; done
  >   allotrace hotspots --measure peak --json $trace.ctf | jq .total.value
  >   allotrace hotspots --filter live:@peak --json $trace.ctf | jq .total.value
  >   allotrace hotspots --index --filter live:..@peak --json $trace.ctf | jq .total.value
  >   allotrace timeline --json $trace.ctf | jq .peak.value
  >   allotrace export --to collapsed -m peak $trace.ctf | sed 's/.* //'
  >   allotrace export --to sqlite -o $trace.db $trace.ctf
  >   sqlite3 $trace.db 'SELECT sum(bytes) FROM live' 'SELECT max(most) FROM timeline'
  > done
  100800
  100800
  100800
  100800
  100800
  100800.0
  100800.0
  10080
  10080
  10080
  10080
  10080
  10080.0
  10080.0

What several threads did at one time has no order. Two processes, each of which holds 1,000 words and then another
1,000 instead, may have done that one after the other:

  $ for i in 1 2; do
  >   { echo "alloc external 999 1000 main@main.c:1 a$i@a.c:$i"
  >     echo "same collect 0"
  >     echo "same alloc external 999 1000 main@main.c:1 b$i@b.c:$i"
  >     echo "same collect 1"; } | $TESTDIR/make-trace >process$i.ctf
  > done
  $ allotrace merge -o both.ctf process1.ctf process2.ctf
  both.ctf: 4,000 samples in 4 blocks of 2 traces, rate 1
  $ allotrace peak both.ctf | head -3
  7.8 KB live at the peak, at 1 ms (7.8 KB … 15.6 KB, 1 block at rate 1)
  The order of events in different threads at the same time is unknown; shares assume one possible order.
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  $ allotrace peak --json both.ctf | jq -c '.total, .own_peak'
  {"value":8000,"low":8000,"high":16000,"samples":1000}
  {"value":8000,"low":8000,"high":16000,"samples":1000}
  $ allotrace hotspots --measure peak --filter 'fn:/2$/' --json both.ctf | jq -c .total
  {"value":0,"low":0,"high":8000,"samples":0}
  $ allotrace timeline both.ctf | grep ' all$'
                                                   █    8,000  8,000 … 16,000  1 ms  all
  $ allotrace check --measure peak -e 'total=12KB' --within 1.1 -e 'a1=1KB' both.ctf
    verdict    rate needed  actual  ±                 expected  within  ratio  site
    UNDECIDED         none  7.8 KB  7.8 KB … 15.6 KB   12.0 KB    1.1x   0.65  total, live at the peak
    FAIL                    7.8 KB                      1.0 KB    1.1x   7.81  a1, live at the peak
  Checks that depend on the unknown order of events between threads cannot be decided at any rate.
  0 passed, 1 failed, 1 undecided
  [3]
  $ allotrace check --measure peak -e 'total=12KB' -e 'nosuch=1KB' both.ctf 2>/dev/null | sed 1d
    PASS     7.8 KB  7.8 KB … 15.6 KB   12.0 KB     10x   0.65  total, live at the peak
    FAIL        0 B                      1.0 KB     10x   0.00  nosuch, live at the peak
  1 passed, 1 failed, 0 undecided
  $ small() { for i in $(seq $1); do echo "alloc external 0 1 main@m.c:1"; done; }; large() { echo "alloc external 999 1000 $1@a.c:1"; }
  $ { large a; echo "same $(large c)"; small 2; echo "collect 0"; echo "same collect 1"; } | $TESTDIR/make-trace >part1.ctf
  $ { small 2; large b; small 2; } | $TESTDIR/make-trace >part2.ctf; { small 4; large d; small 1; } | $TESTDIR/make-trace >part3.ctf
  $ allotrace merge -o near.ctf part*.ctf >/dev/null; allotrace check --max-peak 1KB near.ctf
    verdict   actual  ±                        expected  ratio  site
    FAIL     23.5 KB  23.5 KB … 23.5 KB  at most 1.0 KB  23.49  total, live at the peak
  0 passed, 1 failed, 0 undecided
  [3]
  $ allotrace peak process1.ctf | head -1
  7.8 KB live at the peak, at 1 ms (exact, 1 block at rate 1)

What a language runtime reported of its heap stands beside what the system reported:

  $ gauge() { echo "$3 alloc external $2 0 $1@<gauge>:0"; echo "same collect $((id++))"; }
  $ { echo "alloc external 2000 2000 f@a.py:1"; id=1; gauge rss 9000; gauge arenas 4000 same; gauge arenas-in-use 1000 same
  >   echo "alloc external 2000 2000 f@a.py:1"; id=5; gauge rss 40000; } | $TESTDIR/make-trace >arenas.ctf
  $ allotrace peak arenas.ctf | grep reported
  Last reported by the system and the runtime before the peak: rss 70.3 KB, arenas 31.2 KB, arenas-in-use 7.8 KB.
  $ allotrace timeline --points 4 arenas.ctf | grep reported
  At the end, 31.2 KB was live; reported by the system and the runtime: rss 312.5 KB, arenas 31.2 KB, arenas-in-use 7.8 KB.
  $ allotrace timeline --points 4 arenas.ctf | grep -A5 Reported
  Reported by the system and the runtime:
    over time  most, KB    at  memory
     ▂▂█          312.5  4 ms  rss
     ███           31.2  2 ms  arenas
     ███            7.8  2 ms  arenas-in-use
  $ allotrace info arenas.ctf | grep -A5 Reported
  Reported by the system and the runtime:
    readings  most, KB    at  at the end, KB  name
           2     312.5  4 ms           312.5  rss
           1      31.2  2 ms            31.2  arenas
           1       7.8  2 ms             7.8  arenas-in-use
