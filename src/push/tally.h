/* tally.h: what a trace that is still being written amounts to so far, by call stack: allocated in
 * all, and live now. Its memory follows the distinct stacks and the sampled blocks that live, not
 * the length of the trace. */
#ifndef PUSH_TALLY_H
#define PUSH_TALLY_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"

/* Of one stack, one heap, one scope and, where asked for, threads of one name: weights, samples and
 * estimated blocks. A sample weighs what it stands for: 1 at the rate of the recording, 2 where
 * that was halved (contract/pace.h), and so on. */
typedef struct tally_row {
    uint32_t node;      /* of the profile's tree */
    const char *thread; /* NULL: not asked for, or without a name */
    const char *scope;  /* NULL: in none */
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
    uint8_t level;   /* how many times the rate is halved */
} tally_who;

/* Legal when zeroed. */
typedef struct tally {
    profile profile;         /* the tree, and whatever places.h adds; no totals */
    VEC(cct_path) paths;     /* by domain */
    VEC(tally_row) rows;     /* in the order in which they came; they stay */
    map64 row_of;            /* by node, source and who */
    bool by_thread;          /* names of threads are told apart; to be set at the beginning */
    VEC(tally_who) whos;     /* by domain */
    VEC(const char *) names; /* of threads and scopes, from 1 on */
    map64 name_of;           /* by name: in `names` */
    map64 number_of;         /* by thread and scope: of the pair */
    VEC(tally_block) blocks;
    map64 block_of; /* by id */
    size_t n_gone;  /* of `blocks` */
} tally;

/* The head of the trace, which is copied. False, as below, when there is no memory. */
bool tally_begin(tally *t, const memtrace_info *info);

bool tally_add(tally *t, const memtrace_event *event);

/* From here on, the domain's rate is that of the recording, halved so many times. */
bool tally_set_level(tally *t, uint16_t domain, uint64_t level);

void tally_free(tally *t);

#endif
