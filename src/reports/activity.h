/* activity.h: the report of `allotrace top`: a head about the program, and a row a site with what
 * it holds, allocated, allocates and gains. */
#ifndef REPORTS_ACTIVITY_H
#define REPORTS_ACTIVITY_H

#include "query/activity.h"
#include "reports/report.h"

enum { ACTIVITY_COLUMNS = 6 };

typedef struct activity_report {
    const report *report;
    const activity *activity;
    activity_order order;
    bool is_running;
    uint64_t pid;     /* of the program */
    uint64_t time;    /* microseconds since the start */
    unsigned width;   /* of the terminal: narrow ones get fewer columns; 0: all */
    size_t shown;     /* rows, from the first on */
    blocks_most peak; /* 0: unknown */
    /* Of the report itself. */
    table_column columns[ACTIVITY_COLUMNS];
    char title[16];
} activity_report;

/* What the program is, and phrases about what it does, a note each. */
void activity_head(document *d, const activity_report *a);

/* The table, whose rows are a line each. `a` must outlive the document. */
void activity_rows(document *d, activity_report *a);

#endif
