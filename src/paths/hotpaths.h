/* hotpaths.h: call fragments that explain most of what was allocated. Of a view
 * inward of whole stacks.
 *
 * Every stack counts in at most one fragment, so that fragments add up. First come those that end
 * where memory is allocated: the longest ones (up to HOTPATHS_FRAMES calls) that have at least a
 * given share of the total after what longer ones have taken. What is left, being spread over many
 * sites, is then given to fragments from the outside: the longest ones that still have that share.
 * Functions of which more than half of the total is below are on nearly every path and tell paths
 * not apart; fragments begin inside of them. */
#ifndef PATHS_HOTPATHS_H
#define PATHS_HOTPATHS_H

#include "paths/callpaths.h"

enum { HOTPATHS_FRAMES = 8 };

typedef struct hotpaths_fragment {
    uint32_t first, n; /* in `frames`, outermost first */
    cost cost;         /* of the stacks that no other fragment has */
    bool ends_in_site; /* else its stacks go on from there, to many sites */
} hotpaths_fragment;

typedef struct hotpaths {
    VEC(hotpaths_fragment) fragments; /* largest first */
    VEC(const profile_location *) frames;
} hotpaths;

/* `share`: 0 … 1. Fills `*result`, which need not be initialised; false when there is no memory. */
bool hotpaths_query(const callpaths *v, double share, hotpaths *result);

void hotpaths_free(hotpaths *h);

#endif
