/* page.c: each column is an array, written row by row. Names in the rows are numbered beforehand,
 * once for all columns, which then only look up the numbers. */
#include "render/page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/column.h"
#include "render/figures.h"

static bool is_written(const table *t, const table_column *c) {
    return table_column_is_in(c, t, IN_PAGE) && c->kind != COLUMN_OBJECT && c->kind != COLUMN_TEXTS;
}

static const void *row_at(const page_rows *r, size_t i) {
    return table_row(r->table, r->rows ? r->rows[i] : i);
}

static bool name_cell(place_list *l, const table *t, const table_column *c, const void *row);

static bool name_row(place_list *l, const table *t, const void *row) {
    bool ok = true;
    for (size_t i = 0; ok && i < t->n_columns; i++)
        ok = !is_written(t, &t->columns[i]) || name_cell(l, t, &t->columns[i], row);
    return ok;
}

static bool name_cell(place_list *l, const table *t, const table_column *c, const void *row) {
    table below = {0};
    bool ok = true;
    if (c->kind == COLUMN_ROWS)
        table_below(t, c, row, &below);
    for (size_t i = 0; ok && i < below.n; i++)
        ok = name_row(l, &below, table_row(&below, i));
    const cell x = c->kind == COLUMN_PLACE || c->kind == COLUMN_TEXT ? c->get(t, row) : cell_none();
    return ok && (x.none || (c->kind == COLUMN_PLACE ? place_list_add(l, x.place) >= -1
                                                     : place_list_string(l, x.text) >= 0));
}

bool page_names(place_list *l, const page_rows *r) {
    bool ok = true;
    for (size_t i = 0; ok && i < r->n; i++)
        ok = name_row(l, r->table, row_at(r, i));
    return ok;
}

static void put_number(json_column *to, const table *t, const table_column *c, double value) {
    if (c->kind == COLUMN_AMOUNT && t->form == AMOUNTS_WHOLE)
        column_number(to, value);
    else
        column_exact(to, value);
}

/* Writes the columns of an estimate: `value`, or the column's name, then its bounds and samples.
 * Each cell is computed once. */
static void put_estimates(output *o, const page_rows *r, const table_column *c, bool *any) {
    static const char *const parts[] = {"value", "low", "high", "samples", "of_samples"};
    const bool part = c->kind == COLUMN_PART;
    cell *cells = malloc((r->n + 1) * sizeof *cells);
    if (!cells) {
        o->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < r->n; i++)
        cells[i] = c->get(r->table, row_at(r, i));
    for (int k = 0; k < (part ? 5 : c->unsampled ? 3 : 4); k++) {
        char name[80];
        json_column to;
        snprintf(name, sizeof name, "%s%s%s", c->name, c->name[0] && k > 0 ? "_" : "",
                 c->name[0] && k == 0 ? "" : parts[k]);
        column_start(&to, o, name, !*any);
        *any = true;
        for (size_t i = 0; i < r->n; i++) {
            const cell x = cells[i];
            const estimate e = table_cell_estimate(c, x);
            if (x.none)
                column_null(&to);
            else if (k >= 3)
                column_integer(&to, (int64_t)(!part    ? x.amount.samples
                                              : k == 3 ? x.part.samples
                                                       : x.part.of_samples));
            else
                put_number(&to, r->table, c, k == 0 ? e.value : k == 1 ? e.low : e.high);
        }
        column_end(&to);
    }
    free(cells);
}

/* Writes an element of a column, or a member of an object among rows below a row. */
static void put_cell(json_column *to, place_list *l, const table *t, const table_column *c,
                     const void *row);

static size_t n_written(const table *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        n += is_written(t, &t->columns[i]);
    return n;
}

/* Writes a row as an object, or as a bare cell if the table has a single column. */
static void put_row(output *o, place_list *l, const table *t, const void *row) {
    const bool alone = n_written(t) == 1;
    bool any = false;
    output_text(o, alone ? "" : "{");
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        json_column to = {.o = o};
        if (!is_written(t, c))
            continue;
        if (!alone) {
            output_text(o, any ? ",\"" : "\"");
            output_text(o, c->kind == COLUMN_AMOUNT && !c->name[0] ? "value" : c->name);
            output_text(o, "\":");
        }
        put_cell(&to, l, t, c, row);
        any = true;
    }
    output_text(o, alone ? "" : "}");
}

static void put_rows_below(json_column *to, place_list *l, const table *t, const table_column *c,
                           const void *row) {
    table below;
    table_below(t, c, row, &below);
    column_raw(to, "[");
    for (size_t i = 0; i < below.n; i++) {
        output_text(to->o, i ? "," : "");
        put_row(to->o, l, &below, table_row(&below, i));
    }
    output_char(to->o, ']');
}

static void put_line(json_column *to, cell x) {
    column_raw(to, "[");
    for (size_t i = 0; !x.none && i < x.line.n; i++) {
        output_text(to->o, i ? "," : "");
        figure_json_number(to->o, cell_line_point(x, i));
    }
    output_char(to->o, ']');
}

static void put_value(json_column *to, place_list *l, const table *t, const table_column *c,
                      cell x) {
    if (c->kind == COLUMN_PLACE)
        column_integer(to, place_list_add(l, x.none ? NULL : x.place));
    else if (c->kind == COLUMN_TEXT)
        column_integer(to, place_list_string(l, x.none ? NULL : x.text));
    else if (c->kind == COLUMN_LINE)
        put_line(to, x);
    else if (x.none)
        column_null(to);
    else if (c->kind == COLUMN_SHARE)
        column_exact(to, round(x.number * 1e6) / 1e6);
    else if (c->kind == COLUMN_NUMBER)
        column_exact(to, x.number);
    else if (c->kind == COLUMN_FLAG)
        column_integer(to, x.flag);
    else if (c->kind == COLUMN_AMOUNT)
        put_number(to, t, c, x.amount.value);
    else
        column_integer(to, (int64_t)x.count);
}

static void put_cell(json_column *to, place_list *l, const table *t, const table_column *c,
                     const void *row) {
    if (c->kind == COLUMN_ROWS)
        put_rows_below(to, l, t, c, row);
    else
        put_value(to, l, t, c, c->get(t, row));
}

void page_columns(output *o, place_list *l, const page_rows *r, const char *name) {
    const table *t = r->table;
    bool any = false;
    output_format(o, "\"%s\":{", name);
    for (size_t i = 0; i < t->n_columns && !o->error; i++) {
        const table_column *c = &t->columns[i];
        json_column to;
        if (!is_written(t, c))
            continue;
        if (table_column_is_estimate(c)) {
            put_estimates(o, r, c, &any);
            continue;
        }
        column_start(&to, o, c->name, !any);
        any = true;
        for (size_t k = 0; k < r->n; k++)
            put_cell(&to, l, t, c, row_at(r, k));
        column_end(&to);
    }
    output_char(o, '}');
}
