/* libraries.h: whether sites are places in a language's libraries rather than in the program that
 * calls them. A pure query on costs. */
#ifndef QUERY_LIBRARIES_H
#define QUERY_LIBRARIES_H

#include "query/query.h"

/* What hides libraries, as users write it. */
#define LIBRARIES_HIDDEN "hide:@library"

/* Whether most of what was counted was allocated at sites in libraries, by callers in code that is
 * in none and whose lines are known: hiding libraries would then show that code. Looks at some
 * thousand stacks where there are more. False also when there is no memory. */
bool libraries_hold_most(const query_result *q);

/* Whether a place is in one. False also when there is no memory. */
bool libraries_have(const profile_location *place);

#endif
