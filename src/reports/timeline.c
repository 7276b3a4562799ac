/* timeline.c: amounts at a point come first, from what the query counted; the columns and the rows
 * of text are made of them. */
#include "reports/timeline.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN_MARKS = 10 };

static const char *const heap_names[CCT_SOURCES] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

/* In JSON, and in headings. */
static const char *const groups_names[] = {"sites", "sites", "threads", "scopes", "lives"};
static const char *const by_texts[] = {"site", "site", "thread", "scope", "lifetime"};

static const timeline_report *report_of(const table *t) {
    return t->context;
}

static const profile *profile_of(const timeline_report *r) {
    return r->report->query->profile;
}

/* ---- amounts at points ------------------------------------------------------------------- */

/* What a row or column shows: one number a point. */
typedef enum series { LIVE, LIVE_HEAP, ALLOCATED, PROMOTED, FREED } series;

static uint64_t samples_of(const timeline_point *p, series s, int heap) {
    switch (s) {
    case LIVE:
        return cct_sum(p->live);
    case LIVE_HEAP:
        return p->live[heap];
    case ALLOCATED:
        return cct_sum(p->allocated);
    case PROMOTED:
        return p->promoted;
    default:
        return p->freed;
    }
}

static cost sum_of(const cost *heaps) {
    cost sum = {0};
    for (int i = 0; i < CCT_SOURCES; i++)
        cost_add(&sum, &heaps[i]);
    return sum;
}

static cost cost_of_series(const timeline_costs *c, series s, int heap, bool held) {
    switch (s) {
    case LIVE:
        return held ? c->held : sum_of(c->live);
    case LIVE_HEAP:
        return c->live[heap];
    case ALLOCATED:
        return sum_of(c->allocated);
    case PROMOTED:
        return c->promoted;
    default:
        return c->freed;
    }
}

static cost of_samples(uint64_t samples) {
    return (cost){.samples = samples, .weight = (double)samples};
}

/* In what the report counts: bytes; or blocks, or bytes times seconds. */
static bool has_costs(const timeline *t) {
    return t->costs.count > 0;
}

static bool is_held(const timeline_report *r, series s) {
    return s < ALLOCATED && has_costs(r->timeline) &&
           r->report->query->measure == MEASURE_BYTESECONDS;
}

static bool is_rate(series s) {
    return s >= ALLOCATED;
}

static double length_of(const timeline_point *p) {
    return (double)(p->end - p->begin) / 1e6;
}

/* The last point may be shorter than the others. */
static double seconds_of(const timeline_point *p, series s) {
    return is_rate(s) ? length_of(p) : 1;
}

static const timeline_point *point_at(const timeline_report *r, size_t i) {
    return &r->timeline->points.items[i];
}

static cost or_missed(const timeline_report *r, cost c) {
    const query_result *q = r->report->query;
    return cost_or_missed(q->profile, q->measure, q->may, c);
}

static cost known_cost_at(const timeline_report *r, size_t i, series s, int heap) {
    return has_costs(r->timeline)
               ? cost_of_series(&r->timeline->costs.items[i], s, heap, is_held(r, s))
               : of_samples(samples_of(point_at(r, i), s, heap));
}

/* A block that was missed cannot be held for longer than the point lasts. */
static cost cost_at(const timeline_report *r, size_t i, series s, int heap) {
    cost c = known_cost_at(r, i, s, heap);
    if (has_costs(r->timeline) && c.blocks == 0)
        c = or_missed(r, c);
    if (is_held(r, s) && c.blocks == 0)
        c.heaviest = length_of(point_at(r, i));
    return c;
}

/* What is known of blocks that were missed at a point. */
static filter_bounds may_at(const timeline_report *r, size_t i, series s) {
    const timeline_point *point = point_at(r, i);
    const uint64_t length = point->end - point->begin + 1;
    filter_bounds may = r->report->query->may;
    if (is_held(r, s) && (may.life_below == 0 || length < may.life_below))
        may.life_below = length;
    return may;
}

static figure figure_of_samples(const report *r, uint64_t samples) {
    return figure_of_cached(r->figures, r->query->profile, samples);
}

/* Of the point, or each second of it. */
static figure figure_at(const timeline_report *r, size_t i, series s, int heap, double seconds) {
    const cost c = cost_at(r, i, s, heap);
    figure f = has_costs(r->timeline) ? report_figure_within(r->report, may_at(r, i, s), &c)
                                      : figure_of_samples(r->report, c.samples);
    f.value /= seconds;
    f.low /= seconds;
    f.high /= seconds;
    f.margin /= seconds;
    return f;
}

