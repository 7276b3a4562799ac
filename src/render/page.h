/* page.h: tables as the viewer's page gets them: an array a column, names once in an array of
 * strings. docs/viewer-api.md is the contract. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include "base/intern.h"
#include "base/map64.h"
#include "render/output.h"
#include "reports/table.h"

/* `"NAME":[…]`, with a comma before it unless it is the first of its object. */
typedef struct json_column {
    output *o;
    bool started;
} json_column;
void column_start(json_column *c, output *o, const char *name, bool first);
void column_integer(json_column *c, int64_t value);
void column_number(json_column *c, double value); /* rounded to whole ones */
void column_exact(json_column *c, double value);
void column_null(json_column *c);
void column_raw(json_column *c, const char *text); /* of JSON */
void column_end(json_column *c);

/* Places of one answer, numbered as they come, and strings. Legal when zeroed. */
typedef struct place_list {
    map64 index, string_index;
    VEC(const profile_location *) places;
    VEC(const char *) strings; /* without the first one, which is empty */
    intern_table modules;
} place_list;

/* -1 for NULL, -2 when there is no memory. */
int64_t place_list_add(place_list *l, const profile_location *place);
int64_t place_list_string(place_list *l, const char *text); /* 0 for NULL and empty ones */

/* `"strings":[…],"places":{…}`; `matches`, by location, may be NULL. */
bool write_places(output *o, place_list *l, const profile *p, bool by_line, const uint8_t *matches);
void place_list_free(place_list *l);

/* ---- tables ------------------------------------------------------------------------------ */

/* Rows of a table, in this order. */
typedef struct page_rows {
    const table *table;
    const uint32_t *rows;
    size_t n;
} page_rows;

/* Numbers what the rows name, which is written before them. False when there is no memory. */
bool page_names(place_list *l, const page_rows *rows);

/* `"NAME":{…}`: the columns. */
void page_columns(output *o, place_list *l, const page_rows *rows, const char *name);

#endif
