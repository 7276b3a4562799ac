/* text.c: documents as text for people; see render.h.
 *
 * A table is laid out before it is written: each cell becomes text, each column gets the width of
 * its widest cell, and what the terminal leaves goes to the last column, which is where names
 * stand. */
#include <math.h>
#include <string.h>

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
    INDENT = 2,         /* of rows below rows, each level */
    LEAST_NAME = 24,    /* columns that names get, however narrow the terminal is, */
    LEAST_OF_NAME = 10, /* beside a remark */
    MORE_WIDTH = 3,     /* of what says that rows are left out */
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
