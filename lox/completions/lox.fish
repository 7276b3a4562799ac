# Completion of `lox` for fish. Options are those that its help lists.
function __lox_options
    begin
        lox --help
        lox --help:memtracer
    end 2>/dev/null | awk '
        /^  -/ {
            n = split($1, part, "=")
            m = split(part[2], value, "|")
            if (m < 2) print part[1] (n > 1 ? "=" : "")
            for (i = 1; m > 1 && i <= m; i++) print part[1] "=" value[i]
        }' | sort -u
end
complete -c lox -f -a '(__lox_options)' \
    -n 'string match -q -- "-*" (commandline -ct); and not string match -q -- "*OutputFile=*" (commandline -ct)'
