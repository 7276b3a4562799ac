What the traces of native programs have: types, inlined functions, functions without lines, marks and
gauges; here at rate 1, where numbers are exact.

  $ $TESTDIR/make-trace >native.ctf <<'END'
  > context a test
  > alloc external 0 0 loaded@<mark>:0
  > alloc external 1023 1024 main@main.c:10 table@<type>:0|grow@table.c:5|table_add@table.c:20
  > alloc external 1023 1024 main@main.c:11 table@<type>:0|grow@table.c:5
  > alloc external 511 512 main@main.c:10 malloc@<type>:0|libfoo.so.1+0x1f30@/usr/lib/libfoo.so.1[ab12]:0
  > alloc external 255 256 $77 f@:0
  > alloc external 127 128 $-3
  > alloc external 127 128
  > collect 1
  > alloc external 2048 0 rss@<gauge>:0
  > END
  $ allotrace doctor native.ctf
  native.ctf: no defects
    9 events can be used, over 9 ms
  $ allotrace hotspots native.ctf
  24.0 KB total allocations (exact, 6 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share           B  blocks  site
     33.3% ██▋  8,192       1  table.c:5 grow
     33.3%      8,192       1    via main.c:11 main
     33.3% ██▋  8,192       1  table.c:20 table_add
     33.3%      8,192       1    via table.c:5 grow
     16.7% █▍   4,096       1  libfoo.so.1+0x1f30
     16.7%      4,096       1    via main.c:10 main
      8.3% ▋    2,048       1  f
      8.3%      2,048       1    via $77
      4.2% ▍    1,024       1  (no call stack)
      4.2% ▍    1,024       1  $-3
  allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them, if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org: allotrace symbolize --debuginfod native.ctf
  $ allotrace hotspots --by function native.ctf
  24.0 KB total allocations (exact, 6 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share           B  blocks  site
     33.3% ██▋  8,192       1  grow (table.c)
     33.3%      8,192       1    via main (main.c)
     33.3% ██▋  8,192       1  table_add (table.c)
     33.3%      8,192       1    via grow (table.c)
     16.7% █▍   4,096       1  libfoo.so.1+0x1f30
     16.7%      4,096       1    via main (main.c)
      8.3% ▋    2,048       1  f
      8.3%      2,048       1    via $77
      4.2% ▍    1,024       1  (no call stack)
      4.2% ▍    1,024       1  $-3
  allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them, if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org: allotrace symbolize --debuginfod native.ctf
  $ allotrace hotspots --by type native.ctf
  24.0 KB total allocations (exact, 6 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share            KB  blocks  type
     66.7% █████▍  16.0       2  table
     33.3%          8.0       1    via table.c:5 grow
     33.3%          8.0       1    via table.c:20 table_add
     16.7% █▍       4.0       3  (type not recorded)
      8.3%          2.0       1    via f
      4.2%          1.0       1    without a call stack
      4.2%          1.0       1    via $-3
     16.7% █▍       4.0       1  malloc
     16.7%          4.0       1    via libfoo.so.1+0x1f30
  $ allotrace hotspots --by type --top 1 --csv native.ctf
  share,value,low,high,samples,blocks,function,file,line,type
  0.666667,16384,16384,16384,2048,2,,,,table
  $ allotrace info native.ctf
  native.ctf
    program          prog
    host             host
    pid              4242
    context          a test
    started          2023-11-14 22:13:20 UTC
    duration         9 ms
    rate             1 (one sample represents 8 B)
    sampled words    3,072
    sampled blocks   6
      freed          1
    allocated        24.0 KB
    distinct stacks  6
    format           version 3, 64-bit words
    file             869 B
    warnings         0
  
  Marks:
    time  name
    1 ms  loaded
  
  Reported by the system:
    readings  most, KB    at  at the end, KB  name
           1      16.0  9 ms            16.0  rss
  $ allotrace info --json native.ctf | jq -c '.[0] | .allocated, .marks'
  {"value":24576,"low":24576,"high":24576,"samples":3072,"blocks":6}
  [{"time":1000,"name":"loaded"}]
  $ allotrace info --json native.ctf | jq -c '.[0].gauges'
  [{"readings":1,"most":16384,"time":9000,"last":16384,"name":"rss"}]
  $ allotrace timeline --points 3 native.ctf
  24.0 KB total allocations (exact, 6 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  At the end, 16.0 KB was live; reported by the system: rss 16.0 KB.
  
  Live (0 … 9 ms, a character is 3 ms):
    over time  most, KB    at  heap
    ▆██            24.0  7 ms  all
  
  Per second:
    over time  most, KB/s  from  blocks
    █▄▁           5,331.6  0 µs  allocated
      █           2,667.6  6 ms  freed
  
  Reported by the system:
    over time  most, KB    at  memory
      █            16.0  9 ms  rss
  
  Marks:
      at  mark
    1 ms  loaded
  $ allotrace timeline --points 3 --json native.ctf | grep -A1 gauges
   "gauges":[
    {"name":"rss","readings":1,"most":16384,"time":9000,"last":16384,"values":[null,null,16384]}],
  $ allotrace timeline --points 3 --csv native.ctf | sed 's/.*,//'
  rss
  
  
  16384
  $ allotrace dump native.ctf
  0000001000 0000000000 alloc_ext 0 len=0 dom=0    0: loaded@<mark>:0:0-0
  0000002000 0000000001 alloc_ext 1024 len=1023 dom=0    0: main@main.c:10:0-0 table@<type>:0:0-0 grow@table.c:5:0-0 table_add@table.c:20:0-0
  0000003000 0000000002 alloc_ext 1024 len=1023 dom=0    0: main@main.c:11:0-0 table@<type>:0:0-0 grow@table.c:5:0-0
  0000004000 0000000003 alloc_ext 512 len=511 dom=0    0: main@main.c:10:0-0 malloc@<type>:0:0-0 libfoo.so.1+0x1f30@/usr/lib/libfoo.so.1[ab12]:0:0-0
  0000005000 0000000004 alloc_ext 256 len=255 dom=0    0: $77 f@:0:0-0
  0000006000 0000000005 alloc_ext 128 len=127 dom=0    0: $-3
  0000007000 0000000006 alloc_ext 128 len=127 dom=0    0:
  0000008000 0000000001 collect
  0000009000 0000000007 alloc_ext 0 len=2048 dom=0    0: rss@<gauge>:0:0-0
  $ allotrace dump --format json native.ctf | sed -n '2,4p;8,9p'
  {"time":2000,"id":1,"event":"alloc","domain":0,"source":"external","length":1023,"samples":1024,"type":"table","backtrace":[{"function":"main","file":"main.c","line":10,"start":0,"end":0},{"function":"grow","file":"table.c","line":5,"start":0,"end":0},{"function":"table_add","file":"table.c","line":20,"start":0,"end":0,"inlined":true}]}
  {"time":3000,"id":2,"event":"alloc","domain":0,"source":"external","length":1023,"samples":1024,"type":"table","backtrace":[{"function":"main","file":"main.c","line":11,"start":0,"end":0},{"function":"grow","file":"table.c","line":5,"start":0,"end":0}]}
  {"time":4000,"id":3,"event":"alloc","domain":0,"source":"external","length":511,"samples":512,"type":"malloc","backtrace":[{"function":"main","file":"main.c","line":10,"start":0,"end":0},{"function":"libfoo.so.1+0x1f30","file":"/usr/lib/libfoo.so.1[ab12]","line":0,"start":0,"end":0}]}
  {"time":8000,"id":1,"event":"collect","domain":0}
  {"time":9000,"id":7,"event":"alloc","domain":0,"source":"external","length":2048,"samples":0,"backtrace":[{"function":"rss","file":"<gauge>","line":0,"start":0,"end":0}]}
  $ allotrace dump --format csv native.ctf | sed -n '1,4p'
  time,id,event,domain,source,length,samples,type,backtrace
  1000,0,alloc,0,external,0,0,,"loaded@<mark>:0:0-0"
  2000,1,alloc,0,external,1023,1024,table,"main@main.c:10:0-0;grow@table.c:5:0-0;table_add@table.c:20:0-0"
  3000,2,alloc,0,external,1023,1024,table,"main@main.c:11:0-0;grow@table.c:5:0-0"

Functions that merely allocate are not where one looks; their callers are:

  $ $TESTDIR/make-trace >wrappers.ctf <<'END'
  > alloc external 63 64 main@main.c:10 parse@parse.c:3 malloc@<type>:0|xmalloc@util.c:5
  > alloc external 31 32 main@main.c:11 malloc@<type>:0|safe_mem_alloc@util.c:9
  > alloc external 15 16 main@main.c:12 List@<type>:0|xmalloc@util.c:5
  > alloc external 7 8 main@main.c:13 malloc@<type>:0|node_new@node.c:7
  > END
  $ allotrace hotspots wrappers.ctf
  960 B total allocations (exact, 4 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share           B  blocks  site
     53.3% ████▎  512       1  parse.c:3 parse
     53.3%        512       1    via main.c:10 main
     26.7% ██▏    256       1  main.c:11 main
     13.3% █▏     128       1  main.c:12 main
      6.7% ▌       64       1  node.c:7 node_new
      6.7%         64       1    via main.c:13 main
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc, safe_mem_alloc
  $ allotrace hotspots --wrappers show wrappers.ctf
  960 B total allocations (exact, 4 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share            B  blocks  site
     66.7% █████▍  640       2  util.c:5 xmalloc
     53.3%         512       1    via parse.c:3 parse
     13.3%         128       1    via main.c:12 main
     26.7% ██▏     256       1  util.c:9 safe_mem_alloc
     26.7%         256       1    via main.c:11 main
      6.7% ▌        64       1  node.c:7 node_new
      6.7%          64       1    via main.c:13 main
  $ allotrace hotspots --by type wrappers.ctf
  960 B total allocations (exact, 4 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
    share           B  blocks  type
     53.3% ████▎  512       1  xmalloc
     53.3%        512       1    via parse.c:3 parse
     26.7% ██▏    256       1  safe_mem_alloc
     26.7%        256       1    via main.c:11 main
     13.3% █▏     128       1  List
     13.3%        128       1    via main.c:12 main
      6.7% ▌       64       1  malloc
      6.7%         64       1    via node.c:7 node_new
  Skipped wrappers of malloc (--wrappers show counts them as sites): xmalloc, safe_mem_alloc
  allotrace: hint: C, C++ and Rust do not tell their allocators which type of object they make, so the type is the function that they call; to see which code makes them: allotrace hotspots
  $ allotrace hotspots --json --top 1 --callers 0 wrappers.ctf
  {"by":"line",
   "unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,
   "total":{"value":960,"low":960,"high":960,"samples":120},
   "hotspots":[
    {"share":0.533333,"value":512,"low":512,"high":512,"samples":64,"blocks":1,"function":"parse","file":"parse.c","line":3,"callers":[],"callers_omitted":1}],
   "omitted":{"sites":3,"share":0.466667,"value":448,"low":448,"high":448,"samples":56},
   "wrappers_skipped":[
    {"function":"xmalloc","file":"util.c","share":0.666667,"value":640,"low":640,"high":640,"samples":80,"blocks":2},
    {"function":"safe_mem_alloc","file":"util.c","share":0.266667,"value":256,"low":256,"high":256,"samples":32,"blocks":1}]}

Names that would do harm on a terminal, or in a format, do not:

  $ printf 'alloc minor 9 10 say"hi",\033[2Jx@a;b.c:1\n' | $TESTDIR/make-trace >names.ctf
  $ allotrace hotspots names.ctf
  80 B total allocations (exact, 1 block at rate 1)
    share             B  blocks  site
    100.0% ████████  80       1  a;b.c:1 say"hi",?[2Jx
  $ allotrace hotspots --csv names.ctf | tail -1
  1.000000,80,80,80,10,1,"say""hi"",\x1b[2Jx",a;b.c,1, (esc)
  $ allotrace hotspots --json names.ctf | grep -o '"function":[^:]*'
  "function":"say\"hi\",\u001b[2Jx","file"
  "function":null,"file"
  $ allotrace dump --format csv names.ctf | tail -1
  1000,0,alloc,0,minor,9,10,,"say""hi"",\x1b[2Jx@a;b.c:1:0-0" (esc)

One sample, of which little is known; promoted blocks; a trace of marks alone:

  $ printf 'rate 1e-5\nalloc minor 4 1 f@a.ml:1\npromote 0\n' | $TESTDIR/make-trace >one.ctf
  $ allotrace hotspots one.ctf
  781.2 KB total allocations (19.8 KB … 4.3 MB, 1 sample at rate 1e-5)
  Sites below about 2.3 MB may be invisible at this rate.
    share               KB               ±  samples  site
    100.0% ████████  781.2  19.8 … 4,352.8        1  a.ml:1 f
  $ allotrace info one.ctf | grep -e promoted -e duration
    duration         2 ms
    promoted         100.0% of the minor heap's
  $ printf 'alloc external 0 0 begin@<mark>:0\n' | $TESTDIR/make-trace | allotrace hotspots -
  No allocations: the trace contains no samples at rate 1.

What was requested is what was allocated without headers; the rest of a word is rounding:

  $ { for i in {1..10}; do echo "alloc external 1 2 main@main.c:1"; done
  >   echo "alloc external 9 10 main@main.c:2"; } | $TESTDIR/make-trace >sizes.ctf
  $ allotrace hotspots -m requested sizes.ctf
  152 B requested (exact, 11 blocks at rate 1)
  Sizes are rounded up to 8 bytes.
    share          B  blocks  site
     52.6% ████▎  80      10  main.c:1 main
     47.4% ███▊   72       1  main.c:2 main
  $ allotrace hotspots -m requested --json sizes.ctf | jq -c '.unit, .measure, .headers, .total'
  "B"
  "requested"
  false
  {"value":152,"low":152,"high":152,"samples":30}
  $ allotrace hotspots --json sizes.ctf | jq -c '.headers, .total.value'
  true
  240
  $ allotrace leaks -m requested sizes.ctf
  allotrace: --measure: `requested` is not one of allocated, blocks, live, peak, promoted, survived, temporary, byteseconds
  Try `allotrace leaks --help`.
  [2]
