/* leaks.c: see leaks.h. */
#include "present/leaks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- what is shown ----------------------------------------------------------------------- */

/* Sites of which nothing is left are only counted. */
static bool is_shown(const leaks_site *s) {
    return s->cost.blocks > 0;
}

static bool is_within(size_t shown, const leaks_view *view) {
    return view->top == 0 || shown < view->top;
}

/* Live, by class, and the number of sites. */
static cost class_cost(const leaks *l, int class, size_t *n) {
    cost sum = {0};
    *n = 0;
    for (size_t i = 0; i < l->sites.count; i++)
        if ((int)l->sites.items[i].class == class && is_shown(&l->sites.items[i])) {
            cost_add(&sum, &l->sites.items[i].cost);
            ++*n;
        }
    return sum;
}

bool leaks_unsymbolized(const leaks *l, const leaks_view *view) {
    size_t shown = 0;
    for (size_t i = 0; i < l->sites.count; i++) {
        const leaks_site *s = &l->sites.items[i];
        if (!is_shown(s) || !is_within(shown++, view))
            continue;
        if (s->place && profile_is_address(s->place))
            return true;
    }
    return false;
}

/* ---- text -------------------------------------------------------------------------------- */

static void show_line(output *o, const leaks_site *s) {
    double most = 0;
    for (int i = 0; i < LEAKS_POINTS; i++)
        most = fmax(most, s->line[i]);
    for (int i = 0; i < LEAKS_POINTS; i++)
        figure_spark(o, most > 0 ? s->line[i] / most : 0);
}

/* Bytes or blocks each second, which may be negative. Bytes times seconds grow as bytes. */
static void show_rate(output *o, const report *r, double amount) {
    const bool blocks = r->query->measure == MEASURE_BLOCKS;
    output_text(o, amount <= (blocks ? -1e-6 : -0.5) ? "-" : "");
    if (blocks)
        output_text(o, report_rate(r, fabs(amount)).text);
    else
        output_format(o, "%s/s", figure_bytes(fabs(amount)).text);
}

static void show_slope(output *o, const report *r, const leaks_site *s) {
    show_rate(o, r, s->slope.value);
    if (s->slope.low == s->slope.high)
        return;
    output_text(o, " (");
    show_rate(o, r, s->slope.low);
    output_text(o, " … ");
    show_rate(o, r, s->slope.high);
    output_text(o, ")");
}

/* An amount and its error. */
static void show_cost(output *o, const report *r, const cost *c) {
    figure f = report_figure(r, c);
    output_format(o, "%s%s", report_amount(r, f.value).text, report_beside(r, &f).text);
}

static void show_chance(output *o, const leaks_site *s) {
    if (s->class <= LEAKS_STEPS)
        output_format(o, ", p %.2g, q %.2g", s->p, s->q);
}

static void show_window(output *o, const leaks *l) {
    if (l->cleaned_up)
        output_format(o,
                      "From %s on the program freed memory and allocated hardly anything: "
                      "what was live before counts.\n",
                      figure_duration(l->to).text);
    output_format(o, "Growth counts from %s to %s; what is allocated before is start-up.\n",
                  figure_duration(l->from).text, figure_duration(l->to).text);
}

static void show_total(output *o, const report *r, const leaks *l) {
    report_paint(o, r, REPORT_BOLD);
    show_cost(o, r, &l->total.cost);
    report_paint(o, r, REPORT_PLAIN);
    output_text(o, l->measure == MEASURE_BYTESECONDS ? " held until then by what was" : "");
    output_text(o, l->cleaned_up ? " live before that" : " live at the end");
    output_text(o, "; in all, it changes by ");
    show_slope(o, r, &l->total);
    output_text(o, ".\n");
}

/* What is live of a class. */
static figure figure_of_class(const report *r, const leaks *l, int c, size_t *n_sites) {
    const cost sum = cost_or_missed(r->query->profile, r->query->measure, r->query->may,
                                    class_cost(l, c, n_sites));
    return report_figure(r, &sum);
}

