/* timeline.c: see timeline.h. */
#include "present/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SHOWN_MARKS = 10, LABEL = TIMELINE_BESIDE - 2 };

static const char *const heap_names[CCT_SOURCES] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

/* What a row shows: one number a point. */
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

static bool is_held(const report *r, series s) {
    return s < ALLOCATED && r->query->measure == MEASURE_BYTESECONDS;
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

static cost or_missed(const report *r, cost c) {
    return cost_or_missed(r->query->profile, r->query->measure, r->query->may, c);
}

static cost known_cost_at(const report *r, const timeline *t, size_t i, series s, int heap) {
    return has_costs(t) ? cost_of_series(&t->costs.items[i], s, heap, is_held(r, s))
                        : of_samples(samples_of(&t->points.items[i], s, heap));
}

/* A block that was missed cannot be held for longer than the point lasts. */
static cost cost_at(const report *r, const timeline *t, size_t i, series s, int heap) {
    cost c = known_cost_at(r, t, i, s, heap);
    if (has_costs(t) && c.blocks == 0)
        c = or_missed(r, c);
    if (is_held(r, s) && c.blocks == 0)
        c.heaviest = length_of(&t->points.items[i]);
    return c;
}

/* What is known of blocks that were missed at a point. */
static filter_bounds may_at(const report *r, const timeline *t, size_t i, series s) {
    const timeline_point *point = &t->points.items[i];
    const uint64_t length = point->end - point->begin + 1;
    filter_bounds may = r->query->may;
    if (is_held(r, s) && (may.life_below == 0 || length < may.life_below))
        may.life_below = length;
    return may;
}

static cost peak_of(const report *r, const timeline *t) {
    return has_costs(t) ? or_missed(r, t->peak_cost) : of_samples(t->peak.samples);
}

/* Of memory, the order of events may leave open how much that was. */
static figure peak_figure(const report *r, const timeline *t) {
    const cost c = peak_of(r, t);
    return has_costs(t) ? report_figure(r, &c)
                        : figure_between(r->query->profile, t->peak.samples, t->spread);
}

static cost end_of(const report *r, const timeline *t) {
    return has_costs(t) ? or_missed(r, t->end_cost) : of_samples(t->end_samples);
}

/* ---- text -------------------------------------------------------------------------------- */

/* The most memory was live between the ends of points, and is known; the most blocks is not. */
static bool is_peak(const timeline *t, size_t i, series s) {
    const timeline_point *p = &t->points.items[i];
    return s == LIVE && !has_costs(t) && t->peak.samples > 0 && p->begin <= t->peak.at.time &&
           t->peak.at.time < p->end;
}

static double height(const report *r, const timeline *t, size_t i, series s, int heap) {
    const cost c = is_peak(t, i, s) ? peak_of(r, t) : known_cost_at(r, t, i, s, heap);
    return c.weight /
           (is_held(r, s) ? length_of(&t->points.items[i]) : seconds_of(&t->points.items[i], s));
}

/* The points of a row; returns the highest. Of the last one, if it is shorter, what is held there
 * is no less high. */
static size_t show_sparks(output *o, const report *r, const timeline *t, series s, int heap) {
    size_t highest = 0, n = t->points.count;
    double most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double high = height(r, t, i, s, heap);
        const double large = is_held(r, s) ? known_cost_at(r, t, i, s, heap).weight : high;
        most = fmax(most, high);
        highest = large > largest ? i : highest;
        largest = fmax(largest, large);
    }
    for (size_t i = 0; i < n; i++)
        figure_spark(o, most > 0 ? height(r, t, i, s, heap) / most : 0);
    return highest;
}

/* 1.2 MB ± 3.4 KB */
static void show_figure(output *o, const report *r, figure f) {
    output_format(o, "%s%s", report_amount(r, f.value).text, report_beside(r, &f).text);
}

/* 1.2 MB/s ± 3.4 KB/s, if it came in so many seconds. */
static void show_rate(output *o, const report *r, const cost *c, double seconds) {
    figure f = report_figure(r, c);
    double *const parts[] = {&f.value, &f.low, &f.high, &f.margin};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] /= seconds;
    output_format(o, "%s%s", report_rate(r, f.value).text, report_beside_rate(r, &f).text);
}

