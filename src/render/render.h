/* render.h: documents (document/table.h) as text, Markdown, JSON and CSV. Nothing here knows a
 * report: the kind of a column determines what its cells look like.
 *
 * Problem. The same numbers are read by people in terminals of any width, by reviewers in a
 * comment, by scripts, and by the viewer's page. If each had code of its own, they would disagree.
 *
 * Way. Each renderer walks any document. Text is a table that fits the terminal: numbers are
 * right-aligned, a column has one unit, names come last and are shortened if necessary, and rows
 * below a row are indented. Markdown has the same tables, for comments on pull requests. JSON has
 * every number in full, with one object for the document. CSV is the document's first table, one
 * line per row, with rows below rows flattened. The page's columns are JSON as well (page.h). Text
 * and Markdown are laid out first (layout.h), since the width of a column depends on all rows.
 *
 * Why not otherwise. A JSON library (jansson) would build all of it in memory before the first byte
 * is written. Format strings in the reports would have to state widths that only the terminal
 * knows.
 *
 * What must hold. Text from a trace is not trusted: a name cannot send commands to a terminal, end
 * a JSON string, or begin a link or a formula (output.h). JSON and CSV do not depend on the
 * terminal, the locale, or whether the output is a terminal. JSON contains everything that text
 * shows. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "document/document.h"
#include "render/output.h"

typedef struct text_style {
    bool color;
    bool full_names;
    bool bare_shares; /* no bars */
    unsigned columns; /* width of the terminal; 0: unlimited */
} text_style;

void render_text(output *o, const document *d, const text_style *style);
void render_markdown(output *o, const document *d);
void render_json(output *o, const document *d);
void render_csv(output *o, const document *d);

/* Return the table that CSV shows (NULL: none), whether CSV shows a column, and write the titles of
 * that column in CSV. */
const table *render_csv_table(const document *d);
bool render_csv_has(const table *t, const table_column *c);
void render_csv_head(output *o, const table *t, const table_column *c);

/* Writes a document without the final newline, for embedding. */
void render_json_object(output *o, const document *d);

/* Write the fields of an object without its braces, and rows as an array, for embedding. */
void render_json_fields(output *o, const table *t, const void *row);
void render_json_rows(output *o, const table *t);

#endif
