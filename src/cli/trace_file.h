/* trace_file.h: a trace that a command reads: opens it, shows progress, and says what is wrong. */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "allotrace/memtrace.h"
#include "cli/command.h"

typedef struct trace_file {
    const char *path; /* as given; `-` is standard input */
    const char *name; /* as shown */
    memtrace_reader *reader;
    bool growing; /* its program still runs: that its end is missing is nothing to warn of */
    bool is_part; /* the last of what is joined: what its end says is said of the whole */
    bool strict;  /* the first defect is the error: it is not also a warning */
    bool told;    /* the result says what the trace lacks: no warning does */
    bool printed; /* on the terminal, at once, where a line about progress would be in between */

    /* What is wrong with a trace that need not be read; `reader` is NULL then. */
    memtrace_warning known[MEMTRACE_N_DEFECTS];
    size_t n_known;
} trace_file;

/* Returns STATUS_OK, or STATUS_FAILED after having said why. While it is read, standard error shows
 * progress if it is a terminal; `in` must stay where it is. */
int trace_file_open(trace_file *in, const char *path, const memtrace_reader_options *options);

/* The same of a trace of which is known what it holds and what is wrong with it: it is not read. */
void trace_file_know(trace_file *in, const char *path, bool strict,
                     const memtrace_warning *warnings, size_t n);

/* What was met in the trace and stepped over; `*n` entries. */
const memtrace_warning *trace_file_warnings(const trace_file *in, size_t *n);

/* What is read is printed at once: on a terminal that shows that, no progress is shown among it. */
void trace_file_printed(trace_file *in);

/* Shows how much was read, at each packet: for who has the reader call something else there, which
 * then calls this. `context` is the trace_file. */
void trace_file_tick(void *context, const memtrace_reader *reader);

/* The same when all was read: what follows takes a while. */
void trace_file_all_read(void *context);

/* What is done with the trace from now on, for who watches the progress. */
void trace_file_doing(const trace_file *in, const char *what);

/* After reading ended with `status`: removes the progress line, says what was wrong (an error, or
 * one line for each kind of defect), and returns the exit status. The reader stays open. */
int trace_file_report(trace_file *in, memtrace_status status);

void trace_file_close(trace_file *in);

#endif
