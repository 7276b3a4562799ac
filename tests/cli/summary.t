A trace without a command: the most important of each report. The peak is that of peak, sites those of hotspots:

  $ for i in $(seq 40); do echo "alloc major 12 12 main@main.ml:1 keep@keep.ml:5"; echo "alloc minor 30 30 main@main.ml:1 parse@parse.ml:10"; echo "collect $((2 * i - 1))"; done | $TESTDIR/make-trace >a.ctf
  $ allotrace a.ctf
  prog, recorded for 120 ms from 2023-11-14 22:13:20 UTC
  13.1 KB total allocations (exact, 80 blocks at rate 1)
  4.0 KB live at the peak, at 119 ms (exact); 3.8 KB (exact) live at the end.
  More: allotrace peak a.ctf
  
  Largest sites:
    share              B  blocks  site
     71.4% █████▊  9,600      40  parse.ml:10 parse
     28.6% ██▎     3,840      40  keep.ml:5 keep
  More: allotrace hotspots a.ctf
  
  Growing:
    class    live, B  growth       q  live over time            site
    growing    3,840   2,880  <0.001  ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███  keep.ml:5 keep
  More: allotrace leaks a.ctf
  In a browser: allotrace view a.ctf
  $ allotrace summary a.ctf >named.txt; allotrace - <a.ctf | sed 's/-$/a.ctf/' | diff named.txt -
  $ allotrace summary --json a.ctf
  {"unit":"B","rate":1,"program":"prog","measure":"allocated","headers":true,
   "total":{"value":13440,"low":13440,"high":13440,"samples":1680},
   "peak":{"time":119000,"value":4080,"low":4080,"high":4080,"samples":510,"at_end":{"value":3840,"low":3840,"high":3840,"samples":480}},
   "hotspots":[
    {"share":0.714286,"value":9600,"low":9600,"high":9600,"samples":1200,"blocks":40,"function":"parse","file":"parse.ml","line":10,"callers":[],"callers_omitted":1},
    {"share":0.285714,"value":3840,"low":3840,"high":3840,"samples":480,"blocks":40,"function":"keep","file":"keep.ml","line":5,"callers":[],"callers_omitted":1}],
   "omitted":{"sites":0,"share":0.000000,"value":0,"low":0,"high":0,"samples":0},
   "growing":[
    {"class":"growing","value":3840,"low":3840,"high":3840,"samples":480,"slope":{"value":32012.681761285672,"low":32012.681761285672,"high":32012.681761285672,"samples":360},"late":32051.673141525378,"p":5.960464477539072e-08,"q":1.1920928955078144e-07,"startup_samples":120,"at_exit_samples":0,"history":[192,288,480,672,768,960,1152,1248,1440,1632,1728,1920,2112,2208,2400,2592,2688,2880,3072,3168,3360,3552,3648,3840],"function":"keep","file":"keep.ml","line":5}],
   "advice":[]}

Where most is allocated in libraries, sites are those of the code that calls them; JSON says so:

  $ for i in $(seq 8); do echo "alloc external 99 100 main@/src/main.cc:$((10 + i % 2)) std::vector<int>::_M_realloc_insert@/usr/include/c++/12/bits/vector.tcc:453"; done | $TESTDIR/make-trace >c.ctf
  $ allotrace c.ctf
  prog, recorded for 8 ms from 2023-11-14 22:13:20 UTC
  6.2 KB total allocations (exact, 8 blocks at rate 1)
  Bytes include malloc's header (8 per block), with sizes rounded up to 8; --measure requested excludes headers.
  6.2 KB live at the peak, at 8 ms (exact); 6.2 KB (exact) live at the end.
  More: allotrace peak c.ctf
  
  Largest sites, in the code that calls libraries:
    share            B  blocks  site
     50.0% ████  3,200       4  /src/main.cc:10 main
     50.0% ████  3,200       4  /src/main.cc:11 main
  More: allotrace hotspots --filter hide:@library c.ctf
  No site grows with certainty.
  In a browser: allotrace view c.ctf

  $ allotrace summary --json c.ctf | grep -A 2 sites_filter
   "sites_filter":"hide:@library",
   "hotspots":[
    {"share":0.500000,"value":3200,"low":3200,"high":3200,"samples":400,"blocks":4,"function":"main","file":"/src/main.cc","line":10,"callers":[],"callers_omitted":1},

It takes no filter:

  $ allotrace a.ctf --filter fn:parse
  allotrace: summary has no option --filter; use allotrace hotspots --filter FILTER
  Try `allotrace summary --help`.
  [2]

Nothing was allocated:

  $ $TESTDIR/make-trace </dev/null | allotrace -
  prog, recorded for 0 µs from 2023-11-14 22:13:20 UTC
  No allocations: the trace contains no samples at rate 1.

What is no trace, is not there, or is a program:

  $ echo text >text; allotrace text
  allotrace: text: byte 0: not a memtrace trace: it begins with 74 65 78 74 instead of c1 1f fc c1
  [1]
  $ allotrace no.ctf
  allotrace: no.ctf: No such file or directory
  [1]
  $ allotrace ls -l
  allotrace: there is no command `ls`; to record this program: allotrace run -- ls …
  Try `allotrace --help`.
  [2]
  $ allotrace ls
  allotrace: there is no command `ls`; to record this program: allotrace run -- ls
  Try `allotrace --help`.
  [2]

Of the last part of a trace, what was allocated before counts as live, but not as allocated; what is said next is about the same part:

  $ allotrace a.ctf --last 60ms
  prog, recorded for 60 ms from 2023-11-14 22:13:20 UTC
  6.6 KB total allocations (exact, 40 blocks at rate 1)
  Blocks allocated before the trace begins are not counted (21 of 61 sampled blocks).
  4.0 KB live at the peak, at 59 ms (exact); 3.8 KB (exact) live at the end.
  More: allotrace peak --last 60ms a.ctf
  
  Largest sites:
    share              B  blocks  site
     71.4% █████▊  4,800      20  parse.ml:10 parse
     28.6% ██▎     1,920      20  keep.ml:5 keep
  More: allotrace hotspots --last 60ms a.ctf
  
  Growing:
    class    live, B  growth       q  live over time            site
    growing    3,840   1,440  <0.001  ▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇██████  keep.ml:5 keep
  More: allotrace leaks --last 60ms a.ctf
  In a browser: allotrace view a.ctf
  $ allotrace summary --last 60ms --json a.ctf | jq -c '.total.value, .peak.at_end.value, (.hotspots[] | [.function, .blocks]), [.growing[].class]'
  6720
  3840
  ["parse",20]
  ["keep",20]
  ["growing"]
  $ allotrace hotspots --last 60ms --json a.ctf | jq -c '.total.value'
  6720
  $ allotrace advise --last 60ms --json a.ctf | jq -c '.total.value'
  6720
  $ allotrace leaks --last 60ms a.ctf 2>&1 | tail -1
  allotrace: hint: callers of the first site: allotrace callers --filter live:59999us 'keep.ml:5' --last 60ms a.ctf
  $ allotrace summary --last 4ms c.ctf 2>&1 | sed -n '/^Largest/,$p'
  Largest sites, in the code that calls libraries:
    share            B  blocks  site
     50.0% ████  1,600       2  /src/main.cc:10 main
     50.0% ████  1,600       2  /src/main.cc:11 main
  More: allotrace hotspots --filter hide:@library --last 4ms c.ctf
  No site grows with certainty.
  In a browser: allotrace view c.ctf