static cost peak_of(const timeline_report *r) {
    const timeline *t = r->timeline;
    return has_costs(t) ? or_missed(r, t->peak_cost) : of_samples(t->peak.samples);
}

/* Of memory, the order of events may leave open how much that was. */
static figure peak_figure(const timeline_report *r) {
    const cost c = peak_of(r);
    return has_costs(r->timeline)
               ? report_figure(r->report, &c)
               : figure_between(profile_of(r), r->timeline->peak.samples, r->timeline->spread);
}

static figure end_figure(const timeline_report *r) {
    const timeline *t = r->timeline;
    const cost c = has_costs(t) ? or_missed(r, t->end_cost) : of_samples(t->end_samples);
    return report_figure(r->report, &c);
}

/* ---- points ------------------------------------------------------------------------------ */

static size_t index_of(const table *t, const void *row) {
    return (size_t)((const timeline_point *)row - report_of(t)->timeline->points.items);
}

static cell point_begin(const table *t, const void *row) {
    const timeline_point *p = row;
    (void)t;
    return (cell){.count = p->begin};
}

static cell point_end(const table *t, const void *row) {
    const timeline_point *p = row;
    (void)t;
    return (cell){.count = p->end};
}

/* X(name, in, series, heap, help): amounts, with their ends; the page has rates by itself. */
#define POINT_AMOUNTS(X)                                                                           \
    X(live, IN_DATA, LIVE, 0, "live at its end, or by byteseconds held within it")                 \
    X(live_minor, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_MINOR, "of that, in the minor heap")       \
    X(live_major, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_MAJOR, "in the major heap")                \
    X(live_external, IN_JSON | IN_CSV, LIVE_HEAP, MEMTRACE_EXTERNAL, "outside of heaps")           \
    X(allocated_per_second, IN_JSON | IN_CSV, ALLOCATED, 0, "allocated each second")               \
    X(promoted_per_second, IN_JSON | IN_CSV, PROMOTED, 0, "promoted each second")                  \
    X(freed_per_second, IN_JSON | IN_CSV, FREED, 0, "freed each second")

/* X(name, series, heap, help): bytes without their ends, for the page. */
#define POINT_BYTES(X)                                                                             \
    X(live_minor, LIVE_HEAP, MEMTRACE_MINOR, "live in the minor heap")                             \
    X(live_major, LIVE_HEAP, MEMTRACE_MAJOR, "live in the major heap")                             \
    X(live_external, LIVE_HEAP, MEMTRACE_EXTERNAL, "live outside of heaps")                        \
    X(promoted, PROMOTED, 0, "promoted in the point")                                              \
    X(freed, FREED, 0, "freed in the point")

#define POINT_AMOUNT(name, in, series, heap, help)                                                 \
    static cell point_##name(const table *t, const void *row) {                                    \
        return (cell){.amount = figure_at(report_of(t), index_of(t, row), series, heap,            \
                                          seconds_of(row, series))};                               \
    }
POINT_AMOUNTS(POINT_AMOUNT)
#undef POINT_AMOUNT

#define POINT_BYTE(name, series, heap, help)                                                       \
    static cell bytes_##name(const table *t, const void *row) {                                    \
        const uint64_t n = samples_of(row, series, heap);                                          \
        return (cell){.count = (uint64_t)(cost_bytes(profile_of(report_of(t)), n) + 0.5)};         \
    }
POINT_BYTES(POINT_BYTE)
#undef POINT_BYTE

static cell point_allocated(const table *t, const void *row) {
    return (cell){.amount = figure_at(report_of(t), index_of(t, row), ALLOCATED, 0, 1)};
}

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

static cell gauge_name(const table *t, const void *row) {
    (void)t;
    return (cell){.text = gauge_of(row)->name};
}

/* X(name, kind, value, help) */
#define GAUGE_COUNTS(X)                                                                            \
    X(readings, COUNT, gauge_of(row)->readings.count, "how often it was read")                     \
    X(most, COUNT, gauge_most(row, 0, UINT64_MAX)->bytes, "the most that was read, in bytes")      \
    X(time, DURATION, gauge_most(row, 0, UINT64_MAX)->time, "when that was, in microseconds")      \
    X(last, COUNT, gauge_last(row)->bytes, "what was read last")
