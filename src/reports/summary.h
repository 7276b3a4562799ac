/* summary.h: the report of `allotrace FILE`: the program, its peak, its largest sites, growing
 * sites, and the best advice, each with the command that says more. */
#ifndef REPORTS_SUMMARY_H
#define REPORTS_SUMMARY_H

#include "advice/advise.h"
#include "query/peak.h"
#include "reports/hotspots.h"
#include "reports/leaks.h"

enum { SUMMARY_SITES = 5, SUMMARY_GROWING = 3, SUMMARY_ADVICE = 2 };

/* The results of the queries, all of the whole trace. They must outlive the document. */
typedef struct summary_report {
    const report *report;
    const char *trace;  /* words for the commands shown, as for the same part of the trace */
    const char *whole;  /* name of the file */
    const char *hiding; /* the filter of `sites` and `leaks`; NULL: none */
    const peak *peak;
    const advice_list *advice;
    hotspots_report sites;
    leaks_report leaks;
} summary_report;

void summary_document(document *d, summary_report *s);

#endif
