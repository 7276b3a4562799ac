/* diff.c: the tables of the report. Color means that a change is significant. What may be due to
 * chance in sampling never has one. */
#include "reports/diff.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "reports/diff_words.h"
#include "reports/ending.h"
#include "reports/report.h"

static const diff_report *report_of(const table *t) {
    return t->context;
}

static const diff_site *site_of(const void *row) {
    return row;
}

static bool is_by_type(const table *t) {
    return report_of(t)->diff->options.by == HOTSPOTS_BY_TYPE;
}

static bool is_by_place(const table *t) {
    return !is_by_type(t);
}

static bool is_by_line(const diff_report *r) {
    return r->diff->options.by == HOTSPOTS_BY_LINE;
}

static bool is_total(const table *t, const void *row) {
    return row == &report_of(t)->total;
}

/* ---- comparisons ------------------------------------------------------------------------- */

static cell number_or_none(double x) {
    return isfinite(x) ? (cell){.number = x} : cell_none();
}

/* Makes the figure of a change. For a significant change whose margin is as large as its value, ±
 * would be misleading, so both ends are shown. */
static figure figure_of_change(estimate e, uint64_t samples) {
    figure f = figure_of_estimate(e, samples);
    const bool excludes_zero = e.low > 0 || e.high < 0;
    f.has_ends = excludes_zero && f.margin >= fabs(e.value);
    return f;
}

static uint64_t samples_of(const diff_site *s) {
    return s->c.before_samples + s->c.after_samples;
}

static cell_tone tone_of(const table *t, const diff_site *s) {
    return s->sure || is_total(t, s) ? TONE_NONE : TONE_DOUBT;
}

static cell site_before(const table *t, const void *row) {
    const diff_site *s = row;
    return (cell){.tone = tone_of(t, s),
                  .amount = figure_of_estimate(s->c.before, s->c.before_samples)};
}

static cell site_after(const table *t, const void *row) {
    const diff_site *s = row;
    return (cell){.tone = tone_of(t, s),
                  .amount = figure_of_estimate(s->c.after, s->c.after_samples)};
}

static cell site_change(const table *t, const void *row) {
    const diff_site *s = row;
    const bool moved = is_total(t, row) && report_of(t)->is_moments;
    return (cell){.tone = !s->sure                ? tone_of(t, s)
                          : s->c.change.value > 0 ? TONE_BAD
                                                  : TONE_GOOD,
                  .remark = is_total(t, row) ? report_of(t)->change : NULL,
                  .amount =
                      figure_of_change(s->c.change, moved ? report_of(t)->moved : samples_of(s))};
}

TABLE_CELL(site_went, (cell){.amount = figure_of_estimate(site_of(row)->went, 0)})
TABLE_CELL(site_came, (cell){.amount = figure_of_estimate(site_of(row)->came, 0)})

#define DIFF_NUMBER(name, expression)                                                              \
    static cell site_##name(const table *t, const void *row) {                                     \
        const diff_site *s = row;                                                                  \
        (void)t;                                                                                   \
        return number_or_none(expression);                                                         \
    }
DIFF_NUMBER(p, s->c.p)
DIFF_NUMBER(q, s->q)
DIFF_NUMBER(sure_change, s->sure_change)
DIFF_NUMBER(ratio_value, s->c.ratio.value)
DIFF_NUMBER(ratio_low, s->c.ratio.low)
DIFF_NUMBER(ratio_high, s->c.ratio.high)
#undef DIFF_NUMBER

TABLE_CELL(site_ratio_samples, (cell){.count = samples_of(row)})

/* Returns q for text. No chance is exactly 0, so a q that is too small for a double is not shown as
 * 0. */
static cell site_q_above_0(const table *t, const void *row) {
    cell q = site_q(t, row);
    q.number = q.none ? 0 : fmax(q.number, DBL_MIN);
    return q;
}

TABLE_CELL(site_sure, (cell){.flag = site_of(row)->sure})
TABLE_CELL(site_sure_count, (cell){.count = site_of(row)->sure})

