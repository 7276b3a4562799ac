/* merge.h: one trace from several: of the processes of one run, or of several runs.
 *
 * Times are aligned by the wall clock of the recordings; domains and ids are numbered anew; equal
 * codes that mean different places, as addresses of different processes do, get new ones. A trace
 * has one rate, so those with a higher rate than the lowest are thinned to it, which leaves every
 * estimate unbiased. Traces of different word sizes do not merge. A process that ends before the
 * result does frees what it has; gauges are summed up over processes.
 *
 *     merge_start(&m, heads, n, seed)      looks at the heads
 *     merge_plan(&m, i, reader)            for each: reads it a first time
 *     merge_write(&m, readers, fd, …)      reads all a second time
 */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include "trace/compressor.h"
#include "trace/excerpt.h"
#include "trace/merge_gauges.h"

struct merge;

/* One of the traces. */
typedef struct merge_part {
    struct merge *whole;
    excerpt blocks;
    double rate;              /* its own */
    uint64_t start;           /* microseconds since the epoch */
    uint64_t process_hash;    /* the same for parts of one process */
    size_t process;           /* the index of the first of these */
    uint64_t end;             /* of that process, microseconds from the start of the result */
    bool frees;               /* what it has then, since the result lasts longer */
    size_t n_freed;           /* how many of the blocks were looked at for that */
    uint64_t executable_hash; /* tells its unnamed addresses from those of other programs */
    uint16_t first_domain;
} merge_part;

/* Legal when zeroed. */
typedef struct merge {
    memtrace_info info; /* of the result; with strings from `executable` and on */
    char executable[256], host[128], parameters[256], context[128];
    merge_part *parts;
    size_t n_parts;
    const bool *go_on; /* which of them are still recorded, so that their processes have not ended,
                          whatever the parts' ends; may be set after merge_start. NULL: none */
    uint64_t seed;
    uint64_t next_id;
    uint32_t next_domain;
    merge_gauges gauges;
    map64 codes;           /* that were given, to their index in `places` */
    VEC(uint64_t) places;  /* the hash of what the code means */
    const char *hindrance; /* why they do not merge; static */
} merge;

/* From the heads of `n` > 0 traces. MEMTRACE_USAGE: `hindrance` says why they do not merge. */
MEMTRACE_NODISCARD memtrace_status merge_start(merge *m, memtrace_reader *const *readers, size_t n,
                                               uint64_t seed);

/* Reads trace `i` to its end; in the order of the traces. */
MEMTRACE_NODISCARD memtrace_status merge_plan(merge *m, size_t i, memtrace_reader *reader);

/* Reads all traces, opened anew, and writes the result. */
MEMTRACE_NODISCARD memtrace_status merge_write(merge *m, memtrace_reader *const *readers, int fd,
                                               compression how, memtrace_error *error);

void merge_free(merge *m);

#endif
