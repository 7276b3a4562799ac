/* timeline.c: the tables of the timeline: points, gauges, groups, peaks. Text shows few of them. */
#include "reports/timeline.h"

#include <math.h>
#include <stdio.h>

#include "reports/timeline_amounts.h"

/* Names of the groups in JSON. */
static const char *const groups_names[] = {"sites",  "sites", "threads", "scopes",
                                           "traces", "spans", "lives"};

static const timeline_report *report_of(const table *t) {
    return t->context;
}

static const profile *profile_of(const timeline_report *r) {
    return r->report->query->profile;
}

/* ---- points ------------------------------------------------------------------------------ */

static size_t index_of(const table *t, const void *row) {
    return (size_t)((const timeline_point *)row - report_of(t)->timeline->points.items);
}

static const timeline_point *point_of(const void *row) {
    return row;
}

TABLE_CELL(point_begin, (cell){.count = point_of(row)->begin})
TABLE_CELL(point_end, (cell){.count = point_of(row)->end})

/* X(name, in, series, heap, help): amounts with their intervals. The page computes rates itself. */
#define POINT_AMOUNTS(X)                                                                           \
    X(live, IN_DATA, LIVE, 0, "live at its end, or by byteseconds held within it")                 \
    X(live_minor, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_MINOR, "of that, in the minor heap")       \
    X(live_major, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_MAJOR, "in the major heap")                \
    X(live_external, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_EXTERNAL, "outside of heaps")           \
    X(allocated_per_second, IN_JSON | IN_CSV, ALLOCATED, 0, "allocated each second")               \
    X(promoted_per_second, IN_JSON | IN_CSV, PROMOTED, 0, "promoted each second")                  \
    X(freed_per_second, IN_JSON | IN_CSV, FREED, 0, "freed each second")

/* X(name, series, heap, help): bytes without intervals, for the page. */
#define POINT_BYTES(X)                                                                             \
    X(live_minor, LIVE_HEAP, MEMTRACE_MINOR, "live in the minor heap")                             \
    X(live_major, LIVE_HEAP, MEMTRACE_MAJOR, "live in the major heap")                             \
    X(live_external, LIVE_HEAP, MEMTRACE_EXTERNAL, "live outside of heaps")                        \
    X(promoted, PROMOTED, 0, "promoted in the point")                                              \
    X(freed, FREED, 0, "freed in the point")

#define POINT_AMOUNT(name, in, series, heap, help)                                                 \
    static cell point_##name(const table *t, const void *row) {                                    \
        return (cell){.amount = timeline_figure_at(report_of(t), index_of(t, row), series, heap,   \
                                                   timeline_seconds(row, series))};                \
    }
POINT_AMOUNTS(POINT_AMOUNT)
#undef POINT_AMOUNT

#define POINT_BYTE(name, series, heap, help)                                                       \
    static cell bytes_##name(const table *t, const void *row) {                                    \
        const uint64_t n = timeline_samples(row, series, heap);                                    \
        return (cell){.count = (uint64_t)(cost_bytes(profile_of(report_of(t)), n) + 0.5)};         \
    }
POINT_BYTES(POINT_BYTE)
#undef POINT_BYTE

TABLE_CELL(point_allocated,
           (cell){.amount = timeline_figure_at(report_of(t), index_of(t, row), ALLOCATED, 0, 1)})

static cell point_gauges(const table *t, const void *row) {
    const timeline_report *r = report_of(t);
    const size_t n = r->gauges->count;
    return (cell){.line = {.items = &r->at_points[index_of(t, row) * n], .n = n}};
}

static const char *gauge_name_at(const table *t, size_t i) {
    const gauge_list *gauges = report_of(t)->gauges;
    return i < gauges->count ? gauges->items[i].name : NULL;
}

static cell point_groups(const table *t, const void *row) {
    const timeline_report *r = report_of(t);
    const size_t n = r->csv_names ? r->n_groups : 0;
    return (cell){.line = {.items = n ? &r->by_point[index_of(t, row) * n] : NULL, .n = n}};
}

static const char *group_name_at(const table *t, size_t i) {
    const timeline_report *r = report_of(t);
    return r->csv_names && i < r->n_groups ? r->csv_names[i] : NULL;
}

