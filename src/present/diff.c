/* diff.c: see diff.h. Colour means that a change is sure; what may be an accident of sampling never
 * has one. */
#include "present/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "present/ending.h"
#include "render/figures.h"

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

static void paint(output *o, const diff_view *view, const char *code) {
    if (view->color)
        output_text(o, code);
}

static size_t shown_sites(const diff *d, const diff_view *view) {
    return view->top && view->top < d->sites.count ? (size_t)view->top : d->sites.count;
}

bool diff_unsymbolized(const diff *d, const diff_view *view) {
    size_t n = shown_sites(d, view);
    for (size_t i = 0; i < n; i++) {
        const diff_site *s = &d->sites.items[i];
        const profile_location *l = s->in_before ? s->before.place : s->after.place;
        if (l && profile_is_address(l))
            return true;
    }
    return false;
}

/* ---- amounts ------------------------------------------------------------------------------- */

static measure_unit unit_of_measure(const diff *d) {
    return measure_infos[d->measure].unit;
}

static const char *unit_of(const diff *d, bool total) {
    static const char *const units[][2] = {[UNIT_BYTES] = {"B", "B/s"},
                                           [UNIT_BLOCKS] = {"blocks", "blocks/s"},
                                           [UNIT_BYTESECONDS] = {"B·s", "B·s/s"},
                                           [UNIT_REQUESTED] = {"B", "B/s"}};
    if (d->options.normalise == DIFF_BY_TOTAL && !total)
        return "share";
    return units[unit_of_measure(d)][d->options.normalise == DIFF_BY_TIME];
}

static figure_text amount_text(const diff *d, double value, bool total) {
    figure_text t;
    if (d->options.normalise == DIFF_BY_TOTAL && !total) {
        snprintf(t.text, sizeof t.text, "%.2f %%", value * 100);
        return t;
    }
    bool blocks = unit_of_measure(d) == UNIT_BLOCKS;
    figure_text number = blocks ? figure_count((uint64_t)llround(value)) : figure_bytes(value);
    if (value > 0 && value < 10 && (d->options.per_before > 0 || blocks))
        snprintf(number.text, sizeof number.text, "%.2g%s", value, blocks ? "" : " B");
    snprintf(t.text, sizeof t.text, "%.24s%s%s", number.text,
             unit_of_measure(d) == UNIT_BYTESECONDS ? "·s"
             : blocks && total                      ? " blocks"
                                                    : "",
             d->options.normalise == DIFF_BY_TIME ? "/s" : "");
    return t;
}

static double margin_of(const estimate *e) {
    return (e->high - e->low) / 2;
}

/* Few samples have a lopsided interval, of which half its width would give a wrong idea. */
static figure_text change_text(const diff *d, const estimate *change) {
    figure_text t, value = amount_text(d, fabs(change->value), false);
    figure_text margin = amount_text(d, margin_of(change), false);
    const char *sign = change->value < 0 ? "-" : change->value > 0 ? "+" : "";
    bool excludes_zero = change->low > 0 || change->high < 0;
    if (excludes_zero && margin_of(change) >= fabs(change->value)) {
        double sure = change->low > 0 ? change->low : -change->high;
        snprintf(t.text, sizeof t.text, "%s%.12s (≥ %.12s)", sign, value.text,
                 amount_text(d, sure, false).text);
    } else if (margin_of(change) > 0) {
        snprintf(t.text, sizeof t.text, "%s%.16s ± %.16s", sign, value.text, margin.text);
    } else {
        snprintf(t.text, sizeof t.text, "%s%.30s", sign, value.text);
    }
    return t;
}

/* `percent` with the digits that its margin allows. */
static figure_text percent_text(double percent, double margin) {
    figure_text t;
    int digits = margin > 0 ? margin < 1 : percent < 10;
    if (!isfinite(percent) || !isfinite(margin))
        snprintf(t.text, sizeof t.text, "from nothing");
    else if (margin > 0)
        snprintf(t.text, sizeof t.text, "%.*f %% ± %.*f %%", digits, percent, digits, margin);
    else
        snprintf(t.text, sizeof t.text, "%.*f %%", digits, percent);
    return t;
}

/* ---- the headline -------------------------------------------------------------------------- */

