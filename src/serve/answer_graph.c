/* answer_graph.c: `/api/graph`: which function calls which, and what they allocate. */
#include <stdlib.h>

#include "paths/callgraph.h"
#include "serve/request.h"
#include "serve/write.h"

enum { NODES_MOST = 300 };

typedef struct graph_asked {
    asked question;
    uint64_t nodes;
    double share; /* percent */
} graph_asked;

static bool parse(request *r, graph_asked *g) {
    return request_integer(r, "nodes", 1, NODES_MOST, &g->nodes) &&
           request_number(r, "share", 0, 100, &g->share) && asked_open(r, &g->question);
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool number_places(const callgraph *g, place_list *places) {
    for (size_t i = 0; i < g->nodes.count; i++)
        if (place_list_add(places, g->nodes.items[i].place) < -1)
            return false;
    return true;
}

static void write_nodes(output *o, const graph_asked *asks, const callgraph *g, place_list *places,
                        const cost **costs) {
    json_column c;
    output_text(o, ",\n\"nodes\":{");
    column_start(&c, o, "place", true);
    for (size_t i = 0; i < g->nodes.count; i++) {
        column_integer(&c, place_list_add(places, g->nodes.items[i].place));
        costs[i] = &g->nodes.items[i].total;
    }
    column_end(&c);
    write_figures(o, &asks->question, costs, g->nodes.count, false);
    column_start(&c, o, "self", false);
    for (size_t i = 0; i < g->nodes.count; i++)
        column_number(&c, asked_figure(&asks->question, &g->nodes.items[i].self).value);
    column_end(&c);
    output_char(o, '}');
}

static int64_t number_from(const void *thing) {
    const callgraph_edge *e = thing;
    return e->from;
}

static int64_t number_to(const void *thing) {
    const callgraph_edge *e = thing;
    return e->to;
}

static int64_t number_direct(const void *thing) {
    const callgraph_edge *e = thing;
    return e->direct;
}

static void write_edges(output *o, const graph_asked *asks, const callgraph *g,
                        const cost **costs) {
    const callgraph_edge *edges = g->edges.items;
    const size_t n = g->edges.count;
    for (size_t i = 0; i < n; i++)
        costs[i] = &edges[i].total;
    output_text(o, ",\n\"edges\":{");
    write_figures(o, &asks->question, costs, n, true);
    write_column(o, "from", edges, sizeof *edges, n, number_from);
    write_column(o, "to", edges, sizeof *edges, n, number_to);
    write_column(o, "direct", edges, sizeof *edges, n, number_direct);
    output_char(o, '}');
}

static bool write_graph(request *r, const graph_asked *asks, const callgraph *g) {
    place_list places = {0};
    output *o = r->o;
    const size_t most = g->nodes.count > g->edges.count ? g->nodes.count : g->edges.count;
    const cost **costs = malloc((most + 1) * sizeof *costs);
    output_char(o, '{');
    write_head(o, &asks->question);
    output_format(o, ",\n\"omitted\":%zu,\n", g->n_omitted);
    const bool ok = costs && number_places(g, &places) &&
                    place_list_write(o, &places, &asks->question.reading->profile, false, NULL);
    if (ok) {
        write_nodes(o, asks, g, &places, costs);
        write_edges(o, asks, g, costs);
    }
    output_text(o, "}\n");
    place_list_free(&places);
    free(costs);
    return ok;
}

bool answer_graph(request *r) {
    static const callpaths_spec shape = {.shape = CALLPATHS_DOWN};
    callgraph_spec spec = CALLGRAPH_DEFAULT;
    graph_asked asks = {.nodes = spec.most, .share = 100 * spec.node_share};
    asked_paths paths;
    callgraph g = {0};
    bool ok = parse(r, &asks);
    if (ok) {
        spec = (callgraph_spec){
            .most = asks.nodes, .node_share = asks.share / 100, .edge_share = asks.share / 500};
        ok = asked_paths_of(r, &asks.question, NULL, &shape, &paths) &&
             (callgraph_query(&paths.view, &spec, &g) || request_no_memory(r));
        asked_paths_release(r, &paths);
    }
    ok = ok && write_graph(r, &asks, &g);
    callgraph_free(&g);
    asked_close(r, &asks.question);
    return ok;
}
