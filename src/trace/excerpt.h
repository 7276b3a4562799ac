/* excerpt.h: selects a part of a trace: a time range, a random subset of the samples, or both.
 *
 * A trace is read twice. The first pass decides which blocks are kept, with how many samples and
 * under which ids; the second one writes them (rewrite.h, with excerpt_select as its `select`). Two
 * passes are needed because domains are separate in the file: the death of a block may come before
 * its allocation. Single-threaded. */
#ifndef TRACE_EXCERPT_H
#define TRACE_EXCERPT_H

#include "allotrace/memtrace.h"
#include "base/row_index.h"
#include "base/vec.h"

#define EXCERPT_END UINT64_MAX

typedef struct excerpt_options {
    /* Start of the part, microseconds since the start of the trace; becomes time 0. */
    uint64_t from;
    uint64_t to; /* the first microsecond left out; EXCERPT_END: no limit */
    bool live;   /* keep blocks allocated before `from` and live then, as if allocated at `from` */

    /* Each sample is kept with this probability, 0 < keep <= 1, independently of all others, so the
     * result is a sample at `keep` times the rate. A block that keeps no samples is dropped with
     * all its events. */
    double keep;
    uint64_t seed;

    uint64_t delay;    /* added to all times */
    uint64_t first_id; /* new ids start here and have no gaps, one domain after the other */

    /* Called in the first pass for each gauge, which is then left out. NULL: gauges are kept. */
    void (*take_gauge)(void *user, const memtrace_event *event);
    void *user;
} excerpt_options;

/* A block, mark or gauge that is kept or may be. Of all others, only the id is stored. */
typedef struct excerpt_block {
    uint64_t samples; /* samples that are kept */
    uint64_t time;    /* time of allocation */
    uint64_t death;   /* UINT64_MAX: none */
    uint64_t id;      /* the new id, if it is kept */
    uint16_t domain;
    bool known;  /* its allocation was read */
    bool remark; /* a remark, not a block */
    bool lasts;  /* the remark stays in force, so one from before `from` is kept, moved to `from` */
    bool kept;
    bool written;
} excerpt_block;

/* Valid when zeroed. */
typedef struct excerpt {
    excerpt_options options;
    row_index rows;       /* from ids to `places`, in order of first use */
    VEC(uint32_t) places; /* indices in `blocks`, or special values */
    VEC(excerpt_block) blocks;
    VEC(uint32_t) unused;    /* free entries of `blocks` */
    VEC(uint64_t) of_domain; /* number of kept blocks by domain, later the domain's next id */
    /* State of the generator; samples to skip before the next kept one. */
    uint64_t random, gap;
    uint64_t n_blocks, n_kept;   /* without marks and gauges */
    uint64_t n_samples, n_taken; /* samples of these blocks */
    uint32_t n_domains;          /* 1 + the highest domain with an event */
    uint64_t next_id;            /* the first id after those assigned */
} excerpt;

/* First pass: reads `reader` to its end. The reader may skip backtraces only if `from` is 0:
 * without backtraces it cannot tell which remarks name threads, and those before `from` are needed.
 * Returns MEMTRACE_OK at the end of the trace, MEMTRACE_NOMEM, or the reader's error. */
MEMTRACE_NODISCARD memtrace_status excerpt_plan(excerpt *e, memtrace_reader *reader,
                                                const excerpt_options *options);

/* Second pass: to be used as rewrite_options.select, with the excerpt as `user`. */
bool excerpt_select(void *user, memtrace_event *event);

/* Returns the end of the part, given the trace's duration: to be used as rewrite_options.end, with
 * the excerpt as `user`. */
uint64_t excerpt_end(void *user, uint64_t duration);

/* Changes the start and the rate in the head to those of the part. */
void excerpt_head(const excerpt *e, memtrace_info *info);

/* Returns how many of `n` samples are kept. Exposed for its test. */
uint64_t excerpt_thin(excerpt *e, uint64_t n);

void excerpt_free(excerpt *e);

#endif
