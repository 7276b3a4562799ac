/* report.c: the cost columns that all tables share, the table that describes the query
 * (report_about), and the sentences at the head of each text. */
#include "reports/report.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "profile/tick.h"
#include "reports/ending.h"

/* ---- columns of costs -------------------------------------------------------------------- */

static const cost *cost_of(const table *t, const void *row) {
    const report_rows *r = t->context;
    return r->cost(row);
}

static const report *report_of(const table *t) {
    const report_rows *r = t->context;
    return r->report;
}

cell report_cell_share(const table *t, const void *row) {
    return (cell){.number = figure_share(report_of(t)->query, cost_of(t, row))};
}

cell report_cell_amount(const table *t, const void *row) {
    return (cell){.amount = report_figure(report_of(t), cost_of(t, row))};
}

cell report_cell_samples(const table *t, const void *row) {
    return (cell){.count = cost_of(t, row)->samples};
}

cell report_cell_blocks(const table *t, const void *row) {
    return (cell){.count = cost_of(t, row)->blocks};
}

static bool is_exact(const report *r) {
    return r->query->profile->info.sample_rate == 1;
}

const char *report_program(const profile *p) {
    const char *file = p->info.executable_name;
    return file && *file ? path_base(file) : "(unnamed)";
}

bool report_has_samples(const table *t) {
    return !is_exact(report_of(t));
}

bool report_has_blocks(const table *t) {
    return is_exact(report_of(t)) && report_unit(report_of(t)) != UNIT_BLOCKS;
}

/* ---- the query ----------------------------------------------------------------------------- */

static const report *asked(const void *row) {
    return row;
}

static const profile *profile_of(const void *row) {
    return asked(row)->query->profile;
}

ENDING_FUNCTIONS(profile_of)

static const selection *selection_of(const void *row) {
    return &asked(row)->query->selection;
}

TABLE_CELL(about_unit, (cell){.text = figure_unit(report_unit(asked(row)))})
TABLE_CELL(about_rate, (cell){.number = profile_of(row)->info.sample_rate})
TABLE_CELL(about_program, (cell){.text = profile_of(row)->info.executable_name})
TABLE_CELL(about_measure, (cell){.text = measure_infos[asked(row)->query->measure].name})
TABLE_CELL(about_time, (cell){.count = asked(row)->query->moment.time})
TABLE_CELL(about_filter, (cell){.text = asked(row)->filter})
TABLE_CELL(about_kept, (cell){.count = selection_of(row)->n_kept})
TABLE_CELL(about_of, (cell){.count = selection_of(row)->n_of})
TABLE_CELL(about_removed_by, (cell){.text = t->context})
TABLE_CELL(about_removed_last, (cell){.count = selection_of(row)->n_removed})

static bool has_moment(const table *t) {
    const measure m = asked(t->rows)->query->measure;
    return m == MEASURE_LIVE || m == MEASURE_PEAK;
}

TABLE_CELL(about_headers, (cell){.flag = report_unit(asked(row)) != UNIT_REQUESTED})

static bool is_in_bytes(const table *t) {
    return report_unit(asked(t->rows)) != UNIT_BLOCKS;
}

static bool has_filter(const table *t) {
    return asked(t->rows)->filter;
}

static bool has_selection(const table *t) {
    return has_filter(t) && selection_of(t->rows)->n_of > 0;
}

static bool has_nothing(const table *t) {
    return has_selection(t) && selection_of(t->rows)->n_kept == 0;
}