static void show_headline(output *o, const diff *d, const diff_view *view) {
    const comparison *c = &d->total;
    paint(o, view, BOLD);
    output_format(o, "Before: %s · After: %s", amount_text(d, c->before.value, true).text,
                  amount_text(d, c->after.value, true).text);
    double percent = (c->ratio.value - 1) * 100, margin = margin_of(&c->ratio) * 100;
    if (d->total_sure) {
        bool more = c->change.value > 0;
        output_text(o, " · ");
        paint(o, view, more ? RED : GREEN);
        output_text(o, more ? "Increase" : "Reduction");
        if (!isnan(c->ratio.value))
            output_format(o, ": %s", percent_text(fabs(percent), margin).text);
    } else if (isnan(c->ratio.value)) {
        output_text(o, c->before_samples + c->after_samples ? " · not sure" : " · no samples");
    } else if (c->change.value == 0 && margin == 0) {
        output_text(o, " · no change");
    } else if (c->before_samples == 0 || c->after_samples == 0) {
        output_format(o, " · no samples %s: not sure", c->after_samples ? "before" : "after");
    } else {
        const char *sign = percent < 0 ? "-" : percent > 0 ? "+" : "";
        output_format(o, " · Change: %s%s, %s", sign, percent_text(fabs(percent), margin).text,
                      d->decided ? "not sure" : "undecided");
    }
    paint(o, view, PLAIN);
    output_char(o, '\n');
}

/* ---- remarks ------------------------------------------------------------------------------- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note(output *o, bool *any, const char *what, const char *before, const char *after) {
    output_text(o, *any ? ", " : "Note: ");
    *any = true;
    output_text(o, what);
    output_text(o, " (");
    output_shown(o, before);
    output_text(o, " before, ");
    output_shown(o, after);
    output_text(o, " after)");
}

static bool show_endings_of(output *o, const char *side, const query_result *const *runs,
                            size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const profile *p = runs[i]->profile;
        if (!profile_ends_early(p))
            continue;
        any = true;
        output_text(o, side);
        if (n > 1)
            output_format(o, " %zu", i + 1);
        output_format(o, " ends early, at %s", figure_duration(p->end.time).text);
        output_text(o, p->end.reason[0] ? ": " : "");
        output_shown(o, p->end.reason);
        output_text(o, ".\n");
    }
    return any;
}

static void show_endings(output *o, const diff_view *view) {
    bool any = show_endings_of(o, "Before", view->before, view->n_before);
    any |= show_endings_of(o, "After", view->after, view->n_after);
    if (any)
        output_text(o, "Undecided: what came later cannot be compared. Record again, or give "
                       "traces that are whole.\n");
}

static bool any_ends_early(const diff_view *view) {
    bool any = false;
    for (size_t i = 0; i < view->n_before; i++)
        any |= profile_ends_early(view->before[i]->profile);
    for (size_t i = 0; i < view->n_after; i++)
        any |= profile_ends_early(view->after[i]->profile);
    return any;
}

static void show_notes(output *o, const diff *d, const diff_view *view) {
    const memtrace_info *b = &view->before[0]->profile->info, *a = &view->after[0]->profile->info;
    bool any = false;
    if (strcmp(base_name(b->executable_name), base_name(a->executable_name)) != 0)
        note(o, &any, "different programs", base_name(b->executable_name),
             base_name(a->executable_name));
    if (strcmp(b->host_name, a->host_name) != 0)
        note(o, &any, "different hosts", b->host_name, a->host_name);
    if (b->sample_rate != a->sample_rate)
        note(o, &any, "different rates", figure_rate(b->sample_rate).text,
             figure_rate(a->sample_rate).text);
    if (view->n_before > 1 || view->n_after > 1) {
        output_format(o, "%smeans of several runs (%zu before, %zu after)",
                      any ? ", " : "Note: ", view->n_before, view->n_after);
        any = true;
    }
    if (d->options.per_before > 0) {
        output_format(o, "%samounts divided by %g%s", any ? ", " : "Note: ", d->options.per_before,
                      d->options.per_before == d->options.per_after ? "" : " before");
        if (d->options.per_before != d->options.per_after)
            output_format(o, " and by %g after", d->options.per_after);
        any = true;
    }
    if (unit_of_measure(d) == UNIT_BYTES && d->measure != MEASURE_ALLOCATED) {
        output_format(o, "%smeasured is what is %s",
                      any ? ", " : "Note: ", measure_infos[d->measure].title);
        any = true;
    }
    if (view->filter) {
        output_format(o, "%sfilter ", any ? ", " : "Note: ");
        output_shown(o, view->filter);
        any = true;
    }
    if (d->options.normalise == DIFF_BY_TOTAL) {
        output_format(o, "%ssites as shares of the total", any ? ", " : "Note: ");
        any = true;
    }
    if (any)
        output_char(o, '\n');
    if (any_ends_early(view))
        return;
    const bool of_turns = d->measure == MEASURE_PEAK || d->measure == MEASURE_LIVE;
    if (!d->decided) /* what is unknown is often more than what sampling does */
        output_format(
            o,
            "Undecided: ± is of sampling alone, and one run a side does not tell how much "
            "%s from run to run. Give several: --before A… --after B…\n",
            of_turns ? "what several threads hold at one time differs" : "times differ");
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

