/* text.c: documents as text for people; see render.h.
 *
 * A table is laid out before it is written: each cell becomes text, each column gets the width of
 * its widest cell, and what the terminal leaves goes to the last column, which is where names
 * stand. Amounts of a column share one unit, which its title names, so that their digits line up.
 *
 * A record is a head and, further in, its fields:
 *
 *      14.3% set.ml:125 bal
 *            what   a paragraph, in lines that
 *                   are easy to read
 *            check  a command
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "render/figures.h"
#include "render/fold.h"
#include "render/render.h"
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
    INDENT = 2,        /* of rows below rows, each level */
    LEAST_NAME = 24,   /* columns that names get, however narrow the terminal is */
    MORE_WIDTH = 3,    /* of what says that rows are left out */
    MOST_CELLS = 40,   /* of a row */
    RECORD_INDENT = 7, /* what a share takes */
    LONGEST_UNIT = 6,
    RECORD_WIDTH = 80, /* longer lines are no easier to read */
};

/* A column of the terminal; an amount has two, its value and its error. */
typedef struct lane {
    const table_column *column;
    bool is_error;
    bool is_left;
    size_t width;
    double unit;    /* of amounts: what its numbers are multiples of */
    bool of_blocks; /* they are numbers of blocks */
    char title[48];
    bool any; /* some cell is not blank */
} lane;

typedef struct line {
    const char *cells[MOST_CELLS]; /* by lane; of the arena */
    cell_tone tones[MOST_CELLS];
    const profile_location *place;
    const char *name, *prefix;
    size_t depth;
    bool by_line;
    bool faint; /* it explains the row above */
    bool noise; /* its amount is smaller than its error */
    bool more;  /* others behind it are not shown */
} line;

typedef struct layout {
    const table *table;
    const text_style *style;
    lane lanes[MOST_CELLS];
    size_t n_lanes;
    const table_column *name; /* the last column: names */
    VEC(line) lines;
    arena texts;
    bool is_bare; /* shares have no bars */
    bool failed;
} layout;

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

static bool is_in_bytes(const layout *l, const table_column *c) {
    return !c->unit && l->table->unit != UNIT_BLOCKS;
}

static bool is_amount(const table_column *c) {
    return c->kind == COLUMN_AMOUNT || c->kind == COLUMN_RATE;
}

static double largest_of(const table *t, const table_column *c) {
    double largest = 0;
    for (size_t i = 0; i < t->n; i++) {
        const cell x = c->get(t, table_row(t, i));
        largest = x.none ? largest : fmax(largest, fabs(x.amount.value));
    }
    return largest;
}

static void name_unit(layout *l, lane *n) {
    const table_column *c = n->column;
    const char *unit = c->unit ? c->unit : "blocks", *title = c->title ? c->title : c->name;
    n->unit = 1;
    n->of_blocks = !c->unit && l->table->unit == UNIT_BLOCKS;
    if (is_in_bytes(l, c))
        n->unit = unit_for(largest_of(l->table, c), &unit);
    snprintf(n->title, sizeof n->title, "%s%s%s%s%s", title, *title ? ", " : "", unit,
             is_in_bytes(l, c) && l->table->unit == UNIT_BYTESECONDS ? "·s" : "",
             c->kind == COLUMN_RATE ? "/s" : "");
}

/* ---- cells ------------------------------------------------------------------------------- */

static const char *keep(layout *l, const char *text) {
    const char *kept = arena_strndup(&l->texts, text, strlen(text));
    if (!kept)
        l->failed = true;
    return kept ? kept : "";
}

/* 3,830.0: with a decimal where the unit is no single thing. Blocks are whole, but for what comes
 * each second. */
static figure_text in_unit(const lane *n, double value) {
    const double x = value / n->unit;
    const bool whole = n->column->kind == COLUMN_AMOUNT && n->of_blocks;
    const bool small = fabs(x) < 100 && fabs(x - nearbyint(x)) > 1e-9;
    return figure_decimal(x, n->unit > 1 ? 1 : small && !whole ? 2 : 0);
}

