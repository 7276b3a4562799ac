/* text.c: documents as text for people; see render.h.
 *
 * A table is laid out before it is written: each cell becomes text, each column gets the width of
 * its widest cell, and what the terminal leaves goes to the last column, which is where names
 * stand. Amounts of a column share one unit, which its title names, so that their digits line up.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/figures.h"
#include "render/fold.h"
#include "render/layout.h"
#include "render/shorten.h"

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

enum {
    BAR_WIDTH = 8,
    PART_BAR_WIDTH = 20,
    PART_WIDTH = 23, /* what stands before its bar */
    GAP = 2,
    INDENT = 2,         /* of rows below rows, each level */
    LEAST_NAME = 24,    /* columns that names get, however narrow the terminal is, */
    LEAST_OF_NAME = 10, /* beside a remark */
    MORE_WIDTH = 3,     /* of what says that rows are left out */
};

/* ---- units ------------------------------------------------------------------------------- */

static const char *const byte_units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};

enum { N_BYTE_UNITS = sizeof byte_units / sizeof *byte_units };

/* The largest amount of a column then has two to four digits before the point. */
static double unit_for(double largest, const char **name) {
    int i = 0;
    double unit = 1;
    for (; i + 1 < N_BYTE_UNITS && largest / unit >= 10240; i++)
        unit *= 1024;
    *name = byte_units[i];
    return unit;
}

static bool is_amount(const table_column *c) {
    return c->kind == COLUMN_AMOUNT || c->kind == COLUMN_RATE;
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

/* Of all columns that have one unit. */
static double largest_beside(const table *t, const table_column *c) {
    double largest = largest_of(t, c);
    for (size_t i = 0; t->one_unit && i < t->n_columns; i++) {
        const table_column *other = &t->columns[i];
        if (is_amount(other) && !other->unit && column_is_in(other, t, IN_TEXT))
            largest = fmax(largest, largest_of(t, other));
    }
    return largest;
}

/* Where all have one unit, the first names it. */
static void name_amounts(layout *l, lane *n, const char *unit) {
    const table *t = l->table;
    const table_column *c = n->column;
    const char *title = c->title ? c->title : c->name;
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

static figure_text with_sign(figure_text number, double value) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%s%.38s", value < 0 ? "-" : value > 0 ? "+" : "", number.text);
    return t;
}

/* 3,830.0: with a decimal where the unit is no single thing. Blocks are whole, but for what comes
 * each second. */
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

/* The bars of parts stand below each other behind their intervals. */
static const char *with_bar(layout *l, const char *text, double share) {
    const size_t width = figure_columns(text);
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_format(&o, "%s%*s", text, width < PART_WIDTH ? (int)(PART_WIDTH - width) : 1, "");
    figure_bar(&o, share, PART_BAR_WIDTH);
    output_char(&o, '\0');
    const char *kept = o.error ? "" : keep(l, o.buffer);
    output_finish(&o);
    return kept;
}

/* 62% (60 … 64); with a bar, to a tenth. Nothing where nothing is known. */
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
    output_char(&o, '\0');
    const char *kept = o.error ? "" : keep(l, o.buffer);
    output_finish(&o);
    return kept;
}

static const char *sparks(layout *l, cell x) {
    output o;
    double most = 0;
    for (size_t i = 0; i < x.line.n; i++)
        most = fmax(most, x.line.items[i]);
    output_start(&o, OUTPUT_MEMORY);
    for (size_t i = 0; i < x.line.n; i++)
        figure_spark(&o, most > 0 ? x.line.items[i] / most : 0);
    output_char(&o, '\0');
    const char *kept = o.error ? "" : keep(l, o.buffer);
    output_finish(&o);
    return kept;
}

static const char *exact_text(layout *l, double x) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    figure_json_number(&o, x);
    output_char(&o, '\0');
    const char *kept = o.error ? "" : keep(l, o.buffer);
    output_finish(&o);
    return kept;
}

/* What a terminal would obey is shown as `?`. */
static const char *shown(layout *l, const char *text) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, text);
    output_char(&o, '\0');
    const char *kept = o.error ? "" : keep(l, o.buffer);
    output_finish(&o);
    return kept;
}

/* What is not 0 does not look so. */
static figure_text number_text(double x) {
    return !isfinite(x)          ? (figure_text){""}
           : x > 0 && x < 0.0005 ? (figure_text){"<0.001"}
                                 : figure_decimal(x, 3);
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
        return keep(l, figure_count(x.count).text);
    case COLUMN_NUMBER:
        return keep(l, number_text(x.number).text);
    case COLUMN_DURATION:
        return keep(l, figure_duration(x.count).text);
    case COLUMN_FLAG:
        return x.flag ? "yes" : "no";
    case COLUMN_LINE:
        return sparks(l, x);
    default:
        return x.text ? shown(l, x.text) : "";
    }
}

/* ---- lanes and lines --------------------------------------------------------------------- */

static bool is_name(const table_column *c) {
    return c->kind == COLUMN_PLACE || c->kind == COLUMN_TEXT;
}

