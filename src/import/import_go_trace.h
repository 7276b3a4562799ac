/* import_go_trace.h: the trace of a Go program that runs, made of one reading of its profile after
 * the other.
 *
 * Problem. Whoever follows a recording (a receiver of profiles, the viewer, a ring of segments)
 * follows a trace that is being written, event by event. Go's profile has no events: it has, for
 * each stack and size, how many blocks were sampled and how many of these were freed.
 *
 * Way. What a reading has more than the one before becomes allocations, what it has less becomes
 * ends of blocks, at the time of the reading. Which blocks of a stack and size ended is unknown and
 * makes no difference to sums: those that came last do.
 *
 * Why not otherwise. Followers that knew sums as well as events would each have a second way in.
 *
 * What must hold. Sums of the trace are those of the last reading, also where blocks are so many
 * that several become one. Space and memory do not follow counts that the process merely has.
 * Samples are whole numbers: each stack and size is rounded on its own, never off by more than one
 * sample however many readings there were, and some are rounded up where others are rounded down.
 * Until the last reading, what was allocated since the last garbage collection is left out, as in
 * Go's own profile: it may be dead already. In the last one it counts as allocated, and not as
 * live. */
#ifndef IMPORT_IMPORT_GO_TRACE_H
#define IMPORT_IMPORT_GO_TRACE_H

#include "import/import_go.h"

/* A block of the trace that lives. */
typedef struct go_trace_block {
    uint64_t id, samples;
} go_trace_block;

/* What the trace has of a bucket of Go's. */
typedef struct go_trace_bucket {
    uint64_t before; /* blocks that were gone when the bucket was first read, and are in no trace */
    uint64_t allocated;         /* blocks, */
    uint64_t samples, live;     /* samples of all that were allocated, and of those that live */
    double phase;               /* how it is rounded: from 0 on, below 1 */
    VEC(go_trace_block) blocks; /* that live */
} go_trace_bucket;

/* Legal when zeroed. */
typedef struct go_trace {
    struct import of; /* names and stacks: of a bucket, a record, for those alone */
    go_stacks stacks;
    bool has_names;  /* `stacks` is open */
    bool from_now;   /* blocks that were gone at the first reading are left out */
    map64 bucket_of; /* by address */
    map64 late;      /* of buckets that were there at the first reading, which left them out */
    VEC(go_trace_bucket) buckets;
    int fd;                  /* of the trace; meaningless without a writer */
    memtrace_writer *writer; /* NULL: there was no reading yet */
    memtrace_stream *stream;
    double rate;
    uint64_t n_new, n_live; /* blocks: of this reading, and that live */
    uint64_t rss, written;  /* the codes of that gauge and of that remark; 0: there is none yet */
    bool is_cut;            /* into segments: then each reading says that all is written */
    int os_error;           /* why it could not be written on; 0: it can be */
    VEC(uint64_t) codes;
} go_trace;

typedef struct go_reading {
    const go_heap *heap;
    uint64_t time; /* microseconds after go_trace.of.start_time */
    uint64_t rss;  /* of the process: words */
    bool is_last;
} go_reading;

/* Adds a reading to the trace in the file `fd`, which the first one begins: t->of tells the
 * process. Names are looked up in `memory`. A reading of nothing is none. False: *error; the trace
 * is as it was, or, if t->os_error says so, ends there. */
bool go_trace_add(go_trace *t, int fd, const go_reading *r, const go_program *p, int memory,
                  import_error *error);

/* What the trace has allocated and left, in bytes. */
void go_trace_sums(const go_trace *t, double *allocated, double *live);

/* Ends the trace at that time, if it has begun. 0 or an errno. */
int go_trace_end(go_trace *t, uint64_t time);

void go_trace_free(go_trace *t);

#endif
