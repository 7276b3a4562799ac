/* path_sums.h: what a question's blocks cost, by the nodes of a tree of places: own costs, and
 * those with all below. With two sides, both, as amounts.
 *
 * Of a deep tree few nodes cost something of their own, and of the others fewer are ever asked for.
 * So own costs alone are kept, in the order of nodes: what is below a node is a row of them, of
 * which groups are added up beforehand. */
#ifndef PATHS_PATH_SUMS_H
#define PATHS_PATH_SUMS_H

#include "base/bits.h"
#include "paths/path_tree.h"

enum { PATH_GROUP = 128 /* costs that are added up beforehand */ };

/* Costs of nodes of which a bit is set, one behind the other. Legal when zeroed: of nothing. */
typedef struct path_column {
    bits_word *bits; /* by node, and one more */
    size_t n;        /* nodes that cost something */
    cost_columns costs;
    cost *groups; /* sums of the first PATH_GROUP, the next ones …; NULL: not added up yet */
} path_column;

/* Immutable once made; refers to nothing. */
typedef struct path_sums {
    size_t n;
    unsigned n_sides;
    path_column own[PATH_SIDES];
    double rates[PATH_SIDES], units[PATH_SIDES]; /* an amount is weight / rate * unit */
} path_sums;

/* Nothing yet, of the measures of these questions. NULL when there is no memory. */
path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides);

/* Adds what a question cost: `base` is the tree that its lens sees, or that this was joined to, and
 * is not looked at where `collapsed`, which was made of it or is NULL, stands alone. Once a side;
 * false when there is no memory. */
bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *base,
                   const path_tree *collapsed);

size_t path_sums_size(const path_sums *s); /* bytes */
void path_sums_free(path_sums *s);         /* NULL is allowed */

/* ---- columns ----------------------------------------------------------------------------- */

/* The steps by which one is made: bits of `n_of` nodes, to be set; and costs of nothing for those
 * that are. False when there is no memory, and to be freed in any case. */
bool path_column_begin(path_column *c, size_t n_of);
bool path_column_make(path_column *c, size_t n_of, cost_shape shape);
void path_column_free(path_column *c);

/* What stacks cost, at the nodes of a tree that was seen where they end, wherever their sites are.
 * The same. */
bool path_column_of(path_column *c, const path_tree *t, const cost_list *list);

static inline void path_column_mark(const path_column *c, uint32_t node) {
    bits_add(c->bits, node);
}

/* Whether a node costs anything itself. */
static inline bool path_column_any(const path_column *c, uint32_t node) {
    return bits_has(c->bits, node);
}

/* How many before a node do, which is where it stands if it does. */
static inline uint32_t path_column_rank(const path_column *c, uint32_t node) {
    return bits_rank(c->bits, node);
}

static inline cost path_column_at(const path_column *c, uint32_t node) {
    return path_column_any(c, node) ? cost_columns_at(&c->costs, path_column_rank(c, node))
                                    : (cost){0};
}

/* To a node that was marked. */
static inline void path_column_add(const path_column *c, uint32_t node, const cost *add) {
    cost_columns_add(&c->costs, path_column_rank(c, node), add);
}

/* Of the nodes from one to before another. */
cost path_column_between(const path_column *c, uint32_t node, uint32_t end);

static inline bool path_column_any_between(const path_column *c, uint32_t node, uint32_t end) {
    return path_column_any(c, node) || path_column_rank(c, node) < path_column_rank(c, end);
}

/* ---- sums of all sides ------------------------------------------------------------------- */

/* Of two sides together: their weights are amounts, the rest is added up as it is. */
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

/* With what is below a node; `t`: the tree that the sums are of. */
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

/* Which nodes cost anything: what a filter left nothing of is nowhere shown. */
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

/* The same of those of a word of bits that are from `node` on and before `end`: a bit each. */
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
