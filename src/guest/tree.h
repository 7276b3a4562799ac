/* tree.h: a tree whose edges are numbers: of sites while the tracer counts, of elements in reports.
 *
 * Nodes are numbered as they appear, so that a parent comes before its children. */
#ifndef GUEST_TREE_H
#define GUEST_TREE_H

#include "base/map64.h"
#include "base/vec.h"

#define TREE_ROOT 0
#define TREE_NONE UINT32_MAX /* there was no memory */

typedef struct tree_node {
    uint32_t parent; /* of the root: itself */
    uint32_t edge;   /* of the root: meaningless */
} tree_node;

/* Legal when zeroed. */
typedef struct tree {
    VEC(tree_node) nodes;
    map64 children; /* parent and edge → node */
} tree;

/* The child of `parent` along `edge`, made if need be; TREE_NONE also if `parent` is that. */
uint32_t tree_child(tree *t, uint32_t parent, uint32_t edge);

/* Nodes, the root included. */
static inline size_t tree_size(const tree *t) {
    return t->nodes.count ? t->nodes.count : 1;
}

void tree_free(tree *t);

#endif
