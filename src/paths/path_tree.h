/* path_tree.h: trees of places, through which call paths run. They know no costs. This header is
 * only for code that makes views of call paths or walks over a whole view. */
#ifndef PATHS_PATH_TREE_H
#define PATHS_PATH_TREE_H

#include "query/place_table.h"
#include "query/query.h"

#define PATH_ROOT    0u
#define PATH_NOWHERE UINT32_MAX /* no node, no place */

enum { PATH_SIDES = 2 }; /* sides of a comparison */

typedef struct path_node {
    uint32_t parent, place; /* PATH_NOWHERE: the place of the root */
} path_node;

typedef struct path_tree {
    const profile *names;      /* has the locations of places; a joined tree has its own */
    const place_table *places; /* numbers them. Both are NULL if collapsed and not standing alone */
    path_node *nodes;          /* in preorder: what is below a node follows it */
    uint32_t *ends;            /* by node: one past the last node below it */
    size_t n;
    /* By what the tree was made from (stacks of the profile, cct_stack, or nodes of another tree):
     * its node here; PATH_NOWHERE: none. */
    uint32_t *of[PATH_SIDES];
    size_t n_of[PATH_SIDES];
    bool is_of_stacks; /* `of` is by stack: the tree was seen, was joined, or stands alone */
    place_table own_places;
    profile own_names; /* only locations */
} path_tree;

static inline const profile_location *path_tree_location(const path_tree *t, uint32_t place) {
    return place == PATH_NOWHERE ? NULL
                                 : &t->names->locations.items[t->places->locations.items[place]];
}

/* For a tree by stacks: returns the node at which the stack of a node of the profile's tree ends;
 * the stack must have blocks. */
static inline uint32_t path_tree_end_of(const path_tree *t, unsigned side, const cct *from,
                                        uint32_t node) {
    return t->of[side][cct_stack(from, node)];
}
static inline uint32_t path_tree_end(const path_tree *t, uint32_t node) {
    return path_tree_end_of(t, 0, &t->names->tree, node);
}

/* Makes the tree of a profile as seen through a lens. It refers to the profile, but not to the
 * lens. NULL when there is no memory, as for the functions below. */
path_tree *path_tree_see(const lens *l, place_by by);

/* Joins two such trees to one, with the stacks of both. Its locations are those of the first tree,
 * then those of the second. Places of the same name are one, with a location of the first tree if
 * it has any. Refers to neither tree. */
path_tree *path_tree_join(const path_tree *const of[PATH_SIDES], place_by by);

/* Makes a tree of `of` with recursion collapsed: a place that is already on the path is the same
 * node. `focus`, from path_tree_focus: only what is below its outermost ends; NULL: all. The places
 * are those of `of`, but the tree does not refer to it. */
path_tree *path_tree_collapse(const path_tree *of, const uint32_t *focus);

/* Makes a collapsed tree independent of `of`, from which it was made, by mapping stacks directly.
 * It then has no sites of external blocks, for which `of` is needed. False when there is no
 * memory. */
bool path_tree_stand_alone(path_tree *t, const path_tree *of, place_by by);

/* Stores the places from the root to a node in `places`, outermost first, and clears it before.
 * False when there is no memory. */
typedef VEC(uint32_t) path_places;
bool path_tree_walk(const path_tree *t, uint32_t node, path_places *places);

/* Returns, by node, the length of all texts of its path together. `ends[i]` is the end of the text
 * of place `i` if all texts are concatenated. The caller frees the result; NULL when there is no
 * memory. */
uint64_t *path_tree_lengths(const path_tree *t, const size_t *ends);

size_t path_tree_size(const path_tree *t); /* bytes */
void path_tree_free(path_tree *t);         /* NULL is allowed */

/* Returns the node of an external cost in a tree that was seen or joined: its site, as many steps
 * outward as the lens of that side skips wrappers. */
uint32_t path_tree_site(const path_tree *t, unsigned side, const lens *l, const cost_entry *e);

/* Returns, by node, the innermost end of the focus on its path; root: none. The caller frees the
 * result, also of path_tree_exits. */
uint32_t *path_tree_focus(const path_tree *t, const call_site *focus);

/* Returns, by node, where a path outward goes on with recursion collapsed: after the outermost node
 * of the same place. */
uint32_t *path_tree_exits(const path_tree *t);

#endif
