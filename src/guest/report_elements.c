/* report_elements.c: the three classic forms, which count allocations by element or type, each
 * number with its share of the total. Titles and the width of headings are prescribed. */
#include <string.h>

#include "guest/report.h"
#include "guest/text.h"

/* ---- the tree of elements -------------------------------------------------------------------- */

typedef struct call_node {
    tally self, total; /* total: including the nodes below */
} call_node;

typedef struct call_tree {
    const view *view;
    projection p;
    call_node *nodes;   /* by node of p.tree */
    uint32_t *children; /* all nodes except the root, sorted by parent, then most frequent first */
    uint32_t *first;    /* by node: index of its first child in `children`; one more at the end */
    size_t size;
} call_tree;

static unsigned kinds_of(const memtracer_options *o) {
    return (unsigned)o->roots << ELEMENT_FUNCTION | (unsigned)o->statements << ELEMENT_STATEMENT |
           (unsigned)o->calls << ELEMENT_CALL;
}

/* Sets the node to which each entry is charged. Returns false when there is no memory. */
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

/* Sums up the tree. What is charged to the root has no element around it, so it is not part of
 * these reports. */
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
    int order = rows_compare(&c->nodes[x].total, &c->nodes[y].total);
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

/* Visits all nodes except the root: a parent before its children, and the most frequent siblings
 * first. `leave` is called after everything below a node; it may be NULL. There is no recursion, as
 * trees may be deep. */
typedef struct walk {
    void (*enter)(void *context, const call_tree *c, uint32_t node, size_t depth);
    void (*leave)(void *context, const call_tree *c, uint32_t node);
    void *context;
} walk;

static bool call_tree_walk(const call_tree *c, const walk *w) {
    uint32_t *next = calloc(c->size, sizeof *next); /* by node: index of the child to visit next */
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

/* ---- tables ---------------------------------------------------------------------------------- */

static const report_line *line_of(const void *row) {
    return row;
}

TABLE_CELL(line_name, (cell){.text = line_of(row)->name})
TABLE_CELL(line_depth, (cell){.count = line_of(row)->depth})
TABLE_CELL(self_count, report_allocations(report_behind(t), &line_of(row)->self))
TABLE_CELL(total_count, report_allocations(report_behind(t), &line_of(row)->total))

static cell share_of(const table *t, cell allocations) {
    const double all = report_behind(t)->all;
    return (cell){.number = all > 0 ? allocations.amount.value / all : 0};
}

TABLE_CELL(self_share, share_of(t, self_count(t, row)))
TABLE_CELL(total_share, share_of(t, total_count(t, row)))

/* Returns a location such as "points.lox~5-9:58-183". */
static cell line_location(const table *t, const void *row) {
    const report *r = report_behind(t);
    const element *e = line_of(row)->element;
    const guest_extent *x = &e->extent;
    if (!e->file)
        return cell_none();
    output *o = report_text(r);
    output_text(o, view_file(r->view, e->file));
    output_format(o, "~%u", x->first_line);
    if (x->last_line != x->first_line)
        output_format(o, "-%u", x->last_line);
    output_format(o, ":%u-%u", x->start, x->end);
    return report_text_cell(r);
}

/* clang-format off */
#define NAME(heading) {.name = "name", .title = heading, .kind = COLUMN_TEXT, .get = line_name}
#define SELF                                                                                       \
    {.name = "self", .title = "Self Count", .kind = COLUMN_AMOUNT, .unit = "allocation",           \
     .get = self_count},                                                                           \
    {.name = "self_share", .kind = COLUMN_SHARE, .get = self_share}
#define TOTAL(heading)                                                                             \
    {.name = "total", .title = heading, .kind = COLUMN_AMOUNT, .unit = "allocation",               \
     .get = total_count},                                                                          \
    {.name = "total_share", .kind = COLUMN_SHARE, .get = total_share}
#define LOCATION(heading)                                                                          \
    {.name = "location", .title = heading, .kind = COLUMN_TEXT, .get = line_location}
/* clang-format on */

static const table_column histogram_columns[] = {
    NAME("Name"),
    SELF,
    TOTAL("Total Count"),
    LOCATION("Location"),
};

static const table_column calltree_columns[] = {
    NAME("Name"),
    {.name = "depth", .kind = COLUMN_COUNT, .get = line_depth},
    TOTAL("Total Count"),
    SELF,
    LOCATION("Location     "),
};

static const table_column type_columns[] = {
    NAME("Type"),
    TOTAL("Count"),
};

/* `subject` is the word for an element in the legend; NULL: no legend. */
static void add_title(document *d, const report *r, const char *title, const char *subject,
                      const tally *all) {
    const double rate = r->view->tracer->options->rate;
    char total[TEXT_NUMBER];
    text_count(total, tally_count(all, rate));
    const char *head =
        document_text(d, " %s with Allocation Counts. Recorded a total of %s allocations%s.\n",
                      title, total, rate < 1 ? " (estimated)" : "");
    const char *legend =
        subject
            ? document_text(
                  d,
                  "   Total Count: Number of allocations during the execution of this %s.\n"
                  "   Self Count: Number of allocations in this %s alone (excluding sub calls). \n",
                  subject, subject)
            : "";
    document_title(d, head ? head : "", legend ? legend : "");
}

/* Adds the lines, except those that TraceMem hides. */
static void add_lines(document *d, report *r, const tally *all, table lines) {
    size_t n = 0;
    for (size_t i = 0; i < r->lines.count; i++)
        if (rows_shows(&r->lines.items[i].total, r->view->tracer->options))
            r->lines.items[n++] = r->lines.items[i];
    r->all = tally_count(all, r->view->tracer->options->rate).value;
    lines.rows = r->lines.items;
    lines.stride = sizeof *r->lines.items;
    lines.n = r->lines.count = n;
    lines.context = r;
    document_rows(d, &lines, IN_TEXT, NULL);
}

/* ---- the call tree --------------------------------------------------------------------------- */

static void add_tree_line(void *context, const call_tree *c, uint32_t node, size_t depth) {
    report *r = context;
    const element *e = element_of(c, node);
    const call_node *n = &c->nodes[node];
    if (n->total.count &&
        !vec_push(&r->lines, ((report_line){n->self, n->total, e->name, e, depth})))
        r->view->tracer->failed = true;
}

bool report_calltree(document *d, report *r) {
    call_tree c;
    const bool good = call_tree_init(&c, r->view) &&
                      call_tree_walk(&c, &(walk){.enter = add_tree_line, .context = r});
    if (good) {
        add_title(d, r, "Call Tree", "function", &c.nodes[TREE_ROOT].total);
        add_lines(d, r, &c.nodes[TREE_ROOT].total,
                  (table){.name = "calltree", TABLE_COLUMNS(calltree_columns)});
    }
    call_tree_free(&c);
    return good;
}

/* ---- the histogram --------------------------------------------------------------------------- */

typedef struct histogram {
    report_line *lines; /* by element */
    uint32_t *active;   /* by element: activations on the current path */
} histogram;

/* Only the outermost activation of a recursive element counts. */
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
    const report_line *x = a, *y = b;
    int order = rows_compare(&x->self, &y->self);
    order = order ? order : rows_compare(&x->total, &y->total);
    return order ? order : (x->element > y->element) - (x->element < y->element);
}

