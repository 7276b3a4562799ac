/* check.c: the rules have different units, so text shows amounts as words. */
#include "reports/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/ending.h"

static const char *const verdicts[] = {
    [BUDGET_PASS] = "PASS", [BUDGET_FAIL] = "FAIL", [BUDGET_UNDECIDED] = "UNDECIDED"};

static const char *const units[] = {[BUDGET_BYTES] = "B",
                                    [BUDGET_WORDS] = "words",
                                    [BUDGET_BLOCKS] = "blocks",
                                    [BUDGET_BYTESECONDS] = "B·s"};

const char *check_unit(budget_unit unit) {
    return units[unit];
}

const char *check_name(const budget_rule *r) {
    return r->name ? r->name : r->site;
}

const char *check_measure(const budget_rule *r) {
    const bool in_unit = r->measure == MEASURE_ALLOCATED || r->measure == MEASURE_BLOCKS ||
                         r->measure == MEASURE_BYTESECONDS;
    return in_unit ? NULL : measure_infos[r->measure].title;
}

size_t check_count(const check_report *c, budget_verdict verdict) {
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->results[i].verdict == verdict;
    return n;
}

/* ---- amounts ----------------------------------------------------------------------------- */

static figure_text number_text(double x) {
    figure_text t;
    if (x < 1e15)
        return figure_count((uint64_t)llround(x));
    snprintf(t.text, sizeof t.text, "%.3g", x);
    return t;
}

static figure_text amount_text(budget_unit unit, double x) {
    if (unit == BUDGET_BYTES)
        return figure_bytes(x);
    figure_text t;
    if (unit == BUDGET_BYTESECONDS) {
        snprintf(t.text, sizeof t.text, "%.30s·s", figure_bytes(x).text);
        return t;
    }
    const char *one = unit == BUDGET_WORDS ? "1 word" : "1 block";
    if (llround(fmin(x, 2)) == 1)
        snprintf(t.text, sizeof t.text, "%s", one);
    else
        snprintf(t.text, sizeof t.text, "%.28s %s", number_text(x).text, units[unit]);
    return t;
}

static figure figure_at(const check_report *c, size_t i) {
    const budget_rule *r = &c->rules[i];
    const budget_result *result = &c->results[i];
    figure f = figure_of_estimate(result->actual, result->samples);
    f.has_ends = c->profile->info.sample_rate >= 1; /* of what the order of threads leaves open */
    if (r->unit == BUDGET_BYTES || r->unit == BUDGET_WORDS)
        f.margin = figure_of(c->profile, result->samples).margin;
    if (r->unit == BUDGET_WORDS)
        f.margin /= c->profile->info.word_size / 8.0;
    return f;
}

/* Returns the error in the format of the other reports. */
static figure_range error_text(const check_report *c, size_t i) {
    const budget_unit unit = c->rules[i].unit;
    const figure f = figure_at(c, i);
    return figure_error(&f, amount_text(unit, f.margin).text, amount_text(unit, f.low).text,
                        amount_text(unit, f.high).text);
}

static bool may_hide(const budget_result *result) {
    return result->samples == 0 && result->actual.high > 0;
}

static check_words amount_words(const budget_rule *r) {
    check_words w;
    snprintf(w.text, sizeof w.text, "%s%s", r->within > 0 ? "" : "at most ",
             amount_text(r->unit, r->amount).text);
    return w;
}

check_words check_limit(const budget_rule *r) {
    check_words w = amount_words(r);
    const size_t n = strlen(w.text);
    if (r->within > 0)
        snprintf(w.text + n, sizeof w.text - n, ", within %gx", r->within);
    return w;
}

check_words check_actual(const check_report *c, size_t i) {
    const budget_result *result = &c->results[i];
    const budget_unit unit = c->rules[i].unit;
    check_words w;
    if (may_hide(result))
        snprintf(w.text, sizeof w.text, "no sample (at most %s)",
                 amount_text(unit, result->actual.high).text);
    else
        snprintf(w.text, sizeof w.text, "%s%s", amount_text(unit, result->actual.value).text,
                 figure_beside(error_text(c, i)).text);
    return w;
}

