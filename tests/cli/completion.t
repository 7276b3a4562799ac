The script for bash, as the shell uses it:

  $ source <(allotrace completion bash)
  $ try() {
  >   COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=() COMP_LINE=$* COMP_POINT=${#COMP_LINE}
  >   _allotrace
  >   echo $(printf '%s\n' "${COMPREPLY[@]}" | sort -u)
  > }
  $ try allotrace hot
  hotspots
  $ try allotrace hotspots --
  --at --by --callers --color --csv --fields --filter --full-names --help --index --json --last --measure --min-share --strict --top --wrappers
  $ try allotrace hotspots --by ''
  function line scope span thread trace type
  $ try allotrace dump -f j
  json
  $ try memtrace-hotspot --by t
  thread trace type
  $ touch one.ctf two.ctf
  $ try allotrace info ''
  one.ctf two.ctf
  $ try allotrace doctor -o t
  two.ctf
  $ try allotrace top one
  one.ctf
  $ try allotrace top $$ | grep -cw $$
  1
  $ try allotrace top --sort g
  growth
  $ try allotrace help d
  detach diff doctor dump
  $ try allotrace completion z
  zsh
  $ try allotrace run --outp
  --output
  $ try allotrace run -- allotr
  allotrace
  $ try allotrace run --rate = 1 -o x.ctf allotrace --outp
  

What follows a program is the program's own, which bash-completion knows:

  $ source /usr/share/bash-completion/bash_completion
  $ try allotrace run --rate = 1 -o x.ctf allotrace hotspots --meas 2>/dev/null
  --measure
  $ try allotrace run -- allotrace help doc 2>/dev/null
  doctor

The script for zsh, as the shell uses it, after `run` also for what programs have:

  $ "$TESTDIR/complete-zsh" 'allotrace hots' 'allotrace hotspots --meas' 'allotrace help doc' \
  >     'allotrace run -- allotr' 'allotrace run -o x.ctf -- allotrace hotspots --meas' \
  >     'allotrace top tw' 'allotrace top --sort gr'
  allotrace hotspots
  allotrace hotspots --measure
  allotrace help doctor
  allotrace run -- allotrace
  allotrace run -o x.ctf -- allotrace hotspots --measure
  allotrace top two.ctf
  allotrace top --sort growth

The script for fish, as the shell uses it:

  $ allotrace completion fish >complete.fish
  $ try() {
  >   fish --no-config -c 'source complete.fish; complete -C $argv[1]' "$1" | cut -f1
  > }
  $ try 'allotrace hots'
  hotspots
  $ try 'allotrace hotspots --meas'
  --measure
  $ try 'allotrace hotspots --by '
  function
  line
  scope
  span
  thread
  trace
  type
  $ try 'memtrace-hotspot --by t'
  thread
  trace
  type
  $ try 'allotrace help doc'
  doctor
  $ try 'allotrace info on'
  one.ctf
  $ try 'allotrace run --outp'
  --output
  $ try 'allotrace run --rate 1 allotr'
  allotrace
  $ try 'allotrace run -- allotr'
  allotrace
  $ try 'allotrace run -o x.ctf -- allotrace hotspots --meas'
  --measure
  $ try 'allotrace run allotrace --outp'

The table behind it:

  $ allotrace completion plain | grep ^doctor
  doctor	--all		list every defect, instead of the first five of each kind	
  doctor	--output	OUT	write everything usable to OUT as a clean trace	o
  doctor	--help		show this help	h
  $ allotrace completion plain | awk -F'\t' '$2 == "--measure" { print $3, $5 }' | sort -u
  allocated|blocks|live|peak|promoted|survived|temporary|byteseconds m
  allocated|blocks|live|peak|promoted|survived|temporary|byteseconds|requested m
  $ allotrace completion tcsh
  allotrace: completion: `tcsh` is not one of bash, zsh, fish, plain
  Try `allotrace completion --help`.
  [2]

Each shell's own check of its script:

  $ bash -n <(allotrace completion bash)
  $ zsh -n <(allotrace completion zsh)
  $ fish -n <(allotrace completion fish)
