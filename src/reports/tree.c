/* tree.c: the rows are the nodes of a picture. A chain of calls without side branches is not
 * indented, so that deep stacks stay readable. */
#include "reports/tree.h"

static const tree_report *report_of(const table *t) {
    return (const tree_report *)((const char *)t->context - offsetof(tree_report, rows));
}

static const picture_node *node_of(const void *row) {
    return row;
}

static const cost *total_of(const void *row) {
    return &node_of(row)->total;
}

static const cost *self_of(const void *row) {
    return row;
}

static const picture_node *root_of(const tree_report *t) {
    return &t->picture->nodes.items[0];
}

/* ---- what is shown ----------------------------------------------------------------------- */

static uint32_t number_of(const tree_report *t, const void *row) {
    return (uint32_t)(node_of(row) - t->picture->nodes.items);
}

static const uint32_t *children_of(const tree_report *t, const void *row) {
    return t->children + t->firsts[number_of(t, row)];
}

/* Returns the number of a row's children. The row of allocations without a backtrace is no node,
 * and has none. */
static uint32_t count_children(const tree_report *t, const void *row) {
    if (row == &t->alone)
        return 0;
    const uint32_t node = number_of(t, row);
    return t->firsts[node + 1] - t->firsts[node];
}

/* Sorts the nodes by parent. A picture has its nodes in preorder, so children of one parent stay in
 * their order. */