static void show_invisible(output *o, const diff_view *view) {
    const double before = invisible_bytes(view->before, view->n_before),
                 after = invisible_bytes(view->after, view->n_after);
    if (before <= 0 && after <= 0)
        return;
    if (before == after)
        output_format(o, "Sites below about %s may be invisible at this rate.\n",
                      figure_bytes(before).text);
    else if (before <= 0 || after <= 0)
        output_format(o, "Sites below about %s %s may be invisible at that rate.\n",
                      figure_bytes(fmax(before, after)).text, before <= 0 ? "after" : "before");
    else
        output_format(o, "Sites below about %s before, %s after may be invisible at these rates.\n",
                      figure_bytes(before).text, figure_bytes(after).text);
}

/* ---- sites as text ------------------------------------------------------------------------- */

static const char *const nouns[] = {
    [HOTSPOTS_BY_LINE] = "site", [HOTSPOTS_BY_FUNCTION] = "function", [HOTSPOTS_BY_TYPE] = "type"};

/* FILE:LINE, and where it went. */
static void show_place(output *o, const diff *d, const diff_site *s) {
    const profile_location *l = s->in_before ? s->before.place : s->after.place;
    const profile_location *to = s->in_after ? s->after.place : l;
    bool lines = d->options.by == HOTSPOTS_BY_LINE;
    output_shown(o, l->file);
    if (lines && l->line)
        output_format(o, ":%" PRIu32, l->line);
    if (strcmp(l->file, to->file) != 0) {
        output_text(o, " → ");
        output_shown(o, to->file);
        if (lines && to->line)
            output_format(o, ":%" PRIu32, to->line);
    } else if (lines && l->line != to->line) {
        output_format(o, " → %" PRIu32, to->line);
    }
}

static void show_name(output *o, const diff *d, const diff_site *s) {
    const diff_name *n = s->in_before ? &s->before : &s->after;
    if (d->options.by == HOTSPOTS_BY_TYPE) {
        output_shown(o, n->type ? n->type : "(type not recorded)");
    } else if (!n->place) {
        output_text(o, "(no backtrace)");
    } else {
        bool has_file = n->place->file[0] && !profile_is_address(n->place);
        if (has_file && d->options.by == HOTSPOTS_BY_LINE) {
            show_place(o, d, s);
            output_char(o, ' ');
        }
        output_shown(o, n->place->function[0] ? n->place->function : "(unknown function)");
        if (has_file && d->options.by == HOTSPOTS_BY_FUNCTION) {
            output_text(o, " (");
            show_place(o, d, s);
            output_char(o, ')');
        }
    }
    if (!s->in_after)
        output_text(o, " (only before)");
    if (!s->in_before)
        output_text(o, " (only after)");
}

static void show_right(output *o, const char *text, size_t width) {
    for (size_t columns = utf8_columns(text, strlen(text)); columns < width; columns++)
        output_char(o, ' ');
    output_text(o, text);
}

enum { Q_WIDTH = 8 };

/* Columns of a table; numbers of blocks are longer than bytes with units. */
static size_t amount_width(const diff *d) {
    return unit_of_measure(d) == UNIT_BYTES ? 11 : 15;
}

static size_t change_width(const diff *d) {
    return unit_of_measure(d) == UNIT_BYTES ? 23 : 30;
}

static void show_site(output *o, const diff *d, const diff_site *s, const diff_view *view) {
    char q[16];
    snprintf(q, sizeof q, isnan(s->q) ? "-" : s->q < 0.001 ? "<0.001" : "%.3f", s->q);
    if (!s->sure)
        paint(o, view, FAINT);
    show_right(o, amount_text(d, s->c.before.value, false).text, amount_width(d));
    show_right(o, amount_text(d, s->c.after.value, false).text, amount_width(d));
    if (s->sure)
        paint(o, view, s->c.change.value > 0 ? RED : GREEN);
    show_right(o, change_text(d, &s->c.change).text, change_width(d));
    if (s->sure)
        paint(o, view, PLAIN);
    show_right(o, q, Q_WIDTH);
    output_text(o, "  ");
    show_name(o, d, s);
    if (!s->sure)
        paint(o, view, PLAIN);
    output_char(o, '\n');
}

