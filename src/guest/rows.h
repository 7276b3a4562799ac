/* rows.h: the rows of a report: the entries of a view, summed by what is shown. */
#ifndef GUEST_ROWS_H
#define GUEST_ROWS_H

#include "guest/view.h"

/* The allocations of one type by one line; with `fine` rows, also by one function and of one
 * class. */
typedef struct site_row {
    tally tally; /* first, since the columns of tables take a row for its tally */
    const entry *entries;
    size_t n_entries;
} site_row;

/* A call stack that leads to a row: a node of the projection to ELEMENT_LINE. */
typedef struct row_stack {
    tally tally; /* first, as in site_row */
    uint32_t node;
} row_stack;

typedef VEC(site_row) row_list;
typedef VEC(row_stack) row_stack_list;

/* Makes the rows, most frequent first, and sorts the view's entries. Returns false when there is no
 * memory. */
bool rows_make(row_list *rows, view *v, bool fine);

/* Appends the stacks of a row, most frequent first. Returns false when there is no memory. */
bool row_stacks(row_stack_list *stacks, const site_row *r, const projection *lines);

/* Whether the bytes reach the minimum of the option TraceMem. */
bool rows_shows(const tally *t, const memtracer_options *o);

/* Orders tallies by frequency, highest first, like a comparison function for qsort. */
int rows_compare(const tally *a, const tally *b);

#endif
