/* paths.h: tables of places along call paths: functions, callers, callees, and whole fragments of
 * paths that explain most. */
#ifndef REPORTS_PATHS_H
#define REPORTS_PATHS_H

#include "paths/functions.h"
#include "paths/hotpaths.h"
#include "reports/report.h"

/* A place, and what is allocated below it. */
typedef struct paths_row {
    const profile_location *place;
    cost total, self;
    bool more; /* it has neighbours of its own further on */
} paths_row;

/* What the tables refer to; it must outlive them, as must what it points to. */
typedef struct paths_report {
    const report *report;
    report_rows rows;        /* context of the tables */
    const hotpaths *paths;   /* of fragments */
    const double *explained; /* by fragment: the weight of it and of those before it */
    bool by_line;
} paths_report;

/* Of `n` places, each with what it allocates itself; `neighbours`: callers or callees. */
table paths_places(paths_report *p, const paths_row *rows, size_t n, bool neighbours);

/* Of the fragments. */
table paths_fragments(paths_report *p);

#endif
