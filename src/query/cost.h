/* cost.h: what a set of sampled blocks amounts to by a measure; all queries are computed from
 * costs.
 *
 * A measure gives each sample a weight. For amounts of memory that is 1, so the weight of a set is
 * its number of samples. docs/estimator.md says what is estimated from a cost, and how
 * accurately. */
#ifndef QUERY_COST_H
#define QUERY_COST_H

#include "profile/profile.h"
#include "query/cost_columns.h"
#include "query/estimate.h"
#include "query/filter.h"

/* X(name, text, unit, title): the measures of whole blocks, and all measures. */
#define MEASURES_OF_BLOCKS(X)                                                                      \
    X(ALLOCATED, "allocated", BYTES, "total allocations")                                          \
    X(BLOCKS, "blocks", BLOCKS, "allocated")                                                       \
    X(LIVE, "live", BYTES, "live")                                                                 \
    X(PEAK, "peak", BYTES, "live at the peak")                                                     \
    X(PROMOTED, "promoted", BYTES, "promoted")                                                     \
    X(SURVIVED, "survived", BYTES, "never freed")                                                  \
    X(TEMPORARY, "temporary", BYTES, "temporary")                                                  \
    X(BYTESECONDS, "byteseconds", BYTESECONDS, "of bytes times lifetime")
#define MEASURES(X)                                                                                \
    MEASURES_OF_BLOCKS(X)                                                                          \
    X(REQUESTED, "requested", REQUESTED, "requested")

typedef enum measure {
#define MEASURE_NAME(name, text, unit, title) MEASURE_##name,
    MEASURES(MEASURE_NAME)
#undef MEASURE_NAME
        N_MEASURES
} measure;

/* UNIT_REQUESTED is not UNIT_BYTES, although both are called bytes, because samples count
 * differently. */
typedef enum measure_unit {
    UNIT_BYTES,
    UNIT_BLOCKS,
    UNIT_BYTESECONDS,
    UNIT_REQUESTED
} measure_unit;

typedef struct measure_info {
    const char *name, *title;
    measure_unit unit;
} measure_info;

extern const measure_info measure_infos[];
extern const char *const measure_names[]; /* as options name them; NULL at the end */

/* Returns an estimate in the unit of the measure: bytes, blocks, bytes times seconds. `may` bounds
 * what missed blocks can be. */
estimate cost_estimate(const profile *p, measure m, filter_bounds may, const cost *c);

/* Returns the estimate under the assumption that no missed block is smaller than the smallest that
 * was seen. Comparisons need it, because they assume on both sides the sizes that were seen on
 * either. */
estimate cost_estimate_of_seen(const profile *p, measure m, const cost *c);

/* Returns only the value, since the limits take time to compute. */
double cost_value(const profile *p, measure m, const cost *c);

/* Returns the variance at a low rate, times that rate, whatever the rate of the profile is; for
 * measures in which samples count differently. */
double cost_scatter(const profile *p, measure m, const cost *c);

/* Returns the same cost for the case that the smallest missed block was as small as the smallest of
 * `seen`, which may be of another rate or, by byte-seconds, lived as long as any of `seen`. */
cost cost_with_missed(const profile *p, measure m, const cost *c, const cost *seen);

/* Blocks with one stack. Those of a heap and external blocks are kept apart, because wrappers.h is
 * only about the latter. */
typedef struct cost_entry {
    uint32_t node; /* of the profile's tree */
    bool external;
    cost cost;
} cost_entry;

/* All zeros is an empty list. */
typedef struct cost_list {
    uint32_t *stacks; /* node << 1 | external */
    cost_columns costs;
    size_t count;
} cost_list;

static inline uint32_t cost_list_node(const cost_list *list, size_t i) {
    return list->stacks[i] >> 1;
}

static inline bool cost_list_external(const cost_list *list, size_t i) {
    return list->stacks[i] & 1;
}

static inline cost_entry cost_list_at(const cost_list *list, size_t i) {
    return (cost_entry){.node = cost_list_node(list, i),
                        .external = cost_list_external(list, i),
                        .cost = cost_columns_at(&list->costs, i)};
}

size_t cost_list_size(const cost_list *list); /* bytes */
void cost_list_free(cost_list *list);

/* Returns the bytes that so many samples stand for. */
static inline double cost_bytes(const profile *p, uint64_t samples) {
    return (double)samples / p->info.sample_rate * (p->info.word_size / 8.0);
}

/* Lists all that was allocated, without the table of blocks; false when there is no memory. The
 * list must be zeroed before, as for the functions below, and freed in any case. */
bool cost_of_tree(const profile *p, cost_list *list);

/* Clears in `kept` the rows that the measure does not count. `moment` is for MEASURE_LIVE and
 * MEASURE_PEAK. False when there is no memory. */
bool cost_keep(const profile *p, measure m, blocks_moment moment, uint8_t *kept);

/* The cost as a number of blocks, or as what blocks held. */
static inline estimate_blocks cost_blocks(const cost *c) {
    return (estimate_blocks){
        .count = c->weight, .variance = c->squares, .heaviest = c->heaviest, .tracked = c->blocks};
}

/* The cost of a block by MEASURE_BYTESECONDS; one that is never freed lives to the end of the
 * trace. */
cost cost_of_life(const profile *p, size_t row);

/* The cost of so many samples that are held for some seconds. */
static inline cost cost_of_seconds(uint64_t samples, double seconds) {
    return (cost){.samples = samples,
                  .blocks = 1,
                  .weight = (double)samples * seconds,
                  .squares = (double)samples * seconds * seconds,
                  .heaviest = seconds};
}

/* The cost of a block by MEASURE_BLOCKS. */
cost cost_of_number(const profile *p, size_t row);

/* The cost of a block by any measure, if it counts the block. */
cost cost_of_block(const profile *p, measure m, size_t row);

/* Returns the seconds that a block can have lived at most. */
static inline double cost_longest(const profile *p, filter_bounds may) {
    return (double)(may.life_below ? may.life_below - 1 : p->duration) / 1e6;
}

/* Returns `sum`. If it has no blocks, it gets the largest weight that a missed block may have, so
 * that its interval tells what may exist. */
cost cost_or_missed(const profile *p, measure m, filter_bounds may, cost sum);

/* Lists the costs of the selected rows; `moment` as in cost_keep. `words` is for costs that are
 * compared with others: numbers of blocks then have what that needs. */
bool cost_of_blocks(const profile *p, const selection *s, measure m, blocks_moment moment,
                    bool words, cost_list *list);

/* Lists the costs of the rows that the filter selects (NULL: all) in one scan; `s` then has no
 * rows. */
bool cost_of_filter(const profile *p, const filter *f, measure m, blocks_moment moment, bool words,
                    selection *s, cost_list *list);

#endif
