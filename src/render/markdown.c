/* markdown.c: documents as GitHub-flavored Markdown.
 *
 * The output goes into comments that people trust, while names come from a trace, which anybody may
 * have made. So a name is written as code, in which no markup has an effect, and sentences are
 * escaped. */
#include <string.h>

#include "render/layout.h"
#include "render/shorten.h"

enum { NAME_ROOM = 100 };

/* The output, and what was written last. */
typedef struct page {
    output *o;
    bool any, sentence;
} page;

/* Begins a part. Consecutive sentences form a paragraph with one line each; other parts are
 * paragraphs of their own. */
static void begin(page *p, bool sentence) {
    if (p->any)
        output_text(p->o, p->sentence && sentence ? "\\\n" : "\n\n");
    p->any = true;
    p->sentence = sentence;
}

/* ---- text -------------------------------------------------------------------------------- */

/* Follows @ and #, which would otherwise mention people or link an issue. */
#define APART "\xE2\x80\x8B" /* a zero-width space */

static void put_escaped_character(output *o, char c) {
    if (strchr("\\`*_[]|~$", c))
        output_char(o, '\\');
    if (c == '&')
        output_text(o, "&amp;");
    else if (c == '<')
        output_text(o, "&lt;");
    else if (c == '>')
        output_text(o, "&gt;");
    else
        output_char(o, c);
    if (c == '@' || c == '#')
        output_text(o, APART);
}

/* Escapes text up to `end`. */
static void put_escaped(output *o, const char *text, const char *end) {
    while (text < end) {
        const output_piece piece = output_shown_next(&text);
        if (piece.size == 1)
            put_escaped_character(o, *piece.bytes);
        else
            output_bytes(o, piece.bytes, piece.size);
    }
}

/* Escapes text, without the blanks around it. */
static void put_words(output *o, const char *text) {
    const char *end = text + strlen(text);
    text += strspn(text, " ");
    while (end > text && end[-1] == ' ')
        end--;
    put_escaped(o, text, end);
}