/* What stands behind the points of a row. */
static void show_most(output *o, const report *r, const timeline *t, series s, int heap,
                      size_t highest) {
    const timeline_point *point = &t->points.items[highest];
    const bool peak = is_peak(t, highest, s);
    const cost c = cost_at(r, t, highest, s, heap);
    output_text(o, "  most ");
    if (is_rate(s))
        show_rate(o, r, &c, seconds_of(point, s));
    else
        show_figure(
            o, r, peak ? peak_figure(r, t) : report_figure_within(r, may_at(r, t, highest, s), &c));
    output_format(o, " at %s\n", figure_duration(peak ? t->peak.at.time : point->begin).text);
}

static bool is_empty(const report *r, const timeline *t, series s, int heap) {
    for (size_t i = 0; i < t->points.count; i++)
        if (known_cost_at(r, t, i, s, heap).samples > 0 || is_peak(t, i, s))
            return false;
    return true;
}

static void show_series(output *o, const report *r, const timeline *t, const char *name, series s,
                        int heap) {
    if (is_empty(r, t, s, heap))
        return;
    output_format(o, "%*s%-*s", s == LIVE_HEAP ? 4 : 2, "", s == LIVE_HEAP ? LABEL - 2 : LABEL,
                  name);
    size_t highest = show_sparks(o, r, t, s, heap);
    show_most(o, r, t, s, heap, highest);
}

static void show_gauge(output *o, const timeline *t, const gauge *g) {
    const timeline_point *points = t->points.items;
    size_t n = t->points.count;
    const gauge_reading *most = NULL;
    for (size_t i = 0; i < n; i++) {
        const gauge_reading *r = gauge_most(g, points[i].begin, points[i].end);
        if (r && (!most || r->bytes > most->bytes))
            most = r;
    }
    if (!most)
        return;
    output_format(o, "  %-*s", LABEL, g->name);
    for (size_t i = 0; i < n; i++) {
        const gauge_reading *r = gauge_most(g, points[i].begin, points[i].end);
        figure_spark(o, r && most->bytes ? (double)r->bytes / (double)most->bytes : 0);
    }
    output_format(o, "  most %s at %s\n", figure_bytes((double)most->bytes).text,
                  figure_duration(most->time).text);
}

static void show_gauges(output *o, const timeline_view *view) {
    for (size_t i = 0; i < view->gauges->count; i++)
        show_gauge(o, view->all, &view->gauges->items[i]);
}

static void show_end(output *o, const report *r, const timeline_view *view) {
    const cost end = end_of(r, view->all);
    const bool blocks = r->query->measure == MEASURE_BLOCKS;
    const bool held = r->query->measure == MEASURE_BYTESECONDS;
    output_text(o, held ? "What was live at the end had come to " : "At the end, ");
    show_figure(o, r, report_figure(r, &end));
    if (!held)
        output_text(o, blocks && report_figure(r, &end).value >= 1.5 ? " were live" : " was live");
    for (size_t i = 0; i < view->gauges->count; i++) {
        const gauge *g = &view->gauges->items[i];
        output_text(o, i ? ", " : "; the system saw: ");
        output_format(o, "%s %s", g->name, figure_bytes((double)gauge_last(g)->bytes).text);
    }
    output_text(o, ".\n");
}

/* The ends of the scale below the rows. */
static void show_scale(output *o, const timeline *t) {
    const timeline_point *first = t->points.items, *last = first + t->points.count - 1;
    figure_text end = figure_duration(last->end - 1);
    output_format(o, "  %*s%s … %s, a character is %s\n", LABEL, "",
                  first->begin ? figure_duration(first->begin).text : "0", end.text,
                  figure_duration(first->end - first->begin).text);
}

static void show_sites(output *o, const report *r, const timeline_view *view) {
    if (view->n_sites == 0)
        return;
    output_text(o, is_held(r, LIVE) ? "\nHeld, by site:\n" : "\nLive, by site:\n");
    for (size_t i = 0; i < view->n_sites; i++) {
        const timeline_site *s = &view->sites[i];
        output_text(o, "  ");
        report_place(o, r, s->place, !view->by_function);
        output_char(o, '\n');
        show_series(o, r, &s->line, "", LIVE, 0);
    }
}