static const char *error_text(layout *l, const lane *n, const figure *f) {
    const figure_range e = figure_error(f, in_unit(n, f->margin).text, in_unit(n, f->low).text,
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
        return keep(l, figure_decimal(x.number, 3).text);
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
        name_unit(l, n);
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
        if (is_amount(c))
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
        x->cells[i] = cell_text(l, n, is, x->faint || l->is_bare);
        x->tones[i] = is.tone;
        const size_t width = figure_columns(x->cells[i]);
        n->width = width > n->width ? width : n->width;
        n->any |= width > 0;
    }
    const cell own = own_amount(t, row);
    x->noise =
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

/* ---- writing ----------------------------------------------------------------------------- */

static void paint(output *o, const layout *l, const char *code) {
    if (l->style->color)
        output_text(o, code);
}

static void put_blanks(output *o, size_t n) {
    while (n-- > 0)
        output_char(o, ' ');
}

static void put_toned(output *o, const layout *l, const line *x, size_t i, const char *code) {
    static const char *const tones[] = {[TONE_NONE] = "", [TONE_GOOD] = GREEN, [TONE_BAD] = RED};
    const char *tone = tones[x->tones[i]];
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

static void put_name(output *o, const layout *l, const line *x, size_t room) {
    const size_t taken = x->depth * INDENT + figure_columns(x->prefix);
    const bool whole = l->style->full_names || l->style->columns == 0 || l->name->whole;
    put_blanks(o, x->depth * INDENT);
    output_text(o, x->prefix);
    room -= x->more && room > MORE_WIDTH ? MORE_WIDTH : 0;
    room = whole ? SIZE_MAX : room > taken + LEAST_NAME ? room - taken : LEAST_NAME;
    if (x->place)
        shorten_place(o, x->place, x->by_line, room);
    else if (x->name)
        shorten_text(o, x->name, room);
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
    layout l = {.table = t, .style = style};
    if (t->n == 0)
        return;
    find_lanes(&l, true);
    add_lines(&l, t, 0, "");
    if (heading && l.lines.count > 0)
        output_format(o, "\n%s:\n", heading);
    if (l.lines.count > 0)
        put_titles(o, &l);
    const size_t taken = lanes_width(&l) + GAP;
    const size_t room = style->columns > taken ? style->columns - taken : 0;
    for (size_t i = 0; i < l.lines.count && !o->error; i++)
        put_line(o, &l, &l.lines.items[i], room);
    if (l.failed && !o->error)
        o->error = ENOMEM;
    vec_free(&l.lines);
    arena_free(&l.texts);
}

/* ---- records ----------------------------------------------------------------------------- */

static const char *title_of(const table_column *c) {
    return c->title ? c->title : c->name;
}

/* By itself: an amount has its unit behind it. */
static const char *value_text(layout *l, const lane *n, cell x) {
    const measure_unit unit = l->table->unit;
    char text[160];
    if (n->column->exact)
        return exact_text(l, x.number);
    if (!is_amount(n->column))
        return cell_text(l, n, x, true);
    snprintf(text, sizeof text, "%s%s", figure_amount(unit, x.amount.value).text,
             figure_beside(figure_margin_in(unit, &x.amount)).text);
    return keep(l, text);
}

static bool is_field(const table *t, const table_column *c) {
    return c->field && column_is_in(c, t, IN_TEXT) && c->kind != COLUMN_OBJECT;
}

static size_t record_width(const text_style *style) {
    return style->columns && style->columns < RECORD_WIDTH ? style->columns : RECORD_WIDTH;
}

/* Where the texts of fields begin. */
static size_t fields_begin(const table *t) {
    size_t width = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        if (is_field(t, &t->columns[i]))
            width = fmax(width, figure_columns(title_of(&t->columns[i])));
    return RECORD_INDENT + width + GAP;
}

/* Returns the column behind it. Without a title, nothing stands beside the text. */
static size_t put_label(output *o, const char *title, size_t begin) {
    put_blanks(o, RECORD_INDENT);
    output_text(o, title);
    put_blanks(o, *title ? begin - RECORD_INDENT - figure_columns(title) : 0);
    return *title ? begin : RECORD_INDENT;
}

/* A word; and with a number its unit, which is a short one. */
static size_t word_size(const char *text) {
    const size_t size = strcspn(text, " ");
    const bool is_number = size > 0 && text[size - 1] >= '0' && text[size - 1] <= '9';
    const size_t next = is_number && text[size] ? strcspn(text + size + 1, " ") : 0;
    return next > 0 && next <= LONGEST_UNIT ? size + 1 + next : size;
}

static void put_paragraph(output *o, const char *text, size_t begin, size_t width) {
    size_t column = begin;
    for (bool first = true; *text; first = false) {
        const size_t size = word_size(text), wide = utf8_columns(text, size);
        if (!first && column + 1 + wide > width) {
            output_char(o, '\n');
            put_blanks(o, begin);
            column = begin;
        } else if (!first) {
            output_char(o, ' ');
            column++;
        }
        output_bytes(o, text, size);
        column += wide;
        text += size;
        text += strspn(text, " ");
    }
    output_char(o, '\n');
}

/* They are laid out as a table of their own, without its titles. */
static void put_rows_of_field(output *o, const table *t, const text_style *style, const char *title,
                              size_t begin) {
    layout l = {.table = t, .style = style, .is_bare = true};
    find_lanes(&l, true);
    add_lines(&l, t, 0, "");
    const size_t taken = begin + lanes_width(&l);
    const size_t room = style->columns > taken ? style->columns - taken : 0;
    for (size_t i = 0; i < l.lines.count && !o->error; i++) {
        line *x = &l.lines.items[i];
        x->more = i + 1 == l.lines.count && t->omitted > 0;
        x->faint = l.name && l.name->whole;
        put_label(o, i ? "" : title, begin - GAP);
        put_blanks(o, i || !*title ? begin - GAP - RECORD_INDENT : 0);
        put_line(o, &l, x, room);
    }
    if (l.failed && !o->error)
        o->error = ENOMEM;
    vec_free(&l.lines);
    arena_free(&l.texts);
}

static void put_text_of_field(output *o, layout *l, const table_column *c, cell x, size_t begin) {
    const lane n = {.column = c};
    const size_t width = record_width(l->style);
    if (x.none)
        return;
    begin = put_label(o, title_of(c), begin);
    if (c->kind != COLUMN_PLACE) {
        put_paragraph(o, value_text(l, &n, x), begin, c->whole ? SIZE_MAX : width);
        return;
    }
    shorten_place(o, x.place, l->table->by_line,
                  width > begin + LEAST_NAME ? width - begin : LEAST_NAME);
    output_char(o, '\n');
}

static void put_fields(output *o, layout *l, const void *row) {
    const table *t = l->table;
    const size_t begin = fields_begin(t);
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        table below;
        if (!is_field(t, c))
            continue;
        if (c->kind != COLUMN_ROWS)
            put_text_of_field(o, l, c, c->get(t, row), begin);
        else if (table_below(t, c, row, &below))
            put_rows_of_field(o, &below, l->style, title_of(c),
                              *title_of(c) ? begin : RECORD_INDENT + GAP);
    }
}

/* What is no field, beside each other: numbers, a place, words. */
static void put_head(output *o, layout *l, const void *row) {
    const table *t = l->table;
    const size_t columns = l->style->full_names ? 0 : l->style->columns;
    size_t used = 0;
    bool gap = false;
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        const lane n = {.column = c};
        const cell x = !is_shown(t, c) || c->field ? cell_none() : c->get(t, row);
        if (x.none)
            continue;
        const char *text = c->kind == COLUMN_PLACE ? "" : value_text(l, &n, x);
        const size_t room = columns > used + LEAST_NAME ? columns - used : LEAST_NAME;
        output_text(o, gap ? " " : "");
        paint(o, l, is_name(c) ? BOLD : "");
        output_text(o, text);
        if (c->kind == COLUMN_PLACE)
            shorten_place(o, x.place, t->by_line, columns ? room : SIZE_MAX);
        paint(o, l, is_name(c) ? PLAIN : "");
        used += figure_columns(text) + gap;
        gap = c->kind != COLUMN_SHARE; /* which ends with one */
    }
    output_char(o, '\n');
}