#define DIFF_COLUMN(name_, kind_, in_, get_, help_)                                                \
    { .name = (name_), .kind = COLUMN_##kind_, .in = (in_), .get = (get_), .help = (help_) }

static const table_column ratio_columns[] = {
    DIFF_COLUMN("value", NUMBER, IN_ALL, site_ratio_value, "the estimate"),
    DIFF_COLUMN("low", NUMBER, IN_ALL, site_ratio_low, "the least it may be"),
    DIFF_COLUMN("high", NUMBER, IN_ALL, site_ratio_high, "the most"),
    DIFF_COLUMN("samples", COUNT, IN_ALL, site_ratio_samples, "of both sides"),
};

#define DIFF_AMOUNTS                                                                               \
    {.name = "before",                                                                             \
     .kind = COLUMN_AMOUNT,                                                                        \
     .no_error = true,                                                                             \
     .get = site_before,                                                                           \
     .help = "the mean of the runs before"},                                                       \
        {.name = "after",                                                                          \
         .kind = COLUMN_AMOUNT,                                                                    \
         .no_error = true,                                                                         \
         .get = site_after,                                                                        \
         .help = "the mean of those after"},                                                       \
        {.name = "change",                                                                         \
         .kind = COLUMN_AMOUNT,                                                                    \
         .has_sign = true,                                                                         \
         .unsampled = true,                                                                        \
         .get = site_change,                                                                       \
         .help = "after - before"},                                                                \
    {                                                                                              \
        .name = "ratio", .kind = COLUMN_OBJECT, .in = IN_JSON, TABLE_COLUMNS(ratio_columns),       \
        .help = "after / before"                                                                   \
    }

/* ---- the total --------------------------------------------------------------------------- */

static const table_column total_columns[] = {
    DIFF_COLUMN("sure", FLAG, IN_JSON, site_sure, "whether it changed beyond accident"),
    DIFF_COLUMN("p", NUMBER, IN_JSON, site_p, "the chance of such a difference by accident"),
    DIFF_AMOUNTS,
};

static bool is_divided(const diff_report *r) {
    const diff *d = r->diff;
    return d->options.per_before > 0 || r->n_before > 1 || r->n_after > 1 ||
           measure_infos[d->measure].unit == UNIT_BYTESECONDS;
}

static amount_form form_of_total(const diff_report *r) {
    return r->diff->options.normalise == DIFF_BY_TIME ? AMOUNTS_A_SECOND
           : is_divided(r)                            ? AMOUNTS_DIVIDED
                                                      : AMOUNTS_WHOLE;
}

table diff_total(diff_report *r) {
    r->total = (diff_site){.c = r->diff->total, .sure = r->diff->total_sure};
    return (table){.name = "total",
                   TABLE_COLUMNS(total_columns),
                   .rows = &r->total,
                   .n = 1,
                   .context = r,
                   .unit = measure_infos[r->diff->measure].unit,
                   .form = form_of_total(r)};
}

/* ---- sites ------------------------------------------------------------------------------- */

static const diff_name *name_of(const void *row) {
    return row;
}

TABLE_CELL(name_place, (cell){.place = name_of(row)->place})
TABLE_CELL(name_type, name_of(row)->type ? (cell){.text = name_of(row)->type} : cell_none())

static const table_column place_columns[] = {
    DIFF_COLUMN("place", PLACE, IN_ALL, name_place, "what allocates"),
};
static const table_column type_columns[] = {
    DIFF_COLUMN("type", TEXT, IN_ALL, name_type, "what is allocated"),
};

static bool name_below(const table *t, const diff_name *n, bool is_there, table *below) {
    below->columns = is_by_type(t) ? type_columns : place_columns;
    below->n_columns = 1;
    below->rows = n;
    below->n = 1;
    return is_there;
}

static bool site_name_before(const table *t, const void *row, table *below) {
    return name_below(t, &site_of(row)->before, site_of(row)->in_before, below);
}

static bool site_name_after(const table *t, const void *row, table *below) {
    return name_below(t, &site_of(row)->after, site_of(row)->in_after, below);
}

static const char *remark_of(const table *t, const diff_site *s) {
    const diff_report *r = report_of(t);
    return r->remarks ? r->remarks[s - r->diff->sites.items] : NULL;
}

TABLE_CELL(site_place, (cell){.remark = remark_of(t, row), .place = diff_name_of(row)->place})
TABLE_CELL(site_type, (cell){.none = !diff_name_of(row)->type,
                             .remark = remark_of(t, row),
                             .text = diff_name_of(row)->type})
TABLE_CELL(site_function, diff_name_of(row)->place
                              ? (cell){.text = diff_name_of(row)->place->function}
                              : cell_none())
TABLE_CELL(site_file,
           diff_name_of(row)->place ? (cell){.text = diff_name_of(row)->place->file} : cell_none())

static cell line_of(const table *t, bool is_there, const diff_name *n) {
    const bool has = is_there && n->place && n->place->line && is_by_line(report_of(t));
    return has ? (cell){.count = n->place->line} : cell_none();
}

TABLE_CELL(site_line_before, line_of(t, site_of(row)->in_before, &site_of(row)->before))
TABLE_CELL(site_line_after, line_of(t, site_of(row)->in_after, &site_of(row)->after))

static cell site_line(const table *t, const void *row) {
    const cell line = line_of(t, true, diff_name_of(row));
    return line.none ? (cell){.count = 0} : line;
}

/* Returns the number of a place; -1: none. */
static cell id_of(const query_result *q, bool is_there, const diff_name *n) {
    const bool has = is_there && n->place;
    return (cell){.number = has ? (double)(n->place - q->profile->locations.items) : -1};
}

TABLE_CELL(site_id_before,
           id_of(report_of(t)->before[0], site_of(row)->in_before, &site_of(row)->before))
TABLE_CELL(site_id_after,
           id_of(report_of(t)->after[0], site_of(row)->in_after, &site_of(row)->after))

static bool is_of_moments(const table *t) {
    return report_of(t)->is_moments;
}

static const table_column columns[] = {
    {.name = "site_before",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     .below = site_name_before,
     .help = "where it is before; null: not there"},
    {.name = "site_after",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     .below = site_name_after,
     .help = "where it is after"},
    DIFF_COLUMN("sure", FLAG, IN_JSON | IN_PAGE, site_sure, "whether it changed beyond accident"),
    DIFF_COLUMN("sure", COUNT, IN_CSV, site_sure_count, "the same: 1 or 0"),
    DIFF_COLUMN("q", NUMBER, IN_DATA, site_q,
                "the false discovery rate at which the change would be called sure"),
    DIFF_COLUMN("p", NUMBER, IN_DATA, site_p, "the chance of such a difference by accident"),
    DIFF_COLUMN("sure_change", NUMBER, IN_PAGE, site_sure_change, "how large the change surely is"),
    DIFF_AMOUNTS,
    {.name = "went",
     .kind = COLUMN_AMOUNT,
     .in = IN_PAGE,
     .unsampled = true,
     .get = site_went,
     .has = is_of_moments,
     .help = "what was there at the first moment alone"},
    {.name = "came",
     .kind = COLUMN_AMOUNT,
     .in = IN_PAGE,
     .unsampled = true,
     .get = site_came,
     .has = is_of_moments,
     .help = "what was there at the second alone"},
    DIFF_COLUMN("q", NUMBER, IN_TEXT, site_q_above_0, "as above"),
    DIFF_COLUMN("function", TEXT, IN_CSV | IN_PAGE, site_function, "what allocates"),
    DIFF_COLUMN("file", TEXT, IN_CSV | IN_PAGE, site_file,
                "its file: that after, where it is there"),
    DIFF_COLUMN("line_before", COUNT, IN_CSV, site_line_before, "its line before"),
    DIFF_COLUMN("line_after", COUNT, IN_CSV, site_line_after, "its line after"),
    DIFF_COLUMN("line", COUNT, IN_PAGE, site_line, "that after, where it is there"),
    DIFF_COLUMN("type", TEXT, IN_CSV | IN_PAGE, site_type,
                "the type of what is allocated, if rows are types"),
    DIFF_COLUMN("id_before", NUMBER, IN_PAGE, site_id_before,
                "the number of its place in the trace before; -1: none"),
    DIFF_COLUMN("id_after", NUMBER, IN_PAGE, site_id_after, "the same in the trace after"),
    {.name = "type",
     .kind = COLUMN_TEXT,
     .in = IN_TEXT,
     .get = site_type,
     .has = is_by_type,
     .help = "what is allocated"},
    {.name = "place",
     .title = "site",
     .kind = COLUMN_PLACE,
     .in = IN_TEXT,
     .get = site_place,
     .has = is_by_place,
     .help = "what allocates"},
};

table diff_table(diff_report *r) {
    const bool shares = r->diff->options.normalise == DIFF_BY_TOTAL;
    return (table){.name = "sites",
                   TABLE_COLUMNS(columns),
                   .rows = r->diff->sites.items,
                   .stride = sizeof(diff_site),
                   .n = r->diff->sites.count,
                   .context = r,
                   .unit = measure_infos[r->diff->measure].unit,
                   .form = shares ? AMOUNTS_SHARES : form_of_total(r),
                   .one_unit = true,
                   .by_line = is_by_line(r),
                   .no_name = r->diff->options.by == HOTSPOTS_BY_TYPE ? "(type not recorded)"
                              : r->n_before ? report_no_stack(r->before[0])
                                            : TABLE_NO_STACK};
}

/* ---- the rows of text -------------------------------------------------------------------- */

static size_t shown_sites(const diff_report *r) {
    const size_t n = r->diff->sites.count;
    return r->top && r->top < n ? (size_t)r->top : n;
}

/* Returns whether a site certainly did not change; such a site is not shown. */
static bool is_same(const diff_site *s) {
    return s->c.change.low == 0 && s->c.change.high == 0;
}

/* Returns a remark about where a site was before, if it moved. */
static const char *moved_from(document *d, const diff_report *r, const diff_site *s) {
    const profile_location *from = s->before.place, *to = s->after.place;
    if (!from || !to || r->diff->options.by == HOTSPOTS_BY_TYPE)
        return NULL;
    const bool line = is_by_line(r) && from->line;
    if (strcmp(from->file, to->file) != 0)
        return line ? document_text(d, "(was %s:%u)", from->file, (unsigned)from->line)
                    : document_text(d, "(was in %s)", from->file);
    return line && from->line != to->line ? document_text(d, "(was line %u)", (unsigned)from->line)
                                          : NULL;
}

/* Returns the remark after a site's name. A site with samples on one side only may still exist on
 * the other. */
static const char *make_remark(document *d, const diff_report *r, const diff_site *s) {
    if (!s->in_after)
        return s->c.change.high < 0 ? "(gone)" : "(not sampled after)";
    if (!s->in_before)
        return s->c.change.low > 0 ? "(new)" : "(not sampled before)";
    return moved_from(d, r, s);
}

/* Lists the first `top` sites that may have changed. */
static void find_changed(document *d, diff_report *r) {
    const size_t n = r->diff->sites.count, most = shown_sites(r);
    const char **remarks = document_keep(d, n * sizeof *remarks);
    r->changed = document_keep(d, most * sizeof(const diff_site *));
    r->n_changed = r->n_all = 0;
    for (size_t i = 0; !d->failed && i < n; i++) {
        const diff_site *s = &r->diff->sites.items[i];
        if (is_same(s))
            continue;
        r->n_all++;
        if (r->n_changed == most)
            continue;
        remarks[i] = make_remark(d, r, s);
        r->changed[r->n_changed++] = s;
    }
    r->remarks = remarks;
}

static const void *changed_row(const table *t, size_t i) {
    return report_of(t)->changed[i];
}

static const char *group_of(const table *t, const void *row) {
    const bool unsure = report_of(t)->diff->decided && !site_of(row)->sure;
    return unsure ? "Not significant; may be due to chance" : NULL;
}

static table changed_table(diff_report *r) {
    table t = diff_table(r);
    t.rows = NULL;
    t.row = changed_row;
    t.n = r->n_changed;
    t.group = group_of;
    return t;
}

bool diff_unsymbolized(const diff_report *r) {
    const size_t n = shown_sites(r);
    for (size_t i = 0; i < n; i++)
        if (profile_is_address(diff_name_of(&r->diff->sites.items[i])->place))
            return true;
    return false;
}

/* ---- what was compared ------------------------------------------------------------------- */

static const diff_report *about(const void *row) {
    return row;
}

static const char *unit_of(const diff_report *r) {
    static const char *const each_second[] = {[UNIT_BYTES] = "B/s",
                                              [UNIT_BLOCKS] = "blocks/s",
                                              [UNIT_BYTESECONDS] = "B·s/s",
                                              [UNIT_REQUESTED] = "B/s"};
    const measure_unit unit = measure_infos[r->diff->measure].unit;
    return r->diff->options.normalise == DIFF_BY_TIME ? each_second[unit] : figure_unit(unit);
}

TABLE_CELL(about_by, (cell){.text = hotspots_groupings[about(row)->diff->options.by]})
TABLE_CELL(about_normalise,
           (cell){.text = diff_normalisations[about(row)->diff->options.normalise]})

static cell about_unit(const table *t, const void *row) {
    const bool shares = about(row)->diff->options.normalise == DIFF_BY_TOTAL;
    (void)t;
    return (cell){.text = shares ? "share" : unit_of(row)};
}

TABLE_CELL(about_unit_of_total, (cell){.text = unit_of(row)})
TABLE_CELL(about_rate, (cell){.number = COMPARE_FALSE_DISCOVERIES})
TABLE_CELL(about_decided, (cell){.flag = about(row)->diff->decided})
TABLE_CELL(about_measure, (cell){.text = measure_infos[about(row)->diff->measure].name})
TABLE_CELL(about_filter, (cell){.text = about(row)->filter})

static bool has_filter(const table *t) {
    return about(t->rows)->filter;
}

TABLE_CELL(per_before, (cell){.number = about(row)->diff->options.per_before})
TABLE_CELL(per_after, (cell){.number = about(row)->diff->options.per_after})

static const table_column per_columns[] = {
    DIFF_COLUMN("before", NUMBER, IN_ALL, per_before, "amounts before"),
    DIFF_COLUMN("after", NUMBER, IN_ALL, per_after, "amounts after"),
};

static bool has_per(const table *t) {
    return about(t->rows)->diff->options.per_before > 0;
}

static const table_column about_columns[] = {
    DIFF_COLUMN("by", TEXT, IN_ALL, about_by, "what a row is"),
    DIFF_COLUMN("unit", TEXT, IN_ALL, about_unit, "of sites"),
    DIFF_COLUMN("unit_of_total", TEXT, IN_ALL, about_unit_of_total, "of `total`"),
    DIFF_COLUMN("false_discovery_rate", NUMBER, IN_ALL, about_rate, "the limit of q"),
    DIFF_COLUMN("decided", FLAG, IN_ALL, about_decided,
                "whether the traces can tell which changes are sure; if not, only `total` may be"),
    DIFF_COLUMN("measure", TEXT, IN_ALL, about_measure, "what is compared"),
    DIFF_COLUMN("normalise", TEXT, IN_ALL, about_normalise, "what amounts are relative to"),
    {.name = "filter",
     .kind = COLUMN_TEXT,
     .get = about_filter,
     .has = has_filter,
     .help = "the filter, as given"},
    {.name = "per",
     .kind = COLUMN_OBJECT,
     TABLE_COLUMNS(per_columns),
     .has = has_per,
     .help = "what amounts were divided by"},
};

/* ---- runs -------------------------------------------------------------------------------- */

static const profile *profile_of(const void *row) {
    return (*(const query_result *const *)row)->profile;
}

TABLE_CELL(run_rate, (cell){.number = profile_of(row)->info.sample_rate})
TABLE_CELL(run_program, (cell){.text = profile_of(row)->info.executable_name})
TABLE_CELL(run_host, (cell){.text = profile_of(row)->info.host_name})
TABLE_CELL(run_lacks_events, profile_of(row)->lacks_events ? (cell){.flag = true} : cell_absent())
TABLE_CELL(run_is_whole, profile_ends_early(profile_of(row)) ? cell_none() : cell_absent())

static const void *run_end(const void *row) {
    return &profile_of(row)->end;
}

static const table_column run_columns[] = {
    DIFF_COLUMN("rate", NUMBER, IN_ALL, run_rate, "the chance of each word"),
    DIFF_COLUMN("program", TEXT, IN_ALL, run_program, "what was recorded"),
    DIFF_COLUMN("host", TEXT, IN_ALL, run_host, "where"),
    {.name = "ends_early",
     .kind = COLUMN_OBJECT,
     .get = run_is_whole,
     TABLE_COLUMNS(ending_columns),
     .of = run_end,
     .help = "if the trace ends before what it records: when, how and why"},
    DIFF_COLUMN("lacks_events", FLAG, IN_ALL, run_lacks_events,
                "true if events could not be read, since a part of the trace is damaged"),
};

static table runs_table(const char *name, const query_result *const *runs, size_t n) {
    return (table){
        .name = name, TABLE_COLUMNS(run_columns), .rows = runs, .stride = sizeof *runs, .n = n};
}

/* ---- documents --------------------------------------------------------------------------- */

TABLE_CELL(omitted_sites, (cell){.count = about(row)->diff->sites.count - shown_sites(row)})

static cell omitted_sure(const table *t, const void *row) {
    const size_t sure = about(row)->diff->n_sure, shown = shown_sites(row);
    (void)t;
    return (cell){.count = shown < sure ? sure - shown : 0};
}

static const table_column omitted_columns[] = {
    DIFF_COLUMN("sites", COUNT, IN_ALL, omitted_sites, "sites not listed"),
    DIFF_COLUMN("sure", COUNT, IN_ALL, omitted_sure, "of these: the sure ones"),
};

static void add_data(document *d, diff_report *r) {
    const table about_ = {.name = "", TABLE_COLUMNS(about_columns), .rows = r, .n = 1};
    const table before = runs_table("runs_before", r->before, r->n_before);
    const table after = runs_table("runs_after", r->after, r->n_after);
    const table omitted = {.name = "omitted", TABLE_COLUMNS(omitted_columns), .rows = r, .n = 1};
    const table total = diff_total(r);
    table rows = diff_table(r);
    rows.n = shown_sites(r);
    document_object(d, &about_, IN_JSON);
    document_rows(d, &before, IN_JSON, NULL);
    document_rows(d, &after, IN_JSON, NULL);
    document_object(d, &total, IN_JSON);
    document_rows(d, &rows, IN_JSON | IN_CSV, NULL);
    document_object(d, &omitted, IN_JSON);
}

static void add_text(document *d, diff_report *r) {
    const table total = diff_total(r), rows = changed_table(r);
    diff_say_what_is_lacking(d, r);
    document_object(d, &total, IN_TEXT);
    diff_say_what_is_compared(d, r);
    document_rows(d, &rows, IN_TEXT, NULL);
    diff_say_what_was_found(d, r);
}

void diff_document(document *d, diff_report *r) {
    const measure_unit unit = measure_infos[r->diff->measure].unit;
    add_data(d, r);
    find_changed(d, r);
    r->change = diff_change_in_words(d, r->diff);
    if (d->failed)
        return;
    if (r->same_file)
        document_note(d, "Before and after are the same file (%s), so nothing differs.",
                      figure_amount(unit, r->diff->total.before.value).text);
    else
        add_text(d, r);
}
