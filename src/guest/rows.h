/* rows.h: the sites of a report: entries of a view that show the same, added up. */
#ifndef GUEST_ROWS_H
#define GUEST_ROWS_H

#include "guest/view.h"

/* All from one line, of one type; if rows are `fine`, also in one function and of one class. */
typedef struct site_row {
    tally tally; /* first: columns of tables take a row for its tally */
    const entry *entries;
    size_t n_entries;
} site_row;

/* One call stack that leads to a row: a node of the projection to ELEMENT_LINE. */
typedef struct row_stack {
    tally tally; /* first, as in a row */
    uint32_t node;
} row_stack;

typedef VEC(site_row) row_list;
typedef VEC(row_stack) row_stack_list;

/* Sorts the view's entries; most frequent rows first. False when there is no memory. */
bool rows_make(row_list *rows, view *v, bool fine);

/* Most frequent first. False when there is no memory. */
bool row_stacks(row_stack_list *stacks, const site_row *r, const projection *lines);

/* Does as much lie in this as the option TraceMem asks for? */
bool rows_shows(const tally *t, const memtracer_options *o);

/* Which of two is more frequent: negative for `a`. */
int rows_compare(const tally *a, const tally *b);

#endif
