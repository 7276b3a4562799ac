/* peak.h: the report of `peak`: when most memory was live, how certain that is, and what was live
 * then. */
#ifndef REPORTS_PEAK_H
#define REPORTS_PEAK_H

#include "query/peak.h"
#include "reports/hotspots.h"

typedef struct peak_share {
    const char *name;
    uint64_t samples;
} peak_share;

/* The data of the report's tables. It must outlive the document. */
typedef struct peak_report {
    const report *report; /* its query has MEASURE_PEAK */
    const peak *peak;
    hotspots_report *sites; /* of the blocks that were live then, by this or another measure */
    peak_share heaps[CCT_SOURCES], ages[PEAK_AGES];
} peak_report;

void peak_document(document *d, peak_report *k);

#endif
