/* report.h: the forms of a report, as documents of tables (document/table.h): columns over what a
 * view holds. `json` is written as every document is, the others in the dialect (dialect.h) that
 * their prescribed layout asks for. */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

#include "document/document.h"
#include "guest/expect.h"
#include "guest/rows.h"
#include "render/output.h"

/* In the form and to where the options say, expectations included. */
tracer_status report_write(tracer *t, double elapsed, char *problem, size_t size);

/* A line of the forms that count by element or type. */
typedef struct report_line {
    tally self, total; /* total: with all that it calls */
    const char *name;
    const element *element; /* NULL: it is a type */
    size_t depth;
} report_line;

/* A frame of a stack, and how often in succession. */
typedef struct report_frame {
    const element *element;
    size_t times;
} report_frame;

/* What was made for the cell, or the rows below a row, that were asked for last. */
typedef struct report_scratch {
    output text;
    row_stack_list stacks;
    VEC(report_frame) frames;
} report_scratch;

/* What the tables of a report refer to: their context. */
typedef struct report {
    view *view;
    verdict_list verdicts;
    double elapsed;            /* seconds */
    double all;                /* allocations of which lines show their share */
    row_list rows;             /* of sites: those that are shown */
    projection stacks;         /* … and what leads to them, if that is asked for */
    VEC(report_line) lines;    /* of elements or types */
    report_scratch *scratch;   /* if it cannot grow, the tracer has `failed` */
    const char **expectations; /* as given */
} report;

/* The forms: fill the document. False when there is no memory. */
bool report_table(document *d, report *r);
bool report_json(document *d, report *r);
bool report_histogram(document *d, report *r);
bool report_typehistogram(document *d, report *r);
bool report_calltree(document *d, report *r);

/* ---- for columns --------------------------------------------------------------------------- */

static inline const report *report_behind(const table *t) {
    return t->context;
}

/* The number of allocations, or their bytes, with its error. */
cell report_allocations(const report *r, const tally *t);
cell report_bytes(const report *r, const tally *t);

/* Whether numbers are estimates. */
bool report_is_sampled(const table *t);

/* A text that is put together: begins an empty one, and makes a cell of it. */
output *report_text(const report *r);
cell report_text_cell(const report *r);

/* "queens.lox:42"; "<runtime>" of what is its own. */
void report_put_location(output *o, const view *v, const site *s);

#endif
