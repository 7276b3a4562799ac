/* report_elements.c: the three classic forms, which count allocations by element (or type) and show
 * each number with its share of all. */
#include <string.h>

#include "guest/report.h"
#include "guest/text.h"

enum { CELL = 15 }; /* width of a number with its share, if it is exact */

/* ---- the tree of elements -------------------------------------------------------------------- */

typedef struct call_node {
    tally self, total; /* total: with all below */
} call_node;

typedef struct call_tree {
    const view *view;
    projection p;
    call_node *nodes;   /* of p.tree */
    uint32_t *children; /* all nodes but the root, by parent, most frequent first … */
    uint32_t *first;    /* … and for each node the first of its children in there, and the end */
    size_t size;
} call_tree;

static unsigned kinds_of(const memtracer_options *o) {
    return (unsigned)o->roots << ELEMENT_FUNCTION | (unsigned)o->statements << ELEMENT_STATEMENT |
           (unsigned)o->calls << ELEMENT_CALL;
}

/* Where each entry is charged. False when there is no memory. */
static bool charge(call_tree *c, view *v, uint32_t *nodes) {
    for (size_t i = 0; i < v->entries.count; i++) {
        const entry *e = &v->entries.items[i];
        uint32_t own = view_runtime_element(v, e->leaf);
        nodes[i] = c->p.node_of[e->context];
        if (own != NO_ELEMENT)
            nodes[i] = tree_child(&c->p.tree, nodes[i], own);
        if (nodes[i] == TREE_NONE || v->tracer->failed)
            return false;
    }
    c->size = tree_size(&c->p.tree);
    return true;
}

/* What is charged to the root has no element around it: it is not part of these reports. */
static void add_up(call_tree *c, const uint32_t *nodes) {
    const view *v = c->view;
    for (size_t i = 0; i < v->entries.count; i++)
        if (nodes[i] != TREE_ROOT)
            tally_add(&c->nodes[nodes[i]].self, &v->entries.items[i].leaf->tally);
    for (size_t i = c->size; i-- > 0;) {
        tally_add(&c->nodes[i].total, &c->nodes[i].self);
        if (i != TREE_ROOT)
            tally_add(&c->nodes[c->p.tree.nodes.items[i].parent].total, &c->nodes[i].total);
    }
}

static int compare_siblings(const void *a, const void *b, void *context) {
    const call_tree *c = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t px = c->p.tree.nodes.items[x].parent, py = c->p.tree.nodes.items[y].parent;
    if (px != py)
        return px < py ? -1 : 1;
    int order = tally_compare(&c->nodes[x].total, &c->nodes[y].total);
    return order ? order : (x > y) - (x < y);
}

static void order_children(call_tree *c) {
    for (uint32_t i = 1; i < c->size; i++)
        c->children[i - 1] = i;
    qsort_r(c->children, c->size - 1, sizeof *c->children, compare_siblings, c);
    for (uint32_t node = 0, at = 0; node <= c->size; node++) {
        c->first[node] = at;
        while (node < c->size && at < c->size - 1 &&
               c->p.tree.nodes.items[c->children[at]].parent == node)
            at++;
    }
}

static bool call_tree_init(call_tree *c, view *v) {
    *c = (call_tree){.view = v};
    uint32_t *nodes = calloc(v->entries.count + 1, sizeof *nodes);
    bool good =
        nodes && projection_init(&c->p, v, kinds_of(v->tracer->options)) && charge(c, v, nodes);
    if (good) {
        c->nodes = calloc(c->size, sizeof *c->nodes);
        c->children = calloc(c->size, sizeof *c->children);
        c->first = calloc(c->size + 1, sizeof *c->first);
        good = c->nodes && c->children && c->first;
    }
    if (good) {
        add_up(c, nodes);
        order_children(c);
    }
    free(nodes);
    return good;
}

static void call_tree_free(call_tree *c) {
    projection_free(&c->p);
    free(c->nodes);
    free(c->children);
    free(c->first);
}

static const element *element_of(const call_tree *c, uint32_t node) {
    return &c->view->elements.items[c->p.tree.nodes.items[node].edge];
}

/* Visits nodes from the root's children on, parents first, most frequent siblings first; `leave`
 * (NULL: nothing) when all below a node is done. Trees may be too deep for recursion. */
typedef struct walk {
    void (*enter)(void *context, const call_tree *c, uint32_t node, size_t depth);
    void (*leave)(void *context, const call_tree *c, uint32_t node);
    void *context;
} walk;

