/* lens.h: which locations of call stacks queries see.
 *
 * A lens hides nothing from the profile. It walks a stack outward, from where a block is allocated,
 * and skips what the user asked not to see. Costs are kept: they go to the next location
 * outward. */
#ifndef QUERY_LENS_H
#define QUERY_LENS_H

#include "query/filter.h"
#include "query/shape.h"

#define LENS_NOWHERE UINT32_MAX /* no location: beyond the outermost */

/* Flags of a location. */
#define LENS_WRAPPER 1u /* its function merely allocates; see wrappers.h */
#define LENS_UNNAMED 2u /* native code of which only the address is known */
#define LENS_HIDDEN  4u

typedef struct lens {
    const profile *profile;
    bool skip_wrappers;
    bool hides;         /* something may be hidden */
    uint8_t *marks;     /* by location of the profile: flags */
    stack_shape *shape; /* of stacks that are cut or folded; NULL: stacks as in the profile */
} lens;

/* The position of a walk. */
typedef struct lens_cursor {
    uint32_t node;     /* of the tree, or of the shape */
    uint32_t location; /* of the node's frame; LENS_NOWHERE at the end */
} lens_cursor;

/* Makes a lens; false when there is no memory. It refers to the profile, but not to `hide`, the
 * filter that tells what to hide (NULL: nothing). */
bool lens_init(lens *l, const profile *p, bool skip_wrappers, const filter *hide);

/* The same, but cuts and folds stacks only by the first `n_terms` terms that do so. */
bool lens_init_of(lens *l, const profile *p, bool skip_wrappers, const filter *hide,
                  size_t n_terms);
bool lens_copy(lens *l, const lens *from); /* False when there is no memory */
void lens_free(lens *l);

/* Returns the innermost visible location of a stack, wrappers included. */
lens_cursor lens_innermost(const lens *l, uint32_t node);

/* Returns the number of nodes that walks pass: those of the tree, or of the shape. A node comes
 * after the node outward of it. */
size_t lens_nodes(const lens *l);

/* Returns the first visible location from a node outward; `node` is less than lens_nodes. */
lens_cursor lens_from(const lens *l, uint32_t node);

/* Returns where a block with this stack was allocated: the innermost location or, for external
 * blocks, the first one outward that is neither a wrapper nor an unnamed function within one.
 * `*wrapper` is the location it called; LENS_NOWHERE if none was skipped. If there are only
 * wrappers, the outermost one is the site. */
lens_cursor lens_site(const lens *l, uint32_t node, bool external, uint32_t *wrapper);

static inline bool lens_hides(const lens *l, uint32_t location) {
    return l->marks[location] & LENS_HIDDEN;
}

/* Returns the innermost location of a node's frame. */
static inline lens_cursor lens_enter(const lens *l, uint32_t node) {
    uint32_t frame = cct_frame(&l->profile->tree, node);
    if (frame == CCT_NO_FRAME)
        return (lens_cursor){.node = CCT_ROOT, .location = LENS_NOWHERE};
    const profile_frame *f = &l->profile->frames.items[frame];
    return (lens_cursor){.node = node, .location = f->first + f->n - 1};
}

/* Returns the next location outward of a stack as it is in the profile. */
static inline lens_cursor lens_step(const lens *l, lens_cursor at) {
    const cct *tree = &l->profile->tree;
    if (at.location > l->profile->frames.items[cct_frame(tree, at.node)].first)
        return (lens_cursor){.node = at.node, .location = at.location - 1};
    return lens_enter(l, cct_parent(tree, at.node));
}

/* Returns the next visible location outward. Walks take most of the time of many queries. */
lens_cursor lens_outward_slow(const lens *l, lens_cursor at);
static inline lens_cursor lens_outward(const lens *l, lens_cursor at) {
    return l->hides || l->shape || at.location == LENS_NOWHERE ? lens_outward_slow(l, at)
                                                               : lens_step(l, at);
}

/* NULL at the end. */
static inline const profile_location *lens_location(const lens *l, uint32_t location) {
    return location == LENS_NOWHERE ? NULL : &l->profile->locations.items[location];
}

#endif
