/* layout.c: the amounts of a column share one unit, which is in its title, so that their digits
 * line up. */
#include "render/layout.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/figures.h"

enum {
    BAR_WIDTH = 8,
    PART_BAR_WIDTH = 20,
    PART_WIDTH = 23, /* columns before the bar */
};

/* ---- units ------------------------------------------------------------------------------- */

static const char *const byte_units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};

enum { N_BYTE_UNITS = sizeof byte_units / sizeof *byte_units };

/* Returns the unit in which the largest amount of a column is from 10 up to 10,240, if it has 10
 * bytes or more. */
static double unit_for(double largest, const char **name) {
    int i = 0;
    double unit = 1;
    for (; i + 1 < N_BYTE_UNITS && largest / unit >= 10240; i++)
        unit *= 1024;
    *name = byte_units[i];
    return unit;
}

static bool is_shared_out(const table *t, const table_column *c) {
    return c->kind == COLUMN_AMOUNT && t->form == AMOUNTS_SHARES;
}

static bool is_in_bytes(const table *t, const table_column *c) {
    return !c->unit && t->unit != UNIT_BLOCKS && !is_shared_out(t, c);
}

static const char *each_second(const table *t, const table_column *c) {
    return c->kind == COLUMN_RATE || t->form == AMOUNTS_A_SECOND ? "/s" : "";
}

static double largest_of(const table *t, const table_column *c) {
    double largest = 0;
    for (size_t i = 0; i < t->n; i++) {
        const cell x = c->get(t, table_row(t, i));
        largest = x.none ? largest : fmax(largest, fabs(x.amount.value));
    }
    return largest;
}

/* Returns the largest amount of all columns that share the unit. */
static double largest_beside(const table *t, const table_column *c) {
    double largest = largest_of(t, c);
    for (size_t i = 0; t->one_unit && i < t->n_columns; i++) {
        const table_column *other = &t->columns[i];
        if (table_column_is_amount(other) && !other->unit && table_column_is_in(other, t, IN_TEXT))
            largest = fmax(largest, largest_of(t, other));
    }
    return largest;
}

/* Sets the title. If all amounts share a unit, only the first title names it. */
static void name_amounts(layout *l, lane *n, const char *unit) {
    const table *t = l->table;
    const table_column *c = n->column;
    const char *title = table_title(c);
    const char *seconds = is_in_bytes(t, c) && t->unit == UNIT_BYTESECONDS ? "·s" : "";
    if (t->one_unit && l->has_unit)
        snprintf(n->title, sizeof n->title, "%s", title);
    else
        snprintf(n->title, sizeof n->title, "%s%s%s%s%s", title, *title ? ", " : "", unit, seconds,
                 each_second(t, c));
    l->has_unit = true;
}

static void choose_unit(layout *l, lane *n) {
    const table *t = l->table;
    const table_column *c = n->column;
    const bool shares = is_shared_out(t, c), bytes = is_in_bytes(t, c);
    const char *unit = c->unit ? c->unit : shares ? "%" : "blocks";
    const double largest = largest_beside(t, c);
    n->unit = bytes ? unit_for(largest, &unit) : shares ? 0.01 : 1;
    n->is_fine = t->one_unit && largest < 100 * n->unit;
    n->is_whole = (c->kind == COLUMN_AMOUNT && t->form == AMOUNTS_WHOLE && !c->unit && !bytes) ||
                  (t->one_unit && !n->is_fine);
    name_amounts(l, n, unit);
}

/* ---- cells ------------------------------------------------------------------------------- */

static const char *keep(layout *l, const char *text) {
    const char *kept = arena_strndup(&l->texts, text, strlen(text));
    if (!kept)
        l->failed = true;
    return kept ? kept : "";
}

/* Keeps what was written into memory, and ends that output. */
static const char *keep_written(layout *l, output *o) {
    char *text = output_take(o);
    const char *kept = text ? keep(l, text) : "";
    free(text);
    return kept;
}

static figure_text with_sign(figure_text number, double value) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%s%.38s", value < 0 ? "-" : value > 0 ? "+" : "", number.text);
    return t;
}

/* Formats a value in the lane's unit, such as 3,830.0. Numbers in a unit above 1 have a decimal,
 * shares have two. Blocks are whole, except for small rates per second. */