#define GAUGE_COUNT(name, kind, value, help)                                                       \
    static cell gauge_##name##_cell(const table *t, const void *row) {                             \
        (void)t;                                                                                   \
        return (cell){.count = value};                                                             \
    }
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
                reading_at(&r->gauges->items[g], point_at(r, i));
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

static cell peak_amount(const table *t, const void *row) {
    (void)t;
    return (cell){.amount = peak_figure(row)};
}

static cell peak_time(const table *t, const void *row) {
    const timeline_report *r = row;
    (void)t;
    return (cell){.count = r->timeline->peak.at.time};
}

static cell end_amount(const table *t, const void *row) {
    (void)t;
    return (cell){.amount = end_figure(row)};
}

static const table_column peak_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = peak_amount, .help = "live when most was"},
    {.name = "time", .kind = COLUMN_DURATION, .get = peak_time, .help = "when, in microseconds"},
};

static const table_column end_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = end_amount, .help = "live at the end"},
};

/* ---- groups ------------------------------------------------------------------------------ */

/* What a row of groups refers to; names are the document's. */
typedef struct layer {
    const timeline_report *report; /* of it */
    const profile_location *place;
    const char *name, *filter;
    const double *live; /* by point, whole ones */
} layer;

static const layer *layer_of(const void *row) {
    return row;
}

static bool by_place(const timeline_report *r) {
    return r->by == GROUPS_BY_LINE || r->by == GROUPS_BY_FUNCTION;
}

static bool has_places(const table *t) {
    return by_place(report_of(t));
}

static bool has_names(const table *t) {
    return !by_place(report_of(t));
}

static cell layer_place(const table *t, const void *row) {
    (void)t;
    return (cell){.place = layer_of(row)->place};
}

static cell layer_name(const table *t, const void *row) {
    (void)t;
    return (cell){.text = layer_of(row)->name};
}

static cell layer_filter(const table *t, const void *row) {
    (void)t;
    return (cell){.text = layer_of(row)->filter};
}

static bool layer_peak(const table *t, const void *row, table *below) {
    (void)t;
    below->columns = peak_columns;
    below->n_columns = sizeof peak_columns / sizeof *peak_columns;
    below->rows = layer_of(row)->report;
    below->n = 1;
    return true;
}

static const table_column layer_point_columns[] = {
    {.name = "", .kind = COLUMN_AMOUNT, .get = point_live, .help = "as of points"},
};

static bool layer_points(const table *t, const void *row, table *below) {
    const timeline_report *of = layer_of(row)->report;
    (void)t;
    below->columns = layer_point_columns;
    below->n_columns = 1;
    below->rows = of->timeline->points.items;
    below->stride = sizeof *of->timeline->points.items;
    below->n = of->timeline->points.count;
    below->context = of;
    return true;
}

static cell layer_live(const table *t, const void *row) {
    return (cell){
        .line = {.items = layer_of(row)->live, .n = report_of(t)->timeline->points.count}};
}

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
     .below = layer_peak,
     .help = "the most that was live of it, and when"},
    {.name = "live",
     .kind = COLUMN_ROWS,
     .in = IN_JSON,
     .below = layer_points,
     .help = "at each point"},
    {.name = "live",
     .kind = COLUMN_LINE,
     .in = IN_PAGE,
     .get = layer_live,
     .help = "at the end of each point"},
};

/* As a column of CSV is called. */
static const char *column_name(document *d, const timeline_report *r, const layer *l) {
    const profile_location *p = l->place;
    if (!by_place(r))
        return document_text(d, "live: %s", l->name);
    if (!p)
        return "live: (no backtrace)";
    return r->by == GROUPS_BY_LINE && p->line
               ? document_text(d, "live: %s:%u %s", p->file, (unsigned)p->line, p->function)
               : document_text(d, "live: %s %s", p->file, p->function);
}

