/* merge.h: makes one trace from several, which may be of the processes of one run, or of several
 * runs.
 *
 * Times are aligned by the wall clock of the recordings. Domains and ids are renumbered. Equal
 * codes that mean different places, such as addresses of different processes, are replaced. A trace
 * has a single rate, so traces with a higher rate are thinned to the lowest one, which leaves every
 * estimate unbiased. Traces of different word sizes cannot be merged. When a process ends before
 * the result does, its live blocks are freed. Gauges are summed over processes.
 *
 *     merge_start(&m, heads, n, seed)      reads the heads
 *     merge_plan(&m, i, reader)            reads each trace a first time
 *     merge_write(&m, readers, fd, …)      reads all traces a second time */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include "trace/compressor.h"
#include "trace/excerpt.h"
#include "trace/merge_gauges.h"

struct merge;

/* One of the traces to merge. */
typedef struct merge_part {
    struct merge *whole;
    excerpt blocks;
    double rate;           /* the trace's own rate */
    uint64_t start;        /* microseconds since the epoch */
    uint64_t process_hash; /* equal for parts of the same process */
    size_t process;        /* index of the first part of the same process */
    uint64_t end;          /* end of that process, microseconds from the start of the result */
    /* Its live blocks are freed at its end, since the result lasts longer. */
    bool frees;
    size_t n_freed;           /* number of blocks that were checked for that */
    uint64_t executable_hash; /* distinguishes its unnamed addresses from those of other programs */
    uint16_t first_domain;
} merge_part;

/* Valid when zeroed. */
typedef struct merge {
    memtrace_info info; /* head of the result; its strings are the arrays below */
    char executable[256], host[128], parameters[256], context[128];
    bool has_times; /* else a part was imported without: the context is its own */
    merge_part *parts;
    size_t n_parts;
    /* Parts that are still being recorded: their processes have not ended, whatever the parts say.
     * May be set after merge_start. NULL: none. */
    const bool *still_recorded;
    uint64_t seed;
    uint64_t next_id;
    uint32_t next_domain;
    merge_gauges gauges;
    map64 codes;           /* from a code in use to its index in `places` */
    VEC(uint64_t) places;  /* hash of the place that the code stands for */
    const char *hindrance; /* why the traces cannot be merged; a static string */
} merge;

/* Reads the heads of `n` > 0 traces. On MEMTRACE_USAGE, `hindrance` says why they cannot be
 * merged. */
MEMTRACE_NODISCARD memtrace_status merge_start(merge *m, memtrace_reader *const *readers, size_t n,
                                               uint64_t seed);

/* Reads trace `i` to its end. Must be called in the order of the traces. */
MEMTRACE_NODISCARD memtrace_status merge_plan(merge *m, size_t i, memtrace_reader *reader);

/* Reads all traces, opened anew, and writes the result. */
MEMTRACE_NODISCARD memtrace_status merge_write(merge *m, memtrace_reader *const *readers, int fd,
                                               compression how, memtrace_error *error);

void merge_free(merge *m);

#endif
