/* sites.h: finds which place allocated each block, for reports that sum up blocks by site. */
#ifndef QUERY_SITES_H
#define QUERY_SITES_H

#include "query/lens.h"

#define SITES_NONE UINT32_MAX

typedef struct sites {
    VEC(const profile_location *) places; /* in any order; NULL: blocks without backtrace */
    uint32_t *of_row;                     /* index into `places`; SITES_NONE: the row is not kept */
} sites;

/* Finds the sites of the rows for which `kept` is not 0; NULL: all rows. Places are as seen through
 * the lens: lines, or functions with all their lines. False when there is no memory. */
bool sites_find(const lens *l, const uint8_t *kept, bool by_function, sites *s);

void sites_free(sites *s);

/* Orders places of equal cost: by file, line, function; NULL is last. */
int sites_compare_places(const profile_location *a, const profile_location *b);

#endif
