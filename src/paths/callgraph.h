/* callgraph.h: a graph of callers, as pprof draws it: each function once, whatever stacks it is in,
 * and between two of them the stacks in which the one calls the other. Of a view inward of whole
 * stacks, with recursion as it is. */
#ifndef PATHS_CALLGRAPH_H
#define PATHS_CALLGRAPH_H

#include "paths/callpaths.h"

typedef struct callgraph_spec {
    size_t most; /* nodes: half of them those that allocate most, the others by their totals */
    double node_share; /* of the whole, that a node's total has at least … */
    double edge_share; /* … and an edge; but for the heaviest one to each node */
} callgraph_spec;

typedef struct callgraph_node {
    const profile_location *place;
    cost total; /* of the stacks that have it, each once */
    cost self;  /* allocated right there */
} callgraph_node;

typedef struct callgraph_edge {
    uint32_t from, to; /* nodes */
    cost total;        /* of the stacks that have it, each once */
    bool direct;       /* else there are always functions between that are no nodes */
} callgraph_edge;

/* Both lists begin with what costs most. */
typedef struct callgraph {
    VEC(callgraph_node) nodes;
    VEC(callgraph_edge) edges;
    size_t n_omitted; /* functions that are not shown */
    cost total;
} callgraph;

/* What pprof shows by default. */
#define CALLGRAPH_DEFAULT ((callgraph_spec){.most = 80, .node_share = 0.005, .edge_share = 0.001})

/* Fills `*result`, which need not be initialised; false when there is no memory. */
bool callgraph_query(const callpaths *v, const callgraph_spec *spec, callgraph *result);

void callgraph_free(callgraph *g);

#endif