static void put_records(output *o, const table *t, const text_style *style) {
    layout l = {.table = t, .style = style};
    for (size_t i = 0; i < t->n && !o->error; i++) {
        output_char(o, '\n');
        put_head(o, &l, table_row(t, i));
        put_fields(o, &l, table_row(t, i));
    }
    if (l.failed && !o->error)
        o->error = ENOMEM;
    arena_free(&l.texts);
}

/* ---- documents --------------------------------------------------------------------------- */

/* A field a line: its title, and its value. */
static void put_object(output *o, const table *t, const char *heading, const text_style *style) {
    layout l = {.table = t, .style = style};
    size_t width = 0;
    if (heading)
        output_format(o, "\n%s:\n", heading);
    find_lanes(&l, false);
    for (size_t i = 0; i < l.n_lanes; i++)
        width = fmax(width, l.lanes[i].is_error ? 0 : figure_columns(title_of(l.lanes[i].column)));
    for (size_t i = 0; i < l.n_lanes; i++) {
        lane *n = &l.lanes[i];
        const cell x = n->column->get(t, table_row(t, 0));
        if (x.none || n->is_error)
            continue;
        const char *text = value_text(&l, n, x);
        output_format(o, "  %s", title_of(n->column));
        put_blanks(o, width - figure_columns(title_of(n->column)) + GAP);
        output_text(o, *text ? text : "-");
        output_char(o, '\n');
    }
    arena_free(&l.texts);
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
    if (p->kind == PART_ROWS && p->table.is_records)
        put_records(o, &p->table, style);
    else if (p->kind == PART_ROWS)
        put_table(o, &p->table, p->heading, style);
    else
        put_object(o, &p->table, p->heading, style);
}

/* What follows records shall not look like one of their fields. */
void render_text(output *o, const document *d, const text_style *style) {
    bool behind_records = false;
    for (size_t i = 0; i < d->parts.count && !o->error; i++) {
        const document_part *p = &d->parts.items[i];
        if (!(p->in & IN_TEXT))
            continue;
        if (behind_records && p->kind >= PART_NOTE)
            output_char(o, '\n');
        put_part(o, p, style);
        behind_records = p->kind == PART_ROWS && p->table.is_records && p->table.n > 0;
    }
}