static figure_text in_unit(const lane *n, double value) {
    const double x = value / n->unit;
    const bool small = fabs(x) < 100 && fabs(x - nearbyint(x)) > 1e-9;
    const int digits = n->unit > 1                              ? 1 + n->is_fine
                       : n->unit < 1 || (small && !n->is_whole) ? 2
                                                                : 0;
    return n->column->has_sign ? with_sign(figure_decimal(fabs(x), digits), value)
                               : figure_decimal(x, digits);
}

static figure_text margin_in_unit(const lane *n, const figure *f) {
    table_column without = *n->column;
    lane plain = *n;
    without.has_sign = false;
    plain.column = &without;
    return in_unit(&plain, f->margin);
}

static const char *error_text(layout *l, const lane *n, const figure *f) {
    const figure_range e = figure_error(f, margin_in_unit(n, f).text, in_unit(n, f->low).text,
                                        in_unit(n, f->high).text);
    return f->low >= f->high ? "" : keep(l, e.text);
}

/* Appends a bar to an interval, padded so that the bars of all rows line up. */
static const char *with_bar(layout *l, const char *text, double share) {
    const size_t width = figure_columns(text);
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_format(&o, "%s%*s", text, width < PART_WIDTH ? (int)(PART_WIDTH - width) : 1, "");
    figure_bar(&o, share, PART_BAR_WIDTH);
    return keep_written(l, &o);
}

/* Formats a share, such as 62% (60 … 64), with one decimal if there is a bar; empty if it is
 * unknown. */
static const char *part_text(layout *l, const lane *n, cell x) {
    const estimate e = x.part.share;
    const int digits = n->column->bar;
    char text[80] = "", ends[48] = "";
    if (x.part.of_samples == 0)
        return "";
    if (e.low < e.high)
        snprintf(ends, sizeof ends, " (%.*f … %.*f)", digits, 100 * e.low, digits, 100 * e.high);
    snprintf(text, sizeof text, "%*.*f%%%s", digits ? 5 : 3, digits, 100 * e.value, ends);
    return n->column->bar ? with_bar(l, text, e.value) : keep(l, text);
}

static const char *share_text(layout *l, double share, bool with_bar) {
    output o;
    char text[16];
    output_start(&o, OUTPUT_MEMORY);
    snprintf(text, sizeof text, "%5.1f%% ", 100 * share);
    output_text(&o, text);
    if (with_bar)
        figure_bar(&o, share, BAR_WIDTH);
    return keep_written(l, &o);
}

static const char *sparks(layout *l, cell x) {
    output o;
    double most = 0;
    for (size_t i = 0; i < x.line.n; i++)
        most = fmax(most, x.line.items[i]);
    output_start(&o, OUTPUT_MEMORY);
    for (size_t i = 0; i < x.line.n; i++)
        figure_spark(&o, most > 0 ? x.line.items[i] / most : 0);
    return keep_written(l, &o);
}

static const char *exact_text(layout *l, double x) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    figure_json_number(&o, x);
    return keep_written(l, &o);
}

/* Replaces what a terminal would obey with `?`. */
static const char *shown(layout *l, const char *text) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, text);
    return keep_written(l, &o);
}

/* Formats a number. One that is not 0 is not shown as 0. */
static figure_text number_text(double x) {
    return !isfinite(x)          ? (figure_text){""}
           : x > 0 && x < 0.0005 ? (figure_text){"<0.001"}
                                 : figure_decimal(x, 3);
}

static const char *texts_text(layout *l, cell x) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    for (size_t i = 0; i < x.texts.n; i++) {
        output_text(&o, i ? ", " : "");
        output_shown(&o, x.texts.items[i]);
    }
    return keep_written(l, &o);
}

