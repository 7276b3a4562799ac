/* leaks.c: sites by class, with their live memory and its growth. JSON and CSV also have the
 * probabilities behind the verdict. Sites without live blocks are only counted. */
#include "reports/leaks.h"

#include <math.h>
#include <stdio.h>

static const leaks_report *report_of(const table *t) {
    return t->context;
}

static const leaks_site *site_of(const void *row) {
    return row;
}

/* ---- columns ----------------------------------------------------------------------------- */

TABLE_CELL(site_class, (cell){.text = leaks_class_infos[site_of(row)->class].name})

static figure figure_of_live(const leaks_report *l, const cost *c) {
    return report_figure(l->report, c);
}

TABLE_CELL(site_live, (cell){.amount = figure_of_live(report_of(t), &site_of(row)->cost)})

static double share_of_live(const leaks_report *l, const cost *c) {
    const double all = l->leaks->total.cost.weight;
    return all > 0 ? c->weight / all : 0;
}

TABLE_CELL(site_share, (cell){.number = share_of_live(report_of(t), &site_of(row)->cost)})
TABLE_CELL(site_blocks, (cell){.count = site_of(row)->cost.blocks})
TABLE_CELL(site_slope,
           (cell){.amount = figure_of_estimate(site_of(row)->slope, site_of(row)->slope_samples)})

static bool shows_amounts(const table *t) {
    return leaks_tells_amounts(report_of(t)->leaks);
}

static bool shows_rates(const table *t) {
    return !shows_amounts(t);
}

TABLE_CELL(site_grown,
           (cell){.amount = figure_of_estimate(site_of(row)->grown, site_of(row)->slope_samples)})
TABLE_CELL(site_late, (cell){.number = site_of(row)->late})
TABLE_CELL(site_p, (cell){.number = site_of(row)->p})
TABLE_CELL(site_q, (cell){.number = site_of(row)->q})

/* q is of no use to readers for a site that does not grow. */
TABLE_CELL(site_q_of_growth, site_of(row)->class == LEAKS_GROWING ? site_q(t, row) : cell_none())
TABLE_CELL(site_startup, (cell){.count = site_of(row)->startup})
TABLE_CELL(site_at_exit, (cell){.count = site_of(row)->at_exit})

static cell bytes_of(const table *t, uint64_t samples) {
    return (cell){.number = cost_bytes(report_of(t)->report->query->profile, samples)};
}

TABLE_CELL(site_startup_bytes, bytes_of(t, site_of(row)->startup))
TABLE_CELL(site_at_exit_bytes, bytes_of(t, site_of(row)->at_exit))

static cell site_line(const table *t, const void *row) {
    const leaks_report *l = report_of(t);
    const bool blocks = l->leaks->measure == MEASURE_BLOCKS;
    return (cell){.line = {.items = site_of(row)->line,
                           .n = LEAKS_POINTS,
                           .unit = blocks ? 1 : cost_bytes(l->report->query->profile, 1)}};
}

/* The remark is shown after the name, where it does not widen a column for all rows. */
static cell site_place(const table *t, const void *row) {
    const leaks_report *l = report_of(t);
    const leaks_site *s = site_of(row);
    return (cell){.place = s->place,
                  .remark = l->remarks ? l->remarks[s - l->leaks->sites.items] : NULL};
}

TABLE_CELL(site_remark, site_of(row)->remark ? (cell){.text = site_of(row)->remark} : cell_none())

/* The unit of a slope: byte-seconds grow as bytes. */
static bool counts_blocks(const table *t) {
    return report_of(t)->leaks->measure != MEASURE_ALLOCATED;
}

static bool has_remarks(const table *t) {
    const leaks_report *l = report_of(t);
    for (size_t i = 0; i < t->n; i++)
        if (l->rows && site_of(table_row(t, i))->remark)
            return true;
    return false;
}

