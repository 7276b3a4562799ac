/* trace_merge.c: both passes over all traces, and the messages about them. */
#include "cli/trace_merge.h"

#include <stdlib.h>

#include "base/file.h"
#include "cli/message.h"
#include "query/figure.h"

static void close_all(trace_merge *in) {
    for (size_t i = 0; i < in->n; i++)
        trace_file_close(&in->files[i]);
    in->n = 0;
}

static int open_all(trace_merge *in, char **paths, size_t n, bool strict) {
    const memtrace_reader_options how = {.strict = strict};
    enum { OTHERS = 64 };
    file_allow(n + OTHERS);
    for (size_t i = 0; i < n; i++) {
        const int status = trace_file_open(&in->files[i], paths[i], &how);
        if (status != STATUS_OK)
            return status;
        if (in->names)
            in->files[i].name = in->names[i];
        in->files[i].is_part = in->still_recorded && in->still_recorded[i];
        in->readers[in->n++] = in->files[i].reader;
    }
    return STATUS_OK;
}

static int refuse(const merge *m, memtrace_status status) {
    if (status == MEMTRACE_USAGE)
        message_error("these traces cannot be merged: %s", m->hindrance);
    else
        message_no_memory();
    return STATUS_FAILED;
}

/* Warns about thinned traces: in a line for each, or for many in a single one. */
static void say_rates(const trace_merge *in) {
    const merge *m = &in->merge;
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

/* The first pass. */
static int plan(trace_merge *in, uint64_t seed) {
    merge *m = &in->merge;
    memtrace_status status = merge_start(m, in->readers, in->n, seed);
    if (status != MEMTRACE_OK)
        return refuse(m, status);
    m->still_recorded = in->still_recorded;
    say_rates(in);
    for (size_t i = 0; i < in->n; i++) {
        status = merge_plan(m, i, in->readers[i]);
        if (status == MEMTRACE_NOMEM || status == MEMTRACE_USAGE)
            return refuse(m, status);
        if (status != MEMTRACE_OK)
            return trace_file_report(&in->files[i], status);
    }
    return STATUS_OK;
}

int trace_merge_begin(trace_merge *in, char **paths, char **names, size_t n, bool strict,
                      uint64_t seed) {
    *in = (trace_merge){.files = calloc(n, sizeof *in->files),
                        .readers = calloc(n, sizeof *in->readers),
                        .names = names,
                        .still_recorded = in->still_recorded};
    if (!in->files || !in->readers)
        return message_no_memory();
    int status = open_all(in, paths, n, strict);
    if (status == STATUS_OK)
        status = plan(in, seed);
    close_all(in);
    return status == STATUS_OK ? open_all(in, paths, n, strict) : status;
}

int trace_merge_write(trace_merge *in, int fd, compression how, memtrace_status *written,
                      memtrace_error *error) {
    int status = STATUS_OK;
    *written = merge_write(&in->merge, in->readers, fd, how, error);
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

void trace_merge_end(trace_merge *in) {
    close_all(in);
    free(in->files);
    free(in->readers);
    merge_free(&in->merge);
}

int trace_merge_into(char **paths, char **names, const bool *still_recorded, size_t n, bool strict,
                     int fd) {
    trace_merge m = {.still_recorded = still_recorded};
    memtrace_error error;
    memtrace_status written = MEMTRACE_OK;
    int status = trace_merge_begin(&m, paths, names, n, strict, 0);
    if (status == STATUS_OK)
        status = trace_merge_write(&m, fd, COMPRESSION_NONE, &written, &error);
    if (written != MEMTRACE_OK)
        status = message_error("the traces together: %s", error.reason);
    trace_merge_end(&m);
    return status;
}
