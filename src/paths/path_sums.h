/* path_sums.h: what a question's blocks cost, by the nodes of a tree of places: own costs, and
 * those with all below. With two sides, both, as amounts. */
#ifndef PATHS_PATH_SUMS_H
#define PATHS_PATH_SUMS_H

#include "paths/path_tree.h"

typedef struct path_counts {
    uint64_t samples, blocks;
} path_counts;

typedef struct path_few {
    uint32_t samples, blocks;
} path_few;

typedef struct path_weights {
    double weight, squares, heaviest;
} path_weights;

typedef struct path_words {
    double per_word, most_per_word;
} path_words;

/* By node. Most nodes of a deep tree cost nothing of their own: a column may keep those alone of
 * which a bit is set, which have blocks, one behind the other. Of `few` and `counts` there is one:
 * the narrow one where all that was asked for fits. */
typedef struct path_column {
    uint64_t *bits;  /* by node; NULL: it keeps all */
    uint32_t *ranks; /* by word of these: how many bits are set before it */
    path_few *few;
    path_counts *counts;
    path_weights *weights; /* NULL: of amounts of memory, of which the counts say all */
    path_words *words;     /* of numbers of blocks alone */
} path_column;

/* Immutable once finished; refers to nothing. */
typedef struct path_sums {
    size_t n;
    unsigned n_sides;
    size_t n_own[PATH_SIDES];                     /* nodes that cost something themselves */
    path_column own[PATH_SIDES], all[PATH_SIDES]; /* `all`: with what is below */
    double rates[PATH_SIDES], units[PATH_SIDES];  /* an amount is weight / rate * unit */
} path_sums;

/* Nothing yet, of the measures of these questions. NULL when there is no memory. */
path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides);

/* Adds what a question cost: `seen` is the tree that its lens sees, the others, which may be NULL,
 * what was made of that. Once a side; false when there is no memory. */
bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *seen,
                   const path_tree *joined, const path_tree *collapsed);

/* Adds up what is below; `t`: the last of these trees. */
void path_sums_finish(path_sums *s, const path_tree *t);

size_t path_sums_size(const path_sums *s); /* bytes */
void path_sums_free(path_sums *s);         /* NULL is allowed */

/* ---- columns ----------------------------------------------------------------------------- */

/* Of as many nodes as `like` is of, and as wide. */
bool path_column_make(path_column *c, size_t n, const path_column *like);
void path_column_free(path_column *c);

static inline bool path_column_keeps(const path_column *c, uint32_t node) {
    return !c->bits || (c->bits[node / 64] >> node % 64 & 1);
}

/* Where it keeps a node that it keeps. */
static inline uint32_t path_column_index(const path_column *c, uint32_t node) {
    if (!c->bits)
        return node;
    const uint64_t before = c->bits[node / 64] & ((UINT64_C(1) << node % 64) - 1);
    return c->ranks[node / 64] + (uint32_t)__builtin_popcountll(before);
}

static inline cost path_column_of(const path_column *c, uint32_t i) {
    cost all = {.samples = c->few ? c->few[i].samples : c->counts[i].samples,
                .blocks = c->few ? c->few[i].blocks : c->counts[i].blocks};
    all.weight = (double)all.samples;
    if (c->weights) {
        all.weight = c->weights[i].weight;
        all.squares = c->weights[i].squares;
        all.heaviest = c->weights[i].heaviest;
    }
    if (c->words) {
        all.per_word = c->words[i].per_word;
        all.most_per_word = c->words[i].most_per_word;
    }
    return all;
}

static inline cost path_column_at(const path_column *c, uint32_t node) {
    return path_column_keeps(c, node) ? path_column_of(c, path_column_index(c, node)) : (cost){0};
}

static inline bool path_column_any(const path_column *c, uint32_t node) {
    if (c->bits)
        return path_column_keeps(c, node);
    return c->few ? c->few[node].blocks : c->counts[node].blocks;
}

static inline void path_weights_add(path_weights *w, const cost *add) {
    w->weight += add->weight;
    w->squares += add->squares;
    if (add->heaviest > w->heaviest)
        w->heaviest = add->heaviest;
}

static inline void path_words_add(path_words *w, const cost *add) {
    w->per_word += add->per_word;
    if (add->most_per_word > w->most_per_word)
        w->most_per_word = add->most_per_word;
}

/* To a node that it keeps. */
static inline void path_column_add(path_column *c, uint32_t node, const cost *add) {
    const uint32_t i = path_column_index(c, node);
    if (c->few) {
        c->few[i].samples += (uint32_t)add->samples;
        c->few[i].blocks += (uint32_t)add->blocks;
    } else {
        c->counts[i].samples += add->samples;
        c->counts[i].blocks += add->blocks;
    }
    if (c->weights)
        path_weights_add(&c->weights[i], add);
    if (c->words)
        path_words_add(&c->words[i], add);
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
    const path_column *first, *second;
} path_any;

static inline path_any path_sums_any(const path_sums *s, const path_column *sides) {
    return (path_any){&sides[0], &sides[s->n_sides - 1]};
}

static inline bool path_any_at(path_any any, uint32_t node) {
    return path_column_any(any.first, node) ||
           (any.second != any.first && path_column_any(any.second, node));
}

#endif
