What every command that reads a trace does with the options that most of them have. Each is taken, or
refused in a line that says why and what does the same.

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ option() { # COMMAND OPTION [VALUE]: yes, or why not
  >   local line=(allotrace $1 "${@:2}")
  >   case $1 in
  >     callers | callees) line+=(Stdlib__list.iter a.ctf) ;;
  >     diff) line+=(a.ctf a.ctf) ;;
  >     check)
  >       case $3 in blocks) of=1blocks ;; byteseconds) of=1MB*s ;; *) of=1MB ;; esac
  >       line+=(--expect "total=$of" a.ctf) ;;
  >     export) line+=(--to collapsed a.ctf) ;;
  >     *) line+=(a.ctf) ;;
  >   esac
  >   "${line[@]}" >out 2>err
  >   case $? in
  >     0 | 3) [ -s out ] && echo yes || echo nothing ;;
  >     2) sed 's/^allotrace: [a-z]* has no [^:]*: /no: /;q' err ;;
  >     *) echo "status $?"; cat err ;;
  >   esac
  > }
  $ table() { # COMMAND...: of options that take nothing or one value
  >   for command in "$@"; do
  >     for words in '--filter size:>=1' '--top 1' --json --csv; do
  >       echo "$command ${words%% *}: $(option $command $words)"
  >     done
  >   done
  > }
  $ table hotspots types tree callers callees peak timeline leaks lifetimes advise diff check | grep -v ': yes$'
  [1]
  $ table stats info dump export doctor
  stats --filter: yes
  stats --top: no: it shows no sites; these are shown by: allotrace hotspots --measure blocks --top N
  stats --json: yes
  stats --csv: yes
  info --filter: no: it shows the whole trace; totals of a part: allotrace hotspots --filter FILTER
  info --top: no: it shows no sites; these are shown by: allotrace hotspots --top N
  info --json: yes
  info --csv: no: it shows no table; for programs: --json
  dump --filter: no: it writes every event; blocks that a filter keeps: allotrace export --to csv --filter FILTER
  dump --top: no: it writes every event; the first N: allotrace dump … | head -n N
  dump --json: no: the format is chosen by: --format json
  dump --csv: no: the format is chosen by: --format csv
  export --filter: yes
  export --top: no: it writes all that --filter keeps; the largest sites: allotrace hotspots --top N --csv
  export --json: no: the format is chosen by: --to json
  export --csv: no: the format is chosen by: --to csv
  doctor --filter: no: it looks at the whole file
  doctor --top: no: it shows the first five defects of a kind; all of them: --all
  doctor --json: no: a line is a defect: FILE, byte, cause; what a trace is about, with its warnings: allotrace info --json
  doctor --csv: no: a line is a defect: FILE, byte, cause
  $ for command in view; do for o in --filter --top --json --csv --measure; do
  >   echo "$command $o: $(option $command $o)"; done; done
  view --filter: no: filters are typed in the page
  view --top: no: the page shows all; in a terminal: allotrace hotspots --top N
  view --json: no: its answers are JSON, see docs/viewer-api.md; in a terminal: allotrace hotspots --json
  view --csv: no: the page is for people; tables: allotrace hotspots --csv
  view --measure: no: the measure is chosen in the page

  $ for command in trim merge anonymise symbolize 'subsample 2'; do
  >   for o in --filter --top --json --csv --measure; do echo "$o: $(option "$command" $o)"; done
  > done | sort | uniq -c
        5 --csv: no: it writes a trace; its blocks as CSV: allotrace export --to csv
        5 --filter: no: a trace is a sample of all blocks; what of it counts is said when it is looked at: allotrace hotspots --filter FILTER
        5 --json: no: it writes a trace; its events as JSON: allotrace dump --format json
        5 --measure: no: it writes a trace, which has all measures: allotrace hotspots --measure MEASURE
        5 --top: no: it writes a trace, no table; the largest sites: allotrace hotspots --top N
  $ measures() {
  >   for command in "$@"; do
  >     for m in allocated blocks live peak promoted survived byteseconds; do
  >       echo "$command $m: $(option $command --measure $m)"
  >     done
  >   done
  > }
  $ measures hotspots types tree 'tree --inverted' callers callees diff check export peak | grep -v ': yes$'
  [1]
  $ measures timeline leaks lifetimes stats advise | grep -v ': yes$'
  [1]
  $ for command in info dump doctor; do echo "$command: $(option $command --measure blocks)"; done
  info: no: it shows several at once; one by site: allotrace hotspots --measure MEASURE
  dump: no: it writes events, which have no measure; sums: allotrace hotspots --measure MEASURE
  doctor: no: it looks at the file, not at what it says; sums: allotrace hotspots

Short forms get the same answer, and an option that nothing has does not:

  $ allotrace stats -n 3 a.ctf
  allotrace: stats has no option -n: it shows no sites; these are shown by: allotrace hotspots --measure blocks --top N
  Try `allotrace stats --help`.
  [2]
  $ allotrace stats --frob a.ctf
  allotrace: stats has no option --frob
  Try `allotrace stats --help`.
  [2]

What of a measure is shown is the same everywhere:

  $ for m in allocated blocks live peak promoted survived byteseconds; do
  >   for command in hotspots types tree 'tree --inverted'; do
  >     allotrace $command --measure $m --json a.ctf | grep -o '"total":{.*}'
  >   done | sort -u | wc -l
  > done
  1
  1
  1
  1
  1
  1
  1
  $ for m in live peak promoted survived; do
  >   for command in hotspots lifetimes; do
  >     allotrace $command --measure $m a.ctf | sed -n '1s/ (.*//p'
  >   done | uniq -c | sed 's/^ *//'
  > done
  2 42.0 MB live at 852 ms
  2 45.0 MB live at the peak, at 778 ms
  2 98.0 MB promoted
  2 42.0 MB never freed
