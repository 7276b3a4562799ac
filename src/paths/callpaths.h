/* callpaths.h: one view of call paths.
 *
 * Problem. Blocks are allocated in stacks, and people look at these in many ways: from the
 * outermost caller inward or from the sites outward; all of them, or only what is above or below a
 * function; by function or by line; with recursion collapsed or not; for one question, or for two
 * that are compared. A profile of ten million blocks has hundreds of thousands of distinct stacks.
 * A screen shows a few hundred frames of these, and the next question, with another filter, shows
 * others.
 *
 * Solution. A view is a tree of places (path_tree.h) with sums by node (path_sums.h). All that is
 * shown of call paths is computed from these two: pictures (picture.h), functions (functions.h),
 * and fragments (hotpaths.h). Parameters choose the view:
 *
 *   lines or functions   what a place of the tree is; what the lens hides is in no node
 *   diff                 the trees of both questions are joined to one, with sums of two sides
 *   collapse, inward     a tree in which a place that is already on the path is the same node; for
 *                        callees, the tree of what is below the focus
 *   invert, focus        no tree: a picture begins at other nodes, or goes outward
 *   collapse, outward    no tree: a stack goes on after the outermost frame of its place
 *
 * Nodes are in preorder. So what is below a node is a range, and a pass over a tree reads memory
 * from one end to the other. Each tree is made from another one by a map of nodes, and the costs of
 * a question go through these maps to their nodes. A tree depends on the trace and on what is
 * hidden, but not on the rest of the question. The viewer keeps it while people filter, measure and
 * zoom: each such question takes one pass for its sums, and then as much work as its picture shows.
 * The same holds for collapsed and compared views.
 *
 * A picture is made of groups. Inward, a group is a set of nodes; outward, a set of stacks, each at
 * the node that it enters next. Splitting a group by place gives its children. That is done only
 * where a group is wide enough to be shown.
 *
 * Alternatives. A whole tree of each shape would cost as much as all that could be shown. That is
 * most outward, where a stack of depth d becomes d nodes that it shares with few others. Inward,
 * groups alone would be enough for collapsed recursion, too, but each time a path comes back to its
 * outermost function, the whole tree below would have to be considered again; the collapsed tree is
 * made once. Outward, such a tree would depend on where stacks begin, that is, on the question,
 * while groups need only one number per node.
 *
 * Invariants.
 * - Each stack counts once in each node of a picture: totals add up, whatever is collapsed.
 * - Collapsing follows a path in the direction in which it is shown. A frame whose function is
 *   already on the path takes the path back to there, and what was in between is no longer on it.
 *   So paths outward are not the reversed paths inward.
 * - A focus is searched in stacks as they are. Inward its outermost occurrence counts, outward its
 *   innermost.
 * - Trees are immutable and shared between threads. They may refer to the profile, but not to the
 *   trees from which they were made, so that each can be freed and made again without the others. A
 *   joined tree, or a collapsed one that stands alone, does not need its source.
 * - Sums of two sides are amounts, because the sides may have different rates. Each side can be
 *   read separately.
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
    bool collapse;          /* a place that is already on the path is the same node */
    const call_site *focus; /* for CALLEES and CALLERS; has lines only if `by_line` */
} callpaths_spec;

/* A view of one question, or of two that are compared; then the second is the one to compare
 * with. */
typedef struct callpaths {
    callpaths_spec spec;
    const query_result *queries[PATH_SIDES];
    unsigned n_sides;
    /* Both are the same if both sides see the same. NULL: not needed any more by what was made from
     * them, `collapsed` or `joined`. */
    const path_tree *seen[PATH_SIDES];
    const path_tree *joined;    /* of two that differ */
    const path_tree *collapsed; /* if callpaths_collapses */
    const path_sums *sums;      /* of callpaths_tree */
} callpaths;

static inline bool callpaths_is_outward(const callpaths_spec *s) {
    return s->shape == CALLPATHS_INVERTED || s->shape == CALLPATHS_CALLERS;
}

/* Whether recursion is collapsed by a tree of its own. */
static inline bool callpaths_collapses(const callpaths_spec *s) {
    return s->collapse && !callpaths_is_outward(s);
}

/* The tree that has the places. */
static inline const path_tree *callpaths_base(const callpaths *v) {
    return v->joined ? v->joined : v->seen[0] ? v->seen[0] : v->collapsed;
}

/* Whether the collapsed tree does not need the tree from which it was made. */
static inline bool callpaths_stands_alone(const callpaths *v) {
    return callpaths_collapses(&v->spec) && v->n_sides == 1 &&
           v->queries[0]->profile->blocks[MEMTRACE_EXTERNAL] == 0;
}

/* The tree that is shown; for collapsed callees, it has what is below the focus. */
static inline const path_tree *callpaths_tree(const callpaths *v) {
    return v->collapsed ? v->collapsed : callpaths_base(v);
}

/* The steps that make a view, for callers that keep their results. Each step needs the results of
 * those before it. NULL when there is no memory. */
path_tree *callpaths_see(const callpaths *v, unsigned side);
path_tree *callpaths_join(const callpaths *v);
path_tree *callpaths_collapse(const callpaths *v);
path_sums *callpaths_sum(const callpaths *v);

/* Does all steps. `against`: NULL if nothing is compared. False when there is no memory. The
 * questions and the focus must outlive the view. */
bool callpaths_make(callpaths *v, const query_result *q, const query_result *against,
                    const callpaths_spec *spec);
void callpaths_free(callpaths *v);

#endif
