/* report.c: see report.h. */
#include "present/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/ending.h"
#include "profile/tick.h"
#include "query/estimate.h"

/* ---- amounts ----------------------------------------------------------------------------- */

/* A number without `blocks`, as it stands behind one that has it. */
static figure_text number(const report *r, double value) {
    return figure_number(report_unit(r), value);
}

figure_text report_amount(const report *r, double value) {
    return figure_amount(report_unit(r), value);
}

figure_range report_margin(const report *r, const figure *f) {
    return figure_margin_in(report_unit(r), f);
}

figure_range report_beside(const report *r, const figure *f) {
    return figure_beside(report_margin(r, f));
}

/* Few blocks a second may be many in a day; fewer than one in a week are an error of rounding. */
static figure_text rate_number(const report *r, double value) {
    figure_text t;
    if (report_unit(r) == UNIT_BLOCKS && value < 100)
        snprintf(t.text, sizeof t.text, "%.3g", value < 1e-6 ? 0 : value);
    else
        t = number(r, value);
    return t;
}

static figure_text rate_each(const report *r, double value) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.30s/s", rate_number(r, value).text);
    return t;
}

figure_text report_rate(const report *r, double value) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.30s%s/s", rate_number(r, value).text,
             report_unit(r) == UNIT_BLOCKS ? " blocks" : "");
    return t;
}

figure_range report_beside_rate(const report *r, const figure *f) {
    return figure_beside(figure_error(f, rate_each(r, f->margin).text, rate_each(r, f->low).text,
                                      rate_each(r, f->high).text));
}

/* ---- text -------------------------------------------------------------------------------- */

void report_paint(output *o, const report *r, const char *code) {
    if (r->color)
        output_text(o, code);
}

static void text_moment(output *o, const report *r) {
    measure m = r->query->measure;
    if (m == MEASURE_LIVE || m == MEASURE_PEAK)
        output_format(o, m == MEASURE_LIVE ? " at %s" : ", at %s",
                      figure_duration(r->query->moment.time).text);
}

static void text_total(output *o, const report *r) {
    const query_result *q = r->query;
    figure total = report_total(r);
    report_paint(o, r, REPORT_BOLD);
    output_format(o, "%s %s", report_amount(r, total.value).text, measure_infos[q->measure].title);
    text_moment(o, r);
    report_paint(o, r, REPORT_PLAIN);
    output_format(o, " (%s, %s sample%s at rate %s)\n",
                  ending_error(q->profile, report_margin(r, &total)).text,
                  figure_count(total.samples).text, total.samples == 1 ? "" : "s",
                  figure_rate(q->profile->info.sample_rate).text);
}

static void text_invisible(output *o, const report *r) {
    const memtrace_info *info = &r->query->profile->info;
    double bytes = estimate_invisible(info->sample_rate) * info->word_size / 8;
    if (bytes > 0)
        output_format(o, "Sites below about %s may be invisible at this rate.\n",
                      figure_bytes(bytes).text);
}

/* What follows is of one order of many. */
static void text_spread(output *o, const report *r) {
    const query_result *q = r->query;
    const uint64_t tick = tick_of(&q->profile->table);
    if (q->spread.low == q->spread.high)
        return;
    output_text(o, "The order of what threads did ");
    if (tick > 0)
        output_format(o, "within %s of each other", figure_duration(tick).text);
    else
        output_text(o, "at the same time");
    output_text(o, " is not known; shares are of one that is possible.\n");
}

static void text_kept(output *o, const report *r) {
    const selection *s = &r->query->selection;
    if (s->n_of && s->n_kept < s->n_of)
        output_format(o, "The filter keeps %s of %s sampled blocks.\n",
                      figure_count(s->n_kept).text, figure_count(s->n_of).text);
}

