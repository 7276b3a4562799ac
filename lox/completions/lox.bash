# Completion of `lox` for bash. Options are those that its help lists.
_lox() {
    local lox=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option='' values=''
    # bash makes three words of --OPTION=VALUE, and of --help:memtracer.
    if [[ $word == = || $word == : ]]; then
        option=$before$word word=''
    elif [[ $before == = || $before == : ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}$before
    fi
    COMPREPLY=()
    if [[ $option == --help: ]]; then
        values=memtracer
    elif [[ $option == --* ]]; then
        values=$("$lox" --help:memtracer 2>/dev/null | sed -n "s/^  $option\(.*|.*\)/\1/p")
        values=${values//|/ }
    elif [[ $word == -* ]]; then
        values=$({ "$lox" --help; "$lox" --help:memtracer; } 2>/dev/null | sed -En 's/^  (-[^ =]*=?).*/\1/p' | sort -u)
    fi
    if [[ $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    elif [[ $option == '' || $option == *OutputFile= ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    return 0
}
complete -F _lox lox
