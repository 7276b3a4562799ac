/* callgraph.c: see callgraph.h. One pass over the tree adds up places, from which nodes are chosen.
 * A second pass adds up edges, from each node to the nearest chosen one above it. */
#include "paths/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

/* A place of the tree. */
typedef struct place_sum {
    cost total, self;
    uint32_t place;
    uint32_t last; /* the last of its outermost nodes; PATH_ROOT: none */
} place_sum;

typedef struct graphing {
    const path_tree *tree;
    const path_sums *sums;
    const callgraph_spec *spec;
    place_sum *places;
    size_t n_places;
    uint32_t *number; /* by place: its node of the graph, or PATH_NOWHERE */
    uint32_t *above;  /* by node of the tree: the graph's node of the nearest chosen place above */
    map64 by_ends;    /* from << 32 | to → edge */
    VEC(uint32_t) last; /* by edge, as in place_sum */
    callgraph *graph;
} graphing;

/* Whether `node` is not below another node of its kind, of which `*last` is the latest; if so,
 * `*last` becomes `node`. */
static bool is_outermost(const path_tree *t, uint32_t *last, uint32_t node) {
    if (*last != PATH_ROOT && node < t->ends[*last])
        return false;
    *last = node;
    return true;
}

static void add_places(graphing *g) {
    const path_any any = path_sums_any(g->sums, g->sums->own);
    for (uint32_t i = 1; i < g->tree->n; i++) {
        place_sum *p = &g->places[g->tree->nodes[i].place];
        if (!path_any_between(any, i, g->tree->ends[i]))
            continue;
        const cost own = path_sums_own(g->sums, i);
        cost_add(&p->self, &own);
        if (!is_outermost(g->tree, &p->last, i))
            continue;
        const cost all = path_sums_all(g->sums, g->tree, i);
        cost_add(&p->total, &all);
    }
}

/* ---- choosing ---------------------------------------------------------------------------- */

static int by_weight(double a, double b, uint32_t x, uint32_t y) {
    return a != b ? (a > b ? -1 : 1) : (x > y) - (x < y);
}

static int by_self(const void *a, const void *b) {
    const place_sum *x = a, *y = b;
    return by_weight(x->self.weight, y->self.weight, x->place, y->place);
}

static int by_total(const void *a, const void *b) {
    const place_sum *x = a, *y = b;
    return by_weight(x->total.weight, y->total.weight, x->place, y->place);
}

static size_t count_wide(const graphing *g, double least) {
    size_t n = 0;
    for (size_t i = 0; i < g->n_places; i++) {
        n += g->places[i].total.blocks > 0 && g->places[i].total.weight >= least;
        g->graph->n_omitted += g->places[i].total.blocks > 0;
    }
    return n;
}

/* Sorts the chosen places to the front, and returns their number. */
static size_t choose(graphing *g) {
    const double least = g->spec->node_share * g->graph->total.weight;
    size_t n = count_wide(g, least);
    qsort(g->places, g->n_places, sizeof *g->places, by_total);
    if (n > g->spec->most) {
        qsort(g->places, n, sizeof *g->places, by_self);
        const size_t first = g->spec->most / 2;
        qsort(g->places + first, n - first, sizeof *g->places, by_total);
        n = g->spec->most;
        qsort(g->places, n, sizeof *g->places, by_total);
    }
    g->graph->n_omitted -= n;
    return n;
}

static bool make_nodes(graphing *g) {
    const size_t n = choose(g);
    bool ok = true;
    memset(g->number, 0xff, (g->n_places + 1) * sizeof *g->number);
    for (size_t i = 0; ok && i < n; i++) {
        const place_sum *p = &g->places[i];
        g->number[p->place] = (uint32_t)i;
        ok = vec_push(&g->graph->nodes,
                      ((callgraph_node){.place = path_tree_location(g->tree, p->place),
                                        .total = p->total,
                                        .self = p->self}));
    }
    return ok;
}

/* ---- edges ------------------------------------------------------------------------------- */

static bool add_edge(graphing *g, uint32_t from, uint32_t to, uint32_t node, bool direct) {
    uint32_t n;
    if (!map64_number(&g->by_ends, (uint64_t)from << 32 | to, &n))
        return false;
    if (n == g->last.count && (!vec_push(&g->last, PATH_ROOT) ||
                               !vec_push(&g->graph->edges, ((callgraph_edge){from, to, {0}, 0}))))
        return false;
    callgraph_edge *e = &g->graph->edges.items[n];
    e->direct |= direct;
    if (is_outermost(g->tree, &g->last.items[n], node)) {
        const cost all = path_sums_all(g->sums, g->tree, node);
        cost_add(&e->total, &all);
    }
    return true;
}

/* Nodes are in preorder, so `above` of a parent is known. */
static bool add_edges(graphing *g) {
    const path_node *nodes = g->tree->nodes;
    const path_any any = path_sums_any(g->sums, g->sums->own);
    bool ok = true;
    g->above[PATH_ROOT] = PATH_NOWHERE;
    for (uint32_t i = 1; ok && i < g->tree->n; i++) {
        const uint32_t parent = nodes[i].parent, to = g->number[nodes[i].place];
        const bool direct = parent != PATH_ROOT && g->number[nodes[parent].place] != PATH_NOWHERE;
        const uint32_t from = direct ? g->number[nodes[parent].place] : g->above[parent];
        g->above[i] = from;
        if (to != PATH_NOWHERE && from != PATH_NOWHERE &&
            path_any_between(any, i, g->tree->ends[i]))
            ok = add_edge(g, from, to, i, direct);
    }
    return ok;
}

static int by_edge_total(const void *a, const void *b) {
    const callgraph_edge *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* The first edge to a node is its heaviest; `number` then marks nodes that have one. */
static void drop_thin_edges(graphing *g) {
    callgraph *graph = g->graph;
    const double least = g->spec->edge_share * graph->total.weight;
    size_t n = 0;
    if (graph->edges.count > 0)
        qsort(graph->edges.items, graph->edges.count, sizeof *graph->edges.items, by_edge_total);
    memset(g->number, 0, (g->n_places + 1) * sizeof *g->number);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const callgraph_edge e = graph->edges.items[i];
        const bool first = e.from != e.to && !g->number[e.to];
        g->number[e.to] |= first;
        if (first || e.total.weight >= least)
            graph->edges.items[n++] = e;
    }
    graph->edges.count = n;
}

bool callgraph_query(const callpaths *v, const callgraph_spec *spec, callgraph *result) {
    const path_tree *t = callpaths_tree(v);
    *result = (callgraph){.total = path_sums_all(v->sums, t, PATH_ROOT)};
    graphing g = {.tree = t,
                  .sums = v->sums,
                  .spec = spec,
                  .graph = result,
                  .n_places = callpaths_base(v)->places->locations.count};
    g.places = calloc(g.n_places + 1, sizeof *g.places);
    g.number = malloc((g.n_places + 1) * sizeof *g.number);
    g.above = malloc(t->n * sizeof *g.above);
    bool ok = g.places && g.number && g.above;
    for (size_t i = 0; ok && i < g.n_places; i++)
        g.places[i].place = (uint32_t)i;
    if (ok)
        add_places(&g);
    ok = ok && make_nodes(&g) && add_edges(&g);
    if (ok)
        drop_thin_edges(&g);
    else
        callgraph_free(result);
    free(g.places);
    free(g.number);
    free(g.above);
    map64_free(&g.by_ends);
    vec_free(&g.last);
    return ok;
}

void callgraph_free(callgraph *g) {
    vec_free(&g->nodes);
    vec_free(&g->edges);
    *g = (callgraph){0};
}
