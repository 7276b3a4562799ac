/* cmd_subsample.c: `allotrace subsample FACTOR FILE`: reduces the sampling rate of a trace. */
#include "base/number.h"
#include "cli/excerpt_file.h"
#include "cli/message.h"

static const excerpt_file_options defaults = {.part.to = EXCERPT_END};

static const option options[] = {
    {.name = "seed",
     OPTION_TAKES(COUNT, excerpt_file_options, part.seed, "N"),
     .help = "seed of the random choice (default 0); the same seed selects the same samples"},
    OPTIONS_EXCERPT(excerpt_file_options)};

static int run(const void *opts, char **operands) {
    double factor;
    if (!number_parse(operands[0], &factor) || factor < 1)
        return message_usage(&command_subsample, "subsample: `%s` is not a factor of 1 or more",
                             operands[0]);
    return excerpt_file(&command_subsample, operands[1], 1 / factor, opts);
}

const command command_subsample = {
    .name = "subsample",
    .group = GROUP_CHANGE,
    .minor = true,
    .operand = OPERAND_FACTOR,
    .usage = "FACTOR FILE",
    .summary = "reduce the sampling rate of a trace",
    .description = "Writes a trace with the rate divided by FACTOR, as if it had been recorded at "
                   "that rate: each sample is kept with probability 1/FACTOR, independently of the "
                   "others. A block without a kept sample is omitted, with all its events. "
                   "Estimates stay unbiased; their errors grow by the square root of FACTOR.",
    .example = "allotrace subsample 10 -o small.ctf out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
