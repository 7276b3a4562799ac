/* render.h: documents (document/table.h) as text for people, Markdown, JSON and CSV. Nothing here
 * knows a report: what a cell looks like follows from the kind of its column.
 *
 * Problem. The same numbers are read by people in a terminal of any width, by reviewers in a
 * comment, by scripts and by the page; written once for each, they disagree.
 *
 * Way. Each renderer walks over any document. Text is a table that fits the terminal: numbers to
 * the right, one unit a column, names last and shortened where they must be; rows below a row stand
 * under it. Markdown has the same, for a comment on a pull request. JSON has every number in full,
 * as an object a document. CSV is the document's first table, a row a line, rows below a row
 * flattened. The page's columns are JSON, too (page.h). What people read is laid out first
 * (layout.h), as the widths of columns depend on all rows.
 *
 * Why not otherwise. JSON of a library (jansson) is built as a whole in memory before a byte is
 * written. Formats as strings in the reports would have to say widths that only the terminal knows.
 *
 * What must hold. What a trace says is not to be trusted: names cannot give commands to a terminal,
 * end a string of JSON, begin a link or a formula (output.h). JSON and CSV do not change with the
 * terminal, the locale or whether somebody looks. Everything that text shows is in JSON as well. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "document/document.h"
#include "render/output.h"

typedef struct text_style {
    bool color;
    bool full_names;
    bool bare_shares; /* without bars */
    unsigned columns; /* of the terminal; 0: as wide as it gets */
} text_style;

void render_text(output *o, const document *d, const text_style *style);
void render_markdown(output *o, const document *d);
void render_json(output *o, const document *d);
void render_csv(output *o, const document *d);

/* Which table is in CSV, NULL: none; which of its columns, and what those are called that a column
 * becomes. */
const table *render_csv_table(const document *d);
bool render_csv_has(const table *t, const table_column *c);
void render_csv_head(output *o, const table *t, const table_column *c);

/* Without the newline: for who writes around it. */
void render_json_object(output *o, const document *d);

/* The fields of an object, without its braces, and rows as an array: for who writes around them. */
void render_json_fields(output *o, const table *t, const void *row);
void render_json_rows(output *o, const table *t);

#endif
