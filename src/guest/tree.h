/* tree.h: a tree whose edges are numbers: of sites while the tracer counts, of elements in reports.
 *
 * Nodes are numbered in the order of their creation, so a parent comes before its children. */
#ifndef GUEST_TREE_H
#define GUEST_TREE_H

#include "base/map64.h"
#include "base/vec.h"

#define TREE_ROOT 0
#define TREE_NONE UINT32_MAX /* no memory */

typedef struct tree_node {
    uint32_t parent; /* the root's parent is itself */
    uint32_t edge;   /* meaningless for the root */
} tree_node;

/* Valid when zeroed. */
typedef struct tree {
    VEC(tree_node) nodes;
    map64 children; /* (parent, edge) → node */
} tree;

/* Returns the child of `parent` along `edge`, which is made if necessary. Returns TREE_NONE when
 * there is no memory, or if `parent` is TREE_NONE. */
uint32_t tree_child(tree *t, uint32_t parent, uint32_t edge);

/* Returns the number of nodes, including the root. */
static inline size_t tree_size(const tree *t) {
    return t->nodes.count ? t->nodes.count : 1;
}

void tree_free(tree *t);

#endif
