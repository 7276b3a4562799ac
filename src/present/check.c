/* check.c: see check.h. */
#include "present/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/ending.h"
#include "render/figures.h"
#include "render/fold.h"

static const char *const verdicts[] = {
    [BUDGET_PASS] = "PASS", [BUDGET_FAIL] = "FAIL", [BUDGET_UNDECIDED] = "UNDECIDED"};

static const char *const units[] = {[BUDGET_BYTES] = "B",
                                    [BUDGET_WORDS] = "words",
                                    [BUDGET_BLOCKS] = "blocks",
                                    [BUDGET_BYTESECONDS] = "B·s"};

static const char *name_of(const budget_rule *r) {
    return r->name ? r->name : r->site;
}

/* Units tell allocated bytes, blocks and byte-seconds apart. */
static bool has_title(const budget_rule *r) {
    return r->measure != MEASURE_ALLOCATED && r->measure != MEASURE_BLOCKS &&
           r->measure != MEASURE_BYTESECONDS;
}

static size_t count(const check_table *t, budget_verdict verdict) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->results[i].verdict == verdict;
    return n;
}

/* ---- amounts ------------------------------------------------------------------------------- */

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

typedef struct check_cell {
    char text[160];
} check_cell;

static check_cell expected_cell(const budget_rule *r) {
    check_cell c;
    figure_text amount = amount_text(r->unit, r->amount);
    if (r->within > 0)
        snprintf(c.text, sizeof c.text, "%s, within %gx", amount.text, r->within);
    else
        snprintf(c.text, sizeof c.text, "at most %s", amount.text);
    return c;
}

/* As other reports show it. */
static figure_range error_text(const check_table *t, const budget_rule *r,
                               const budget_result *result) {
    figure f = {.value = result->actual.value,
                .low = result->actual.low,
                .high = result->actual.high,
                .margin = estimate_margin(result->actual)};
    if (r->unit == BUDGET_BYTES || r->unit == BUDGET_WORDS)
        f.margin = figure_of(t->profile, result->samples).margin;
    if (r->unit == BUDGET_WORDS)
        f.margin /= t->profile->info.word_size / 8.0;
    return figure_error(&f, amount_text(r->unit, f.margin).text, amount_text(r->unit, f.low).text,
                        amount_text(r->unit, f.high).text);
}

static check_cell actual_cell(const check_table *t, const budget_rule *r,
                              const budget_result *result) {
    check_cell c;
    if (result->samples == 0 && result->actual.high > 0)
        snprintf(c.text, sizeof c.text, "no sample (at most %s)",
                 amount_text(r->unit, result->actual.high).text);
    else
        snprintf(c.text, sizeof c.text, "%s%s", amount_text(r->unit, result->actual.value).text,
                 figure_beside(error_text(t, r, result)).text);
    return c;
}

static check_cell ratio_cell(const budget_rule *r, const budget_result *result) {
    check_cell c = {"-"};
    if (r->amount > 0)
        snprintf(c.text, sizeof c.text, "%.2f", result->actual.value / r->amount);
    return c;
}

static check_cell verdict_cell(const budget_result *result) {
    check_cell c;
    if (result->is_of_order)
        snprintf(c.text, sizeof c.text, "UNDECIDED (the order of threads is not known)");
    else if (result->verdict == BUDGET_UNDECIDED && result->deciding_rate == 0)
        snprintf(c.text, sizeof c.text, "UNDECIDED (a part of the trace is missing)");
    else if (result->verdict == BUDGET_UNDECIDED)
        snprintf(c.text, sizeof c.text, "UNDECIDED (a rate of %s would decide)",
                 figure_rate(figure_rate_up(result->deciding_rate)).text);
    else
        snprintf(c.text, sizeof c.text, "%s", verdicts[result->verdict]);
    return c;
}

/* ---- text ---------------------------------------------------------------------------------- */

enum { COLUMNS = 4, LABEL_WIDTH = 50 /* longer ones do not widen the table */ };

/* What stands beside the label. */
typedef struct row {
    check_cell cells[COLUMNS];
} row;

/* What the rule is about: the table's units say the rest. */
static void show_label(output *o, const budget_rule *r) {
    output_shown(o, name_of(r));
    if (!r->name && has_title(r))
        output_format(o, ", %s", measure_infos[r->measure].title);
    if (!r->name && r->filter) {
        output_text(o, ", ");
        output_shown(o, r->filter);
    }
}

static size_t label_columns(const budget_rule *r) {
    output label;
    output_start(&label, OUTPUT_MEMORY);
    show_label(&label, r);
    const size_t n = fold_columns(label.buffer, label.used);
    output_finish(&label);
    return n;
}

static row row_at(const check_table *t, size_t i) {
    const budget_rule *rule = &t->rules[i];
    const budget_result *result = &t->results[i];
    return (row){{expected_cell(rule), actual_cell(t, rule, result), ratio_cell(rule, result),
                  verdict_cell(result)}};
}