check_words check_undecided(const budget_result *result) {
    check_words w;
    if (result->is_renamed)
        snprintf(w.text, sizeof w.text, "the trace has a similar name, not this one");
    else if (result->is_unnamed)
        snprintf(w.text, sizeof w.text, "it may be one of the places without a name or line");
    else if (result->is_of_order)
        snprintf(w.text, sizeof w.text, "the order of events between threads is unknown");
    else if (result->deciding_rate == 0)
        snprintf(w.text, sizeof w.text, "part of the trace is missing");
    else
        snprintf(w.text, sizeof w.text, "a rate of %s would decide",
                 figure_rate(figure_rate_up(result->deciding_rate)).text);
    return w;
}

/* ---- rows -------------------------------------------------------------------------------- */

typedef struct check_row {
    const budget_rule *rule;
    const budget_result *result;
    figure actual;
    check_words amount, error, limit, within, ratio, decides;
    char *label;
} check_row;

/* Returns what the rule is about, except for what its unit says. */
static char *label_of(document *d, const budget_rule *r) {
    const char *title = r->name ? NULL : check_measure(r), *term = r->name ? NULL : r->filter;
    const char *name = check_name(r);
    const size_t size =
        strlen(name) + strlen(title ? title : "") + strlen(term ? term : "") + sizeof ", , ";
    char *label = document_keep(d, size);
    if (label)
        snprintf(label, size, "%s%s%s%s%s", name, title ? ", " : "", title ? title : "",
                 term ? ", " : "", term ? term : "");
    return label;
}

static void fill_actual(check_row *row, const check_report *c, size_t i) {
    const budget_unit unit = row->rule->unit;
    row->actual = figure_at(c, i);
    if (may_hide(row->result)) {
        snprintf(row->amount.text, sizeof row->amount.text, "no sample");
        snprintf(row->error.text, sizeof row->error.text, "at most %s",
                 amount_text(unit, row->actual.high).text);
        return;
    }
    snprintf(row->amount.text, sizeof row->amount.text, "%s",
             amount_text(unit, row->actual.value).text);
    if (row->actual.low < row->actual.high)
        snprintf(row->error.text, sizeof row->error.text, "%s", error_text(c, i).text);
}

static bool needs_rate(const budget_result *result) {
    return result->verdict == BUDGET_UNDECIDED && result->deciding_rate > 0 && !result->is_of_order;
}

static void fill_decides(check_row *row) {
    const budget_result *result = row->result;
    if (needs_rate(result))
        snprintf(row->decides.text, sizeof row->decides.text, "%s",
                 figure_rate(figure_rate_up(result->deciding_rate)).text);
    else if (result->verdict == BUDGET_UNDECIDED)
        snprintf(row->decides.text, sizeof row->decides.text, "none");
}

static void fill_row(check_row *row, const check_report *c, size_t i) {
    const budget_rule *r = &c->rules[i];
    *row = (check_row){.rule = r, .result = &c->results[i], .limit = amount_words(r)};
    fill_actual(row, c, i);
    if (r->within > 0)
        snprintf(row->within.text, sizeof row->within.text, "%gx", r->within);
    if (r->amount > 0)
        snprintf(row->ratio.text, sizeof row->ratio.text, "%.2f", row->actual.value / r->amount);
    fill_decides(row);
}

static check_row *make_rows(document *d, const check_report *c) {
    check_row *rows = document_keep(d, c->n * sizeof *rows);
    for (size_t i = 0; rows && i < c->n; i++) {
        fill_row(&rows[i], c, i);
        rows[i].label = label_of(d, rows[i].rule);
    }
    return rows;
}

/* ---- columns ----------------------------------------------------------------------------- */

static const check_row *row_of(const void *row) {
    return row;
}

static const budget_rule *rule_of(const void *row) {
    return row_of(row)->rule;
}

static cell words_or_none(const char *text) {
    return text && *text ? (cell){.text = text} : cell_none();
}