static void list_children(document *d, tree_report *t) {
    const size_t n = t->picture->nodes.count;
    const picture_node *nodes = t->picture->nodes.items;
    uint32_t *firsts = document_keep(d, (n + 2) * sizeof *firsts);
    uint32_t *children = document_keep(d, n * sizeof *children);
    t->firsts = firsts;
    t->children = children;
    if (!firsts || !children)
        return;
    for (size_t i = 1; i < n; i++)
        firsts[nodes[i].parent + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        firsts[i] += firsts[i - 1];
    for (uint32_t i = 1; i < n; i++)
        children[firsts[nodes[i].parent + 1]++] = i;
}

static uint64_t count_omitted(const tree_report *t) {
    uint64_t omitted = 0;
    for (size_t i = 0; i < t->picture->nodes.count; i++)
        omitted += t->picture->nodes.items[i].omitted;
    return omitted;
}

/* ---- columns ----------------------------------------------------------------------------- */

/* The rows of a table of children are the numbers of nodes. */
static const void *child_row(const table *t, size_t i) {
    const uint32_t *numbers = t->rows;
    return &report_of(t)->picture->nodes.items[numbers[i]];
}

static cell node_place(const table *t, const void *row) {
    const tree_report *r = report_of(t);
    if (row == root_of(r) && r->view.focus)
        return (cell){.place = &r->named};
    return (cell){.place = node_of(row)->place == PATH_NOWHERE
                               ? NULL
                               : &r->report->query->profile->locations.items[node_of(row)->place]};
}

TABLE_CELL(node_depth, (cell){.count = t->depth + 1})
TABLE_CELL(node_self, (cell){.amount = report_figure(report_of(t)->report, &node_of(row)->self)})
TABLE_CELL(node_omitted, (cell){.count = node_of(row)->omitted})

static cell focus_text(const table *t, const void *row) {
    const char *focus = report_of(t)->view.focus;
    (void)row;
    return focus ? (cell){.text = focus} : cell_none();
}

static const table_column self_columns[] = {REPORT_COLUMNS_COST};

static bool node_own(const table *t, const void *row, table *below) {
    below->rows = &node_of(row)->self;
    below->stride = sizeof(cost);
    below->n = 1;
    below->context = &report_of(t)->selves;
    return true;
}

static bool node_children(const table *t, const void *row, table *below);

#define TREE_OWN                                                                                   \
    {.name = "self",                                                                               \
     .kind = COLUMN_OBJECT,                                                                        \
     .in = IN_JSON,                                                                                \
     TABLE_COLUMNS(self_columns),                                                                  \
     .below = node_own,                                                                            \
     .help = "allocated right there: a share, an amount, and blocks"},                             \
        {.name = "children",                                                                       \
         .title = "",                                                                              \
         .kind = COLUMN_ROWS,                                                                      \
         .below = node_children,                                                                   \
         .help = "what it calls, or what calls it, largest first"},                                \
    {                                                                                              \
        .name = "children_omitted", .kind = COLUMN_COUNT, .in = IN_JSON, .get = node_omitted,      \
        .help = "rows that are not listed below it"                                                \
    }

static const table_column columns[] = {
    {.name = "depth",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = node_depth,
     .help = "calls from the root, from 1"},
    REPORT_COLUMNS_COST,
    {.name = "self",
     .kind = COLUMN_AMOUNT,
     .in = IN_CSV,
     .get = node_self,
     .help = "allocated right there"},
    {.name = "place",
     .title = "function",
     .kind = COLUMN_PLACE,
     .get = node_place,
     .help = "the function, or line"},
    TREE_OWN,
};

static const table_column root_columns[] = {
    {.name = "focus", .kind = COLUMN_TEXT, .get = focus_text, .help = "the function asked about"},
    REPORT_COLUMNS_COST,
    TREE_OWN,
};

static bool node_children(const table *t, const void *row, table *below) {
    const tree_report *r = report_of(t);
    const picture_node *n = row;
    const uint32_t shown = count_children(r, row);
    below->columns = columns;
    below->n_columns = sizeof columns / sizeof *columns;
    below->rows = shown > 0 ? children_of(r, row) : NULL;
    below->row = child_row;
    below->n = shown;
    below->context = t->context;
    below->in_line = row != root_of(r) && shown == 1 && n->self.blocks == 0 && n->omitted == 0;
    below->depth = row == root_of(r) ? 0 : t->depth + 1;
    return shown > 0;
}

/* ---- documents --------------------------------------------------------------------------- */

static const void *listed_row(const table *t, size_t i) {
    const void *const *rows = t->rows;
    return rows[i];
}

/* Returns the first rows in text: the focus; or the outermost calls, and the allocations without a
 * stack. */
static table top_rows(document *d, tree_report *t) {
    const picture_node *root = root_of(t);
    const uint32_t shown = t->view.focus ? 0 : count_children(t, root);
    const void **rows = document_keep(d, (shown + 1) * sizeof *rows);
    size_t n = 0;
    for (uint32_t i = 0; rows && i < shown; i++)
        rows[n++] = &t->picture->nodes.items[children_of(t, root)[i]];
    t->alone = (picture_node){.place = PATH_NOWHERE, .total = root->self, .self = root->self};
    if (rows && t->view.focus)
        rows[n++] = root;
    else if (rows && root->self.blocks > 0)
        rows[n++] = &t->alone;
    return (table){.name = "rows",
                   TABLE_COLUMNS(columns),
                   .rows = rows,
                   .row = listed_row,
                   .n = n,
                   .context = &t->rows,
                   .unit = report_unit(t->report),
                   .by_line = t->view.by_line,
                   .no_name = report_no_stack(t->report->query)};
}

static void say_omitted(document *d, const tree_report *t) {
    const uint64_t omitted = count_omitted(t);
    if (omitted > 0)
        document_note(d, "Omitted: %s call path%s below %g%%%s or deeper than %llu calls%s.",
                      figure_count(omitted).text, omitted == 1 ? "" : "s", t->view.min_share,
                      t->view.focus ? " of it" : "", (unsigned long long)t->view.depth,
                      t->view.top ? ", or not among the largest" : "");
}

void tree_document(document *d, tree_report *t) {
    const bool any = report_head(d, t->report), found = root_of(t)->total.blocks > 0;
    t->rows = (report_rows){.report = t->report, .cost = total_of};
    t->selves = (report_rows){.report = t->report, .cost = self_of};
    t->named = (profile_location){.file = "", .function = t->view.focus ? t->view.focus : ""};
    list_children(d, t);
    if (d->failed)
        return;
    const table root = {.name = "tree",
                        TABLE_COLUMNS(root_columns),
                        .rows = root_of(t),
                        .n = 1,
                        .context = &t->rows,
                        .unit = report_unit(t->report),
                        .by_line = t->view.by_line};
    const table rows = top_rows(d, t);
    document_object(d, &root, IN_JSON);
    if (any && !found)
        document_note(d, "No call stack contains %s.", t->view.focus);
    if (any && found) {
        document_rows(d, &rows, IN_TEXT, NULL);
        say_omitted(d, t);
    }
    table children = {.unit = rows.unit, .by_line = rows.by_line};
    node_children(&root, root.rows, &children);
    document_rows(d, &children, IN_CSV, NULL);
}
