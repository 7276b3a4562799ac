/* hotspots.c: the rows are sites or types, each with its callers below it. The document also says
 * what is left out, and which functions were skipped as wrappers, because sites are then not where
 * malloc was called. */
#include "reports/hotspots.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_WRAPPERS = 6 };

static const hotspots_report *report_of(const table *t) {
    return (const hotspots_report *)((const char *)t->context - offsetof(hotspots_report, rows));
}

/* Works for sites, which begin with an entry, and for callers, which are entries. */
static const hotspots_entry *entry_of(const void *row) {
    return row;
}

static const cost *cost_of_entry(const void *row) {
    return &entry_of(row)->cost;
}

/* ---- columns ----------------------------------------------------------------------------- */

static const hotspots_site *site_of(const void *row) {
    return row;
}

TABLE_CELL(entry_place, (cell){.place = entry_of(row)->place})
TABLE_CELL(site_type, entry_of(row)->type ? (cell){.text = entry_of(row)->type} : cell_none())
TABLE_CELL(site_span, (cell){.text = entry_of(row)->span})
TABLE_CELL(site_callers, (cell){.count = site_of(row)->n_callers})

static uint64_t shown_callers(const table *t, const hotspots_site *s) {
    const uint64_t most = report_of(t)->view.callers;
    return s->n_callers < most ? s->n_callers : most;
}

TABLE_CELL(site_callers_omitted,
           (cell){.count = site_of(row)->n_callers - shown_callers(t, site_of(row))})

static bool is_by_type(const table *t) {
    return report_of(t)->hotspots->by == HOTSPOTS_BY_TYPE;
}

/* X(name, grouping, help): columns with names of spans. */
#define SPAN_COLUMNS(X)                                                                            \
    X(thread, THREAD, "what the threads are called")                                               \
    X(scope, SCOPE, "what the program calls what it was doing")                                    \
    X(trace, TRACE, "the id of the distributed trace that it was in")                              \
    X(span, SPAN, "the id of the span that it was in")

#define SPAN_IS_BY(name, grouping, help)                                                           \
    static bool is_by_##name(const table *t) {                                                     \
        return report_of(t)->hotspots->by == HOTSPOTS_BY_##grouping;                               \
    }
SPAN_COLUMNS(SPAN_IS_BY)
#undef SPAN_IS_BY

static bool is_by_place(const table *t) {
    return !is_by_type(t) && !hotspots_by_span(report_of(t)->hotspots->by);
}

static bool is_not_by_place(const table *t) {
    return !is_by_place(t);
}

static bool is_not_by_type(const table *t) {
    return !is_by_type(t);
}

static const table_column caller_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = entry_place, .help = "the caller"},
    REPORT_COLUMNS_COST,
};

static bool site_below(const table *t, const void *row, table *below) {
    const hotspots_site *s = row;
    const hotspots_report *h = report_of(t);
    below->rows = &h->hotspots->callers.items[s->first_caller];
    below->stride = sizeof(hotspots_entry);
    below->n = (size_t)shown_callers(t, s);
    below->omitted = s->n_callers - below->n;
    below->no_name = is_by_place(t) ? "without caller" : "without a call stack";
    below->by_line = h->hotspots->by != HOTSPOTS_BY_FUNCTION;
    below->context = &h->rows;
    return true;
}

static const table_column columns[] = {
    REPORT_COLUMNS_COST,
    {.name = "place",
     .title = "site",
     .kind = COLUMN_PLACE,
     .get = entry_place,
     .has = is_by_place,
     .help = "what allocates"},
    /* CSV always has a place and a type. */
    {.name = "place",
     .kind = COLUMN_PLACE,
     .in = IN_CSV,
     .get = entry_place,
     .has = is_not_by_place,
     .help = "the place; empty where a row is a type, threads, a scope, a trace or a span"},
#define SPAN_COLUMN(name_, grouping, help_)                                                        \
    {.name = #name_, .kind = COLUMN_TEXT, .get = site_span, .has = is_by_##name_, .help = help_},
    SPAN_COLUMNS(SPAN_COLUMN)
#undef SPAN_COLUMN
        {.name = "type",
         .kind = COLUMN_TEXT,
         .get = site_type,
         .has = is_by_type,
         .help = "the type of what is allocated, if the recorder knew it"},
    {.name = "type",
     .kind = COLUMN_TEXT,
     .in = IN_CSV,
     .get = site_type,
     .has = is_not_by_type,
     .help = "the type; empty where a row is a place, threads, a scope, a trace or a span"},
    {.name = "callers",
     .title = "via ",
     .kind = COLUMN_ROWS,
     .in = IN_TEXT | IN_JSON | IN_PAGE,
     TABLE_COLUMNS(caller_columns),
     .below = site_below,
     .help = "the nearest code outside of libraries that led to it; or the sites of a type or of "
             "threads; largest first"},
    {.name = "n_callers",
     .kind = COLUMN_COUNT,
     .in = IN_PAGE,
     .get = site_callers,
     .help = "how many there are"},
    {.name = "callers_omitted",
     .kind = COLUMN_COUNT,
     .in = IN_JSON,
     .get = site_callers_omitted,
     .help = "callers that are not listed"},
};

/* ---- what is left out -------------------------------------------------------------------- */

static const hotspots_report *report_at(const void *row) {
    return row;
}

TABLE_CELL(omitted_rows,
           (cell){.count = report_at(row)->hotspots->sites.count - report_at(row)->shown})
TABLE_CELL(omitted_share,
           (cell){.number = figure_share(report_at(row)->report->query, &report_at(row)->rest)})
TABLE_CELL(omitted_amount,
           (cell){.amount = report_figure(report_at(row)->report, &report_at(row)->rest)})

static const table_column omitted_columns[] = {
    {.name = "sites", .kind = COLUMN_COUNT, .get = omitted_rows, .help = "rows not listed"},
    {.name = "share", .kind = COLUMN_SHARE, .get = omitted_share, .help = "theirs of the total"},
    {.name = "", .kind = COLUMN_AMOUNT, .get = omitted_amount, .help = "what they amount to"},
};

TABLE_CELL(grouping, (cell){.text = hotspots_groupings[report_at(row)->hotspots->by]})

static const table_column by_columns[] = {
    {.name = "by", .kind = COLUMN_TEXT, .get = grouping, .help = "what a row is"},
};

static const table_column wrapper_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = entry_place, .help = "the wrapper"},
    REPORT_COLUMNS_COST,
};

