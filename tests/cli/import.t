Heap profiles of other tools become traces. One of Go, by pprof:

  $ I=$(dirname $TRACES)/import; cp $I/* .
  $ allotrace import -o go.ctf go.pb.gz
  allotrace: go.pb.gz: imported a pprof profile: 8 stacks, 107.4 MB allocated, 27.6 MB of it live; there are no times
  $ allotrace hotspots --top 3 go.ctf
  107.5 MB total allocations (± 14.4 MB, 215 samples at rate 1.52588e-5)
  Sites below about 1.5 MB may be invisible at this rate.
    share          MB      ±  samples  site
     39.5% ███▏  42.5  ± 9.0       85  /usr/local/go/src/fmt/print.go:240 fmt.Sprintf
     39.5%       42.5  ± 9.0       85    via /home/you/profiles/gop/main.go:15 main.drop
     37.2% ███   40.0  ± 8.8       80  /usr/local/go/src/fmt/format.go:211 fmt.(*fmt).fmtInteger
     37.2%       40.0  ± 8.8       80    via /home/you/profiles/gop/main.go:15 main.drop
     22.3% █▊    24.0  ± 6.8       48  /home/you/profiles/gop/main.go:12 main.keep
     22.3%       24.0  ± 6.8       48    via /home/you/profiles/gop/main.go:19 main.main
      0.9%  in 2 more sites below 0.5% each
  allotrace: hint: most of it is allocated in libraries; --filter hide:@library shows the code that calls them
  $ allotrace hotspots --measure live --top 1 --json go.ctf | grep -E '"(function|line)"' | head -2
  {"by":"line",
    {"share":0.836364,"value":24117248,"low":17656857,"high":32169029,"samples":46,"blocks":46,"function":"main.keep","file":"/home/you/profiles/gop/main.go","line":12,"callers":[{"function":"main.main","file":"/home/you/profiles/gop/main.go","line":19,"share":0.836364,"value":24117248,"low":17656857,"high":32169029,"samples":46,"blocks":46}],"callers_omitted":0}],
  $ allotrace info go.ctf | grep -E 'context|program|rate|started'
    program          /home/you/profiles/gop/gop
    context          imported from a pprof profile: there are no times
    started          2026-11-25 23:33:33 UTC
    rate             1.52588e-5 (one sample represents 512.0 KB)

The sums are those of the profile, as protobuf's own decoder reads it, up to a sample:

  $ cat >sums.py <<'END'
  > import gzip, json, pathlib, subprocess, sys
  > sys.path.insert(0, ".")
  > import profile_pb2
  > p = profile_pb2.Profile()
  > p.ParseFromString(gzip.decompress(pathlib.Path(sys.argv[1]).read_bytes()))
  > names = [p.string_table[t.type] for t in p.sample_type]
  > for measure, name in (("allocated", "alloc_space"), ("live", "inuse_space")):
  >     wanted = sum(s.value[names.index(name)] for s in p.sample)
  >     got = json.loads(subprocess.run(["allotrace", "hotspots", "--measure", measure, "--json", sys.argv[2]],
  >                                     capture_output=True).stdout)["total"]["value"]
  >     print(measure, "differ" if abs(got - wanted) > p.period else "agree")
  > END
  $ protoc --python_out=. --proto_path=$TESTDIR profile.proto
  $ /usr/bin/python3 sums.py go.pb.gz go.ctf
  allocated agree
  live agree

A heap dump of jemalloc, of which the modules are not on this machine:

  $ allotrace import -o je.ctf jemalloc.heap 2>&1 | head -1
  allotrace: jemalloc.heap: imported a heap dump of jemalloc: 3 stacks, 79.6 MB allocated, 19.4 MB of it live; there are no times
  $ allotrace hotspots --callers 0 --top 2 je.ctf 2>/dev/null
  79.6 MB total allocations (± 3.1 MB, 2,546 samples at rate 2.44141e-4)
  Sites below about 95.9 KB may be invisible at this rate.
    share            MB      ±  samples  site
     75.6% ██████  60.2  ± 2.7    1,925  jeprof+0x1192
     24.3% ██      19.3  ± 1.5      619  jeprof+0x1167
      0.1%  in 1 more site below 0.5%

Traces made from it have no times either:

  $ allotrace anonymise -o hidden.ctf je.ctf; allotrace merge -o both.ctf je.ctf je.ctf; allotrace trim --to 1s -o part.ctf je.ctf
  both.ctf: 5,092 samples in 4,894 blocks of 2 traces, rate 2.44141e-4
  part.ctf: 2,546 of 2,546 samples, in 2,447 of 2,447 blocks
  $ for t in hidden both part; do allotrace hotspots --measure live $t.ctf 2>/dev/null | head -1; allotrace peak $t.ctf; done
  19.4 MB live at the end (± 1.5 MB, 621 samples at rate 2.44141e-4)
  allotrace: peak needs times of allocations and frees; this trace was imported from a heap dump of jemalloc: there are no times
  38.8 MB live at the end (± 2.2 MB, 1,242 samples at rate 2.44141e-4)
  allotrace: peak needs times of allocations and frees; this trace was imported from a heap dump of jemalloc: there are no times
  19.4 MB live at the end (± 1.5 MB, 621 samples at rate 2.44141e-4)
  allotrace: peak needs times of allocations and frees; this trace was imported from a heap dump of jemalloc: there are no times
  [1]

A heap profile of node:

  $ allotrace import node.heapprofile | allotrace hotspots --measure live --callers 0 --top 2 -
  allotrace: node.heapprofile: imported a heap profile of V8: 3 stacks, 193.6 KB allocated, 193.6 KB of it live; there are no times, numbers of blocks or freed blocks
  192.2 KB live at the end (39.6 KB … 561.7 KB, 3 samples at rate 1.21951e-4)
  Sites below about 191.9 KB may be invisible at this rate.
    share         KB            ±  samples  site
     33.3% ██▋  64.1  1.6 … 356.9        1  node:internal/fs/sync_write_stream:1 (anonymous)
     33.3% ██▋  64.1  1.6 … 356.9        1  node:internal/util:681 exposeLazyInterfaces
     33.3%  in 1 more site

A recording of heaptrack, which has all blocks and times; heaptrack_print says 576.80K at the peak and 504.10K leaked:

  $ allotrace import -o ht.ctf heaptrack.zst
  allotrace: heaptrack.zst: imported a recording of heaptrack: 11503 allocations and frees
  $ allotrace hotspots --callers 0 --top 3 ht.ctf
  5.6 MB total allocations (exact, 6,002 blocks at rate 1)
    share              KB  blocks  site
     51.2% ████▏  2,929.7   1,000  /home/you/programs/t.c:6 three
     17.1% █▍       976.6   1,000  /home/you/programs/t.c:4 one
     17.1% █▍       976.6   1,000  /home/you/programs/t.c:5 two
     14.7%  in 4 more sites
  Skipped wrappers of malloc (--wrappers show counts them as sites): __GI___strdup
  $ allotrace peak --json ht.ctf | head -4
  {"unit":"B","rate":1,"program":"./t_plain","measure":"peak","time":1013000,"headers":true,
   "total":{"value":576800,"low":576800,"high":576800,"samples":72100},
   "time_low":1013000,"time_high":1013000,"own_time":1013000,"freed_later":{"value":72704,"low":72704,"high":72704,"samples":9088},"at_end":{"value":504096,"low":504096,"high":504096,"samples":63012},"own_peak":{"value":576800,"low":576800,"high":576800,"samples":72100},
   "heaps":[
  $ allotrace doctor ht.ctf
  ht.ctf: no defects
    11,503 events can be used, over 1.02 s

A capture of memray has all blocks, times, threads, and RSS. `memray stats` says 162 allocations of 2.238MB, and 1.214MB at the peak:

  $ allotrace import -o mr.ctf memray.bin
  allotrace: memray.bin: imported a capture of memray: 246 allocations and frees
  $ allotrace hotspots --callers 0 --top 3 mr.ctf
  2.1 MB total allocations (exact, 162 blocks at rate 1)
    share             KB  blocks  site
     46.8% ███▊  1,024.0       1  p.py:20 <module>
     35.7% ██▉     781.3       1  p.py:18 <module>
      5.5% ▌       120.2      30  p.py:6 <listcomp>
     11.9%  in 43 more sites
  $ allotrace peak --json mr.ctf | head -2
  {"unit":"B","rate":1,"program":"../v/bin/memray run -q -f -o memray.bin p.py","measure":"peak","time":13002,"headers":true,
   "total":{"value":1213888,"low":1213888,"high":1213888,"samples":151736},
  $ allotrace export --to json mr.ctf | grep -o '"thread":"[^"]*"' | sort | uniq -c | sed 's/^ *//'
  12 "thread":"worker-one"
  $ allotrace timeline --json mr.ctf | grep -o '"rss"' | uniq
  "rss"
  $ allotrace doctor mr.ctf | head -1
  mr.ctf: no defects
  $ allotrace leaks mr.ctf | head -1
  2.1 MB total allocations (exact, 162 blocks at rate 1)

