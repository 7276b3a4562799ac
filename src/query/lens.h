/* lens.h: how queries look at call stacks: which locations they see.
 *
 * A lens hides nothing from the profile; it walks its stacks outward, from where blocks are
 * allocated, and leaves out what the user asked not to see. Costs are kept: they belong to the next
 * location outward. */
#ifndef QUERY_LENS_H
#define QUERY_LENS_H

#include "query/filter.h"
#include "query/shape.h"

#define LENS_NOWHERE UINT32_MAX /* no location: beyond the outermost */

/* What is known of a location. */
#define LENS_WRAPPER 1u /* its function merely allocates; see wrappers.h */
#define LENS_UNNAMED 2u /* native code of which only the address is known */
#define LENS_HIDDEN  4u

typedef struct lens {
    const profile *profile;
    bool skip_wrappers;
    bool hides;         /* something, if it is there */
    uint8_t *marks;     /* by the profile's locations */
    stack_shape *shape; /* of stacks that are cut or folded; NULL: as the profile has them */
} lens;

/* Where a walk is. */
typedef struct lens_cursor {
    uint32_t node;     /* of the tree, or of the shape */
    uint32_t location; /* one of the node's frame; LENS_NOWHERE at the end */
} lens_cursor;

/* False when there is no memory. The lens refers to the profile, and to the filter (of which it
 * takes what to hide; NULL: nothing) no longer. */
bool lens_init(lens *l, const profile *p, bool skip_wrappers, const filter *hide);

/* The same, which of what cuts and folds stacks does only the first `n_terms`. */
bool lens_init_of(lens *l, const profile *p, bool skip_wrappers, const filter *hide,
                  size_t n_terms);
bool lens_copy(lens *l, const lens *from); /* in the same way */
void lens_free(lens *l);

/* The innermost location of a stack that is seen, as if there were no wrappers. */
lens_cursor lens_innermost(const lens *l, uint32_t node);

/* Walks go through this many nodes: those of the tree, or those of the shape. A node comes after
 * the one outward of it. */
size_t lens_nodes(const lens *l);

/* The first location that is seen from there on; `node` is less than lens_nodes. */
lens_cursor lens_from(const lens *l, uint32_t node);

/* The next one outward. */
lens_cursor lens_outward(const lens *l, lens_cursor at);

/* Where a block with this stack was allocated: the innermost location, or for external blocks the
 * first one outward that is no wrapper, nor an unnamed function within one. `*wrapper` is the
 * location it called, LENS_NOWHERE if none was skipped; if there is nothing but wrappers, the
 * outermost one is the place. */
lens_cursor lens_site(const lens *l, uint32_t node, bool external, uint32_t *wrapper);

static inline bool lens_hides(const lens *l, uint32_t location) {
    return l->marks[location] & LENS_HIDDEN;
}

/* NULL at the end. */
static inline const profile_location *lens_location(const lens *l, uint32_t location) {
    return location == LENS_NOWHERE ? NULL : &l->profile->locations.items[location];
}

#endif
