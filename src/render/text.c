/* text.c: documents as plain text.
 *
 * A table is laid out before it is written: each cell becomes text, each column gets the width of
 * its widest cell, and the rest of the terminal's width goes to the last column, which has the
 * names.
 *
 * A record is a line, followed by its indented fields:
 *
 *     14.3% set.ml:125 bal
 *           what   a paragraph, in lines that
 *                  are easy to read
 *           check  a command */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "render/figures.h"
#include "render/layout.h"
#include "render/shorten.h"

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

enum {
    GAP = 2,
    INDENT = 2,         /* of rows below rows, per level */
    LEAST_BESIDE = 26,  /* columns for names; if less is left, other columns are dropped */
    LEAST_NAME = 16,    /* columns for names, however narrow the terminal is */
    LEAST_OF_NAME = 10, /* the same beside a remark */
    MOST_OF_NAME = 160, /* columns for names if there is no terminal */
    MORE_WIDTH = 3,     /* of the mark for omitted rows */
    RECORD_INDENT = 7,  /* the width of a share */
    LONGEST_UNIT = 6,
    RECORD_WIDTH = 80, /* longer lines are hard to read */
};

/* ---- tables ------------------------------------------------------------------------------ */

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

/* Writes a cell. `code` is the color of the line. */
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

/* Returns the columns for a name, which are fewer beside a remark. */
static size_t room_for_name(const layout *l, const line *x, size_t room, size_t remark) {
    const size_t taken = x->depth * INDENT + figure_columns(x->prefix) + remark;
    const size_t least = remark + LEAST_OF_NAME > LEAST_NAME ? LEAST_OF_NAME : LEAST_NAME - remark;
    if (l->style->full_names || l->name->whole)
        return SIZE_MAX;
    if (l->style->columns == 0)
        return MOST_OF_NAME;
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

/* Returns the length of a word or, for a number, of the number and its unit, which is a short
 * word. */
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
}

