Stacks for flame graphs; their weights add up to what hotspots says:

  $ allotrace export --to collapsed $TRACES/ocamlopt.ctf >ocamlopt.stacks
  $ awk '{ bytes += $NF } END { printf "%d %.0f\n", NR, bytes }' ocamlopt.stacks
  1442 670400000
  $ allotrace hotspots --json $TRACES/ocamlopt.ctf | jq .total.value
  670400000
  $ sed 's/ [0-9]*$//' ocamlopt.stacks | sort | uniq -d
  $ sort -t ' ' -nrk2 ocamlopt.stacks | head -1 | tr ';' '\n' | tail -3
  Coloring.allocate_registers.assign_location
  Stdlib__list.iter
  Coloring.allocate_registers.assign_location.(fun) 10800000

speedscope: the rules of its schema that JSON cannot say, and the sums:

  $ allotrace export --to speedscope $TRACES/ocamlopt.ctf -o ocamlopt.json
  $ jq -r '."$schema", .name, .exporter' ocamlopt.json
  https://www.speedscope.app/file-format-schema.json
  ocamlopt.ctf
  allotrace
  $ jq -c '.profiles[0] | [.type, .unit, .startValue, .endValue, (.weights | add)]' ocamlopt.json
  ["sampled","bytes",0,670400000,670400000]
  $ jq -c '.profiles[0] | (.samples | length) == (.weights | length)' ocamlopt.json
  true
  $ jq -c '(.shared.frames | length) as $n | [.profiles[0].samples[][] | select(. < 0 or . >= $n)]' ocamlopt.json
  []
  $ jq -c '[.shared.frames[] | select((.name | type) != "string")], .shared.frames[1]' ocamlopt.json
  []
  {"name":"Main.Options","file":"trace_ocamlopt/main.ml","line":46}

