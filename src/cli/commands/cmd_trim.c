/* cmd_trim.c: `allotrace trim FILE`: a stretch of time of a trace, as a trace. */
#include "cli/excerpt_file.h"

static const excerpt_file_options defaults = {.to = EXCERPT_END};

static const option options[] = {OPTIONS_EXCERPT(excerpt_file_options)};

static int run(const void *opts, char **operands, size_t n_operands) {
    (void)n_operands;
    return excerpt_file(&command_trim, operands[0], 1, opts);
}

const command command_trim = {
    .name = "trim",
    .group = GROUP_MAKE,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "cut a trace to a span of time",
    .description =
        "Writes a trace of what happened from one moment on and until another one. The new trace "
        "starts at the first moment: its times count from there, and its start by the wall clock "
        "is that much later.\n\n"
        "Blocks that were allocated before --from are left out with all that happens to them "
        "later, unless --live keeps those that were alive then. What dies at --to or later counts "
        "as alive at the end.",
    .example = "allotrace trim --from 10s --to 20s -o part.ctf out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
