/* report.h: the forms of a report, as documents of tables (document/table.h) over the contents of a
 * view. `json` is written as for any document; the other forms in the dialect (dialect.h), as their
 * layout is prescribed. */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

#include "document/document.h"
#include "guest/expect.h"
#include "guest/rows.h"
#include "render/output.h"

/* Writes the report, with expectations, in the form and to the file that the options say. */
tracer_status report_write(tracer *t, double elapsed, char *problem, size_t size);

/* A line of the forms that count by element or type. */
typedef struct report_line {
    tally self, total; /* total: including what it calls */
    const char *name;
    const element *element; /* NULL: the line is about a type */
    size_t depth;
} report_line;

/* A frame of a stack, and how many times it is repeated. */
typedef struct report_frame {
    const element *element;
    size_t times;
} report_frame;

/* Storage for the cell, or the rows below a row, that were last asked for. */
typedef struct report_scratch {
    output text;
    row_stack_list stacks;
    VEC(report_frame) frames;
} report_scratch;

/* The context of a report's tables. */
typedef struct report {
    view *view;
    verdict_list verdicts;
    double elapsed;            /* seconds */
    double all;                /* allocations that are 100% in the lines' shares */
    row_list rows;             /* sites that are shown */
    projection stacks;         /* call stacks of the sites, if asked for */
    VEC(report_line) lines;    /* of elements or types */
    report_scratch *scratch;   /* if it cannot grow, the tracer is marked as failed */
    const char **expectations; /* as given */
} report;

/* The forms. Each fills the document, and returns false when there is no memory. */
bool report_table(document *d, report *r);
bool report_json(document *d, report *r);
bool report_histogram(document *d, report *r);
bool report_typehistogram(document *d, report *r);
bool report_calltree(document *d, report *r);

/* ---- for columns --------------------------------------------------------------------------- */

static inline const report *report_behind(const table *t) {
    return t->context;
}

/* Return the number of allocations, and their bytes, with the error. */
cell report_allocations(const report *r, const tally *t);
cell report_bytes(const report *r, const tally *t);

/* Whether numbers are estimates. */
bool report_is_sampled(const table *t);

/* Begins an empty text, and makes a cell of what was written to it. */
output *report_text(const report *r);
cell report_text_cell(const report *r);

/* Writes "queens.lox:42", or "<runtime>" for the runtime's own allocations. */
void report_put_location(output *o, const view *v, const site *s);

#endif
