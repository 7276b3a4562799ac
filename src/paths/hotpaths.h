/* hotpaths.h: call fragments that explain most of what was allocated, of a view of whole stacks
 * inward.
 *
 * Every stack counts in at most one fragment, so fragments add up. First come fragments that end
 * where memory is allocated: the longest (up to HOTPATHS_FRAMES calls) that have at least a given
 * share of the total after what longer ones have taken. The rest is spread over many sites. It is
 * given to fragments from the outside: the longest that still have that share. Functions with more
 * than half of the total below them are on nearly every path, so they do not distinguish paths;
 * fragments begin inside of them. */
#ifndef PATHS_HOTPATHS_H
#define PATHS_HOTPATHS_H

#include "paths/callpaths.h"

enum { HOTPATHS_FRAMES = 8 };

typedef struct hotpaths_fragment {
    uint32_t first, n; /* in `frames`, outermost first */
    cost cost;         /* of the stacks that are in no other fragment */
    bool ends_in_site; /* else its stacks go on to many sites */
} hotpaths_fragment;

typedef struct hotpaths {
    VEC(hotpaths_fragment) fragments; /* largest first */
    VEC(const profile_location *) frames;
} hotpaths;

/* `share` is 0 … 1. Fills `*result`, which need not be initialized; false when there is no
 * memory. */
bool hotpaths_query(const callpaths *v, double share, hotpaths *result);

void hotpaths_free(hotpaths *h);

#endif
