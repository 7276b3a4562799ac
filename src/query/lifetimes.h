/* lifetimes.h: how long blocks live: how many die how soon, in which heap, and after promotion; by
 * site; and the survival curve. A pure query on the table of blocks; docs/lifetimes.md explains
 * it. */
#ifndef QUERY_LIFETIMES_H
#define QUERY_LIFETIMES_H

#include "query/cost.h"
#include "query/sites.h"
#include "query/stats.h"
#include "query/survival.h"

enum { LIFETIMES_QUANTILES = 3 };

/* A share of blocks, by bytes, numbers, or bytes times seconds. */
typedef struct lifetimes_share {
    estimate share;               /* 0 … 1; from 0 to 1 if nothing is known */
    uint64_t samples, of_samples; /* those in the share, of those for which it is known */
} lifetimes_share;

typedef struct lifetimes_part {
    uint64_t samples, blocks;
    estimate amount;            /* bytes, blocks, or bytes times seconds */
    lifetimes_share dead_soon;  /* dead within `within` */
    lifetimes_share dead_minor; /* dead in the minor heap, of those born there that have died or
                                   were promoted */
    lifetimes_share premature;  /* dead within `soon` of their promotion, of those promoted */
} lifetimes_part;

typedef struct lifetimes_site {
    const profile_location *place; /* NULL: without backtrace */
    lifetimes_part part;
} lifetimes_site;

typedef struct lifetimes_spec {
    const uint8_t *kept;   /* by row of the table; NULL: all */
    filter_bounds may;     /* of the blocks that were kept, seen or missed */
    measure measure;       /* MEASURE_BLOCKS or MEASURE_BYTESECONDS; else shares are of bytes */
    bool by_function;      /* sites are functions with all their lines; else single lines */
    uint64_t within, soon; /* microseconds */
} lifetimes_spec;

typedef struct lifetimes {
    lifetimes_part all;
    VEC(lifetimes_site) sites; /* largest first */
    /* Of all blocks: dead after 0 µs, 1 to 9 µs, 10 to 99 µs, …; and alive at the end. */
    lifetimes_share decades[STATS_DECADES], alive;
    survival_curve curve; /* by MEASURE_BYTESECONDS, live blocks count as ended */
    survival_quantile quantiles[LIFETIMES_QUANTILES]; /* half, 90%, 99% */
} lifetimes;

/* Fills `*result`, which need not be initialized; false when there is no memory. The result refers
 * to the profile. */
bool lifetimes_query(const lens *l, const lifetimes_spec *spec, lifetimes *result);

void lifetimes_free(lifetimes *l);

#endif