#define LEAKS_FINDINGS                                                                             \
    {.name = "class", .kind = COLUMN_TEXT, .get = site_class, .help = "how it stays: growing, …"}, \
        {.name = "share",                                                                          \
         .kind = COLUMN_SHARE,                                                                     \
         .in = IN_PAGE,                                                                            \
         .get = site_share,                                                                        \
         .help = "of all that is live at the end, 0 to 1"},                                        \
        {.name = "",                                                                               \
         .title = "live",                                                                          \
         .kind = COLUMN_AMOUNT,                                                                    \
         .get = site_live,                                                                         \
         .help = "live at the end of the window"},                                                 \
        {.name = "blocks",                                                                         \
         .kind = COLUMN_COUNT,                                                                     \
         .in = IN_PAGE,                                                                            \
         .get = site_blocks,                                                                       \
         .has = counts_blocks,                                                                     \
         .help = "sampled blocks that are live"},                                                  \
        {.name = "grown",                                                                          \
         .title = "growth",                                                                        \
         .kind = COLUMN_AMOUNT,                                                                    \
         .in = IN_TEXT,                                                                            \
         .spare = true,                                                                            \
         .get = site_grown,                                                                        \
         .has = shows_amounts,                                                                     \
         .help = "how much more is live at the end of the window than at its beginning"},          \
        {.name = "slope_of_long",                                                                  \
         .title = "growth",                                                                        \
         .kind = COLUMN_RATE,                                                                      \
         .in = IN_TEXT,                                                                            \
         .spare = true,                                                                            \
         .get = site_slope,                                                                        \
         .has = shows_rates,                                                                       \
         .help = "slope, where a rate says more"},                                                 \
        {.name = "slope",                                                                          \
         .title = "growth",                                                                        \
         .kind = COLUMN_RATE,                                                                      \
         .in = IN_DATA,                                                                            \
         .get = site_slope,                                                                        \
         .help = "how much more is live each second, in the window"},                              \
        {.name = "late",                                                                           \
         .kind = COLUMN_NUMBER,                                                                    \
         .in = IN_DATA,                                                                            \
         .get = site_late,                                                                         \
         .help = "the slope of the later half of the window"},                                     \
        {.name = "p",                                                                              \
         .kind = COLUMN_NUMBER,                                                                    \
         .in = IN_DATA,                                                                            \
         .get = site_p,                                                                            \
         .help = "the chance of as clear a growth if there is none"},                              \
        {.name = "q",                                                                              \
         .kind = COLUMN_NUMBER,                                                                    \
         .in = IN_DATA,                                                                            \
         .get = site_q,                                                                            \
         .help = "the same among so many sites: a false discovery rate"},                          \
        {.name = "q_of_growth",                                                                    \
         .title = "q",                                                                             \
         .kind = COLUMN_NUMBER,                                                                    \
         .spare = true,                                                                            \
         .in = IN_TEXT,                                                                            \
         .get = site_q_of_growth,                                                                  \
         .help = "q, of what grows"},                                                              \
        {.name = "startup_samples",                                                                \
         .kind = COLUMN_COUNT,                                                                     \
         .in = IN_JSON | IN_CSV,                                                                   \
         .get = site_startup,                                                                      \
         .help = "of the samples, those of blocks from before the window"},                        \
        {.name = "at_exit_samples",                                                                \
         .kind = COLUMN_COUNT,                                                                     \
         .in = IN_JSON | IN_CSV,                                                                   \
         .get = site_at_exit,                                                                      \
         .help = "of the samples, those of blocks freed after the window"},                        \
        {.name = "startup",                                                                        \
         .kind = COLUMN_NUMBER,                                                                    \
         .in = IN_PAGE,                                                                            \
         .get = site_startup_bytes,                                                                \
         .help = "startup_samples in bytes"},                                                      \
        {.name = "at_exit",                                                                        \
         .kind = COLUMN_NUMBER,                                                                    \
         .in = IN_PAGE,                                                                            \
         .get = site_at_exit_bytes,                                                                \
         .help = "at_exit_samples in bytes"},                                                      \
    {                                                                                              \
        .name = "history", .title = "live over time", .kind = COLUMN_LINE, .spare = true,          \
        .get = site_line,                                                                          \
        .help = "what is live at equal steps from the start to the end of the window"              \
    }

