/* diff.c: see diff.h. Colour means that a change is sure; what may be an accident of sampling never
 * has one. */
#include "reports/diff.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/ending.h"

static const diff_report *report_of(const table *t) {
    return t->context;
}

static const diff_site *site_of(const void *row) {
    return row;
}

const diff_name *diff_name_of(const diff_site *s) {
    return s->in_after ? &s->after : &s->before;
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

/* Where ± would say nothing about a change that is sure, both ends do. */
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

static cell site_went(const table *t, const void *row) {
    (void)t;
    return (cell){.amount = figure_of_estimate(site_of(row)->went, 0)};
}

static cell site_came(const table *t, const void *row) {
    (void)t;
    return (cell){.amount = figure_of_estimate(site_of(row)->came, 0)};
}

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

static cell site_ratio_samples(const table *t, const void *row) {
    (void)t;
    return (cell){.count = samples_of(row)};
}

/* No chance is none: what is too small to be a number is not 0, either. */
static cell site_q_above_0(const table *t, const void *row) {
    cell q = site_q(t, row);
    q.number = q.none ? 0 : fmax(q.number, DBL_MIN);
    return q;
}

static cell site_sure(const table *t, const void *row) {
    (void)t;
    return (cell){.flag = site_of(row)->sure};
}

static cell site_sure_count(const table *t, const void *row) {
    (void)t;
    return (cell){.count = site_of(row)->sure};
}

static const table_column ratio_columns[] = {
    {.name = "value", .kind = COLUMN_NUMBER, .get = site_ratio_value, .help = "the estimate"},
    {.name = "low", .kind = COLUMN_NUMBER, .get = site_ratio_low, .help = "the least it may be"},
    {.name = "high", .kind = COLUMN_NUMBER, .get = site_ratio_high, .help = "the most"},
    {.name = "samples", .kind = COLUMN_COUNT, .get = site_ratio_samples, .help = "of both sides"},
};

static bool site_ratio(const table *t, const void *row, table *below) {
    below->columns = ratio_columns;
    below->n_columns = sizeof ratio_columns / sizeof *ratio_columns;
    below->rows = row;
    below->n = 1;
    below->context = t->context;
    return true;
}

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
        .name = "ratio", .kind = COLUMN_OBJECT, .in = IN_JSON, .below = site_ratio,                \
        .help = "after / before"                                                                   \
    }

/* ---- the total --------------------------------------------------------------------------- */