static void pad(output *o, size_t columns, size_t width) {
    for (; columns < width; columns++)
        output_char(o, ' ');
}

static void show_row(output *o, const row *r, const size_t widths[COLUMNS], const char *paint) {
    for (int c = 0; c < COLUMNS; c++) {
        const char *text = r->cells[c].text;
        output_text(o, " || ");
        if (c + 1 == COLUMNS)
            output_text(o, paint);
        output_shown(o, text);
        if (c + 1 < COLUMNS)
            pad(o, figure_columns(text), widths[c]);
    }
    output_text(o, *paint ? "\033[0m\n" : "\n");
}

static void measure_row(const row *r, size_t widths[COLUMNS]) {
    for (int c = 0; c < COLUMNS; c++) {
        size_t n = figure_columns(r->cells[c].text);
        widths[c] = n > widths[c] ? n : widths[c];
    }
}

static size_t label_width(const check_table *t, size_t width) {
    for (size_t i = 0; i < t->n; i++) {
        const size_t n = label_columns(&t->rules[i]);
        width = n > width && n <= LABEL_WIDTH ? n : width;
    }
    return width;
}

void check_text(output *o, const check_table *t) {
    static const char *const paints[] = {
        [BUDGET_PASS] = "\033[32m", [BUDGET_FAIL] = "\033[31m", [BUDGET_UNDECIDED] = ""};
    static const char site[] = "Site";
    static const row heads = {{{"Expected"}, {"Actual"}, {"Ratio"}, {"Verdict"}}};
    const size_t label = label_width(t, strlen(site));
    ending_text(o, t->profile);
    size_t widths[COLUMNS] = {0};
    measure_row(&heads, widths);
    for (size_t i = 0; i < t->n; i++) {
        const row r = row_at(t, i);
        measure_row(&r, widths);
    }
    output_text(o, site);
    pad(o, strlen(site), label);
    show_row(o, &heads, widths, "");
    for (size_t i = 0; i < t->n; i++) {
        const row r = row_at(t, i);
        show_label(o, &t->rules[i]);
        pad(o, label_columns(&t->rules[i]), label);
        show_row(o, &r, widths, t->color ? paints[t->results[i].verdict] : "");
    }
    output_format(o, "%zu passed, %zu failed, %zu undecided\n", count(t, BUDGET_PASS),
                  count(t, BUDGET_FAIL), count(t, BUDGET_UNDECIDED));
}

/* ---- JSON and CSV -------------------------------------------------------------------------- */

static void json_check(output *o, const budget_rule *r, const budget_result *result) {
    output_text(o, "{\"name\":");
    output_json(o, name_of(r));
    output_text(o, ",\"site\":");
    output_json(o, r->site);
    output_format(o, ",\"measure\":\"%s\"", measure_infos[r->measure].name);
    if (r->filter) {
        output_text(o, ",\"filter\":");
        output_json(o, r->filter);
    }
    output_format(o, ",\"unit\":\"%s\",\"%s\":%.0f", units[r->unit],
                  r->within > 0 ? "expected" : "max", r->amount);
    if (r->within > 0)
        output_format(o, ",\"within\":%g", r->within);
    output_format(o, ",\"value\":%.0f,\"low\":%.0f,\"high\":%.0f,\"samples\":%" PRIu64,
                  result->actual.value, result->actual.low, result->actual.high, result->samples);
    output_format(o, ",\"verdict\":\"%s\"", verdicts[result->verdict]);
    if (result->verdict == BUDGET_UNDECIDED && result->deciding_rate == 0)
        output_text(o, ",\"deciding_rate\":null");
    else if (result->verdict == BUDGET_UNDECIDED)
        output_format(o, ",\"deciding_rate\":%g", figure_rate_up(result->deciding_rate));
    output_char(o, '}');
}

void check_json(output *o, const check_table *t) {
    output_format(o, "{\"passed\":%zu,\"failed\":%zu,\"undecided\":%zu", count(t, BUDGET_PASS),
                  count(t, BUDGET_FAIL), count(t, BUDGET_UNDECIDED));
    ending_json(o, t->profile);
    output_text(o, ",\n \"checks\":[");
    for (size_t i = 0; i < t->n; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_check(o, &t->rules[i], &t->results[i]);
    }
    output_text(o, "]}\n");
}

