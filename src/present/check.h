/* check.h: verdicts on a trace as text for people, as JSON, CSV and JUnit's XML; and budgets as a
 * file. */
#ifndef PRESENT_CHECK_H
#define PRESENT_CHECK_H

#include "query/budget.h"
#include "render/figures.h"

typedef struct check_table {
    const budget_rule *rules;
    const budget_result *results; /* by rule */
    size_t n;
    const profile *profile;
    bool color; /* text alone */
} check_table;

void check_text(output *o, const check_table *t);
void check_json(output *o, const check_table *t);
void check_csv(output *o, const check_table *t);
void check_junit(output *o, const check_table *t);

/* The rules with maxima that the results pass with a tenth to spare. */
void check_toml(output *o, const check_table *t);

#endif
