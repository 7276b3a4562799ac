/* stacks.h: the stacks of a profile as people and other tools see them.
 *
 * The calling-context tree counts in frames of the trace. Here inlined functions are taken apart,
 * what a lens hides is gone, places that look the same are one, and so are the stacks that consist
 * of the same places. */
#ifndef QUERY_STACKS_H
#define QUERY_STACKS_H

#include "query/cost.h"
#include "query/lens.h"

#define STACKS_ROOT 0u

typedef struct stacks_node {
    uint32_t parent; /* smaller than the node's own index; the root's is the root */
    uint32_t place;  /* index into `places`; meaningless for the root */
} stacks_node;

/* Legal when zeroed. */
typedef struct stacks {
    VEC(profile_location) places;
    VEC(stacks_node) nodes; /* the path from the root to a node is a stack, outermost first */
    uint32_t *place_of;     /* by the profile's locations */
    uint32_t *node_of;      /* by the profile's nodes */
} stacks;

/* What tells places apart. */
typedef enum stacks_by {
    STACKS_BY_LINE,    /* function, file and line */
    STACKS_BY_FUNCTION /* the name alone; `file` and `line` are empty */
} stacks_by;

/* False when there is no memory. */
bool stacks_build(const lens *l, stacks_by by, stacks *s);

/* What each node's own stack amounts to, by node; the caller frees it. NULL when there is no
 * memory. */
cost *stacks_costs(const stacks *s, const cost_list *costs);

/* By node, how much its stack's places amount to, `ends[i]` being what those up to the place `i`
 * do; the same. */
uint64_t *stacks_lengths(const stacks *s, const size_t *ends);

/* The places of a stack, outermost first, into `places`, which is emptied before. */
typedef VEC(uint32_t) stacks_path;
bool stacks_walk(const stacks *s, uint32_t node, stacks_path *places);

void stacks_free(stacks *s);

#endif
