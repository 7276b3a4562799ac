/* advise.h: the report of `advise`: why the functions that allocate most do so, and what to do
 * about it. The command and the page share its texts. */
#ifndef REPORTS_ADVISE_H
#define REPORTS_ADVISE_H

#include "advice/advise.h"
#include "reports/report.h"

typedef struct advise_view {
    const char *trace; /* name of the file for the commands shown */
    double min_share;  /* the least share, in percent, for which advice was requested */
    uint64_t top;      /* at most this many rows; 0: all */
} advise_view;

enum { ADVISE_COMMANDS = 2 };

/* A piece of advice and its texts, which the document owns; NULL: none. */
typedef struct advise_row {
    const advice *item;
    bool is_known; /* an earlier row has the same rule, so its texts are not repeated */
    const char *head, *title, *where, *what, *gain, *sure;
    const char *check[ADVISE_COMMANDS];
} advise_row;

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct advise_report {
    const report *report;
    const advice_list *advise;
    advise_view view;
    report_rows rows, places; /* contexts of the tables */
    const advise_row *made;   /* the rows that are shown */
    size_t shown;
} advise_report;

void advise_document(document *d, advise_report *r);

/* Returns the table alone; it uses the document's memory. */
table advise_table(document *d, advise_report *r);

/* Returns whether a shown function has no name yet. */
bool advise_unsymbolized(const advise_report *r);

#endif
