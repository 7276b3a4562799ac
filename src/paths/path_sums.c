/* path_sums.c: see path_sums.h. One pass over what a question cost, then one over the tree from its
 * last node to the first, at which each node has got all that is below it. */
#include "paths/path_sums.h"

#include <string.h>

/* What its arrays are, of those that are empty: n of each that `like` has. */
static bool make_arrays(path_column *c, size_t n, bool few, bool weights, bool words) {
    if (few)
        c->few = calloc(n + 1, sizeof *c->few);
    else
        c->counts = calloc(n + 1, sizeof *c->counts);
    if (weights)
        c->weights = calloc(n + 1, sizeof *c->weights);
    if (words)
        c->words = calloc(n + 1, sizeof *c->words);
    return (c->few || c->counts) && (c->weights || !weights) && (c->words || !words);
}

bool path_column_make(path_column *c, size_t n, const path_column *like) {
    return make_arrays(c, n, like->few, like->weights, like->words);
}

void path_column_free(path_column *c) {
    free(c->bits);
    free(c->ranks);
    free(c->few);
    free(c->counts);
    free(c->weights);
    free(c->words);
    *c = (path_column){0};
}

static size_t size_of_column(const path_column *c, size_t n_of, size_t n) {
    const size_t words = n_of / 64 + 1;
    return (c->bits ? words * (sizeof *c->bits + sizeof *c->ranks) : 0) +
           n * ((c->few ? sizeof *c->few : sizeof *c->counts) +
                (c->weights ? sizeof *c->weights : 0) + (c->words ? sizeof *c->words : 0));
}

/* As cost_value has it. */
static void set_unit(path_sums *s, unsigned side, const query_result *q) {
    const bool counts = measure_infos[q->measure].unit == UNIT_BLOCKS;
    s->rates[side] = counts ? 1 : q->profile->info.sample_rate;
    s->units[side] = counts ? 1 : q->profile->info.word_size / 8.0;
}

/* All of a question, so that no sum is larger. */
static bool is_few(const query_result *q) {
    return q->total.samples <= UINT32_MAX && q->total.blocks <= UINT32_MAX;
}

path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides) {
    const measure_unit unit = measure_infos[queries[0]->measure].unit;
    path_sums *s = calloc(1, sizeof *s);
    bool ok = s;
    if (ok) {
        s->n = t->n;
        s->n_sides = n_sides;
    }
    for (unsigned i = 0; ok && i < n_sides; i++) {
        set_unit(s, i, queries[i]);
        ok = make_arrays(&s->all[i], s->n, is_few(queries[i]), unit != UNIT_BYTES,
                         unit == UNIT_BLOCKS);
    }
    if (ok)
        return s;
    path_sums_free(s);
    return NULL;
}

/* Where what a stack cost belongs; PATH_NOWHERE: it is in none. */
typedef struct path_way {
    const query_result *query;
    const path_tree *seen;
    const uint32_t *of_seen, *of_joined, *of_collapsed;
} path_way;

static uint32_t node_of(const path_way *w, const cost_entry *e) {
    if (e->cost.blocks == 0)
        return PATH_NOWHERE;
    uint32_t node = e->external ? path_tree_site(w->seen, &w->query->lens, e) : w->of_seen[e->node];
    if (w->of_joined)
        node = w->of_joined[node];
    return w->of_collapsed ? w->of_collapsed[node] : node;
}

/* Room for the nodes that cost something themselves. */
static bool make_own(path_sums *s, unsigned side, const path_way *w) {
    path_column *own = &s->own[side];
    const size_t words = s->n / 64 + 1;
    own->bits = calloc(words, sizeof *own->bits);
    own->ranks = calloc(words, sizeof *own->ranks);
    if (!own->bits || !own->ranks)
        return false;
    for (size_t i = 0; i < w->query->costs.count; i++) {
        const uint32_t node = node_of(w, &w->query->costs.items[i]);
        if (node != PATH_NOWHERE)
            own->bits[node / 64] |= UINT64_C(1) << node % 64;
    }
    uint32_t n = 0;
    for (size_t i = 0; i < words; i++) {
        own->ranks[i] = n;
        n += (uint32_t)__builtin_popcountll(own->bits[i]);
    }
    s->n_own[side] = n;
    return path_column_make(own, n, &s->all[side]);
}

bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *seen,
                   const path_tree *joined, const path_tree *collapsed) {
    const path_way w = {.query = q,
                        .seen = seen,
                        .of_seen = seen->of[0],
                        .of_joined = joined ? joined->of[side] : NULL,
                        .of_collapsed = collapsed ? collapsed->of[0] : NULL};
    if (!make_own(s, side, &w))
        return false;
    for (size_t i = 0; i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        const uint32_t node = node_of(&w, e);
        if (node == PATH_NOWHERE)
            continue;
        path_column_add(&s->own[side], node, &e->cost);
        path_column_add(&s->all[side], node, &e->cost);
    }
    return true;
}

static void add_few_below(path_few *few, const path_tree *t) {
    for (size_t i = t->n; i-- > 1;) {
        path_few *parent = &few[t->nodes[i].parent];
        parent->samples += few[i].samples;
        parent->blocks += few[i].blocks;
    }
}

static void add_costs_below(path_column *all, const path_tree *t) {
    for (uint32_t i = (uint32_t)t->n; i-- > 1;) {
        const cost c = path_column_of(all, i);
        path_column_add(all, t->nodes[i].parent, &c);
    }
}

static void add_below(path_column *all, const path_tree *t) {
    if (all->few && !all->weights)
        add_few_below(all->few, t);
    else
        add_costs_below(all, t);
}

void path_sums_finish(path_sums *s, const path_tree *t) {
    for (unsigned i = 0; i < s->n_sides; i++)
        add_below(&s->all[i], t);
}

size_t path_sums_size(const path_sums *s) {
    size_t size = sizeof *s;
    for (unsigned i = 0; i < s->n_sides; i++)
        size +=
            size_of_column(&s->own[i], s->n, s->n_own[i]) + size_of_column(&s->all[i], s->n, s->n);
    return size;
}

void path_sums_free(path_sums *s) {
    for (unsigned i = 0; s && i < PATH_SIDES; i++) {
        path_column_free(&s->own[i]);
        path_column_free(&s->all[i]);
    }
    free(s);
}