static const table_column point_columns[] = {
    {.name = "begin",
     .kind = COLUMN_DURATION,
     .in = IN_JSON,
     .get = point_begin,
     .help = "when it begins, in microseconds"},
    {.name = "end",
     .kind = COLUMN_DURATION,
     .in = IN_JSON,
     .get = point_end,
     .help = "when the next one begins"},
    {.name = "begin_us",
     .kind = COLUMN_DURATION,
     .in = IN_CSV,
     .get = point_begin,
     .help = "when it begins, in microseconds"},
    {.name = "end_us",
     .kind = COLUMN_DURATION,
     .in = IN_CSV,
     .get = point_end,
     .help = "when the next one begins"},
#define POINT_COLUMN(name_, in_, series, heap, help_)                                              \
    {.name = #name_, .kind = COLUMN_AMOUNT, .in = in_, .get = point_##name_, .help = help_},
    POINT_AMOUNTS(POINT_COLUMN)
#undef POINT_COLUMN
        {.name = "allocated",
         .kind = COLUMN_AMOUNT,
         .in = IN_PAGE,
         .get = point_allocated,
         .help = "allocated in the point"},
#define POINT_COLUMN(name_, series, heap, help_)                                                   \
    {.name = #name_, .kind = COLUMN_COUNT, .in = IN_PAGE, .get = bytes_##name_, .help = help_},
    POINT_BYTES(POINT_COLUMN)
#undef POINT_COLUMN
        {.name = "groups",
         .kind = COLUMN_LINE,
         .in = IN_CSV,
         .get = point_groups,
         .point = group_name_at,
         .help = "what is live of each group at its end, by name"},
    {.name = "gauges",
     .kind = COLUMN_LINE,
     .in = IN_CSV,
     .get = point_gauges,
     .point = gauge_name_at,
     .help = "what the system saw at its end, by name"},
};

table timeline_points(const timeline_report *r) {
    return (table){.name = "points",
                   TABLE_COLUMNS(point_columns),
                   .rows = r->timeline->points.items,
                   .stride = sizeof *r->timeline->points.items,
                   .n = r->timeline->points.count,
                   .context = r,
                   .unit = report_unit(r->report)};
}

/* ---- gauges ------------------------------------------------------------------------------ */

static const gauge *gauge_of(const void *row) {
    return row;
}

TABLE_CELL(gauge_name, (cell){.text = gauge_of(row)->name})

/* X(name, kind, value, help) */
#define GAUGE_COUNTS(X)                                                                            \
    X(readings, COUNT, gauge_of(row)->readings.count, "how often it was read")                     \
    X(most, COUNT, gauge_most(row, 0, UINT64_MAX)->bytes, "the most that was read, in bytes")      \
    X(time, DURATION, gauge_most(row, 0, UINT64_MAX)->time, "when that was, in microseconds")      \
    X(last, COUNT, gauge_last(row)->bytes, "what was read last")
#define GAUGE_COUNT(name, kind, value, help) TABLE_CELL(gauge_##name##_cell, (cell){.count = value})
GAUGE_COUNTS(GAUGE_COUNT)
#undef GAUGE_COUNT

static cell gauge_values(const table *t, const void *row) {
    const timeline_report *r = report_of(t);
    const size_t n = r->timeline->points.count;
    return (cell){
        .line = {.items = &r->of_gauges[(size_t)(gauge_of(row) - r->gauges->items) * n], .n = n}};
}

static const table_column gauge_columns[] = {
    {.name = "name", .kind = COLUMN_TEXT, .get = gauge_name, .help = "what the system counted"},
#define GAUGE_COLUMN(name_, kind_, value, help_)                                                   \
    {.name = #name_, .kind = COLUMN_##kind_, .get = gauge_##name_##_cell, .help = help_},
    GAUGE_COUNTS(GAUGE_COLUMN)
#undef GAUGE_COLUMN
        {.name = "values",
         .kind = COLUMN_LINE,
         .get = gauge_values,
         .help = "at the end of each point; null before the first reading"},
};

static double reading_at(const gauge *g, const timeline_point *p) {
    const gauge_reading *r = gauge_at(g, p->end - 1);
    return r ? (double)r->bytes : NAN;
}

table timeline_gauges(document *d, timeline_report *r) {
    const size_t n = r->timeline->points.count, n_gauges = r->gauges->count;
    double *at_points = document_keep(d, n * n_gauges * sizeof *at_points);
    double *of_gauges = document_keep(d, n * n_gauges * sizeof *of_gauges);
    for (size_t g = 0; at_points && of_gauges && g < n_gauges; g++)
        for (size_t i = 0; i < n; i++)
            at_points[i * n_gauges + g] = of_gauges[g * n + i] =
                reading_at(&r->gauges->items[g], timeline_point_at(r, i));
    r->at_points = at_points;
    r->of_gauges = of_gauges;
    return (table){.name = "gauges",
                   TABLE_COLUMNS(gauge_columns),
                   .rows = r->gauges->items,
                   .stride = sizeof *r->gauges->items,
                   .n = n_gauges,
                   .context = r};
}

/* ---- the peak and the end ---------------------------------------------------------------- */

TABLE_CELL(peak_amount, (cell){.amount = timeline_peak_figure(row)})

static cell peak_time(const table *t, const void *row) {
    const timeline_report *r = row;
    (void)t;
    return (cell){.count = r->timeline->peak.at.time};
}

TABLE_CELL(end_amount, (cell){.amount = timeline_end_figure(row)})

static const table_column peak_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = peak_amount, .help = "live when most was"},
    {.name = "time", .kind = COLUMN_DURATION, .get = peak_time, .help = "when, in microseconds"},
};

static const table_column end_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = end_amount, .help = "live at the end"},
};

