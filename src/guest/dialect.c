/* dialect.c: columns become lanes. Each lane is measured over all rows, then rows are written as
 * lines, in the plain layout or the ruled one. */
#include "guest/dialect.h"

#include <stdio.h>
#include <string.h>

#include "guest/text.h"
#include "render/figures.h"

enum { MOST_LANES = 8, RULED_AMOUNT = 15, LEVEL = 2, BELOW = 4 };

/* Minimum widths of the columns in the plain layout. The last column ends the line. */
static const size_t least_width[MOST_LANES] = {25, 7, 9};

/* A column of text. */
typedef struct lane {
    const table_column *column, *share; /* share: shown after the amount; NULL: none */
    size_t width;
} lane;

typedef struct layout {
    const table *table;
    const table_column *depth; /* NULL: rows are not indented */
    lane lanes[MOST_LANES];
    size_t n;
    bool ruled;
} layout;

static bool is_amount(const lane *n) {
    return n->column->kind == COLUMN_AMOUNT;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static estimate estimate_of(cell x) {
    return (estimate){x.amount.value, x.amount.low, x.amount.high};
}

static const char *amount_text(const layout *l, const lane *n, cell x, const void *r,
                               char room[TEXT_NUMBER]) {
    if (n->column->unit)
        text_count(room, estimate_of(x));
    else
        text_bytes(room, estimate_of(x));
    const size_t used = strlen(room);
    if (n->share)
        snprintf(room + used, TEXT_NUMBER - used, " %5.1f%%",
                 100 * n->share->get(l->table, r).number);
    return room;
}

/* The result may be in `room`. */
static const char *cell_text(const layout *l, const lane *n, const void *r,
                             char room[TEXT_NUMBER]) {
    const cell x = n->column->get(l->table, r);
    if (x.none)
        return "";
    if (is_amount(n))
        return amount_text(l, n, x, r, room);
    if (n->column->kind == COLUMN_NUMBER) {
        snprintf(room, TEXT_NUMBER, "%.3g", x.number);
        return room;
    }
    return x.text;
}

static size_t indent_of(const layout *l, size_t i, const void *r) {
    return l->depth && i == 0 ? LEVEL * l->depth->get(l->table, r).count : 0;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static bool is_shown(const table *t, const table_column *c) {
    return table_column_is_in(c, t, IN_TEXT) && c->kind != COLUMN_ROWS && c->kind != COLUMN_COUNT;
}

static void find_lanes(layout *l) {
    const table *t = l->table;
    l->depth = table_find(t, "depth");
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        if (!is_shown(t, c))
            continue;
        if (c->kind == COLUMN_SHARE)
            l->lanes[l->n - 1].share = c;
        else if (l->n < MOST_LANES)
            l->lanes[l->n++] = (lane){.column = c};
    }
}

static void widen(size_t *width, size_t to) {
    *width = to > *width ? to : *width;
}

/* Makes all amounts of the ruled layout as wide as the widest. */
static void even_out(layout *l) {
    size_t width = RULED_AMOUNT;
    for (size_t i = 0; i < l->n; i++)
        if (is_amount(&l->lanes[i]))
            widen(&width, l->lanes[i].width);
    for (size_t i = 0; i < l->n; i++)
        if (is_amount(&l->lanes[i]))
            l->lanes[i].width = width;
}

static void measure_lanes(layout *l) {
    char room[TEXT_NUMBER];
    for (size_t i = 0; i < l->n; i++) {
        lane *n = &l->lanes[i];
        n->width = l->ruled ? figure_columns(table_title(n->column)) : least_width[i];
        if (i > 0 && i + 1 == l->n && !is_amount(n))
            continue; /* it ends the line */
        for (size_t k = 0; k < l->table->n; k++) {
            const void *r = table_row(l->table, k);
            widen(&n->width, indent_of(l, i, r) + figure_columns(cell_text(l, n, r, room)));
        }
    }
    if (l->ruled)
        even_out(l);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_many(output *o, char c, size_t n) {
    while (n-- > 0)
        output_char(o, c);
}

/* Writes the text of lane `i`, with indentation, padding and separator. */
static void put_lane(output *o, const layout *l, size_t i, const char *text, size_t indent) {
    const lane *n = &l->lanes[i];
    const size_t taken = indent + figure_columns(text);
    const size_t pad = n->width > taken ? n->width - taken : 0;
    const bool right = l->ruled && is_amount(n), last = i + 1 == l->n;
    put_many(o, ' ', indent + (right ? pad : 0));
    output_shown(o, text);
    if (!last)
        put_many(o, ' ', right ? 0 : pad);
    if (!last)
        output_text(o, l->ruled ? " | " : " || ");
    else
        output_text(o, right ? " \n" : "\n");
}

/* Writes a row, or the titles if `r` is NULL. */
static void put_line(output *o, const layout *l, const void *r) {
    char room[TEXT_NUMBER];
    output_text(o, l->ruled ? " " : "");
    for (size_t i = 0; i < l->n; i++) {
        const lane *n = &l->lanes[i];
        put_lane(o, l, i, r ? cell_text(l, n, r, room) : table_title(n->column),
                 r ? indent_of(l, i, r) : 0);
    }
}

/* Writes cells separated by commas, such as "3 allocations, 96B". */
static void put_cells_below(output *o, const layout *l, const void *r) {
    char room[TEXT_NUMBER];
    for (size_t i = 0; i < l->n; i++) {
        const table_column *c = l->lanes[i].column;
        output_text(o, i ? ", " : "");
        output_shown(o, cell_text(l, &l->lanes[i], r, room));
        if (is_amount(&l->lanes[i]) && c->unit) {
            const figure f = c->get(l->table, r).amount;
            output_char(o, ' ');
            output_text(o, c->unit);
            output_text(o, f.value == 1 && f.high == 1 ? "" : "s");
        }
    }
    output_char(o, '\n');
}

static void put_below(output *o, const table *t, const void *r, size_t indent) {
    for (size_t i = 0; i < t->n_columns && !o->error; i++) {
        const table_column *c = &t->columns[i];
        table below;
        if (c->kind != COLUMN_ROWS || !table_column_is_in(c, t, IN_TEXT) ||
            !table_below(t, c, r, &below))
            continue;
        layout l = {.table = &below};
        find_lanes(&l);
        for (size_t k = 0; k < below.n; k++) {
            put_many(o, ' ', indent);
            put_cells_below(o, &l, table_row(&below, k));
            put_below(o, &below, table_row(&below, k), indent + BELOW);
        }
        if (below.omitted) {
            put_many(o, ' ', indent);
            output_format(o, "… and %zu more %s (Output=json has all)\n", below.omitted,
                          below.name);
        }
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_rows(output *o, const layout *l) {
    for (size_t i = 0; i < l->table->n && !o->error; i++) {
        put_line(o, l, table_row(l->table, i));
        put_below(o, l->table, table_row(l->table, i), BELOW);
    }
}

static void put_plain(output *o, const table *t) {
    layout l = {.table = t};
    find_lanes(&l);
    measure_lanes(&l);
    put_line(o, &l, NULL);
    put_rows(o, &l);
}

/* Writes a rule as long as the line of titles. */
static void put_rule(output *o, const layout *l) {
    size_t width = 1 + (l->n - 1) * strlen(" | ");
    for (size_t i = 0; i < l->n; i++)
        width += l->lanes[i].width;
    put_many(o, '-', width + is_amount(&l->lanes[l->n - 1]));
    output_char(o, '\n');
}

static void put_ruled(output *o, const table *t, const char *title) {
    layout l = {.table = t, .ruled = true};
    find_lanes(&l);
    measure_lanes(&l);
    put_rule(o, &l);
    output_text(o, title);
    put_rule(o, &l);
    put_line(o, &l, NULL);
    put_rule(o, &l);
    put_rows(o, &l);
    put_rule(o, &l);
}

void dialect_render(output *o, const document *d, bool ruled) {
    const char *title = NULL;
    for (size_t i = 0; i < d->parts.count && !o->error; i++) {
        const document_part *p = &d->parts.items[i];
        if (!(p->in & IN_TEXT))
            continue;
        if (i > 0 && !(ruled && title))
            output_char(o, '\n');
        if (p->kind == PART_ROWS && ruled && title)
            put_ruled(o, &p->table, title);
        else if (p->kind == PART_ROWS)
            put_plain(o, &p->table);
        else if (p->kind != PART_TITLE || !ruled)
            output_format(o, "%s\n", p->text);
        title = p->kind == PART_TITLE ? p->text : NULL;
    }
}
