/* import_go_trace.h: makes a trace of a running Go program from successive readings of its profile.
 *
 * Problem. Programs that follow a recording (receivers of profiles, the viewer, a ring of segments)
 * follow a trace while it is written, event by event. Go's profile has no events. For each stack
 * and size, it has the number of sampled blocks and how many of them were freed.
 *
 * Approach. What a reading has more than the one before becomes allocations, and what it has less
 * becomes deaths, at the time of the reading. Which blocks of a stack and size have died is
 * unknown, and makes no difference to totals, so the latest ones are freed. Example: a bucket with
 * 10 allocated and 4 live blocks, and at the next reading 12 and 5, gives 2 allocations followed by
 * 1 death.
 *
 * Alternatives. If followers accepted totals as well as events, each would need a second kind of
 * input.
 *
 * Invariants. Totals of the trace equal those of the last reading, even if there are so many blocks
 * that several become one. Time and memory are bounded, whatever counts the process has. Samples
 * are integers: each stack and size is rounded separately, and never off by more than one sample,
 * however many readings there were; some are rounded up where others are rounded down. Except in
 * the last reading, allocations since the last garbage collection are left out, as in Go's own
 * profile: they may be dead already. In the last reading, they count as allocated but not as
 * live. */
#ifndef IMPORT_IMPORT_GO_TRACE_H
#define IMPORT_IMPORT_GO_TRACE_H

#include "import/import_go.h"

/* A live block of the trace. */
typedef struct go_trace_block {
    uint64_t id, samples;
} go_trace_block;

/* The trace's counterpart of a Go bucket. */
typedef struct go_trace_bucket {
    uint64_t before;        /* blocks freed before the bucket was first read; not in the trace */
    uint64_t allocated;     /* blocks in the trace */
    uint64_t samples, live; /* samples of all its blocks, and of the live ones */
    double phase;           /* rounding offset, at least 0 and below 1 */
    VEC(go_trace_block) blocks; /* the live ones */
} go_trace_bucket;

/* Valid when zeroed. */
typedef struct go_trace {
    struct import tables; /* names and stacks; has one record per bucket, only for its stack */
    go_stacks stacks;
    bool has_names;  /* `stacks` is open */
    bool from_now;   /* leave out blocks freed before the first reading */
    map64 bucket_of; /* by address */
    map64 late;      /* buckets that existed at the first reading, which left them out */
    VEC(go_trace_bucket) buckets;
    int fd;                  /* the trace; meaningless without a writer */
    memtrace_writer *writer; /* NULL: no reading yet */
    memtrace_stream *stream;
    double rate;
    uint64_t n_new, n_live; /* blocks added in this reading; live blocks */
    uint64_t rss, written;  /* codes of that gauge and that remark; 0: not used yet */
    /* The trace is cut into segments: each reading states that all is written. */
    bool is_cut;
    int os_error; /* why writing failed; 0: it has not */
    VEC(uint64_t) codes;
} go_trace;

typedef struct go_reading {
    const go_heap *heap;
    uint64_t time; /* microseconds since go_trace.tables.start_time */
    uint64_t rss;  /* of the process, in words */
    bool is_last;
} go_reading;

/* Adds a reading to the trace in the file `fd`. The first reading begins the trace, with the
 * process described in t->tables. Names are looked up in `memory`. A first reading without buckets
 * is ignored. On failure, returns false and sets `*error`: the trace is unchanged or, if
 * t->os_error is set, ends there. */
bool go_trace_add(go_trace *t, int fd, const go_reading *r, const go_program *p, int memory,
                  import_error *error);

/* Returns the bytes that the trace has allocated, and those that are live. */
void go_trace_sums(const go_trace *t, double *allocated, double *live);

/* Ends the trace at that time, if it was begun. Returns 0 or an errno. */
int go_trace_end(go_trace *t, uint64_t time);

void go_trace_free(go_trace *t);

#endif
