/* picture.h: as much of a view of call paths as is shown: what is too narrow is summed up in nodes
 * that say how many places they stand for, or counted, so that nothing is silently absent. */
#ifndef PATHS_PICTURE_H
#define PATHS_PICTURE_H

#include "paths/callpaths.h"

/* Whether a node is what was searched for. */
typedef enum picture_match {
    PICTURE_NO_MATCH,
    PICTURE_MATCH,       /* its place is */
    PICTURE_MATCH_BELOW, /* its place is not, one below it is, shown or not */
} picture_match;

typedef struct picture_spec {
    /* Where the picture begins: the places of the path from the root down, numbers of locations. It
     * is followed as far as it exists. */
    const uint32_t *root;
    size_t n_root;
    double min_percent; /* of the weight of where it begins: narrower nodes are not shown */
    uint64_t most;      /* at most so many below each are; 0: no limit */
    uint32_t rows;      /* of nodes, at least 1 */
    bool only_counted;  /* what is not shown is not summed up; a node says how many are below it */
    /* By location of the tree's names: 1 where the search matches. NULL: there is none. */
    const uint8_t *matches;
} picture_spec;

typedef struct picture_node {
    uint32_t place;  /* number of a location; PATH_NOWHERE: the tree's root, or summed up */
    uint32_t parent; /* smaller than the node's own index; PATH_NOWHERE: the first one */
    cost total;
    cost self;
    /* 0, or of a node that sums up: how many places allocate in it, each counted once; outward, how
     * many callers it stands for. */
    uint32_t sites;
    uint32_t omitted; /* `only_counted`: so many below it are not shown */
    bool more;        /* something is below that is not in the picture */
    picture_match match;
} picture_node;

/* Of a node, with all below it. */
typedef struct picture_sides {
    cost of[PATH_SIDES];
} picture_sides;

/* The root's total is all that was looked at: with a focus, what its stacks allocated. */
typedef struct picture {
    VEC(picture_node) nodes;  /* in preorder, siblings largest first, the sum of the rest last */
    VEC(picture_sides) sides; /* by node, if two questions are compared */
    picture_sides whole;      /* of all that is looked at, wherever the picture begins; the same */
    size_t n_found;           /* so many places of spec.root exist */
    cost matched;             /* of the stacks in the picture that match; each once */
} picture;

/* Fills `*result`, which need not be initialised; false when there is no memory. */
bool picture_query(const callpaths *v, const picture_spec *spec, picture *result);

void picture_free(picture *p);

#endif
