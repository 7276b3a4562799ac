/* callgraph.h: a graph of callers, as pprof draws it. Each function is there once, whatever stacks
 * it is in. An edge between two functions has the stacks in which one calls the other. For a view
 * of whole stacks inward, without collapsed recursion. */
#ifndef PATHS_CALLGRAPH_H
#define PATHS_CALLGRAPH_H

#include "paths/callpaths.h"

typedef struct callgraph_spec {
    size_t most;       /* nodes: half of them by what they allocate, the others by their totals */
    double node_share; /* least total of a node, as a share of the whole … */
    double edge_share; /* … and of an edge, except for the heaviest one to each node */
} callgraph_spec;

typedef struct callgraph_node {
    const profile_location *place;
    cost total; /* of the stacks that contain it, each once */
    cost self;  /* allocated by the function itself */
} callgraph_node;

typedef struct callgraph_edge {
    uint32_t from, to; /* nodes */
    cost total;        /* of the stacks that contain it, each once */
    bool direct;       /* else there are always functions in between that are not nodes */
} callgraph_edge;

/* Both lists are sorted by cost, largest first. */
typedef struct callgraph {
    VEC(callgraph_node) nodes;
    VEC(callgraph_edge) edges;
    size_t n_omitted; /* functions that are not shown */
    cost total;
} callgraph;

/* The defaults of pprof. */
#define CALLGRAPH_DEFAULT ((callgraph_spec){.most = 80, .node_share = 0.005, .edge_share = 0.001})

/* Fills `*result`, which need not be initialized; false when there is no memory. */
bool callgraph_query(const callpaths *v, const callgraph_spec *spec, callgraph *result);

void callgraph_free(callgraph *g);

#endif
