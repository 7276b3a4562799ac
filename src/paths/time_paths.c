/* time_paths.c: blocks are sorted by column. Within a column, they are sorted by node, in preorder,
 * so that what is below a node is a range. From the root, each step goes to the child with most. */
#include "paths/time_paths.h"

#include <stdlib.h>

#include "base/large.h"
#include "profile/radix.h"

enum { BLOCKS_A_COLUMN = 4 }; /* at least, on average; with fewer, columns say nothing */

/* A block of a column, at its node of the tree. */
typedef struct part {
    uint32_t node;
    cost cost;
} part;

typedef struct place_of_row {
    uint32_t node, row;
} place_of_row;

typedef struct timing {
    const path_tree *tree;
    const query_result *query;
    const time_paths_spec *spec;
    uint8_t *kept;    /* by row: it counts and is within the time */
    uint32_t *rows;   /* sorted by column */
    uint32_t *begins; /* by column, and one more: index of its first row */
    /* By stack of the profile, external blocks apart: its node of the tree, at most `spec->rows`
     * deep; PATH_NOWHERE: not known yet. */
    uint32_t *sites;
    uint32_t *cut; /* by node of the tree: itself, or the one above it that is not too deep */
    VEC(place_of_row) unsorted, sorted; /* of a column; scratch memory for sorting */
    VEC(part) parts;
    VEC(uint32_t) path; /* nodes of the previous column */
    VEC(uint32_t) open; /* their boxes */
    time_paths *result;
} timing;

static uint32_t column_at(const time_paths_spec *s, const time_paths *t, uint64_t time) {
    const double at = (double)(time - s->from);
    const uint32_t column = (uint32_t)(at * t->columns / (double)(s->to - s->from));
    return column < t->columns ? column : t->columns - 1;
}

static uint32_t column_of(const timing *t, size_t row) {
    return column_at(t->spec, t->result, blocks_born(&t->query->profile->table, row));
}

/* The first time of the column: a guess, corrected by what rounding made of it. */
uint64_t time_paths_begin(const time_paths_spec *s, const time_paths *t, uint32_t column) {
    if (column >= t->columns)
        return s->to;
    uint64_t time = s->from + (uint64_t)((double)(s->to - s->from) * column / t->columns);
    while (time > s->from && column_at(s, t, time - 1) >= column)
        time--;
    while (column_at(s, t, time) < column)
        time++;
    return time;
}

/* A column has some blocks on average, and a microsecond at least. */
static uint32_t columns_for(const time_paths_spec *s, size_t n_blocks) {
    uint64_t columns = n_blocks / BLOCKS_A_COLUMN;
    if (columns > s->to - s->from)
        columns = s->to - s->from;
    if (columns > s->columns)
        columns = s->columns;
    return columns > 1 ? (uint32_t)columns : 1;
}

/* ---- which blocks, in which order ----------------------------------------------------------- */

static bool select_rows(timing *t, size_t *n) {
    const profile *p = t->query->profile;
    const block_table *b = &p->table;
    t->kept = malloc(b->count + 1);
    if (!t->kept)
        return false;
    for (size_t i = 0; i < b->count; i++)
        t->kept[i] = (!t->spec->kept || t->spec->kept[i]) && blocks_born(b, i) >= t->spec->from &&
                     blocks_born(b, i) < t->spec->to;
    const bool ok = cost_keep(p, t->query->measure, t->query->moment, t->kept);
    *n = 0;
    for (size_t i = 0; i < b->count; i++)
        *n += t->kept[i];
    return ok;
}

static bool order_rows(timing *t, size_t n) {
    const size_t count = t->query->profile->table.count;
    const uint32_t columns = t->result->columns;
    t->rows = malloc((n + 1) * sizeof *t->rows);
    t->begins = calloc(columns + 2, sizeof *t->begins);
    if (!t->rows || !t->begins)
        return false;
    for (size_t i = 0; i < count; i++)
        if (t->kept[i])
            t->begins[column_of(t, i) + 2]++;
    for (uint32_t c = 2; c < columns + 2; c++)
        t->begins[c] += t->begins[c - 1];
    for (size_t i = 0; i < count; i++)
        if (t->kept[i])
            t->rows[t->begins[column_of(t, i) + 1]++] = (uint32_t)i;
    return true;
}

/* ---- where they are in the tree -------------------------------------------------------------- */

static bool cut_deep_nodes(timing *t) {
    const path_tree *tree = t->tree;
    uint32_t *depth = malloc(tree->n * sizeof *depth);
    t->cut = malloc(tree->n * sizeof *t->cut);
    if (depth && t->cut) {
        depth[0] = t->cut[0] = 0;
        for (uint32_t i = 1; i < tree->n; i++) {
            const uint32_t parent = tree->nodes[i].parent;
            depth[i] = depth[parent] + 1;
            t->cut[i] = depth[i] <= t->spec->rows ? i : t->cut[parent];
        }
    }
    free(depth);
    return depth && t->cut;
}

static uint32_t site_of(const timing *t, size_t row) {
    const block_table *b = &t->query->profile->table;
    const bool external = b->source[row] == MEMTRACE_EXTERNAL;
    const size_t stack = cct_stack(&t->query->profile->tree, b->node[row]);
    uint32_t *known = &t->sites[2 * stack + external];
    if (*known == PATH_NOWHERE) {
        const cost_entry e = {.node = b->node[row], .external = external};
        *known = t->cut[external ? path_tree_site(t->tree, 0, &t->query->lens, &e)
                                 : path_tree_end(t->tree, e.node)];
    }
    return *known;
}

