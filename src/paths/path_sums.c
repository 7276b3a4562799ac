/* path_sums.c: three passes over the costs of a question, in several threads: to which nodes they
 * belong, which nodes these are, and how much they cost. */
#include "paths/path_sums.h"

#include "base/large.h"
#include "profile/parallel.h"

/* ---- columns ----------------------------------------------------------------------------- */

bool path_column_begin(path_column *c, size_t n_of) {
    *c = (path_column){.bits = calloc(bits_words((uint32_t)n_of), sizeof *c->bits)};
    return c->bits;
}

bool path_column_make(path_column *c, size_t n_of, cost_shape shape) {
    c->n = bits_rank_all(c->bits, bits_words((uint32_t)n_of));
    return cost_columns_make(&c->costs, c->n, shape);
}

bool path_column_of(path_column *c, const path_tree *t, const cost_list *list) {
    if (!path_column_begin(c, t->n))
        return false;
    for (size_t i = 0; i < list->count; i++)
        path_column_mark(c, path_tree_end(t, list->stacks[i] >> 1));
    if (!path_column_make(c, t->n, cost_columns_shape(&list->costs)))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const cost_entry e = cost_list_at(list, i);
        path_column_add(c, path_tree_end(t, e.node), &e.cost);
    }
    return true;
}

/* Computes the sums of groups once all is added. False when there is no memory. */
static bool find_groups(path_column *c) {
    const size_t n = c->n / PATH_GROUP;
    c->groups = malloc((n + 1) * sizeof *c->groups);
    for (size_t i = 0; c->groups && i < n; i++)
        c->groups[i] = cost_columns_sum(&c->costs, i * PATH_GROUP, (i + 1) * PATH_GROUP);
    return c->groups;
}

cost path_column_between(const path_column *c, uint32_t node, uint32_t end) {
    const size_t from = path_column_rank(c, node), to = path_column_rank(c, end);
    const size_t first = (from + PATH_GROUP - 1) / PATH_GROUP, last = to / PATH_GROUP;
    if (first >= last)
        return cost_columns_sum(&c->costs, from, to);
    cost sum = cost_columns_sum(&c->costs, from, first * PATH_GROUP);
    for (size_t i = first; i < last; i++)
        cost_add(&sum, &c->groups[i]);
    const cost rest = cost_columns_sum(&c->costs, last * PATH_GROUP, to);
    cost_add(&sum, &rest);
    return sum;
}

void path_column_free(path_column *c) {
    free(c->bits);
    free(c->groups);
    cost_columns_free(&c->costs);
    *c = (path_column){0};
}