static void show_heads(output *o, const diff *d) {
    show_right(o, "before", amount_width(d));
    show_right(o, "after", amount_width(d));
    show_right(o, "change", change_width(d));
    show_right(o, "q", Q_WIDTH);
    output_format(o, "  %s\n", nouns[d->options.by]);
}

/* What is the same for sure has nothing to show. */
static bool is_same(const diff_site *s) {
    return s->c.change.low == 0 && s->c.change.high == 0;
}

static size_t count_same(const diff *d) {
    size_t n = 0;
    for (size_t i = 0; i < d->sites.count; i++)
        n += is_same(&d->sites.items[i]);
    return n;
}

/* Returns how many. */
static size_t show_sites(output *o, const diff *d, const diff_view *view) {
    const size_t top = shown_sites(d, view);
    size_t n = 0;
    for (size_t i = 0; i < d->sites.count && n < top; i++) {
        const diff_site *s = &d->sites.items[i];
        if (is_same(s))
            continue;
        if (n == 0)
            show_heads(o, d);
        if (d->decided && !s->sure && n == d->n_sure)
            output_text(o, "No sure change; these differences may be accidents:\n");
        show_site(o, d, s, view);
        n++;
    }
    return n;
}

static void show_rest(output *o, const diff *d, size_t shown) {
    size_t sure = shown < d->n_sure ? d->n_sure - shown : 0;
    size_t same = count_same(d), unsure = d->sites.count - same - shown - sure;
    const char *noun = nouns[d->options.by];
    if (sure)
        output_format(o, "%s more %s%s changed for sure.\n", figure_count(sure).text, noun,
                      sure == 1 ? "" : "s");
    if (unsure)
        output_format(o, "%s more %s%s%s.\n", figure_count(unsure).text, noun,
                      unsure == 1 ? "" : "s",
                      d->decided ? " without a sure change" : ", undecided");
    if (same)
        output_format(o, "%s %s%s did not change.\n", figure_count(same).text, noun,
                      same == 1 ? "" : "s");
}