static const table_column about_columns[] = {
    {.name = "unit", .kind = COLUMN_TEXT, .get = about_unit, .help = "of amounts: B, blocks, B·s"},
    {.name = "rate", .kind = COLUMN_NUMBER, .get = about_rate, .help = "the chance of each word"},
    {.name = "program", .kind = COLUMN_TEXT, .get = about_program, .help = "what was recorded"},
    {.name = "measure", .kind = COLUMN_TEXT, .get = about_measure, .help = "what is added up"},
    {.name = "time",
     .kind = COLUMN_DURATION,
     .get = about_time,
     .has = has_moment,
     .help = "the moment of the measures live and peak, in microseconds"},
    {.name = "headers",
     .kind = COLUMN_FLAG,
     .get = about_headers,
     .has = is_in_bytes,
     .help = "whether amounts include the header of each block, a word"},
    ENDING_FIELDS("the trace"),
    {.name = "filter",
     .kind = COLUMN_TEXT,
     .get = about_filter,
     .has = has_filter,
     .help = "the filter, as given"},
    {.name = "kept_blocks",
     .kind = COLUMN_COUNT,
     .get = about_kept,
     .has = has_selection,
     .help = "sampled blocks that it keeps"},
    {.name = "of_blocks",
     .kind = COLUMN_COUNT,
     .get = about_of,
     .has = has_selection,
     .help = "of so many"},
    {.name = "removed_by",
     .kind = COLUMN_TEXT,
     .get = about_removed_by,
     .has = has_nothing,
     .help = "if nothing is left: the term that removed the last blocks"},
    {.name = "removed_last",
     .kind = COLUMN_COUNT,
     .get = about_removed_last,
     .has = has_nothing,
     .help = "how many these were"},
};

/* ---- the total --------------------------------------------------------------------------- */

TABLE_CELL(total_amount, (cell){.amount = report_total(asked(row))})

static const table_column total_columns[] = {
    {.name = "",
     .kind = COLUMN_AMOUNT,
     .get = total_amount,
     .help = "of all that the query counts"},
};

/* Returns how many samples or blocks were seen, unless that is the total itself. */
static figure_text sampled_words(const report *r, const figure *total) {
    const uint64_t n = is_exact(r) ? r->query->total.blocks : total->samples;
    figure_text t = {""};
    if (!is_exact(r) || report_unit(r) != UNIT_BLOCKS)
        snprintf(t.text, sizeof t.text, ", %.24s %s%s", figure_count(n).text,
                 is_exact(r) ? "block" : "sample", n == 1 ? "" : "s");
    return t;
}

static void say_total(document *d, const report *r) {
    const query_result *q = r->query;
    const figure total = report_total(r);
    char strong[160], rest[200], moment[60] = "";
    if (q->measure == MEASURE_LIVE && !profile_has_times(q->profile))
        snprintf(moment, sizeof moment, " at the end");
    else if (q->measure == MEASURE_LIVE || q->measure == MEASURE_PEAK)
        snprintf(moment, sizeof moment, q->measure == MEASURE_LIVE ? " at %s" : ", at %s",
                 figure_duration(q->moment.time).text);
    snprintf(strong, sizeof strong, "%s %s%s", figure_amount(report_unit(r), total.value).text,
             measure_infos[q->measure].title, moment);
    snprintf(rest, sizeof rest, " (%s%s at rate %s)",
             ending_error(q->profile, figure_margin_in(report_unit(r), &total)).text,
             sampled_words(r, &total).text, figure_rate(q->profile->info.sample_rate).text);
    document_title(d, strong, rest);
}

/* Explains why there is more here than in tools that count the requested bytes. Only for traces
 * with malloc blocks alone: users of a language know its heap's headers. */
static void say_what_counts(document *d, const report *r) {
    const profile *p = r->query->profile;
    const unsigned word = p->info.word_size / 8u;
    if (p->samples[MEMTRACE_MINOR] + p->samples[MEMTRACE_MAJOR] > 0 || profile_is_imported(p))
        return;
    if (report_unit(r) == UNIT_BYTES)
        document_hint(d,
                      "Bytes include malloc's header (%u per block), with sizes rounded up to %u; "
                      "--measure requested excludes headers.",
                      word, word);
    else if (report_unit(r) == UNIT_REQUESTED)
        document_hint(d, "Sizes are rounded up to %u bytes.", word);
}

/* Says that the shares assume one of several possible orders. */
static void say_spread(document *d, const report *r) {
    const query_result *q = r->query;
    char when[80] = "at the same time";
    if (q->spread.low == q->spread.high)
        return; /* the times may be missing in a table from an index */
    const uint64_t tick = tick_of(&q->profile->table);
    if (tick > 0)
        snprintf(when, sizeof when, "within %s of each other", figure_duration(tick).text);
    document_note(
        d,
        "The order of events in different threads %s is unknown; shares assume one possible order.",
        when);
}