static const table_column total_columns[] = {
    {.name = "sure",
     .kind = COLUMN_FLAG,
     .in = IN_JSON,
     .get = site_sure,
     .help = "whether it changed beyond accident"},
    {.name = "p",
     .kind = COLUMN_NUMBER,
     .in = IN_JSON,
     .get = site_p,
     .help = "the chance of such a difference by accident"},
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

static cell name_place(const table *t, const void *row) {
    const diff_name *n = row;
    (void)t;
    return (cell){.place = n->place};
}

static cell name_type(const table *t, const void *row) {
    const diff_name *n = row;
    (void)t;
    return n->type ? (cell){.text = n->type} : cell_none();
}

static const table_column place_columns[] = {
    {.name = "place", .kind = COLUMN_PLACE, .get = name_place, .help = "what allocates"}};
static const table_column type_columns[] = {
    {.name = "type", .kind = COLUMN_TEXT, .get = name_type, .help = "what is allocated"}};

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

static cell site_place(const table *t, const void *row) {
    return (cell){.remark = remark_of(t, row), .place = diff_name_of(row)->place};
}

static cell site_type(const table *t, const void *row) {
    const char *type = diff_name_of(row)->type;
    return (cell){.none = !type, .remark = remark_of(t, row), .text = type};
}

static cell site_function(const table *t, const void *row) {
    const profile_location *place = diff_name_of(row)->place;
    (void)t;
    return place ? (cell){.text = place->function} : cell_none();
}

static cell site_file(const table *t, const void *row) {
    const profile_location *place = diff_name_of(row)->place;
    (void)t;
    return place ? (cell){.text = place->file} : cell_none();
}

static cell line_of(const table *t, bool is_there, const diff_name *n) {
    const bool has = is_there && n->place && n->place->line && is_by_line(report_of(t));
    return has ? (cell){.count = n->place->line} : cell_none();
}

static cell site_line_before(const table *t, const void *row) {
    return line_of(t, site_of(row)->in_before, &site_of(row)->before);
}

static cell site_line_after(const table *t, const void *row) {
    return line_of(t, site_of(row)->in_after, &site_of(row)->after);
}

static cell site_line(const table *t, const void *row) {
    const cell line = line_of(t, true, diff_name_of(row));
    return line.none ? (cell){.count = 0} : line;
}

/* -1: no place. */
static cell id_of(const query_result *q, bool is_there, const diff_name *n) {
    const bool has = is_there && n->place;
    return (cell){.number = has ? (double)(n->place - q->profile->locations.items) : -1};
}

static cell site_id_before(const table *t, const void *row) {
    return id_of(report_of(t)->before[0], site_of(row)->in_before, &site_of(row)->before);
}

static cell site_id_after(const table *t, const void *row) {
    return id_of(report_of(t)->after[0], site_of(row)->in_after, &site_of(row)->after);
}

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
    {.name = "sure",
     .kind = COLUMN_FLAG,
     .in = IN_JSON | IN_PAGE,
     .get = site_sure,
     .help = "whether it changed beyond accident"},
    {.name = "sure",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = site_sure_count,
     .help = "the same: 1 or 0"},
    {.name = "q",
     .kind = COLUMN_NUMBER,
     .in = IN_DATA,
     .get = site_q,
     .help = "the false discovery rate at which the change would be called sure"},
    {.name = "p",
     .kind = COLUMN_NUMBER,
     .in = IN_DATA,
     .get = site_p,
     .help = "the chance of such a difference by accident"},
    {.name = "sure_change",
     .kind = COLUMN_NUMBER,
     .in = IN_PAGE,
     .get = site_sure_change,
     .help = "how large the change surely is"},
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
    {.name = "q", .kind = COLUMN_NUMBER, .in = IN_TEXT, .get = site_q_above_0, .help = "as above"},
    {.name = "function",
     .kind = COLUMN_TEXT,
     .in = IN_CSV | IN_PAGE,
     .get = site_function,
     .help = "what allocates"},
    {.name = "file",
     .kind = COLUMN_TEXT,
     .in = IN_CSV | IN_PAGE,
     .get = site_file,
     .help = "its file: that after, where it is there"},
    {.name = "line_before",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = site_line_before,
     .help = "its line before"},
    {.name = "line_after",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = site_line_after,
     .help = "its line after"},
    {.name = "line",
     .kind = COLUMN_COUNT,
     .in = IN_PAGE,
     .get = site_line,
     .help = "that after, where it is there"},
    {.name = "type",
     .kind = COLUMN_TEXT,
     .in = IN_CSV | IN_PAGE,
     .get = site_type,
     .help = "the type of what is allocated, if rows are types"},
    {.name = "id_before",
     .kind = COLUMN_NUMBER,
     .in = IN_PAGE,
     .get = site_id_before,
     .help = "the number of its place in the trace before; -1: none"},
    {.name = "id_after",
     .kind = COLUMN_NUMBER,
     .in = IN_PAGE,
     .get = site_id_after,
     .help = "the same in the trace after"},
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
                                                                      : "(no backtrace)"};
}

/* ---- the rows of text -------------------------------------------------------------------- */

static size_t shown_sites(const diff_report *r) {
    const size_t n = r->diff->sites.count;
    return r->top && r->top < n ? (size_t)r->top : n;
}

/* What is the same for sure has nothing to show. */
static bool is_same(const diff_site *s) {
    return s->c.change.low == 0 && s->c.change.high == 0;
}

/* Where a site was that moved. */
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

static const char *make_remark(document *d, const diff_report *r, const diff_site *s) {
    return !s->in_after ? "(gone)" : !s->in_before ? "(new)" : moved_from(d, r, s);
}

