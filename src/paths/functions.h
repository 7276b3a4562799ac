/* functions.h: what is allocated in each place, and while it is on the stack. A pure query on a
 * call tree of whole stacks, outermost first. */
#ifndef PATHS_FUNCTIONS_H
#define PATHS_FUNCTIONS_H

#include "paths/flame.h"

typedef struct functions_entry {
    const profile_location *place;
    cost total; /* of the stacks that have it, each once */
    cost self;  /* allocated right there */
} functions_entry;

typedef VEC(functions_entry) functions_list;

/* Fills `*list`, which need not be initialised, in the order in which places come in the tree;
 * false when there is no memory. */
bool functions_query(const profile *p, const calltree *t, functions_list *list);

/* The same without that tree, of a question's sums by a view; places in any order. */
bool functions_of_sums(const profile *p, const calltree_view *v, const calltree_sums *s,
                       functions_list *list);

/* The same of the lines of `file`, a string of the profile; the tree is one of lines. An entry is a
 * line with all functions that are on it, its `place` the first of them in the tree. */
bool functions_query_lines(const profile *p, const calltree *t, const char *file,
                           functions_list *list);

#endif
