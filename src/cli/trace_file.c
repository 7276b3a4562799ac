/* trace_file.c: warnings of the reader are collected and reported once, after the result. A missing
 * end is reported separately, as it is not damage. */
#include "cli/trace_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/file_kind.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/progress.h"
#include "query/figure.h"
#include "trace/end.h"

static void say_error(const trace_file *in, const memtrace_error *error) {
    switch (error->status) {
    case MEMTRACE_IO:
        message_error("%s: %s", in->name,
                      error->os_error ? strerror(error->os_error) : error->reason);
        return;
    case MEMTRACE_FORMAT:
        message_error("%s: byte %" PRIu64 ": %s", in->name, error->offset, error->reason);
        return;
    case MEMTRACE_NOMEM:
        message_error("%s: not enough memory", in->name);
        return;
    default:
        message_error("%s: %s", in->name, error->reason);
    }
}

static void start(trace_file *in, const char *path, bool strict) {
    *in = (trace_file){.path = path, .name = origin_name(path), .strict = strict};
}

void trace_file_know(trace_file *in, const char *path, bool strict,
                     const memtrace_warning *warnings, size_t n) {
    start(in, path, strict);
    memcpy(in->known, warnings, n * sizeof *warnings);
    in->n_known = n;
}

void trace_file_tick(void *context, const memtrace_reader *reader) {
    const trace_file *in = context;
    uint64_t done, total;
    if (in->printed)
        return;
    memtrace_reader_progress(reader, &done, &total);
    if (total)
        progress_say("%s: %.0f%%", in->name, 100.0 * (double)done / (double)total);
    else
        progress_say("%s: %" PRIu64 " MB", in->name, done >> 20);
}

int trace_file_open(trace_file *in, const char *path, const memtrace_reader_options *options) {
    memtrace_error error;
    start(in, path, options && options->strict);
    if (memtrace_reader_open(path, options, &in->reader, &error) != MEMTRACE_OK) {
        if (error.status != MEMTRACE_FORMAT || error.offset > 0 || !file_kind_say(path))
            say_error(in, &error);
        return STATUS_FAILED;
    }
    memtrace_reader_on_packet(in->reader, trace_file_tick, in);
    return STATUS_OK;
}

void trace_file_printed(trace_file *in) {
    in->printed = isatty(STDOUT_FILENO);
    if (in->printed)
        progress_end();
}

void trace_file_all_read(void *context) {
    trace_file_doing(context, "ordering its blocks");
}

void trace_file_doing(const trace_file *in, const char *what) {
    if (!in->printed)
        progress_say("%s: %s", in->name, what);
}

static bool is_of_end(const memtrace_warning *w) {
    return w->defect == MEMTRACE_DEFECT_ENDS_EARLY || w->defect == MEMTRACE_DEFECT_NO_END;
}

/* Removes a warning about a missing end, or also about an early one, which is always the last. */
static size_t without_end(const memtrace_warning *w, size_t n, bool also_early) {
    const bool ends_so =
        n > 0 && (also_early ? is_of_end(&w[n - 1]) : w[n - 1].defect == MEMTRACE_DEFECT_NO_END);
    return ends_so ? n - 1 : n;
}

const memtrace_warning *trace_file_warnings(const trace_file *in, size_t *n) {
    *n = in->n_known;
    if (!in->reader)
        return in->known;
    const memtrace_warning *warnings = memtrace_reader_warnings(in->reader, n);
    if (in->growing || in->is_part)
        *n = without_end(warnings, *n, in->is_part);
    return warnings;
}

/* Returns whether the warning is about events that the trace itself states to lack. The trace is
 * intact. */
static bool is_said(const memtrace_warning *w) {
    return is_of_end(w) || w->defect == MEMTRACE_DEFECT_GAP;
}

/* Reports the end of a trace. It has no byte offset, since it is not damage. */
static void say_end(const trace_file *in, const memtrace_warning *w) {
    char why[2 * MEMTRACE_MAX_REASON];
    if (!in->reader) {
        message_warning("%s: %s", in->name, w->text);
        return;
    }
    const memtrace_end end = memtrace_reader_end(in->reader);
    end_explain(&end, why, sizeof why);
    message_warning("%s: the trace ends early, at %s: %s", in->name, figure_duration(end.time).text,
                    why);
}

static void say_warnings(const trace_file *in) {
    size_t n;
    const memtrace_warning *w = trace_file_warnings(in, &n);
    for (size_t i = 0; i < n; i++)
        if (is_said(&w[i]) && in->told)
            continue;
        else if (is_of_end(&w[i]))
            say_end(in, &w[i]);
        else if (w[i].count > 1)
            message_warning("%s: byte %" PRIu64 ": %s (%" PRIu64 " times)", in->name,
                            w[i].first_offset, w[i].text, w[i].count);
        else
            message_warning("%s: byte %" PRIu64 ": %s", in->name, w[i].first_offset, w[i].text);
}

int trace_file_report(trace_file *in, memtrace_status status) {
    progress_end();
    if (status == MEMTRACE_NOMEM)
        return message_error("%s: not enough memory", in->name);
    if (!in->strict)
        say_warnings(in);
    if (status == MEMTRACE_OK)
        return STATUS_OK;
    say_error(in, memtrace_reader_error(in->reader));
    return STATUS_FAILED;
}

void trace_file_close(trace_file *in) {
    progress_end();
    memtrace_reader_close(in->reader);
    in->reader = NULL;
}
