/* shape.h: call stacks that are cut and folded by terms of a filter: below a function, above it,
 * below a path, without recursion.
 *
 * A shape is a tree of single locations. It is made from the profile's tree in one pass, without
 * hidden locations. Then each term takes one more pass, in which it gives nodes other parents
 * farther outward. No node is moved or looked up, so siblings may have the same location: users of
 * a shape go outward, or merge such siblings. */
#ifndef QUERY_SHAPE_H
#define QUERY_SHAPE_H

#include <stdatomic.h>

#include "query/filter.h"

#define SHAPE_ROOT    0u
#define SHAPE_NOWHERE UINT32_MAX /* a stack that the terms drop */

/* Immutable once made. */
typedef struct stack_shape {
    atomic_uint users;
    /* Nodes of the shape, and of the profile's tree. */
    size_t n, n_of;
    uint32_t *parents;   /* by node; less than the node */
    uint32_t *locations; /* by node, except the root */
    uint32_t *of;        /* by node of the profile's tree: the node at which its stack ends */
} stack_shape;

/* Makes the shape for the first `n_terms` of a filter. Locations whose `marks` have a bit of
 * `hidden` are left out. NULL when there is no memory. */
stack_shape *shape_make(const profile *p, const filter *f, size_t n_terms, const uint8_t *marks,
                        uint8_t hidden);

stack_shape *shape_use(stack_shape *s); /* NULL is allowed, also in shape_release */
void shape_release(stack_shape *s);
size_t shape_size(const stack_shape *s); /* bytes */

#endif