What takes long is said to who watches standard error, until it is over or interrupted; here, it takes until there is a
reader:

  $ mkfifo slow
  $ slowly() { script -qec "allotrace export --to collapsed -o slow $TRACES/ocamlopt.ctf $1" /dev/null | tee shown | sed -E 's/\r/CR/g; s/\x1b/ESC/g; s/(CRslow: writing(, [0-9]+% of [0-9.]+ MB)?)+/CRslow: writing/'; echo; }
  $ until_shown='for i in $(seq 1200); do grep -q "slow: writing" shown && break; sleep 0.1; done'
  $ : >shown; (eval "$until_shown"; wc -l <slow >lines) & slowly; wait; cat lines
  CRslow: writingCRESC[K
  1442
  $ : >shown; slowly "& $until_shown; kill \$!; wait \$!"
  CRslow: writingCRESC[K
  $ slowly '2>said & sleep 3; kill $!; wait $!'; cat said; rm said shown lines slow
  

The page is the same whenever it is made:

  $ for i in 1 2; do allotrace export --to html -o $i.html $TRACES/irmin-replay.ctf; done; cmp 1.html 2.html; rm ?.html

pprof, as protobuf's own decoder reads it:

  $ allotrace export --to pprof -o ocamlopt.pb.gz $TRACES/ocamlopt.ctf
  $ $TESTDIR/check-pprof ocamlopt.pb.gz $TRACES/ocamlopt.ctf
  values: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes by default: alloc_space
  period: 400000 space bytes
  program: ['/home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe']
  sums: 19652679 670400000 1545456 44000000
  heap: minor 666400000, major 4000000
  size class: 32..63 B 400000000, 16..31 B 166400000, 8..15 B 56400000
  lifetime class: <1ms 295600000, 1ms..10ms 263600000, alive at the end 44000000
  type: -
  same sums as hotspots at all 444 places: True
  $ allotrace export --to pprof $TRACES/irmin-replay.ctf >irmin.pb.gz
  $ $TESTDIR/check-pprof irmin.pb.gz $TRACES/irmin-replay.ctf | tail -1
  same sums as hotspots at all 418 places: True

Perfetto's heap profile, as protobuf's own decoder reads it, with what collapsed stacks say of its moments:

  $ allotrace export --to perfetto -o heap.pftrace $TRACES/ocamlopt.ctf; $TESTDIR/check-perfetto heap.pftrace $TRACES/ocamlopt.ctf
  process: 17157 /home/stephen/jswork/memtrace/_build/default/trace_ocamlopt/main.exe
  snapshots: 51 heap 400000
  sums: 670400000 626400000 19652424 18106979
  allocated: 670400000 in 1442 stacks
  live: 44000000 in 96 stacks
  peak: 47200000 in 109 stacks
  $ hide='heap:major hide:/^Stdlib/ below:Misc.try_finally'
  $ allotrace export --to perfetto -f "$hide" -o heap.pftrace $TRACES/ocamlopt.ctf; $TESTDIR/check-perfetto heap.pftrace $TRACES/ocamlopt.ctf -- -f "$hide" | tail -2
  allocated: 106400000 in 217 stacks
  live: 42000000 in 83 stacks
  $ for i in 1 2 3; do printf 'rate 1\nalloc external 9 10 $8 f\xff;g@a.c:%s\nalloc external 99 100\ncollect 0\n' $i | $TESTDIR/make-trace >$i.ctf; done; allotrace merge -o many.ctf [123].ctf
  many.ctf: 330 samples in 6 blocks of 3 traces, rate 1
  $ allotrace export --to perfetto -o heap.pftrace many.ctf; $TESTDIR/check-perfetto heap.pftrace many.ctf
  process: 4242 prog
  snapshots: 51 heap 8
  sums: 2640 240 6 3
  allocated: 2640 in 2 stacks
  live: 2400 in 1 stacks
  peak: 2640 in 2 stacks
  $ cp $TRACES/ocamlopt.ctf a.ctf; allotrace hotspots --index a.ctf >/dev/null; allotrace export --to perfetto a.ctf >heap.pftrace; $TESTDIR/check-perfetto heap.pftrace a.ctf | tail -1
  peak: 47200000 in 109 stacks
  $ rm heap.pftrace [123a].ctf a.ctf.idx many.ctf

Of pprof again:

  $ $TESTDIR/make-trace >small.ctf <<END
  > rate 1
  > alloc external 7 8 main@main.c:9 run@run.c:5 buffer@<type>:0|grow@help.h:31
  > alloc external 3 4 main@main.c:9 run@run.c:5|helper@help.h:30
  > collect 1
  > END
  $ { echo rate 0.5; for i in $(seq 300); do echo "alloc major 1 1 main@m.c:1 f@a.c:$i"; done; for i in $(seq 100); do echo collect $i; done; } | $TESTDIR/make-trace >lines.ctf
  $ allotrace export --to pprof -o lines.pb.gz lines.ctf; $TESTDIR/check-pprof lines.pb.gz lines.ctf | grep sums
  sums: 400 4800 267 3200
  same sums as hotspots at all 300 places: True
  $ allotrace hotspots --measure blocks --top 1 lines.ctf | head -1
  400 blocks allocated (± 23, 300 samples at rate 0.5)
  $ allotrace hotspots --measure blocks --filter survived --top 1 lines.ctf | head -1
  267 blocks allocated (± 19, 200 samples at rate 0.5)
  $ rm lines.ctf lines.pb.gz
  $ allotrace export --to pprof -o small.pb.gz small.ctf
  $ $TESTDIR/check-pprof small.pb.gz small.ctf helper
  values: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes by default: alloc_space
  period: 8 space bytes
  program: ['prog']
  sums: 2 96 1 64
  heap: external 96
  size class: 32..63 B 64, 16..31 B 32
  lifetime class: alive at the end 64, 1ms..10ms 32
  type: buffer 64
  same sums as hotspots at all 2 places: True
  1 32 0 0 {'heap': 'external', 'size class': '16..31 B', 'lifetime class': '1ms..10ms'}
    helper help.h:30
    run run.c:5
    main main.c:9

The blocks themselves:

  $ allotrace export --to csv small.ctf
  time,lifetime,promoted,size,samples,bytes,source,domain,thread,scope,trace_id,span_id,type,site,stack
  1000,,,56,8,64,external,0,,,,,buffer,"grow@help.h:31","main@main.c:9;run@run.c:5;grow@help.h:31"
  2000,1000,,24,4,32,external,0,,,,,,"helper@help.h:30","main@main.c:9;run@run.c:5;helper@help.h:30"
  $ allotrace export --to json small.ctf | tail -1
  {"time":2000,"lifetime":1000,"promoted":null,"size":24,"samples":4,"bytes":32,"source":"external","domain":0,"thread":null,"scope":null,"trace_id":null,"span_id":null,"type":null,"site":"helper@help.h:30","stack":["main@main.c:9","run@run.c:5","helper@help.h:30"]}
  $ allotrace export --to csv $TRACES/irmin-replay.ctf | wc -l
  10608
  $ allotrace export --to json $TRACES/irmin-replay.ctf | jq -s -c '[length, (map(.samples) | add), (map(select(.lifetime == null)) | length)]'
  [10607,10607,1]

SQLite; what views say is what hotspots says, place by place:

  $ allotrace export --to sqlite -o irmin.db $TRACES/irmin-replay.ctf
  $ sqlite3 irmin.db 'PRAGMA integrity_check' 'PRAGMA foreign_key_check'
  ok
  $ sqlite3 irmin.db 'SELECT count(*), sum(samples), sum(bytes) FROM blocks' 'SELECT sum(bytes), round(sum(percent), 6) FROM hotspots' 'SELECT sum(bytes) FROM callers' 'SELECT type, bytes FROM types'
  10607|10607|84856000000.0
  84856000000.0|100.0
  84856000000.0
  |84856000000.0
  $ sqlite3 irmin.db "SELECT caller, caller_line, bytes FROM callers WHERE site = 'Stdlib__Map.Make.bal' AND site_line = 115 LIMIT 2"
  Stdlib__Map.Make.add|132|2128000000.0
  Stdlib__Map.Make.add|129|920000000.0
  $ sqlite3 irmin.db 'SELECT (SELECT max(bytes) FROM timeline) = (SELECT sum(bytes) FROM live)' 'SELECT function, line, bytes FROM live_hotspots LIMIT 1'
  1
  Repr__Binary.Mono_container.decode.sub|232|32000000.0
  $ sqlite3 irmin.db 'UPDATE moment SET time = 10e6' 'SELECT count(*), sum(bytes) FROM live'
  14|112000000.0
  $ sqlite3 irmin.db 'SELECT count(*), max(depth) FROM stacks' 'SELECT count(*) FROM survivors'
  7002|282
  1
  $ allotrace export --to sqlite -o small.db small.ctf
  $ sqlite3 small.db <<END
  > WITH RECURSIVE up(id) AS (SELECT stack FROM blocks WHERE id = 1
  >   UNION ALL SELECT parent FROM up JOIN stacks USING (id) WHERE parent IS NOT NULL)
  > SELECT function, file, line FROM up JOIN stacks USING (id) JOIN frames ON frames.id = frame;
  > END
  helper|help.h|30
  run|run.c|5
  main|main.c|9
  $ sqlite3 -header small.db 'SELECT * FROM blocks' 'SELECT * FROM trace'
  id|born|promoted|died|size|samples|bytes|objects|source|domain|type|site|caller|stack|birth|births_before_death|thread|scope|trace_id|span_id
  0|1000|||56|8|64.0|1.0|external|0|buffer|2|1|3|0|||||
  1|2000||3000|24|4|32.0|1.0|external|0||3|1|4|1|2||||
  executable|host|pid|context|runtime|start|duration|word_size|rate|bytes_per_sample|ends_early|reason
  prog|host|4242|||1700000000000000|3000|64|1.0|8.0||

Each view says what a command says, of a trace of OCaml, and of one with types, wrappers and inlined functions:

  $ $TESTDIR/make-trace >typed.ctf <<END
  > rate 0.1
  > alloc minor 7 3 main@main.ml:1 parse@parse.ml:10
  > alloc minor 63 5 main@main.ml:1 eval@eval.ml:20
  > promote 1
  > alloc external 70 8 main@main.c:9 run@run.c:5 buffer@<type>:0|grow@help.h:31
  > collect 0
  > alloc external 30 4 main@main.c:9 run@run.c:5|helper@help.h:30 malloc@<type>:0|xmalloc@util.c:5
  > alloc major 12 1
  > alloc external 9 1 \$77 table@<type>:0|grow@help.h:31
  > collect 3
  > alloc minor 7 1 main@main.ml:2 parse@parse.ml:11
  > END
  $ cat >views.jq <<'END'
  > def text: if . == null or . == 0 then "" else tostring end;
  > def rows(f): .hotspots[] | f | join("|");
  > def place: [.function, .file, .line] | map(text);
  > END
  $ ask() { jq -r "$(cat views.jq) $1" | sort; } # what a command says
  $ view() { sqlite3 views.db "$1" | sort; }
  $ for trace in typed.ctf $TRACES/irmin-replay.ctf $TRACES/ocamlopt.ctf; do
  >   rm -f views.db; allotrace export --to sqlite -o views.db $trace
  >   all="--json --min-share 0 --callers 100000 $trace"
  >   view 'SELECT function, file, line, samples FROM hotspots' >sql
  >   allotrace hotspots $all | ask 'rows(place + [.samples])' | cmp sql - && [ -s sql ] || echo hotspots
  >   view "SELECT site, site_file, site_line, caller, caller_file, caller_line, samples FROM callers" >sql
  >   direct=$all; [ $trace = typed.ctf ] || direct="--wrappers show $all" # immediate callers in libraries, too
  >   allotrace hotspots $direct | ask '.hotspots[] | place as $s | .callers[] | $s + place + [.samples] | join("|")' | cmp sql - && [ -s sql ] || echo callers
  >   view 'SELECT type, samples FROM types' >sql
  >   allotrace types --wrappers show $all | ask '.hotspots[] | [.type, .samples] | map(text) | join("|")' | cmp sql - && [ -s sql ] || echo types
  >   view 'SELECT function, file, line, samples FROM live_hotspots' >sql
  >   allotrace hotspots --measure peak $all | ask 'rows(place + [.samples])' | cmp sql - && [ -s sql ] || echo live_hotspots
  >   view 'SELECT sum(samples) FROM live' >sql
  >   allotrace peak $all | ask .total.samples | cmp sql - || echo live
  >   view 'SELECT time, bytes FROM timeline ORDER BY bytes DESC, time LIMIT 1' | cut -d. -f1 >sql
  >   allotrace peak $all | ask '"\(.time)|\(.total.value | round)"' | cmp sql - || echo timeline
  >   view 'SELECT sum(samples) FROM survivors' >sql
  >   allotrace hotspots --measure survived $all | ask .total.samples | cmp sql - || echo survivors
  >   view 'SELECT CAST(round(sum(bytes)) AS INTEGER), CAST(round(sum(objects)) AS INTEGER) FROM blocks' >sql
  >   { allotrace hotspots $all; allotrace hotspots --measure blocks $all; } | jq -s -r '[.[].total.value | round] | join("|")' | cmp sql - || echo estimates
  >   for time in 1 2000 5500 400000; do
  >     sqlite3 views.db "UPDATE moment SET time = $time"
  >     view 'SELECT coalesce(sum(samples), 0) FROM live' >sql
  >     allotrace hotspots --measure live --at ${time}us $all | ask .total.samples | cmp sql - || echo live at $time
  >   done
  > done

A part of the blocks, in all formats the same as in hotspots:

  $ allotrace hotspots --json -f 'heap:major hide:/^Stdlib/' $TRACES/ocamlopt.ctf | jq -c '[.total.value, .hotspots[0].function, .hotspots[0].value]'
  [106800000,"Interf.build_graph.add_interf",5200000]
  $ allotrace export -t collapsed -f 'heap:major hide:/^Stdlib/' $TRACES/ocamlopt.ctf >major.stacks
  $ awk '{ bytes += $NF } END { printf "%.0f\n", bytes }' major.stacks; grep -c 'Stdlib' major.stacks
  106800000
  0
  [1]
  $ allotrace export -t speedscope -f 'heap:major hide:/^Stdlib/' $TRACES/ocamlopt.ctf | jq .profiles[0].endValue
  106800000
  $ allotrace export -t csv -f 'heap:major hide:/^Stdlib/' $TRACES/ocamlopt.ctf | awk -F, 'NR > 1 { bytes += $6 } END { printf "%.0f\n", bytes }'
  106800000
  $ allotrace export -t json -f 'heap:major hide:/^Stdlib/' $TRACES/ocamlopt.ctf | jq -s -c '[(map(.bytes) | add), (map(.stack[] | select(startswith("Stdlib"))) | length)]'
  [106800000,0]
  $ allotrace export -t pprof -f 'heap:major hide:/^Stdlib/' -o major.pb.gz $TRACES/ocamlopt.ctf
  $ $TESTDIR/check-pprof major.pb.gz $TRACES/ocamlopt.ctf -- -f 'heap:major hide:/^Stdlib/' | grep -E 'sums|heap'
  sums: 3698968 106800000 1499621 42400000
  heap: minor 102800000, major 4000000
  same sums as hotspots at all 124 places: True
  $ allotrace export -t sqlite -f 'heap:major hide:/^Stdlib/' -o major.db $TRACES/ocamlopt.ctf
  $ sqlite3 major.db 'SELECT function, bytes FROM hotspots LIMIT 1' 'SELECT sum(bytes) FROM blocks'
  Interf.build_graph.add_interf|5200000.0
  106800000.0
  $ allotrace export -t collapsed -f 'heap:major size:>1G' $TRACES/ocamlopt.ctf
  allotrace: warning: the filter kept 0 of 1676 blocks: `size` removed the last 267
  $ allotrace export -t collapsed -f 'heap:middle' $TRACES/ocamlopt.ctf
  allotrace: --filter: column 6: `middle` is not one of minor, major, external
    heap:middle
         ^
  Try `allotrace export --help`.
  [2]

Stacks of the last part of a trace weigh what hotspots shows, without what was allocated before:

  $ printf 'alloc major 99 100 main@a.c:1\nlater 10\nalloc major 9 10 main@a.c:2\n' | $TESTDIR/make-trace >early.ctf
  $ allotrace export --to collapsed --last 5s early.ctf
  main 80
  $ allotrace export --to collapsed --last 5s --measure live early.ctf
  main 880
  $ allotrace export --to collapsed --last 5s --filter size:100w early.ctf
  allotrace: warning: the filter kept 0 of 2 blocks: `size` removed the last 2
  $ allotrace export --to csv --last 5s early.ctf | wc -l
  3

What does not work says so, and leaves files alone:

  $ allotrace export small.ctf
  allotrace: export needs --to FORMAT
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to sqlite small.ctf
  allotrace: export: --to sqlite requires --output
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to sqlite -o /dev/null small.ctf
  allotrace: /dev/null: --to sqlite requires a regular file
  [1]
  $ allotrace export --to svg small.ctf
  allotrace: --to: `svg` is not one of collapsed, speedscope, dot, pprof, perfetto, csv, json, sqlite, parquet, html; did you mean dot?
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to csv -o missing/x.csv small.ctf
  allotrace: missing/x.csv: No such file or directory
  [1]
  $ allotrace export --to collapsed -o ocamlopt.stacks missing.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ wc -l <ocamlopt.stacks
  1442
  $ allotrace export --to csv small.ctf >/dev/full
  allotrace: standard output: No space left on device
  [1]

What there is no room for is not begun, and nothing is left of what turned out not to fit:

  $ limited() { (ulimit -f 8; allotrace export -o limited "$@" $TRACES/ocamlopt.ctf; echo $?); ls | grep limited || true; }
  $ for to in csv json sqlite collapsed speedscope; do limited --to $to 2>&1; done
  allotrace: limited: the output would take about 9.4 MB, and only 8.0 KB is free; use --filter, or thin the trace first: allotrace subsample
  1
  allotrace: limited: the output would take about 10.0 MB, and only 8.0 KB is free; use --filter, or thin the trace first: allotrace subsample
  1
  allotrace: limited: the output would take about 909.3 KB, and only 8.0 KB is free; use --filter, or thin the trace first: allotrace subsample
  1
  allotrace: limited: the output would take about 5.0 MB, and only 8.0 KB is free; use --filter, or thin the trace first: allotrace subsample
  1
  allotrace: limited: the output would take about 770.8 KB, and only 8.0 KB is free; use --filter, or thin the trace first: allotrace subsample
  1
  $ limited --to pprof
  allotrace: limited: File too large
  1
  $ (ulimit -f 400; allotrace dump $TRACES/ocamlopt.ctf >limited); wc -c <limited; rm limited
  allotrace: warning: standard output: wrote 253.2 KB for 14% of the trace, and only 146.8 KB of space is left; use --no-backtraces or --max-depth, or thin the trace first: allotrace subsample
  allotrace: standard output: File too large
  409600

  $ allotrace export --to json $TRACES/irmin-replay.ctf | head -c 10
  {"time":13 (no-eol)
  $ ls
  early.ctf
  irmin.db
  irmin.pb.gz
  major.db
  major.pb.gz
  major.stacks
  ocamlopt.json
  ocamlopt.pb.gz
  ocamlopt.stacks
  small.ctf
  small.db
  small.pb.gz
  sql
  typed.ctf
  views.db
  views.jq

Stacks by other measures; the weights add up to what hotspots says, but for rounding:

  $ for m in allocated peak live promoted survived; do
  >   allotrace export --to collapsed -m $m $TRACES/ocamlopt.ctf | awk '{ s += $NF } END { print s }' >stacks
  >   allotrace hotspots -m $m --json $TRACES/ocamlopt.ctf | jq .total.value | cmp - stacks
  > done
  $ allotrace export --to collapsed -m blocks -f fn:Interf $TRACES/ocamlopt.ctf | awk '{ s += $NF } END { print s }'
  3260040
  $ allotrace hotspots -m blocks --json -f fn:Interf $TRACES/ocamlopt.ctf | jq .total.value
  3260115
  $ allotrace export --to speedscope -m live --at 0.4s $TRACES/ocamlopt.ctf | jq -c '.profiles[0] | [.name, .unit, .endValue]'
  ["live","bytes",35200000]
  $ allotrace hotspots -m live --at 0.4s --json $TRACES/ocamlopt.ctf | jq .total.value
  35200000
  $ allotrace export --to csv -m peak $TRACES/ocamlopt.ctf
  allotrace: export: --measure works only with collapsed, speedscope, dot; the other formats contain the data for all measures
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to collapsed -m peak --at 1s $TRACES/ocamlopt.ctf
  allotrace: export: --at requires --measure live
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to collapsed -m live --at 1x $TRACES/ocamlopt.ctf
  allotrace: --at: column 2: a time must end in us, ms, s, min or h
    1x
     ^
  Try `allotrace export --help`.
  [2]

Names that are no UTF-8 do not spoil the rest of a file for those who insist on it:

  $ printf 'alloc external 9 10 main@m.c:1 "f"\xFF@d\xE9p,\xE9.c:2\n' | $TESTDIR/make-trace >latin.ctf
  $ allotrace export --to pprof -o latin.pb.gz latin.ctf; $TESTDIR/check-pprof latin.pb.gz latin.ctf | tail -1
  same sums as hotspots at all 1 places: True
  $ allotrace export --to sqlite -o latin.db latin.ctf
  $ python3 -c 'import sqlite3; print(sqlite3.connect("latin.db").execute("select function, file from hotspots").fetchall())'
  [('"f"�', 'd�p,�.c')]
  $ allotrace export --to csv latin.ctf | iconv -f utf-8 -t utf-8 | tail -1
  1000,,,72,10,80,external,0,,,,,,"""f""�@d�p,�.c:2","main@m.c:1;""f""�@d�p,�.c:2"
  $ allotrace hotspots --csv latin.ctf | iconv -f utf-8 -t utf-8 | tail -1
  1.000000,80,80,80,10,1,"""f""�","d�p,�.c",2,
  $ allotrace dump --format csv latin.ctf | iconv -f utf-8 -t utf-8 | tail -1
  1000,0,alloc,0,external,9,10,,"main@m.c:1:0-0;""f""�@d�p,�.c:2:0-0"

Parquet: files of five tables in a folder, by day and service, which are replaced by those of the same trace:

  $ allotrace export --to parquet -o fleet --label service=a/b --label version=2 $TRACES/irmin-replay.ctf
  $ (cd fleet; find . -type f | sed 's/[0-9a-f]\{16\}/ID/' | LC_ALL=C sort)
  ./frames/day=2022-11-10/service=a%2Fb/ID.parquet
  ./marks/day=2022-11-10/service=a%2Fb/ID.parquet
  ./samples/day=2022-11-10/service=a%2Fb/ID.parquet
  ./stacks/day=2022-11-10/service=a%2Fb/ID.parquet
  ./traces/day=2022-11-10/service=a%2Fb/ID.parquet
  $ find fleet -type f | sed 's/.*\///' | sort -u | wc -l
  1
  $ find fleet -type f -exec head -c 4 {} \; -exec tail -c 4 {} \; ; echo
  PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1
  $ allotrace export --to parquet -o fleet --label service=a/b --label version=2 $TRACES/irmin-replay.ctf
  $ find fleet -type f | wc -l
  5
  $ allotrace export --to parquet -o fleet --label service=a/b --label version=3 $TRACES/irmin-replay.ctf
  $ find fleet -type f | wc -l
  10

The service is the program's name unless a label says it:

  $ allotrace export --to parquet -o named $TRACES/irmin-replay.ctf; ls named/samples/*
  service=tree.exe

What cannot be:

  $ allotrace export --to parquet $TRACES/irmin-replay.ctf
  allotrace: export: --to parquet requires --output
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to parquet -o named --label shop $TRACES/irmin-replay.ctf
  allotrace: export: --label: `shop` is not KEY=VALUE
  Try `allotrace export --help`.
  [2]
  $ allotrace export --to csv --label service=shop $TRACES/irmin-replay.ctf
  allotrace: export: --label requires --to parquet
  Try `allotrace export --help`.
  [2]
  $ touch file; allotrace export --to parquet -o file $TRACES/irmin-replay.ctf
  allotrace: file/samples: Not a directory
  [1]
  $ allotrace export --to parquet -o /proc/none $TRACES/irmin-replay.ctf
  allotrace: /proc/none: No such file or directory
  [1]

A graph of callers, as Graphviz reads it. A function counts once in a stack, whatever recursion there is; and so does a call:

  $ $TESTDIR/make-trace >graph.ctf <<'END'
  > alloc external 15 16 main@m.c:1 eval@m.c:5 leaf@m.c:9
  > alloc external 15 16 main@m.c:1 eval@m.c:5 eval@m.c:6 leaf@m.c:9
  > alloc external 31 32 main@m.c:2 odd"name\@m.c:20
  > END
  $ allotrace export --to dot graph.ctf
  digraph "graph.ctf" {
  node [shape=box style=filled fontname="sans-serif"]
  edge [fontname="sans-serif" fontsize=10]
  subgraph cluster_L { L [shape=box fontsize=14 style=filled fillcolor="#f8f8f8" label="graph.ctf\l512 B total allocations\l4 of 4 functions are shown; the others have less\l"] }
  N1 [label="main\n0 of 512 B (100.00%)" tooltip="m.c" fontsize=8.0 color="0.02 0.980 0.700" fillcolor="0.02 0.398 0.960"]
  N2 [label="eval\n0 of 256 B (50.00%)" tooltip="m.c" fontsize=8.0 color="0.02 0.716 0.700" fillcolor="0.02 0.305 0.960"]
  N3 [label="leaf\n256 B (50.00%)" tooltip="m.c" fontsize=19.3 color="0.02 0.716 0.700" fillcolor="0.02 0.305 0.960"]
  N4 [label="odd\"name\\\n256 B (50.00%)" tooltip="m.c" fontsize=19.3 color="0.02 0.716 0.700" fillcolor="0.02 0.305 0.960"]
  N1 -> N2 [label=" 256 B" weight=51 penwidth=3.50 color="0.02 0.716 0.700"]
  N1 -> N4 [label=" 256 B" weight=51 penwidth=3.50 color="0.02 0.716 0.700"]
  N2 -> N3 [label=" 256 B" weight=51 penwidth=3.50 color="0.02 0.716 0.700"]
  N2 -> N2 [label=" 128 B" weight=26 penwidth=2.25 color="0.02 0.530 0.700"]
  }
  $ allotrace export --to dot -m live -f fn:leaf graph.ctf | grep -- '->'
  N1 -> N2 [label=" 256 B" weight=101 penwidth=6.00 color="0.02 0.980 0.700"]
  N2 -> N3 [label=" 256 B" weight=101 penwidth=6.00 color="0.02 0.980 0.700"]
  N2 -> N2 [label=" 128 B" weight=51 penwidth=3.50 color="0.02 0.716 0.700"]

What is too small is left out, and an arrow is dotted that only leads through it:

  $ { for i in $(seq 100); do echo "alloc external 1 2 main@m.c:1 small$i@m.c:$i big@m.c:9"; done; } | $TESTDIR/make-trace >wide.ctf
  $ allotrace export --to dot wide.ctf | grep -E -- 'shown|big|N1 -> N2 '
  subgraph cluster_L { L [shape=box fontsize=14 style=filled fillcolor="#f8f8f8" label="wide.ctf\l1.6 KB total allocations\l80 of 102 functions are shown; the others have less\l"] }
  N2 [label="big\n1.6 KB (100.00%)" tooltip="m.c" fontsize=24.0 color="0.02 0.980 0.700" fillcolor="0.02 0.398 0.960"]
  N1 -> N2 [label=" 352 B" weight=23 penwidth=2.10 color="0.02 0.502 0.700" style=dotted]
  $ allotrace export --to dot wide.ctf | grep -c -- '->'
  157

What others call a format, or nearly its name, leads to it:

  $ for f in folded FlameGraph proto jsonl sqlite3 speedscop zzz; do allotrace export --to $f small.ctf 2>&1 | sed -n 's/.*html//p'; done
  ; did you mean collapsed?
  ; did you mean collapsed?
  ; did you mean pprof?
  ; did you mean json?
  ; did you mean sqlite?
  ; did you mean speedscope?
  