void diff_text(output *o, const diff *d, const diff_view *view) {
    if (view->same_file) {
        output_format(o,
                      "Before and after are the same file: %s on both sides, and all is equal.\n",
                      amount_text(d, d->total.before.value, true).text);
        return;
    }
    show_endings(o, view);
    show_headline(o, d, view);
    show_notes(o, d, view);
    show_invisible(o, view);
    show_rest(o, d, show_sites(o, d, view));
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Infinity and NaN have no number in JSON. */
static void json_number(output *o, const char *name, double x) {
    output_format(o, "\"%s\":", name);
    if (isfinite(x))
        output_format(o, "%.9g", x);
    else
        output_text(o, "null");
}

static void json_estimate(output *o, const char *name, const estimate *e, uint64_t samples) {
    output_format(o, ",\"%s\":{", name);
    json_number(o, "value", e->value);
    output_char(o, ',');
    json_number(o, "low", e->low);
    output_char(o, ',');
    json_number(o, "high", e->high);
    output_format(o, ",\"samples\":%" PRIu64 "}", samples);
}

static void json_comparison(output *o, const comparison *c) {
    json_number(o, "p", c->p);
    json_estimate(o, "before", &c->before, c->before_samples);
    json_estimate(o, "after", &c->after, c->after_samples);
    json_estimate(o, "change", &c->change, c->before_samples + c->after_samples);
    json_estimate(o, "ratio", &c->ratio, c->before_samples + c->after_samples);
}

static void json_text(output *o, const char *name, const char *text) {
    output_format(o, "\"%s\":", name);
    if (text)
        output_json(o, text);
    else
        output_text(o, "null");
}

static void json_name(output *o, const char *side, bool present, const diff *d,
                      const diff_name *n) {
    output_format(o, "\"%s\":", side);
    if (!present) {
        output_text(o, "null");
        return;
    }
    output_char(o, '{');
    if (d->options.by == HOTSPOTS_BY_TYPE) {
        json_text(o, "type", n->type);
    } else {
        json_text(o, "function", n->place ? n->place->function : NULL);
        output_char(o, ',');
        json_text(o, "file", n->place ? n->place->file : NULL);
        if (n->place && d->options.by == HOTSPOTS_BY_LINE)
            output_format(o, ",\"line\":%" PRIu32, n->place->line);
    }
    output_char(o, '}');
}

static void json_site(output *o, const diff *d, const diff_site *s) {
    output_char(o, '{');
    json_name(o, "site_before", s->in_before, d, &s->before);
    output_char(o, ',');
    json_name(o, "site_after", s->in_after, d, &s->after);
    output_format(o, ",\"sure\":%s,", s->sure ? "true" : "false");
    json_number(o, "q", s->q);
    output_char(o, ',');
    json_comparison(o, &s->c);
    output_char(o, '}');
}

static void json_side(output *o, const char *name, const query_result *const *runs, size_t n) {
    output_format(o, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        output_text(o, i ? ",{\"rate\":" : "{\"rate\":");
        figure_json_number(o, runs[i]->profile->info.sample_rate);
        output_text(o, ",\"program\":");
        output_json(o, runs[i]->profile->info.executable_name);
        output_text(o, ",\"host\":");
        output_json(o, runs[i]->profile->info.host_name);
        ending_json(o, runs[i]->profile);
        output_char(o, '}');
    }
    output_char(o, ']');
}

void diff_json(output *o, const diff *d, const diff_view *view) {
    size_t n = shown_sites(d, view);
    output_format(o, "{\"by\":\"%s\",\"unit\":\"%s\",\"unit_of_total\":\"%s\",",
                  hotspots_groupings[d->options.by], unit_of(d, false), unit_of(d, true));
    output_format(o, "\"false_discovery_rate\":%g,\"decided\":%s,", COMPARE_FALSE_DISCOVERIES,
                  d->decided ? "true" : "false");
    output_format(o, "\"measure\":\"%s\",", measure_infos[view->before[0]->measure].name);
    if (view->filter) {
        json_text(o, "filter", view->filter);
        output_char(o, ',');
    }
    if (d->options.per_before > 0)
        output_format(o, "\"per\":{\"before\":%.9g,\"after\":%.9g},", d->options.per_before,
                      d->options.per_after);
    output_text(o, "\n ");
    json_side(o, "runs_before", view->before, view->n_before);
    output_text(o, ",\n ");
    json_side(o, "runs_after", view->after, view->n_after);
    output_format(o, ",\n \"total\":{\"sure\":%s,", d->total_sure ? "true" : "false");
    json_comparison(o, &d->total);
    output_text(o, "},\n \"sites\":[");
    for (size_t i = 0; i < n; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_site(o, d, &d->sites.items[i]);
    }
    size_t sure = n < d->n_sure ? d->n_sure - n : 0;
    output_format(o, "],\n \"omitted\":{\"sites\":%zu,\"sure\":%zu}}\n", d->sites.count - n, sure);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_line(output *o, const diff *d, bool present, const diff_name *n) {
    if (present && n->place && n->place->line && d->options.by == HOTSPOTS_BY_LINE)
        output_u64(o, n->place->line, 0, ' ');
}

static void csv_site(output *o, const diff *d, const diff_site *s) {
    const comparison *c = &s->c;
    const diff_name *n = s->in_before ? &s->before : &s->after;
    if (d->decided)
        output_format(o, "%d,%.6g,%.6g", s->sure, s->q, c->p);
    else
        output_text(o, "0,,");
    output_format(o, ",%.9g,%.9g,%.9g,%" PRIu64, c->before.value, c->before.low, c->before.high,
                  c->before_samples);
    output_format(o, ",%.9g,%.9g,%.9g,%" PRIu64, c->after.value, c->after.low, c->after.high,
                  c->after_samples);
    output_format(o, ",%.9g,%.9g,%.9g,", c->change.value, c->change.low, c->change.high);
    output_csv(o, n->place ? n->place->function : "");
    output_char(o, ',');
    output_csv(o, n->place ? n->place->file : "");
    output_char(o, ',');
    csv_line(o, d, s->in_before, &s->before);
    output_char(o, ',');
    csv_line(o, d, s->in_after, &s->after);
    output_char(o, ',');
    output_csv(o, n->type ? n->type : "");
    output_char(o, '\n');
}

void diff_csv(output *o, const diff *d, const diff_view *view) {
    output_text(o, "sure,q,p,before,before_low,before_high,before_samples,after,after_low,"
                   "after_high,after_samples,change,change_low,change_high,function,file,"
                   "line_before,line_after,type\n");
    size_t n = shown_sites(d, view);
    for (size_t i = 0; i < n; i++)
        csv_site(o, d, &d->sites.items[i]);
}
