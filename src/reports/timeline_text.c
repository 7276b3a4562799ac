/* timeline_text.c: the timeline as lines of characters, one character per point. Each line is
 * scaled to its highest point, and followed by that number. */
#include <math.h>
#include <stdio.h>

#include "reports/resident.h"
#include "reports/timeline_amounts.h"

enum { SHOWN_MARKS = 10 };

/* Names of the groups in headings. */
static const char *const by_texts[] = {"site",  "site", "thread",  "scope",
                                       "trace", "span", "lifetime"};

static const timeline_report *report_of(const table *t) {
    return t->context;
}

typedef struct timeline_row {
    const char *name;
    const profile_location *place;
    const double *heights; /* by point */
    figure most;
    uint64_t at; /* time of `most` */
    struct timeline_row *below;
    size_t n_below;
} timeline_row;

static const timeline_row *row_of(const void *row) {
    return row;
}

/* Returns whether the peak is within a point. Most memory is live between the ends of points, and
 * this peak is known. For blocks it is not known. */
static bool is_peak(const timeline_report *r, size_t i, timeline_series s) {
    const timeline *t = r->timeline;
    const timeline_point *p = timeline_point_at(r, i);
    return s == LIVE && !timeline_has_costs(t) && t->peak.samples > 0 &&
           p->begin <= t->peak.at.time && t->peak.at.time < p->end;
}

static double height_at(const timeline_report *r, size_t i, timeline_series s, int heap) {
    const cost c = is_peak(r, i, s) ? timeline_peak_of(r) : timeline_cost_at(r, i, s, heap);
    return c.weight / (timeline_is_held(r, s) ? timeline_length(timeline_point_at(r, i))
                                              : timeline_seconds(timeline_point_at(r, i), s));
}

/* Returns the size by which the highest point is chosen. The last point may be shorter than the
 * others: what is held in it may be as high, but is less. */
static double size_at(const timeline_report *r, size_t i, timeline_series s, int heap,
                      double height) {
    return timeline_is_held(r, s) ? timeline_cost_at(r, i, s, heap).weight : height;
}

/* Sets the number after the points of a row, and its time. */
static void fill_most(const timeline_report *r, timeline_series s, int heap, size_t highest,
                      timeline_row *row) {
    const timeline_point *p = timeline_point_at(r, highest);
    const bool peak = is_peak(r, highest, s);
    row->most = peak ? timeline_peak_figure(r)
                     : timeline_figure_at(r, highest, s, heap, timeline_seconds(p, s));
    row->at = peak ? r->timeline->peak.at.time : p->begin;
}

