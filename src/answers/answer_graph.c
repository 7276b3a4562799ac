/* answer_graph.c: `/api/graph`: which function calls which, and what they allocate. */
#include <stddef.h>

#include "answers/asked_paths.h"
#include "answers/endpoints.h"
#include "answers/write.h"
#include "paths/callgraph.h"

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

static const profile_location *place_of(const profile *names, const void *thing) {
    const callgraph_node *n = thing;
    (void)names;
    return n->place;
}

static void write_edges(output *o, const asked *a, const callgraph *g) {
    const write_things all = WRITE_THINGS(g->edges);
    output_text(o, ",\n\"edges\":{");
    write_figures(o, a, all, offsetof(callgraph_edge, total), true);
    WRITE_COLUMN(o, "from", g->edges, e, e->from);
    WRITE_COLUMN(o, "to", g->edges, e, e->to);
    WRITE_COLUMN(o, "direct", g->edges, e, e->direct);
    output_char(o, '}');
}

static bool write_graph(request *r, const asked *a, const callgraph *g) {
    const write_things all = WRITE_THINGS(g->nodes);
    output *o = r->o;
    output_char(o, '{');
    write_head(o, a);
    output_format(o, ",\n\"omitted\":%zu,\n", g->n_omitted);
    const bool ok = write_node_places(o, &a->reading->profile, false, NULL, all, place_of);
    write_figures(o, a, all, offsetof(callgraph_node, total), false);
    write_selves(o, a, all, offsetof(callgraph_node, self));
    output_char(o, '}');
    write_edges(o, a, g);
    output_text(o, "}\n");
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
    ok = ok && write_graph(r, &asks.question, &g);
    callgraph_free(&g);
    asked_close(r, &asks.question);
    return ok;
}