/* ---- groups ------------------------------------------------------------------------------ */

/* The data of a row of groups. The document owns the names. */
typedef struct layer {
    const timeline_report *report; /* of this group */
    const profile_location *place;
    const char *name, *filter;
    const double *live; /* by point, in whole numbers */
} layer;

static const layer *layer_of(const void *row) {
    return row;
}

static bool has_places(const table *t) {
    return timeline_by_place(report_of(t));
}

static bool has_names(const table *t) {
    return !timeline_by_place(report_of(t));
}

TABLE_CELL(layer_place, (cell){.place = layer_of(row)->place})
TABLE_CELL(layer_name, (cell){.text = layer_of(row)->name})
TABLE_CELL(layer_filter, (cell){.text = layer_of(row)->filter})

static const void *layer_peak(const void *row) {
    return layer_of(row)->report;
}

static const table_column layer_point_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = point_live, .help = "as of points"},
};

static bool layer_points(const table *t, const void *row, table *below) {
    const timeline_report *of = layer_of(row)->report;
    (void)t;
    below->rows = of->timeline->points.items;
    below->stride = sizeof *of->timeline->points.items;
    below->n = of->timeline->points.count;
    below->context = of;
    return true;
}

TABLE_CELL(layer_live, (cell){.line = {.items = layer_of(row)->live,
                                       .n = report_of(t)->timeline->points.count}})

static const table_column layer_columns[] = {
    {.name = "place",
     .kind = COLUMN_PLACE,
     .has = has_places,
     .get = layer_place,
     .help = "what allocated"},
    {.name = "name",
     .kind = COLUMN_TEXT,
     .has = has_names,
     .get = layer_name,
     .help = "which thread, or how long blocks lived"},
    {.name = "filter",
     .kind = COLUMN_TEXT,
     .has = has_names,
     .get = layer_filter,
     .help = "keeps these blocks"},
    {.name = "peak",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     TABLE_COLUMNS(peak_columns),
     .of = layer_peak,
     .help = "the most that was live of it, and when"},
    {.name = "live",
     .kind = COLUMN_ROWS,
     .in = IN_JSON,
     TABLE_COLUMNS(layer_point_columns),
     .below = layer_points,
     .help = "at each point"},
    {.name = "live",
     .kind = COLUMN_LINE,
     .in = IN_PAGE,
     .get = layer_live,
     .help = "at the end of each point"},
};

