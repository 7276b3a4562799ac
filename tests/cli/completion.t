The script for bash, as the shell uses it:

  $ source <(allotrace completion bash)
  $ try() {
  >   COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  >   _allotrace
  >   echo $(printf '%s\n' "${COMPREPLY[@]}" | sort)
  > }
  $ try allotrace hot
  hotspots
  $ try allotrace hotspots --
  --at --by --callers --color --csv --filter --full-names --help --index --json --measure --min-share --strict --top --wrappers
  $ try allotrace hotspots --by ''
  function line type
  $ try allotrace dump -f j
  json
  $ try memtrace-hotspot --by t
  type
  $ touch one.ctf two.ctf
  $ try allotrace info ''
  one.ctf two.ctf
  $ try allotrace doctor -o t
  two.ctf
  $ try allotrace top one
  one.ctf
  $ try allotrace top $$ | grep -cx $$
  1
  $ try allotrace top --sort g
  growth
  $ try allotrace help d
  detach diff doctor dump
  $ try allotrace completion z
  zsh

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

The table behind it:

  $ allotrace completion plain | grep ^doctor
  doctor	--all		list every defect, instead of the first five of each kind	
  doctor	--output	REPAIRED	write what can be used as a clean trace	o
  doctor	--help		show how to use the command	h
  $ allotrace completion plain | awk -F'\t' '$2 == "--measure" { print $3, $5 }' | sort -u
  allocated|blocks|live|peak|promoted|survived|byteseconds m
  allocated|blocks|live|peak|promoted|survived|byteseconds|requested m
  $ allotrace completion tcsh
  allotrace: completion: `tcsh` is not one of bash, zsh, fish, plain
  Try `allotrace completion --help`.
  [2]

Each shell's own check of its script, where the shell is installed:

  $ bash -n <(allotrace completion bash)
  $ ! command -v zsh >/dev/null || zsh -n <(allotrace completion zsh)
  $ ! command -v fish >/dev/null || fish -n <(allotrace completion fish)

And fish, where it is installed, completes options, values and files:

  $ if command -v fish >/dev/null; then
  >   fish -c 'allotrace completion fish | source
  >            complete -C "allotrace top --sort gr" | cut -f1; complete -C "allotrace top tw"
  >            complete -C "allotrace run --liv" | cut -f1'
  > else printf '%s\n' growth two.ctf --live; fi
  growth
  two.ctf
  --live
