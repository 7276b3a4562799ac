/* leaks.h: the report of `leaks`: what stays, by site, and whether it grows. */
#ifndef REPORTS_LEAKS_H
#define REPORTS_LEAKS_H

#include "query/leaks.h"
#include "reports/report.h"

typedef struct leaks_view {
    uint64_t top; /* at most so many sites; 0: no limit */
    bool by_function;
} leaks_view;

/* Sites of one class. */
typedef struct leaks_class_sum {
    leaks_class class;
    cost cost;
    size_t sites;
} leaks_class_sum;

/* What its tables refer to; it must outlive the document, as must what it points to. */
typedef struct leaks_report {
    const report *report;
    const leaks *leaks;
    leaks_view view;
    const leaks_site **rows; /* those of which something is left; of the document */
    const char **remarks;    /* by site of `leaks`, for text; of the document */
    size_t n_rows, shown, gone;
    leaks_class_sum classes[LEAKS_N_CLASSES];
} leaks_report;

void leaks_document(document *d, leaks_report *l);

/* The table alone, of all sites of which something is left; it uses the document's memory. */
table leaks_table(document *d, leaks_report *l);

/* A sentence on what may leak unseen at the trace's rate; empty at rate 1. */
const char *leaks_hidden(document *d, const profile *p);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool leaks_unsymbolized(const leaks_report *l);

#endif
