/* fields.h: describes the data of a document: each field of its JSON and each column of its CSV,
 * with its meaning, as a document of its own. The descriptions are those of the columns (table.h,
 * `help`), so they are written once.
 *
 * Columns that the document's tables do not have are left out. A table below a row is looked for in
 * the first rows only. A table like one that encloses it, as in a tree, is described once. */
#ifndef RENDER_FIELDS_H
#define RENDER_FIELDS_H

#include "document/document.h"

/* Adds the descriptions to `*to`, which must not outlive `of`. */
void fields_document(document *to, const document *of);

#endif
