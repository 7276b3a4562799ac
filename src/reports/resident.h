/* resident.h: why more of a process is in RAM than is live, as far as what the system reported
 * tells; docs/rss.md says what to do. */
#ifndef REPORTS_RESIDENT_H
#define REPORTS_RESIDENT_H

#include "document/document.h"
#include "profile/gauges.h"
#include "query/figure.h"

typedef struct resident_live {
    figure peak, end; /* live memory of the whole program, in bytes */
    uint64_t peak_time;
} resident_live;

/* Notes of it, if it is worth a word. False if it is not. */
bool resident_explain(document *d, const gauge_list *gauges, const resident_live *live);

#endif
