/* libraries.h: whether sites are places in a language's libraries rather than in the program that
 * calls them. A pure query on costs. */
#ifndef QUERY_LIBRARIES_H
#define QUERY_LIBRARIES_H

#include "base/map64.h"
#include "query/query.h"

/* What hides libraries, as users write it. */
#define LIBRARIES_HIDDEN "hide:@library"

/* Whether most of what was counted was allocated at sites in libraries, by callers in code that is
 * in none and whose lines are known: hiding libraries would then show that code. Looks at some
 * thousand stacks where there are more. False also when there is no memory. */
bool libraries_hold_most(const query_result *q);

/* Which locations are in libraries: decided once each, when it is asked for; and so is how a stack
 * leaves them, once a node. */
typedef struct libraries {
    const lens *lens;
    filter *hide;
    uint8_t *known; /* by location; 0: not yet */
    map64 files;    /* the same by file: strings of the profile are equal if their pointers are */
    uint32_t *left; /* by node of the lens; 0: not yet */
} libraries;

/* False when there is no memory. To be closed in any case. */
bool libraries_open(libraries *all, const lens *l);

/* The first location outward from there that is in no library; LENS_NOWHERE: there is none. */
uint32_t libraries_leave(libraries *all, lens_cursor at);

void libraries_close(libraries *all);

/* Whether a place is in one. False also when there is no memory. */
bool libraries_have(const profile_location *place);

#endif
