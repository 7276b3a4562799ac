/* row_index.h: maps block ids to rows of a table.
 *
 * Ids are mostly consecutive, and so are their rows, so a page of 64 neighboring ids is usually
 * described by one number: the i-th id of the page, counted from 0, has row base + i. For example,
 * if ids 64 to 127 have rows 1000 to 1063, their page has base 1000. Only where that fails does a
 * page store a row for each id. Pages far beyond the number of rows, which a trace should not have,
 * are found by hashing. */
#ifndef BASE_ROW_INDEX_H
#define BASE_ROW_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map64.h"
#include "base/vec.h"

#define ROW_NONE UINT32_MAX /* the id has no row */
#define ROW_PAGE 64u        /* ids per page */

/* Zeroed: none of its ids has a row. */
typedef struct row_page {
    uint32_t base; /* the row of id `i` of the page is base + i, modulo 2^32; but see `is_loose` */
    uint8_t from, to; /* ids with such rows: from <= i < to */
    bool is_loose;    /* rows are in `loose`, starting at base * ROW_PAGE; from = to = 0 */
} row_page;

typedef struct row_far {
    uint64_t number; /* number of the page: id / ROW_PAGE */
    row_page page;
} row_far;

/* Valid when zeroed. */
typedef struct row_index {
    VEC(row_page) pages; /* by number */
    VEC(row_far) far;    /* the others; pages that fit by now stay here, unused */
    map64 far_index;     /* number → index in `far` */
    VEC(uint32_t) loose;
} row_index;

uint32_t row_index_find_far(const row_index *x, uint64_t id);

static inline uint32_t row_in_page(const row_index *x, const row_page *page, uint64_t id) {
    const uint32_t i = id % ROW_PAGE;
    if (__builtin_expect(i >= page->from && i < page->to, 1))
        return page->base + i;
    return page->is_loose ? x->loose.items[page->base * (size_t)ROW_PAGE + i] : ROW_NONE;
}

/* Returns the row of an id; ROW_NONE if it has none. */
static inline uint32_t row_index_find(const row_index *x, uint64_t id) {
    uint64_t number = id / ROW_PAGE;
    return number < x->pages.count ? row_in_page(x, &x->pages.items[number], id)
                                   : row_index_find_far(x, id);
}

/* Gives an id the row `row`, which must be the next row, in the common case: the next id of a page
 * gets the next row. Returns false in all other cases, and changes nothing; the id may have a row
 * already. */
static inline bool row_index_append(row_index *x, uint64_t id, uint32_t row) {
    const uint64_t number = id / ROW_PAGE;
    const uint32_t i = id % ROW_PAGE;
    if (number >= x->pages.count)
        return false;
    row_page *page = &x->pages.items[number];
    if (i == 0 || i != page->to || page->base + i != row)
        return false;
    page->to++;
    return true;
}

/* Gives an id that has no row the row `row`, which must be the next row. Returns false when there
 * is no memory. */
bool row_index_add(row_index *x, uint64_t id, uint32_t row);

void row_index_free(row_index *x);

#endif