/* Columns of points. */
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
        live[k] = floor(figure_at(of, k, LIVE, 0, 1).value + 0.5);
    *l = (layer){.report = of,
                 .place = g->of.place,
                 .name = by_place(r) ? NULL : timeline_group_name(d, r->by, &g->of),
                 .filter = by_place(r) ? NULL : timeline_group_filter(d, r->by, &g->of),
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

/* ---- rows of text ------------------------------------------------------------------------ */

typedef struct timeline_row {
    const char *name;
    const profile_location *place;
    const double *heights; /* by point */
    figure most;
    uint64_t at; /* when that was */
    struct timeline_row *below;
    size_t n_below;
} timeline_row;

static const timeline_row *row_of(const void *row) {
    return row;
}

/* The most memory was live between the ends of points, and is known; the most blocks is not. */
static bool is_peak(const timeline_report *r, size_t i, series s) {
    const timeline *t = r->timeline;
    const timeline_point *p = point_at(r, i);
    return s == LIVE && !has_costs(t) && t->peak.samples > 0 && p->begin <= t->peak.at.time &&
           t->peak.at.time < p->end;
}

static double height_at(const timeline_report *r, size_t i, series s, int heap) {
    const cost c = is_peak(r, i, s) ? peak_of(r) : known_cost_at(r, i, s, heap);
    return c.weight / (is_held(r, s) ? length_of(point_at(r, i)) : seconds_of(point_at(r, i), s));
}

/* What is held in the last point, if that is shorter, is no less high, but less. */
static double size_at(const timeline_report *r, size_t i, series s, int heap, double height) {
    return is_held(r, s) ? known_cost_at(r, i, s, heap).weight : height;
}

/* What stands behind the points of a row. */
static void fill_most(const timeline_report *r, series s, int heap, size_t highest,
                      timeline_row *row) {
    const timeline_point *p = point_at(r, highest);
    const bool peak = is_peak(r, highest, s);
    row->most = peak ? peak_figure(r) : figure_at(r, highest, s, heap, seconds_of(p, s));
    row->at = peak ? r->timeline->peak.at.time : p->begin;
}

/* False if there is nothing of it. */
static bool fill_row(document *d, const timeline_report *r, series s, int heap, timeline_row *row) {
    const size_t n = r->timeline->points.count;
    double *heights = document_keep(d, n * sizeof *heights), largest = 0;
    size_t highest = 0;
    bool any = false;
    for (size_t i = 0; heights && i < n; i++) {
        heights[i] = height_at(r, i, s, heap);
        const double size = size_at(r, i, s, heap, heights[i]);
        any = any || known_cost_at(r, i, s, heap).samples > 0 || is_peak(r, i, s);
        highest = size > largest ? i : highest;
        largest = fmax(largest, size);
    }
    if (!any)
        return false;
    row->heights = heights;
    fill_most(r, s, heap, highest, row);
    return true;
}

static bool fill_gauge(document *d, const timeline_report *r, const gauge *g, timeline_row *row) {
    const size_t n = r->timeline->points.count;
    double *heights = document_keep(d, n * sizeof *heights);
    const gauge_reading *most = NULL;
    for (size_t i = 0; heights && i < n; i++) {
        const gauge_reading *at = gauge_most(g, point_at(r, i)->begin, point_at(r, i)->end);
        heights[i] = at ? (double)at->bytes : 0;
        most = at && (!most || at->bytes > most->bytes) ? at : most;
    }
    if (!most)
        return false;
    const double bytes = (double)most->bytes;
    *row = (timeline_row){.name = g->name,
                          .heights = heights,
                          .most = {.value = bytes, .low = bytes, .high = bytes},
                          .at = most->time};
    return true;
}

static cell row_line(const table *t, const void *row) {
    return (cell){
        .line = {.items = row_of(row)->heights, .n = report_of(t)->timeline->points.count}};
}

static cell row_most(const table *t, const void *row) {
    (void)t;
    return (cell){.amount = row_of(row)->most};
}

static cell row_at(const table *t, const void *row) {
    (void)t;
    return (cell){.count = row_of(row)->at};
}

static cell row_name(const table *t, const void *row) {
    (void)t;
    return (cell){.text = row_of(row)->name};
}

static cell row_place(const table *t, const void *row) {
    (void)t;
    return (cell){.place = row_of(row)->place};
}

static bool row_below(const table *t, const void *row, table *below) {
    below->columns = t->columns;
    below->n_columns = t->n_columns;
    below->rows = row_of(row)->below;
    below->stride = sizeof(timeline_row);
    below->n = row_of(row)->n_below;
    below->context = t->context;
    return below->n > 0;
}

/* Lines come first, so that those of all tables stand below each other. */
#define ROW_COLUMNS(kind_)                                                                         \
    {.name = "history",                                                                            \
     .title = "over time",                                                                         \
     .kind = COLUMN_LINE,                                                                          \
     .get = row_line,                                                                              \
     .help = "a character a point, each row scaled to its highest"},                               \
        {.name = "most", .kind = COLUMN_##kind_, .get = row_most, .help = "the highest of them"},  \
    {                                                                                              \
        .name = "at", .kind = COLUMN_DURATION, .get = row_at, .help = "when that was"              \
    }

static const table_column live_columns[] = {
    ROW_COLUMNS(AMOUNT),
    {.name = "heap", .kind = COLUMN_TEXT, .get = row_name, .help = "minor, major, external, all"},
    {.name = "heaps", .kind = COLUMN_ROWS, .title = "", .below = row_below, .help = "of all"},
};

static const table_column rate_columns[] = {
    ROW_COLUMNS(RATE),
    {.name = "blocks", .kind = COLUMN_TEXT, .get = row_name, .help = "what became of them"},
};

static const table_column seen_columns[] = {
    ROW_COLUMNS(AMOUNT),
    {.name = "memory", .kind = COLUMN_TEXT, .get = row_name, .help = "rss, anonymous, heap"},
};

static const table_column place_columns[] = {
    ROW_COLUMNS(AMOUNT),
    {.name = "site", .kind = COLUMN_PLACE, .get = row_place, .help = "what allocated"},
};

static const table_column group_columns[] = {
    ROW_COLUMNS(AMOUNT),
    {.name = "blocks", .kind = COLUMN_TEXT, .get = row_name, .help = "by whom, or how long-lived"},
};

/* ---- text -------------------------------------------------------------------------------- */

/* The first table says what its characters are. */
typedef struct text_of {
    document *document;
    const timeline_report *report;
    bool says_scale;
} text_of;

static const char *heading_of(text_of *x, const char *what) {
    const timeline *t = x->report->timeline;
    const timeline_point *first = t->points.items, *last = first + t->points.count - 1;
    if (x->says_scale)
        return what;
    x->says_scale = true;
    return document_text(x->document, "%s (%s … %s, a character is %s)", what,
                         first->begin ? figure_duration(first->begin).text : "0",
                         figure_duration(last->end - 1).text,
                         figure_duration(first->end - first->begin).text);
}

static void add_rows(text_of *x, const char *what, table rows) {
    rows.name = what;
    rows.stride = sizeof(timeline_row);
    rows.context = x->report;
    rows.no_name = "(no backtrace)";
    rows.by_line = x->report->by == GROUPS_BY_LINE;
    if (rows.n > 0)
        document_rows(x->document, &rows, IN_TEXT, heading_of(x, what));
}

static void add_live(text_of *x) {
    const timeline_report *r = x->report;
    timeline_row *rows = document_keep(x->document, (CCT_SOURCES + 1) * sizeof *rows);
    if (!rows || !fill_row(x->document, r, LIVE, 0, rows))
        return;
    rows->name = "all";
    rows->below = rows + 1;
    for (int heap = 0; heap < CCT_SOURCES; heap++) {
        timeline_row *row = &rows->below[rows->n_below];
        row->name = heap_names[heap];
        rows->n_below += fill_row(x->document, r, LIVE_HEAP, heap, row);
    }
    add_rows(
        x, is_held(r, LIVE) ? "Held" : "Live",
        (table){TABLE_COLUMNS(live_columns), .rows = rows, .n = 1, .unit = report_unit(r->report)});
}

static void add_rates(text_of *x) {
    static const struct {
        const char *name;
        series series;
    } rates[] = {{"allocated", ALLOCATED}, {"promoted", PROMOTED}, {"freed", FREED}};
    const size_t most = sizeof rates / sizeof *rates;
    timeline_row *rows = document_keep(x->document, most * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < most; i++) {
        rows[n].name = rates[i].name;
        n += fill_row(x->document, x->report, rates[i].series, 0, &rows[n]);
    }
    add_rows(x, "Each second",
             (table){TABLE_COLUMNS(rate_columns), .rows = rows, .n = n,
                     .unit = report_unit(x->report->report)});
}

static void add_seen(text_of *x) {
    const gauge_list *gauges = x->report->gauges;
    timeline_row *rows = document_keep(x->document, gauges->count * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < gauges->count; i++)
        n += fill_gauge(x->document, x->report, &gauges->items[i], &rows[n]);
    add_rows(x, "Reported by the system",
             (table){TABLE_COLUMNS(seen_columns), .rows = rows, .n = n});
}

static void add_groups(text_of *x) {
    const timeline_report *r = x->report;
    timeline_row *rows = document_keep(x->document, (r->n_groups + 1) * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < r->n_groups; i++) {
        rows[n].place = r->groups[i].of.place;
        rows[n].name = timeline_group_name(x->document, r->by, &r->groups[i].of);
        n += fill_row(x->document, &r->of_groups[i], LIVE, 0, &rows[n]);
    }
    const char *what = document_text(x->document, "%s, by %s", is_held(r, LIVE) ? "Held" : "Live",
                                     by_texts[r->by]);
    table lines = {.rows = rows, .n = n, .unit = report_unit(r->report)};
    lines.columns = by_place(r) ? place_columns : group_columns;
    lines.n_columns = sizeof place_columns / sizeof *place_columns;
    if (what)
        add_rows(x, what, lines);
}

static void say_end(document *d, const timeline_report *r) {
    const measure_unit unit = report_unit(r->report);
    const figure end = end_figure(r);
    const char *amount = document_text(d, "%s%s", figure_amount(unit, end.value).text,
                                       figure_beside(figure_margin_in(unit, &end)).text);
    const char *seen = r->gauges->count ? "; reported by the system:" : "";
    for (size_t i = 0; seen && i < r->gauges->count; i++) {
        const gauge *g = &r->gauges->items[i];
        seen = document_text(d, "%s%s %s %s", seen, i ? "," : "", g->name,
                             figure_bytes((double)gauge_last(g)->bytes).text);
    }
    if (!amount || !seen)
        return;
    if (unit == UNIT_BYTESECONDS)
        document_note(d, "Of that, %s is held by blocks live at the end%s.", amount, seen);
    else
        document_note(d, "At the end, %s %s live%s.", amount,
                      unit == UNIT_BLOCKS && end.value >= 1.5 ? "were" : "was", seen);
}

/* ---- marks ------------------------------------------------------------------------------- */

static const profile_mark *mark_of(const void *row) {
    const profile_mark *const *mark = row;
    return *mark;
}

static cell mark_time(const table *t, const void *row) {
    (void)t;
    return (cell){.count = mark_of(row)->time};
}

static cell mark_name(const table *t, const void *row) {
    (void)t;
    return (cell){.text = mark_of(row)->name};
}

static const table_column mark_columns[] = {
    {.name = "at", .kind = COLUMN_DURATION, .get = mark_time, .help = "when it was set"},
    {.name = "mark", .kind = COLUMN_TEXT, .get = mark_name, .help = "its name"},
};

static bool is_within(const timeline *t, const profile_mark *m) {
    return !m->is_gauge && m->time >= t->points.items[0].begin &&
           m->time < t->points.items[t->points.count - 1].end;
}

static void add_marks(document *d, const timeline_report *r) {
    const profile *p = profile_of(r);
    const profile_mark **shown = document_keep(d, SHOWN_MARKS * sizeof *shown);
    size_t n = 0;
    for (size_t i = 0; shown && i < p->marks.count; i++) {
        const profile_mark *m = &p->marks.items[i];
        if (is_within(r->timeline, m) && n++ < SHOWN_MARKS)
            shown[n - 1] = m;
    }
    const table rows = {.name = "marks",
                        TABLE_COLUMNS(mark_columns),
                        .rows = shown,
                        .stride = sizeof *shown,
                        .n = n < SHOWN_MARKS ? n : SHOWN_MARKS};
    document_rows(d, &rows, IN_TEXT, "Marks");
    if (n > SHOWN_MARKS)
        document_note(d, "  … %s more; `allotrace info --json` lists all",
                      figure_count(n - SHOWN_MARKS).text);
}

/* ---- peaks ------------------------------------------------------------------------------- */

static cell found_time(const table *t, const void *row) {
    const timeline_peak *p = row;
    (void)t;
    return (cell){.count = p->time};
}

static cell found_live(const table *t, const void *row) {
    const timeline_peak *p = row;
    (void)t;
    return (cell){.amount = p->live};
}

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

/* What the system saw, and marks, are known without a sample. */
static void add_texts(document *d, const timeline_report *r, bool sampled) {
    text_of x = {.document = d, .report = r};
    if (sampled) {
        say_end(d, r);
        add_live(&x);
        add_rates(&x);
    }
    add_seen(&x);
    if (sampled)
        add_groups(&x);
    add_marks(d, r);
}

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
        add_texts(d, r, sampled);
}
