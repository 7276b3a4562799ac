/* path_sums.h: what a question's blocks cost, by the nodes of a tree of places: own costs, and
 * costs with all that is below. With two sides there are both, as amounts.
 *
 * In a deep tree, few nodes have own costs, and the costs of even fewer others are ever asked for.
 * So only own costs are stored, in the order of nodes. What is below a node is a range of them, and
 * the sums of groups of costs are computed beforehand. */
#ifndef PATHS_PATH_SUMS_H
#define PATHS_PATH_SUMS_H

#include "base/bits.h"
#include "paths/path_tree.h"

enum { PATH_GROUP = 128 /* costs per group */ };

/* Costs of the nodes that have a bit set, one after the other. Legal when zeroed: no costs. */
typedef struct path_column {
    bits_word *bits; /* by node, and one more */
    size_t n;        /* nodes with costs */
    cost_columns costs;
    cost *groups; /* sums of PATH_GROUP costs each; NULL: not computed yet */
} path_column;

/* Immutable once made; refers to nothing else. */
typedef struct path_sums {
    size_t n;
    unsigned n_sides;
    path_column own[PATH_SIDES];
    double rates[PATH_SIDES], units[PATH_SIDES]; /* an amount is weight / rate * unit */
} path_sums;

/* Makes sums without costs, for the measures of these questions. NULL when there is no memory. */
path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides);

/* Adds the costs of a question, once per side. `base` is the tree that its lens sees, or to which
 * that was joined. `collapsed` was made from it, or is NULL; if it stands alone, `base` is not
 * used. False when there is no memory. */
bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *base,
                   const path_tree *collapsed);

size_t path_sums_size(const path_sums *s); /* bytes */
void path_sums_free(path_sums *s);         /* NULL is allowed */

/* ---- columns ----------------------------------------------------------------------------- */

/* Steps that make a column: bits for `n_of` nodes, which the caller sets; then empty costs for the
 * nodes with a bit. False when there is no memory; must be freed in any case. */
bool path_column_begin(path_column *c, size_t n_of);
bool path_column_make(path_column *c, size_t n_of, cost_shape shape);
void path_column_free(path_column *c);

/* Makes a column of the costs of stacks, each at the node of a seen tree where the stack ends,
 * wherever its site is. False when there is no memory; must be freed in any case. */
bool path_column_of(path_column *c, const path_tree *t, const cost_list *list);

static inline void path_column_mark(const path_column *c, uint32_t node) {
    bits_add(c->bits, node);
}

/* Whether a node has own costs. */
static inline bool path_column_any(const path_column *c, uint32_t node) {
    return bits_has(c->bits, node);
}

/* Returns how many nodes before this one have costs, which is its index if it has some. */
static inline uint32_t path_column_rank(const path_column *c, uint32_t node) {
    return bits_rank(c->bits, node);
}

static inline cost path_column_at(const path_column *c, uint32_t node) {
    return path_column_any(c, node) ? cost_columns_at(&c->costs, path_column_rank(c, node))
                                    : (cost){0};
}

/* Adds to a node that was marked. */
static inline void path_column_add(const path_column *c, uint32_t node, const cost *add) {
    cost_columns_add(&c->costs, path_column_rank(c, node), add);
}

/* Returns the sum of the nodes from `node` to before `end`. */
cost path_column_between(const path_column *c, uint32_t node, uint32_t end);

static inline bool path_column_any_between(const path_column *c, uint32_t node, uint32_t end) {
    return path_column_any(c, node) || path_column_rank(c, node) < path_column_rank(c, end);
}

/* ---- sums of all sides ------------------------------------------------------------------- */

/* Returns the sum of two sides: their weights become amounts, and the other fields are added as
 * they are. */
static inline cost path_sums_both(const path_sums *s, const cost *first, const cost *second) {
    cost sum = *first;
    cost_add(&sum, second);
    sum.weight = first->weight / s->rates[0] * s->units[0];
    sum.weight += second->weight / s->rates[1] * s->units[1];
    return sum;
}

static inline cost path_sums_at(const path_sums *s, const path_column *sides, uint32_t node) {
    const cost first = path_column_at(&sides[0], node);
    if (s->n_sides == 1)
        return first;
    const cost second = path_column_at(&sides[1], node);
    return path_sums_both(s, &first, &second);
}

static inline cost path_sums_own(const path_sums *s, uint32_t node) {
    return path_sums_at(s, s->own, node);
}

/* Costs of one side with what is below a node; `t` is the tree of the sums. */
static inline cost path_sums_side(const path_sums *s, unsigned side, const path_tree *t,
                                  uint32_t node) {
    return path_column_between(&s->own[side], node, t->ends[node]);
}

static inline cost path_sums_all(const path_sums *s, const path_tree *t, uint32_t node) {
    const cost first = path_sums_side(s, 0, t, node);
    if (s->n_sides == 1)
        return first;
    const cost second = path_sums_side(s, 1, t, node);
    return path_sums_both(s, &first, &second);
}

/* Which nodes have costs. Nodes of which a filter left nothing are not shown. */
typedef struct path_any {
    const path_column *first, *second;
} path_any;

static inline path_any path_sums_any(const path_sums *s, const path_column *sides) {
    return (path_any){&sides[0], &sides[s->n_sides - 1]};
}

static inline bool path_any_at(path_any any, uint32_t node) {
    return path_column_any(any.first, node) ||
           (any.second != any.first && path_column_any(any.second, node));
}

/* Returns the bits of such nodes in one word of bits, from `node` on and before `end`. */
static inline uint32_t path_any_word(path_any any, uint32_t word, uint32_t node, uint32_t end) {
    uint32_t left = any.first->bits[word].bits | any.second->bits[word].bits;
    if (word == node / BITS_WORD)
        left &= UINT32_MAX << node % BITS_WORD;
    if (word == end / BITS_WORD)
        left &= (UINT32_C(1) << end % BITS_WORD) - 1;
    return left;
}

static inline bool path_any_between(path_any any, uint32_t node, uint32_t end) {
    return path_column_any_between(any.first, node, end) ||
           (any.second != any.first && path_column_any_between(any.second, node, end));
}

#endif
