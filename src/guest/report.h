/* report.h: the forms of a report. Each prints what a view holds; none computes counts. */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

#include "guest/expect.h"
#include "guest/rows.h"

/* In the form and to where the options say, expectations included. */
tracer_status report_write(tracer *t, double elapsed, char *problem, size_t size);

/* The forms: false when there is no memory. */
bool report_table(view *v, FILE *out);
bool report_histogram(view *v, FILE *out);
bool report_typehistogram(view *v, FILE *out);
bool report_calltree(view *v, FILE *out);
bool report_json(view *v, const verdict_list *verdicts, double elapsed, FILE *out);

/* The last table: expectations. */
void report_verdicts(const verdict_list *verdicts, FILE *out);

#endif