/* ---- documents --------------------------------------------------------------------------- */

/* Finds how many rows are shown, and sums up the rest. */
static void find_shown(hotspots_report *h) {
    const hotspots_site *sites = h->hotspots->sites.items;
    const size_t n = h->hotspots->sites.count;
    size_t shown = 0;
    while (shown < n && (h->view.top == 0 || shown < h->view.top) &&
           report_percent(h->report, &sites[shown].entry.cost) >= h->view.min_share)
        shown++;
    h->shown = shown;
    h->rest = (cost){0};
    for (size_t i = shown; i < n; i++)
        cost_add(&h->rest, &sites[i].entry.cost);
}

table hotspots_table(hotspots_report *h) {
    h->rows = (report_rows){.report = h->report, .cost = cost_of_entry};
    return (table){.name = "hotspots",
                   TABLE_COLUMNS(columns),
                   .rows = h->hotspots->sites.items,
                   .stride = sizeof(hotspots_site),
                   .n = h->hotspots->sites.count,
                   .context = &h->rows,
                   .unit = report_unit(h->report),
                   .by_line = h->hotspots->by == HOTSPOTS_BY_LINE,
                   .no_name = h->hotspots->by == HOTSPOTS_BY_TYPE
                                  ? "(type not recorded)"
                                  : report_no_stack(h->report->query)};
}

static void say_rest(document *d, const hotspots_report *h) {
    static const char *const nouns[] = {
        [HOTSPOTS_BY_LINE] = "site",   [HOTSPOTS_BY_FUNCTION] = "function",
        [HOTSPOTS_BY_TYPE] = "type",   [HOTSPOTS_BY_THREAD] = "thread",
        [HOTSPOTS_BY_SCOPE] = "scope", [HOTSPOTS_BY_TRACE] = "trace",
        [HOTSPOTS_BY_SPAN] = "span"};
    const size_t n = h->hotspots->sites.count - h->shown;
    char below[60] = "";
    if (n == 0)
        return;
    if (report_percent(h->report, &h->hotspots->sites.items[h->shown].entry.cost) <
        h->view.min_share)
        snprintf(below, sizeof below, " below %g%%%s", h->view.min_share, n == 1 ? "" : " each");
    document_note(d, "  %5.1f%%  in %s %s%s%s%s", report_percent(h->report, &h->rest),
                  figure_count(n).text, h->shown ? "more " : "", nouns[h->hotspots->by],
                  n == 1 ? "" : "s", below);
}

/* Lists the skipped wrappers, because readers may look for sites where malloc was called. */
static void say_wrappers(document *d, const hotspots *h) {
    const size_t n = h->wrappers.count;
    char names[2048] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && i < SHOWN_WRAPPERS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.300s", i ? ", " : "",
                                 h->wrappers.items[i].place->function);
    if (n > 0)
        document_note(d, "Skipped wrappers of malloc (--wrappers show counts them as sites): %s%s",
                      names, n > SHOWN_WRAPPERS ? ", …" : "");
}

static void add_wrappers(document *d, hotspots_report *h) {
    const table wrappers = {.name = "wrappers_skipped",
                            TABLE_COLUMNS(wrapper_columns),
                            .rows = h->hotspots->wrappers.items,
                            .stride = sizeof(hotspots_entry),
                            .n = h->hotspots->wrappers.count,
                            .context = &h->rows};
    if (wrappers.n > 0)
        document_rows(d, &wrappers, IN_JSON, NULL);
}

void hotspots_rows(document *d, hotspots_report *h, const char *heading) {
    table rows = hotspots_table(h);
    const table omitted = {
        .name = "omitted", TABLE_COLUMNS(omitted_columns), .rows = h, .n = 1, .unit = rows.unit};
    find_shown(h);
    rows.n = h->shown;
    document_rows(d, &rows, IN_ALL, heading);
    document_object(d, &omitted, IN_JSON);
    say_rest(d, h);
    add_wrappers(d, h);
    say_wrappers(d, h->hotspots);
}

void hotspots_document(document *d, hotspots_report *h) {
    const table by = {.name = "", TABLE_COLUMNS(by_columns), .rows = h, .n = 1};
    document_object(d, &by, IN_JSON);
    report_head(d, h->report);
    hotspots_rows(d, h, NULL);
}

bool hotspots_unsymbolized(const hotspots_report *h) {
    for (size_t i = 0; i < h->shown; i++)
        if (profile_is_address(h->hotspots->sites.items[i].entry.place))
            return true;
    return false;
}
