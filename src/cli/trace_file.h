/* trace_file.h: a trace that a command reads: opens it, shows progress, and reports problems. */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "allotrace/memtrace.h"
#include "cli/command.h"

typedef struct trace_file {
    const char *path; /* as given; `-` is standard input */
    const char *name; /* in messages */
    memtrace_reader *reader;
    bool growing; /* its program is still running, so a missing end is not worth a warning */
    bool is_part; /* the last part of a joined trace, whose end is reported for the whole */
    bool strict;  /* the first defect is an error, so it is not also a warning */
    bool told;    /* the result states what the trace lacks, so no warning does */
    bool printed; /* the result appears on the terminal while reading, so no progress is shown */

    /* Warnings for a trace that need not be read; `reader` is NULL then. */
    memtrace_warning known[MEMTRACE_N_DEFECTS];
    size_t n_known;
} trace_file;

/* Opens a trace. Returns STATUS_OK, or STATUS_FAILED after reporting why it failed. While the trace
 * is read, progress is shown if standard error is a terminal. `in` must not be moved. */
int trace_file_open(trace_file *in, const char *path, const memtrace_reader_options *options);

/* Prepares `in` for a trace that is not read, since its content and its warnings are known. */
void trace_file_know(trace_file *in, const char *path, bool strict,
                     const memtrace_warning *warnings, size_t n);

/* Returns the warnings, `*n` entries, about what the reader skipped. */
const memtrace_warning *trace_file_warnings(const trace_file *in, size_t *n);

/* Tells that the result is printed while reading. Shows no progress if it goes to a terminal. */
void trace_file_printed(trace_file *in);

/* Shows how much was read. To be called at each packet by a command that has installed its own
 * packet callback. `context` is the trace_file. */
void trace_file_tick(void *context, const memtrace_reader *reader);

/* Shows that everything was read and the rest of the work begins. `context` is the trace_file. */
void trace_file_all_read(void *context);

/* Shows what is being done with the trace. */
void trace_file_doing(const trace_file *in, const char *what);

/* To be called when reading has ended with `status`: removes the progress line, reports problems
 * (an error, or one line for each kind of defect), and returns the exit status. The reader stays
 * open. */
int trace_file_report(trace_file *in, memtrace_status status);

void trace_file_close(trace_file *in);

#endif