static bool is_shown(const table *t, const table_column *c) {
    return column_is_in(c, t, IN_TEXT) && c->kind != COLUMN_ROWS && c->kind != COLUMN_OBJECT;
}

static void add_lane(layout *l, const table_column *c, bool is_error) {
    lane *n = &l->lanes[l->n_lanes];
    if (l->n_lanes == MOST_CELLS)
        return;
    *n = (lane){.column = c, .is_error = is_error};
    n->is_left = c->kind == COLUMN_SHARE || (c->kind == COLUMN_TEXT && !c->to_right) ||
                 c->kind == COLUMN_LINE || c->kind == COLUMN_PART;
    if (is_amount(c))
        choose_unit(l, n);
    if (is_error)
        snprintf(n->title, sizeof n->title, "±");
    else if (!is_amount(c))
        snprintf(n->title, sizeof n->title, "%s", c->title ? c->title : c->name);
    l->n_lanes++;
}

/* The column of the names of rows: the last one that has names. */
static const table_column *name_column(const table *t) {
    const table_column *name = NULL;
    for (size_t i = 0; i < t->n_columns; i++)
        if (is_shown(t, &t->columns[i]) && is_name(&t->columns[i]))
            name = &t->columns[i];
    return name;
}

/* The names of rows get the rest of the line. */
static void find_lanes(layout *l, bool named) {
    const table *t = l->table;
    l->name = named ? name_column(t) : NULL;
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        if (!is_shown(t, c) || c == l->name)
            continue;
        add_lane(l, c, false);
        if (is_amount(c) && !c->no_error)
            add_lane(l, c, true);
    }
}

static cell own_amount(const table *t, const void *row) {
    const table_column *own = table_find(t, "");
    return own && is_amount(own) && column_is_in(own, t, IN_TEXT) ? own->get(t, row) : cell_none();
}

static bool is_hidden(const table *t, const void *row) {
    const cell own = t->hides_empty ? own_amount(t, row) : cell_none();
    return t->hides_empty && !own.none && own.amount.value == 0;
}

