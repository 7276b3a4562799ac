/* advise.h: the report of `advise`: why the functions that allocate most do so, and what to do
 * about it, in words that the command and the page share. */
#ifndef REPORTS_ADVISE_H
#define REPORTS_ADVISE_H

#include "advice/advise.h"
#include "reports/report.h"

typedef struct advise_view {
    const char *trace; /* as commands name it */
    double min_share;  /* that the advice was asked for */
    uint64_t top;      /* at most so many; 0: all */
} advise_view;

enum { ADVISE_COMMANDS = 2 };

/* A piece of advice and its words, which are the document's; NULL: there are none. */
typedef struct advise_row {
    const advice *item;
    bool is_known; /* one before it has the same rule, so that the reader knows its words */
    const char *head, *title, *where, *what, *gain, *sure;
    const char *check[ADVISE_COMMANDS];
} advise_row;

/* What its tables refer to; it must outlive the document, as must what it points to. */
typedef struct advise_report {
    const report *report;
    const advise *advise;
    advise_view view;
    report_rows rows, places; /* contexts of its tables */
    const advise_row *made;   /* the rows that are shown */
    size_t shown;
} advise_report;

void advise_document(document *d, advise_report *r);

/* The table alone; it uses the document's memory. */
table advise_table(document *d, advise_report *r);

/* Whether a function that is shown has no name yet. */
bool advise_unsymbolized(const advise_report *r);

#endif
