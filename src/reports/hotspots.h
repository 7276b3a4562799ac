/* hotspots.h: the report of `hotspots` and `types`: which places, or types, allocate most, each
 * with its callers. */
#ifndef REPORTS_HOTSPOTS_H
#define REPORTS_HOTSPOTS_H

#include "query/hotspots.h"
#include "reports/report.h"

typedef struct hotspots_view {
    uint64_t top;     /* at most so many rows; 0: no limit */
    double min_share; /* in percent of the total; smaller rows are only counted */
    uint64_t callers; /* at most so many a row */
} hotspots_view;

/* What its tables refer to; it must outlive the document, as must what it points to. */
typedef struct hotspots_report {
    const report *report;
    const hotspots *hotspots;
    hotspots_view view;
    report_rows rows, entries; /* contexts of its tables */
    size_t shown;
    cost rest; /* of the rows that are not shown */
} hotspots_report;

/* The whole document. */
void hotspots_document(document *d, hotspots_report *h);

/* The rows and what is said of them, behind the head of another report. */
void hotspots_rows(document *d, hotspots_report *h, const char *heading);

/* The table alone, of all rows. */
table hotspots_table(hotspots_report *h);

/* Whether a shown row is a bare address that symbolizing may turn into a name. */
bool hotspots_unsymbolized(const hotspots_report *h);

#endif