static bool call_tree_walk(const call_tree *c, const walk *w) {
    uint32_t *next = calloc(c->size, sizeof *next); /* the child of each node to visit next */
    uint32_t node = TREE_ROOT;
    size_t depth = 0;
    if (!next)
        return false;
    memcpy(next, c->first, c->size * sizeof *next);
    while (node != TREE_ROOT || next[node] < c->first[node + 1]) {
        if (next[node] < c->first[node + 1]) {
            node = c->children[next[node]++];
            w->enter(w->context, c, node, depth++);
        } else {
            if (w->leave)
                w->leave(w->context, c, node);
            node = c->p.tree.nodes.items[node].parent;
            depth--;
        }
    }
    free(next);
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A line of a classic report; location is NULL in a histogram of types. */
typedef struct line {
    const char *name;
    const element *element;
    size_t depth;
    tally self, total;
} line;

typedef VEC(line) line_list;

typedef struct layout {
    const char *title;
    const char *name;     /* heads the first column */
    const char *subject;  /* of the legend; NULL: there is none */
    const char *location; /* heads the last column */
    bool total_first;
    bool types; /* one column of counts, and no locations */
} layout;

/* "46  90.2%" */
static void text_cell(char *to, const view *v, const tally *t, double all) {
    double rate = v->tracer->options->rate;
    estimate count = tally_count(t, rate);
    text_count(to, count);
    size_t n = strlen(to);
    snprintf(to + n, TEXT_NUMBER - n, " %5.1f%%", all > 0 ? 100 * count.value / all : 0);
}

static void write_location(const view *v, const element *e, FILE *out) {
    if (!e->file)
        return;
    const guest_extent *x = &e->extent;
    fprintf(out, "%s~%u", view_file(v, e->file), x->first_line);
    if (x->last_line != x->first_line)
        fprintf(out, "-%u", x->last_line);
    fprintf(out, ":%u-%u", x->start, x->end);
}

static int name_width(const line_list *lines, const layout *f) {
    int width = text_width(f->name);
    for (size_t i = 0; i < lines->count; i++) {
        int w = 2 * (int)lines->items[i].depth + text_width(lines->items[i].name);
        width = w > width ? w : width;
    }
    return width;
}

static int cell_width(const view *v, const line_list *lines, double all) {
    char cell[TEXT_NUMBER];
    int width = CELL;
    for (size_t i = 0; i < lines->count; i++) {
        text_cell(cell, v, &lines->items[i].total, all);
        int w = text_width(cell);
        width = w > width ? w : width;
        text_cell(cell, v, &lines->items[i].self, all);
        w = text_width(cell);
        width = w > width ? w : width;
    }
    return width;
}

static void write_rule(FILE *out, int width) {
    for (int i = 0; i < width; i++)
        fputc('-', out);
    fputc('\n', out);
}

/* Between the rules at the top; returns the width of all rules. */
static void write_title(const view *v, const layout *f, const tally *all, FILE *out) {
    const memtracer_options *o = v->tracer->options;
    char total[TEXT_NUMBER];
    text_count(total, tally_count(all, o->rate));
    fprintf(out, " %s with Allocation Counts. Recorded a total of %s allocations%s.\n", f->title,
            total, o->rate < 1 ? " (estimated)" : "");
    if (f->subject) {
        fprintf(out, "   Total Count: Number of allocations during the execution of this %s.\n",
                f->subject);
        fprintf(out,
                "   Self Count: Number of allocations in this %s alone (excluding sub calls). \n",
                f->subject);
    }
}

static void write_columns(const layout *f, int name, int cell, FILE *out) {
    fputc(' ', out);
    text_left(out, f->name, name);
    fputs(" | ", out);
    text_right(out, f->types ? "Count" : f->total_first ? "Total Count" : "Self Count", cell);
    if (f->types) {
        fputs(" \n", out);
        return;
    }
    fputs(" | ", out);
    text_right(out, f->total_first ? "Self Count" : "Total Count", cell);
    fprintf(out, " | %s\n", f->location);
}

static void write_line(const view *v, const layout *f, const line *l, int name, int width,
                       double all, FILE *out) {
    char first[TEXT_NUMBER], second[TEXT_NUMBER];
    text_cell(first, v, f->total_first ? &l->total : &l->self, all);
    text_cell(second, v, f->total_first ? &l->self : &l->total, all);
    fprintf(out, " %*s", 2 * (int)l->depth, "");
    text_left(out, l->name, name - 2 * (int)l->depth);
    fputs(" | ", out);
    text_right(out, first, width);
    if (f->types) {
        fputs(" \n", out);
        return;
    }
    fputs(" | ", out);
    text_right(out, second, width);
    fputs(" | ", out);
    write_location(v, l->element, out);
    fputc('\n', out);
}

static void write_lines(const view *v, const layout *f, const line_list *lines, const tally *all,
                        FILE *out) {
    double total = tally_count(all, v->tracer->options->rate).value;
    int name = name_width(lines, f), cell = cell_width(v, lines, total);
    int rule = f->types ? name + cell + 5 : name + 2 * cell + (int)strlen(f->location) + 10;
    write_rule(out, rule);
    write_title(v, f, all, out);
    write_rule(out, rule);
    write_columns(f, name, cell, out);
    write_rule(out, rule);
    for (size_t i = 0; i < lines->count; i++)
        if (tally_shows(&lines->items[i].total, v->tracer->options))
            write_line(v, f, &lines->items[i], name, cell, total, out);
    write_rule(out, rule);
}

/* ---- the call tree --------------------------------------------------------------------------- */

typedef struct tree_lines {
    line_list lines;
    bool failed;
} tree_lines;

static void add_tree_line(void *context, const call_tree *c, uint32_t node, size_t depth) {
    tree_lines *l = context;
    const element *e = element_of(c, node);
    const call_node *n = &c->nodes[node];
    if (n->total.count && !vec_push(&l->lines, ((line){e->name, e, depth, n->self, n->total})))
        l->failed = true;
}

bool report_calltree(view *v, FILE *out) {
    static const layout form = {.title = "Call Tree",
                                .name = "Name",
                                .subject = "function",
                                .location = "Location     ",
                                .total_first = true};
    call_tree c;
    tree_lines l = {0};
    bool good = call_tree_init(&c, v) &&
                call_tree_walk(&c, &(walk){.enter = add_tree_line, .context = &l}) && !l.failed;
    if (good)
        write_lines(v, &form, &l.lines, &c.nodes[TREE_ROOT].total, out);
    vec_free(&l.lines);
    call_tree_free(&c);
    return good;
}

/* ---- the histogram --------------------------------------------------------------------------- */

typedef struct histogram {
    line *lines;      /* of each element */
    uint32_t *active; /* how often it is on the path */
} histogram;

/* Of a recursive element only the outermost activation counts. */
static void enter_element(void *context, const call_tree *c, uint32_t node, size_t depth) {
    (void)depth;
    histogram *h = context;
    uint32_t e = c->p.tree.nodes.items[node].edge;
    tally_add(&h->lines[e].self, &c->nodes[node].self);
    if (h->active[e]++ == 0)
        tally_add(&h->lines[e].total, &c->nodes[node].total);
}

static void leave_element(void *context, const call_tree *c, uint32_t node) {
    ((histogram *)context)->active[c->p.tree.nodes.items[node].edge]--;
}

static int compare_lines(const void *a, const void *b) {
    const line *x = a, *y = b;
    int order = tally_compare(&x->self, &y->self);
    order = order ? order : tally_compare(&x->total, &y->total);
    return order ? order : (x->element > y->element) - (x->element < y->element);
}

/* Those in which something was allocated, most first. */
static bool histogram_lines(const histogram *h, const view *v, line_list *lines) {
    for (size_t i = 0; i < v->elements.count; i++) {
        line l = h->lines[i];
        l.element = &v->elements.items[i];
        l.name = l.element->name;
        if (l.total.count && !vec_push(lines, l))
            return false;
    }
    if (lines->count)
        qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
    return true;
}

bool report_histogram(view *v, FILE *out) {
    static const layout form = {.title = "Location Histogram",
                                .name = "Name",
                                .subject = "element",
                                .location = "Location"};
    call_tree c;
    histogram h = {0};
    line_list lines = {0};
    bool good = call_tree_init(&c, v);
    if (good) {
        h.lines = calloc(v->elements.count + 1, sizeof *h.lines);
        h.active = calloc(v->elements.count + 1, sizeof *h.active);
        good = h.lines && h.active &&
               call_tree_walk(&c, &(walk){enter_element, leave_element, &h}) &&
               histogram_lines(&h, v, &lines);
    }
    if (good)
        write_lines(v, &form, &lines, &c.nodes[TREE_ROOT].total, out);
    free(h.lines);
    free(h.active);
    vec_free(&lines);
    call_tree_free(&c);
    return good;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* That of an object is its class. */
static const char *type_name(const leaf *l) {
    return l->class_name ? l->class_name : l->type;
}

static int compare_types(const void *a, const void *b) {
    return strcmp(((const line *)a)->name, ((const line *)b)->name);
}

static int compare_type_lines(const void *a, const void *b) {
    int order = tally_compare(&((const line *)a)->total, &((const line *)b)->total);
    return order ? order : compare_types(a, b);
}

bool report_typehistogram(view *v, FILE *out) {
    static const layout form = {.title = "Type Histogram", .name = "Type", .types = true};
    line_list lines = {0};
    for (size_t i = 0; i < v->entries.count; i++) {
        const leaf *l = v->entries.items[i].leaf;
        if (!vec_push(&lines, ((line){.name = type_name(l), .self = l->tally, .total = l->tally})))
            return vec_free(&lines), false;
    }
    size_t n = 0;
    if (lines.count)
        qsort(lines.items, lines.count, sizeof *lines.items, compare_types);
    for (size_t i = 0; i < lines.count; i++) {
        line *l = &lines.items[i];
        if (n && strcmp(lines.items[n - 1].name, l->name) == 0) {
            tally_add(&lines.items[n - 1].self, &l->self);
            tally_add(&lines.items[n - 1].total, &l->total);
        } else {
            lines.items[n++] = *l;
        }
    }
    lines.count = n;
    if (n)
        qsort(lines.items, n, sizeof *lines.items, compare_type_lines);
    write_lines(v, &form, &lines, &v->total, out);
    vec_free(&lines);
    return true;
}
