/* paths.c: functions, callers and callees have the same columns. Each fragment has its frames in a
 * table below it. */
#include "reports/paths.h"

static const paths_report *report_of(const table *t) {
    return (const paths_report *)((const char *)t->context - offsetof(paths_report, rows));
}

/* ---- places ------------------------------------------------------------------------------ */

static const paths_row *row_of(const void *row) {
    return row;
}

static const cost *cost_of_row(const void *row) {
    return &row_of(row)->total;
}

TABLE_CELL(row_place, (cell){.place = row_of(row)->place})
TABLE_CELL(row_self, (cell){.amount = report_figure(report_of(t)->report, &row_of(row)->self)})
TABLE_CELL(row_more, (cell){.flag = row_of(row)->more})

#define PATHS_PLACE                                                                                \
    {.name = "place", .kind = COLUMN_PLACE, .get = row_place, .help = "the function, or line"},    \
        REPORT_COLUMNS_COST, {                                                                     \
        .name = "self", .kind = COLUMN_AMOUNT, .get = row_self, .help = "allocated right there"    \
    }

static const table_column place_columns[] = {PATHS_PLACE};
static const table_column neighbour_columns[] = {
    PATHS_PLACE,
    {.name = "more",
     .kind = COLUMN_FLAG,
     .in = IN_PAGE,
     .get = row_more,
     .help = "the row can be unrolled"},
};

table paths_places(paths_report *p, const paths_row *rows, size_t n, bool neighbours) {
    table t = {.name = "functions",
               TABLE_COLUMNS(place_columns),
               .rows = rows,
               .stride = sizeof *rows,
               .n = n,
               .context = &p->rows,
               .unit = report_unit(p->report),
               .by_line = p->by_line};
    p->rows = (report_rows){.report = p->report, .cost = cost_of_row};
    if (neighbours) {
        t.columns = neighbour_columns;
        t.n_columns = sizeof neighbour_columns / sizeof *neighbour_columns;
    }
    return t;
}

/* ---- fragments --------------------------------------------------------------------------- */

static const hotpaths_fragment *fragment_of(const void *row) {
    return row;
}

static const cost *cost_of_fragment(const void *row) {
    return &fragment_of(row)->cost;
}

TABLE_CELL(fragment_place,
           (cell){.place = report_of(t)->paths->frames.items[fragment_of(row)->first +
                                                             fragment_of(row)->n - 1]})

static cell fragment_explained(const table *t, const void *row) {
    const paths_report *p = report_of(t);
    const double all = p->report->query->total.weight;
    const double upto = p->explained[fragment_of(row) - p->paths->fragments.items];
    return (cell){.number = all > 0 ? upto / all : 0};
}

TABLE_CELL(fragment_more, (cell){.flag = !fragment_of(row)->ends_in_site})

TABLE_CELL(frame_place, (cell){.place = *(const profile_location *const *)row})

static const table_column frame_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = frame_place, .help = "a frame"},
};

static bool fragment_frames(const table *t, const void *row, table *below) {
    const hotpaths_fragment *f = row;
    *below = (table){.name = "frames",
                     TABLE_COLUMNS(frame_columns),
                     .rows = &report_of(t)->paths->frames.items[f->first],
                     .stride = sizeof(const profile_location *),
                     .n = f->n,
                     .by_line = t->by_line};
    return true;
}

static const table_column fragment_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = fragment_place, .help = "the innermost frame"},
    REPORT_COLUMNS_COST,
    {.name = "frames",
     .kind = COLUMN_ROWS,
     .below = fragment_frames,
     .help = "the fragment, outermost first"},
    {.name = "explained",
     .kind = COLUMN_SHARE,
     .get = fragment_explained,
     .help = "the share of this row and all before it in default order"},
    {.name = "more",
     .kind = COLUMN_FLAG,
     .in = IN_PAGE,
     .get = fragment_more,
     .help = "its stacks go on from there, to many sites"},
};

table paths_fragments(paths_report *p) {
    p->rows = (report_rows){.report = p->report, .cost = cost_of_fragment};
    return (table){.name = "paths",
                   TABLE_COLUMNS(fragment_columns),
                   .rows = p->paths->fragments.items,
                   .stride = sizeof(hotpaths_fragment),
                   .n = p->paths->fragments.count,
                   .context = &p->rows,
                   .unit = report_unit(p->report),
                   .by_line = p->by_line};
}
