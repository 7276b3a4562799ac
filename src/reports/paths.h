/* paths.h: tables of places on call paths: functions, callers, callees, and the fragments of paths
 * that explain most. */
#ifndef REPORTS_PATHS_H
#define REPORTS_PATHS_H

#include "paths/functions.h"
#include "paths/hotpaths.h"
#include "reports/report.h"

/* A place, and what is allocated in it and below it. */
typedef struct paths_row {
    const profile_location *place;
    cost total, self;
    bool more; /* it has callers or callees of its own to show */
} paths_row;

/* The data of the tables. It must outlive them, as must what it points to. */
typedef struct paths_report {
    const report *report;
    report_rows rows;        /* context of the tables */
    const hotpaths *paths;   /* for the table of fragments */
    const double *explained; /* by fragment: the weight explained by it and all before it */
    bool by_line;
} paths_report;

/* Returns a table of `n` places. `neighbours`: they are callers or callees. */
table paths_places(paths_report *p, const paths_row *rows, size_t n, bool neighbours);

/* Returns the table of fragments. */
table paths_fragments(paths_report *p);

#endif