static const table_column columns[] = {
    LEAKS_FINDINGS,
    {.name = "remark",
     .kind = COLUMN_TEXT,
     .in = IN_JSON | IN_CSV,
     .get = site_remark,
     .has = has_remarks,
     .help = "what is known of such blocks, whatever the data say"},
    {.name = "place",
     .title = "site",
     .kind = COLUMN_PLACE,
     .get = site_place,
     .help = "what allocates"},
};

static const table_column total_columns[] = {LEAKS_FINDINGS};

/* ---- the window and the classes ---------------------------------------------------------- */

TABLE_CELL(window_from, (cell){.count = report_of(t)->leaks->from})
TABLE_CELL(window_to, (cell){.count = report_of(t)->leaks->to})
TABLE_CELL(window_cleaned_up, (cell){.flag = report_of(t)->leaks->cleaned_up})
TABLE_CELL(window_rate, (cell){.number = figure_rate_up(report_of(t)->leaks->telling_rate)})

static bool has_unclear(const table *t) {
    return report_of(t)->leaks->telling_rate > 0;
}

static const table_column window_columns[] = {
    {.name = "from",
     .kind = COLUMN_DURATION,
     .get = window_from,
     .help = "growth counts from here on, in microseconds: before is start-up"},
    {.name = "to", .kind = COLUMN_DURATION, .get = window_to, .help = "up to here"},
    {.name = "cleaned_up",
     .kind = COLUMN_FLAG,
     .get = window_cleaned_up,
     .help = "the program freed its memory from there on"},
    {.name = "telling_rate",
     .kind = COLUMN_NUMBER,
     .get = window_rate,
     .has = has_unclear,
     .help = "a sampling rate that would likely tell of the largest unclear site"},
};

static const leaks_class_sum *sum_of(const void *row) {
    return row;
}

TABLE_CELL(class_name, (cell){.text = leaks_class_infos[sum_of(row)->class].name})
TABLE_CELL(class_meaning, (cell){.text = leaks_class_infos[sum_of(row)->class].meaning})
TABLE_CELL(class_sites, (cell){.count = sum_of(row)->sites})

static cell class_live(const table *t, const void *row) {
    const query_result *q = report_of(t)->report->query;
    const cost sum = cost_or_missed(q->profile, q->measure, q->may, sum_of(row)->cost);
    return (cell){.amount = figure_of_live(report_of(t), &sum)};
}

static const table_column class_columns[] = {
    {.name = "class", .kind = COLUMN_TEXT, .get = class_name, .help = "how they stay"},
    {.name = "",
     .title = "live",
     .kind = COLUMN_AMOUNT,
     .get = class_live,
     .help = "live of the class"},
    {.name = "sites", .kind = COLUMN_COUNT, .get = class_sites, .help = "sites of the class"},
    {.name = "meaning",
     .kind = COLUMN_TEXT,
     .prose = true,
     .get = class_meaning,
     .help = "what the class is"},
};

/* ---- what is left out -------------------------------------------------------------------- */

TABLE_CELL(omitted_sites, (cell){.count = report_of(t)->n_rows - report_of(t)->shown})
TABLE_CELL(omitted_gone, (cell){.count = report_of(t)->gone})

static const table_column omitted_columns[] = {
    {.name = "sites", .kind = COLUMN_COUNT, .get = omitted_sites, .help = "sites not listed"},
    {.name = "sites_without_live",
     .kind = COLUMN_COUNT,
     .get = omitted_gone,
     .help = "sites of which no sampled block is left"},
};

/* ---- the document ------------------------------------------------------------------------ */

static const void *row_of(const table *t, size_t i) {
    return report_of(t)->rows[i];
}

/* Lists the sites with live blocks. The others are only counted. */
static void find_rows(document *d, leaks_report *l) {
    const leaks *all = l->leaks;
    l->rows = document_keep(d, all->sites.count * sizeof *l->rows);
    l->remarks = document_keep(d, all->sites.count * sizeof *l->remarks);
    l->n_rows = 0;
    for (size_t i = 0; l->rows && l->remarks && i < all->sites.count; i++) {
        const leaks_site *s = &all->sites.items[i];
        l->remarks[i] = s->remark ? document_text(d, "(%s)", s->remark) : NULL;
        if (s->cost.blocks == 0)
            continue;
        l->rows[l->n_rows++] = s;
        cost_add(&l->classes[s->class].cost, &s->cost);
        l->classes[s->class].sites++;
    }
    l->gone = all->sites.count - l->n_rows;
    l->shown = l->view.top && l->view.top < l->n_rows ? (size_t)l->view.top : l->n_rows;
}

