/* tally.h: what a trace that is still being written amounts to so far, by call stack: allocated in
 * all, and live now. Its memory follows the distinct stacks and the sampled blocks that live, not
 * the length of the trace.
 *
 * Spans of distributed tracing are new for each request. A row of one is dropped when all that it
 * says was said, and nothing of it lives; where too many are there, what comes is of no span. */
#ifndef PUSH_TALLY_H
#define PUSH_TALLY_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "trace/span_remark.h"

/* Of one stack, one heap, one scope and, where asked for, threads of one name: weights, samples and
 * estimated blocks. A sample weighs what it stands for: 1 at the rate of the recording, 2 where
 * that was halved (contract/pace.h), and so on. */
typedef struct tally_row {
    uint32_t node;      /* of the profile's tree */
    const char *thread; /* NULL: not asked for, or without a name */
    const char *scope;  /* NULL: in none */
    uint32_t span;      /* in `spans`, from 1 on; 0: of none */
    uint32_t base;      /* of one of a span: the row that is the same without it */
    memtrace_source source;
    uint64_t allocated, live; /* weights */
    uint64_t allocated_samples, live_samples;
    double allocated_blocks, live_blocks;
} tally_row;

/* A sampled block that lives, or an end whose beginning was not read yet: domains are read one
 * after the other. */
typedef struct tally_block {
    uint64_t id;
    uint32_t row; /* TALLY_GONE; TALLY_EARLY */
    uint32_t samples;
    float blocks;  /* that it stands for */
    uint8_t level; /* how many times the rate was halved */
} tally_block;

/* Who allocates in a domain now: what its thread and scope are called, as indices in `names`; 0:
 * nothing. And at which rate. */
typedef struct tally_who {
    uint32_t thread, scope;
    uint32_t number; /* of the pair, from 1 on; 0: of two that are nothing */
    memtrace_span span;
    uint8_t level; /* how many times the rate is halved */
} tally_who;

/* Rows of spans, at most; 8 MB. */
enum { TALLY_SPAN_ROWS = 1 << 16 };

/* Legal when zeroed. */
typedef struct tally {
    profile profile;           /* the tree, and whatever places.h adds; no totals */
    VEC(cct_path) paths;       /* by domain */
    VEC(tally_row) rows;       /* in the order in which they came; they stay */
    map64 row_of;              /* by node, source and who */
    bool by_thread;            /* names of threads are told apart; to be set at the beginning */
    bool by_span;              /* spans are; the same */
    VEC(memtrace_span) spans;  /* that rows have, from 1 on */
    map64 span_of;             /* by hash of the ids: in `spans` */
    map64 span_row_of;         /* by span and row of the same without one */
    VEC(uint32_t) unused_rows; /* all of them 0 */
    size_t n_span_rows, n_left_span_rows; /* now, and when some were last dropped */
    VEC(tally_who) whos;                  /* by domain */
    VEC(const char *) names;              /* of threads and scopes, from 1 on */
    map64 name_of;                        /* by name: in `names` */
    map64 number_of;                      /* by thread and scope: of the pair */
    VEC(tally_block) blocks;
    map64 block_of; /* by id */
    size_t n_gone;  /* of `blocks` */
} tally;

/* The head of the trace, which is copied. False, as below, when there is no memory. */
bool tally_begin(tally *t, const memtrace_info *info);

bool tally_add(tally *t, const memtrace_event *event);

/* From here on, the domain's rate is that of the recording, halved so many times. */
bool tally_set_level(tally *t, uint16_t domain, uint64_t level);

/* Drops rows of spans of which nothing lives, if `is_said` of them, and they have become many. Says
 * which: `drop`. False when there is no memory. */
bool tally_drop_spans(tally *t, bool (*is_said)(void *context, size_t row),
                      void (*drop)(void *context, size_t row), void *context);

void tally_free(tally *t);

#endif
