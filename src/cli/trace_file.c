/* trace_file.c: see trace_file.h. */
#include "cli/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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
    *in = (trace_file){.path = path,
                       .name = strcmp(path, "-") == 0 ? "standard input" : path,
                       .strict = strict,
                       .started = now(),
                       .progress = isatty(STDERR_FILENO)};
}

void trace_file_know(trace_file *in, const char *path, bool strict,
                     const memtrace_warning *warnings, size_t n) {
    start(in, path, strict);
    memcpy(in->known, warnings, n * sizeof *warnings);
    in->n_known = n;
}

static void tick(void *context, const memtrace_reader *reader) {
    trace_file *in = context;
    if (!in->progress)
        return;
    double time = now();
    if (time - in->started < 1)
        return;
    in->started = time - 0.75; /* four times a second from now on */
    in->shown = true;
    uint64_t done, total;
    memtrace_reader_progress(reader, &done, &total);
    if (total)
        fprintf(stderr, "\r%s: %.0f%%", in->name, 100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r%s: %" PRIu64 " MB", in->name, done >> 20);
}

int trace_file_open(trace_file *in, const char *path, const memtrace_reader_options *options) {
    memtrace_error error;
    start(in, path, options && options->strict);
    if (memtrace_reader_open(path, options, &in->reader, &error) != MEMTRACE_OK) {
        say_error(in, &error);
        return STATUS_FAILED;
    }
    memtrace_reader_on_packet(in->reader, tick, in);
    return STATUS_OK;
}

void trace_file_printed(trace_file *in) {
    in->progress = in->progress && !isatty(STDOUT_FILENO);
}

const memtrace_warning *trace_file_warnings(const trace_file *in, size_t *n) {
    if (in->reader)
        return memtrace_reader_warnings(in->reader, n);
    *n = in->n_known;
    return in->known;
}

static void say_warnings(const trace_file *in) {
    size_t n;
    const memtrace_warning *w = trace_file_warnings(in, &n);
    for (size_t i = 0; i < n; i++)
        if (w[i].count > 1)
            message_warning("%s: byte %" PRIu64 ": %s (%" PRIu64 " times)", in->name,
                            w[i].first_offset, w[i].text, w[i].count);
        else
            message_warning("%s: byte %" PRIu64 ": %s", in->name, w[i].first_offset, w[i].text);
}

void trace_file_clear_progress(trace_file *in) {
    if (in->shown)
        fputs("\r\033[K", stderr);
    in->shown = false;
}

int trace_file_report(trace_file *in, memtrace_status status) {
    trace_file_clear_progress(in);
    if (status == MEMTRACE_NOMEM) {
        message_error("%s: not enough memory", in->name);
        return STATUS_FAILED;
    }
    if (!in->strict)
        say_warnings(in);
    if (status == MEMTRACE_OK)
        return STATUS_OK;
    say_error(in, memtrace_reader_error(in->reader));
    return STATUS_FAILED;
}

void trace_file_close(trace_file *in) {
    trace_file_clear_progress(in);
    memtrace_reader_close(in->reader);
    in->reader = NULL;
}

int report_output(int error) {
    if (error == 0 || error == EPIPE)
        return STATUS_OK;
    message_error("standard output: %s", strerror(error));
    return STATUS_FAILED;
}