static void show_marks(output *o, const report *r, const timeline *t) {
    const profile *p = r->query->profile;
    const timeline_point *last = &t->points.items[t->points.count - 1];
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < p->marks.count; i++) {
        const profile_mark *m = &p->marks.items[i];
        if (m->is_gauge || m->time < t->points.items[0].begin || m->time >= last->end)
            continue;
        if (shown == SHOWN_MARKS) {
            left++;
            continue;
        }
        output_format(o, "%s  %*s  ", shown++ ? "" : "\nMarks:\n", LABEL,
                      figure_duration(m->time).text);
        output_shown(o, m->name);
        output_char(o, '\n');
    }
    if (left)
        output_format(o, "  … %s more; `allotrace info --json` lists all\n",
                      figure_count(left).text);
}

/* What is known without a sample. */
static void show_unsampled(output *o, const report *r, const timeline_view *view) {
    if (view->gauges->count) {
        output_char(o, '\n');
        show_gauges(o, view);
        show_scale(o, view->all);
    }
    show_marks(o, r, view->all);
}

void timeline_text(output *o, const report *r, const timeline_view *view) {
    const timeline *t = view->all;
    if (!report_text_head(o, r)) {
        show_unsampled(o, r, view);
        return;
    }
    output_char(o, '\n');
    show_series(o, r, t, is_held(r, LIVE) ? "held" : "live", LIVE, 0);
    for (int heap = 0; heap < CCT_SOURCES; heap++)
        show_series(o, r, t, heap_names[heap], LIVE_HEAP, heap);
    show_series(o, r, t, "allocated", ALLOCATED, 0);
    show_series(o, r, t, "promoted", PROMOTED, 0);
    show_series(o, r, t, "freed", FREED, 0);
    show_gauges(o, view);
    show_scale(o, t);
    show_end(o, r, view);
    show_sites(o, r, view);
    show_marks(o, r, t);
}

/* ---- JSON and CSV ------------------------------------------------------------------------ */

/* X(name, series, heap) */
#define TIMELINE_COLUMNS(X)                                                                        \
    X("live", LIVE, 0)                                                                             \
    X("live_minor", LIVE_HEAP, MEMTRACE_MINOR)                                                     \
    X("live_major", LIVE_HEAP, MEMTRACE_MAJOR)                                                     \
    X("live_external", LIVE_HEAP, MEMTRACE_EXTERNAL)                                               \
    X("allocated_per_second", ALLOCATED, 0)                                                        \
    X("promoted_per_second", PROMOTED, 0)                                                          \
    X("freed_per_second", FREED, 0)