/* The first `top` of those that are not the same. */
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
    return unsure ? "Not sure; may be chance" : NULL;
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
    for (size_t i = 0; i < n; i++) {
        const profile_location *place = diff_name_of(&r->diff->sites.items[i])->place;
        if (place && profile_is_address(place))
            return true;
    }
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

static cell about_by(const table *t, const void *row) {
    (void)t;
    return (cell){.text = hotspots_groupings[about(row)->diff->options.by]};
}

static cell about_normalise(const table *t, const void *row) {
    (void)t;
    return (cell){.text = diff_normalisations[about(row)->diff->options.normalise]};
}

static cell about_unit(const table *t, const void *row) {
    const bool shares = about(row)->diff->options.normalise == DIFF_BY_TOTAL;
    (void)t;
    return (cell){.text = shares ? "share" : unit_of(row)};
}

static cell about_unit_of_total(const table *t, const void *row) {
    (void)t;
    return (cell){.text = unit_of(row)};
}

static cell about_rate(const table *t, const void *row) {
    (void)t;
    (void)row;
    return (cell){.number = COMPARE_FALSE_DISCOVERIES};
}

static cell about_decided(const table *t, const void *row) {
    (void)t;
    return (cell){.flag = about(row)->diff->decided};
}

static cell about_measure(const table *t, const void *row) {
    (void)t;
    return (cell){.text = measure_infos[about(row)->diff->measure].name};
}

static cell about_filter(const table *t, const void *row) {
    (void)t;
    return (cell){.text = about(row)->filter};
}

static bool has_filter(const table *t) {
    return about(t->rows)->filter;
}

static cell per_before(const table *t, const void *row) {
    (void)t;
    return (cell){.number = about(row)->diff->options.per_before};
}

static cell per_after(const table *t, const void *row) {
    (void)t;
    return (cell){.number = about(row)->diff->options.per_after};
}

static const table_column per_columns[] = {
    {.name = "before", .kind = COLUMN_NUMBER, .get = per_before, .help = "amounts before"},
    {.name = "after", .kind = COLUMN_NUMBER, .get = per_after, .help = "amounts after"},
};

static bool about_per(const table *t, const void *row, table *below) {
    (void)t;
    below->columns = per_columns;
    below->n_columns = sizeof per_columns / sizeof *per_columns;
    below->rows = row;
    below->n = 1;
    return true;
}

static bool has_per(const table *t) {
    return about(t->rows)->diff->options.per_before > 0;
}

static const table_column about_columns[] = {
    {.name = "by", .kind = COLUMN_TEXT, .get = about_by, .help = "what a row is"},
    {.name = "unit", .kind = COLUMN_TEXT, .get = about_unit, .help = "of sites"},
    {.name = "unit_of_total",
     .kind = COLUMN_TEXT,
     .get = about_unit_of_total,
     .help = "of `total`"},
    {.name = "false_discovery_rate",
     .kind = COLUMN_NUMBER,
     .get = about_rate,
     .help = "the limit of q"},
    {.name = "decided",
     .kind = COLUMN_FLAG,
     .get = about_decided,
     .help = "whether the traces can tell what is sure"},
    {.name = "measure", .kind = COLUMN_TEXT, .get = about_measure, .help = "what is compared"},
    {.name = "normalise",
     .kind = COLUMN_TEXT,
     .get = about_normalise,
     .help = "what amounts are relative to"},
    {.name = "filter",
     .kind = COLUMN_TEXT,
     .get = about_filter,
     .has = has_filter,
     .help = "the filter, as given"},
    {.name = "per",
     .kind = COLUMN_OBJECT,
     .below = about_per,
     .has = has_per,
     .help = "what amounts were divided by"},
};

/* ---- runs -------------------------------------------------------------------------------- */

static const profile *profile_of(const void *row) {
    return (*(const query_result *const *)row)->profile;
}

static cell run_rate(const table *t, const void *row) {
    (void)t;
    return (cell){.number = profile_of(row)->info.sample_rate};
}

