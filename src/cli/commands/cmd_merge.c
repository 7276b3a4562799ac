/* cmd_merge.c: `allotrace merge FILE…`: one trace from several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/result_file.h"
#include "cli/trace_file.h"
#include "cli/traces.h"
#include "render/figures.h"
#include "trace/merge.h"

typedef struct merge_options {
    const char *output;
    uint64_t seed;
    bool strict;
} merge_options;

static const merge_options defaults = {0};

static const option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .at = offsetof(merge_options, output),
     .argument = "OUT",
     .help = "write to OUT, replacing it, instead of standard output"},
    {.name = "seed",
     .kind = OPTION_COUNT,
     .at = offsetof(merge_options, seed),
     .argument = "N",
     .help = "seed for thinning traces to a common rate (default 0)"},
    OPTION_STRICT(merge_options, strict),
};

/* All traces at once: those of the first reading, then those of the second. */
typedef struct inputs {
    trace_file *files;
    memtrace_reader **readers;
    char **names; /* as shown; NULL: as the paths say */
    size_t n;     /* open ones */
} inputs;

static void inputs_close(inputs *in) {
    for (size_t i = 0; i < in->n; i++)
        trace_file_close(&in->files[i]);
    in->n = 0;
}

static int inputs_open(inputs *in, char **paths, size_t n, const memtrace_reader_options *how) {
    for (size_t i = 0; i < n; i++) {
        const int status = trace_file_open(&in->files[i], paths[i], how);
        if (status != STATUS_OK)
            return status;
        if (in->names)
            in->files[i].name = in->names[i];
        in->readers[in->n++] = in->files[i].reader;
    }
    return STATUS_OK;
}

static int refuse(const merge *m, memtrace_status status) {
    if (status == MEMTRACE_USAGE)
        message_error("these traces cannot be merged: %s", m->hindrance);
    else
        message_error("not enough memory");
    return STATUS_FAILED;
}

/* One line each for a few, and one for all of a folder. */
static void say_rates(const merge *m, const inputs *in) {
    enum { EACH = 2 };
    const figure_text lowest = figure_rate(m->info.sample_rate);
    const char *model = NULL;
    size_t thinned = 0;
    for (size_t i = 0; i < in->n; i++) {
        if (m->parts[i].rate > m->info.sample_rate)
            thinned++;
        else if (!model)
            model = in->files[i].name;
    }
    for (size_t i = 0; thinned <= EACH && i < in->n; i++)
        if (m->parts[i].rate > m->info.sample_rate)
            message_warning("%s: thinned from rate %s to %s, the lowest of these traces",
                            in->files[i].name, figure_rate(m->parts[i].rate).text, lowest.text);
    if (thinned > EACH)
        message_warning("%zu of %zu traces: thinned to rate %s, the lowest (of %s)", thinned, in->n,
                        lowest.text, model);
}

/* The first reading. */
static int plan(merge *m, inputs *in, uint64_t seed) {
    memtrace_status status = merge_start(m, in->readers, in->n, seed);
    if (status != MEMTRACE_OK)
        return refuse(m, status);
    say_rates(m, in);
    for (size_t i = 0; i < in->n; i++) {
        status = merge_plan(m, i, in->readers[i]);
        if (status == MEMTRACE_NOMEM || status == MEMTRACE_USAGE)
            return refuse(m, status);
        if (status != MEMTRACE_OK)
            return trace_file_report(&in->files[i], status);
    }
    return STATUS_OK;
}

/* The second reading. `*written` says whether the result could be written, unless the reading is to
 * blame, which is said here. */
static int write_merged(merge *m, inputs *in, int fd, compression how, memtrace_status *written,
                        memtrace_error *error) {
    int status = STATUS_OK;
    *written = merge_write(m, in->readers, fd, how, error);
    bool read = true;
    for (size_t i = 0; i < in->n; i++) {
        const memtrace_status reading = memtrace_reader_error(in->readers[i])->status;
        read = read && reading == MEMTRACE_OK;
        if (trace_file_report(&in->files[i], reading) != STATUS_OK)
            status = STATUS_FAILED;
    }
    if (!read)
        *written = MEMTRACE_OK;
    return status;
}

static int write_result(merge *m, inputs *in, const char *path) {
    result_file out;
    memtrace_error error;
    memtrace_status written;
    int status = result_file_begin(&out, &command_merge, path, true);
    if (status != STATUS_OK)
        return status;
    status = write_merged(m, in, out.fd, compression_of(out.path), &written, &error);
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

/* Reads them a first time, and opens them for the second. */
static int prepare(merge *m, inputs *in, char **paths, size_t n, const merge_options *opts) {
    const memtrace_reader_options how = {.strict = opts->strict};
    int status = inputs_open(in, paths, n, &how);
    if (status == STATUS_OK)
        status = plan(m, in, opts->seed);
    inputs_close(in);
    return status == STATUS_OK ? inputs_open(in, paths, n, &how) : status;
}

static int merge_files(inputs *in, char **paths, size_t n, const merge_options *opts) {
    merge m = {0};
    int status = prepare(&m, in, paths, n, opts);
    if (status == STATUS_OK)
        status = write_result(&m, in, opts->output);
    inputs_close(in);
    if (status == STATUS_OK && opts->output && strcmp(opts->output, "-") != 0)
        report(&m, opts->output);
    merge_free(&m);
    return status;
}

static int merge_into(inputs *in, char **paths, size_t n, bool strict, int fd) {
    merge m = {0};
    memtrace_error error;
    memtrace_status written = MEMTRACE_OK;
    int status = prepare(&m, in, paths, n, &(merge_options){.strict = strict});
    if (status == STATUS_OK)
        status = write_merged(&m, in, fd, COMPRESSION_NONE, &written, &error);
    if (written != MEMTRACE_OK) {
        message_error("the traces together: %s", error.reason);
        status = STATUS_FAILED;
    }
    inputs_close(in);
    merge_free(&m);
    return status;
}

int traces_merge(char **paths, char **names, size_t n, bool strict, int fd) {
    inputs in = {.files = calloc(n, sizeof *in.files),
                 .readers = calloc(n, sizeof *in.readers),
                 .names = names};
    int status = STATUS_FAILED;
    if (in.files && in.readers)
        status = merge_into(&in, paths, n, strict, fd);
    else
        message_error("not enough memory");
    free(in.files);
    free(in.readers);
    return status;
}

static int run(const void *opts, char **operands, size_t n_operands) {
    inputs in = {.files = calloc(n_operands, sizeof *in.files),
                 .readers = calloc(n_operands, sizeof *in.readers)};
    int status = STATUS_FAILED;
    for (size_t i = 0; i < n_operands; i++)
        if (strcmp(operands[i], "-") == 0) {
            status = message_usage(
                &command_merge, "merge reads its traces twice, so standard input cannot be used");
            n_operands = 0;
        }
    if (!in.files || !in.readers)
        message_error("not enough memory");
    else if (n_operands)
        status = merge_files(&in, operands, n_operands, opts);
    free(in.files);
    free(in.readers);
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