void check_csv(output *o, const check_table *t) {
    output_text(o,
                "verdict,expected,within,value,low,high,samples,unit,site,name,measure,filter\n");
    for (size_t i = 0; i < t->n; i++) {
        const budget_rule *r = &t->rules[i];
        const budget_result *result = &t->results[i];
        output_format(o, "%s,%.0f,", verdicts[result->verdict], r->amount);
        if (r->within > 0)
            output_format(o, "%g", r->within);
        output_format(o, ",%.0f,%.0f,%.0f,%" PRIu64 ",%s,", result->actual.value,
                      result->actual.low, result->actual.high, result->samples, units[r->unit]);
        output_csv(o, r->site);
        output_char(o, ',');
        output_csv(o, name_of(r));
        output_format(o, ",%s,", measure_infos[r->measure].name);
        output_csv(o, r->filter ? r->filter : "");
        output_char(o, '\n');
    }
}

/* ---- XML and TOML -------------------------------------------------------------------------- */

/* Text for an attribute. XML allows neither control characters nor what is no UTF-8. */
static void xml_text(output *o, const char *text) {
    while (*text) {
        output_piece piece = output_shown_next(&text);
        switch (*piece.bytes) {
        case '&':
            output_text(o, "&amp;");
            break;
        case '<':
            output_text(o, "&lt;");
            break;
        case '>':
            output_text(o, "&gt;");
            break;
        case '"':
            output_text(o, "&quot;");
            break;
        default:
            output_bytes(o, piece.bytes, piece.size);
        }
    }
}

/* As in the table, and with the unit: names of tests differ. */
static void junit_name(output *o, const budget_rule *r) {
    xml_text(o, name_of(r));
    if (r->name)
        return;
    if (has_title(r))
        output_format(o, ", %s", measure_infos[r->measure].title);
    if (r->filter) {
        output_text(o, ", ");
        xml_text(o, r->filter);
    }
    if (!has_title(r) && r->unit != BUDGET_BYTES)
        output_format(o, ", %s", units[r->unit]);
}

static void junit_case(output *o, const check_table *t, const budget_rule *r,
                       const budget_result *result) {
    static const char *const tags[] = {[BUDGET_FAIL] = "failure", [BUDGET_UNDECIDED] = "skipped"};
    output_text(o, "  <testcase classname=\"allotrace\" name=\"");
    junit_name(o, r);
    if (result->verdict == BUDGET_PASS) {
        output_text(o, "\"/>\n");
        return;
    }
    output_format(o, "\">\n    <%s message=\"", tags[result->verdict]);
    if (result->verdict == BUDGET_UNDECIDED) {
        xml_text(o, verdict_cell(result).text);
        output_text(o, ": ");
    }
    xml_text(o, actual_cell(t, r, result).text);
    output_text(o, "; expected ");
    xml_text(o, expected_cell(r).text);
    output_text(o, "\"/>\n  </testcase>\n");
}

void check_junit(output *o, const check_table *t) {
    output_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    output_format(o, "<testsuite name=\"allotrace check\" tests=\"%zu\" failures=\"%zu\" ", t->n,
                  count(t, BUDGET_FAIL));
    output_format(o, "errors=\"0\" skipped=\"%zu\">\n", count(t, BUDGET_UNDECIDED));
    for (size_t i = 0; i < t->n; i++)
        junit_case(o, t, &t->rules[i], &t->results[i]);
    output_text(o, "</testsuite>\n");
}

/* A basic string; control characters are not kept. */
static void toml_string(output *o, const char *key, const char *text) {
    output_format(o, "%s = \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            output_char(o, '\\');
        output_char(o, (unsigned char)*text < ' ' ? '?' : *text);
    }
    output_text(o, "\"\n");
}

/* In a unit of at least two digits, rounded up. */
static void toml_maximum(output *o, budget_unit unit, double most) {
    static const struct {
        const char *name;
        double size;
    } larger[] = {{"MB", 1 << 20}, {"KB", 1 << 10}};
    const char *name = unit == BUDGET_BYTESECONDS ? "B" : units[unit];
    bool bytes = unit == BUDGET_BYTES || unit == BUDGET_BYTESECONDS;
    for (size_t i = 0; bytes && i < sizeof larger / sizeof *larger; i++)
        if (most >= 10 * larger[i].size) {
            most = ceil(most / larger[i].size);
            name = larger[i].name;
            break;
        }
    output_format(o, "max = \"%.0f %s%s\"\n", most, name, unit == BUDGET_BYTESECONDS ? "*s" : "");
}

void check_toml(output *o, const check_table *t) {
    output_text(o, "# Allocation budgets, checked by: allotrace check --budget FILE TRACE\n"
                   "# Written by: allotrace check --update FILE TRACE\n");
    for (size_t i = 0; i < t->n; i++) {
        const budget_rule *r = &t->rules[i];
        output_text(o, "\n[[budget]]\n");
        if (r->name)
            toml_string(o, "name", r->name);
        toml_string(o, "site", r->site);
        if (r->filter)
            toml_string(o, "filter", r->filter);
        if (r->measure != MEASURE_ALLOCATED)
            toml_string(o, "measure", measure_infos[r->measure].name);
        toml_maximum(o, r->unit, budget_maximum(&t->results[i]));
    }
}
