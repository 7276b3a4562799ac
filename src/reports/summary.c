/* summary.c: the rows are those of the detailed reports, so that each number has only one
 * definition. */
#include "reports/summary.h"

#include <string.h>
#include <time.h>

#include "profile/gauges.h"
#include "reports/resident.h"

static const summary_report *summary_of(const void *row) {
    return row;
}

/* ---- the peak ---------------------------------------------------------------------------- */

static figure live(const summary_report *s, uint64_t samples) {
    return figure_of(s->report->query->profile, samples);
}

TABLE_CELL(peak_time, (cell){.count = summary_of(row)->peak->at.time})

static figure peak_figure(const summary_report *s) {
    return figure_between(s->report->query->profile, s->peak->own.samples, s->peak->own_spread);
}

TABLE_CELL(peak_live, (cell){.amount = peak_figure(row)})
TABLE_CELL(peak_end, (cell){.amount = live(row, summary_of(row)->peak->end_samples)})

static const table_column peak_columns[] = {
    {.name = "time",
     .kind = COLUMN_DURATION,
     .get = peak_time,
     .help = "when most was live, in microseconds"},
    {.name = "", .kind = COLUMN_AMOUNT, .get = peak_live, .help = "live then"},
    {.name = "at_end", .kind = COLUMN_AMOUNT, .get = peak_end, .help = "live at the end"},
};

static void add_peak(document *d, const summary_report *s) {
    const table row = {.name = "peak", TABLE_COLUMNS(peak_columns), .rows = s, .n = 1};
    const figure most = peak_figure(s), end = live(s, s->peak->end_samples);
    document_object(d, &row, IN_JSON);
    document_note(d, "%s live at the peak, at %s (%s); %s (%s) live at the end.",
                  figure_bytes(most.value).text, figure_duration(s->peak->at.time).text,
                  figure_margin(&most).text, figure_bytes(end.value).text,
                  figure_margin(&end).text);
    document_hint(d, "More: allotrace peak %s", s->trace);
}

/* For a trace that was imported as sums. If none of its blocks is freed, nothing is known about
 * what is live. */
static void add_live(document *d, const summary_report *s) {
    const figure end = live(s, s->peak->end_samples);
    if (s->peak->end_samples == s->report->query->total.samples)
        return;
    document_note(d, "%s (%s) live at the end.", figure_bytes(end.value).text,
                  figure_margin(&end).text);
    document_hint(d, "More: allotrace tree --measure live %s", s->trace);
}

/* ---- the system --------------------------------------------------------------------------- */

/* Explains it if much more is in RAM than is live, according to the recorded heap. */
static void add_rss(document *d, const summary_report *s) {
    const figure end = live(s, s->peak->end_samples);
    gauge_list gauges;
    if (!gauges_find(s->report->query->profile, &gauges)) {
        d->failed = true;
        return;
    }
    const resident_live known = {.peak = peak_figure(s), .end = end, .peak_time = s->peak->at.time};
    if (resident_explain(d, &gauges, &known))
        document_hint(d, "More: allotrace timeline %s", s->trace);
    gauges_free(&gauges);
}

/* ---- advice ------------------------------------------------------------------------------ */

static const advice *advice_of(const void *row) {
    return row;
}

TABLE_CELL(advice_share, (cell){.number = figure_share(summary_of(t->context)->report->query,
                                                       &advice_of(row)->cost)})
TABLE_CELL(advice_rule_name, (cell){.text = advice_of(row)->rule->name})
TABLE_CELL(advice_title, (cell){.text = advice_of(row)->rule->title})

static cell advice_place_at(const table *t, const void *row) {
    const summary_report *s = t->context;
    return (cell){.place = s->advice->places.items[advice_of(row)->first_place].location};
}

static const table_column advice_columns[] = {
    {.name = "share",
     .kind = COLUMN_SHARE,
     .get = advice_share,
     .help = "the part of the total, 0 to 1"},
    {.name = "rule",
     .kind = COLUMN_TEXT,
     .in = IN_JSON,
     .get = advice_rule_name,
     .help = "the rule that applies"},
    {.name = "why", .kind = COLUMN_TEXT, .get = advice_title, .help = "what it says"},
    {.name = "place",
     .title = "function",
     .kind = COLUMN_PLACE,
     .get = advice_place_at,
     .help = "the function, or the largest of several"},
};