static void text_nothing(output *o, const report *r) {
    const query_result *q = r->query;
    const selection *s = &q->selection;
    if (s->n_of && s->n_kept == 0) {
        output_format(o, "Nothing to show: kept 0 of %s blocks: `%.*s` removed the last %s.\n",
                      figure_count(s->n_of).text, (int)s->term_size, r->filter + s->term_at,
                      figure_count(s->n_removed).text);
        return;
    }
    if (s->n_of) {
        bool moment = q->measure == MEASURE_LIVE || q->measure == MEASURE_PEAK;
        output_format(o, "Nothing to show: of %s sampled blocks %s", figure_count(s->n_kept).text,
                      q->measure == MEASURE_PROMOTED   ? "none was promoted"
                      : q->measure == MEASURE_SURVIVED ? "all were freed"
                                                       : "none was live");
        output_format(o, moment ? " at %s.\n" : ".\n", figure_duration(q->moment.time).text);
        return;
    }
    figure none = figure_of(q->profile, 0);
    output_format(o, "No allocations: the trace holds no samples at rate %s.\n",
                  figure_rate(q->profile->info.sample_rate).text);
    if (none.high > 0)
        output_format(o,
                      "A program that allocates less than about %s in all may show none; "
                      "record it with a higher rate.\n",
                      figure_bytes(none.high).text);
}

bool report_text_head(output *o, const report *r) {
    ending_text(o, r->query->profile);
    if (r->query->total.blocks == 0) {
        text_nothing(o, r);
        return false;
    }
    text_total(o, r);
    text_spread(o, r);
    text_kept(o, r);
    text_invisible(o, r);
    return true;
}

/* ---- JSON and CSV ------------------------------------------------------------------------ */

static void write_selection(output *o, const report *r) {
    const selection *s = &r->query->selection;
    output_text(o, ",\"filter\":");
    output_json(o, r->filter);
    if (s->n_of)
        output_format(o, ",\"kept_blocks\":%zu,\"of_blocks\":%zu", s->n_kept, s->n_of);
    if (s->n_of && s->n_kept == 0) {
        output_text(o, ",\"removed_by\":");
        output_json_part(o, r->filter + s->term_at, s->term_size);
        output_format(o, ",\"removed_last\":%zu", s->n_removed);
    }
}

void report_json_about(output *o, const report *r) {
    const query_result *q = r->query;
    output_format(o, "\"unit\":\"%s\",\"rate\":", figure_unit(report_unit(r)));
    figure_json_number(o, q->profile->info.sample_rate);
    output_text(o, ",\"program\":");
    output_json(o, q->profile->info.executable_name);
    output_format(o, ",\"measure\":\"%s\"", measure_infos[q->measure].name);
    if (q->measure == MEASURE_LIVE || q->measure == MEASURE_PEAK)
        output_format(o, ",\"time\":%" PRIu64, q->moment.time);
    ending_json(o, q->profile);
    if (r->filter)
        write_selection(o, r);
}

void report_json_head(output *o, const report *r) {
    figure total = report_total(r);
    report_json_about(o, r);
    output_text(o, ",\n \"total\":{");
    figure_json(o, &total);
    output_char(o, '}');
}

void report_json_cost(output *o, const report *r, const cost *c) {
    figure f = report_figure(r, c);
    output_format(o, "\"share\":%.6f,", report_percent(r, c) / 100);
    figure_json(o, &f);
    output_format(o, ",\"blocks\":%" PRIu64, c->blocks);
}

void report_csv_cost(output *o, const report *r, const cost *c) {
    figure f = report_figure(r, c);
    output_format(o, "%.6f,%.0f,%.0f,%.0f,%" PRIu64 ",%" PRIu64, report_percent(r, c) / 100,
                  f.value, f.low, f.high, c->samples, c->blocks);
}

/* ---- places ------------------------------------------------------------------------------ */

void report_file(output *o, const profile_location *l, bool with_line) {
    output_shown(o, l->file);
    if (with_line && l->line)
        output_format(o, ":%" PRIu32, l->line);
}

bool report_has_file(const profile_location *l) {
    return l->file[0] && !profile_is_address(l);
}

void report_function(output *o, const profile_location *l) {
    output_shown(o, l->function[0] ? l->function : "(unknown function)");
}

void report_place(output *o, const report *r, const profile_location *l, bool with_line) {
    if (!l) {
        output_text(o, "(no backtrace)");
        return;
    }
    if (with_line && report_has_file(l)) {
        report_paint(o, r, REPORT_BOLD);
        report_file(o, l, true);
        report_paint(o, r, REPORT_PLAIN);
        output_char(o, ' ');
    }
    if (!with_line)
        report_paint(o, r, REPORT_BOLD);
    report_function(o, l);
    if (!with_line)
        report_paint(o, r, REPORT_PLAIN);
    if (!with_line && report_has_file(l)) {
        output_text(o, " (");
        report_file(o, l, false);
        output_char(o, ')');
    }
}
