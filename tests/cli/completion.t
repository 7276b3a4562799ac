The script for bash, as the shell uses it:

  $ source <(allotrace completion bash)
  /tmp/tmpsz4n9jol.sh: line 1: allotrace: command not found
  $ try() {
  >   COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  >   _allotrace
  >   echo $(printf '%s\n' "${COMPREPLY[@]}" | sort)
  > }
  $ try allotrace hot
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace hotspots --
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace hotspots --by ''
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace dump -f j
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try memtrace-hotspot --by t
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ touch one.ctf two.ctf
  $ try allotrace info ''
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace doctor -o t
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace help d
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  
  $ try allotrace completion z
  /tmp/tmpsz4n9jol.sh: line 5: _allotrace: command not found
  

The table behind it:

  $ allotrace completion plain | grep ^doctor
  /tmp/tmpsz4n9jol.sh: line 29: allotrace: command not found
  [1]
  $ allotrace completion tcsh
  /tmp/tmpsz4n9jol.sh: line 31: allotrace: command not found
  [127]

Each shell's own check of its script, where the shell is installed:

  $ bash -n <(allotrace completion bash)
  /tmp/tmpsz4n9jol.sh: line 33: allotrace: command not found
  $ ! command -v zsh >/dev/null || zsh -n <(allotrace completion zsh)
  $ ! command -v fish >/dev/null || fish -n <(allotrace completion fish)
