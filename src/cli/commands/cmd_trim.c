/* cmd_trim.c: `allotrace trim FILE`: cuts a trace to a time range. */
#include "cli/excerpt_file.h"

static const excerpt_file_options defaults = {.part.to = EXCERPT_END};

static const option options[] = {OPTIONS_EXCERPT(excerpt_file_options)};

static int run(const void *opts, char **operands) {
    return excerpt_file(&command_trim, operands[0], 1, opts);
}

const command command_trim = {
    .name = "trim",
    .group = GROUP_CHANGE,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "cut a trace to a time range",
    .description =
        "Writes a trace of what happened between two moments. The new trace starts at the first: "
        "its times count from there, and its wall-clock start is adjusted.\n"
        "\n"
        "Blocks allocated before --from are omitted, with all their events, unless --live keeps "
        "those live at that moment. Blocks freed at or after --to count as live at the end.",
    .example = "allotrace trim --from 10s --to 20s -o part.ctf out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
