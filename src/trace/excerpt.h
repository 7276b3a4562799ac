/* excerpt.h: a part of a trace: a stretch of its time, and of its samples a random few.
 *
 * A trace is read twice. The first reading decides which blocks go on, with how many samples and
 * under which id; the second one writes them (rewrite.h, with excerpt_select as its `select`). Two
 * are needed because domains are apart in the file: the death of a block may stand before its
 * allocation. Single-threaded. */
#ifndef TRACE_EXCERPT_H
#define TRACE_EXCERPT_H

#include "allotrace/memtrace.h"
#include "base/row_index.h"
#include "base/vec.h"

#define EXCERPT_END UINT64_MAX

typedef struct excerpt_options {
    uint64_t from; /* microseconds since the start; becomes time 0 */
    uint64_t to;   /* the first microsecond left out; EXCERPT_END: none */
    bool live; /* what was allocated before `from` and lives then is kept, as if allocated then */

    /* Each sample goes on with this probability, 0 < keep <= 1, independently of all others: what
     * results is a sample at `keep` times the rate. A block without samples goes with its
     * events. */
    double keep;
    uint64_t seed;

    uint64_t delay;    /* is added to all times */
    uint64_t first_id; /* ids count from here, without gaps, domain by domain */

    /* Called by the first reading for each gauge, which is left out then. NULL: they stay. */
    void (*take_gauge)(void *user, const memtrace_event *event);
    void *user;
} excerpt_options;

/* A block, mark or gauge that goes on, or might: nothing but its id is kept of others. */
typedef struct excerpt_block {
    uint64_t samples; /* that go on */
    uint64_t time;    /* of the allocation */
    uint64_t death;   /* UINT64_MAX: none */
    uint64_t id;      /* the new one, if it is kept */
    uint16_t domain;
    bool known;  /* its allocation was met */
    bool remark; /* a moment, no block */
    bool lasts;  /* a remark that holds from then on, so that it is kept as one of `from` */
    bool kept;
    bool written;
} excerpt_block;

/* Legal when zeroed. */
typedef struct excerpt {
    excerpt_options options;
    row_index rows;       /* of ids in `places`, in order of their first mention */
    VEC(uint32_t) places; /* in `blocks` */
    VEC(excerpt_block) blocks;
    VEC(uint32_t) unused;        /* of `blocks` */
    VEC(uint64_t) of_domain;     /* first the number of its kept blocks, then its next id */
    uint64_t random, gap;        /* state of the generator; samples to pass over */
    uint64_t n_blocks, n_kept;   /* without marks and gauges */
    uint64_t n_samples, n_taken; /* in these */
    uint32_t n_domains;          /* up to the highest that reported an event */
    uint64_t next_id;            /* the first one after those given */
} excerpt;

/* The first reading, to the end of `reader`, which may leave backtraces out unless there is a
 * `from`: what threads are called then was said before. MEMTRACE_OK at the end
 * of the trace; MEMTRACE_NOMEM; else the reader's error. */
MEMTRACE_NODISCARD memtrace_status excerpt_plan(excerpt *e, memtrace_reader *reader,
                                                const excerpt_options *options);

/* The second reading: rewrite_options.select, with the excerpt as `user`. */
bool excerpt_select(void *user, memtrace_event *event);

/* When the part ends, of a trace that lasts for `duration`: rewrite_options.end, likewise. */
uint64_t excerpt_end(void *user, uint64_t duration);

/* What becomes of the head: its start and its rate. */
void excerpt_head(const excerpt *e, memtrace_info *info);

/* How many of `n` samples go on. Exposed for its test. */
uint64_t excerpt_thin(excerpt *e, uint64_t n);

void excerpt_free(excerpt *e);

#endif