static const struct {
    const char *name;
    series series;
    int heap;
} columns[] = {
#define TIMELINE_COLUMN(name, series, heap) {name, series, heap},
    TIMELINE_COLUMNS(TIMELINE_COLUMN)
#undef TIMELINE_COLUMN
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static estimate amount_of(const report *r, const timeline *t, size_t i, series s, int heap) {
    const cost c = cost_at(r, t, i, s, heap);
    const double seconds = seconds_of(&t->points.items[i], s);
    const figure f = report_figure_within(r, may_at(r, t, i, s), &c);
    return (estimate){.value = f.value / seconds, .low = f.low / seconds, .high = f.high / seconds};
}

static void json_amount(output *o, const report *r, const timeline *t, size_t i, series s,
                        int heap) {
    estimate e = amount_of(r, t, i, s, heap);
    figure f = {.samples = cost_at(r, t, i, s, heap).samples,
                .value = e.value,
                .low = e.low,
                .high = e.high};
    output_char(o, '{');
    figure_json(o, &f);
    output_char(o, '}');
}

static void json_total(output *o, const char *name, figure f) {
    output_format(o, ",\"%s\":{", name);
    figure_json(o, &f);
}

static void json_place(output *o, const profile_location *l, bool with_line) {
    output_text(o, "\"function\":");
    if (!l) {
        output_text(o, "null,\"file\":null");
        return;
    }
    output_json(o, l->function);
    output_text(o, ",\"file\":");
    output_json(o, l->file);
    if (with_line)
        output_format(o, ",\"line\":%" PRIu32, l->line);
}

static void json_sites(output *o, const report *r, const timeline_view *view) {
    output_text(o, ",\n \"sites\":[");
    for (size_t i = 0; i < view->n_sites; i++) {
        const timeline_site *s = &view->sites[i];
        output_text(o, i ? ",\n  {" : "\n  {");
        json_place(o, s->place, !view->by_function);
        json_total(o, "peak", peak_figure(r, &s->line));
        output_format(o, ",\"time\":%" PRIu64 "},\"live\":[", s->line.peak.at.time);
        for (size_t j = 0; j < s->line.points.count; j++) {
            output_text(o, j ? "," : "");
            json_amount(o, r, &s->line, j, LIVE, 0);
        }
        output_text(o, "]}");
    }
    output_char(o, ']');
}

/* At the ends of the points, as what is live is; null: it was not read yet. */
static void json_gauge(output *o, const timeline *t, const gauge *g) {
    const gauge_reading *most = gauge_most(g, 0, UINT64_MAX), *last = gauge_last(g);
    output_text(o, "{\"name\":");
    output_json(o, g->name);
    output_format(o,
                  ",\"readings\":%zu,\"most\":%" PRIu64 ",\"time\":%" PRIu64 ",\"last\":%" PRIu64
                  ",\"values\":[",
                  g->readings.count, most->bytes, most->time, last->bytes);
    for (size_t i = 0; i < t->points.count; i++) {
        const gauge_reading *r = gauge_at(g, t->points.items[i].end - 1);
        output_text(o, i ? "," : "");
        if (r)
            output_format(o, "%" PRIu64, r->bytes);
        else
            output_text(o, "null");
    }
    output_text(o, "]}");
}

static void json_gauges(output *o, const timeline_view *view) {
    output_text(o, ",\n \"gauges\":[");
    for (size_t i = 0; i < view->gauges->count; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_gauge(o, view->all, &view->gauges->items[i]);
    }
    output_char(o, ']');
}

void timeline_json(output *o, const report *r, const timeline_view *view) {
    const timeline *t = view->all;
    output_char(o, '{');
    report_json_head(o, r);
    json_total(o, "peak", peak_figure(r, t));
    output_format(o, ",\"time\":%" PRIu64 "}", t->peak.at.time);
    const cost end = end_of(r, t);
    json_total(o, "at_end", report_figure(r, &end));
    output_text(o, "},\n \"points\":[");
    for (size_t i = 0; i < t->points.count; i++) {
        const timeline_point *point = &t->points.items[i];
        output_format(o, "%s{\"begin\":%" PRIu64 ",\"end\":%" PRIu64, i ? ",\n  " : "\n  ",
                      point->begin, point->end);
        for (int j = 0; j < N_COLUMNS; j++) {
            output_format(o, ",\"%s\":", columns[j].name);
            json_amount(o, r, t, i, columns[j].series, columns[j].heap);
        }
        output_char(o, '}');
    }
    output_char(o, ']');
    json_gauges(o, view);
    json_sites(o, r, view);
    output_text(o, "}\n");
}

void timeline_csv(output *o, const report *r, const timeline_view *view) {
    output_text(o, "begin_us,end_us");
    for (int j = 0; j < N_COLUMNS; j++)
        output_format(o, ",%s,%s_low,%s_high,%s_samples", columns[j].name, columns[j].name,
                      columns[j].name, columns[j].name);
    for (size_t i = 0; i < view->gauges->count; i++) {
        output_char(o, ',');
        output_csv(o, view->gauges->items[i].name);
    }
    output_char(o, '\n');
    for (size_t i = 0; i < view->all->points.count; i++) {
        const timeline_point *point = &view->all->points.items[i];
        output_format(o, "%" PRIu64 ",%" PRIu64, point->begin, point->end);
        for (int j = 0; j < N_COLUMNS; j++) {
            estimate e = amount_of(r, view->all, i, columns[j].series, columns[j].heap);
            output_format(o, ",%.0f,%.0f,%.0f,%" PRIu64, e.value, e.low, e.high,
                          cost_at(r, view->all, i, columns[j].series, columns[j].heap).samples);
        }
        for (size_t j = 0; j < view->gauges->count; j++) {
            const gauge_reading *reading = gauge_at(&view->gauges->items[j], point->end - 1);
            output_char(o, ',');
            if (reading)
                output_u64(o, reading->bytes, 0, ' ');
        }
        output_char(o, '\n');
    }
}