static size_t size_of_column(const path_column *c, size_t n_of) {
    return c->bits ? bits_words((uint32_t)n_of) * sizeof *c->bits +
                         c->n / PATH_GROUP * sizeof *c->groups + cost_columns_size(&c->costs, c->n)
                   : 0;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* As in cost_value. */
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

/* Where the costs of stacks belong. Each thread adds to some of the nodes, so the costs of a node
 * are added in the same order, however many threads there are. */
typedef struct path_way {
    const query_result *query;
    const path_tree *of_stacks;
    unsigned side; /* of `of_stacks` */
    const uint32_t *of_collapsed;
    const path_column *own;
    uint32_t *nodes; /* by entry of the list; PATH_NOWHERE: none */
    size_t parts, n_words;
} path_way;

static uint32_t node_of(const path_way *w, uint32_t stack) {
    const cost_entry e = {.node = stack >> 1, .external = stack & 1};
    const uint32_t node =
        e.external ? path_tree_site(w->of_stacks, w->side, &w->query->lens, &e)
                   : path_tree_end_of(w->of_stacks, w->side, &w->query->profile->tree, e.node);
    return w->of_collapsed ? w->of_collapsed[node] : node;
}

static void find_nodes(void *context, size_t part) {
    const path_way *w = context;
    const cost_list *list = &w->query->costs;
    const size_t end = parallel_begin(list->count, w->parts, part + 1);
    for (size_t i = parallel_begin(list->count, w->parts, part); i < end; i++)
        w->nodes[i] =
            cost_columns_blocks(&list->costs, i) ? node_of(w, list->stacks[i]) : PATH_NOWHERE;
}

/* The nodes of one thread: whole words of bits. */
typedef struct path_share {
    uint32_t begin, n;
} path_share;

static path_share share_of(const path_way *w, size_t part) {
    const size_t begin = parallel_begin(w->n_words, w->parts, part) * BITS_WORD;
    const size_t end = parallel_begin(w->n_words, w->parts, part + 1) * BITS_WORD;
    return (path_share){.begin = (uint32_t)begin, .n = (uint32_t)(end - begin)};
}

/* Lists the entries of a piece that belong to a share, without an unpredictable branch for each. */
enum { PIECE = 512 };
static size_t list_share(const path_way *w, path_share mine, size_t at, uint16_t *list) {
    const size_t left = w->query->costs.count - at, n = left < PIECE ? left : PIECE;
    size_t n_listed = 0;
    for (size_t i = 0; i < n; i++) {
        list[n_listed] = (uint16_t)i;
        n_listed += w->nodes[at + i] - mine.begin < mine.n;
    }
    return n_listed;
}

static void mark_nodes(void *context, size_t part) {
    const path_way *w = context;
    const path_share mine = share_of(w, part);
    uint16_t list[PIECE];
    for (size_t at = 0; at < w->query->costs.count; at += PIECE) {
        const size_t n = list_share(w, mine, at, list);
        for (size_t i = 0; i < n; i++)
            path_column_mark(w->own, w->nodes[at + list[i]]);
    }
}

/* Costs are added at random places of memory, so each loop prefetches for many of them. */
static void add_costs(void *context, size_t part) {
    const path_way *w = context;
    const cost_list *list = &w->query->costs;
    const path_share mine = share_of(w, part);
    uint16_t listed[PIECE];
    uint32_t ranks[PIECE];
    for (size_t at = 0; at < list->count; at += PIECE) {
        const size_t n = list_share(w, mine, at, listed);
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(&w->own->bits[w->nodes[at + listed[i]] / BITS_WORD]);
        for (size_t i = 0; i < n; i++) {
            ranks[i] = path_column_rank(w->own, w->nodes[at + listed[i]]);
            cost_columns_expect(&w->own->costs, ranks[i]);
        }
        for (size_t i = 0; i < n; i++) {
            const cost one = cost_columns_at(&list->costs, at + listed[i]);
            cost_columns_add(&w->own->costs, ranks[i], &one);
        }
    }
}

/* No sum is larger than the total. */
static cost_shape shape_of(const query_result *q) {
    cost_shape shape = cost_columns_shape(&q->costs.costs);
    shape.few = q->total.samples <= UINT32_MAX && q->total.blocks <= UINT32_MAX;
    shape.packed = q->costs.costs.packed; /* most nodes end a single stack */
    return shape;
}

bool path_sums_add(path_sums *s, unsigned side, const query_result *q, const path_tree *base,
                   const path_tree *collapsed) {
    path_column *own = &s->own[side];
    const bool alone = collapsed && collapsed->is_of_stacks;
    const path_tree *of_stacks = alone ? collapsed : base;
    path_way w = {.query = q,
                  .of_stacks = of_stacks,
                  .side = of_stacks->of[1] ? side : 0, /* both sides may see the same tree */
                  .of_collapsed = collapsed && !alone ? collapsed->of[0] : NULL,
                  .own = own,
                  .nodes = large_new(q->costs.count + 1, sizeof *w.nodes),
                  .parts = parallel_parts(q->costs.count),
                  .n_words = bits_words((uint32_t)s->n)};
    bool ok = w.nodes && path_column_begin(own, s->n);
    if (ok) {
        parallel_run(w.parts, find_nodes, &w);
        parallel_run(w.parts, mark_nodes, &w);
        ok = path_column_make(own, s->n, shape_of(q));
    }
    if (ok)
        parallel_run(w.parts, add_costs, &w);
    free(w.nodes);
    return ok && find_groups(own);
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