/* Returns the name of the group's column in CSV. */
static const char *column_name(document *d, const timeline_report *r, const layer *l) {
    const profile_location *p = l->place;
    if (!timeline_by_place(r))
        return document_text(d, "live: %s", l->name);
    if (!p)
        return "live: (no backtrace)";
    return r->by == GROUPS_BY_LINE && p->line
               ? document_text(d, "live: %s:%u %s", p->file, (unsigned)p->line, p->function)
               : document_text(d, "live: %s %s", p->file, p->function);
}

/* Makes the groups' columns in the table of points. */
static void add_columns(document *d, timeline_report *r, const layer *layers) {
    const size_t n = r->n_groups, points = r->timeline->points.count;
    const char **names = document_keep(d, (n + 1) * sizeof *names);
    double *values = document_keep(d, (n * points + 1) * sizeof *values);
    for (size_t i = 0; names && values && i < n; i++) {
        names[i] = column_name(d, r, &layers[i]);
        for (size_t k = 0; k < points; k++)
            values[k * n + i] = layers[i].live[k];
    }
    r->by_point = values;
    r->csv_names = names;
}

static void fill_layer(document *d, const timeline_report *r, size_t i, timeline_report *of,
                       layer *l) {
    const timeline_group *g = &r->groups[i];
    const size_t n = r->timeline->points.count;
    double *live = document_keep(d, (n + 1) * sizeof *live);
    *of = (timeline_report){.report = r->report, .timeline = &g->line};
    for (size_t k = 0; live && k < n; k++)
        live[k] = floor(timeline_figure_at(of, k, LIVE, 0, 1).value + 0.5);
    *l = (layer){.report = of,
                 .place = g->of.place,
                 .name = timeline_by_place(r) ? NULL : timeline_group_name(d, r->by, &g->of),
                 .filter = timeline_by_place(r) ? NULL : timeline_group_filter(d, r->by, &g->of),
                 .live = live};
}

table timeline_layers(document *d, timeline_report *r) {
    timeline_report *of = document_keep(d, (r->n_groups + 1) * sizeof *of);
    layer *rows = document_keep(d, (r->n_groups + 1) * sizeof *rows);
    for (size_t i = 0; of && rows && i < r->n_groups; i++)
        fill_layer(d, r, i, &of[i], &rows[i]);
    r->of_groups = of;
    if (!d->failed)
        add_columns(d, r, rows);
    return (table){.name = groups_names[r->by],
                   TABLE_COLUMNS(layer_columns),
                   .rows = rows,
                   .stride = sizeof *rows,
                   .n = d->failed ? 0 : r->n_groups,
                   .context = r,
                   .unit = report_unit(r->report),
                   .by_line = r->by == GROUPS_BY_LINE};
}

/* ---- peaks ------------------------------------------------------------------------------- */

static const timeline_peak *found_of(const void *row) {
    return row;
}

TABLE_CELL(found_time, (cell){.count = found_of(row)->time})
TABLE_CELL(found_live, (cell){.amount = found_of(row)->live})

static const table_column found_columns[] = {
    {.name = "time", .kind = COLUMN_DURATION, .get = found_time, .help = "in microseconds"},
    {.name = "", .kind = COLUMN_AMOUNT, .get = found_live, .help = "live then, in bytes"},
};

table timeline_peaks(const timeline_peak *rows, size_t n) {
    return (table){.name = "peaks",
                   TABLE_COLUMNS(found_columns),
                   .rows = rows,
                   .stride = sizeof *rows,
                   .n = n};
}

/* ---- the document ------------------------------------------------------------------------ */

void timeline_document(document *d, timeline_report *r) {
    const measure_unit unit = report_unit(r->report);
    const table peak = {.name = "peak", TABLE_COLUMNS(peak_columns), .rows = r, .unit = unit};
    const table end = {.name = "at_end", TABLE_COLUMNS(end_columns), .rows = r, .unit = unit};
    const bool sampled = report_head(d, r->report);
    const table gauges = timeline_gauges(d, r), layers = timeline_layers(d, r);
    const table points = timeline_points(r);
    document_object(d, &peak, IN_JSON);
    document_object(d, &end, IN_JSON);
    document_rows(d, &points, IN_JSON | IN_CSV, NULL);
    document_rows(d, &gauges, IN_JSON, NULL);
    document_rows(d, &layers, IN_JSON, NULL);
    if (!d->failed)
        timeline_text(d, r, sampled);
}
