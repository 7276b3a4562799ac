/* cmd_merge.c: `allotrace merge FILE…`: combines several traces into one. */
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/result_file.h"
#include "cli/trace_merge.h"
#include "cli/traces.h"
#include "query/figure.h"

typedef struct merge_options {
    const char *output;
    uint64_t seed;
    bool strict;
} merge_options;

static const merge_options defaults = {0};

static const option options[] = {
    OPTION_RESULT(merge_options, output),
    {.name = "seed",
     OPTION_TAKES(COUNT, merge_options, seed, "N"),
     .help = "seed for thinning traces to a common rate (default 0)"},
    OPTION_STRICT(merge_options, strict),
};

static int write_result(trace_merge *m, const char *path) {
    result_file out;
    memtrace_error error;
    memtrace_status written;
    int status = result_file_begin(&out, &command_merge, path, true);
    if (status != STATUS_OK)
        return status;
    status = trace_merge_write(m, out.fd, compression_of(out.path), &written, &error);
    if (written != MEMTRACE_OK)
        status = result_file_say(&out, &error);
    return result_file_end(&out, status);
}

static void report(const merge *m, const char *path) {
    uint64_t n_blocks = 0, n_samples = 0;
    for (size_t i = 0; i < m->n_parts; i++) {
        n_blocks += m->parts[i].blocks.n_kept;
        n_samples += m->parts[i].blocks.n_taken;
    }
    printf("%s: %s samples in %s blocks of %zu traces, rate %s\n", path,
           figure_count(n_samples).text, figure_count(n_blocks).text, m->n_parts,
           figure_rate(m->info.sample_rate).text);
}

static int run(const void *opts_, char **operands) {
    const merge_options *opts = opts_;
    const size_t n = command_n_operands(operands);
    trace_merge m = {0};
    for (size_t i = 0; i < n; i++)
        if (strcmp(operands[i], "-") == 0)
            return message_usage(&command_merge,
                                 "merge reads its traces twice, so standard input cannot be used");
    int status = trace_merge_begin(&m, operands, NULL, n, opts->strict, opts->seed);
    if (status == STATUS_OK)
        status = write_result(&m, opts->output);
    if (status == STATUS_OK && opts->output && strcmp(opts->output, "-") != 0)
        report(&m.merge, opts->output);
    trace_merge_end(&m);
    return status;
}

const command command_merge = {
    .name = "merge",
    .group = GROUP_CHANGE,
    .operand = OPERAND_TRACES,
    .usage = "FILE…",
    .summary = "combine several traces into one",
    .description =
        "Combines the traces of several processes or runs into one. Events are aligned by wall "
        "clock, and domains (threads) are renumbered in the order of the traces. Symbolize traces "
        "of native programs first, because the result contains places from many programs.\n"
        "\n"
        "Memory that a process still holds when its trace ends counts as freed at that time, "
        "unless the combined trace ends there, too.\n"
        "\n"
        "If rates differ, traces are thinned to the lowest, as by subsample, with a warning. "
        "Estimates stay unbiased.",
    .example = "allotrace merge -o all.ctf make.*.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
