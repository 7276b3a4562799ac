/* export_dot.c: a call graph for Graphviz, drawn like pprof's: the size of a box shows what it
 * allocates itself, the width of an arrow what is allocated through it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/exports.h"
#include "paths/callgraph.h"
#include "query/figure.h"

enum { FONT_LEAST = 8, FONT_MORE = 16, PEN_MORE = 5 };

static void dot_text(output *o, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            output_char(o, '\\');
        output_char(o, (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

static double share_of(const callgraph *g, const cost *c) {
    return g->total.weight > 0 ? c->weight / g->total.weight : 0;
}

/* Writes a color between gray and red, as in pprof: the more expensive, the more conspicuous. */
static void dot_color(output *o, const char *name, double share, double lightness) {
    output_format(o, "%s=\"0.02 %.3f %.3f\"", name, fmin(1, 0.08 + sqrt(share) * 0.9), lightness);
}

static figure_text amount_of(const export_subject *s, const cost *c) {
    return figure_amount(measure_infos[s->measure].unit,
                         cost_value(s->lens->profile, s->measure, c));
}

static void dot_node(output *o, const export_subject *s, const callgraph *g, size_t i) {
    const callgraph_node *n = &g->nodes.items[i];
    const double self = share_of(g, &n->self), total = share_of(g, &n->total);
    output_format(o, "N%zu [label=\"", i + 1);
    dot_text(o, *n->place->function ? n->place->function
                : *n->place->file   ? n->place->file
                                    : "[unknown]");
    if (n->self.blocks > 0)
        output_format(o, "\\n%s (%.2f%%)", amount_of(s, &n->self).text, 100 * self);
    if (n->self.weight < n->total.weight)
        output_format(o, "\\n%s%s (%.2f%%)", n->self.blocks > 0 ? "of " : "0 of ",
                      amount_of(s, &n->total).text, 100 * total);
    output_text(o, "\" tooltip=\"");
    dot_text(o, n->place->file);
    output_format(o, "\" fontsize=%.1f ", FONT_LEAST + FONT_MORE * sqrt(self));
    dot_color(o, "color", total, 0.7);
    output_char(o, ' ');
    dot_color(o, "fillcolor", total / 8, 0.96);
    output_text(o, "]\n");
}

/* Graphviz draws heavier edges straighter. */
static void dot_edge(output *o, const export_subject *s, const callgraph *g,
                     const callgraph_edge *e) {
    const double share = share_of(g, &e->total);
    output_format(o, "N%u -> N%u [label=\" %s\" weight=%d penwidth=%.2f ", e->from + 1, e->to + 1,
                  amount_of(s, &e->total).text, 1 + (int)(100 * share), 1 + PEN_MORE * share);
    dot_color(o, "color", share, 0.7);
    output_text(o, e->direct ? "]\n" : " style=dotted]\n");
}

/* Describes the graph. */
static void dot_legend(output *o, const export_subject *s, const callgraph *g) {
    output_text(o, "subgraph cluster_L { L [shape=box fontsize=14 style=filled "
                   "fillcolor=\"#f8f8f8\" label=\"");
    dot_text(o, s->title);
    output_format(o, "\\l%s %s\\l%zu of %zu functions are shown; the others have less\\l\"] }\n",
                  amount_of(s, &g->total).text, measure_infos[s->measure].title, g->nodes.count,
                  g->nodes.count + g->n_omitted);
}

static void write_graph(output *o, const export_subject *s, const callgraph *g) {
    output_text(o, "digraph \"");
    dot_text(o, s->title);
    output_text(o, "\" {\nnode [shape=box style=filled fontname=\"sans-serif\"]\n"
                   "edge [fontname=\"sans-serif\" fontsize=10]\n");
    dot_legend(o, s, g);
    for (size_t i = 0; i < g->nodes.count; i++)
        dot_node(o, s, g, i);
    for (size_t i = 0; i < g->edges.count; i++)
        dot_edge(o, s, g, &g->edges.items[i]);
    output_text(o, "}\n");
}

bool export_dot(output *o, export_subject *subject) {
    const query_result q = {.profile = subject->lens->profile,
                            .measure = subject->measure,
                            .lens = *subject->lens,
                            .costs = *subject->costs};
    const callgraph_spec spec = CALLGRAPH_DEFAULT;
    callpaths v;
    callgraph g = {0};
    if (!callpaths_make(&v, &q, NULL, &(callpaths_spec){.shape = CALLPATHS_DOWN}))
        return false;
    const bool ok = callgraph_query(&v, &spec, &g);
    if (ok)
        write_graph(o, subject, &g);
    callgraph_free(&g);
    callpaths_free(&v);
    return ok;
}