Version 11 of its format, and an aggregated capture, which has what was live at the peak and at the end; that is no leak, and `allocated` is
only these:

  $ allotrace import -o mr11.ctf memray-11.bin
  allotrace: memray-11.bin: imported a capture of memray: 246 allocations and frees
  $ allotrace hotspots --callers 0 --top 2 mr11.ctf
  2.1 MB total allocations (exact, 162 blocks at rate 1)
    share             KB  blocks  site
     46.8% ███▊  1,024.0       1  p.py:20 <module>
     35.7% ██▉     781.3       1  p.py:18 <module>
     17.4%  in 44 more sites
  $ allotrace import -o ma.ctf memray-aggregated.bin
  allotrace: memray-aggregated.bin: imported an aggregated capture of memray: 78 allocations and frees; there are no times, but what was live at the peak and at the end
  $ allotrace peak --callers 0 --top 2 ma.ctf
  1.2 MB live at the peak, at 19 ms (exact, 78 blocks at rate 1)
  0 B of it (exact) was freed later; 1.2 MB (exact) was live at the end.
  
  By site:
    share                KB  blocks  site
     86.4% ██████▉  1,024.0       1  p.py:20 <module>
     10.1% ▊          120.2      30  p.py:6 <listcomp>
      3.5%  in 30 more sites
  $ allotrace hotspots --measure live --callers 0 --top 2 ma.ctf
  1.2 MB live at the end (exact, 78 blocks at rate 1)
    share                KB  blocks  site
     86.4% ██████▉  1,024.0       1  p.py:20 <module>
     10.1% ▊          120.2      30  p.py:6 <listcomp>
      3.5%  in 30 more sites
  $ for c in leaks lifetimes timeline advise; do allotrace $c ma.ctf; done
  allotrace: leaks needs times of allocations and frees; this trace was imported from an aggregated capture of memray [ordered]: there are no times, but what was live at the peak and at the end
  allotrace: lifetimes needs times of allocations and frees; this trace was imported from an aggregated capture of memray [ordered]: there are no times, but what was live at the peak and at the end
  allotrace: timeline needs times of allocations and frees; this trace was imported from an aggregated capture of memray [ordered]: there are no times, but what was live at the peak and at the end
  allotrace: advise needs times of allocations and frees; this trace was imported from an aggregated capture of memray [ordered]: there are no times, but what was live at the peak and at the end
  [1]

