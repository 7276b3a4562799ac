/* picture.h: the part of a view of call paths that is shown. What is too narrow is summed up in
 * nodes that tell how many places they stand for, or counted, so that nothing is silently
 * missing. */
#ifndef PATHS_PICTURE_H
#define PATHS_PICTURE_H

#include "paths/callpaths.h"

/* Whether a node matches the search. */
typedef enum picture_match {
    PICTURE_NO_MATCH,
    PICTURE_MATCH,       /* its place matches */
    PICTURE_MATCH_BELOW, /* only a place below it matches, shown or not */
} picture_match;

typedef struct picture_spec {
    /* Where the picture begins: the places of the path from the root down, as numbers of locations.
     * The path is followed as far as it exists. */
    const uint32_t *root;
    size_t n_root;
    double min_percent; /* of the weight at the picture's root; narrower nodes are not shown */
    uint64_t most;      /* nodes shown below each node; 0: no limit */
    uint32_t rows;      /* of nodes, at least 1 */
    bool only_counted;  /* what is not shown is not summed up; nodes tell how many are omitted */
    /* By location of the tree's names: 1 if the search matches. NULL: no search. */
    const uint8_t *matches;
} picture_spec;

typedef struct picture_node {
    uint32_t place;  /* number of a location; PATH_NOWHERE: the root, or a sum */
    uint32_t parent; /* less than the node's own index; PATH_NOWHERE: the first node */
    cost total;
    cost self;
    /* 0, or for a node that sums up others: how many distinct places allocate in it; outward, how
     * many callers it stands for. */
    uint32_t sites;
    uint32_t omitted; /* with `only_counted`: nodes below it that are not shown */
    bool more;        /* something below it is not in the picture */
    picture_match match;
} picture_node;

/* The costs of a node on each side, with all that is below. */
typedef struct picture_sides {
    cost of[PATH_SIDES];
} picture_sides;

/* The root's total is all that the view shows; with a focus, what the stacks of the focus
 * allocated. */
typedef struct picture {
    VEC(picture_node) nodes;  /* in preorder, siblings largest first, the sum of the rest last */
    VEC(picture_sides) sides; /* by node, if two questions are compared */
    picture_sides whole; /* of all that the view shows, wherever the picture begins; if compared */
    size_t n_found;      /* places of spec.root that exist */
    cost matched;        /* of the stacks in the picture that match, each once */
} picture;

/* Fills `*result`, which need not be initialized; false when there is no memory. */
bool picture_query(const callpaths *v, const picture_spec *spec, picture *result);

void picture_free(picture *p);

#endif