static bool is_prose(const layout *l, const line *x) {
    return l->name && l->name->prose && x->name && l->style->columns > 0;
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
    if (l->name)
        put_blanks(o, GAP);
    if (is_prose(l, x)) {
        put_paragraph(o, x->name, lanes_width(l) + GAP, l->style->columns);
    } else if (l->name) {
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

static void fit_titles(layout *l) {
    for (size_t i = 0; i < l->n_lanes; i++) {
        const size_t width = figure_columns(l->lanes[i].title);
        if (l->lanes[i].any && width > l->lanes[i].width)
            l->lanes[i].width = width;
    }
}

static void put_titles(output *o, const layout *l) {
    line x = {.name = l->name ? table_title(l->name) : "", .prefix = ""};
    for (size_t i = 0; i < l->n_lanes; i++)
        x.cells[i] = l->lanes[i].title;
    paint(o, l, FAINT);
    put_line(o, l, &x, SIZE_MAX);
    paint(o, l, PLAIN);
}

/* Returns false if there was no such lane. */
static bool drop_last(layout *l, bool (*is)(const lane *n)) {
    for (size_t i = l->n_lanes; i-- > 0;)
        if (l->lanes[i].any && is(&l->lanes[i])) {
            l->lanes[i].any = false;
            return true;
        }
    return false;
}

static bool is_line(const lane *n) {
    return n->column->spare && n->column->kind == COLUMN_LINE;
}

/* Whether the lane may be dropped. Of an amount, only the error may be. */
static bool is_spare(const lane *n) {
    return n->column->spare && (n->is_error || !table_column_is_amount(n->column));
}

/* Drops the least important lanes, since rows that wrap are hard to read. */
static void drop_lanes(layout *l) {
    const size_t columns = l->style->columns;
    while (l->name && columns && !l->style->full_names &&
           lanes_width(l) + GAP + LEAST_BESIDE > columns &&
           (drop_last(l, is_line) || drop_last(l, is_spare)))
        continue;
}

static void put_table(output *o, const table *t, const char *heading, const text_style *style) {
    layout l;
    if (t->n == 0)
        return;
    layout_rows(&l, t, style);
    if (heading && l.lines.count > 0)
        output_format(o, "\n%s:\n", heading);
    fit_titles(&l);
    drop_lanes(&l);
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

/* ---- records ----------------------------------------------------------------------------- */

static bool is_field(const table *t, const table_column *c) {
    return c->field && table_column_is_in(c, t, IN_TEXT) && c->kind != COLUMN_OBJECT;
}

static size_t record_width(const text_style *style) {
    return style->columns && style->columns < RECORD_WIDTH ? style->columns : RECORD_WIDTH;
}

/* Returns the column at which the texts of fields begin. */
static size_t fields_begin(const table *t) {
    size_t width = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        if (is_field(t, &t->columns[i]))
            width = fmax(width, figure_columns(table_title(&t->columns[i])));
    return RECORD_INDENT + width + GAP;
}

/* Returns the column after the label. Without a title, the text begins at the label's column. */
static size_t put_label(output *o, const char *title, size_t begin) {
    put_blanks(o, RECORD_INDENT);
    output_text(o, title);
    put_blanks(o, *title ? begin - RECORD_INDENT - figure_columns(title) : 0);
    return *title ? begin : RECORD_INDENT;
}

/* Writes rows as a table of their own, without titles. */
static void put_rows_of_field(output *o, const table *t, const text_style *style, const char *title,
                              size_t begin) {
    text_style bare = *style;
    layout l;
    bare.bare_shares = true;
    layout_rows(&l, t, &bare);
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
    layout_free(&l, o);
}

static void put_text_of_field(output *o, layout *l, const table_column *c, cell x, size_t begin) {
    const lane n = {.column = c};
    const size_t width = record_width(l->style);
    if (x.none)
        return;
    begin = put_label(o, table_title(c), begin);
    if (c->kind != COLUMN_PLACE) {
        put_paragraph(o, layout_field(l, &n, x), begin, c->whole ? SIZE_MAX : width);
        output_char(o, '\n');
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
            put_rows_of_field(o, &below, l->style, table_title(c),
                              *table_title(c) ? begin : RECORD_INDENT + GAP);
    }
}

/* Writes what is not a field on one line: numbers, a place, words. */
static void put_head(output *o, layout *l, const void *row) {
    const table *t = l->table;
    const size_t columns = l->style->columns;
    size_t used = 0;
    bool gap = false;
    for (size_t i = 0; i < t->n_columns; i++) {
        const table_column *c = &t->columns[i];
        const lane n = {.column = c};
        const cell x = !layout_shows(t, c) || c->field ? cell_none() : c->get(t, row);
        if (x.none)
            continue;
        const char *text = c->kind == COLUMN_PLACE ? "" : layout_field(l, &n, x);
        const size_t room = l->style->full_names          ? SIZE_MAX
                            : columns == 0                ? MOST_OF_NAME
                            : columns > used + LEAST_NAME ? columns - used
                                                          : LEAST_NAME;
        output_text(o, gap ? " " : "");
        paint(o, l, layout_names(c) ? BOLD : "");
        output_text(o, text);
        if (c->kind == COLUMN_PLACE)
            shorten_place(o, x.place, t->by_line, room);
        paint(o, l, layout_names(c) ? PLAIN : "");
        used += figure_columns(text) + gap;
        gap = c->kind != COLUMN_SHARE; /* a share ends with a blank */
    }
    output_char(o, '\n');
}

static void put_records(output *o, const table *t, const text_style *style) {
    layout l;
    layout_record(&l, t, style);
    for (size_t i = 0; i < t->n && !o->error; i++) {
        output_char(o, '\n');
        put_head(o, &l, table_row(t, i));
        put_fields(o, &l, table_row(t, i));
    }
    layout_free(&l, o);
}

/* ---- documents --------------------------------------------------------------------------- */

/* Writes one field per line: its title and its value. */
static void put_object(output *o, const table *t, const char *heading, const text_style *style) {
    layout l;
    size_t width = 0;
    layout_record(&l, t, style);
    if (heading)
        output_format(o, "\n%s:\n", heading);
    for (size_t i = 0; i < l.n_lanes; i++)
        width =
            fmax(width, l.lanes[i].is_error ? 0 : figure_columns(table_title(l.lanes[i].column)));
    for (size_t i = 0; i < l.n_lanes; i++) {
        const lane *n = &l.lanes[i];
        const cell x = n->column->get(t, table_row(t, 0));
        if (x.none || n->is_error)
            continue;
        output_format(o, "  %s", table_title(n->column));
        put_blanks(o, width - figure_columns(table_title(n->column)) + GAP);
        paint(o, &l, tone_codes[x.tone]);
        output_text(o, layout_field(&l, n, x));
        paint(o, &l, *tone_codes[x.tone] ? PLAIN : "");
        output_char(o, '\n');
    }
    layout_free(&l, o);
}

/* Sentences may contain names from a trace, so they are filtered. */
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

/* A blank line follows records, so that the next sentence does not look like one of their
 * fields. */
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