static cell run_program(const table *t, const void *row) {
    (void)t;
    return (cell){.text = profile_of(row)->info.executable_name};
}

static cell run_host(const table *t, const void *row) {
    (void)t;
    return (cell){.text = profile_of(row)->info.host_name};
}

static cell run_lacks_events(const table *t, const void *row) {
    (void)t;
    return profile_of(row)->lacks_events ? (cell){.flag = true} : cell_absent();
}

static cell run_is_whole(const table *t, const void *row) {
    (void)t;
    return profile_ends_early(profile_of(row)) ? cell_none() : cell_absent();
}

static bool run_end(const table *t, const void *row, table *below) {
    (void)t;
    below->columns = ending_columns;
    below->n_columns = ending_n_columns;
    below->rows = &profile_of(row)->end;
    below->n = 1;
    return true;
}

static const table_column run_columns[] = {
    {.name = "rate", .kind = COLUMN_NUMBER, .get = run_rate, .help = "the chance of each word"},
    {.name = "program", .kind = COLUMN_TEXT, .get = run_program, .help = "what was recorded"},
    {.name = "host", .kind = COLUMN_TEXT, .get = run_host, .help = "where"},
    {.name = "ends_early",
     .kind = COLUMN_OBJECT,
     .get = run_is_whole,
     .below = run_end,
     .help = "if the trace ends before what it records: when, how and why"},
    {.name = "lacks_events",
     .kind = COLUMN_FLAG,
     .get = run_lacks_events,
     .help = "true if events could not be read, since a part of the trace is damaged"},
};

static table runs_table(const char *name, const query_result *const *runs, size_t n) {
    return (table){
        .name = name, TABLE_COLUMNS(run_columns), .rows = runs, .stride = sizeof *runs, .n = n};
}

static bool any_is_partial(const query_result *const *runs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (profile_is_partial(runs[i]->profile))
            return true;
    return false;
}

static void say_what_run_lacks(document *d, const char *run, const profile *p) {
    if (profile_ends_early(p))
        document_note(d, "%s ends early, at %s%s%s.", run, figure_duration(p->end.time).text,
                      p->end.reason[0] ? ": " : "", p->end.reason);
    else if (p->lacks_events)
        document_note(d, "%s lacks events: a part of the trace is damaged.", run);
}

static void say_what_is_lacking(document *d, const char *side, const query_result *const *runs,
                                size_t n) {
    for (size_t i = 0; i < n; i++) {
        char run[40];
        if (n > 1)
            snprintf(run, sizeof run, "%s %zu", side, i + 1);
        else
            snprintf(run, sizeof run, "%s", side);
        say_what_run_lacks(d, run, runs[i]->profile);
    }
}

/* ---- remarks ----------------------------------------------------------------------------- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void say_differs(document *d, const char *what, const char *before, const char *after) {
    if (strcmp(before, after) != 0)
        document_note(d, "Different %s: %s before, %s after.", what, before, after);
}

static void say_what_differs(document *d, const diff_report *r) {
    const memtrace_info *b = &r->before[0]->profile->info, *a = &r->after[0]->profile->info;
    say_differs(d, "programs", base_name(b->executable_name), base_name(a->executable_name));
    say_differs(d, "hosts", b->host_name, a->host_name);
    say_differs(d, "rates", figure_rate(b->sample_rate).text, figure_rate(a->sample_rate).text);
}

static void say_amounts(document *d, const diff_report *r) {
    const diff_options *o = &r->diff->options;
    const measure_unit unit = measure_infos[r->diff->measure].unit;
    if (r->n_before > 1 || r->n_after > 1)
        document_note(d, "Amounts are means of several runs: %zu before, %zu after.", r->n_before,
                      r->n_after);
    if (o->per_before > 0 && o->per_before == o->per_after)
        document_note(d, "Amounts are divided by %g.", o->per_before);
    else if (o->per_before > 0)
        document_note(d, "Amounts are divided by %g before and by %g after.", o->per_before,
                      o->per_after);
    if (r->diff->measure != MEASURE_ALLOCATED && unit != UNIT_BLOCKS && unit != UNIT_BYTESECONDS)
        document_note(d, "Amounts are of what is %s.", measure_infos[r->diff->measure].title);
    if (o->normalise == DIFF_BY_TOTAL)
        document_note(d, "Sites are compared by their share of the total.");
    if (r->filter)
        document_note(d, "Filter: %s", r->filter);
}

/* What a site must allocate to be seen in each run of a side; 0 at rate 1. */
static double invisible_bytes(const query_result *const *runs, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const memtrace_info *info = &runs[i]->profile->info;
        most = fmax(most, estimate_invisible(info->sample_rate) * info->word_size / 8);
    }
    return most;
}

