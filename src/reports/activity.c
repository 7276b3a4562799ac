/* activity.c: on narrow terminals, columns are dropped one after the other. The head has the size
 * of the process as the system reports it, for comparison with what is recorded. */
#include "reports/activity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile/gauges.h"

#define RSS "rss" /* the name of a gauge */

/* Terminals need these widths to show the columns of these names, or so many columns. */
enum { FOR_SAMPLES = 104, FOR_MARGINS = 92, FOR_ALLOCATED = 80, FOR_THREE = 60, FOR_TWO = 44 };

static const activity_report *report_of(const table *t) {
    return t->context;
}

static const profile *profile_of(const activity_report *a) {
    return a->report->query->profile;
}

static figure bytes(const activity_report *a, uint64_t samples) {
    return figure_of_cached(a->report->figures, profile_of(a), samples);
}

/* ---- columns ----------------------------------------------------------------------------- */

static figure rate_of(const activity_report *a, const activity_site *s) {
    const double seconds = (double)(a->activity->to - a->activity->from) / 1e6;
    figure f = bytes(a, s->recent);
    f.value /= seconds;
    f.low /= seconds;
    f.high /= seconds;
    f.margin /= seconds;
    return f;
}

static figure growth_of(const activity_report *a, const activity_site *s) {
    const double word = profile_of(a)->info.word_size / 8.0, rate = profile_of(a)->info.sample_rate;
    estimate e = estimate_difference(estimate_words(s->came, rate), estimate_words(s->went, rate));
    e = estimate_times(e, word);
    return figure_of_estimate(e, s->came + s->went);
}

static const activity_site *site_of(const void *row) {
    return row;
}

TABLE_CELL(live, (cell){.amount = bytes(report_of(t), site_of(row)->live)})
TABLE_CELL(allocated, (cell){.amount = bytes(report_of(t), site_of(row)->allocated)})
TABLE_CELL(rate, (cell){.amount = rate_of(report_of(t), row)})

/* Certain growth is highlighted. */
static cell growth(const table *t, const void *row) {
    const figure f = growth_of(report_of(t), row);
    return (cell){.amount = f, .tone = f.low > 0 ? TONE_BAD : f.high < 0 ? TONE_GOOD : TONE_NONE};
}

TABLE_CELL(samples, (cell){.count = site_of(row)->allocated})
TABLE_CELL(place, (cell){.place = site_of(row)->place})

static bool is_wide(const table *t, unsigned least) {
    return report_of(t)->width == 0 || report_of(t)->width >= least;
}

static bool is_order(const table *t, activity_order order) {
    return report_of(t)->order == order;
}

static bool has_live(const table *t) {
    return is_wide(t, FOR_TWO) || is_order(t, ACTIVITY_BY_LIVE);
}

static bool has_allocated(const table *t) {
    return is_wide(t, FOR_ALLOCATED) || is_order(t, ACTIVITY_BY_ALLOCATED);
}

/* Without times, nothing is known of the last seconds. */
static bool has_times(const activity_report *a) {
    return profile_has_times(profile_of(a));
}

static bool has_rate(const table *t) {
    return has_times(report_of(t)) && (is_wide(t, FOR_THREE) || is_order(t, ACTIVITY_BY_RATE));
}

static bool has_growth(const table *t) {
    return has_times(report_of(t)) && (is_wide(t, FOR_THREE) || is_order(t, ACTIVITY_BY_GROWTH));
}

static bool has_samples(const table *t) {
    return is_wide(t, FOR_SAMPLES);
}

/* The first columns are in the order of activity_order. */
static const table_column columns[ACTIVITY_COLUMNS] = {
    {.name = "live", .kind = COLUMN_AMOUNT, .get = live, .has = has_live, .help = "live now"},
    {.name = "allocated",
     .kind = COLUMN_AMOUNT,
     .no_error = true,
     .get = allocated,
     .has = has_allocated,
     .help = "allocated since the recording began"},
    {.name = "rate",
     .kind = COLUMN_RATE,
     .no_error = true,
     .get = rate,
     .has = has_rate,
     .help = "allocated in the last seconds, each second"},
    {.name = "growth",
     .kind = COLUMN_AMOUNT,
     .has_sign = true,
     .no_error = true,
     .get = growth,
     .has = has_growth,
     .help = "how much more is live than some seconds ago"},
    {.name = "samples",
     .kind = COLUMN_COUNT,
     .get = samples,
     .has = has_samples,
     .help = "sampled words, of all that was allocated"},
    {.name = "place", .title = "site", .kind = COLUMN_PLACE, .get = place, .help = "the site"},
};

/* ---- documents --------------------------------------------------------------------------- */

void activity_rows(document *d, activity_report *a) {
    const size_t n = a->activity->sites.count;
    memcpy(a->columns, columns, sizeof columns);
    snprintf(a->title, sizeof a->title, "▼ %s", columns[a->order].name);
    a->columns[a->order].title = a->title;
    a->columns[ACTIVITY_BY_LIVE].no_error = a->width > 0 && a->width < FOR_MARGINS;
    const table rows = {.name = "sites",
                        TABLE_COLUMNS(a->columns),
                        .rows = a->activity->sites.items,
                        .stride = sizeof *a->activity->sites.items,
                        .n = a->shown < n ? a->shown : n,
                        .context = a,
                        .unit = UNIT_BYTES,
                        .by_line = true,
                        .no_name = TABLE_NO_STACK};
    document_rows(d, &rows, IN_ALL, NULL);
}

static void say_program(document *d, const activity_report *a) {
    if (!has_times(a)) {
        document_title(d, report_program(profile_of(a)), ", imported without times");
        return;
    }
    document_title(
        d, report_program(profile_of(a)),
        document_text(d, ", process %llu, %s %s", (unsigned long long)a->pid,
                      a->is_running ? "recorded for"
                      : a->is_cut   ? "whose trace can no longer be read, after"
                                    : "ended after",
                      figure_duration(a->is_running ? a->time / 100000 * 100000 : a->time).text));
}

/* Adds the size of the process, as the recorder last read it from the system. */
static void say_resident(document *d, const activity_report *a) {
    gauge_list gauges;
    if (!gauges_find(profile_of(a), &gauges))
        return;
    for (size_t i = 0; i < gauges.count; i++)
        if (strcmp(gauges.items[i].name, RSS) == 0)
            document_note(d, "RSS %s",
                          figure_bytes((double)gauge_last(&gauges.items[i])->bytes).text);
    gauges_free(&gauges);
}

static const char *window_text(document *d, const activity_report *a) {
    const double seconds = (double)(a->activity->to - a->activity->from) / 1e6;
    return document_text(d, "last %.*f s", seconds < 1 ? 1 : 0, seconds);
}

static void say_rate(document *d, const activity_report *a) {
    const char *window = window_text(d, a);
    document_note(d, "%s/s in the %s", figure_bytes(rate_of(a, &a->activity->total).value).text,
                  window ? window : "");
}

void activity_head(document *d, const activity_report *a) {
    const activity_site *all = &a->activity->total;
    const figure held = bytes(a, all->live), peak = bytes(a, a->peak.samples);
    say_program(d, a);
    document_note(d, "live %s%s", figure_bytes(held.value).text,
                  figure_beside(figure_margin(&held)).text);
    if (a->peak.samples > 0)
        document_note(d, "peak %s at %s", figure_bytes(peak.value).text,
                      figure_duration(a->peak.at.time).text);
    document_note(d, "allocated %s", figure_bytes(bytes(a, all->allocated).value).text);
    if (has_times(a))
        say_rate(d, a);
    say_resident(d, a);
}
