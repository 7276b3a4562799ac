/* functions.h: what is allocated in each place, and while it is on the stack. Of a view inward of
 * whole stacks. */
#ifndef PATHS_FUNCTIONS_H
#define PATHS_FUNCTIONS_H

#include "paths/callpaths.h"

typedef struct functions_entry {
    const profile_location *place;
    cost total; /* of the stacks that have it, each once */
    cost self;  /* allocated right there */
} functions_entry;

typedef VEC(functions_entry) functions_list;

/* Fills `*list`, which need not be initialised, in the order in which places come in the tree;
 * false when there is no memory. Places that cost nothing are left out. */
bool functions_query(const callpaths *v, functions_list *list);

/* The same of the lines of `file`, a string of the profile; the view is one of lines. An entry is a
 * line with all functions that are on it, its `place` the first of them. */
bool functions_query_lines(const callpaths *v, const char *file, functions_list *list);

#endif