static cell row_verdict(const table *t, const void *row) {
    static const cell_tone tones[] = {
        [BUDGET_PASS] = TONE_GOOD, [BUDGET_FAIL] = TONE_BAD, [BUDGET_UNDECIDED] = TONE_NONE};
    const budget_verdict v = row_of(row)->result->verdict;
    (void)t;
    return (cell){.text = verdicts[v], .tone = tones[v]};
}

/* X(name, title, to_right, text, help): text columns for terminal text, and for JSON and CSV. */
#define CHECK_SHOWN(X)                                                                             \
    X(decides, "rate needed", true, row_of(row)->decides.text, "at which a verdict is likely")     \
    X(amount, "actual", true, row_of(row)->amount.text, "what the trace says")                     \
    X(error, "±", false, row_of(row)->error.text, "how far the truth may be from it")              \
    X(limit, "expected", true, row_of(row)->limit.text, "what is expected, or allowed at most")    \
    X(factor, "within", true, row_of(row)->within.text,                                            \
      "the factor by which the truth may differ")                                                  \
    X(ratio, "ratio", true, row_of(row)->ratio.text, "the amount, divided by what is expected")    \
    X(label, "site", false, row_of(row)->label, "what the rule is about")
#define CHECK_NAMED(X)                                                                             \
    X(unit, "unit", false, units[rule_of(row)->unit], "B, words, blocks or B·s")                   \
    X(site, "site", false, rule_of(row)->site, "as the rule has it")                               \
    X(name, "name", false, check_name(rule_of(row)), "of the rule, or else its site")              \
    X(measure, "measure", false, measure_infos[rule_of(row)->measure].name, "which blocks count")

#define CHECK_CELL(name, title, to_right, words, help) TABLE_CELL(row_##name, words_or_none(words))
CHECK_SHOWN(CHECK_CELL)
CHECK_NAMED(CHECK_CELL)
#undef CHECK_CELL

TABLE_CELL(row_filter, rule_of(row)->filter ? (cell){.text = rule_of(row)->filter} : cell_absent())
TABLE_CELL(row_actual, (cell){.amount = row_of(row)->actual})

/* Returns the expected amount as a whole number. An amount that no trace can reach becomes the
 * largest number. */
static cell row_expected(const table *t, const void *row) {
    const double x = nearbyint(rule_of(row)->amount);
    (void)t;
    return (cell){.count = x < 0x1p64 ? (uint64_t)x : UINT64_MAX};
}

TABLE_CELL(row_expectation, rule_of(row)->within > 0 ? row_expected(t, row) : cell_absent())
TABLE_CELL(row_maximum, rule_of(row)->within > 0 ? cell_absent() : row_expected(t, row))

static cell row_within(const table *t, const void *row) {
    const double within = rule_of(row)->within;
    (void)t;
    return within > 0 ? (cell){.number = within} : cell_absent();
}

static cell row_deciding(const table *t, const void *row) {
    const budget_result *result = row_of(row)->result;
    (void)t;
    if (result->verdict != BUDGET_UNDECIDED)
        return cell_absent();
    return result->deciding_rate > 0 ? (cell){.number = figure_rate_up(result->deciding_rate)}
                                     : cell_none();
}

