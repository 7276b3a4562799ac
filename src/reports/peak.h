/* peak.h: the report of `peak`: when most was live, how certain that is, and what it was. */
#ifndef REPORTS_PEAK_H
#define REPORTS_PEAK_H

#include "query/peak.h"
#include "reports/hotspots.h"

typedef struct peak_share {
    const char *name;
    uint64_t samples;
} peak_share;

/* What its tables refer to; it must outlive the document. */
typedef struct peak_report {
    const report *report; /* of a query whose measure is MEASURE_PEAK */
    const peak *peak;
    hotspots_report *sites; /* of what was live then, by this or another measure */
    peak_share heaps[CCT_SOURCES], ages[PEAK_AGES];
} peak_report;

void peak_document(document *d, peak_report *k);

#endif
