/* cost.h: what a set of sampled blocks amounts to, by a measure; the currency of all queries.
 *
 * A measure gives each sample a weight. For amounts of memory that is 1, so that the weight of a
 * set is its number of samples. docs/estimator.md says what is estimated from it, and how surely.
 */
#ifndef QUERY_COST_H
#define QUERY_COST_H

#include "profile/profile.h"
#include "query/cost_columns.h"
#include "query/estimate.h"
#include "query/filter.h"

/* X(name, text, unit, title): those of whole blocks, and all. */
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

/* Of requested bytes, samples do not count alike: it is no UNIT_BYTES, though its name is. */
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

/* In the measure's unit: bytes, blocks, bytes times seconds. `may` says what blocks may be that
 * were missed. */
estimate cost_estimate(const profile *p, measure m, filter_bounds may, const cost *c);

/* The same if no block is smaller than the heaviest is: for comparisons, which take both sides to
 * have the sizes that were seen on either. */
estimate cost_estimate_of_seen(const profile *p, measure m, const cost *c);

/* The same without its limits, which take time. */
double cost_value(const profile *p, measure m, const cost *c);

/* What its variance is at a low rate, times that rate, whatever the profile's own is: of amounts
 * whose samples do not count alike. */
double cost_scatter(const profile *p, measure m, const cost *c);

/* The same cost, if the smallest block that was missed may have been as small as the smallest of
 * `seen`, which may be of another rate; of byte-seconds, have lived as long as any of it. */
cost cost_with_missed(const profile *p, measure m, const cost *c, const cost *seen);

/* Blocks with one stack. Those of a heap and external ones are kept apart: wrappers.h concerns the
 * latter alone. */
typedef struct cost_entry {
    uint32_t node; /* of the profile's tree */
    bool external;
    cost cost;
} cost_entry;

/* Legal when zeroed: none. */
typedef struct cost_list {
    uint32_t *stacks; /* node << 1, and whether they are external */
    cost_columns costs;
    size_t count;
} cost_list;

static inline cost_entry cost_list_at(const cost_list *list, size_t i) {
    return (cost_entry){.node = list->stacks[i] >> 1,
                        .external = list->stacks[i] & 1,
                        .cost = cost_columns_at(&list->costs, i)};
}

size_t cost_list_size(const cost_list *list); /* bytes */
void cost_list_free(cost_list *list);

/* The bytes that so many samples stand for. */
static inline double cost_bytes(const profile *p, uint64_t samples) {
    return (double)samples / p->info.sample_rate * (p->info.word_size / 8.0);
}

/* All that was allocated, without the table of blocks; false when there is no memory. The list is
 * zeroed before, as for the others, and to be freed in any case. */
bool cost_of_tree(const profile *p, cost_list *list);

/* Clears rows of the table that the measure does not count. `moment` is for MEASURE_LIVE and
 * MEASURE_PEAK. False when there is no memory. */
bool cost_keep(const profile *p, measure m, blocks_moment moment, uint8_t *kept);

/* A sum of numbers of blocks, or of what blocks held. */
static inline estimate_blocks cost_blocks(const cost *c) {
    return (estimate_blocks){
        .count = c->weight, .variance = c->squares, .heaviest = c->heaviest, .tracked = c->blocks};
}

/* What a block counts by MEASURE_BYTESECONDS; one that is never freed lives to the end. */
cost cost_of_life(const profile *p, size_t row);

/* What so many samples do that are held for some seconds. */
static inline cost cost_of_seconds(uint64_t samples, double seconds) {
    return (cost){.samples = samples,
                  .blocks = 1,
                  .weight = (double)samples * seconds,
                  .squares = (double)samples * seconds * seconds,
                  .heaviest = seconds};
}

/* What a block counts by MEASURE_BLOCKS. */
cost cost_of_number(const profile *p, size_t row);

/* What a block counts by a measure that counts it. */
cost cost_of_block(const profile *p, measure m, size_t row);

/* Seconds that a block may have lived at most. */
static inline double cost_longest(const profile *p, filter_bounds may) {
    return (double)(may.life_below ? may.life_below - 1 : p->duration) / 1e6;
}

/* A sum of either; if it is of none, with what a single missed block would count at most (it may
 * have lived as long as the trace is), so that its interval says what may be there. */
cost cost_or_missed(const profile *p, measure m, filter_bounds may, cost sum);

/* The measure of the blocks that were selected; `moment` as above. With `words` if they are
 * compared with others: numbers of blocks then have what that needs. */
bool cost_of_blocks(const profile *p, const selection *s, measure m, blocks_moment moment,
                    bool words, cost_list *list);

/* The same of those that the filter selects, NULL: of all, in one scan; `s` has no rows then. */
bool cost_of_filter(const profile *p, const filter *f, measure m, blocks_moment moment, bool words,
                    selection *s, cost_list *list);

#endif
