/* tally.h: sums over a trace that is still being written, by call stack: allocated so far, and live
 * now. Memory follows the number of distinct stacks and of live sampled blocks, not the length of
 * the trace.
 *
 * Spans of distributed tracing are new with each request, so their rows would accumulate. A span's
 * row is dropped when all it says was sent and none of its blocks live. If there are too many,
 * further events count without a span. */
#ifndef PUSH_TALLY_H
#define PUSH_TALLY_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "trace/span_remark.h"

/* The sums for one stack, source, scope and, if asked for, thread name: weights, samples and
 * estimated blocks. The weight of a sample is 1 at the rate of the recording, 2 where that rate was
 * halved (contract/pace.h), 4 where it was halved twice, and so on. */
typedef struct tally_row {
    uint32_t node;      /* in the profile's tree */
    const char *thread; /* NULL: unnamed, or threads are not asked for */
    const char *scope;  /* NULL: none */
    uint32_t span;      /* index in `spans`, from 1; 0: none */
    uint32_t base;      /* for a row with a span: the same row without it */
    memtrace_source source;
    uint64_t allocated, live; /* sums of weights */
    uint64_t allocated_samples, live_samples;
    double allocated_blocks, live_blocks;
} tally_row;

/* A live sampled block, or an early end: one whose allocation has not been read yet, as domains are
 * read one after the other. */
typedef struct tally_block {
    uint64_t id;
    uint32_t row; /* or TALLY_GONE, TALLY_EARLY */
    uint32_t samples;
    float blocks;  /* estimated number of blocks that this one stands for */
    uint8_t level; /* how many times the rate was halved */
} tally_block;

/* The current state of a domain: the names of its thread and scope, as indices in `names` from 1
 * (0: none), its span, and its rate. */
typedef struct tally_domain {
    uint32_t thread, scope;
    uint32_t number; /* of the pair (thread, scope), from 1; 0: neither has a name */
    memtrace_span span;
    uint8_t level; /* how many times the rate is halved */
} tally_domain;

/* The most rows with spans; they take 8 MB. */
enum { TALLY_SPAN_ROWS = 1 << 16 };

/* Valid when zeroed. */
typedef struct tally {
    profile profile;                      /* the tree, and what places.h adds; no totals */
    VEC(cct_path) paths;                  /* by domain */
    VEC(tally_row) rows;                  /* in the order of arrival; a row keeps its index */
    map64 row_of;                         /* by node, source, and thread and scope */
    bool by_thread;                       /* rows are by thread name; set before the first event */
    bool by_span;                         /* rows are by span; set before the first event */
    VEC(memtrace_span) spans;             /* used by rows; index from 1 */
    map64 span_of;                        /* hash of the ids → index in `spans` */
    map64 span_row_of;                    /* (span, row without it) → row */
    VEC(uint32_t) unused_rows;            /* indices of zeroed rows */
    size_t n_span_rows, n_left_span_rows; /* now; after rows were last dropped */
    VEC(tally_domain) domains;            /* by domain */
    VEC(const char *) names;              /* of threads and scopes; index from 1 */
    map64 name_of;                        /* name → index in `names` */
    map64 number_of;                      /* (thread, scope) → number */
    VEC(tally_block) blocks;
    map64 block_of; /* id → index in `blocks` */
    size_t n_gone;  /* dead entries in `blocks` */
} tally;

/* Copies the head of the trace. Returns false, as does tally_add, when there is no memory. */
bool tally_begin(tally *t, const memtrace_info *info);

bool tally_add(tally *t, const memtrace_event *event);

/* Sets the domain's rate from now on: the rate of the recording, halved `level` times. */
bool tally_set_level(tally *t, uint16_t domain, uint64_t level);

/* Drops rows of spans if there are many: those without live blocks for which `is_said` is true.
 * Calls `drop` for each. Returns false when there is no memory. */
bool tally_drop_spans(tally *t, bool (*is_said)(void *context, size_t row),
                      void (*drop)(void *context, size_t row), void *context);

void tally_free(tally *t);

#endif
