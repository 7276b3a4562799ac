/* stats.h: sizes and lifetimes of the sampled blocks, each with the same weight. These are the
 * numbers that papers about allocators publish. A pure query on the table of blocks and the order
 * of its events.
 *
 * Sampling words finds large blocks more often than the program makes them. So the program's own
 * blocks are estimated as well, with each block weighted by the inverse of its chance to be
 * sampled; docs/estimator.md derives that. */
#ifndef QUERY_STATS_H
#define QUERY_STATS_H

#include "profile/profile.h"
#include "query/estimate.h"
#include "query/filter.h"

/* Classes of sizes in words, without header; X(name, largest of the class) */
#define STATS_SIZES(X)                                                                             \
    X("0–32", 32)                                                                                  \
    X("32–256", 256)                                                                               \
    X("256–10,000", 10000)                                                                         \
    X("above 10,000", UINT64_MAX)
enum { STATS_N_SIZES = 4 };

typedef struct stats_size {
    const char *name;
    uint64_t most;
} stats_size;

extern const stats_size stats_sizes[STATS_N_SIZES];

/* Classes of lifetimes: 0, and one per number of digits. */
enum { STATS_DECADES = 21 };

typedef struct stats_block {
    uint32_t row;     /* in the table */
    uint64_t words;   /* header excluded */
    uint64_t born;    /* microseconds: the birth or, with `major_only`, the promotion */
    uint64_t events;  /* lifetime in events: from its birth to its death */
    uint64_t micros;  /* lifetime in microseconds */
    bool survived;    /* lifetimes are up to the end of the trace */
    uint64_t born_at; /* number of the event, from 0 */
} stats_block;

/* Lifetimes of a part's blocks, survivors included. */
typedef struct stats_lives {
    double mean;
    uint64_t median; /* least lifetime that half of the blocks do not exceed */
    uint64_t most;
    uint64_t decades[STATS_DECADES]; /* numbers of blocks: 0; 1–9; 10–99; … */
} stats_lives;

/* What blocks hold over their lifetimes. */
typedef struct stats_held {
    double mean, variance, deviation, most; /* words times seconds; blocks weigh the same */
    estimate sizes[STATS_N_SIZES];          /* shares of the program's, by size; 0 … 1 */
} stats_held;

typedef struct stats_part {
    size_t first, n; /* in the order of their births */
    uint64_t words;
    double mean, variance, deviation; /* of the sample itself: divided by n */
    uint64_t most;
    uint64_t n_large;
    uint64_t sizes[STATS_N_SIZES];
    uint64_t n_survived;
    stats_lives events, micros;
    stats_held held; /* 0 unless asked for */

    /* Estimates of the program's blocks. */
    estimate blocks;
    estimate mean_words;
    estimate large;                      /* share, 0 … 1 */
    estimate size_shares[STATS_N_SIZES]; /* shares, 0 … 1 */
} stats_part;

typedef struct stats_spec {
    const uint8_t *kept; /* by row of the table; NULL: all */
    filter_bounds may;   /* of the blocks that were kept, seen or missed */
    /* Without blocks that never left the minor heap; promoted ones count from their promotion. */
    bool major_only;
    uint64_t large;    /* words: larger blocks are counted */
    bool held;         /* also compute what blocks hold */
    uint64_t segments; /* number of consecutive parts with equally many blocks; 0: none */
} stats_spec;

typedef struct stats {
    const profile *profile; /* must not change */
    bool major_only;
    uint32_t *lives;   /* by row of the table: lifetime in events, or a mark for none */
    uint64_t n_events; /* births and deaths of the counted blocks */
    stats_part whole;
    VEC(stats_part) segments; /* as many as asked for, or fewer; ceil(n / segments) blocks each */
} stats;

/* Fills `*s`, which need not be initialized; false when there is no memory. The profile must have
 * been read with keep_order. */
bool stats_query(const profile *p, const stats_spec *spec, stats *s);

void stats_free(stats *s);

/* Walks over the blocks in the order of their births, because an array of them would take more
 * memory than the table.
 *
 *   stats_walk w = {.stats = &s};
 *   while (stats_next(&w, &block))
 */
typedef struct stats_walk {
    const stats *stats;
    size_t at;         /* in the order of events */
    uint64_t n_events; /* counted events before `at` */
} stats_walk;

bool stats_next(stats_walk *w, stats_block *block);

/* Returns the least lifetime of a decade; that of STATS_DECADES would overflow. */
uint64_t stats_decade_least(unsigned decade);

/* Returns the decade of a lifetime. */
unsigned stats_decade_of(uint64_t life);

#endif
