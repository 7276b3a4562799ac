/* difftree.h: two call trees, of two programs or two versions of one, as one, with what each has. A
 * pure query on trees of the same shape. */
#ifndef PATHS_DIFFTREE_H
#define PATHS_DIFFTREE_H

#include "paths/calltree.h"

/* Of a node, with all below it. */
typedef struct difftree_sides {
    cost before, after;
} difftree_sides;

typedef struct difftree {
    /* Has locations alone: those after, then those before. Places of the same name are one, which
     * is one of those after where there is any. */
    profile names;
    calltree tree;         /* weights are amounts of both together; the rest is added up as it is */
    difftree_sides *sides; /* by node */
} difftree;

/* Fills `*d`, which need not be initialised; false when there is no memory. It refers to nothing.
 */
bool difftree_query(const query_result *before, const calltree *before_tree,
                    const query_result *after, const calltree *after_tree, bool by_line,
                    difftree *d);

void difftree_free(difftree *d);

#endif