/* The columns that amounts of classes and their errors take. */
typedef struct widths {
    size_t amount, error;
} widths;

static widths find_widths(const report *r, const leaks *l) {
    widths w = {.amount = 12};
    for (int c = 0; c < LEAKS_N_CLASSES; c++) {
        size_t n;
        const figure f = figure_of_class(r, l, c, &n);
        const size_t amount = figure_columns(report_amount(r, f.value).text);
        const size_t error = figure_columns(report_beside(r, &f).text);
        w.amount = n > 0 && amount > w.amount ? amount : w.amount;
        w.error = n > 0 && error > w.error ? error : w.error;
    }
    return w;
}

static void show_classes(output *o, const report *r, const leaks *l) {
    const widths w = find_widths(r, l);
    output_char(o, '\n');
    for (int c = 0; c < LEAKS_N_CLASSES; c++) {
        size_t n;
        const figure f = figure_of_class(r, l, c, &n);
        const figure_range error = report_beside(r, &f);
        if (n == 0)
            continue;
        output_format(o, "  %-13s %*s%s%*s  in %s site%s: %s", leaks_class_infos[c].name,
                      (int)w.amount, report_amount(r, f.value).text, error.text,
                      (int)(w.error - figure_columns(error.text)), "", figure_count(n).text,
                      n == 1 ? "" : "s", leaks_class_infos[c].meaning);
        if (c == LEAKS_UNCLEAR && l->telling_rate > 0)
            output_format(o, "; of the largest, a rate of %s would likely tell",
                          figure_rate(figure_rate_up(l->telling_rate)).text);
        output_char(o, '\n');
    }
    output_char(o, '\n');
}

static void show_site(output *o, const report *r, const leaks_site *s, const leaks_view *view) {
    output_format(o, "  %-13s ", leaks_class_infos[s->class].name);
    report_place(o, r, s->place, !view->by_function);
    output_text(o, "\n                ");
    show_line(o, s);
    output_text(o, "  ");
    show_cost(o, r, &s->cost);
    output_text(o, ", ");
    show_slope(o, r, s);
    show_chance(o, s);
    output_char(o, '\n');
    if (s->remark)
        output_format(o, "                (%s)\n", s->remark);
}

static void show_rest(output *o, const report *r, size_t n, const cost *more, size_t gone) {
    if (n > 0) {
        output_format(o, "  %s more site%s with ", figure_count(n).text, n == 1 ? "" : "s");
        show_cost(o, r, more);
        output_text(o, r->query->measure == MEASURE_BYTESECONDS ? " held\n" : " live\n");
    }
    if (gone > 0)
        output_format(o, "  %s site%s of which no sampled block is left\n", figure_count(gone).text,
                      gone == 1 ? "" : "s");
}

void leaks_text(output *o, const report *r, const leaks *l, const leaks_view *view) {
    size_t shown = 0, more = 0, gone = 0;
    cost rest = {0};
    if (!report_text_head(o, r))
        return;
    show_window(o, l);
    show_total(o, r, l);
    show_classes(o, r, l);
    for (size_t i = 0; i < l->sites.count; i++) {
        const leaks_site *s = &l->sites.items[i];
        if (!is_shown(s)) {
            gone++;
        } else if (is_within(shown, view)) {
            show_site(o, r, s, view);
            shown++;
        } else {
            cost_add(&rest, &s->cost);
            more++;
        }
    }
    show_rest(o, r, more, &rest, gone);
}

/* ---- JSON and CSV ------------------------------------------------------------------------ */

static void json_live(output *o, estimate e, uint64_t samples) {
    figure f = {.samples = samples, .value = e.value, .low = e.low, .high = e.high};
    output_char(o, '{');
    figure_json(o, &f);
    output_char(o, '}');
}

