/* peak.c: the figures of the peak are lists (PEAK_TIMES, PEAK_AMOUNTS), from which columns and
 * cells are made. Shares by heap and by age are tables. The table of sites is that of hotspots. */
#include "reports/peak.h"

#include <string.h>

#include "profile/gauges.h"

/* ---- figures of the peak --------------------------------------------------------------- */

static const peak_report *report_at(const void *row) {
    return row;
}

static figure figure_at(const void *row, uint64_t samples) {
    return figure_of(report_at(row)->report->query->profile, samples);
}

/* X(name, value, help): columns of figures. */
#define PEAK_TIMES(X)                                                                              \
    X(time_low, low, "the earliest time at which the peak may have been, in microseconds")         \
    X(time_high, high, "the latest")                                                               \
    X(own_time, own.at.time, "when most was live of what the filter keeps")
#define PEAK_AMOUNTS(X)                                                                            \
    X(freed_later, later, "of what was live at the peak: freed before the end")                    \
    X(at_end, end_samples, "live at the end")

#define PEAK_TIME(name_, field, help_)                                                             \
    TABLE_CELL(moment_##name_, (cell){.count = report_at(row)->peak->field})
PEAK_TIMES(PEAK_TIME)
#undef PEAK_TIME

#define PEAK_AMOUNT(name_, field, help_)                                                           \
    TABLE_CELL(moment_##name_, (cell){.amount = figure_at(row, report_at(row)->peak->field)})
PEAK_AMOUNTS(PEAK_AMOUNT)
#undef PEAK_AMOUNT

static figure own_peak(const peak_report *k) {
    return figure_between(k->report->query->profile, k->peak->own.samples, k->peak->own_spread);
}

TABLE_CELL(moment_own_peak, (cell){.amount = own_peak(row)})

static const table_column moment_columns[] = {
#define PEAK_TIME(name_, field, help_)                                                             \
    {.name = #name_, .kind = COLUMN_DURATION, .get = moment_##name_, .help = help_},
    PEAK_TIMES(PEAK_TIME)
#undef PEAK_TIME
#define PEAK_AMOUNT(name_, field, help_)                                                           \
    {.name = #name_, .kind = COLUMN_AMOUNT, .get = moment_##name_, .help = help_},
        PEAK_AMOUNTS(PEAK_AMOUNT)
#undef PEAK_AMOUNT
            {.name = "own_peak",
             .kind = COLUMN_AMOUNT,
             .get = moment_own_peak,
             .help = "the most that was live of what the filter keeps"},
};

/* ---- by heap and by age ------------------------------------------------------------------ */

static const peak_share *share_at(const void *row) {
    return row;
}

TABLE_CELL(share_name, (cell){.text = share_at(row)->name})
TABLE_CELL(share_of_peak, (cell){.number = figure_percent(share_at(row)->samples,
                                                          report_at(t->context)->peak->samples) /
                                           100})
TABLE_CELL(share_amount, (cell){.amount = figure_at(t->context, share_at(row)->samples)})

#define PEAK_SHARES(name_, help_)                                                                  \
    {                                                                                              \
        {.name = "share",                                                                          \
         .kind = COLUMN_SHARE,                                                                     \
         .get = share_of_peak,                                                                     \
         .help = "the part of the peak, 0 to 1"},                                                  \
            {.name = "", .kind = COLUMN_AMOUNT, .get = share_amount, .help = "live in it"}, {      \
            .name = name_, .kind = COLUMN_TEXT, .get = share_name, .help = help_                   \
        }                                                                                          \
    }

static const table_column heap_columns[] = PEAK_SHARES("heap", "minor, major, or external");
static const table_column age_columns[] = PEAK_SHARES("age", "how long the blocks had lived");

static void fill_shares(peak_report *k) {
    for (int i = 0; i < CCT_SOURCES; i++)
        k->heaps[i] = (peak_share){.name = profile_heap_names[i], .samples = k->peak->heaps[i]};
    for (int i = 0; i < PEAK_AGES; i++)
        k->ages[i] = (peak_share){.name = lifetime_class_text((lifetime_class)i),
                                  .samples = k->peak->ages[i]};
}

/* Returns the number of heaps in use. With only one heap there is nothing to compare. */
static size_t n_heaps_used(const peak_report *k) {
    size_t n = 0;
    for (int i = 0; i < CCT_SOURCES; i++)
        n += k->peak->heaps[i] > 0;
    return n;
}

static void add_shares(document *d, const peak_report *k) {
    const table heaps = {.name = "heaps",
                         TABLE_COLUMNS(heap_columns),
                         .rows = k->heaps,
                         .stride = sizeof(peak_share),
                         .n = CCT_SOURCES,
                         .context = k,
                         .hides_empty = true};
    const table ages = {.name = "ages",
                        TABLE_COLUMNS(age_columns),
                        .rows = k->ages,
                        .stride = sizeof(peak_share),
                        .n = PEAK_AGES,
                        .context = k,
                        .hides_empty = true};
    document_rows(d, &heaps, n_heaps_used(k) > 1 ? IN_TEXT | IN_JSON : IN_JSON,
                  k->peak->heaps[MEMTRACE_EXTERNAL] > 0 ? "By heap (external: outside of it)"
                                                        : "By heap");
    if (profile_has_times(k->report->query->profile))
        document_rows(d, &ages, IN_TEXT | IN_JSON, "By age at the peak");
}

/* ---- the document ------------------------------------------------------------------------ */

static void say_own(document *d, const peak_report *k) {
    const peak *p = k->peak;
    const figure own = own_peak(k);
    if (p->own.samples > 0 && (p->own.at.time != p->at.time || p->own.at.place != p->at.place))
        document_note(d, "The blocks matching the filter peaked at %s: %s (%s).",
                      figure_duration(p->own.at.time).text, figure_bytes(own.value).text,
                      figure_margin(&own).text);
}

static void say_when(document *d, const peak *p) {
    const figure_text low = figure_duration(p->low), high = figure_duration(p->high);
    if (strcmp(low.text, high.text) != 0)
        document_note(d, "The peak may have occurred anywhere from %s to %s.", low.text, high.text);
    else if (p->low < p->high)
        document_note(d, "The peak may have occurred up to %s earlier or later.",
                      figure_duration(p->high - p->low).text);
}

static void say_fate(document *d, const peak_report *k) {
    const figure later = figure_at(k, k->peak->later), end = figure_at(k, k->peak->end_samples);
    say_when(d, k->peak);
    document_note(d, "%s of it (%s) was freed later; %s (%s) was live at the end.",
                  figure_bytes(later.value).text, figure_margin(&later).text,
                  figure_bytes(end.value).text, figure_margin(&end).text);
}

/* Says what was reported last before the peak. If RSS is larger than live memory, the next question
 * is what a runtime's heap takes besides its blocks. */
static void say_read(document *d, const peak_report *k) {
    gauge_list list;
    const char *all = "";
    const uint64_t time = k->peak->at.time;
    if (!gauges_find(k->report->query->profile, &list))
        return;
    const char *const source = gauges_source(&list);
    for (size_t i = 0; all && i < list.count; i++) {
        const gauge *g = &list.items[i];
        const gauge_reading *r = gauge_at(g, time);
        if (r)
            all = document_text(d, "%s%s %s %s", all, *all ? "," : "", g->name,
                                figure_bytes((double)r->bytes).text);
    }
    if (all && *all && strcmp(source, "the system") != 0)
        document_note(d, "Last reported by %s before the peak:%s.", source, all);
    gauges_free(&list);
}

TABLE_CELL(sites_measure,
           (cell){.text = measure_infos[report_at(row)->sites->report->query->measure].name})
TABLE_CELL(sites_unit, (cell){.text = figure_unit(report_unit(report_at(row)->sites->report))})

static cell sites_total(const table *t, const void *row) {
    const report *r = report_at(row)->sites->report;
    (void)t;
    return (cell){.amount = report_figure(r, &r->query->total)};
}

static const table_column sites_columns[] = {
    {.name = "sites_measure",
     .kind = COLUMN_TEXT,
     .get = sites_measure,
     .help = "what is added up by site, if not what was live at the peak"},
    {.name = "sites_unit", .kind = COLUMN_TEXT, .get = sites_unit, .help = "its unit"},
    {.name = "sites_total", .kind = COLUMN_AMOUNT, .get = sites_total, .help = "of all sites"},
};

static void add_sites(document *d, const peak_report *k) {
    const report *r = k->sites->report;
    if (r == k->report) {
        hotspots_rows(d, k->sites, "By site");
        return;
    }
    const table about = {.name = "", TABLE_COLUMNS(sites_columns), .rows = k, .n = 1};
    const figure all = report_figure(r, &r->query->total);
    document_object(d, &about, IN_JSON);
    const char *heading =
        document_text(d, "By site, as %s (%s%s in total)", measure_infos[r->query->measure].name,
                      figure_amount(report_unit(r), all.value).text,
                      figure_beside(figure_margin_in(report_unit(r), &all)).text);
    hotspots_rows(d, k->sites, heading);
}

void peak_document(document *d, peak_report *k) {
    const table moment = {.name = "", TABLE_COLUMNS(moment_columns), .rows = k, .n = 1};
    const bool any = report_head(d, k->report);
    fill_shares(k);
    document_object(d, &moment, IN_JSON);
    say_own(d, k);
    if (any)
        say_fate(d, k);
    say_read(d, k);
    add_shares(d, k);
    add_sites(d, k);
}