/* ---- a column ------------------------------------------------------------------------------- */

static size_t digit_of(const void *place, unsigned shift) {
    return radix_digit(((const place_of_row *)place)->node, shift);
}

/* Makes the parts of a column, sorted by node and row. */
static bool gather_parts(timing *t, uint32_t column) {
    const uint32_t *rows = t->rows + t->begins[column];
    const size_t n = t->begins[column + 1] - t->begins[column];
    t->parts.count = 0;
    if (!vec_reserve(&t->unsorted, n) || !vec_reserve(&t->sorted, n) || !vec_reserve(&t->parts, n))
        return false;
    for (size_t i = 0; i < n; i++)
        t->unsorted.items[i] = (place_of_row){.node = site_of(t, rows[i]), .row = rows[i]};
    const place_of_row *in_order =
        radix_sort(t->unsorted.items, t->sorted.items, n, sizeof *t->sorted.items,
                   radix_bits(t->tree->n), digit_of);
    for (; t->parts.count < n; t->parts.count++) {
        const place_of_row *at = &in_order[t->parts.count];
        t->parts.items[t->parts.count] = (part){
            .node = at->node, .cost = cost_of_block(t->query->profile, t->query->measure, at->row)};
    }
    return true;
}

/* The parts of a column that are at or below a node. */
typedef struct range {
    uint32_t node;
    size_t first, end;
    cost total;
} range;

static range range_of(const timing *t, uint32_t node, size_t first, size_t end) {
    range r = {.node = node, .first = first, .end = first};
    for (; r.end < end && t->parts.items[r.end].node < t->tree->ends[node]; r.end++)
        cost_add(&r.total, &t->parts.items[r.end].cost);
    return r;
}

static uint32_t child_towards(const path_tree *tree, uint32_t node, uint32_t below) {
    while (tree->nodes[below].parent != node)
        below = tree->nodes[below].parent;
    return below;
}

/* Returns the heaviest child if it has more than what ends at the node; else `node` is that of
 * `above`. */
static range heaviest_below(const timing *t, const range *above) {
    range best = {.node = above->node};
    cost own = {0};
    for (size_t i = above->first; i < above->end;) {
        const part *p = &t->parts.items[i];
        if (p->node == above->node) {
            cost_add(&own, &p->cost);
            i++;
            continue;
        }
        const range r = range_of(t, child_towards(t->tree, above->node, p->node), i, above->end);
        if (best.node == above->node || r.total.weight > best.total.weight)
            best = r;
        i = r.end;
    }
    return own.weight > best.total.weight ? (range){.node = above->node} : best;
}

/* Extends the box of the previous column, or begins a new one. */
static bool put_box(timing *t, size_t depth, const range *r, uint32_t column) {
    time_paths *result = t->result;
    if (depth < t->path.count && t->path.items[depth] == r->node) {
        time_paths_box *box = &result->boxes.items[t->open.items[depth]];
        box->end = column + 1;
        cost_add(&box->total, &r->total);
        return true;
    }
    const path_node *n = &t->tree->nodes[r->node];
    t->path.count = t->open.count = depth;
    return vec_push(&t->path, r->node) && vec_push(&t->open, (uint32_t)result->boxes.count) &&
           vec_push(&result->boxes,
                    ((time_paths_box){.place = t->tree->places->locations.items[n->place],
                                      .parent = depth ? t->open.items[depth - 1] : 0,
                                      .first = column,
                                      .end = column + 1,
                                      .total = r->total}));
}

static bool add_column(timing *t, uint32_t column) {
    if (!gather_parts(t, column))
        return false;
    range r = range_of(t, PATH_ROOT, 0, t->parts.count);
    cost_add(&t->result->boxes.items[0].total, &r.total);
    for (size_t depth = 0;; depth++) {
        const range next = heaviest_below(t, &r);
        if (next.node == r.node) {
            t->path.count = t->open.count = depth;
            return true;
        }
        if (!put_box(t, depth, &next, column))
            return false;
        r = next;
    }
}

bool time_paths_query(const callpaths *v, const time_paths_spec *spec, time_paths *result) {
    size_t n = 0;
    *result = (time_paths){.columns = 1};
    timing t = {.tree = callpaths_tree(v), .query = v->queries[0], .spec = spec, .result = result};
    bool ok = select_rows(&t, &n);
    result->columns = columns_for(spec, n);
    t.sites = large_none(2 * (t.query->profile->tree.n_stacks + 1));
    ok = ok && t.sites && order_rows(&t, n) && cut_deep_nodes(&t) &&
         vec_push(&result->boxes,
                  ((time_paths_box){
                      .place = PATH_NOWHERE, .parent = PATH_NOWHERE, .end = result->columns}));
    for (uint32_t c = 0; ok && c < result->columns; c++)
        ok = (!spec->stop || !spec->stop(spec->context)) && add_column(&t, c);
    free(t.kept);
    free(t.rows);
    free(t.begins);
    free(t.sites);
    free(t.cut);
    vec_free(&t.unsorted);
    vec_free(&t.sorted);
    vec_free(&t.parts);
    vec_free(&t.path);
    vec_free(&t.open);
    if (!ok)
        time_paths_free(result);
    return ok;
}

void time_paths_free(time_paths *t) {
    vec_free(&t->boxes);
    *t = (time_paths){0};
}
