/* dialect.h: documents (document/table.h) as text in the layouts that are prescribed for the
 * tracers of guest languages, since their users and scripts know them. The usual layout is in
 * render/text.h. This file knows no report. It shows these columns of a table:
 *
 *      TEXT     as it is
 *      AMOUNT   a number if it has a unit (allocations), else bytes, such as 400KB; with its error
 *      SHARE    after the amount before it, in percent
 *      NUMBER   with three digits
 *      ROWS     below the row, one indented line each, with cells separated by commas
 *
 * A COUNT named `depth` indents the first cell of its row. In the plain layout, columns are
 * left-aligned and separated by `||`. The ruled layout begins with a title, separates columns by
 * `|`, and right-aligns amounts. */
#ifndef GUEST_DIALECT_H
#define GUEST_DIALECT_H

#include "document/document.h"
#include "render/output.h"

/* With `ruled`, the first table and the title before it are in the ruled layout; other tables are
 * plain. */
void dialect_render(output *o, const document *d, bool ruled);

#endif
