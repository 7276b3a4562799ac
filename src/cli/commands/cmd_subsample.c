/* cmd_subsample.c: `allotrace subsample FACTOR FILE`: a trace as a lower rate would have made it.
 */
#include "base/number.h"
#include "cli/excerpt_file.h"
#include "cli/message.h"

static const excerpt_file_options defaults = {.to = EXCERPT_END};

static const option options[] = {
    {.name = "seed",
     .kind = OPTION_COUNT,
     .at = offsetof(excerpt_file_options, seed),
     .argument = "N",
     .help = "choose other samples (default 0); the same seed chooses the same ones again"},
    OPTIONS_EXCERPT(excerpt_file_options)};

static int run(const void *opts, char **operands, size_t n_operands) {
    (void)n_operands;
    double factor;
    if (!number_parse(operands[0], &factor) || factor < 1)
        return message_usage(&command_subsample, "subsample: `%s` is not a factor of 1 or more",
                             operands[0]);
    return excerpt_file(&command_subsample, operands[1], 1 / factor, opts);
}

const command command_subsample = {
    .name = "subsample",
    .group = GROUP_MAKE,
    .operand = OPERAND_FACTOR,
    .usage = "FACTOR FILE",
    .summary = "thin a trace to a lower rate",
    .description =
        "Writes a trace with the rate divided by FACTOR, as if it had been recorded so: each "
        "sample goes on with probability 1/FACTOR, independently of all others. A block none of "
        "whose samples goes on is left out with all that happens to it. Estimates stay unbiased; "
        "their errors grow by the square root of FACTOR.",
    .example = "allotrace subsample 10 -o small.ctf out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
