/* tree.h: the report of `tree`, `callers` and `callees`: what is allocated along call paths. */
#ifndef REPORTS_TREE_H
#define REPORTS_TREE_H

#include "paths/picture.h"
#include "reports/report.h"

#define TREE_MAX_DEPTH 1000 /* calls: what is deeper is only counted */

typedef struct tree_view {
    const char *focus; /* as given; NULL: the tree is of whole stacks */
    double min_share;  /* in percent of the tree's root; rows below it are only counted */
    uint64_t top;      /* at most so many rows below each; 0: no limit */
    uint64_t depth;    /* at most so many calls, 1 … TREE_MAX_DEPTH */
    bool by_line;
} tree_view;

/* What is painted for it. */
static inline picture_spec tree_picture(const tree_view *v) {
    return (picture_spec){.min_percent = v->min_share,
                          .most = v->top,
                          .rows = (uint32_t)v->depth + 1,
                          .only_counted = true};
}

/* What its tables refer to; it must outlive the document, as must what it points to. */
typedef struct tree_report {
    const report *report;
    const picture *picture;
    tree_view view;
    const uint32_t *children; /* nodes of the picture, in their order, by parent */
    const uint32_t *firsts;   /* by node: its first one there; and the end of the last */
    report_rows rows, selves; /* contexts of its tables */
    picture_node alone;       /* what has no backtrace, as a row */
    profile_location named;   /* the focus, as a place */
} tree_report;

void tree_document(document *d, tree_report *t);

#endif