/* Adds only advice that is worth the work, the largest first. */
static void add_advice(document *d, const summary_report *s) {
    advice *rows = document_keep(d, SUMMARY_ADVICE * sizeof *rows);
    table best = {.name = "advice",
                  TABLE_COLUMNS(advice_columns),
                  .rows = rows,
                  .stride = sizeof *rows,
                  .context = s,
                  .no_name = TABLE_NO_STACK};
    for (size_t i = 0; rows && i < s->advice->items.count && best.n < SUMMARY_ADVICE; i++)
        if (s->advice->items.items[i].rule && s->advice->items.items[i].worth)
            rows[best.n++] = s->advice->items.items[i];
    document_rows(d, &best, IN_JSON, NULL);
    if (best.n == 0)
        return;
    document_rows(d, &best, IN_TEXT, "Advice");
    document_hint(d, "More: allotrace advise %s", s->trace);
}

/* ---- sites ------------------------------------------------------------------------------- */

TABLE_CELL(sites_filter, (cell){.text = summary_of(row)->hiding})

static const table_column sites_columns[] = {
    {.name = "sites_filter",
     .kind = COLUMN_TEXT,
     .get = sites_filter,
     .help = "what sites and growth are filtered by, where most is allocated in libraries"},
};

static void hint_sites(document *d, const summary_report *s, const char *command) {
    if (s->hiding)
        document_hint(d, "More: allotrace %s --filter %s %s", command, s->hiding, s->trace);
    else
        document_hint(d, "More: allotrace %s %s", command, s->trace);
}

static void add_sites(document *d, summary_report *s) {
    const table about = {.name = "", TABLE_COLUMNS(sites_columns), .rows = s, .n = 1};
    if (s->hiding)
        document_object(d, &about, IN_JSON);
    hotspots_rows(d, &s->sites,
                  s->hiding ? "Largest sites, in the code that calls libraries" : "Largest sites");
    hint_sites(d, s, "hotspots");
}

/* ---- what grows -------------------------------------------------------------------------- */

/* Sites are sorted by class, and the first class is growing. */
static void add_growing(document *d, summary_report *s) {
    table rows = leaks_table(d, &s->leaks);
    const size_t growing = s->leaks.classes[LEAKS_GROWING].sites;
    rows.name = "growing";
    rows.n = growing < SUMMARY_GROWING ? growing : SUMMARY_GROWING;
    document_rows(d, &rows, IN_JSON, NULL);
    if (growing == 0) {
        const char *hidden = leaks_hidden(d, s->report->query->profile);
        document_note(d, "No site grows with certainty.%s%s", *hidden ? " " : "", hidden);
        return;
    }
    document_rows(d, &rows, IN_TEXT, "Growing");
    hint_sites(d, s, "leaks");
}

/* ---- the document ------------------------------------------------------------------------ */

static void say_what(document *d, const summary_report *s) {
    const profile *p = s->report->query->profile;
    const time_t seconds = (time_t)(p->info.start_time / 1000000);
    struct tm utc;
    char started[32] = "";
    if (gmtime_r(&seconds, &utc))
        strftime(started, sizeof started, "%Y-%m-%d %H:%M:%S UTC", &utc);
    document_title(d, report_program(p),
                   profile_has_times(p) ? document_text(d, ", recorded for %s from %s",
                                                        figure_duration(p->duration).text, started)
                                        : ", imported without times");
}

void summary_document(document *d, summary_report *s) {
    say_what(d, s);
    if (!report_head(d, s->report))
        return;
    const bool has_times = profile_has_times(s->report->query->profile);
    if (has_times) {
        add_peak(d, s);
        add_rss(d, s);
    } else {
        add_live(d, s);
    }
    add_sites(d, s);
    if (has_times) {
        add_growing(d, s);
        add_advice(d, s);
    }
    document_hint(d, "In a browser: allotrace view %s", s->whole);
}
