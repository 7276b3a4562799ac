/* leaks.h: the report of `leaks`: the memory that stays live, by site, and whether it grows. */
#ifndef REPORTS_LEAKS_H
#define REPORTS_LEAKS_H

#include "query/leaks.h"
#include "reports/report.h"

typedef struct leaks_view {
    uint64_t top; /* at most this many sites; 0: no limit */
    bool by_function;
} leaks_view;

/* The sum of the sites in one class. */
typedef struct leaks_class_sum {
    leaks_class class;
    cost cost;
    size_t sites;
} leaks_class_sum;

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct leaks_report {
    const report *report;
    const leaks *leaks;
    leaks_view view;
    const leaks_site **rows; /* sites with live blocks; owned by the document */
    const char **remarks;    /* by site of `leaks`, for text; owned by the document */
    size_t n_rows, shown, gone;
    leaks_class_sum classes[LEAKS_N_CLASSES];
} leaks_report;

void leaks_document(document *d, leaks_report *l);

/* Returns the table of all sites with live blocks; it uses the document's memory. */
table leaks_table(document *d, leaks_report *l);

/* Returns a sentence on leaks that may not show at the trace's rate; empty at rate 1. */
const char *leaks_hidden(document *d, const profile *p);

/* Returns whether a shown site is an address that symbolization may turn into a name. */
bool leaks_unsymbolized(const leaks_report *l);

#endif
