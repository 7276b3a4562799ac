/* report.h: what all reports on a query share: the query, and the beginning of their documents: the
 * total, what the trace cannot show, and what the filter keeps. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "document/document.h"

typedef struct report {
    const query_result *query;
    const char *filter; /* as given; NULL: none */
    const char *asked; /* the user's part of `filter`, if that adds the trace's window; else NULL */
    figure_cache *figures; /* of the profile; NULL: no cache */
} report;

static inline measure_unit report_unit(const report *r) {
    return measure_infos[r->query->measure].unit;
}

/* Returns an amount in the query's measure, for blocks that are more limited than by the filter. */
static inline figure report_figure_within(const report *r, filter_bounds may, const cost *c) {
    return report_unit(r) == UNIT_BYTES
               ? figure_of_cached(r->figures, r->query->profile, c->samples)
               : figure_of_cost_within(r->query, may, c);
}

/* Returns an amount in the query's measure, for blocks limited by the filter. */
static inline figure report_figure(const report *r, const cost *c) {
    return report_figure_within(r, r->query->may, c);
}

/* Returns the text for a stack of which nothing is visible. */
static inline const char *report_no_stack(const query_result *q) {
    return q->lens.hides ? TABLE_ALL_HIDDEN : TABLE_NO_STACK;
}

/* Returns the total of the query. */
static inline figure report_total(const report *r) {
    const query_result *q = r->query;
    return report_unit(r) == UNIT_BYTES ? figure_between(q->profile, q->total.samples, q->spread)
                                        : report_figure(r, &q->total);
}

static inline double report_percent(const report *r, const cost *c) { /* of the total */
    return 100 * figure_share(r->query, c);
}

/* Begins a document with the query and its total. Returns false if nothing is left to show; the
 * document then says so. `r` must outlive the document. */
bool report_head(document *d, const report *r);

/* Returns a table of one row that describes the query; it uses the document's memory. */
table report_about(document *d, const report *r);

/* Adds a note if short lifetimes cannot be told apart. */
void report_say_tick(document *d, const report *r);

/* For tables whose rows have a cost: the context of such a table is a report_rows, and its `cost`
 * returns the cost of a row. */
typedef struct report_rows {
    const report *report;
    const cost *(*cost)(const void *row);
} report_rows;

cell report_cell_share(const table *t, const void *row);
cell report_cell_amount(const table *t, const void *row);
cell report_cell_blocks(const table *t, const void *row);

#define REPORT_COLUMNS_COST                                                                        \
    {.name = "share",                                                                              \
     .kind = COLUMN_SHARE,                                                                         \
     .get = report_cell_share,                                                                     \
     .help = "the part of the total, 0 to 1"},                                                     \
        {.name = "",                                                                               \
         .kind = COLUMN_AMOUNT,                                                                    \
         .get = report_cell_amount,                                                                \
         .help = "the estimate in the unit of the measure, and the ends of its 95% interval"},     \
        {.name = "samples",                                                                        \
         .kind = COLUMN_COUNT,                                                                     \
         .in = IN_TEXT,                                                                            \
         .spare = true,                                                                            \
         .get = report_cell_samples,                                                               \
         .has = report_has_samples,                                                                \
         .help = "sampled words"},                                                                 \
        {.name = "blocks",                                                                         \
         .kind = COLUMN_COUNT,                                                                     \
         .in = IN_TEXT,                                                                            \
         .get = report_cell_blocks,                                                                \
         .has = report_has_blocks,                                                                 \
         .help = "blocks, as each is recorded"},                                                   \
    {                                                                                              \
        .name = "blocks", .kind = COLUMN_COUNT, .in = IN_DATA, .get = report_cell_blocks,          \
        .help = "sampled blocks"                                                                   \
    }

cell report_cell_samples(const table *t, const void *row);

/* Text shows either samples or blocks: at rate 1, the number of sampled words is of no use. */
bool report_has_samples(const table *t);
bool report_has_blocks(const table *t);

/* Returns the name of the program, from the name of its file. */
const char *report_program(const profile *p);

#endif
