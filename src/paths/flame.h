/* flame.h: as much of a call tree as a screen shows: what is too narrow is summed up in nodes that
 * say how many places they stand for, so that nothing is silently absent. A pure query on a tree.
 */
#ifndef PATHS_FLAME_H
#define PATHS_FLAME_H

#include "paths/calltree.h"

#define FLAME_NOWHERE UINT32_MAX

/* Whether a node is what was searched for. */
typedef enum flame_match {
    FLAME_NO_MATCH,
    FLAME_MATCH,       /* its place is */
    FLAME_MATCH_BELOW, /* its place is not, one below it is, shown or not */
} flame_match;

typedef struct flame_spec {
    /* Where the picture begins: the places of the path from the root down, numbers of the profile's
     * locations. It is followed as far as it exists. */
    const uint32_t *root;
    size_t n_root;
    double min_share; /* of the weight of where it begins: narrower nodes are summed up */
    uint32_t rows;    /* of nodes, at least 1 */
    bool by_line;     /* as the tree was built */
    bool outward;     /* callers stand below: what is summed up is counted in callers */
    /* By the profile's locations: 1 where the search matches. NULL: there is none. */
    const uint8_t *matches;
} flame_spec;

typedef struct flame_node {
    uint32_t node;   /* of the tree; FLAME_NOWHERE: summed up, or there is no tree */
    uint32_t place;  /* number of a location; FLAME_NOWHERE: the tree's root, or summed up */
    uint32_t parent; /* smaller than the node's own index; FLAME_NOWHERE: the first one */
    cost total;
    cost self;
    /* 0, or of a node that sums up: how many places allocate in it, each counted once; outward, how
     * many callers it stands for. */
    uint32_t sites;
    bool more; /* something is below that is not in the picture */
    flame_match match;
} flame_node;

typedef struct flame {
    VEC(flame_node) nodes; /* in preorder, siblings largest first, the sum of the rest last */
    size_t n_found;        /* so many places of spec.root exist */
    cost matched;          /* of the stacks in the picture that match; each once */
} flame;

/* The child of a node whose place looks like that of this number; CALLTREE_ROOT: there is none. */
uint32_t flame_child(const profile *p, const calltree *t, uint32_t node, uint32_t place,
                     bool by_line);

/* Fills `*result`, which need not be initialised; false when there is no memory. */
bool flame_query(const profile *p, const calltree *t, const flame_spec *spec, flame *result);

/* What a question's blocks cost, by the nodes of a view: own costs, and those with all below.
 * Immutable; refers to nothing. */
typedef struct calltree_sums calltree_sums;

/* `v` must be of what the question's lens hides. NULL when there is no memory. */
calltree_sums *calltree_sums_new(const query_result *q, const calltree_view *v);
size_t calltree_sums_size(const calltree_sums *s); /* bytes */
void calltree_sums_free(calltree_sums *s);         /* NULL is allowed */

/* What a tree of whole stacks, outermost first, has at a node: it numbers them as the view does. */
cost calltree_sums_own(const calltree_sums *s, uint32_t node);
cost calltree_sums_all(const calltree_sums *s, uint32_t node);

/* The picture that flame_query makes of the tree that `shape` describes, without making that tree.
 * `shape->view` is the view of the sums; it does not collapse, and bounds no depth. Nodes of the
 * result have no number in a tree. */
bool flame_of_sums(const profile *p, const calltree_sums *s, const calltree_spec *shape,
                   const flame_spec *spec, flame *result);

void flame_free(flame *f);

#endif
