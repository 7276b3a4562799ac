/* similar.h: suggests what a user may have meant by a name that is not in a trace. */
#ifndef CLI_SIMILAR_H
#define CLI_SIMILAR_H

#include "query/filter.h"

/* Returns the function with the most similar name; NULL: none is similar. */
const char *similar_function(const profile *p, const char *wanted);

/* Suggests the function with the most similar name. If there is none, and the name is an entry
 * point, such as main, names the function in which most stacks of this trace begin. */
void similar_hint(const profile *p, const char *wanted);

/* Does the same for each literal name of a function, file or type in a filter that is not a part of
 * any name in the trace. */
void similar_hint_filter(const profile *p, const filter *f);

#endif
