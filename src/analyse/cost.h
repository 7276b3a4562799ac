/* cost.h: what a set of sampled blocks amounts to; the currency of all queries. */
#ifndef ANALYSE_COST_H
#define ANALYSE_COST_H

#include "analyse/profile.h"

/* Legal when zeroed: nothing. Costs add up. */
typedef struct cost {
    uint64_t samples;
    uint64_t blocks; /* sampled ones */
} cost;

/* Blocks with one stack. Those of a heap and external ones are kept apart: wrappers.h concerns the
 * latter alone. */
typedef struct cost_entry {
    uint32_t node; /* of the profile's tree */
    bool external;
    cost cost;
} cost_entry;

typedef VEC(cost_entry) cost_list;

static inline void cost_add(cost *sum, const cost *c) {
    sum->samples += c->samples;
    sum->blocks += c->blocks;
}

/* All that was allocated; false when there is no memory. */
bool cost_of_tree(const profile *p, cost_list *list);

#endif
