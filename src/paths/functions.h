/* functions.h: what is allocated by each function or line itself, and while it is on the stack. For
 * a view of whole stacks inward. */
#ifndef PATHS_FUNCTIONS_H
#define PATHS_FUNCTIONS_H

#include "paths/callpaths.h"

typedef struct functions_entry {
    const profile_location *place;
    cost total; /* of the stacks that contain it, each once */
    cost self;  /* allocated by the place itself */
} functions_entry;

typedef VEC(functions_entry) functions_list;

/* Lists places in the order in which they come in the tree; places without costs are left out.
 * Fills `*list`, which need not be initialized; false when there is no memory. */
bool functions_query(const callpaths *v, functions_list *list);

/* Does the same for the lines of `file`, a string of the profile; the view must be by line. An
 * entry is a line with all functions on it; its `place` is the first of them. */
bool functions_query_lines(const callpaths *v, const char *file, functions_list *list);

#endif
