What every command that reads a trace does with the options that most of them have. Each is taken, or
refused in a line that says what to use instead.

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
  >     2) sed 's/^allotrace: [a-z]* has no [^;]*; /no: /;q' err ;;
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
  stats --top: no: use allotrace hotspots --measure blocks --top N
  stats --json: yes
  stats --csv: yes
  info --filter: no: use allotrace hotspots --filter FILTER
  info --top: no: use allotrace hotspots --top N
  info --json: yes
  info --csv: no: use --json
  dump --filter: no: use allotrace export --to csv --filter FILTER
  dump --top: no: use allotrace dump … | head -n N
  dump --json: no: use --format json
  dump --csv: no: use --format csv
  export --filter: yes
  export --top: no: use allotrace hotspots --top N --csv
  export --json: no: use --to json
  export --csv: no: use --to csv
  doctor --filter: no: use allotrace hotspots --filter FILTER
  doctor --top: no: use --all, which lists more than five defects of a kind
  doctor --json: no: use allotrace info --json, or the text output: one defect per line, as FILE, byte, cause
  doctor --csv: no: use the text output: one defect per line, as FILE, byte, cause
  $ for command in view; do for o in --filter --top --json --csv --measure; do
  >   echo "$command $o: $(option $command $o)"; done; done
  view --filter: no: use the filter line of the page
  view --top: no: use allotrace hotspots --top N
  view --json: no: use the API in docs/viewer-api.md, or allotrace hotspots --json
  view --csv: no: use allotrace hotspots --csv
  view --measure: no: use the choice of measures in the page

  $ for command in trim merge anonymise symbolize 'subsample 2'; do
  >   for o in --filter --top --json --csv --measure; do echo "$o: $(option "$command" $o)"; done
  > done | sort | uniq -c
        5 --csv: no: use allotrace export --to csv
        5 --filter: no: use allotrace hotspots --filter FILTER
        5 --json: no: use allotrace dump --format json
        5 --measure: no: use allotrace hotspots --measure MEASURE
        5 --top: no: use allotrace hotspots --top N
  $ measures() {
  >   for command in "$@"; do
  >     for m in allocated blocks live peak promoted survived temporary byteseconds; do
  >       echo "$command $m: $(option $command --measure $m)"
  >     done
  >   done
  > }
  $ measures hotspots types tree 'tree --inverted' callers callees diff check export peak | grep -v ': yes$'
  [1]
  $ measures timeline leaks lifetimes stats advise | grep -v ': yes$'
  [1]
  $ for command in info dump doctor; do echo "$command: $(option $command --measure blocks)"; done
  info: no: use allotrace hotspots --measure MEASURE
  dump: no: use allotrace hotspots --measure MEASURE
  doctor: no: use allotrace hotspots --measure MEASURE

Short forms get the same answer, and an option that nothing has does not:

  $ allotrace stats -n 3 a.ctf
  allotrace: stats has no option -n; use allotrace hotspots --measure blocks --top N
  Try `allotrace stats --help`.
  [2]
  $ allotrace stats --frob a.ctf
  allotrace: stats has no option --frob
  Try `allotrace stats --help`.
  [2]

What of a measure is shown is the same everywhere:

  $ for m in allocated blocks live peak promoted survived temporary byteseconds; do
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
