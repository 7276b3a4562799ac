/* calltree.c: see calltree.h. A chain of calls without side branches is not indented, so that deep
 * stacks stay readable. */
#include "present/calltree.h"

#include <inttypes.h>

/* A walk over the shown nodes. */
typedef struct walk {
    output *o;
    const report *r;
    const calltree *t;
    const calltree_view *view;
    uint64_t omitted; /* nodes whose parent is shown */
} walk;

/* In percent of the whole tree: of a function that is a small part of all, too, callers show. */
static double percent_of_tree(const walk *w, const calltree_node *n) {
    const double all = report_percent(w->r, &w->t->nodes.items[CALLTREE_ROOT].total);
    return all > 0 ? 100 * report_percent(w->r, &n->total) / all : 0;
}

/* How many children of a node are shown at a depth; they are the largest. */
static uint32_t shown_children(const walk *w, const calltree_node *n, uint64_t depth) {
    uint32_t shown = 0;
    while (depth < w->view->depth && shown < n->n_children &&
           (w->view->top == 0 || shown < w->view->top)) {
        uint32_t child = w->t->children.items[n->first + shown];
        if (percent_of_tree(w, &w->t->nodes.items[child]) < w->view->min_share)
            break;
        shown++;
    }
    return shown;
}

static const calltree_node *child_of(const walk *w, const calltree_node *n, uint32_t i) {
    return &w->t->nodes.items[w->t->children.items[n->first + i]];
}

/* ---- text -------------------------------------------------------------------------------- */

static void text_amount(walk *w, const cost *c) {
    figure f = report_figure(w->r, c);
    report_paint(w->o, w->r, REPORT_FAINT);
    output_format(w->o, "  %s%s", report_amount(w->r, f.value).text, report_beside(w->r, &f).text);
    report_paint(w->o, w->r, REPORT_PLAIN);
    output_char(w->o, '\n');
}

static void text_node(walk *w, const calltree_node *n, uint64_t depth, int indent) {
    output_format(w->o, "%6.1f%% %*s", report_percent(w->r, &n->total), indent, "");
    report_place(w->o, w->r, n->place, w->view->by_line);
    text_amount(w, &n->total);
    uint32_t shown = shown_children(w, n, depth);
    bool branches = shown > 1 || n->self.blocks || shown < n->n_children;
    for (uint32_t i = 0; i < shown; i++)
        text_node(w, child_of(w, n, i), depth + 1, indent + (branches ? 2 : 0));
    w->omitted += n->n_children - shown;
}

static void text_omitted(const walk *w) {
    if (w->omitted == 0)
        return;
    output_format(w->o, "Left out: %s call path%s below %g%%%s or deeper than %" PRIu64 " calls",
                  figure_count(w->omitted).text, w->omitted == 1 ? "" : "s", w->view->min_share,
                  w->view->focus ? " of it" : "", w->view->depth);
    output_text(w->o, w->view->top ? ", or not among the largest.\n" : ".\n");
}

void calltree_text(output *o, const report *r, const calltree *t, const calltree_view *view) {
    walk w = {.o = o, .r = r, .t = t, .view = view};
    const calltree_node *root = &t->nodes.items[CALLTREE_ROOT];
    if (!report_text_head(o, r))
        return;
    if (root->total.blocks == 0) {
        output_text(o, "No call stack contains ");
        output_shown(o, view->focus);
        output_text(o, ".\n");
        return;
    }
    if (view->focus) {
        output_format(o, "%6.1f%% ", report_percent(r, &root->total));
        report_paint(o, r, REPORT_BOLD);
        output_shown(o, view->focus);
        report_paint(o, r, REPORT_PLAIN);
        text_amount(&w, &root->total);
    }
    uint32_t shown = shown_children(&w, root, 0);
    for (uint32_t i = 0; i < shown; i++)
        text_node(&w, child_of(&w, root, i), 1, view->focus ? 2 : 0);
    w.omitted += root->n_children - shown;
    if (!view->focus && root->self.blocks) {
        output_format(o, "%6.1f%% (no backtrace)", report_percent(r, &root->self));
        text_amount(&w, &root->self);
    }
    text_omitted(&w);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_children(walk *w, const calltree_node *n, uint64_t depth);

static void json_node(walk *w, const calltree_node *n, uint64_t depth) {
    output_text(w->o, "{\"function\":");
    output_json(w->o, n->place->function);
    output_text(w->o, ",\"file\":");
    output_json(w->o, n->place->file);
    if (w->view->by_line)
        output_format(w->o, ",\"line\":%" PRIu32, n->place->line);
    output_char(w->o, ',');
    report_json_cost(w->o, w->r, &n->total);
    json_children(w, n, depth);
    output_char(w->o, '}');
}

/* What a node has itself, its children, and how many are not shown. */
static void json_children(walk *w, const calltree_node *n, uint64_t depth) {
    uint32_t shown = shown_children(w, n, depth);
    output_text(w->o, ",\"self\":{");
    report_json_cost(w->o, w->r, &n->self);
    output_text(w->o, "},\"children\":[");
    for (uint32_t i = 0; i < shown && !w->o->error; i++) {
        output_text(w->o, i ? ",\n  " : "\n  ");
        json_node(w, child_of(w, n, i), depth + 1);
    }
    output_format(w->o, "],\"children_omitted\":%" PRIu32, n->n_children - shown);
}

void calltree_json(output *o, const report *r, const calltree *t, const calltree_view *view) {
    walk w = {.o = o, .r = r, .t = t, .view = view};
    const calltree_node *root = &t->nodes.items[CALLTREE_ROOT];
    output_char(o, '{');
    report_json_head(o, r);
    output_text(o, ",\n \"tree\":{\"focus\":");
    if (view->focus)
        output_json(o, view->focus);
    else
        output_text(o, "null");
    output_char(o, ',');
    report_json_cost(o, r, &root->total);
    json_children(&w, root, 0);
    output_text(o, "}}\n");
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void csv_node(walk *w, const calltree_node *n, uint64_t depth) {
    figure self = report_figure(w->r, &n->self);
    output_format(w->o, "%" PRIu64 ",", depth);
    report_csv_cost(w->o, w->r, &n->total);
    output_format(w->o, ",%.0f,", self.value);
    output_csv(w->o, n->place->function);
    output_char(w->o, ',');
    output_csv(w->o, n->place->file);
    output_char(w->o, ',');
    if (w->view->by_line && n->place->line)
        output_u64(w->o, n->place->line, 0, ' ');
    output_char(w->o, '\n');
    uint32_t shown = shown_children(w, n, depth);
    for (uint32_t i = 0; i < shown; i++)
        csv_node(w, child_of(w, n, i), depth + 1);
}

void calltree_csv(output *o, const report *r, const calltree *t, const calltree_view *view) {
    walk w = {.o = o, .r = r, .t = t, .view = view};
    const calltree_node *root = &t->nodes.items[CALLTREE_ROOT];
    output_text(o, "depth," REPORT_CSV_COLUMNS ",self,function,file,line\n");
    uint32_t shown = shown_children(&w, root, 0);
    for (uint32_t i = 0; i < shown; i++)
        csv_node(&w, child_of(&w, root, i), 1);
}