static const table_column columns[] = {
    {.name = "verdict", .kind = COLUMN_TEXT, .get = row_verdict, .help = "PASS, FAIL or UNDECIDED"},
#define CHECK_COLUMN(name_, title_, to_right_, words, help_)                                       \
    {.name = #name_,                                                                               \
     .title = (title_),                                                                            \
     .kind = COLUMN_TEXT,                                                                          \
     .in = IN_TEXT,                                                                                \
     .to_right = (to_right_),                                                                      \
     .get = row_##name_,                                                                           \
     .help = (help_)},
    CHECK_SHOWN(CHECK_COLUMN)
#undef CHECK_COLUMN
    /* CSV has one column for both kinds of rules. */
    {.name = "expected",
     .kind = COLUMN_COUNT,
     .in = IN_CSV,
     .get = row_expected,
     .help = "what is expected, or the most that is allowed"},
    {.name = "expected",
     .kind = COLUMN_COUNT,
     .in = IN_JSON,
     .get = row_expectation,
     .help = "what is expected"},
    {.name = "max",
     .kind = COLUMN_COUNT,
     .in = IN_JSON,
     .get = row_maximum,
     .help = "the most that is allowed"},
    {.name = "within",
     .kind = COLUMN_NUMBER,
     .in = IN_JSON | IN_CSV,
     .get = row_within,
     .help = "the factor by which the truth may differ from what is expected"},
    {.name = "",
     .kind = COLUMN_AMOUNT,
     .in = IN_JSON | IN_CSV,
     .get = row_actual,
     .help = "the estimate in the unit of the rule, and the ends of its 95% interval"},
#define CHECK_COLUMN(name_, title_, to_right_, words, help_)                                       \
    {.name = #name_,                                                                               \
     .kind = COLUMN_TEXT,                                                                          \
     .in = IN_JSON | IN_CSV,                                                                       \
     .get = row_##name_,                                                                           \
     .help = (help_)},
    CHECK_NAMED(CHECK_COLUMN)
#undef CHECK_COLUMN
        {.name = "filter",
         .kind = COLUMN_TEXT,
         .in = IN_JSON | IN_CSV,
         .get = row_filter,
         .help = "the filter, if there is one"},
    {.name = "deciding_rate",
     .kind = COLUMN_NUMBER,
     .in = IN_JSON,
     .get = row_deciding,
     .help = "of what is undecided: the rate at which a verdict is likely; null: none is"},
};

/* ---- all verdicts together ----------------------------------------------------------------- */

#define CHECK_SUM(name, verdict) TABLE_CELL(sum_##name, (cell){.count = check_count(row, verdict)})
CHECK_SUM(passed, BUDGET_PASS)
CHECK_SUM(failed, BUDGET_FAIL)
CHECK_SUM(undecided, BUDGET_UNDECIDED)
#undef CHECK_SUM

static const profile *profile_of(const void *row) {
    return ((const check_report *)row)->profile;
}

ENDING_FUNCTIONS(profile_of)

static const table_column sum_columns[] = {
    {.name = "passed", .kind = COLUMN_COUNT, .get = sum_passed, .help = "checks that passed"},
    {.name = "failed", .kind = COLUMN_COUNT, .get = sum_failed, .help = "checks that failed"},
    {.name = "undecided",
     .kind = COLUMN_COUNT,
     .get = sum_undecided,
     .help = "checks that did neither"},
    ENDING_FIELDS("the trace"),
};

/* Says why no rate would decide some checks. */
static void say_undecided(document *d, const check_report *c) {
    bool order = false, part = false, renamed = false, unnamed = false;
    for (size_t i = 0; i < c->n; i++) {
        const budget_result *result = &c->results[i];
        order |= result->is_of_order;
        renamed |= result->is_renamed;
        unnamed |= result->is_unnamed;
        part |= result->verdict == BUDGET_UNDECIDED && !result->is_of_order &&
                !result->is_renamed && !result->is_unnamed && result->deciding_rate == 0;
    }
    if (unnamed)
        document_note(d, "Checks of sites that may be among the places without a name or line "
                         "cannot be decided until these are symbolized.");
    if (renamed)
        document_note(d,
                      "Checks of sites that may have another name in the trace cannot be decided "
                      "at any rate.");
    if (part)
        document_note(
            d,
            "Checks that depend on the missing part of the trace cannot be decided at any rate.");
    if (order)
        document_note(d, "Checks that depend on the unknown order of events between threads cannot "
                         "be decided at any rate.");
}

void check_document(document *d, const check_report *c) {
    const table sum = {.name = "", .rows = c, .n = 1, TABLE_COLUMNS(sum_columns)};
    const table rows = {.name = "checks",
                        TABLE_COLUMNS(columns),
                        .rows = make_rows(d, c),
                        .stride = sizeof(check_row),
                        .n = d->failed ? 0 : c->n};
    document_object(d, &sum, IN_JSON);
    ending_note(d, c->profile);
    document_rows(d, &rows, IN_ALL, NULL);
    say_undecided(d, c);
    document_note(d, "%zu passed, %zu failed, %zu undecided", check_count(c, BUDGET_PASS),
                  check_count(c, BUDGET_FAIL), check_count(c, BUDGET_UNDECIDED));
}
