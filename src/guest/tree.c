/* tree.c: one hash map leads from (parent, edge) to the child, so that children are never
 * searched. */
#include "guest/tree.h"

static uint32_t new_node(tree *t, uint32_t parent, uint32_t edge) {
    if (t->nodes.count >= TREE_NONE ||
        !vec_push(&t->nodes, ((tree_node){.parent = parent, .edge = edge})))
        return TREE_NONE;
    return (uint32_t)(t->nodes.count - 1);
}

uint32_t tree_child(tree *t, uint32_t parent, uint32_t edge) {
    if (parent == TREE_NONE || (!t->nodes.count && new_node(t, TREE_ROOT, 0) == TREE_NONE) ||
        !vec_reserve(&t->nodes, 1))
        return TREE_NONE;
    uint32_t *child = map64_put(&t->children, (uint64_t)parent << 32 | edge);
    if (!child)
        return TREE_NONE;
    if (*child == MAP64_NONE)
        *child = new_node(t, parent, edge);
    return *child;
}

void tree_free(tree *t) {
    vec_free(&t->nodes);
    map64_free(&t->children);
}
