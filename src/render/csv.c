/* csv.c: writes the first table of a document as CSV. */
#include <inttypes.h>
#include <math.h>

#include "render/figures.h"
#include "render/render.h"

bool render_csv_has(const table *t, const table_column *c) {
    return table_column_is_in(c, t, IN_CSV) &&
           (c->kind < COLUMN_LINE || (c->kind == COLUMN_LINE && c->point));
}

/* Writes a comma before each field of a line except the first. */
static void separate(output *o, bool *any) {
    if (*any)
        output_char(o, ',');
    *any = true;
}

/* Returns the number of columns beside the value. */
static int n_parts(const table_column *c) {
    return c->kind == COLUMN_PART ? 4 : c->unsampled ? 2 : 3;
}

/* Writes the titles `value,low,high,samples`, each preceded by the column's name if it has one. */
static void head_estimate(output *o, const table_column *c, bool *any) {
    static const char *const parts[] = {"low", "high", "samples", "of_samples"};
    separate(o, any);
    output_text(o, c->name[0] ? c->name : "value");
    for (int i = 0; i < n_parts(c); i++) {
        separate(o, any);
        output_text(o, c->name);
        output_text(o, c->name[0] ? "_" : "");
        output_text(o, parts[i]);
    }
}

static void head_points(output *o, const table *t, const table_column *c, bool *any) {
    for (size_t i = 0; c->point(t, i); i++) {
        separate(o, any);
        output_csv(o, c->point(t, i));
    }
}

static void head_column(output *o, const table *t, const table_column *c, bool *any) {
    if (!render_csv_has(t, c))
        return;
    if (table_column_is_estimate(c)) {
        head_estimate(o, c, any);
    } else if (c->kind == COLUMN_LINE) {
        head_points(o, t, c, any);
    } else {
        separate(o, any);
        output_text(o, c->kind == COLUMN_PLACE ? "function,file,line" : c->name);
    }
}

void render_csv_head(output *o, const table *t, const table_column *c) {
    head_column(o, t, c, &(bool){false});
}

static void head(output *o, const table *t) {
    bool any = false;
    for (size_t i = 0; i < t->n_columns; i++)
        head_column(o, t, &t->columns[i], &any);
    output_char(o, '\n');
}

/* Writes an integer if `digits` is 0, else that many significant digits; nothing for infinity and
 * NaN. */
static void put_number(output *o, double value, int digits) {
    if (isfinite(value) && digits == 0)
        output_format(o, "%.0f", value);
    else if (isfinite(value))
        output_format(o, "%.*g", digits, value);
}

static int digits_of(const table *t, const table_column *c) {
    return c->kind != COLUMN_AMOUNT ? 6 : t->form == AMOUNTS_WHOLE ? 0 : 9;
}

static void put_estimate(output *o, const table *t, const table_column *c, cell x) {
    const bool part = c->kind == COLUMN_PART;
    const estimate e = table_cell_estimate(c, x);
    if (x.none) {
        output_text(o, &",,,,"[4 - n_parts(c)]);
        return;
    }
    put_number(o, e.value, digits_of(t, c));
    output_char(o, ',');
    put_number(o, e.low, digits_of(t, c));
    output_char(o, ',');
    put_number(o, e.high, digits_of(t, c));
    if (!c->unsampled)
        output_format(o, ",%" PRIu64, part ? x.part.samples : x.amount.samples);
    if (part)
        output_format(o, ",%" PRIu64, x.part.of_samples);
}

static void put_place(output *o, const table *t, const profile_location *place) {
    output_csv(o, place ? place->function : "");
    output_char(o, ',');
    output_csv(o, place ? place->file : "");
    output_char(o, ',');
    if (place && place->line && t->by_line)
        output_u64(o, place->line, 0, ' ');
}

static void put_points(output *o, cell x, bool *any) {
    for (size_t i = 0; i < x.line.n; i++) {
        separate(o, any);
        if (!isnan(x.line.items[i]))
            figure_json_number(o, cell_line_point(x, i));
    }
}

static void put_cell(output *o, const table *t, const table_column *c, cell x) {
    if (table_column_is_estimate(c))
        put_estimate(o, t, c, x);
    else if (c->kind == COLUMN_PLACE)
        put_place(o, t, x.none ? NULL : x.place);
    else if (x.none)
        return;
    else if (c->kind == COLUMN_SHARE)
        output_format(o, "%.6f", x.number);
    else if (c->kind == COLUMN_NUMBER && isfinite(x.number))
        figure_json_number(o, x.number);
    else if (c->kind == COLUMN_NUMBER)
        return;
    else if (c->kind == COLUMN_TEXT)
        output_csv(o, x.text);
    else if (c->kind == COLUMN_FLAG)
        output_text(o, x.flag ? "yes" : "no");
    else
        output_u64(o, x.count, 0, ' ');
}

static void put_column(output *o, const table *t, const table_column *c, cell x, bool *any) {
    if (c->kind == COLUMN_LINE) {
        put_points(o, x, any);
    } else {
        separate(o, any);
        put_cell(o, t, c, x);
    }
}

static void put_rows(output *o, const table *t);

/* Rows below a row, if CSV shows them, have the same columns as the row. */
static void put_rows_below(output *o, const table *t, const void *row) {
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        table below;
        if (c->kind == COLUMN_ROWS && table_column_is_in(c, t, IN_CSV) &&
            table_below(t, c, row, &below))
            put_rows(o, &below);
    }
}

static void put_rows(output *o, const table *t) {
    for (size_t i = 0; i < t->n && !o->error; i++) {
        const void *row = table_row(t, i);
        bool any = false;
        for (size_t k = 0; k < t->n_columns; k++)
            if (render_csv_has(t, &t->columns[k]))
                put_column(o, t, &t->columns[k], t->columns[k].get(t, row), &any);
        output_char(o, '\n');
        put_rows_below(o, t, row);
    }
}

const table *render_csv_table(const document *d) {
    for (size_t i = 0; i < d->parts.count; i++) {
        const document_part *p = &d->parts.items[i];
        if (p->kind == PART_ROWS && p->in & IN_CSV)
            return &p->table;
    }
    return NULL;
}

void render_csv(output *o, const document *d) {
    const table *t = render_csv_table(d);
    if (!t)
        return;
    head(o, t);
    put_rows(o, t);
}