static void json_findings(output *o, const leaks_site *s) {
    output_format(o, "\"class\":\"%s\",\"live\":", leaks_class_infos[s->class].name);
    json_live(o, s->live, s->cost.samples);
    output_text(o, ",\"slope_per_second\":");
    figure_json_estimate(o, s->slope, s->slope_samples);
    output_text(o, ",\"p\":");
    figure_json_number(o, s->p);
    output_text(o, ",\"q\":");
    figure_json_number(o, s->q);
    output_format(o, ",\"startup_samples\":%" PRIu64 ",\"at_exit_samples\":%" PRIu64 ",\"line\":[",
                  s->startup, s->at_exit);
    for (int i = 0; i < LEAKS_POINTS; i++)
        output_format(o, "%s%.0f", i ? "," : "", s->line[i]);
    output_text(o, "]}");
}

static void json_site(output *o, const leaks_site *s, const leaks_view *view) {
    output_text(o, "{\"function\":");
    if (s->place) {
        output_json(o, s->place->function);
        output_text(o, ",\"file\":");
        output_json(o, s->place->file);
        if (!view->by_function)
            output_format(o, ",\"line\":%" PRIu32, s->place->line);
    } else {
        output_text(o, "null,\"file\":null");
    }
    if (s->remark) {
        output_text(o, ",\"remark\":");
        output_json(o, s->remark);
    }
    output_char(o, ',');
    json_findings(o, s);
}

static void json_classes(output *o, const report *r, const leaks *l) {
    output_text(o, ",\n \"classes\":[");
    for (int c = 0; c < LEAKS_N_CLASSES; c++) {
        size_t n;
        const figure f = figure_of_class(r, l, c, &n);
        output_format(o, "%s{\"class\":\"%s\",\"sites\":%zu,\"live\":{", c ? "," : "",
                      leaks_class_infos[c].name, n);
        figure_json(o, &f);
        output_text(o, "}}");
    }
    output_char(o, ']');
}

void leaks_json(output *o, const report *r, const leaks *l, const leaks_view *view) {
    size_t shown = 0, more = 0, gone = 0;
    output_char(o, '{');
    report_json_head(o, r);
    output_format(o, ",\n \"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"cleaned_up\":%s", l->from,
                  l->to, l->cleaned_up ? "true" : "false");
    if (l->telling_rate > 0)
        output_format(o, ",\"telling_rate\":%g", figure_rate_up(l->telling_rate));
    json_classes(o, r, l);
    output_text(o, ",\n \"all_sites\":{");
    json_findings(o, &l->total);
    output_text(o, ",\n \"sites\":[");
    for (size_t i = 0; i < l->sites.count; i++) {
        if (!is_shown(&l->sites.items[i])) {
            gone++;
        } else if (is_within(shown, view)) {
            output_text(o, shown++ ? ",\n  " : "\n  ");
            json_site(o, &l->sites.items[i], view);
        } else {
            more++;
        }
    }
    output_format(o, "],\n \"omitted\":{\"sites\":%zu,\"sites_without_live\":%zu}}\n", more, gone);
}

void leaks_csv(output *o, const leaks *l, const leaks_view *view) {
    size_t shown = 0;
    output_text(o, "class,live,live_low,live_high,live_samples,slope_per_second,slope_low,"
                   "slope_high,p,q,startup_samples,at_exit_samples,function,file,line,remark\n");
    for (size_t i = 0; i < l->sites.count; i++) {
        const leaks_site *s = &l->sites.items[i];
        if (!is_shown(s) || !is_within(shown++, view))
            continue;
        output_format(o, "%s,%.0f,%.0f,%.0f,%" PRIu64 ",%.1f,%.1f,%.1f,%.3g,%.3g",
                      leaks_class_infos[s->class].name, s->live.value, s->live.low, s->live.high,
                      s->cost.samples, s->slope.value, s->slope.low, s->slope.high, s->p, s->q);
        output_format(o, ",%" PRIu64 ",%" PRIu64 ",", s->startup, s->at_exit);
        output_csv(o, s->place ? s->place->function : "");
        output_char(o, ',');
        output_csv(o, s->place ? s->place->file : "");
        output_char(o, ',');
        if (s->place && s->place->line && !view->by_function)
            output_u64(o, s->place->line, 0, ' ');
        output_char(o, ',');
        output_csv(o, s->remark ? s->remark : "");
        output_char(o, '\n');
    }
}
