/* cct_fixture.h: reads a calling-context tree by searching all its totals. */
#ifndef CCT_FIXTURE_H
#define CCT_FIXTURE_H

#include "profile/cct.h"

/* Returns a node's totals from one source; zeros if there are none. */
static inline cct_sums cct_fixture_own(const cct *tree, uint32_t node, unsigned source) {
    for (uint32_t i = 0; i < tree->totals.count; i++)
        if (tree->totals.items[i].node == node && tree->totals.items[i].source == source)
            return cct_sums_at(tree, i);
    return (cct_sums){0};
}

#endif
