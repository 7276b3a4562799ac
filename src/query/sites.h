/* sites.h: which place allocated each block: for reports that sum up blocks by site. */
#ifndef QUERY_SITES_H
#define QUERY_SITES_H

#include "query/lens.h"

#define SITES_NONE UINT32_MAX

typedef struct sites {
    VEC(const profile_location *) places; /* NULL: blocks without backtrace. In no special order */
    uint32_t *of_row;                     /* index into `places`; SITES_NONE: the row is not kept */
} sites;

/* Places are as the lens sees them: lines, or functions with all their lines. `kept` is by row of
 * the table; NULL: all. False when there is no memory. */
bool sites_find(const lens *l, const uint8_t *kept, bool by_function, sites *s);

void sites_free(sites *s);

/* An order of places in which equal costs are shown: by file, line, function; NULL is last. */
int sites_compare_places(const profile_location *a, const profile_location *b);

#endif