static void say_limits(document *d, const report *r) {
    const memtrace_info *info = &r->query->profile->info;
    const selection *s = &r->query->selection;
    const double bytes = estimate_invisible(info->sample_rate) * info->word_size / 8;
    const bool kept_all = !s->n_of || s->n_kept == s->n_of;
    const char *asked = r->asked ? r->asked : r->filter;
    if (asked && *asked && kept_all)
        document_note(d, "Filter: %s", asked);
    else if (asked && *asked)
        document_note(d, "Filter: %s (matches %s of %s sampled blocks)", asked,
                      figure_count(s->n_kept).text, figure_count(s->n_of).text);
    else if (asked && !kept_all)
        document_note(d,
                      "Blocks allocated before the trace begins are not counted (%s of %s sampled "
                      "blocks).",
                      figure_count(s->n_of - s->n_kept).text, figure_count(s->n_of).text);
    if (bytes > 0)
        document_note(d, "Sites below about %s may be invisible at this rate.",
                      figure_bytes(bytes).text);
}

void report_say_tick(document *d, const report *r) {
    const uint64_t tick = tick_of(&r->query->profile->table);
    if (tick > 0)
        document_note(d,
                      "  (where many blocks are allocated at once, the trace's clock advances in "
                      "steps of about %s)",
                      figure_duration(tick).text);
}

static void say_none_counts(document *d, const report *r) {
    const query_result *q = r->query;
    const bool moment = q->measure == MEASURE_LIVE || q->measure == MEASURE_PEAK;
    document_note(d, "Nothing to show: of %s sampled blocks, %s%s%s.",
                  figure_count(q->selection.n_kept).text,
                  q->measure == MEASURE_PROMOTED    ? "none was promoted"
                  : q->measure == MEASURE_SURVIVED  ? "all were freed"
                  : q->measure == MEASURE_TEMPORARY ? "none was temporary"
                                                    : "none was live",
                  moment ? " at " : "", moment ? figure_duration(q->moment.time).text : "");
}

static void say_no_samples(document *d, const report *r) {
    const profile *p = r->query->profile;
    const figure none = figure_of(p, 0);
    document_note(d, "No allocations: the trace contains no samples at rate %s.",
                  figure_rate(p->info.sample_rate).text);
    if (none.high > 0)
        document_note(d,
                      "A program that allocates less than about %s in total may have no samples; "
                      "record it at a higher rate.",
                      figure_bytes(none.high).text);
}

static void say_nothing(document *d, const report *r) {
    const selection *s = &r->query->selection;
    if (s->n_of == 0)
        say_no_samples(d, r);
    else if (s->n_kept > 0)
        say_none_counts(d, r);
    else
        document_note(
            d, "Nothing to show: the filter matches 0 of %s blocks: `%.*s` removed the last %s.",
            figure_count(s->n_of).text, (int)s->term_size, r->filter + s->term_at,
            figure_count(s->n_removed).text);
}

/* Returns the filter's term that removed the last blocks. */
static const char *term_of(document *d, const report *r) {
    const selection *s = &r->query->selection;
    char *text = document_keep(d, s->term_size + 1);
    if (text && r->filter)
        memcpy(text, r->filter + s->term_at, s->term_size);
    return text ? text : "";
}

table report_about(document *d, const report *r) {
    return (table){
        .name = "", .rows = r, .n = 1, .context = term_of(d, r), TABLE_COLUMNS(about_columns)};
}

bool report_head(document *d, const report *r) {
    const table about = report_about(d, r);
    const table total = {
        .name = "total", .rows = r, .n = 1, .unit = report_unit(r), TABLE_COLUMNS(total_columns)};
    document_object(d, &about, IN_JSON);
    document_object(d, &total, IN_JSON);
    ending_note(d, r->query->profile);
    if (r->query->total.blocks == 0) {
        say_nothing(d, r);
        return false;
    }
    say_total(d, r);
    say_spread(d, r);
    say_limits(d, r);
    say_what_counts(d, r);
    return true;
}
