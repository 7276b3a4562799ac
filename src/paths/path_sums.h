/* path_sums.h: what a question's blocks cost, by the nodes of a tree of places: own costs, and
 * those with all below. With two sides, both, as amounts. */
#ifndef PATHS_PATH_SUMS_H
#define PATHS_PATH_SUMS_H

#include "paths/path_tree.h"

typedef struct path_counts {
    uint64_t samples, blocks;
} path_counts;

typedef struct path_weights {
    double weight, squares, heaviest, per_word, most_per_word;
} path_weights;

/* By node. Of amounts of memory the counts say all. */
typedef struct path_column {
    path_counts *counts;
    path_weights *weights; /* NULL: of amounts of memory */
} path_column;

/* Immutable once finished; refers to nothing. */
typedef struct path_sums {
    size_t n;
    unsigned n_sides;
    path_column own[PATH_SIDES], all[PATH_SIDES]; /* `all`: with what is below */
    double rates[PATH_SIDES], units[PATH_SIDES];  /* an amount is weight / rate * unit */
} path_sums;

/* Nothing yet, of the measures of these questions. NULL when there is no memory. */
path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides);

/* Adds what a question cost: `seen` is the tree that its lens sees, the others, which may be NULL,
 * what was made of that. */
void path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *seen,
                   const path_tree *joined, const path_tree *collapsed);

/* Adds up what is below; `t`: the last of these trees. */
void path_sums_finish(path_sums *s, const path_tree *t);

size_t path_sums_size(const path_sums *s); /* bytes */
void path_sums_free(path_sums *s);         /* NULL is allowed */

/* ---- columns ----------------------------------------------------------------------------- */

bool path_column_make(path_column *c, size_t n, bool weighted);
void path_column_free(path_column *c);

static inline cost path_column_at(const path_column *c, uint32_t node) {
    const path_counts *n = &c->counts[node];
    cost all = {.samples = n->samples, .blocks = n->blocks, .weight = (double)n->samples};
    if (c->weights) {
        all.weight = c->weights[node].weight;
        all.squares = c->weights[node].squares;
        all.heaviest = c->weights[node].heaviest;
        all.per_word = c->weights[node].per_word;
        all.most_per_word = c->weights[node].most_per_word;
    }
    return all;
}

static inline void path_column_add(path_column *c, uint32_t node, const cost *add) {
    c->counts[node].samples += add->samples;
    c->counts[node].blocks += add->blocks;
    if (!c->weights)
        return;
    c->weights[node].weight += add->weight;
    c->weights[node].squares += add->squares;
    if (add->heaviest > c->weights[node].heaviest)
        c->weights[node].heaviest = add->heaviest;
    c->weights[node].per_word += add->per_word;
    if (add->most_per_word > c->weights[node].most_per_word)
        c->weights[node].most_per_word = add->most_per_word;
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

static inline cost path_sums_all(const path_sums *s, uint32_t node) {
    return path_sums_at(s, s->all, node);
}

/* Which nodes cost anything: what a filter left nothing of is nowhere shown. */
typedef struct path_any {
    const path_counts *first, *second;
} path_any;

static inline path_any path_sums_any(const path_sums *s, const path_column *sides) {
    return (path_any){sides[0].counts, sides[s->n_sides - 1].counts};
}

static inline bool path_any_at(path_any any, uint32_t node) {
    return any.first[node].blocks | any.second[node].blocks;
}

#endif
