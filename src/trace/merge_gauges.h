/* merge_gauges.h: sums the gauges of several processes, such as the memory that each one uses.
 * Single-threaded. */
#ifndef TRACE_MERGE_GAUGES_H
#define TRACE_MERGE_GAUGES_H

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/vec.h"

/* The value of a gauge in one process from a time on. */
typedef struct gauge_step {
    uint64_t time; /* microseconds from the start of the result */
    size_t name;   /* index of its name */
    size_t process;
    uint64_t value;
    bool end;       /* the process ended; the value 0 is then no reading */
    uint64_t order; /* among steps of the same time, the last one counts */
} gauge_step;

/* Valid when zeroed. */
typedef struct merge_gauges {
    VEC(gauge_step) steps;
    VEC(const char *) names;
    intern_table strings;
    VEC(uint8_t) bytes; /* the finished trace */
    bool failed;        /* out of memory for a reading */
} merge_gauges;

/* Adds a reading of the gauge called `name`. */
void merge_gauges_read(merge_gauges *g, size_t process, uint64_t time, const char *name,
                       uint64_t value);

/* Sets all gauges of the process to 0 from `time` on. */
void merge_gauges_end(merge_gauges *g, size_t process, uint64_t time);

/* Writes the sums over all processes to a trace with the head `info`, and opens it. Processes are
 * numbered below `n_processes`. `*reader` is NULL if there are no gauges; it reads memory of
 * `g`. */
MEMTRACE_NODISCARD memtrace_status merge_gauges_sum(merge_gauges *g, const memtrace_info *info,
                                                    size_t n_processes, memtrace_reader **reader);

void merge_gauges_free(merge_gauges *g);

#endif
