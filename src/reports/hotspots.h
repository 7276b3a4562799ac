/* hotspots.h: the report of `hotspots` and `types`: the places, or types, that allocate most, each
 * with its callers. */
#ifndef REPORTS_HOTSPOTS_H
#define REPORTS_HOTSPOTS_H

#include "query/hotspots.h"
#include "reports/report.h"

typedef struct hotspots_view {
    uint64_t top;     /* at most this many rows; 0: no limit */
    double min_share; /* in percent of the total; smaller rows are counted, not shown */
    uint64_t callers; /* at most this many callers per row */
} hotspots_view;

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct hotspots_report {
    const report *report;
    const hotspots *hotspots;
    hotspots_view view;
    report_rows rows; /* context of the tables */
    size_t shown;
    cost rest; /* sum of the rows that are not shown */
} hotspots_report;

/* Makes the whole document. */
void hotspots_document(document *d, hotspots_report *h);

/* Adds the rows and the sentences about them, after the head of another report. */
void hotspots_rows(document *d, hotspots_report *h, const char *heading);

/* Returns the table of all rows. */
table hotspots_table(hotspots_report *h);

/* Returns whether a shown row is an address that symbolization may turn into a name. */
bool hotspots_unsymbolized(const hotspots_report *h);

#endif
