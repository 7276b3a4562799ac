/* dialect.h: documents (document/table.h) as text in the layouts that are prescribed for the
 * tracers of guest languages, whose readers and scripts know them; render/text.h has another one.
 * It knows no report. Of a table it shows
 *
 *     TEXT     as it is
 *     AMOUNT   in a unit of its own (allocations) as a number, else as bytes, 400KB; with its error
 *     SHARE    behind the amount before it, in percent
 *     NUMBER   to three digits
 *     ROWS     below the row, a line each, indented: cells and commas
 *
 * and a column named `depth`, a COUNT, indents the first cell of the row. Columns of the plain
 * layout stand left, between `||`; those of the ruled one, which a title opens, between `|`, with
 * amounts to the right. */
#ifndef GUEST_DIALECT_H
#define GUEST_DIALECT_H

#include "document/document.h"
#include "render/output.h"

/* `ruled`: the first table and the title before it; others are plain. */
void dialect_render(output *o, const document *d, bool ruled);

#endif