static const char *cell_text(layout *l, const lane *n, cell x, bool plain) {
    if (x.none)
        return "";
    switch (n->column->kind) {
    case COLUMN_AMOUNT:
    case COLUMN_RATE:
        return n->is_error ? error_text(l, n, &x.amount) : keep(l, in_unit(n, x.amount.value).text);
    case COLUMN_SHARE:
        return share_text(l, x.number, !plain);
    case COLUMN_PART:
        return part_text(l, n, x);
    case COLUMN_COUNT:
        return n->column->is_id ? exact_text(l, (double)x.count)
                                : keep(l, figure_count(x.count).text);
    case COLUMN_NUMBER:
        return keep(l, number_text(x.number).text);
    case COLUMN_DURATION:
        return keep(l, figure_duration(x.count).text);
    case COLUMN_FLAG:
        return x.flag ? "yes" : "no";
    case COLUMN_LINE:
        return sparks(l, x);
    case COLUMN_TEXTS:
        return texts_text(l, x);
    default:
        return x.text ? shown(l, x.text) : "";
    }
}

/* ---- lanes and lines --------------------------------------------------------------------- */

bool layout_names(const table_column *c) {
    return c->kind == COLUMN_PLACE || c->kind == COLUMN_TEXT;
}

bool layout_shows(const table *t, const table_column *c) {
    return table_column_is_in(c, t, IN_TEXT) && c->kind != COLUMN_ROWS && c->kind != COLUMN_OBJECT;
}

static void add_lane(layout *l, const table_column *c, bool is_error) {
    lane *n = &l->lanes[l->n_lanes];
    if (l->n_lanes == MOST_CELLS)
        return;
    *n = (lane){.column = c, .is_error = is_error};
    n->is_left = c->kind == COLUMN_SHARE || (c->kind == COLUMN_TEXT && !c->to_right) ||
                 c->kind == COLUMN_LINE || c->kind == COLUMN_TEXTS || c->kind == COLUMN_PART;
    if (table_column_is_amount(c))
        choose_unit(l, n);
    if (is_error)
        snprintf(n->title, sizeof n->title, "±");
    else if (!table_column_is_amount(c))
        snprintf(n->title, sizeof n->title, "%s", table_title(c));
    l->n_lanes++;
}

/* Returns the column with the names of the rows, which is the last one with names. */
static const table_column *name_column(const table *t) {
    const table_column *name = NULL;
    for (size_t i = 0; i < t->n_columns; i++)
        if (layout_shows(t, &t->columns[i]) && layout_names(&t->columns[i]))
            name = &t->columns[i];
    return name;
}

/* Makes a lane for each column. The names of rows have none: they get the rest of the line. */
static void find_lanes(layout *l, bool named) {
    const table *t = l->table;
    l->name = named ? name_column(t) : NULL;
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        if (!layout_shows(t, c) || c == l->name)
            continue;
        add_lane(l, c, false);
        if (table_column_is_amount(c) && !c->no_error)
            add_lane(l, c, true);
    }
}

static cell own_amount(const table *t, const void *row) {
    const table_column *own = table_find(t, "");
    return own && table_column_is_amount(own) && table_column_is_in(own, t, IN_TEXT)
               ? own->get(t, row)
               : cell_none();
}

static bool is_hidden(const table *t, const void *row) {
    const cell own = t->hides_empty ? own_amount(t, row) : cell_none();
    return t->hides_empty && !own.none && own.amount.value == 0;
}

/* Fills a lane from the row. For a nested table, the column of the same name fills it. */
static void fill_line(layout *l, const table *t, const void *row, line *x) {
    for (size_t i = 0; i < l->n_lanes; i++) {
        lane *n = &l->lanes[i];
        const table_column *c = t == l->table ? n->column : table_find(t, n->column->name);
        const cell is = c && table_column_is_in(c, t, IN_TEXT) ? c->get(t, row) : cell_none();
        x->cells[i] = cell_text(l, n, is, x->faint || l->style->bare_shares);
        x->tones[i] = is.tone;
        x->noise |= is.tone == TONE_DOUBT;
        const size_t width = figure_columns(x->cells[i]);
        n->width = width > n->width ? width : n->width;
        n->any |= width > 0;
    }
    const cell own = own_amount(t, row);
    x->noise |=
        !own.none && own.amount.low < own.amount.value / 2 && own.amount.low < own.amount.high;
}

static void name_line(layout *l, const table *t, const void *row, line *x) {
    const table_column *c = name_column(t);
    const cell is = c ? c->get(t, row) : cell_none();
    if (!is.none && c->kind == COLUMN_PLACE)
        x->place = is.place;
    else if (!is.none)
        x->name = shown(l, is.text);
    if (!x->place && !x->name)
        x->name = t->no_name;
    x->remark = is.remark;
    x->group = t->group ? t->group(t, row) : NULL;
}

