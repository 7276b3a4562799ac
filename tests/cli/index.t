The index beside a trace: written on request, used from then on, and never in the way.

  $ cp $TRACES/irmin-replay.ctf a.ctf
  $ allotrace hotspots --json a.ctf >hotspots
  $ allotrace lifetimes --json a.ctf >lifetimes
  $ allotrace stats --json a.ctf >stats
  $ allotrace info --json a.ctf >info
  $ ls a.ctf*
  a.ctf
  $ allotrace hotspots --json --index a.ctf | cmp - hotspots
  $ ls a.ctf*
  a.ctf
  a.ctf.idx
  $ allotrace lifetimes --json a.ctf | cmp - lifetimes
  $ allotrace stats --json a.ctf | cmp - stats
  $ allotrace info --json a.ctf | cmp - info

Whatever command made it, it has what the others need: none writes it anew.

  $ before=$(stat -c %i a.ctf.idx)
  $ for command in lifetimes stats; do allotrace $command --json --index a.ctf | cmp - $command; done
  $ [ $before = $(stat -c %i a.ctf.idx) ]

Each question reads the columns that it looks at, whatever the measure and the filter:

  $ for measure in allocated blocks requested peak promoted temporary byteseconds; do
  >   for filter in size:'>=16' fn:main live:@peak thread:/./; do
  >     for command in hotspots tree 'callers Stdlib'; do
  >       allotrace $command --measure $measure --filter $filter a.ctf >with
  >       allotrace $command --measure $measure --filter $filter $TRACES/irmin-replay.ctf | cmp - with
  >     done
  >   done
  > done
  $ rm with

A byte that changed is seen although size and time are as they were:

  $ touch -r a.ctf time
  $ printf 'X' | dd of=a.ctf bs=1 seek=100000 conv=notrunc status=none
  $ touch -r time a.ctf
  $ allotrace hotspots a.ctf >changed
  allotrace: warning: a.ctf.idx: not used, because it was made from a different trace or by another version (--index rewrites it)
  allotrace: warning: a.ctf: byte 99990: packets were lost here; backtraces may be wrong until the cache refills
  allotrace: warning: a.ctf: byte 110941: a name given before packets were lost; it may be the wrong one (115 times)

A trace that changed has no index any more:

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ allotrace hotspots --top 1 a.ctf
  allotrace: warning: a.ctf.idx: not used, because it was made from a different trace or by another version (--index rewrites it)
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
  Sites below about 1.1 MB may be invisible at this rate.
    share        MB       ±  samples  site
     15.5% █▎  99.2  ± 12.1      260  set.ml:125 Stdlib__set.Make.bal
     11.8%     75.1  ± 10.5      197    via asmcomp/interf.ml:46 Interf.build_graph.add_interf
      1.1%      6.9   ± 3.2       18    via asmcomp/liveness.ml:52 Liveness.live
      0.6%      3.8   ± 2.4       10    via asmcomp/liveness.ml:62 Liveness.live, …
     84.5%  in 443 more sites
  $ allotrace hotspots --index a.ctf >indexed
  $ allotrace hotspots a.ctf | cmp - indexed

A damaged one is not used:

  $ printf 'X' | dd of=a.ctf.idx bs=1 seek=500 conv=notrunc status=none
  $ allotrace hotspots a.ctf >damaged
  allotrace: warning: a.ctf.idx: not used, because it is damaged (--index rewrites it)
  $ cmp damaged indexed
  $ : >a.ctf.idx
  $ allotrace hotspots a.ctf | cmp - indexed
  allotrace: warning: a.ctf.idx: not used, because it is damaged (--index rewrites it)

What is wrong with a trace is said with an index, too, and --strict stops at it:

  $ head -c 100000 $TRACES/irmin-replay.ctf >cut.ctf
  $ allotrace hotspots --index cut.ctf >first
  allotrace: warning: cut.ctf: byte 99990: the trace is cut short; every whole event before the cut was used
  $ allotrace hotspots cut.ctf >second
  allotrace: warning: cut.ctf: byte 99990: the trace is cut short; every whole event before the cut was used
  $ cmp first second
  $ allotrace hotspots --strict cut.ctf
  allotrace: cut.ctf: byte 99990: the trace ends within a packet
  [1]

An index that cannot be written is no error, and standard input has none:

  $ rm a.ctf.idx; mkdir a.ctf.idx
  $ allotrace hotspots --index a.ctf >unwritable
  allotrace: warning: a.ctf.idx: Is a directory; no index is written
  $ cmp unwritable indexed
  $ ls
  a.ctf
  a.ctf.idx
  changed
  cut.ctf
  cut.ctf.idx
  damaged
  first
  hotspots
  indexed
  info
  lifetimes
  second
  stats
  time
  unwritable
  $ allotrace hotspots --index - <a.ctf | cmp - indexed
  allotrace: warning: standard input: not a regular file, so no index is written
