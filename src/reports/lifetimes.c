/* lifetimes.c: text shows the survival curve at round times. JSON and CSV have its points, except
 * those that differ by less than a thousandth from the one before. */
#include "reports/lifetimes.h"

#include <stdio.h>

#include "profile/tick.h"

#define CURVE_STEP 1e-3 /* least difference in the alive share between two written points */

static const lifetimes_report *report_at(const void *row) {
    return row;
}

static bool is_held(const lifetimes_report *r) {
    return r->spec->measure == MEASURE_BYTESECONDS;
}

static const char *unit(const lifetimes_report *r) {
    return r->spec->measure == MEASURE_BLOCKS ? "blocks" : is_held(r) ? "byte-seconds" : "bytes";
}

static size_t shown_sites(const lifetimes_report *r) {
    const size_t n = r->lifetimes->sites.count;
    return r->view.top && r->view.top < n ? (size_t)r->view.top : n;
}

bool lifetimes_unsymbolized(const lifetimes_report *r) {
    const lifetimes_site *rows = r->lifetimes->sites.items;
    for (size_t i = 0; i < shown_sites(r); i++)
        if (profile_is_address(rows[i].place))
            return true;
    return false;
}

/* ---- sites, and the total ----------------------------------------------------------------- */

static const lifetimes_site *site_of(const void *row) {
    return row;
}

static const lifetimes_part *part_of(const void *row) {
    return &site_of(row)->part;
}

static cell share_cell(const lifetimes_share *s) {
    return (cell){.part = {.share = s->share, .samples = s->samples, .of_samples = s->of_samples}};
}

static cell site_share(const table *t, const void *row) {
    const double all = report_at(t->context)->lifetimes->all.amount.value;
    return (cell){.number = all > 0 ? part_of(row)->amount.value / all : 0};
}

static cell site_amount(const table *t, const void *row) {
    const lifetimes_part *p = part_of(row);
    figure f = figure_of_estimate(p->amount, p->samples);
    if (t->unit == UNIT_BYTES)
        f.margin = figure_of(report_at(t->context)->report->query->profile, p->samples).margin;
    return (cell){.amount = f};
}

TABLE_CELL(site_blocks, (cell){.count = part_of(row)->blocks})
TABLE_CELL(site_dead_soon, share_cell(&part_of(row)->dead_soon))
TABLE_CELL(site_dead_minor, share_cell(&part_of(row)->dead_minor))
TABLE_CELL(site_premature, share_cell(&part_of(row)->premature))
TABLE_CELL(site_place, (cell){.place = site_of(row)->place})

static const table_column site_columns[] = {
    {.name = "share", .kind = COLUMN_SHARE, .get = site_share, .help = "of all blocks, 0 to 1"},
    {.name = "",
     .kind = COLUMN_AMOUNT,
     .get = site_amount,
     .help = "the estimate in the unit of the measure, and the ends of its 95% interval"},
    {.name = "blocks",
     .kind = COLUMN_COUNT,
     .in = IN_DATA,
     .get = site_blocks,
     .help = "sampled blocks"},
    {.name = "dead_soon",
     .title = "short-lived",
     .kind = COLUMN_PART,
     .get = site_dead_soon,
     .help = "the share that is dead within the time of --within"},
    {.name = "dead_in_minor_heap",
     .title = "died young",
     .kind = COLUMN_PART,
     .get = site_dead_minor,
     .help = "of those allocated in the minor heap and gone from it, the share dead there"},
    {.name = "premature",
     .kind = COLUMN_PART,
     .get = site_premature,
     .help = "of the promoted, the share dead within the time of --soon after that"},
    {.name = "place",
     .title = "site",
     .kind = COLUMN_PLACE,
     .get = site_place,
     .help = "what allocates"},
};

/* Uses all columns except the last, which is the place. */
static void add_all(document *d, lifetimes_report *r) {
    const table all = {.name = "all",
                       .columns = site_columns,
                       .n_columns = sizeof site_columns / sizeof *site_columns - 1,
                       .rows = &r->all,
                       .n = 1,
                       .context = r,
                       .unit = report_unit(r->report)};
    r->all.part = r->lifetimes->all;
    document_object(d, &all, IN_JSON);
}

TABLE_CELL(omitted_sites,
           (cell){.count = report_at(row)->lifetimes->sites.count - shown_sites(report_at(row))})

static const table_column omitted_columns[] = {
    {.name = "sites", .kind = COLUMN_COUNT, .get = omitted_sites, .help = "sites not listed"},
};

