/* activity.h: the report of `allotrace top`: a head about the program, and for each site a row with
 * its live memory, what it has allocated, its allocation rate and its growth. */
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
    bool is_cut;      /* the trace cannot be read on, though its program may run */
    uint64_t pid;     /* of the program */
    uint64_t time;    /* microseconds since the start */
    unsigned width;   /* of the terminal, in columns: narrow ones get fewer table columns; 0: all */
    size_t shown;     /* number of rows, from the first */
    blocks_most peak; /* 0: unknown */
    /* Used by the report itself. */
    table_column columns[ACTIVITY_COLUMNS];
    char title[16];
} activity_report;

/* Adds the program's name, and phrases about what it does, one note each. */
void activity_head(document *d, const activity_report *a);

/* Adds the table, with one line per row. `a` must outlive the document. */
void activity_rows(document *d, activity_report *a);

#endif