/* Makes lines of the elements in which something was allocated, most frequent first. */
static bool histogram_lines(const histogram *h, report *r) {
    const view *v = r->view;
    for (size_t i = 0; i < v->elements.count; i++) {
        report_line l = h->lines[i];
        l.element = &v->elements.items[i];
        l.name = l.element->name;
        if (l.total.count && !vec_push(&r->lines, l))
            return false;
    }
    if (r->lines.count)
        qsort(r->lines.items, r->lines.count, sizeof *r->lines.items, compare_lines);
    return true;
}

static bool count_elements(const call_tree *c, report *r) {
    const size_t n = r->view->elements.count + 1;
    histogram h = {.lines = calloc(n, sizeof *h.lines), .active = calloc(n, sizeof *h.active)};
    const bool good = h.lines && h.active &&
                      call_tree_walk(c, &(walk){enter_element, leave_element, &h}) &&
                      histogram_lines(&h, r);
    free(h.lines);
    free(h.active);
    return good;
}

bool report_histogram(document *d, report *r) {
    call_tree c;
    const bool good = call_tree_init(&c, r->view) && count_elements(&c, r);
    if (good) {
        add_title(d, r, "Location Histogram", "element", &c.nodes[TREE_ROOT].total);
        add_lines(d, r, &c.nodes[TREE_ROOT].total,
                  (table){.name = "histogram", TABLE_COLUMNS(histogram_columns)});
    }
    call_tree_free(&c);
    return good;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The type of an object is its class. */
static const char *type_name(const leaf *l) {
    return l->class_name ? l->class_name : l->type;
}

static int compare_types(const void *a, const void *b) {
    return strcmp(((const report_line *)a)->name, ((const report_line *)b)->name);
}

static int compare_type_lines(const void *a, const void *b) {
    int order = rows_compare(&((const report_line *)a)->total, &((const report_line *)b)->total);
    return order ? order : compare_types(a, b);
}

static bool type_lines(report *r) {
    const view *v = r->view;
    for (size_t i = 0; i < v->entries.count; i++) {
        const leaf *l = v->entries.items[i].leaf;
        if (!vec_push(&r->lines, ((report_line){.name = type_name(l), .total = l->tally})))
            return false;
    }
    return true;
}

/* Merges the lines of each type. */
static void join_types(report *r) {
    report_line *lines = r->lines.items;
    size_t n = 0;
    if (r->lines.count)
        qsort(lines, r->lines.count, sizeof *lines, compare_types);
    for (size_t i = 0; i < r->lines.count; i++) {
        if (n && strcmp(lines[n - 1].name, lines[i].name) == 0)
            tally_add(&lines[n - 1].total, &lines[i].total);
        else
            lines[n++] = lines[i];
    }
    r->lines.count = n;
    if (n)
        qsort(lines, n, sizeof *lines, compare_type_lines);
}

bool report_typehistogram(document *d, report *r) {
    if (!type_lines(r))
        return false;
    join_types(r);
    add_title(d, r, "Type Histogram", NULL, &r->view->total);
    add_lines(d, r, &r->view->total, (table){.name = "types", TABLE_COLUMNS(type_columns)});
    return true;
}