static void add_sites(document *d, const lifetimes_report *r, unsigned text) {
    const size_t n = shown_sites(r), more = r->lifetimes->sites.count - n;
    const table listed = {.name = "sites",
                          TABLE_COLUMNS(site_columns),
                          .rows = r->lifetimes->sites.items,
                          .stride = sizeof(lifetimes_site),
                          .n = n,
                          .context = r,
                          .unit = report_unit(r->report),
                          .by_line = !r->spec->by_function,
                          .no_name = report_no_stack(r->report->query)};
    const table omitted = {.name = "omitted", TABLE_COLUMNS(omitted_columns), .rows = r, .n = 1};
    document_rows(d, &listed, text | IN_JSON | (r->view.curve ? 0 : IN_CSV), "By site");
    document_object(d, &omitted, IN_JSON);
    if (text && more > 0)
        document_note(d, "  %s more site%s", figure_count(more).text, more == 1 ? "" : "s");
}

/* ---- columns of shares ---------------------------------------------------------------------- */

static const lifetimes_row *row_of(const void *row) {
    return row;
}

TABLE_CELL(row_micros, (cell){.count = row_of(row)->micros})
TABLE_CELL(row_share, share_cell(&row_of(row)->share))
TABLE_CELL(row_name, (cell){.text = row_of(row)->name})

static const table_column decade_columns[] = {
    {.name = "least_us",
     .kind = COLUMN_COUNT,
     .in = IN_DATA,
     .get = row_micros,
     .help = "the shortest lifetime of the row; the longest is below ten times that"},
    {.name = "share",
     .kind = COLUMN_PART,
     .bar = true,
     .get = row_share,
     .help = "of all blocks, those that died at such an age"},
    {.name = "lifetime", .kind = COLUMN_TEXT, .in = IN_TEXT, .get = row_name, .help = "their age"},
};

static const table_column share_columns[] = {
    {.name = "share", .kind = COLUMN_PART, .bar = true, .get = row_share, .help = "their share"},
    {.name = "blocks", .kind = COLUMN_TEXT, .get = row_name, .help = "which blocks"},
};

static const table_column point_columns[] = {
    {.name = "us",
     .kind = COLUMN_COUNT,
     .in = IN_DATA,
     .get = row_micros,
     .help = "an age, in microseconds"},
    {.name = "alive",
     .title = "share",
     .kind = COLUMN_PART,
     .bar = true,
     .get = row_share,
     .help = "the share that lives longer, and how many sampled blocks were seen so long"},
    {.name = "age", .kind = COLUMN_TEXT, .in = IN_TEXT, .get = row_name, .help = "the same"},
};

/* Returns 1, 2, 5, … µs, ms or s; figure_duration would say 1.00 s. */
static figure_text time_text(uint64_t micros) {
    static const struct {
        uint64_t size;
        const char *name;
    } units[] = {{1000000, "s"}, {1000, "ms"}, {1, "µs"}};
    figure_text t;
    for (size_t i = 0; i < 3; i++)
        if (micros >= units[i].size && micros % units[i].size == 0) {
            snprintf(t.text, sizeof t.text, "%.30s %s", figure_count(micros / units[i].size).text,
                     units[i].name);
            return t;
        }
    return figure_duration(micros);
}

/* ---- the histogram ----------------------------------------------------------------------- */

static void fill_decade(lifetimes_row *row, int decade, const lifetimes_share *share) {
    const uint64_t least = stats_decade_least((unsigned)decade);
    *row = (lifetimes_row){.micros = least, .share = *share};
    if (decade == 0)
        snprintf(row->name, sizeof row->name, "below 1 µs");
    else
        snprintf(row->name, sizeof row->name, "%s … %s", time_text(least).text,
                 time_text(least * 10).text);
}

/* Fills the rows from the first to the last decade with blocks, and one for the blocks alive at the
 * end. Returns their number. */
static size_t fill_shown_decades(lifetimes_report *r) {
    const lifetimes *l = r->lifetimes;
    int first = 0, last = STATS_DECADES - 1;
    size_t n = 0;
    while (last >= 0 && l->decades[last].samples == 0)
        last--;
    while (first < last && l->decades[first].samples == 0)
        first++;
    for (int i = first; i <= last; i++)
        fill_decade(&r->decades[n++], i, &l->decades[i]);
    r->decades[n] = (lifetimes_row){.share = l->alive, .name = "alive at the end"};
    return n + 1;
}

static const void *filled_decade(const table *t, size_t i) {
    const lifetimes_row *row = t->rows;
    for (; row->share.samples == 0 || i-- > 0; row++)
        ;
    return row;
}

static size_t count_filled(const lifetimes_row *rows, size_t n) {
    size_t filled = 0;
    for (size_t i = 0; i < n; i++)
        filled += rows[i].share.samples > 0;
    return filled;
}