static void say_invisible(document *d, const diff_report *r) {
    const double before = invisible_bytes(r->before, r->n_before),
                 after = invisible_bytes(r->after, r->n_after);
    if (before <= 0 && after <= 0)
        return;
    if (before == after)
        document_note(d, "Sites below about %s may be invisible at this rate.",
                      figure_bytes(before).text);
    else if (before <= 0 || after <= 0)
        document_note(d, "Sites below about %s %s may be invisible at that rate.",
                      figure_bytes(fmax(before, after)).text, before <= 0 ? "after" : "before");
    else
        document_note(d, "Sites below about %s before, %s after may be invisible at these rates.",
                      figure_bytes(before).text, figure_bytes(after).text);
}

/* ---- what was found ---------------------------------------------------------------------- */

static const char *sites(const diff_report *r, size_t n) {
    static const char *const nouns[][2] = {[HOTSPOTS_BY_LINE] = {"site", "sites"},
                                           [HOTSPOTS_BY_FUNCTION] = {"function", "functions"},
                                           [HOTSPOTS_BY_TYPE] = {"type", "types"}};
    return nouns[r->diff->options.by][n > 1];
}

static void say_rest(document *d, const diff_report *r) {
    const diff *f = r->diff;
    const size_t sure = r->n_changed < f->n_sure ? f->n_sure - r->n_changed : 0;
    const size_t unsure = r->n_all - r->n_changed - sure, same = f->sites.count - r->n_all;
    if (sure)
        document_note(d, "%s more %s changed for sure.", figure_count(sure).text, sites(r, sure));
    if (unsure)
        document_note(d, "%s more %s%s.", figure_count(unsure).text, sites(r, unsure),
                      f->decided ? " without a sure change" : ", undecided");
    if (same)
        document_note(d, "%s %s did not change.", figure_count(same).text, sites(r, same));
}

static figure_text percent(double x, int digits, bool has_sign) {
    figure_text t;
    const char *sign = !has_sign ? "" : x > 0 ? "+" : x < 0 ? "-" : "";
    snprintf(t.text, sizeof t.text, "%s%.*f%%", sign, digits, has_sign ? fabs(x) : x);
    return t;
}

static bool is_lopsided(const figure *f) {
    const double down = f->value - f->low, up = f->high - f->value;
    return up > 1.64 * down || down > 1.64 * up;
}

/* How much an amount of this ratio changed, with the digits that the margin allows: 17% ± 3%. */
static figure_range percent_text(const estimate *ratio, bool has_sign) {
    const double turn = !has_sign && ratio->value < 1 ? -100 : 100;
    const double a = turn * (ratio->low - 1), b = turn * (ratio->high - 1);
    figure f = {.value = turn * (ratio->value - 1),
                .low = fmin(a, b),
                .high = fmax(a, b),
                .margin = 100 * estimate_margin(*ratio)};
    const int digits = f.margin > 0 ? f.margin < 1 : fabs(f.value) < 10;
    f.has_ends = is_lopsided(&f);
    const figure_range error =
        figure_error(&f, percent(f.margin, digits, false).text,
                     percent(f.low, digits, has_sign).text, percent(f.high, digits, has_sign).text);
    figure_range t;
    snprintf(t.text, sizeof t.text, "%.20s%.78s", percent(f.value, digits, has_sign).text,
             figure_beside(error).text);
    return t;
}