table leaks_table(document *d, leaks_report *l) {
    for (int c = 0; c < LEAKS_N_CLASSES; c++)
        l->classes[c] = (leaks_class_sum){.class = (leaks_class)c};
    find_rows(d, l);
    return (table){.name = "sites",
                   TABLE_COLUMNS(columns),
                   .row = row_of,
                   .n = l->n_rows,
                   .context = l,
                   .unit = report_unit(l->report),
                   .one_unit = leaks_tells_amounts(l->leaks),
                   .by_line = !l->view.by_function,
                   .no_name = report_no_stack(l->report->query)};
}

/* Returns the text of a growth: an amount, or an amount per second (`each`). */
static const char *growth_text(document *d, const leaks_report *l, double amount, bool each) {
    const bool blocks = l->leaks->measure == MEASURE_BLOCKS;
    char *text = document_keep(d, sizeof(figure_text));
    const figure_text t =
        blocks ? figure_decimal(fabs(amount), fabs(amount) < 100 && amount != floor(amount) ? 2 : 0)
               : figure_bytes(fabs(amount));
    if (text)
        snprintf(text, sizeof(figure_text), "%s%.30s%s",
                 amount <= (blocks ? -5e-3 : -0.5) ? "-" : "", t.text, each ? "/s" : "");
    return text ? text : "";
}

static void say_window(document *d, const leaks_report *l) {
    const leaks *w = l->leaks;
    if (profile_ends_early(l->report->query->profile))
        document_note(d, "Blocks live when the recording ended may have been freed later.");
    if (w->cleaned_up)
        document_note(d, "The program cleaned up from %s on; leaks are measured just before that.",
                      figure_duration(w->to).text);
    document_note(d, "Growth is measured from %s to %s; earlier allocations count as startup.",
                  figure_duration(w->from).text, figure_duration(w->to).text);
}

static void say_total(document *d, const leaks_report *l) {
    const bool amounts = leaks_tells_amounts(l->leaks);
    const leaks_site *s = &l->leaks->total;
    const figure live = figure_of_live(l, &s->cost);
    const measure_unit unit = report_unit(l->report);
    char range[100] = "", growth[160] = "", strong[160], rest[300];
    const estimate growth_of = amounts ? s->grown : s->slope;
    if (growth_of.low != growth_of.high)
        snprintf(range, sizeof range, " (%s … %s)", growth_text(d, l, growth_of.low, !amounts),
                 growth_text(d, l, growth_of.high, !amounts));
    snprintf(strong, sizeof strong, "%s%s", figure_amount(unit, live.value).text,
             figure_beside(figure_margin_in(unit, &live)).text);
    if (s->slope.low > 0)
        snprintf(growth, sizeof growth, ", %s by %s%s in %s", amounts ? "having grown" : "growing",
                 growth_text(d, l, growth_of.value, !amounts), range,
                 amounts ? figure_duration(l->leaks->to - l->leaks->from).text : "total");
    snprintf(rest, sizeof rest, "%s live %s%s.",
             l->leaks->measure == MEASURE_BYTESECONDS ? " held by what was" : "",
             l->leaks->cleaned_up ? "before that" : "at the end", growth);
    document_title(d, strong, rest);
}

/* A rate that is a hundred times as high shows leaks that are a hundred times smaller. */
const char *leaks_hidden(document *d, const profile *p) {
    const double rate = p->info.sample_rate, most = LEAKS_TELLING * profile_bytes_per_sample(p);
    if (rate >= 1)
        return "";
    if (rate * 100 >= 1)
        return document_text(d,
                             "A leak below about %s may not show at this rate; --rate 1 records "
                             "every block.",
                             figure_bytes(most).text);
    return document_text(d,
                         "A leak below about %s may not show at this rate; with --rate %s, one of "
                         "%s does.",
                         figure_bytes(most).text, figure_rate(rate * 100).text,
                         figure_bytes(most / 100).text);
}

