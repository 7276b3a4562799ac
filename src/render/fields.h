/* fields.h: what the data of a document consist of: each field of its JSON and each column of its
 * CSV, with what it means, as a document of its own. So what is said of a column (table.h, `help`)
 * is said once, and it is what people and scripts get to see.
 *
 * Columns that this document's tables do not have are left out. A table below a row is looked for
 * in the first rows; one that is like a table around it, as in a tree, is named once. */
#ifndef RENDER_FIELDS_H
#define RENDER_FIELDS_H

#include "document/document.h"

/* Adds to `*to`, which must not outlive `of`. */
void fields_document(document *to, const document *of);

#endif
