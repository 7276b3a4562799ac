/* run_traces.h: the traces that a run has left behind: finds them, and completes them. */
#ifndef CLI_RUN_RUN_TRACES_H
#define CLI_RUN_RUN_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "symbolize/debug_file.h"

/* What a run has left behind in one file. */
typedef struct run_trace {
    char *path;
    uint64_t n_allocations; /* in a large trace of everything, which is not read for a summary; 0:
                               it is no such */
    bool counts_remarks;    /* among these are its few gauges and marks: nobody knows how many */
    memtrace_end end;       /* of it, if it is such */
    bool earlier;           /* its process became another program, which has a trace of its own */
} run_trace;

typedef struct run_traces {
    VEC(run_trace) all; /* ascending by path */
    size_t n_locked;    /* more of them, which some process is still recording */
    unsigned *patience; /* of run_rescue_is_recording */
    char *locked;       /* the path of one of these; NULL: there is none */
    char *glob;         /* what a shell would find them by, if they are several; may be NULL */
    uint64_t replaced;  /* when the file was written whose place the trace took, in microseconds
                           since the epoch; 0: there was none */
} run_traces;

/* The traces that were written since `started` (of CLOCK_REALTIME_COARSE, as file times are).
 * `pattern` is what $MEMTRACE was set to: %p is any process id, %% a percent sign. `rescue` is the
 * run's, see run_rescue.h. */
void run_traces_find(run_traces *t, const char *pattern, struct timespec started, int rescue,
                     unsigned *patience);

/* Adds one more; false if there is no memory. */
bool run_traces_add(run_traces *t, const char *path, int rescue);

void run_traces_free(run_traces *t);

/* Gives all their names, and compresses those that are called so. Stops early if `interrupted`,
 * which may be NULL, says so. Without `debug_files` they keep their addresses. */
void run_traces_complete(const run_traces *t, const debug_file_options *debug_files,
                         bool (*interrupted)(void *context), void *context);

/* Says what to do about processes that go on recording, of which there may be more than have begun
 * a trace. */
void run_traces_warn_unfinished(const run_traces *t, const char *pattern);

/* Says that so many processes were not allowed to write traces of these names: workers of a server
 * that have changed user, say, whose standard error nobody may hear. */
void run_traces_warn_refused(uint64_t n, const char *pattern);

#endif
