/* diff.h: the report of `diff`: what changed between two sides, in all and by site. */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "document/document.h"
#include "query/diff.h"

typedef struct diff_report {
    const diff *diff;
    const query_result *const *before, *const *after; /* the runs */
    size_t n_before, n_after;
    const char *filter; /* as given; NULL: none */
    uint64_t top;       /* at most so many sites; 0: no limit */
    bool same_file;     /* both sides are one file, as text says instead */
    bool is_moments;    /* of one run (diff_moments), of whose samples so many moved */
    uint64_t moved;

    /* What its tables refer to, by the functions below. */
    diff_site total;
    const char *change;         /* of the total, in percent */
    const diff_site **changed;  /* the rows of text: sites that are not the same for sure */
    const char *const *remarks; /* by site: what text adds to its name; NULL: there are none */
    size_t n_changed, n_all;    /* so many rows, of so many that there are */
} diff_report;

/* `r` must outlive the document, as must what it points to. */
void diff_document(document *d, diff_report *r);

/* All sites, and the total, whose row is `r->total`. */
table diff_table(diff_report *r);
table diff_total(diff_report *r);

/* What a row is called: after, where it is there. */
const diff_name *diff_name_of(const diff_site *s);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool diff_unsymbolized(const diff_report *r);

#endif