TABLE_CELL(alive_share, share_cell(&report_at(row)->lifetimes->alive))

static const table_column alive_columns[] = {
    {.name = "alive", .kind = COLUMN_PART, .get = alive_share, .help = "those alive at the end"},
};

/* JSON leaves out empty rows, and has the blocks alive at the end in a field of their own. */
static void add_histogram(document *d, lifetimes_report *r, unsigned text) {
    table rows = {.name = "histogram",
                  TABLE_COLUMNS(decade_columns),
                  .rows = r->decades,
                  .stride = sizeof(lifetimes_row),
                  .n = fill_shown_decades(r)};
    const table alive = {.name = "", TABLE_COLUMNS(alive_columns), .rows = r, .n = 1};
    document_rows(d, &rows, text, document_text(d, "Lifetimes (%s)", unit(r)));
    rows.n = count_filled(r->decades, rows.n - 1);
    rows.row = filled_decade;
    document_rows(d, &rows, IN_JSON, NULL);
    document_object(d, &alive, IN_JSON);
}

/* ---- shares of all ----------------------------------------------------------------------- */

static void fill_share(lifetimes_row *rows, size_t *n, const lifetimes_share *share,
                       const char *before, const char *time) {
    lifetimes_row *row = &rows[*n];
    if (share->of_samples == 0)
        return;
    *row = (lifetimes_row){.share = *share};
    snprintf(row->name, sizeof row->name, "%s%s", before, time);
    ++*n;
}

/* The names of these rows say what the columns of sites mean. */
static size_t fill_shares(lifetimes_report *r) {
    const lifetimes_part *all = &r->lifetimes->all;
    const bool held = is_held(r);
    size_t n = 0;
    fill_share(r->shares, &n, &all->dead_soon,
               held ? "short-lived: by blocks that live up to " : "short-lived: freed within ",
               time_text(r->spec->within).text);
    fill_share(r->shares, &n, &all->dead_minor,
               "died young: never promoted, of blocks that left the minor heap", "");
    fill_share(r->shares, &n, &all->premature,
               held ? "premature: of promoted blocks, by those that live on for up to "
                    : "premature: of promoted blocks, freed within ",
               time_text(r->spec->soon).text);
    return n;
}

static void add_shares(document *d, lifetimes_report *r) {
    const table rows = {.name = "shares",
                        TABLE_COLUMNS(share_columns),
                        .rows = r->shares,
                        .stride = sizeof *r->shares,
                        .n = fill_shares(r)};
    document_rows(d, &rows, IN_TEXT, document_text(d, "Short lives (%s)", unit(r)));
}

/* ---- the curve --------------------------------------------------------------------------- */

static lifetimes_row point_row(const lifetimes_report *r, uint64_t time, estimate alive,
                               uint64_t at_risk) {
    return (lifetimes_row){
        .micros = time,
        .share = {.share = alive, .samples = at_risk, .of_samples = r->lifetimes->all.blocks}};
}

/* Fills the points at 1, 2, 5, 10, … us from the first death to the last. Returns their number. */
static size_t fill_steps(lifetimes_report *r) {
    static const uint64_t steps[] = {1, 2, 5};
    const survival_curve *c = &r->lifetimes->curve;
    size_t n = 0;
    uint64_t ten = 1;
    for (int i = 0; c->count && ten <= UINT64_MAX / 50 && n < LIFETIMES_ROWS; i++) {
        const uint64_t time = ten * steps[i % 3];
        ten *= i % 3 == 2 ? 10 : 1;
        if (time > c->items[c->count - 1].time)
            break;
        if (time < c->items[0].time)
            continue;
        r->steps[n] = point_row(r, time, survival_at(c, time), 0);
        snprintf(r->steps[n++].name, sizeof r->steps->name, "%s", time_text(time).text);
    }
    return n;
}

/* Returns whether a point is written: the first, the last, and points between them whose share has
 * changed enough. */
static bool is_written(const survival_curve *c, size_t i, double *last) {
    const double now = c->items[i].alive.value;
    if (i > 0 && i + 1 < c->count && *last - now < CURVE_STEP)
        return false;
    *last = now;
    return true;
}

static size_t fill_points(const lifetimes_report *r, lifetimes_row *rows) {
    const survival_curve *c = &r->lifetimes->curve;
    double last = 1;
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const survival_point *p = &c->items[i];
        if (!is_written(c, i, &last))
            continue;
        if (rows)
            rows[n] = point_row(r, p->time, p->alive, p->at_risk);
        n++;
    }
    return n;
}

static figure_text age_text(uint64_t time) {
    return time == SURVIVAL_NEVER ? (figure_text){"more than was observed"} : figure_duration(time);
}

