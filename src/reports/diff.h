/* diff.h: the report of `diff`: what changed between two sides, in total and by site. */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "document/document.h"
#include "query/diff.h"

typedef struct diff_report {
    const diff *diff;
    const query_result *const *before, *const *after; /* the runs of each side */
    size_t n_before, n_after;
    const char *filter; /* as given; NULL: none */
    uint64_t top;       /* at most this many sites; 0: no limit */
    bool same_file;     /* both sides are the same file: text only says so */
    bool is_moments;    /* the sides are two moments of one run (diff_moments) */
    uint64_t moved;     /* then: samples that went or came between the moments */

    /* Data of the report's tables, set by the functions below. */
    diff_site total;
    const char *change;         /* text about the total's change, in percent */
    const diff_site **changed;  /* rows in text: sites that may have changed */
    const char *const *remarks; /* by site: text after its name; NULL: none */
    size_t n_changed, n_all;    /* rows in `changed`, and sites that belong there */
} diff_report;

/* `r` must outlive the document, as must what it points to. */
void diff_document(document *d, diff_report *r);

/* Return the table of all sites, and that of the total, whose row is `r->total`. */
table diff_table(diff_report *r);
table diff_total(diff_report *r);

/* Returns whether a shown site is an address that symbolization may turn into a name. */
bool diff_unsymbolized(const diff_report *r);

#endif
