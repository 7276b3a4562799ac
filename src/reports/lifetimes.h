/* lifetimes.h: the report of `lifetimes`: how long blocks live, in total and by site. */
#ifndef REPORTS_LIFETIMES_H
#define REPORTS_LIFETIMES_H

#include "query/lifetimes.h"
#include "reports/report.h"

typedef struct lifetimes_view {
    uint64_t top; /* at most this many sites; 0: no limit */
    bool curve;   /* CSV has the points of the survival curve instead of the sites */
} lifetimes_view;

enum { LIFETIMES_ROWS = 64, LIFETIMES_SHARES = 3 };

/* A share of the blocks, and what these blocks are. */
typedef struct lifetimes_row {
    uint64_t micros;
    lifetimes_share share;
    char name[128];
} lifetimes_row;

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct lifetimes_report {
    const report *report;
    const lifetimes *lifetimes;
    const lifetimes_spec *spec;
    lifetimes_view view;
    lifetimes_site all; /* all blocks, as a row for the columns of sites */
    lifetimes_row decades[STATS_DECADES + 1], shares[LIFETIMES_SHARES], steps[LIFETIMES_ROWS];
} lifetimes_report;

void lifetimes_document(document *d, lifetimes_report *r);

/* Returns whether a shown site is an address that symbolization may turn into a name. */
bool lifetimes_unsymbolized(const lifetimes_report *r);

#endif
