/* callpaths.h: one view of call paths.
 *
 * The problem. Blocks were allocated in stacks, and people look at these in many ways: from the
 * outermost caller inward or from the sites outward, at all or at what is above or below a
 * function, by function or by line, with recursion collapsed or not, of one question or of two that
 * are compared. A profile of ten million blocks has hundreds of thousands of different stacks; of
 * these, a screen shows some hundreds of frames, and the next question, with another filter,
 * others.
 *
 * The way. A view is a tree of places (path_tree.h) with sums by node (path_sums.h), and all that
 * is shown of call paths is computed from these two: pictures (picture.h), functions (functions.h),
 * fragments (hotpaths.h). How one looks is said by parameters:
 *
 *   lines or functions   what a place of the tree is; what the lens hides is in no node
 *   diff                 a tree that both questions' trees were joined to, and sums of two sides
 *   collapse, inward     a tree in which a place that is on its path already is the same node; of
 *                        callees, one of what is below the focus
 *   invert, focus        nothing that is kept: a picture begins at other nodes, and goes outward
 *   collapse, outward    the same: a stack goes on behind the outermost frame of its place
 *
 * Nodes stand in preorder, so that what is below a node is a range, and passes over a tree go
 * through memory from one end to the other. Each tree is made of another one by a map of nodes, and
 * the costs of a question go through these maps to where they belong. A tree depends on the trace
 * and on what is hidden, not on what else is asked: the viewer keeps it while people filter,
 * measure and zoom, and each such question takes one pass for its sums and then as much as its
 * picture shows. Collapsed or compared, that is the same pass.
 *
 * A picture is made of groups. Inward, a group is a set of nodes; outward, of stacks, each of which
 * stands at the node that it enters next. Taking a group apart by place gives its children. That is
 * done only where a group is wide enough to be shown.
 *
 * Why not others. A whole tree of each shape costs as much as all that could be shown, most of all
 * outward, where a stack of depth d becomes d nodes that it shares with few. Inward, groups alone
 * would do for collapsed recursion, too, but a path that comes back to its outermost function has
 * all of the tree below in question, each time; the collapsed tree is made once. Outward it would
 * depend on where stacks begin, that is on the question, while groups need but one number a node.
 *
 * What must hold.
 * - Each stack counts once in each node of a picture: totals add up, whatever is collapsed.
 * - Collapsing goes along a path in the direction in which it is shown. A frame whose function is
 *   on the path already takes the path back to there; what was between is not on it any more. So
 *   paths outward are not the paths inward reversed.
 * - A focus is looked for in stacks as they are. Inward its outermost occurrence counts, outward
 *   its innermost.
 * - Trees are immutable and shared between threads. They refer to the profile at most, not to the
 *   trees that they were made of: each may be forgotten, and made again, without the others. A
 *   joined tree, and a collapsed one that stands alone, is looked at without what it was made of.
 * - Sums of two sides are amounts, as the sides may be of different rates. Each side can be asked
 *   for its own.
 *
 * A pure query on costs. */
#ifndef PATHS_CALLPATHS_H
#define PATHS_CALLPATHS_H

#include "paths/path_sums.h"

typedef enum callpaths_shape {
    CALLPATHS_DOWN,     /* whole stacks, outermost first */
    CALLPATHS_INVERTED, /* whole stacks, sites first */
    CALLPATHS_CALLEES,  /* what the focus calls: below its outermost occurrence in a stack */
    CALLPATHS_CALLERS,  /* what calls the focus: above its innermost occurrence */
} callpaths_shape;

typedef struct callpaths_spec {
    callpaths_shape shape;
    bool by_line;           /* places are lines; else functions with all their lines */
    bool collapse;          /* a place that is on the path already is the same node */
    const call_site *focus; /* of CALLEES and CALLERS; with lines only if `by_line` */
} callpaths_spec;

/* Of one question, or of two: then the second is what the first one is compared with. */
typedef struct callpaths {
    callpaths_spec spec;
    const query_result *queries[PATH_SIDES];
    unsigned n_sides;
    const path_tree *seen[PATH_SIDES]; /* the same twice, if both see the same; NULL: what was made
                                          of them, `collapsed` or `joined`, needs them no more */
    const path_tree *joined;           /* of two that are not the same */
    const path_tree *collapsed;        /* if a tree is; see callpaths_collapses */
    const path_sums *sums;             /* of the last of these trees */
} callpaths;

static inline bool callpaths_is_outward(const callpaths_spec *s) {
    return s->shape == CALLPATHS_INVERTED || s->shape == CALLPATHS_CALLERS;
}

/* Whether it is by a tree of its own that recursion is collapsed. */
static inline bool callpaths_collapses(const callpaths_spec *s) {
    return s->collapse && !callpaths_is_outward(s);
}

/* The tree whose places they are. */
static inline const path_tree *callpaths_base(const callpaths *v) {
    return v->joined ? v->joined : v->seen[0] ? v->seen[0] : v->collapsed;
}

/* Whether the collapsed tree needs no other one. */
static inline bool callpaths_stands_alone(const callpaths *v) {
    return callpaths_collapses(&v->spec) && v->n_sides == 1 &&
           v->queries[0]->profile->blocks[MEMTRACE_EXTERNAL] == 0;
}

/* The tree that is looked at; of callees that are collapsed, what is below the focus. */
static inline const path_tree *callpaths_tree(const callpaths *v) {
    return v->collapsed ? v->collapsed : callpaths_base(v);
}

/* The steps, each of which needs those before it: for those who keep what they give. NULL when
 * there is no memory. */
path_tree *callpaths_see(const callpaths *v, unsigned side);
path_tree *callpaths_join(const callpaths *v);
path_tree *callpaths_collapse(const callpaths *v);
path_sums *callpaths_sum(const callpaths *v);

/* All of them. `against`: NULL if nothing is compared. False when there is no memory. The questions
 * must outlive it, as must the focus. */
bool callpaths_make(callpaths *v, const query_result *q, const query_result *against,
                    const callpaths_spec *spec);
void callpaths_free(callpaths *v);

#endif
