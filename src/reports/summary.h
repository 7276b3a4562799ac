/* summary.h: the report of `allotrace FILE`: what a trace is of, its peak, its largest sites, what
 * grows, and the best advice, each with the command that says more. */
#ifndef REPORTS_SUMMARY_H
#define REPORTS_SUMMARY_H

#include "advice/advise.h"
#include "query/peak.h"
#include "reports/hotspots.h"
#include "reports/leaks.h"

enum { SUMMARY_SITES = 5, SUMMARY_GROWING = 3, SUMMARY_ADVICE = 2 };

/* What the queries found; it must outlive the document. All are of the whole trace. */
typedef struct summary_report {
    const report *report;
    const char *trace;  /* as commands name it */
    const char *hiding; /* the filter of `sites` and `leaks`; NULL: none */
    const peak *peak;
    const advise *advice;
    hotspots_report sites;
    leaks_report leaks;
} summary_report;

void summary_document(document *d, summary_report *s);

#endif
