/* report.h: what all reports on a query begin with, as text and as JSON: the total, what the trace
 * cannot see, what the filter kept. */
#ifndef PRESENT_REPORT_H
#define PRESENT_REPORT_H

#include "render/figures.h"
#include "reports/report.h"

/* 76.3 MB, 1,200 blocks, 3.1 MB·s; and its error, by itself or behind it: see figures.h. */
figure_text report_amount(const report *r, double value);
figure_range report_margin(const report *r, const figure *f);
figure_range report_beside(const report *r, const figure *f);

/* The same of what happens each second: 3.1 KB/s, 0.25 blocks/s. Not negative. */
figure_text report_rate(const report *r, double value);
figure_range report_beside_rate(const report *r, const figure *f);

/* False if nothing is left to show; the text then says why. */
bool report_text_head(output *o, const report *r);

/* `"unit":…,"rate":…,"program":…,"measure":…`, with the filter and what it kept if there is one. */
void report_json_about(output *o, const report *r);

/* The same up to and with `"total":{…}`. */
void report_json_head(output *o, const report *r);

/* `"share":…,"value":…,"low":…,"high":…,"samples":…,"blocks":…` */
void report_json_cost(output *o, const report *r, const cost *c);

/* `share,value,low,high,samples,blocks`: their names, and the fields. */
#define REPORT_CSV_COLUMNS "share,value,low,high,samples,blocks"
void report_csv_cost(output *o, const report *r, const cost *c);

/* ---- for places -------------------------------------------------------------------------- */

#define REPORT_BOLD  "\033[1m"
#define REPORT_FAINT "\033[2m"
#define REPORT_PLAIN "\033[0m"

void report_paint(output *o, const report *r, const char *code);
void report_file(output *o, const profile_location *l, bool with_line);
bool report_has_file(const profile_location *l);
void report_function(output *o, const profile_location *l);

/* `FILE:LINE FUNCTION`, or `FUNCTION (FILE)` without line; NULL: no backtrace. */
void report_place(output *o, const report *r, const profile_location *l, bool with_line);

#endif
