/* path_sums.c: two passes over what a question cost: which nodes it belongs to, and how much. */
#include "paths/path_sums.h"

/* ---- columns ----------------------------------------------------------------------------- */

static size_t words_of(size_t n_of) {
    return n_of / 64 + 1; /* with the node beyond the last */
}

bool path_column_begin(path_column *c, size_t n_of) {
    *c = (path_column){.bits = calloc(words_of(n_of), sizeof *c->bits)};
    return c->bits;
}

bool path_column_make(path_column *c, size_t n_of, cost_shape shape) {
    c->ranks = malloc(words_of(n_of) * sizeof *c->ranks);
    if (!c->ranks)
        return false;
    uint32_t n = 0;
    for (size_t i = 0; i < words_of(n_of); i++) {
        c->ranks[i] = n;
        n += (uint32_t)__builtin_popcountll(c->bits[i]);
    }
    c->n = n;
    return cost_columns_make(&c->costs, n, shape);
}

static cost sum_of(const cost_columns *c, size_t from, size_t end) {
    cost sum = {0};
    if (c->weights || c->words) {
        for (; from < end; from++) {
            const cost one = cost_columns_at(c, from);
            cost_add(&sum, &one);
        }
        return sum;
    }
    for (; from < end; from++) {
        sum.samples += cost_columns_samples(c, from);
        sum.blocks += cost_columns_blocks(c, from);
    }
    sum.weight = (double)sum.samples;
    return sum;
}

/* When all is added: the groups. False when there is no memory. */
static bool find_groups(path_column *c) {
    const size_t n = c->n / PATH_GROUP;
    c->groups = malloc((n + 1) * sizeof *c->groups);
    for (size_t i = 0; c->groups && i < n; i++)
        c->groups[i] = sum_of(&c->costs, i * PATH_GROUP, (i + 1) * PATH_GROUP);
    return c->groups;
}

cost path_column_between(const path_column *c, uint32_t node, uint32_t end) {
    const size_t from = path_column_rank(c, node), to = path_column_rank(c, end);
    const size_t first = (from + PATH_GROUP - 1) / PATH_GROUP, last = to / PATH_GROUP;
    if (first >= last)
        return sum_of(&c->costs, from, to);
    cost sum = sum_of(&c->costs, from, first * PATH_GROUP);
    for (size_t i = first; i < last; i++)
        cost_add(&sum, &c->groups[i]);
    const cost rest = sum_of(&c->costs, last * PATH_GROUP, to);
    cost_add(&sum, &rest);
    return sum;
}

void path_column_free(path_column *c) {
    free(c->bits);
    free(c->ranks);
    free(c->groups);
    cost_columns_free(&c->costs);
    *c = (path_column){0};
}

static size_t size_of_column(const path_column *c, size_t n_of) {
    return c->bits ? words_of(n_of) * (sizeof *c->bits + sizeof *c->ranks) +
                         c->n / PATH_GROUP * sizeof *c->groups + cost_columns_size(&c->costs, c->n)
                   : 0;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* As cost_value has it. */
static void set_unit(path_sums *s, unsigned side, const query_result *q) {
    const bool counts = measure_infos[q->measure].unit == UNIT_BLOCKS;
    s->rates[side] = counts ? 1 : q->profile->info.sample_rate;
    s->units[side] = counts ? 1 : q->profile->info.word_size / 8.0;
}

path_sums *path_sums_new(const path_tree *t, const query_result *const queries[PATH_SIDES],
                         unsigned n_sides) {
    path_sums *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = t->n;
    s->n_sides = n_sides;
    for (unsigned i = 0; i < n_sides; i++)
        set_unit(s, i, queries[i]);
    return s;
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

static void mark_all(const path_column *own, const path_way *w) {
    for (size_t i = 0; i < w->query->costs.count; i++) {
        const cost_entry e = cost_list_at(&w->query->costs, i);
        const uint32_t node = node_of(w, &e);
        if (node != PATH_NOWHERE)
            path_column_mark(own, node);
    }
}

static void add_all(const path_column *own, const path_way *w) {
    for (size_t i = 0; i < w->query->costs.count; i++) {
        const cost_entry e = cost_list_at(&w->query->costs, i);
        const uint32_t node = node_of(w, &e);
        if (node != PATH_NOWHERE)
            path_column_add(own, node, &e.cost);
    }
}

/* No sum is larger than that of all. */
static cost_shape shape_of(const query_result *q) {
    cost_shape shape = cost_columns_shape(&q->costs.costs);
    shape.few = q->total.samples <= UINT32_MAX && q->total.blocks <= UINT32_MAX;
    return shape;
}

bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *seen,
                   const path_tree *joined, const path_tree *collapsed) {
    const path_way w = {.query = q,
                        .seen = seen,
                        .of_seen = seen->of[0],
                        .of_joined = joined ? joined->of[side] : NULL,
                        .of_collapsed = collapsed ? collapsed->of[0] : NULL};
    path_column *own = &s->own[side];
    if (!path_column_begin(own, s->n))
        return false;
    mark_all(own, &w);
    if (!path_column_make(own, s->n, shape_of(q)))
        return false;
    add_all(own, &w);
    return find_groups(own);
}

size_t path_sums_size(const path_sums *s) {
    size_t size = sizeof *s;
    for (unsigned i = 0; i < s->n_sides; i++)
        size += size_of_column(&s->own[i], s->n);
    return size;
}

void path_sums_free(path_sums *s) {
    for (unsigned i = 0; s && i < PATH_SIDES; i++)
        path_column_free(&s->own[i]);
    free(s);
}
