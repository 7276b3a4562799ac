/* path_sums.c: see path_sums.h. One pass over what a question cost, then one over the tree from its
 * last node to the first, at which each node has got all that is below it. */
#include "paths/path_sums.h"

#include <string.h>

bool path_column_make(path_column *c, size_t n, bool weighted) {
    c->counts = calloc(n, sizeof *c->counts);
    if (weighted)
        c->weights = calloc(n, sizeof *c->weights);
    return c->counts && (c->weights || !weighted);
}

void path_column_free(path_column *c) {
    free(c->counts);
    free(c->weights);
    *c = (path_column){0};
}

/* As cost_value has it. */
static void set_unit(path_sums *s, unsigned side, const query_result *q) {
    const bool counts = measure_infos[q->measure].unit == UNIT_BLOCKS;
    s->rates[side] = counts ? 1 : q->profile->info.sample_rate;
    s->units[side] = counts ? 1 : q->profile->info.word_size / 8.0;
}

path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides) {
    const bool weighted = measure_infos[queries[0]->measure].unit != UNIT_BYTES;
    path_sums *s = calloc(1, sizeof *s);
    bool ok = s;
    if (ok) {
        s->n = t->n;
        s->n_sides = n_sides;
    }
    for (unsigned i = 0; ok && i < n_sides; i++) {
        set_unit(s, i, queries[i]);
        ok = path_column_make(&s->own[i], s->n, weighted) &&
             path_column_make(&s->all[i], s->n, weighted);
    }
    if (ok)
        return s;
    path_sums_free(s);
    return NULL;
}

void path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *seen,
                   const path_tree *joined, const path_tree *collapsed) {
    const uint32_t *of_seen = seen->of[0], *of_joined = joined ? joined->of[side] : NULL;
    const uint32_t *of_collapsed = collapsed ? collapsed->of[0] : NULL;
    for (size_t i = 0; i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        uint32_t node = e->external ? path_tree_site(seen, &q->lens, e) : of_seen[e->node];
        if (of_joined)
            node = of_joined[node];
        if (of_collapsed)
            node = of_collapsed[node];
        if (node != PATH_NOWHERE)
            path_column_add(&s->own[side], node, &e->cost);
    }
}

static void add_counts_below(path_counts *counts, const path_tree *t) {
    const path_node *nodes = t->nodes;
    for (size_t i = t->n; i-- > 1;) {
        path_counts *parent = &counts[nodes[i].parent];
        parent->samples += counts[i].samples;
        parent->blocks += counts[i].blocks;
    }
}

static void add_costs_below(path_column *all, const path_tree *t) {
    for (uint32_t i = (uint32_t)t->n; i-- > 1;) {
        const cost c = path_column_at(all, i);
        path_column_add(all, t->nodes[i].parent, &c);
    }
}

static void add_below(const path_column *own, path_column *all, const path_tree *t) {
    memcpy(all->counts, own->counts, t->n * sizeof *all->counts);
    if (!all->weights) {
        add_counts_below(all->counts, t);
        return;
    }
    memcpy(all->weights, own->weights, t->n * sizeof *all->weights);
    add_costs_below(all, t);
}

void path_sums_finish(path_sums *s, const path_tree *t) {
    for (unsigned i = 0; i < s->n_sides; i++)
        add_below(&s->own[i], &s->all[i], t);
}

size_t path_sums_size(const path_sums *s) {
    const size_t each = sizeof(path_counts) + (s->own[0].weights ? sizeof(path_weights) : 0);
    return sizeof *s + (size_t)s->n_sides * 2 * s->n * each;
}

void path_sums_free(path_sums *s) {
    for (unsigned i = 0; s && i < PATH_SIDES; i++) {
        path_column_free(&s->own[i]);
        path_column_free(&s->all[i]);
    }
    free(s);
}
