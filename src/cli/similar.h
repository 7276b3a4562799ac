/* similar.h: what somebody may have meant who asked for a name that a trace does not have. */
#ifndef CLI_SIMILAR_H
#define CLI_SIMILAR_H

#include "query/filter.h"

/* Says which function, if there is one, has a name like that; of where programs begin in other
 * languages, where this one does. */
void similar_hint(const profile *p, const char *wanted);

/* The same of each function, file and type that a filter names as it is, where no name has it as a
 * part. */
void similar_hint_filter(const profile *p, const filter *f);

#endif
