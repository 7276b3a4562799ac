/* page.h: tables as the viewer's page gets them: an array a column, names once in an array of
 * strings. docs/viewer-api.md is the contract. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include "document/table.h"
#include "render/place_list.h"

/* Rows of a table, in this order. */
typedef struct page_rows {
    const table *table;
    const uint32_t *rows;
    size_t n;
} page_rows;

/* Those of a table whose `n` rows have this order, from `offset` on, `limit` at most. */
static inline page_rows page_rows_from(const table *t, const uint32_t *rows, size_t n,
                                       uint64_t offset, uint64_t limit) {
    const size_t from = offset < n ? (size_t)offset : n;
    return (page_rows){.table = t,
                       .rows = n > 0 ? rows + from : NULL,
                       .n = n - from < limit ? n - from : (size_t)limit};
}

/* Numbers what the rows name, which is written before them. False when there is no memory. */
bool page_names(place_list *l, const page_rows *rows);

/* `"NAME":{…}`: the columns. */
void page_columns(output *o, place_list *l, const page_rows *rows, const char *name);

#endif