/* Returns false if the series has no samples. */
static bool fill_row(document *d, const timeline_report *r, timeline_series s, int heap,
                     timeline_row *row) {
    const size_t n = r->timeline->points.count;
    double *heights = document_keep(d, n * sizeof *heights), largest = 0;
    size_t highest = 0;
    bool any = false;
    for (size_t i = 0; heights && i < n; i++) {
        heights[i] = height_at(r, i, s, heap);
        const double size = size_at(r, i, s, heap, heights[i]);
        any = any || timeline_cost_at(r, i, s, heap).samples > 0 || is_peak(r, i, s);
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
        const gauge_reading *at =
            gauge_most(g, timeline_point_at(r, i)->begin, timeline_point_at(r, i)->end);
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

TABLE_CELL(row_line, (cell){.line = {.items = row_of(row)->heights,
                                     .n = report_of(t)->timeline->points.count}})
TABLE_CELL(row_most, (cell){.amount = row_of(row)->most})
TABLE_CELL(row_at, (cell){.count = row_of(row)->at})
TABLE_CELL(row_name, (cell){.text = row_of(row)->name})
TABLE_CELL(row_place, (cell){.place = row_of(row)->place})

static bool row_below(const table *t, const void *row, table *below) {
    below->columns = t->columns;
    below->n_columns = t->n_columns;
    below->rows = row_of(row)->below;
    below->stride = sizeof(timeline_row);
    below->n = row_of(row)->n_below;
    below->context = t->context;
    return below->n > 0;
}

/* Lines come first, so that they are aligned in all tables. */
#define ROW_COLUMNS(kind_, at_)                                                                    \
    {.name = "history",                                                                            \
     .title = "over time",                                                                         \
     .kind = COLUMN_LINE,                                                                          \
     .get = row_line,                                                                              \
     .help = "a character a point, each row scaled to its highest"},                               \
        {.name = "most", .kind = COLUMN_##kind_, .get = row_most, .help = "the highest of them"},  \
    {                                                                                              \
        .name = "at", .title = at_, .kind = COLUMN_DURATION, .get = row_at,                        \
        .help = "when that was"                                                                    \
    }

static const table_column live_columns[] = {
    ROW_COLUMNS(AMOUNT, NULL),
    {.name = "heap", .kind = COLUMN_TEXT, .get = row_name, .help = "minor, major, external, all"},
    {.name = "heaps", .kind = COLUMN_ROWS, .title = "", .below = row_below, .help = "of all"},
};

static const table_column rate_columns[] = {
    ROW_COLUMNS(RATE, "from"), /* the point begins at this time */
    {.name = "blocks", .kind = COLUMN_TEXT, .get = row_name, .help = "what became of them"},
};

static const table_column seen_columns[] = {
    ROW_COLUMNS(AMOUNT, NULL),
    {.name = "memory", .kind = COLUMN_TEXT, .get = row_name, .help = "rss, anonymous, heap"},
};

static const table_column place_columns[] = {
    ROW_COLUMNS(AMOUNT, NULL),
    {.name = "site", .kind = COLUMN_PLACE, .get = row_place, .help = "what allocated"},
};

static const table_column group_columns[] = {
    ROW_COLUMNS(AMOUNT, NULL),
    {.name = "blocks", .kind = COLUMN_TEXT, .get = row_name, .help = "by whom, or how long-lived"},
};

/* ---- text -------------------------------------------------------------------------------- */

/* State of the text: only the first table says how much time a character is. */
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
    rows.no_name = report_no_stack(x->report->report->query);
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
        row->name = profile_heap_names[heap];
        rows->n_below += fill_row(x->document, r, LIVE_HEAP, heap, row);
    }
    if (rows->n_below == 1) /* a single heap would repeat the row of all */
        rows->n_below = 0;
    add_rows(
        x, timeline_is_held(r, LIVE) ? "Held" : "Live",
        (table){TABLE_COLUMNS(live_columns), .rows = rows, .n = 1, .unit = report_unit(r->report)});
    if (rows->n_below > 0 && !timeline_has_costs(r->timeline))
        document_note(x->document, "Heaps are shown as they were at the end of each character.");
}

static void add_rates(text_of *x) {
    static const struct {
        const char *name;
        timeline_series series;
    } rates[] = {{"allocated", ALLOCATED}, {"promoted", PROMOTED}, {"freed", FREED}};
    const size_t most = sizeof rates / sizeof *rates;
    timeline_row *rows = document_keep(x->document, most * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < most; i++) {
        rows[n].name = rates[i].name;
        n += fill_row(x->document, x->report, rates[i].series, 0, &rows[n]);
    }
    add_rows(x, "Per second",
             (table){TABLE_COLUMNS(rate_columns), .rows = rows, .n = n,
                     .unit = report_unit(x->report->report)});
}

static void add_seen(text_of *x) {
    const gauge_list *gauges = x->report->gauges;
    timeline_row *rows = document_keep(x->document, gauges->count * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < gauges->count; i++)
        n += fill_gauge(x->document, x->report, &gauges->items[i], &rows[n]);
    const char *heading = document_text(x->document, "Reported by %s", gauges_source(gauges));
    add_rows(x, heading ? heading : "Reported",
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
    const char *what = document_text(x->document, "%s, by %s",
                                     timeline_is_held(r, LIVE) ? "Held" : "Live", by_texts[r->by]);
    table lines = {.rows = rows, .n = n, .unit = report_unit(r->report)};
    lines.columns = timeline_by_place(r) ? place_columns : group_columns;
    lines.n_columns = sizeof place_columns / sizeof *place_columns;
    if (what)
        add_rows(x, what, lines);
}

static void say_end(document *d, const timeline_report *r) {
    const measure_unit unit = report_unit(r->report);
    const figure end = timeline_end_figure(r);
    const char *amount = document_text(d, "%s%s", figure_amount(unit, end.value).text,
                                       figure_beside(figure_margin_in(unit, &end)).text);
    const char *seen =
        r->gauges->count ? document_text(d, "; reported by %s:", gauges_source(r->gauges)) : "";
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

/* Compares the whole program's live memory in bytes with what the system reported. */
static void explain_end(document *d, const timeline_report *r) {
    const timeline *t = r->timeline;
    if (r->report->filter || report_unit(r->report) != UNIT_BYTES || timeline_has_costs(t) ||
        t->peak.samples == 0)
        return;
    resident_explain(d, r->gauges,
                     &(resident_live){.peak = timeline_peak_figure(r),
                                      .end = timeline_end_figure(r),
                                      .peak_time = t->peak.at.time});
}

/* ---- marks ------------------------------------------------------------------------------- */

static const profile_mark *mark_of(const void *row) {
    const profile_mark *const *mark = row;
    return *mark;
}

TABLE_CELL(mark_time, (cell){.count = mark_of(row)->time})
TABLE_CELL(mark_name, (cell){.text = mark_of(row)->name})

static const table_column mark_columns[] = {
    {.name = "at", .kind = COLUMN_DURATION, .get = mark_time, .help = "when it was set"},
    {.name = "mark", .kind = COLUMN_TEXT, .get = mark_name, .help = "its name"},
};

static bool is_within(const timeline *t, const profile_mark *m) {
    return !m->is_gauge && m->time >= t->points.items[0].begin &&
           m->time < t->points.items[t->points.count - 1].end;
}

static void add_marks(document *d, const timeline_report *r) {
    const profile *p = r->report->query->profile;
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

/* ---- all of it --------------------------------------------------------------------------- */

/* What the system reported, and marks, need no samples. */
void timeline_text(document *d, const timeline_report *r, bool sampled) {
    text_of x = {.document = d, .report = r};
    if (sampled) {
        say_end(d, r);
        explain_end(d, r);
        add_live(&x);
        add_rates(&x);
    }
    add_seen(&x);
    if (sampled)
        add_groups(&x);
    add_marks(d, r);
}