static size_t longest_run(const char *text, char c) {
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Writes code between backticks, more than the text has in a row. A bar is escaped, since it would
 * end the cell of a table even within code. */
static void put_code(output *o, const char *text) {
    const size_t ticks = longest_run(text, '`') + 1;
    for (size_t i = 0; i < ticks; i++)
        output_char(o, '`');
    output_text(o, ticks > 1 ? " " : "");
    for (; *text; text++) {
        output_text(o, *text == '|' ? "\\" : "");
        output_char(o, *text);
    }
    output_text(o, ticks > 1 ? " " : "");
    for (size_t i = 0; i < ticks; i++)
        output_char(o, '`');
}

/* ---- tables ------------------------------------------------------------------------------ */

static void put_name_of(output *o, const line *x) {
    output name;
    output_start(&name, OUTPUT_MEMORY);
    if (x->place)
        shorten_place(&name, x->place, x->by_line, NAME_ROOM);
    else
        shorten_text(&name, x->name, NAME_ROOM);
    output_char(&name, '\0');
    if (name.error)
        o->error = o->error ? o->error : name.error;
    else
        put_code(o, name.buffer);
    output_finish(&name);
}

static void put_name(output *o, const line *x) {
    for (size_t i = 0; i < x->depth; i++)
        output_text(o, "&emsp;");
    output_text(o, x->prefix);
    if (x->place || x->name)
        put_name_of(o, x);
    output_text(o, x->remark ? " " : "");
    put_words(o, x->remark ? x->remark : "");
    output_text(o, x->more ? ", …" : "");
}

/* Good and bad values are in bold. */
static void put_cell(output *o, const char *text, cell_tone tone) {
    const char *mark = *text && (tone == TONE_GOOD || tone == TONE_BAD) ? "**" : "";
    output_text(o, " ");
    output_text(o, mark);
    put_words(o, text);
    output_text(o, mark);
    output_text(o, " |");
}

static void put_line(output *o, const layout *l, const line *x) {
    output_char(o, '|');
    for (size_t i = 0; i < l->n_lanes; i++)
        if (l->lanes[i].any)
            put_cell(o, x->cells[i], x->tones[i]);
    if (l->name) {
        output_char(o, ' ');
        put_name(o, x);
        output_text(o, " |");
    }
}

static void put_titles(output *o, const layout *l) {
    output_char(o, '|');
    for (size_t i = 0; i < l->n_lanes; i++)
        if (l->lanes[i].any)
            put_cell(o, l->lanes[i].title, TONE_NONE);
    if (l->name)
        put_cell(o, table_title(l->name), TONE_NONE);
    output_text(o, "\n|");
    for (size_t i = 0; i < l->n_lanes; i++)
        if (l->lanes[i].any)
            output_text(o, l->lanes[i].is_left ? " --- |" : " ---: |");
    output_text(o, l->name ? " --- |" : "");
}

/* Writes a group's heading into the column of names. */
static void put_group(output *o, const layout *l, const char *group) {
    output_text(o, "\n|");
    for (size_t i = 0; i < l->n_lanes; i++)
        output_text(o, l->lanes[i].any ? " |" : "");
    output_text(o, " *");
    put_words(o, group);
    output_text(o, ":* |");
}

static void put_rows(page *p, const table *t, const char *heading) {
    const text_style style = {0};
    layout l;
    layout_rows(&l, t, &style);
    if (heading && l.lines.count > 0) {
        begin(p, false);
        output_text(p->o, "**");
        put_words(p->o, heading);
        output_text(p->o, "**");
    }
    if (l.lines.count > 0) {
        begin(p, false);
        put_titles(p->o, &l);
    }
    for (size_t i = 0; i < l.lines.count && !p->o->error; i++) {
        const char *group = layout_group(&l, i);
        if (group)
            put_group(p->o, &l, group);
        output_char(p->o, '\n');
        put_line(p->o, &l, &l.lines.items[i]);
    }
    layout_free(&l, p->o);
}

/* Writes a table with one field per row. Markdown requires a head, so its second cell is empty. */
static void put_record(page *p, const table *t, const char *heading) {
    const text_style style = {0};
    layout l;
    layout_record(&l, t, &style);
    begin(p, false);
    output_text(p->o, "| ");
    put_words(p->o, heading ? heading : "");
    output_text(p->o, " | |\n| --- | --- |");
    for (size_t i = 0; i < l.n_lanes && !p->o->error; i++) {
        const lane *n = &l.lanes[i];
        const cell x = n->column->get(t, table_row(t, 0));
        if (x.none || n->is_error)
            continue;
        output_text(p->o, "\n|");
        put_cell(p->o, table_title(n->column), TONE_NONE);
        put_cell(p->o, layout_field(&l, n, x), x.tone);
    }
    layout_free(&l, p->o);
}

/* ---- documents --------------------------------------------------------------------------- */

static void put_sentence(page *p, const document_part *part) {
    const char *mark = part->kind == PART_TITLE ? "**" : part->kind == PART_HINT ? "*" : "";
    const char *text = part->text + strspn(part->text, " ");
    const char *rest = part->text + (part->kind == PART_TITLE ? part->strong : strlen(part->text));
    if (!*text)
        return;
    begin(p, true);
    output_text(p->o, mark);
    put_escaped(p->o, text, rest);
    output_text(p->o, mark);
    put_escaped(p->o, rest, rest + strlen(rest));
}

void render_markdown(output *o, const document *d) {
    page p = {.o = o};
    for (size_t i = 0; i < d->parts.count && !o->error; i++) {
        const document_part *part = &d->parts.items[i];
        if (!(part->in & IN_TEXT))
            continue;
        if (part->kind >= PART_NOTE)
            put_sentence(&p, part);
        else if (part->kind == PART_ROWS)
            put_rows(&p, &part->table, part->heading);
        else
            put_record(&p, &part->table, part->heading);
    }
    output_text(o, p.any ? "\n" : "");
}