/* The column of a nested table that fills a lane is that of the same name. */
static void fill_line(layout *l, const table *t, const void *row, line *x) {
    for (size_t i = 0; i < l->n_lanes; i++) {
        lane *n = &l->lanes[i];
        const table_column *c = t == l->table ? n->column : table_find(t, n->column->name);
        const cell is = c && column_is_in(c, t, IN_TEXT) ? c->get(t, row) : cell_none();
        x->cells[i] = cell_text(l, n, is, x->faint);
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

/* A single row without a name says nothing that the row above does not say. */
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
        if (c->kind == COLUMN_ROWS && column_is_in(c, t, IN_TEXT) &&
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

/* Of an amount that is no whole one, with digits where it is small. */
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

/* Its unit stands behind its value. */
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

const char *layout_title(const lane *n) {
    return n->column->title ? n->column->title : n->column->name;
}

const char *layout_field(layout *l, const lane *n, cell x) {
    const char *text = is_amount(n->column) ? amount_text(l, n->column, x)
                       : n->column->exact   ? exact_text(l, x.number)
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

/* ---- writing ----------------------------------------------------------------------------- */

static void paint(output *o, const layout *l, const char *code) {
    if (l->style->color)
        output_text(o, code);
}

static const char *const tone_codes[] = {
    [TONE_NONE] = "", [TONE_GOOD] = GREEN, [TONE_BAD] = RED, [TONE_DOUBT] = ""};

static void put_blanks(output *o, size_t n) {
    while (n-- > 0)
        output_char(o, ' ');
}

static void put_toned(output *o, const layout *l, const line *x, size_t i, const char *code) {
    const char *tone = tone_codes[x->tones[i]];
    paint(o, l, tone);
    output_text(o, x->cells[i]);
    paint(o, l, *tone ? PLAIN : "");
    paint(o, l, *tone ? code : "");
}

/* `code` is how the line is painted. */
static void put_cell(output *o, const layout *l, const line *x, size_t i, const char *code) {
    const lane *n = &l->lanes[i];
    const size_t width = figure_columns(x->cells[i]), pad = n->width > width ? n->width - width : 0;
    const bool last = !l->name && i + 1 == l->n_lanes;
    if (!n->is_left)
        put_blanks(o, pad);
    put_toned(o, l, x, i, code);
    if (n->is_left && !last)
        put_blanks(o, pad);
}

static size_t lanes_width(const layout *l) {
    size_t width = 0;
    for (size_t i = 0; i < l->n_lanes; i++)
        width += l->lanes[i].any ? l->lanes[i].width + GAP : 0;
    return width;
}

/* Beside a remark, names have less. */
static size_t room_for_name(const layout *l, const line *x, size_t room, size_t remark) {
    const size_t taken = x->depth * INDENT + figure_columns(x->prefix) + remark;
    const size_t least = remark + LEAST_OF_NAME > LEAST_NAME ? LEAST_OF_NAME : LEAST_NAME - remark;
    if (l->style->full_names || l->style->columns == 0)
        return SIZE_MAX;
    room -= x->more && room > MORE_WIDTH ? MORE_WIDTH : 0;
    return room > taken + least ? room - taken : least;
}

static void put_name(output *o, const layout *l, const line *x, size_t room) {
    room = room_for_name(l, x, room, x->remark ? figure_columns(x->remark) + 1 : 0);
    put_blanks(o, x->depth * INDENT);
    output_text(o, x->prefix);
    if (x->place)
        shorten_place(o, x->place, x->by_line, room);
    else if (x->name)
        shorten_text(o, x->name, room);
    output_text(o, x->remark ? " " : "");
    output_shown(o, x->remark ? x->remark : "");
    if (x->more)
        output_text(o, ", …");
}

static void put_line(output *o, const layout *l, const line *x, size_t room) {
    const char *code = x->faint || x->noise ? FAINT : "";
    paint(o, l, code);
    for (size_t i = 0; i < l->n_lanes; i++) {
        if (!l->lanes[i].any)
            continue;
        put_blanks(o, GAP);
        put_cell(o, l, x, i, code);
    }
    if (l->name) {
        put_blanks(o, GAP);
        put_name(o, l, x, room);
    }
    paint(o, l, *code ? PLAIN : "");
    output_char(o, '\n');
}

static void put_group(output *o, const layout *l, size_t i) {
    const char *group = layout_group(l, i);
    if (group)
        output_format(o, "%s:\n", group);
}

static void put_titles(output *o, layout *l) {
    line x = {.name = l->name ? l->name->title ? l->name->title : l->name->name : "", .prefix = ""};
    for (size_t i = 0; i < l->n_lanes; i++) {
        x.cells[i] = l->lanes[i].title;
        const size_t width = figure_columns(x.cells[i]);
        if (l->lanes[i].any && width > l->lanes[i].width)
            l->lanes[i].width = width;
    }
    paint(o, l, FAINT);
    put_line(o, l, &x, SIZE_MAX);
    paint(o, l, PLAIN);
}

static void put_table(output *o, const table *t, const char *heading, const text_style *style) {
    layout l;
    if (t->n == 0)
        return;
    layout_rows(&l, t, style);
    if (heading && l.lines.count > 0)
        output_format(o, "\n%s:\n", heading);
    if (l.lines.count > 0)
        put_titles(o, &l);
    const size_t taken = lanes_width(&l) + GAP;
    const size_t room = style->columns > taken ? style->columns - taken : 0;
    for (size_t i = 0; i < l.lines.count && !o->error; i++) {
        put_group(o, &l, i);
        put_line(o, &l, &l.lines.items[i], room);
    }
    layout_free(&l, o);
}

/* ---- documents --------------------------------------------------------------------------- */

/* A field a line: its title, and its value. */
static void put_object(output *o, const table *t, const char *heading, const text_style *style) {
    layout l;
    size_t width = 0;
    layout_record(&l, t, style);
    if (heading)
        output_format(o, "\n%s:\n", heading);
    for (size_t i = 0; i < l.n_lanes; i++)
        width = fmax(width, l.lanes[i].is_error ? 0 : figure_columns(layout_title(&l.lanes[i])));
    for (size_t i = 0; i < l.n_lanes; i++) {
        const lane *n = &l.lanes[i];
        const cell x = n->column->get(t, table_row(t, 0));
        if (x.none || n->is_error)
            continue;
        output_format(o, "  %s", layout_title(n));
        put_blanks(o, width - figure_columns(layout_title(n)) + GAP);
        paint(o, &l, tone_codes[x.tone]);
        output_text(o, layout_field(&l, n, x));
        paint(o, &l, *tone_codes[x.tone] ? PLAIN : "");
        output_char(o, '\n');
    }
    layout_free(&l, o);
}

/* Sentences may hold names from a trace. */
static void put_sentence(output *o, const document_part *p, const text_style *style) {
    const char *code = p->kind == PART_TITLE ? BOLD : p->kind == PART_HINT ? FAINT : "";
    const char *text = p->text, *rest = text + (p->kind == PART_TITLE ? p->strong : strlen(text));
    output_text(o, style->color ? code : "");
    while (text < rest) {
        const output_piece piece = output_shown_next(&text);
        output_bytes(o, piece.bytes, piece.size);
    }
    output_text(o, style->color && *code ? PLAIN : "");
    output_shown(o, rest);
    output_char(o, '\n');
}

static void put_part(output *o, const document_part *p, const text_style *style) {
    if (p->kind >= PART_NOTE) {
        put_sentence(o, p, style);
        return;
    }
    if (p->kind == PART_ROWS)
        put_table(o, &p->table, p->heading, style);
    else
        put_object(o, &p->table, p->heading, style);
}

void render_text(output *o, const document *d, const text_style *style) {
    for (size_t i = 0; i < d->parts.count && !o->error; i++)
        if (d->parts.items[i].in & IN_TEXT)
            put_part(o, &d->parts.items[i], style);
}
