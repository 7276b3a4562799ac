/* libraries.h: whether sites are in a language's libraries rather than in the program that calls
 * them. A pure query on costs. */
#ifndef QUERY_LIBRARIES_H
#define QUERY_LIBRARIES_H

#include "base/map64.h"
#include "query/query.h"

/* The filter that hides libraries. */
#define LIBRARIES_HIDDEN "hide:@library"

/* Whether most of what was counted was allocated at sites in libraries, for callers whose code is
 * in no library and whose lines are known. Hiding libraries would then show these callers. If there
 * are more than a thousand stacks, only so many are examined. Also false when there is no
 * memory. */
bool libraries_hold_most(const query_result *q);

/* Caches which locations are in libraries, and per node, how a stack leaves them. */
typedef struct libraries {
    const lens *lens;
    filter *hide;
    uint8_t *known;  /* by location; 0: unknown */
    map64 functions; /* the same by function, and by file: equal strings of the profile have equal
                        pointers */
    map64 files;
    uint32_t *left; /* by node of the lens; 0: unknown. NULL: not needed so far */
} libraries;

/* False when there is no memory. Must be closed in any case. */
bool libraries_open(libraries *all, const lens *l);

/* Returns the first location outward of `at` that is in no library; LENS_NOWHERE: none. */
uint32_t libraries_leave(libraries *all, lens_cursor at);

void libraries_close(libraries *all);

/* Whether a place is in a library. Also false when there is no memory. */
bool libraries_have(const profile_location *place);

#endif