What this command exports comes back:

  $ allotrace export --to pprof -o back.pb.gz $TRACES/ocamlopt.ctf
  $ allotrace import -o back.ctf back.pb.gz
  allotrace: back.pb.gz: imported a pprof profile: 1551 stacks, 639.3 MB allocated, 42.0 MB of it live; there are no times
  $ allotrace hotspots --top 1 --callers 0 $TRACES/ocamlopt.ctf | head -1
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  $ allotrace hotspots --top 1 --callers 0 back.ctf | head -1
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)

What a profile does not say is not made up:

  $ for c in leaks lifetimes timeline peak advise; do allotrace $c go.ctf; done
  allotrace: leaks needs times of allocations and frees; this trace was imported from a pprof profile: there are no times
  allotrace: lifetimes needs times of allocations and frees; this trace was imported from a pprof profile: there are no times
  allotrace: timeline needs times of allocations and frees; this trace was imported from a pprof profile: there are no times
  allotrace: peak needs times of allocations and frees; this trace was imported from a pprof profile: there are no times
  allotrace: advise needs times of allocations and frees; this trace was imported from a pprof profile: there are no times
  [1]
  $ allotrace diff go.ctf go.ctf | head -2
  Before and after are the same file (107.5 MB), so nothing differs.

Files that are damaged, or something else:

  $ gzip -dc go.pb.gz >go.pb; size=$(stat -c %s go.pb)
  $ head -c $((size / 2)) go.pb >half.pb; allotrace import -o x.ctf half.pb
  allotrace: half.pb: at byte 673: a field is longer than what holds it
  [1]
  $ head -c 300 go.pb.gz >half.pb.gz; allotrace import -o x.ctf half.pb.gz
  allotrace: half.pb.gz: cannot be read: its compressed data ends too early
  [1]
  $ printf 'heap_v2/524288\n  t*: 1: 2 [0: 0\n' >bad.heap; allotrace import -o x.ctf bad.heap
  allotrace: bad.heap: at byte 15: a line of counts is not `t*: N: N [N: N]`
  [1]
  $ printf 'heap_v2/524288\n@ 0x12 hello\n' >bad.heap; allotrace import -o x.ctf bad.heap
  allotrace: bad.heap: at byte 22: a stack has something that is no address
  [1]
  $ printf 'heap_v2/many\n' >bad.heap; allotrace import -o x.ctf bad.heap
  allotrace: bad.heap: at byte 0: it does not begin with `heap_v2/` and a number
  [1]
  $ echo '{"head": {"selfSize": 1}}' >bad.heapprofile; allotrace import -o x.ctf bad.heapprofile
  allotrace: bad.heapprofile: at byte 0: a node lacks `callFrame` or `selfSize`
  [1]
  $ echo '{"nodes": []}' >bad.heapprofile; allotrace import -o x.ctf bad.heapprofile
  allotrace: bad.heapprofile: at byte 0: it has no `head`, so it is no heap profile
  [1]
  $ echo '{"head": ' >bad.heapprofile; allotrace import -o x.ctf bad.heapprofile
  allotrace: bad.heapprofile: at byte 10: unexpected token near end of file
  [1]
  $ zstd -qdc heaptrack.zst >ht.txt; head -c 1000 heaptrack.zst | head -c 500 >half.zst; allotrace import -o x.ctf half.zst
  allotrace: half.zst: cannot be read: its compressed data ends too early
  [1]
  $ sed 's/^t 2 1$/t 2 99/' ht.txt >bad.txt; allotrace import -o x.ctf bad.txt
  allotrace: bad.txt: at byte 511: a stack is of places or stacks that did not come before it
  [1]
  $ sed 's/^v 10400 3$/v 10000 1/' ht.txt >bad.txt; allotrace import -o x.ctf bad.txt
  allotrace: bad.txt: at byte 0: its version of the format is not 3; heaptrack 1.4 writes that
  [1]
  $ sed 's/^+ 1$/+ fff/' ht.txt >bad.txt; allotrace import -o x.ctf bad.txt
  allotrace: bad.txt: at byte 946: an event is of blocks that were not described before it
  [1]
  $ sed 's/^s 6 _start$/s 6000000 _start/' ht.txt >bad.txt; allotrace import -o x.ctf bad.txt
  allotrace: bad.txt: at byte 605: a string is not `s LENGTH TEXT`
  [1]
  $ lz4 -dcq memray-11.bin | sed 's/\x00*$//' >mr11; cp mr11 bad.bin
  $ printf '\016' | dd of=bad.bin bs=1 seek=7 conv=notrunc status=none; allotrace import -o x.ctf bad.bin
  allotrace: bad.bin: at byte 7: its version of the format is 14; those from 11 to 13 are known, which memray 1.11 to 1.20 write: record it by one of these
  [1]
  $ head -c 30 mr11 >bad.bin; allotrace import -o x.ctf bad.bin
  allotrace: bad.bin: at byte 0: it ends within its head
  [1]
  $ head -c 1500 mr11 >bad.bin; allotrace import -o x.ctf bad.bin; allotrace doctor x.ctf; rm x.ctf
  allotrace: bad.bin: imported a capture of memray: 8 allocations and frees
  allotrace: bad.bin: the capture has no end: its program was killed or goes on, and what it did last is missing
  x.ctf: no defects
    9 events can be used, over 13 ms
  $ (head -c 1500 mr11; printf '\015\001') >bad.bin; allotrace import -o x.ctf bad.bin
  allotrace: bad.bin: at byte 1501: its allocator is unknown
  [1]
  $ head -c 1500 memray-11.bin >bad.bin; allotrace import -o x.ctf bad.bin
  allotrace: bad.bin: cannot be read: its compressed data ends too early
  [1]
  $ lz4 -dcq memray-aggregated.bin | head -c 12000 >bad.bin; allotrace import -o x.ctf bad.bin
  allotrace: bad.bin: at byte 11364: it ends too early
  [1]
  $ echo 'hello' >text; allotrace import -o x.ctf text; allotrace import --from jemalloc -o x.ctf text
  allotrace: text: at byte 3: a field has an unknown type
  allotrace: text: at byte 0: it does not begin with `heap_v2/` and a number
  [1]
  $ printf '\n\004\010\001\020\0022\0002\003cpu2\013nanoseconds' >cpu.pb; allotrace import -o x.ctf cpu.pb
  allotrace: cpu.pb: at byte 0: it is no heap profile: its values are cpu
  [1]
  $ allotrace import -o x.ctf /nowhere; test -e x.ctf
  allotrace: /nowhere: cannot be read: No such file or directory
  [1]
  $ allotrace import
  allotrace: import needs one profile
  Try `allotrace import --help`.
  [2]
