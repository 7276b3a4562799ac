/* row_index.c: the common case, a page with consecutive rows, is inline in the header. This file
 * creates pages, handles pages whose rows are not consecutive, and pages far beyond the number of
 * rows. */
#include "base/row_index.h"

/* Limit of `pages`: FREE_PAGES, and one more for each ROWS_OF_PAGE rows. Pages beyond it are
 * far. */
enum { FREE_PAGES = 4096, ROWS_OF_PAGE = 8 };

uint32_t row_index_find_far(const row_index *x, uint64_t id) {
    uint32_t at = map64_get(&x->far_index, id / ROW_PAGE);
    return at == MAP64_NONE ? ROW_NONE : row_in_page(x, &x->far.items[at].page, id);
}

/* Extends `pages` to include `number`, at least doubling it, and copies far pages that now fit. */
static bool extend(row_index *x, uint64_t number) {
    size_t old = x->pages.count, more = (size_t)number + 1 - old;
    more = more > old ? more : old;
    if (!vec_reserve(&x->pages, more))
        return false;
    for (; more > 0; more--)
        x->pages.items[x->pages.count++] = (row_page){0};
    for (size_t i = 0; i < x->far.count; i++) {
        const row_far *f = &x->far.items[i];
        if (f->number >= old && f->number < x->pages.count)
            x->pages.items[f->number] = f->page;
    }
    return true;
}

static row_page *far_page(row_index *x, uint64_t number) {
    uint32_t *at = map64_put(&x->far_index, number);
    if (!at)
        return NULL;
    if (*at == MAP64_NONE) {
        *at = (uint32_t)x->far.count;
        if (!vec_push(&x->far, ((row_far){.number = number})))
            return NULL;
    }
    return &x->far.items[*at].page;
}

static row_page *page_of(row_index *x, uint64_t number, uint32_t n_rows) {
    if (number >= x->pages.count && number >= FREE_PAGES + n_rows / ROWS_OF_PAGE)
        return far_page(x, number);
    if (number >= x->pages.count && !extend(x, number))
        return NULL;
    return &x->pages.items[number];
}

static bool loosen(row_index *x, row_page *page) {
    uint32_t base = (uint32_t)(x->loose.count / ROW_PAGE);
    if (!vec_reserve(&x->loose, ROW_PAGE))
        return false;
    for (uint32_t i = 0; i < ROW_PAGE; i++)
        x->loose.items[x->loose.count + i] = row_in_page(x, page, i);
    x->loose.count += ROW_PAGE;
    *page = (row_page){.base = base, .is_loose = true};
    return true;
}

bool row_index_add(row_index *x, uint64_t id, uint32_t row) {
    row_page *page = page_of(x, id / ROW_PAGE, row);
    uint32_t i = id % ROW_PAGE;
    if (!page)
        return false;
    if (!page->is_loose && page->from == page->to)
        *page = (row_page){.base = row - i, .from = (uint8_t)i, .to = (uint8_t)i};
    if (!page->is_loose && i == page->to && page->base + i == row) {
        page->to++;
        return true;
    }
    if (!page->is_loose && !loosen(x, page))
        return false;
    x->loose.items[page->base * (size_t)ROW_PAGE + i] = row;
    return true;
}

void row_index_free(row_index *x) {
    vec_free(&x->pages);
    vec_free(&x->far);
    map64_free(&x->far_index);
    vec_free(&x->loose);
}
