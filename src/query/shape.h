/* shape.h: call stacks cut and folded as a filter's terms ask: below a function, above it, below a
 * path, without recursion.
 *
 * A shape is a tree of single locations, made of the profile's in one pass over its nodes, which
 * leaves out what is hidden. Each term then gives nodes other parents, outward of their own, in one
 * more pass; nothing is moved, and no node is looked up. So siblings may be of the same location:
 * who looks at a shape goes outward, or puts them together. */
#ifndef QUERY_SHAPE_H
#define QUERY_SHAPE_H

#include <stdatomic.h>

#include "query/filter.h"

#define SHAPE_ROOT    0u
#define SHAPE_NOWHERE UINT32_MAX /* a stack that the terms drop */

/* Immutable once made. */
typedef struct stack_shape {
    atomic_uint users;
    size_t n, n_of;
    uint32_t *parents;   /* by node: a smaller one */
    uint32_t *locations; /* by node, the root excepted */
    uint32_t *of;        /* by node of the profile's tree: where its stack ends here */
} stack_shape;

/* Of the first `n_terms` of the filter; `marks`, by location: those to be left out have a bit of
 * `hidden`. NULL when there is no memory. */
stack_shape *shape_make(const profile *p, const filter *f, size_t n_terms, const uint8_t *marks,
                        uint8_t hidden);

stack_shape *shape_use(stack_shape *s); /* NULL is allowed, as for the next one */
void shape_release(stack_shape *s);
size_t shape_size(const stack_shape *s); /* bytes */

#endif
