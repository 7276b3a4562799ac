/* run_traces.h: checks where a run is to write its traces, finds those that it has left, and
 * completes them. */
#ifndef CLI_RUN_RUN_TRACES_H
#define CLI_RUN_RUN_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "symbolize/debug_file.h"

/* Checks whether the trace of a process can be written, as far as that is possible without touching
 * the file. Returns 0 or an errno. */
int run_traces_check_output(const char *pattern, pid_t pid);

/* Returns when the file that the trace will replace was written, in microseconds since the epoch;
 * 0: there is no such file. */
uint64_t run_traces_replaces(const char *pattern);

/* A trace that a run has left. */
typedef struct run_trace {
    char *path;
    uint64_t n_allocations; /* if it is a large exact trace, which is too large to be read for a
                               summary; 0: it is not */
    bool counts_remarks;    /* n_allocations includes a few gauges and marks, whose number is
                               unknown */
    memtrace_end end;       /* valid if n_allocations is not 0 */
    bool earlier;           /* its process then exec'ed another program, which has a trace of its
                               own */
} run_trace;

typedef struct run_traces {
    VEC(run_trace) all; /* sorted by path */
    size_t n_locked;    /* further traces that a process is still recording to */
    unsigned *patience; /* budget of run_rescue_is_recording */
    char *locked;       /* the path of one of these; NULL: none */
    char *glob;         /* a shell pattern that matches the traces, if there are several; may be
                           NULL */
    uint64_t replaced;  /* when the file that the trace replaced was written, in microseconds since
                           the epoch; 0: there was none */
} run_traces;

/* When a run began: by the clock of file times, CLOCK_REALTIME_COARSE, and exactly, in microseconds
 * since the epoch. */
typedef struct run_began {
    struct timespec tick;
    uint64_t us;
} run_began;

/* Finds the traces written since the run began. `pattern` is the value of $MEMTRACE: %p stands for
 * a process id, %% for a percent sign. `rescue` is the run's shared memory, see run_rescue.h. */
void run_traces_find(run_traces *t, const char *pattern, const run_began *began, int rescue,
                     unsigned *patience);

/* Adds one trace. Returns false if there is no memory. */
bool run_traces_add(run_traces *t, const char *path, int rescue);

void run_traces_free(run_traces *t);

/* Symbolizes all traces, and compresses those whose names ask for it. Stops early if `interrupted`,
 * which may be NULL, returns true. If `debug_files` is NULL, addresses are kept. */
void run_traces_complete(const run_traces *t, const debug_file_options *debug_files,
                         bool (*interrupted)(void *context), void *context);

/* Says what to do about processes that are still recording. There may be more of them than
 * traces. */
void run_traces_warn_unfinished(const run_traces *t, const char *pattern);

/* Warns that `n` processes were not allowed to write traces with these names. An example is workers
 * of a server that have changed user, whose standard error nobody may read. */
void run_traces_warn_refused(uint64_t n, const char *pattern);

#endif