static void say_quantile(document *d, const lifetimes_report *r, const survival_quantile *q) {
    char ends[100] = "";
    if (q->low != q->value || q->high != q->value)
        snprintf(ends, sizeof ends, " (%s … %s)", age_text(q->low).text, age_text(q->high).text);
    document_note(d, "  %g%% %s %s%s", 100 * q->ended,
                  is_held(r) ? "by blocks that live up to" : "are freed after",
                  age_text(q->value).text, ends);
}

static const survival_quantile *quantile_of(const void *row) {
    return row;
}

TABLE_CELL(quantile_dead, (cell){.number = quantile_of(row)->ended})

static cell time_cell(uint64_t time) {
    return time == SURVIVAL_NEVER ? cell_none() : (cell){.count = time};
}

TABLE_CELL(quantile_value, time_cell(quantile_of(row)->value))
TABLE_CELL(quantile_low, time_cell(quantile_of(row)->low))
TABLE_CELL(quantile_high, time_cell(quantile_of(row)->high))

static const table_column quantile_columns[] = {
    {.name = "dead", .kind = COLUMN_NUMBER, .get = quantile_dead, .help = "a share, 0 to 1"},
    {.name = "us",
     .kind = COLUMN_DURATION,
     .get = quantile_value,
     .help = "the age at which so many are dead; null: more than was seen"},
    {.name = "low_us", .kind = COLUMN_DURATION, .get = quantile_low, .help = "at least"},
    {.name = "high_us", .kind = COLUMN_DURATION, .get = quantile_high, .help = "at most"},
};

static void add_steps(document *d, lifetimes_report *r) {
    const lifetimes *l = r->lifetimes;
    const table steps = {.name = "survival",
                         TABLE_COLUMNS(point_columns),
                         .rows = r->steps,
                         .stride = sizeof(lifetimes_row),
                         .n = fill_steps(r)};
    if (l->curve.count == 0)
        return;
    document_rows(
        d, &steps, IN_TEXT,
        document_text(
            d,
            is_held(r)
                ? "Held by blocks that live longer (%s), if all are freed at the end of the trace"
                : "Still live at an age (%s); blocks that outlive the trace count up to its end",
            unit(r)));
    for (int i = 0; i < LIFETIMES_QUANTILES; i++)
        say_quantile(d, r, &l->quantiles[i]);
}

static void add_curve(document *d, lifetimes_report *r, unsigned text) {
    const size_t n = fill_points(r, NULL);
    lifetimes_row *rows = document_keep(d, (n + 1) * sizeof *rows);
    const table points = {.name = "survival",
                          TABLE_COLUMNS(point_columns),
                          .rows = rows,
                          .stride = sizeof *rows,
                          .n = rows ? fill_points(r, rows) : 0};
    const table quantiles = {.name = "quantiles",
                             TABLE_COLUMNS(quantile_columns),
                             .rows = r->lifetimes->quantiles,
                             .stride = sizeof(survival_quantile),
                             .n = LIFETIMES_QUANTILES};
    if (text)
        add_steps(d, r);
    document_rows(d, &points, IN_JSON | (r->view.curve ? IN_CSV : 0), NULL);
    document_rows(d, &quantiles, IN_JSON, NULL);
}

/* ---- the document ------------------------------------------------------------------------ */

TABLE_CELL(about_of, (cell){.text = unit(row)})
TABLE_CELL(about_within, (cell){.count = report_at(row)->spec->within})
TABLE_CELL(about_soon, (cell){.count = report_at(row)->spec->soon})
TABLE_CELL(about_tick, (cell){.count = tick_of(&report_at(row)->report->query->profile->table)})

static const table_column about_columns[] = {
    {.name = "of", .kind = COLUMN_TEXT, .get = about_of, .help = "what shares are of"},
    {.name = "within_us", .kind = COLUMN_DURATION, .get = about_within, .help = "--within"},
    {.name = "soon_us", .kind = COLUMN_DURATION, .get = about_soon, .help = "--soon"},
    {.name = "tick_us",
     .kind = COLUMN_DURATION,
     .get = about_tick,
     .help = "for how long the trace's clock stands still; 0: no such blocks matter"},
};

void lifetimes_document(document *d, lifetimes_report *r) {
    const table about = {.name = "", TABLE_COLUMNS(about_columns), .rows = r, .n = 1};
    const unsigned text = report_head(d, r->report) ? IN_TEXT : 0;
    document_object(d, &about, IN_JSON);
    add_all(d, r);
    add_histogram(d, r, text);
    if (text) {
        report_say_tick(d, r->report);
        add_shares(d, r);
    }
    add_curve(d, r, text);
    add_sites(d, r, text);
}
