/* check.h: the report of `check`: a verdict for each rule about a trace. */
#ifndef REPORTS_CHECK_H
#define REPORTS_CHECK_H

#include "document/document.h"
#include "query/budget.h"

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct check_report {
    const budget_rule *rules;
    const budget_result *results; /* by rule */
    size_t n;
    const profile *profile;
} check_report;

void check_document(document *d, const check_report *c);

/* ---- for other formats --------------------------------------------------------------------- */

typedef struct check_words {
    char text[160];
} check_words;

size_t check_count(const check_report *c, budget_verdict verdict);

const char *check_unit(budget_unit unit); /* B, words, blocks, B·s */

/* Returns the rule's name, or else its site. */
const char *check_name(const budget_rule *r);

/* Returns the measure in words; NULL if the unit already implies it. */
const char *check_measure(const budget_rule *r);

check_words check_limit(const budget_rule *r);             /* at most 9.0 MB; 10.0 KB, within 2x */
check_words check_actual(const check_report *c, size_t i); /* 7.6 MB ± 1.5 MB */
check_words check_undecided(const budget_result *result); /* what would decide; or why none would */

#endif
