/* merge_gauges.h: the gauges of several processes, such as how much memory each has, as those of
 * all of them together: their sums. Single-threaded. */
#ifndef TRACE_MERGE_GAUGES_H
#define TRACE_MERGE_GAUGES_H

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/vec.h"

/* What a process has from a moment on. */
typedef struct gauge_step {
    uint64_t time; /* microseconds from the start of the result */
    size_t name;   /* its index */
    size_t process;
    uint64_t value;
    bool end;       /* of the process; 0 is no reading of it */
    uint64_t order; /* of those of one time, the later one counts */
} gauge_step;

/* Legal when zeroed. */
typedef struct merge_gauges {
    VEC(gauge_step) steps;
    VEC(const char *) names;
    intern_table strings;
    VEC(uint8_t) bytes; /* the trace, once it is made */
    bool failed;        /* there was no memory for a reading */
} merge_gauges;

/* Adds a reading of the gauge of this name. */
void merge_gauges_read(merge_gauges *g, size_t process, uint64_t time, const char *name,
                       uint64_t value);

/* From this time on, the process has nothing any more. */
void merge_gauges_end(merge_gauges *g, size_t process, uint64_t time);

/* Makes a trace with the head `info` of the sums over all processes, which are numbered below
 * `n_processes`, and opens it. `*reader` is NULL where there are no gauges; it reads from `g`. */
MEMTRACE_NODISCARD memtrace_status merge_gauges_sum(merge_gauges *g, const memtrace_info *info,
                                                    size_t n_processes, memtrace_reader **reader);

void merge_gauges_free(merge_gauges *g);

#endif
