/* tree.h: the report of `tree`, `callers` and `callees`: allocations along call paths. */
#ifndef REPORTS_TREE_H
#define REPORTS_TREE_H

#include "paths/picture.h"
#include "reports/report.h"

#define TREE_MAX_DEPTH 1000 /* calls: deeper ones are counted, not shown */

typedef struct tree_view {
    const char *focus; /* as given; NULL: the tree is of whole stacks */
    double min_share;  /* in percent of the tree's root; rows below it are counted, not shown */
    uint64_t top;      /* at most this many children per row; 0: no limit */
    uint64_t depth;    /* at most this many calls deep, 1 … TREE_MAX_DEPTH */
    bool by_line;
} tree_view;

/* Returns what to draw for this view. */
static inline picture_spec tree_picture(const tree_view *v) {
    return (picture_spec){.min_percent = v->min_share,
                          .most = v->top,
                          .rows = (uint32_t)v->depth + 1,
                          .only_counted = true};
}

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct tree_report {
    const report *report;
    const picture *picture;
    tree_view view;
    const uint32_t *children; /* nodes of the picture, sorted by parent */
    const uint32_t *firsts;   /* by node: index of its first child in `children`; then the end */
    report_rows rows, selves; /* contexts of the tables */
    picture_node alone;       /* the allocations without a backtrace, as a row */
    profile_location named;   /* the focus, as a place */
} tree_report;

void tree_document(document *d, tree_report *t);

#endif