static void add_lines(layout *l, const table *t, size_t depth, const char *prefix);

/* Whether a table only repeats the row above: it has a single row, without a name. */
static bool says_nothing(const table *t) {
    const table_column *c = name_column(t);
    if (t->n != 1 || t->omitted > 0 || !c)
        return false;
    const cell x = c->get(t, table_row(t, 0));
    return x.none || (c->kind == COLUMN_PLACE && !x.place);
}

static void add_lines_below(layout *l, const table *t, const void *row, size_t depth) {
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        table below;
        if (c->kind == COLUMN_ROWS && table_column_is_in(c, t, IN_TEXT) &&
            table_below(t, c, row, &below) && !says_nothing(&below))
            add_lines(l, &below, depth + !below.in_line, c->title ? c->title : "");
    }
}

static void add_lines(layout *l, const table *t, size_t depth, const char *prefix) {
    for (size_t i = 0; i < t->n && !l->failed; i++) {
        const void *row = table_row(t, i);
        line x = {.depth = depth, .prefix = prefix, .by_line = t->by_line, .faint = *prefix != 0};
        if (is_hidden(t, row))
            continue;
        fill_line(l, t, row, &x);
        name_line(l, t, row, &x);
        if (!x.place)
            x.prefix = "";
        x.more = depth > 0 && i + 1 == t->n && t->omitted > 0;
        if (!vec_push(&l->lines, x))
            l->failed = true;
        else
            add_lines_below(l, t, row, depth);
    }
}

/* Formats an amount with its unit. Small amounts have digits after the point, unless amounts are
 * whole. */
static figure_text amount_in_words(const table *t, const table_column *c, double value) {
    const double x = fabs(value);
    const bool digits = t->form != AMOUNTS_WHOLE && x > 0 && x < 10;
    figure_text words, amount = figure_amount(t->unit, x);
    if (is_shared_out(t, c))
        snprintf(amount.text, sizeof amount.text, "%.2f%%", 100 * x);
    else if (digits)
        snprintf(amount.text, sizeof amount.text, "%.2g %s", x, figure_unit(t->unit));
    snprintf(words.text, sizeof words.text, "%.36s%s", amount.text, each_second(t, c));
    return c->has_sign ? with_sign(words, value) : words;
}

/* Formats an amount for a field, where the unit follows the value. */
static const char *amount_text(layout *l, const table_column *c, cell x) {
    const table *t = l->table;
    const figure *f = &x.amount;
    char text[400];
    table_column margin = *c;
    margin.has_sign = false;
    const figure_range error =
        figure_error(f, amount_in_words(t, &margin, f->margin).text,
                     amount_in_words(t, c, f->low).text, amount_in_words(t, c, f->high).text);
    snprintf(text, sizeof text, "%s%s%s%s", amount_in_words(t, c, f->value).text,
             figure_beside(error).text, x.remark ? ", " : "", x.remark ? x.remark : "");
    return shown(l, text);
}

const char *layout_field(layout *l, const lane *n, cell x) {
    const char *text = table_column_is_amount(n->column) ? amount_text(l, n->column, x)
                       : n->column->exact                ? exact_text(l, x.number)
                                                         : cell_text(l, n, x, true);
    return text[0] ? text : "-";
}

const char *layout_group(const layout *l, size_t i) {
    const char *group = l->lines.items[i].group;
    const char *above = i > 0 ? l->lines.items[i - 1].group : NULL;
    return group && (!above || strcmp(group, above) != 0) ? group : NULL;
}

void layout_rows(layout *l, const table *t, const text_style *style) {
    *l = (layout){.table = t, .style = style};
    find_lanes(l, true);
    add_lines(l, t, 0, "");
}

void layout_record(layout *l, const table *t, const text_style *style) {
    *l = (layout){.table = t, .style = style};
    find_lanes(l, false);
}

void layout_free(layout *l, output *o) {
    if (l->failed && !o->error)
        o->error = ENOMEM;
    vec_free(&l->lines);
    arena_free(&l->texts);
}