static void add_classes(document *d, leaks_report *l) {
    const table all = {.name = "classes",
                       TABLE_COLUMNS(class_columns),
                       .rows = l->classes,
                       .stride = sizeof *l->classes,
                       .n = LEAKS_N_CLASSES,
                       .context = l,
                       .unit = report_unit(l->report)};
    document_rows(d, &all, IN_JSON, NULL);
    leaks_class_sum *some = document_keep(d, sizeof l->classes);
    table present = all;
    present.rows = some;
    present.n = 0;
    for (int c = 0; some && c < LEAKS_N_CLASSES; c++)
        if (l->classes[c].sites > 0)
            some[present.n++] = l->classes[c];
    document_rows(d, &present, IN_TEXT, "By class");
    const bool is_still = l->classes[LEAKS_GROWING].sites == 0 && l->leaks->total.cost.blocks > 0;
    const char *hidden = leaks_hidden(d, l->report->query->profile);
    if (is_still && *hidden && report_unit(l->report) == UNIT_BYTES)
        document_note(d, "%s", hidden);
    else if (l->leaks->telling_rate > 0)
        document_note(d,
                      "A recording with --rate %s would probably resolve the largest unclear site.",
                      figure_rate(figure_rate_up(l->leaks->telling_rate)).text);
}

static void say_rest(document *d, const leaks_report *l) {
    const size_t n = l->n_rows - l->shown;
    cost rest = {0};
    for (size_t i = l->shown; i < l->n_rows; i++)
        cost_add(&rest, &l->rows[i]->cost);
    const figure f = figure_of_live(l, &rest);
    const measure_unit unit = report_unit(l->report);
    if (n > 0)
        document_note(d, "  %s more site%s with %s%s %s", figure_count(n).text, n == 1 ? "" : "s",
                      figure_amount(unit, f.value).text,
                      figure_beside(figure_margin_in(unit, &f)).text,
                      l->leaks->measure == MEASURE_BYTESECONDS ? "held" : "live");
    if (l->gone > 0)
        document_note(d, "  %s more site%s: all that was %s is freed", figure_count(l->gone).text,
                      l->gone == 1 ? "" : "s",
                      l->report->query->profile->info.sample_rate < 1 ? "sampled" : "allocated");
}

/* Says what may be live without having been sampled. */
static void say_unseen(document *d, const leaks_report *l) {
    const query_result *q = l->report->query;
    const figure f = figure_of_live(l, &l->leaks->total.cost);
    if (l->leaks->total.cost.blocks > 0 || q->profile->info.sample_rate == 1 || f.high <= 0)
        return;
    document_note(d,
                  "Nothing that is still live was sampled: leaks below about %s do not show at "
                  "this rate. At a higher one, such as --rate %s, smaller ones do.",
                  figure_amount(report_unit(l->report), f.high).text,
                  figure_rate(fmin(1, q->profile->info.sample_rate * 100)).text);
}

void leaks_document(document *d, leaks_report *l) {
    table rows = leaks_table(d, l);
    const table window = {.name = "", TABLE_COLUMNS(window_columns), .n = 1, .context = l};
    const table total = {.name = "all_sites",
                         TABLE_COLUMNS(total_columns),
                         .rows = &l->leaks->total,
                         .n = 1,
                         .context = l,
                         .unit = rows.unit};
    const table omitted = {.name = "omitted", TABLE_COLUMNS(omitted_columns), .n = 1, .context = l};
    const bool any = report_head(d, l->report);
    rows.n = l->shown;
    document_object(d, &window, IN_JSON);
    document_object(d, &total, IN_JSON);
    if (any) {
        say_window(d, l);
        say_total(d, l);
    }
    add_classes(d, l);
    document_rows(d, &rows, IN_ALL, "By site");
    document_object(d, &omitted, IN_JSON);
    if (any) {
        say_rest(d, l);
        say_unseen(d, l);
    }
}

bool leaks_unsymbolized(const leaks_report *l) {
    for (size_t i = 0; i < l->shown; i++)
        if (profile_is_address(l->rows[i]->place))
            return true;
    return false;
}
