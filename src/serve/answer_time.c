/* answer_time.c: `/api/timeline` and `/api/peaks`: memory as time went by. */
#include <inttypes.h>
#include <stdio.h>

#include "profile/gauges.h"
#include "query/peaks.h"
#include "query/timeline.h"
#include "serve/request.h"

enum { MAX_BUCKETS = 4096, PEAK_POINTS = 8192 };
#define PEAK_SHARE 0.02 /* of the largest: by so much memory must fall on both sides */

/* ---- timeline ---------------------------------------------------------------------------- */

typedef uint64_t point_number(const timeline_point *t);

static uint64_t live(const timeline_point *t) {
    return cct_sum(t->live);
}

static uint64_t live_minor(const timeline_point *t) {
    return t->live[MEMTRACE_MINOR];
}

static uint64_t live_major(const timeline_point *t) {
    return t->live[MEMTRACE_MAJOR];
}

static uint64_t live_external(const timeline_point *t) {
    return t->live[MEMTRACE_EXTERNAL];
}

static uint64_t allocated(const timeline_point *t) {
    return cct_sum(t->allocated);
}

static uint64_t promoted(const timeline_point *t) {
    return t->promoted;
}

static uint64_t freed(const timeline_point *t) {
    return t->freed;
}

enum { PART_VALUE, PART_LOW, PART_HIGH, PART_SAMPLES };

/* X(name, number, part) */
#define TIMELINE_COLUMNS(X)                                                                        \
    X("live", live, PART_VALUE)                                                                    \
    X("live_low", live, PART_LOW)                                                                  \
    X("live_high", live, PART_HIGH)                                                                \
    X("live_samples", live, PART_SAMPLES)                                                          \
    X("live_minor", live_minor, PART_VALUE)                                                        \
    X("live_major", live_major, PART_VALUE)                                                        \
    X("live_external", live_external, PART_VALUE)                                                  \
    X("allocated", allocated, PART_VALUE)                                                          \
    X("allocated_low", allocated, PART_LOW)                                                        \
    X("allocated_high", allocated, PART_HIGH)                                                      \
    X("allocated_samples", allocated, PART_SAMPLES)                                                \
    X("promoted", promoted, PART_VALUE)                                                            \
    X("freed", freed, PART_VALUE)

static double part_of(reading *r, uint64_t samples, int part) {
    if (part == PART_VALUE)
        return cost_bytes(&r->profile, samples);
    figure f = reading_figure(r, samples);
    return part == PART_LOW ? f.low : part == PART_HIGH ? f.high : (double)samples;
}

static void write_points(output *o, reading *r, const char *name, const timeline *t) {
    static const struct {
        const char *name;
        point_number *number;
        int part;
    } columns[] = {
#define TIMELINE_COLUMN(name_, number_, part_) {.name = name_, .number = number_, .part = part_},
        TIMELINE_COLUMNS(TIMELINE_COLUMN)
#undef TIMELINE_COLUMN
    };
    output_format(o, ",\n\"%s\":{", name);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        json_column c;
        column_start(&c, o, columns[k].name, k == 0);
        for (size_t i = 0; i < t->points.count; i++)
            column_number(&c, part_of(r, columns[k].number(&t->points.items[i]), columns[k].part));
        column_end(&c);
    }
    output_char(o, '}');
}

static void write_scale(output *o, const timeline *t) {
    const timeline_point *points = t->points.items;
    size_t n = t->points.count;
    output_format(o,
                  ",\n\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"buckets\":%zu,\"width\":%" PRIu64,
                  points[0].begin, points[n - 1].end - 1, n, points[0].end - points[0].begin);
}

/* What the system saw, at the ends of the points; null: it was not read yet. */
static bool write_gauges(request *r, const profile *p, const timeline *t) {
    gauge_list list;
    if (!gauges_find(p, &list))
        return request_no_memory(r);
    output_text(r->o, ",\n\"gauges\":[");
    for (size_t i = 0; i < list.count; i++) {
        json_column c;
        output_text(r->o, i ? ",\n{\"name\":" : "{\"name\":");
        output_json(r->o, list.items[i].name);
        column_start(&c, r->o, "values", false);
        for (size_t k = 0; k < t->points.count; k++) {
            const gauge_reading *at = gauge_at(&list.items[i], t->points.items[k].end - 1);
            if (at)
                column_integer(&c, (int64_t)at->bytes);
            else
                column_null(&c);
        }
        column_end(&c);
        output_char(r->o, '}');
    }
    output_char(r->o, ']');
    gauges_free(&list);
    return true;
}

typedef struct timeline_making {
    const profile *profile;
    const timeline_spec *spec;
} timeline_making;

static void release_timeline(void *value) {
    timeline_free(value);
    free(value);
}

static bool make_timeline(void *context, cache_value *value) {
    const timeline_making *m = context;
    timeline *t = malloc(sizeof *t);
    if (!t || !timeline_query(m->profile, m->spec, t)) {
        free(t);
        return false;
    }
    *value = (cache_value){.value = t,
                           .size = sizeof *t + t->points.capacity * sizeof *t->points.items,
                           .release = release_timeline};
    return true;
}

