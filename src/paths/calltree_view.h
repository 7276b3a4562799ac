/* calltree_view.h: the profile's tree as a lens sees it, and trees of places that grow: what trees
 * and pictures of costs are made on. For those alone that make these, or go through all of it. */
#ifndef PATHS_CALLTREE_VIEW_H
#define PATHS_CALLTREE_VIEW_H

#include "paths/calltree.h"

#define NO_PLACE UINT32_MAX

/* ---- places ------------------------------------------------------------------------------ */

/* Numbers for locations, so that what shall be one node has one number. */
typedef struct place_table {
    map64 functions, files, pairs, lines;
    uint32_t *of_location;   /* by the profile's locations */
    VEC(uint32_t) locations; /* by place: one that stands for it */
} place_table;

/* ---- growing trees ----------------------------------------------------------------------- */

typedef struct path_node {
    uint32_t parent, place;
} path_node;

typedef struct path_tree {
    VEC(path_node) nodes; /* the root, whose place means nothing, first */
    VEC(uint32_t) firsts; /* by node: its first child, mostly the only one; root: none */
    map64 others;         /* (parent, place) → node: the other children */
    bool collapse;
} path_tree;

bool path_tree_add(path_tree *t, uint32_t parent, uint32_t place);

/* The child of `parent` for a place, or the node of the path that is it already. */
bool path_tree_go(path_tree *t, uint32_t parent, uint32_t place, uint32_t *child);

/* What only growing needs. */
void path_tree_drop_children(path_tree *t);
void path_tree_free(path_tree *t);

/* ---- what the lens sees ------------------------------------------------------------------ */

struct calltree_view {
    place_table places;
    path_tree seen;    /* in preorder: what is below a node follows it */
    uint32_t *ends;    /* by node: one beyond the last that is below it */
    uint32_t *seen_of; /* by the profile's nodes: the node in `seen` */
    size_t n_of;
};

static inline size_t calltree_view_count(const calltree_view *v) {
    return v->seen.nodes.count;
}

static inline const path_node *calltree_view_at(const calltree_view *v, uint32_t node) {
    return &v->seen.nodes.items[node];
}

/* Where a cost belongs: at its site, as many steps outward as the lens skips wrappers. */
uint32_t calltree_view_site(const calltree_view *v, const lens *l, const cost_entry *e);

/* By node: the innermost end of the focus on its path; or root. To be freed; NULL when there is no
 * memory. */
uint32_t *calltree_view_focus(const calltree_view *v, const profile *p, const call_site *focus);

/* The order of siblings: the largest first, then by name. */
int calltree_compare(double x_weight, const profile_location *x, double y_weight,
                     const profile_location *y);

#endif
