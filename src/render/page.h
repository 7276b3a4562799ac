/* page.h: tables for the viewer's page: an array for each column, with names replaced by indices
 * into an array of strings. docs/viewer-api.md is the contract. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include "document/table.h"
#include "render/place_list.h"

/* Rows of a table, in the order of `rows`; NULL: its first rows. */
typedef struct page_rows {
    const table *table;
    const uint32_t *rows;
    size_t n;
} page_rows;

/* Returns at most `limit` of the `n` rows in `rows`, starting at `offset`. */
static inline page_rows page_rows_from(const table *t, const uint32_t *rows, size_t n,
                                       uint64_t offset, uint64_t limit) {
    const size_t from = offset < n ? (size_t)offset : n;
    return (page_rows){.table = t,
                       .rows = n > 0 ? rows + from : NULL,
                       .n = n - from < limit ? n - from : (size_t)limit};
}

/* Numbers the names in the rows; the list of names is written before the rows. Returns false when
 * there is no memory. */
bool page_names(place_list *l, const page_rows *rows);

/* Writes the columns as `"NAME":{…}`. */
void page_columns(output *o, place_list *l, const page_rows *rows, const char *name);

#endif