/* That of all blocks stays the same whatever the filter. */
static cache_entry *find_all(request *r, const asked *a, const timeline_spec *spec) {
    timeline_making m = {.profile = &a->reading->profile, .spec = spec};
    char key[160];
    snprintf(key, sizeof key, "%zu %" PRIu64 " timeline %" PRIu64 " %" PRIu64 " %" PRIu64, a->trace,
             a->reading->serial, spec->from, spec->to, spec->points);
    return cache_get(r->viewer->cache, key, make_timeline, &m);
}

static bool write_timeline(request *r, asked *a, const timeline_spec *spec) {
    timeline filtered = {0};
    timeline_spec of_kept = *spec;
    if (!asked_rows(r, a, &of_kept.kept))
        return false;
    cache_entry *all = find_all(r, a, spec);
    bool ok = all && (!of_kept.kept || timeline_query(&a->reading->profile, &of_kept, &filtered));
    if (ok) {
        output_char(r->o, '{');
        write_head(r->o, a);
        write_scale(r->o, cache_entry_value(all));
        write_points(r->o, a->reading, "all", cache_entry_value(all));
        if (of_kept.kept)
            write_points(r->o, a->reading, "filtered", &filtered);
        ok = write_gauges(r, &a->reading->profile, cache_entry_value(all));
        output_text(r->o, "}\n");
    }
    cache_release(r->viewer->cache, all);
    timeline_free(&filtered);
    return ok || request_no_memory(r);
}

bool answer_timeline(request *r) {
    timeline_spec spec = {.to = TIMELINE_END, .points = 400, .without_peak = true};
    asked a = {.needs_blocks = true};
    bool ok = request_integer(r, "buckets", 1, MAX_BUCKETS, &spec.points) &&
              request_moment(r, "from", &spec.from) && request_moment(r, "to", &spec.to) &&
              (spec.from <= spec.to || request_refuse(r, "from", 0, "is later than `to`")) &&
              request_ask(r, &a) && write_timeline(r, &a, &spec);
    asked_close(r, &a);
    return ok;
}

/* ---- peaks ------------------------------------------------------------------------------- */

/* The points of a timeline miss the very peak, which is known, even if nothing is live at any. */
static bool correct_first(const timeline *t, peaks_list *list) {
    const peaks_entry first = {
        .time = t->peak.at.time, .samples = t->peak.samples, .fall = t->peak.samples};
    if (list->count)
        list->items[0] = first;
    return list->count || !first.samples || vec_push(list, first);
}

static int64_t number_time(const void *thing) {
    const peaks_entry *e = thing;
    return (int64_t)e->time;
}

static int64_t number_samples(const void *thing) {
    const peaks_entry *e = thing;
    return (int64_t)e->samples;
}

/* As sure as the sample, or, where each block is known, the order of what threads did. The first is
 * the most that was live, whenever that was. */
static bool find_figures(const asked *a, const timeline *t, const uint8_t *kept,
                         const peaks_list *list, figure *figures) {
    const profile *p = &a->reading->profile;
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++) {
        const peaks_entry *e = &list->items[i];
        blocks_spread spread = t->spread;
        if (i > 0 && p->info.sample_rate >= 1)
            ok = blocks_spread_at(&p->table, kept, blocks_end_of(e->time), e->samples, &spread);
        figures[i] = figure_between(p, e->samples, spread);
    }
    return ok;
}

static double part_of_figure(const figure *f, int part) {
    return part == PART_VALUE ? f->value : part == PART_LOW ? f->low : f->high;
}

static void write_peaks(output *o, const asked *a, const peaks_list *list, const figure *figures) {
    static const char *const names[] = {"value", "low", "high"};
    output_char(o, '{');
    write_head(o, a);
    output_text(o, ",\n\"peaks\":{\"count\":");
    output_format(o, "%zu", list->count);
    write_column(o, "time", list->items, sizeof *list->items, list->count, number_time);
    for (int k = 0; k < 3; k++) {
        json_column c;
        column_start(&c, o, names[k], false);
        for (size_t i = 0; i < list->count; i++)
            column_number(&c, part_of_figure(&figures[i], k));
        column_end(&c);
    }
    write_column(o, "samples", list->items, sizeof *list->items, list->count, number_samples);
    output_text(o, "}}\n");
}

static bool find_peaks(request *r, asked *a, uint64_t n) {
    timeline_spec spec = {.to = TIMELINE_END, .points = PEAK_POINTS};
    timeline t;
    peaks_list list;
    if (!asked_rows(r, a, &spec.kept))
        return false;
    if (!timeline_query(&a->reading->profile, &spec, &t))
        return request_no_memory(r);
    bool ok = peaks_query(&t, PEAK_SHARE, (size_t)n, &list);
    if (ok) {
        ok = correct_first(&t, &list);
        figure *figures = malloc((list.count + 1) * sizeof *figures);
        ok = ok && figures && find_figures(a, &t, spec.kept, &list, figures);
        if (ok)
            write_peaks(r->o, a, &list, figures);
        free(figures);
        vec_free(&list);
    }
    timeline_free(&t);
    return ok || request_no_memory(r);
}

bool answer_peaks(request *r) {
    uint64_t n = 10;
    asked a = {.needs_blocks = true};
    bool ok = request_integer(r, "n", 1, 100, &n) && request_ask(r, &a) && find_peaks(r, &a, n);
    asked_close(r, &a);
    return ok;
}
