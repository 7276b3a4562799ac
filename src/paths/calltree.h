/* calltree.h: costs arranged along call paths: from the outermost caller inward, from the sites
 * outward (inverted), or only what stands below or above a function or a sequence of functions.
 * A pure query on costs; trees are as the lens sees them. */
#ifndef PATHS_CALLTREE_H
#define PATHS_CALLTREE_H

#include "query/query.h"

typedef enum calltree_shape {
    CALLTREE_DOWN,     /* whole stacks, outermost first */
    CALLTREE_INVERTED, /* whole stacks, sites first */
    CALLTREE_CALLEES,  /* what the focus calls: below its outermost occurrence in a stack */
    CALLTREE_CALLERS,  /* what calls the focus: above its innermost occurrence */
} calltree_shape;

/* The profile's tree as a lens sees it, without costs: what many queries begin with, and most of
 * their work. Immutable. It refers to the profile, not to the lens. */
typedef struct calltree_view calltree_view;

/* NULL when there is no memory. */
calltree_view *calltree_view_new(const lens *l, bool by_line);
size_t calltree_view_size(const calltree_view *v); /* bytes */
void calltree_view_free(calltree_view *v);         /* NULL is allowed */

typedef struct calltree_spec {
    calltree_shape shape;
    bool by_line;            /* nodes are lines; else functions with all their lines */
    bool collapse_recursion; /* a function that is on the path already is the same node */
    const call_site *focus;  /* of CALLEES and CALLERS; with lines only if `by_line` */
    /* Stacks are followed so many calls outward, where that is the direction; the last one stands
     * for all beyond. Bounds the work for deep stacks. 0: no limit. */
    uint64_t max_depth;
    /* Outward: locations from the root on. What leaves this path is followed no further, as if it
     * ended there. Not with `collapse_recursion`. */
    const uint32_t *path;
    size_t n_path;
    /* Of the query's profile, `by_line` and what its lens hides; NULL: made for this query. */
    const calltree_view *view;
} calltree_spec;

#define CALLTREE_ROOT 0u

typedef struct calltree_node {
    const profile_location *place; /* NULL: the root */
    uint32_t parent;               /* smaller than the node's own index */
    uint32_t first, n_children;    /* in `children` */
    cost self;                     /* of the stacks that end here */
    cost total;                    /* with all below */
} calltree_node;

/* The root's total is all that the tree holds: with a focus, what its stacks allocated. */
typedef struct calltree {
    VEC(calltree_node) nodes;
    VEC(uint32_t) children; /* of each node together, largest first */
} calltree;

/* Fills `*result`, which need not be initialised; false when there is no memory. It refers to the
 * profile. */
bool calltree_query(const query_result *q, const calltree_spec *spec, calltree *result);

/* Of a tree whose nodes have parents, places and costs of their own: adds up their totals, and
 * lists their children. False when there is no memory. */
bool calltree_arrange(calltree *t);

void calltree_free(calltree *t);

#endif
