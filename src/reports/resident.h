/* resident.h: explains why more of a process is in RAM than is live, from what the system reported.
 * docs/rss.md says what to do about it. */
#ifndef REPORTS_RESIDENT_H
#define REPORTS_RESIDENT_H

#include "document/document.h"
#include "profile/gauges.h"
#include "query/figure.h"

typedef struct resident_live {
    figure peak, end; /* live memory of the whole program, in bytes */
    uint64_t peak_time;
} resident_live;

/* Adds notes about it. Returns false, and adds none, if the difference is too small. */
bool resident_explain(document *d, const gauge_list *gauges, const resident_live *live);

#endif
