/* path_tree.h: trees of places, which call paths run through. They know no costs. For those alone
 * who make views of call paths, or go through all of one. */
#ifndef PATHS_PATH_TREE_H
#define PATHS_PATH_TREE_H

#include "query/place_table.h"
#include "query/query.h"

#define PATH_ROOT    0u
#define PATH_NOWHERE UINT32_MAX /* no node, no place */

enum { PATH_SIDES = 2 }; /* that can be compared */

typedef struct path_node {
    uint32_t parent, place; /* PATH_NOWHERE: the root's place */
} path_node;

typedef struct path_tree {
    const profile *names;      /* whose locations places are; of a joined tree, its own */
    const place_table *places; /* numbered among these; a collapsed tree has neither, unless it
                                  stands alone */
    path_node *nodes;          /* in preorder: what is below a node follows it */
    uint32_t *ends;            /* by node: one beyond the last that is below it */
    size_t n;
    uint32_t *of[PATH_SIDES]; /* by what it was made of (stacks of the profile, cct_stack, or nodes
                                 of one of these): the node here; PATH_NOWHERE: it is in none */
    size_t n_of[PATH_SIDES];
    bool is_of_stacks; /* one of the former: it was seen, was joined, or stands alone */
    place_table own_places;
    profile own_names; /* locations alone */
} path_tree;

static inline const profile_location *path_tree_location(const path_tree *t, uint32_t place) {
    return place == PATH_NOWHERE ? NULL
                                 : &t->names->locations.items[t->places->locations.items[place]];
}

/* Of a tree of stacks: where the stack of a node of a profile's tree ends, which has blocks. */
static inline uint32_t path_tree_end_of(const path_tree *t, unsigned side, const cct *from,
                                        uint32_t node) {
    return t->of[side][cct_stack(from, node)];
}
static inline uint32_t path_tree_end(const path_tree *t, uint32_t node) {
    return path_tree_end_of(t, 0, &t->names->tree, node);
}

/* The tree of a profile, as a lens sees it. It refers to the profile, not to the lens. NULL when
 * there is no memory, as the next ones. */
path_tree *path_tree_see(const lens *l, place_by by);

/* Two of these as one, of the stacks of both. Its locations are those of the first, then those of
 * the second; places of the same names are one, whose location is one of the first where there is
 * any. Refers to neither. */
path_tree *path_tree_join(const path_tree *const of[PATH_SIDES], place_by by);

/* `of` with recursion collapsed: a place that is on the path already is the same node. `focus`: of
 * what path_tree_focus says, only what is below the outermost ends. NULL: all. Its places are
 * those of `of`, to which it does not refer. */
path_tree *path_tree_collapse(const path_tree *of, const uint32_t *focus);

/* Makes a collapsed tree one of the stacks of which the tree was seen that it was made of, which is
 * of no use to it any more. Not of external blocks: where their sites are, that one tells. */
bool path_tree_stand_alone(path_tree *t, const path_tree *of, place_by by);

/* The places from the root to a node, outermost first, into `places`, which is emptied before.
 * False when there is no memory. */
typedef VEC(uint32_t) path_places;
bool path_tree_walk(const path_tree *t, uint32_t node, path_places *places);

/* By node, how long the texts of its path are together, `ends[i]` being where the text of place `i`
 * ends if they all stand in a row. To be freed; NULL when there is no memory. */
uint64_t *path_tree_lengths(const path_tree *t, const size_t *ends);

size_t path_tree_size(const path_tree *t); /* bytes */
void path_tree_free(path_tree *t);         /* NULL is allowed */

/* Of a tree that was seen or joined, where an external cost belongs: at its site, as many steps
 * outward as the lens of that side skips wrappers. */
uint32_t path_tree_site(const path_tree *t, unsigned side, const lens *l, const cost_entry *e);

/* By node: the innermost end of the focus on its path; or root. To be freed, as the next one. */
uint32_t *path_tree_focus(const path_tree *t, const call_site *focus);

/* By node: where a path outward goes on from there if recursion is collapsed, which is behind the
 * outermost node of the same place. */
uint32_t *path_tree_exits(const path_tree *t);

#endif