static bool has_ratio(const comparison *c) {
    return isfinite(c->ratio.value) && isfinite(c->ratio.low) && isfinite(c->ratio.high);
}

/* What stands behind the change of the total. */
static const char *change_in_words(document *d, const diff *f) {
    const comparison *c = &f->total;
    if (isnan(c->ratio.value) || (c->change.value == 0 && c->change.low == c->change.high))
        return NULL;
    if (!f->total_sure && (c->before_samples == 0 || c->after_samples == 0))
        return c->after_samples ? "no samples before" : "no samples after";
    return has_ratio(c) ? document_text(d, "%s", percent_text(&c->ratio, true).text)
                        : "from nothing";
}

static const char *undecided_text(const diff_report *r) {
    const measure m = r->diff->measure;
    if (any_is_partial(r->before, r->n_before) || any_is_partial(r->after, r->n_after))
        return ": a trace is incomplete; what it lacks cannot be compared. Record it again.";
    return m == MEASURE_PEAK || m == MEASURE_LIVE /* what is unknown is often more than sampling */
               ? ": ± covers sampling error only; one run per side cannot show how much what "
                 "several threads hold at one time varies. Give several: --before A… --after B…"
               : ": ± covers sampling error only; one run per side cannot show how much times "
                 "vary. Give several: --before A… --after B…";
}

static const char *verdict_text(document *d, const comparison *c, bool sure) {
    const char *verb = c->change.value > 0 ? "Increased" : "Reduced";
    if (!sure)
        return c->change.low == c->change.high ? "No change in total" : "No sure change in total";
    return has_ratio(c) ? document_text(d, "%s by %s", verb, percent_text(&c->ratio, false).text)
                        : document_text(d, "%s from nothing", verb);
}

/* The last line: what to take away. */
static void say_conclusion(document *d, const diff_report *r) {
    const diff *f = r->diff;
    const char *verdict = verdict_text(d, &f->total, f->total_sure);
    if (!f->decided)
        document_title(d, "Undecided", undecided_text(r));
    else if (isnan(f->total.ratio.value))
        document_title(d, "Nothing to compare", ": there are no samples on either side.");
    else if (verdict)
        document_title(d, verdict,
                       document_text(d, "; %s %s changed for sure.",
                                     f->n_sure ? figure_count(f->n_sure).text : "no",
                                     sites(r, f->n_sure)));
}

/* ---- documents --------------------------------------------------------------------------- */

static cell omitted_sites(const table *t, const void *row) {
    (void)t;
    return (cell){.count = about(row)->diff->sites.count - shown_sites(row)};
}

static cell omitted_sure(const table *t, const void *row) {
    const size_t sure = about(row)->diff->n_sure, shown = shown_sites(row);
    (void)t;
    return (cell){.count = shown < sure ? sure - shown : 0};
}

static const table_column omitted_columns[] = {
    {.name = "sites", .kind = COLUMN_COUNT, .get = omitted_sites, .help = "sites not listed"},
    {.name = "sure", .kind = COLUMN_COUNT, .get = omitted_sure, .help = "of these: the sure ones"},
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
    say_what_is_lacking(d, "Before", r->before, r->n_before);
    say_what_is_lacking(d, "After", r->after, r->n_after);
    document_object(d, &total, IN_TEXT);
    say_what_differs(d, r);
    say_amounts(d, r);
    say_invisible(d, r);
    document_rows(d, &rows, IN_TEXT, NULL);
    say_rest(d, r);
    say_conclusion(d, r);
}

void diff_document(document *d, diff_report *r) {
    const measure_unit unit = measure_infos[r->diff->measure].unit;
    add_data(d, r);
    find_changed(d, r);
    r->change = change_in_words(d, r->diff);
    if (d->failed)
        return;
    if (r->same_file)
        document_note(d, "Before and after are the same file: %s on both sides, and all is equal.",
                      figure_amount(unit, r->diff->total.before.value).text);
    else
        add_text(d, r);
}
