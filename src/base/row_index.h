/* row_index.h: which row of a table of blocks an id has.
 *
 * Ids mostly follow each other, and so do the rows that they get: a page of neighbouring ids is
 * mostly said in one number. Only where that does not hold is there one for each id. Ids far beyond
 * the number of rows, which a trace need not have, are looked up by hashing their pages. */
#ifndef BASE_ROW_INDEX_H
#define BASE_ROW_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map64.h"
#include "base/vec.h"

#define ROW_NONE UINT32_MAX /* no row */
#define ROW_PAGE 64u        /* ids */

/* Zeroed: none of its ids has a row. */
typedef struct row_page {
    uint32_t base; /* the id `i` after the first has row base + i, modulo 2^32; or see `is_loose` */
    uint8_t from, to; /* the ids that have such rows: from <= i < to */
    bool is_loose;    /* the rows stand in `loose`, from base * ROW_PAGE on; from = to = 0 */
} row_page;

typedef struct row_far {
    uint64_t number; /* of the page: id / ROW_PAGE */
    row_page page;
} row_far;

/* Legal when zeroed. */
typedef struct row_index {
    VEC(row_page) pages; /* by number */
    VEC(row_far) far;    /* those beyond; once they no longer are, they are there too, unused */
    map64 far_index;     /* number → index into `far` */
    VEC(uint32_t) loose;
} row_index;

uint32_t row_index_find_far(const row_index *x, uint64_t id);

static inline uint32_t row_in_page(const row_index *x, const row_page *page, uint64_t id) {
    const uint32_t i = id % ROW_PAGE;
    if (__builtin_expect(i >= page->from && i < page->to, 1))
        return page->base + i;
    return page->is_loose ? x->loose.items[page->base * (size_t)ROW_PAGE + i] : ROW_NONE;
}

/* ROW_NONE if it has none. */
static inline uint32_t row_index_find(const row_index *x, uint64_t id) {
    uint64_t number = id / ROW_PAGE;
    return number < x->pages.count ? row_in_page(x, &x->pages.items[number], id)
                                   : row_index_find_far(x, id);
}

/* Gives an id a row, of which there are `row` before, if that is as simple as it mostly is: the
 * next id of a page, and the next row. False if it is not: nothing changed, it may have a row. */
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

/* Gives an id that has none a row, of which there are `row` before; false when there is no memory.
 */
bool row_index_add(row_index *x, uint64_t id, uint32_t row);

void row_index_free(row_index *x);

#endif
