/* rows.c: entries are sorted by what a row shows, so that those of a row are adjacent and can be
 * summed. Rows are then sorted by cost. */
#include "guest/rows.h"

#include <string.h>

/* ---- grouping -------------------------------------------------------------------------------- */

/* NULL sorts first. */
static int compare_text(const char *a, const char *b) {
    return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_places(const site *a, const site *b) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int c = compare_text(a->place.file, b->place.file);
    return c ? c : (a->place.line > b->place.line) - (a->place.line < b->place.line);
}

static int compare_coarse(const entry *a, const entry *b) {
    int c = compare_places(a->site, b->site);
    return c ? c : compare_text(a->leaf->type, b->leaf->type);
}

static int compare_fine(const entry *a, const entry *b) {
    int c = compare_coarse(a, b);
    c = c || !a->site ? c : compare_text(a->site->name, b->site->name);
    return c ? c : compare_text(a->leaf->class_name, b->leaf->class_name);
}

static int compare_entries(const void *a, const void *b) {
    return compare_fine(a, b);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_doubles(double a, double b) {
    return (a > b) - (a < b);
}

int rows_compare(const tally *a, const tally *b) {
    int c = -compare_doubles(a->blocks.count, b->blocks.count); /* 0 if counting is exact */
    c = c ? c : (a->count < b->count) - (a->count > b->count);
    return c ? c : (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* Ties keep the order of the source. */
static int compare_rows(const void *a, const void *b) {
    const site_row *x = a, *y = b;
    int c = rows_compare(&x->tally, &y->tally);
    return c ? c : (x->entries > y->entries) - (x->entries < y->entries);
}

static int compare_stack_nodes(const void *a, const void *b) {
    const row_stack *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_stacks(const void *a, const void *b) {
    const row_stack *x = a, *y = b;
    int c = rows_compare(&x->tally, &y->tally);
    return c ? c : compare_stack_nodes(a, b);
}

bool rows_shows(const tally *t, const memtracer_options *o) {
    return tally_bytes(t, o->rate).value >= (double)o->min_bytes;
}

/* ---- rows ------------------------------------------------------------------------------------ */

bool rows_make(row_list *rows, view *v, bool fine) {
    entry *e = v->entries.items;
    if (v->entries.count)
        qsort(e, v->entries.count, sizeof *e, compare_entries);
    for (size_t i = 0; i < v->entries.count; i++) {
        bool same =
            i && (fine ? compare_fine(&e[i - 1], &e[i]) : compare_coarse(&e[i - 1], &e[i])) == 0;
        if (!same && !vec_push(rows, ((site_row){.entries = &e[i]})))
            return false;
        site_row *r = &rows->items[rows->count - 1];
        r->n_entries++;
        tally_add(&r->tally, &e[i].leaf->tally);
    }
    if (rows->count)
        qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    return true;
}

bool row_stacks(row_stack_list *stacks, const site_row *r, const projection *lines) {
    for (size_t i = 0; i < r->n_entries; i++) {
        const entry *e = &r->entries[i];
        if (!vec_push(stacks, ((row_stack){e->leaf->tally, lines->node_of[e->context]})))
            return false;
    }
    qsort(stacks->items, stacks->count, sizeof *stacks->items, compare_stack_nodes);
    size_t n = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        row_stack *s = &stacks->items[i];
        if (n && stacks->items[n - 1].node == s->node)
            tally_add(&stacks->items[n - 1].tally, &s->tally);
        else
            stacks->items[n++] = *s;
    }
    stacks->count = n;
    qsort(stacks->items, n, sizeof *stacks->items, compare_stacks);
    return true;
}
