/* lifetimes.c: see lifetimes.h. The text shows the survival curve at round times; JSON and CSV have
 * all its points, as far as they differ by more than a thousandth. */
#include "present/lifetimes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "profile/tick.h"

enum { BAR_WIDTH = 30 };
#define CURVE_STEP 1e-3 /* of the share that is alive, between points that are written */

static size_t shown_sites(const lifetimes *l, const lifetimes_view *view) {
    return view->top && view->top < l->sites.count ? (size_t)view->top : l->sites.count;
}

bool lifetimes_unsymbolized(const lifetimes *l, const lifetimes_view *view) {
    for (size_t i = 0; i < shown_sites(l, view); i++)
        if (l->sites.items[i].place && profile_is_address(l->sites.items[i].place))
            return true;
    return false;
}

/* ---- text -------------------------------------------------------------------------------- */

static void pad(output *o, const char *text, int width) {
    output_text(o, text);
    for (const char *c = text; *c; c++)
        width -= ((unsigned char)*c & 0xC0) != 0x80;
    output_format(o, "%*s", width > 0 ? width : 0, "");
}

/* 62.1%, with its interval unless it is exact. */
static figure_text share_text(estimate e) {
    figure_text t;
    if (e.low == e.high)
        snprintf(t.text, sizeof t.text, "%.1f%%", 100 * e.value);
    else
        snprintf(t.text, sizeof t.text, "%.1f%% (%.1f … %.1f)", 100 * e.value, 100 * e.low,
                 100 * e.high);
    return t;
}

static bool is_held(const lifetimes_view *view) {
    return view->spec->measure == MEASURE_BYTESECONDS;
}

static const char *unit(const lifetimes_view *view) {
    return view->spec->measure == MEASURE_BLOCKS ? "blocks"
           : is_held(view)                       ? "byte-seconds"
                                                 : "bytes";
}

/* 1, 2, 5, … of µs, ms, s: figure_duration would say 1.00 s. */
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

static uint64_t decade_least(int decade) {
    uint64_t least = decade > 0;
    for (; decade > 1; decade--)
        least *= 10;
    return least;
}

static void show_decade(output *o, const char *name, const lifetimes_share *s) {
    output_text(o, "  ");
    pad(o, name, 20);
    pad(o, share_text(s->share).text, 22);
    if (s->samples > 0)
        output_char(o, ' ');
    figure_bar(o, s->share.value, BAR_WIDTH);
    output_char(o, '\n');
}

static void show_histogram(output *o, const lifetimes *l, const lifetimes_view *view) {
    int first = 0, last = LIFETIMES_DECADES - 1;
    while (first < last && l->decades[first].samples == 0)
        first++;
    while (last > first && l->decades[last].samples == 0)
        last--;
    output_format(o, "\nLifetimes (%s):\n", unit(view));
    for (int i = first; i <= last && l->decades[i].samples + l->alive.samples > 0; i++) {
        char name[96];
        if (l->decades[last].samples == 0)
            break;
        if (i == 0)
            snprintf(name, sizeof name, "below 1 µs");
        else
            snprintf(name, sizeof name, "%s … %s", time_text(decade_least(i)).text,
                     time_text(decade_least(i) * 10).text);
        show_decade(o, name, &l->decades[i]);
    }
    show_decade(o, "alive at the end", &l->alive);
}

static void show_quantile(output *o, const survival_quantile *q, bool held) {
    static const char never[] = "more than was seen";
    figure_text value = q->value == SURVIVAL_NEVER ? (figure_text){"more than was seen"}
                                                   : figure_duration(q->value);
    output_format(o, held ? "  %g%% by those that live up to %s" : "  %g%% are dead after %s",
                  100 * q->ended, value.text);
    if (q->low != q->value || q->high != q->value)
        output_format(o, " (%s … %s)",
                      q->low == SURVIVAL_NEVER ? never : figure_duration(q->low).text,
                      q->high == SURVIVAL_NEVER ? never : figure_duration(q->high).text);
    output_char(o, '\n');
}

/* At 1, 2, 5, 10, … from the first death on, to the last. */
static void show_curve(output *o, const lifetimes *l, const lifetimes_view *view) {
    static const uint64_t steps[] = {1, 2, 5};
    size_t n = l->curve.count;
    if (n == 0)
        return;
    output_format(o,
                  is_held(view) ? "\nHeld by blocks that live longer (%s), if all end with the "
                                  "trace:\n"
                                : "\nStill alive (%s), if those alive at the end are followed for "
                                  "as long as they were seen:\n",
                  unit(view));
    uint64_t first = l->curve.items[0].time, last = l->curve.items[n - 1].time, ten = 1;
    for (int i = 0; ten <= UINT64_MAX / 50 && ten * steps[i % 3] <= last; i++) {
        uint64_t time = ten * steps[i % 3];
        ten *= i % 3 == 2 ? 10 : 1;
        if (time < first)
            continue;
        estimate alive = survival_at(&l->curve, time);
        char name[64];
        snprintf(name, sizeof name, "%s %s", is_held(view) ? "than" : "after",
                 time_text(time).text);
        output_text(o, "  ");
        pad(o, name, 20);
        pad(o, share_text(alive).text, 22);
        if (alive.value > 0)
            output_char(o, ' ');
        figure_bar(o, alive.value, BAR_WIDTH);
        output_char(o, '\n');
    }
    for (int i = 0; i < LIFETIMES_QUANTILES; i++)
        show_quantile(o, &l->quantiles[i], is_held(view));
}

static bool has_shares(const lifetimes_part *p) {
    return p->dead_soon.of_samples || p->dead_minor.of_samples || p->premature.of_samples;
}

/* Shares of which something is known. */
static void show_shares(output *o, const lifetimes_part *p, const lifetimes_view *view,
                        const char *indent) {
    const lifetimes_spec *spec = view->spec;
    if (p->dead_soon.of_samples)
        output_format(
            o, is_held(view) ? "%s%s by those that live up to %s\n" : "%s%s dead within %s\n",
            indent, share_text(p->dead_soon.share).text, time_text(spec->within).text);
    if (p->dead_minor.of_samples)
        output_format(o, "%s%s of the minor heap's dead there\n", indent,
                      share_text(p->dead_minor.share).text);
    if (p->premature.of_samples)
        output_format(o,
                      is_held(view)
                          ? "%s%s of the promoted by those that live up to %s after that\n"
                          : "%s%s of the promoted dead within %s of that\n",
                      indent, share_text(p->premature.share).text, time_text(spec->soon).text);
}

static void show_amount(output *o, const report *r, const lifetimes_part *p,
                        const lifetimes_view *view) {
    figure f = figure_of(r->query->profile, p->samples);
    if (is_held(view) || view->spec->measure == MEASURE_BLOCKS) {
        f = (figure){.value = p->amount.value,
                     .low = p->amount.low,
                     .high = p->amount.high,
                     .margin = estimate_margin(p->amount)};
        output_format(o, "%s%s", report_amount(r, f.value).text, report_beside(r, &f).text);
        return;
    }
    output_format(o, "%s%s", figure_bytes(f.value).text, figure_beside(figure_margin(&f)).text);
}

static double percent_of_all(const lifetimes *l, const lifetimes_part *p) {
    return l->all.amount.value > 0 ? 100 * p->amount.value / l->all.amount.value : 0;
}

static void show_sites(output *o, const report *r, const lifetimes *l, const lifetimes_view *view) {
    size_t n = shown_sites(l, view);
    output_text(o, "\nBy site:\n");
    for (size_t i = 0; i < n; i++) {
        const lifetimes_site *s = &l->sites.items[i];
        output_format(o, "%6.1f%% ", percent_of_all(l, &s->part));
        report_place(o, r, s->place, !view->spec->by_function);
        output_text(o, "\n        ");
        show_amount(o, r, &s->part, view);
        output_char(o, '\n');
        show_shares(o, &s->part, view, "        ");
    }
    if (n < l->sites.count)
        output_format(o, "  %s more site%s\n", figure_count(l->sites.count - n).text,
                      l->sites.count - n == 1 ? "" : "s");
}

void lifetimes_text(output *o, const report *r, const lifetimes *l, const lifetimes_view *view) {
    if (!report_text_head(o, r))
        return;
    show_histogram(o, l, view);
    report_tick(o, r);
    if (has_shares(&l->all))
        output_char(o, '\n');
    show_shares(o, &l->all, view, "  ");
    show_curve(o, l, view);
    show_sites(o, r, l, view);
}

/* ---- JSON and CSV ------------------------------------------------------------------------ */

static void json_share(output *o, const char *name, const lifetimes_share *s) {
    output_format(o, ",\"%s\":{\"value\":", name);
    figure_json_number(o, s->share.value);
    output_text(o, ",\"low\":");
    figure_json_number(o, s->share.low);
    output_text(o, ",\"high\":");
    figure_json_number(o, s->share.high);
    output_format(o, ",\"samples\":%" PRIu64 ",\"of_samples\":%" PRIu64 "}", s->samples,
                  s->of_samples);
}

static void json_part(output *o, const lifetimes *l, const lifetimes_part *p) {
    figure f = {.samples = p->samples,
                .value = p->amount.value,
                .low = p->amount.low,
                .high = p->amount.high};
    output_format(o, "\"share\":%.6f,", percent_of_all(l, p) / 100);
    figure_json(o, &f);
    output_format(o, ",\"blocks\":%" PRIu64, p->blocks);
    json_share(o, "dead_soon", &p->dead_soon);
    json_share(o, "dead_in_minor_heap", &p->dead_minor);
    json_share(o, "premature", &p->premature);
    output_char(o, '}');
}

static void json_histogram(output *o, const lifetimes *l) {
    bool any = false;
    output_text(o, ",\n \"histogram\":[");
    for (int i = 0; i < LIFETIMES_DECADES; i++) {
        if (l->decades[i].samples == 0)
            continue;
        output_format(o, "%s{\"least_us\":%" PRIu64, any ? "," : "", decade_least(i));
        json_share(o, "share", &l->decades[i]);
        output_char(o, '}');
        any = true;
    }
    output_char(o, ']');
    json_share(o, "alive", &l->alive);
}

/* The points that are written: the first, the last, and those between that matter. */
static bool is_written(const survival_curve *c, size_t i, double *last) {
    double now = c->items[i].alive.value;
    if (i > 0 && i + 1 < c->count && *last - now < CURVE_STEP)
        return false;
    *last = now;
    return true;
}

static void json_curve(output *o, const survival_curve *c) {
    double last = 1;
    bool any = false;
    output_text(o, ",\n \"survival\":[");
    for (size_t i = 0; i < c->count; i++) {
        if (!is_written(c, i, &last))
            continue;
        output_format(o, "%s{\"us\":%" PRIu64 ",\"alive\":", any ? "," : "", c->items[i].time);
        figure_json_estimate(o, c->items[i].alive, c->items[i].at_risk);
        output_char(o, '}');
        any = true;
    }
    output_char(o, ']');
}

static void json_time(output *o, const char *name, uint64_t time) {
    output_format(o, ",\"%s\":", name);
    if (time == SURVIVAL_NEVER)
        output_text(o, "null");
    else
        output_u64(o, time, 0, ' ');
}

static void json_quantiles(output *o, const lifetimes *l) {
    output_text(o, ",\n \"quantiles\":[");
    for (int i = 0; i < LIFETIMES_QUANTILES; i++) {
        output_format(o, "%s{\"dead\":%g", i ? "," : "", l->quantiles[i].ended);
        json_time(o, "us", l->quantiles[i].value);
        json_time(o, "low_us", l->quantiles[i].low);
        json_time(o, "high_us", l->quantiles[i].high);
        output_char(o, '}');
    }
    output_char(o, ']');
}

static void json_site(output *o, const lifetimes *l, const lifetimes_site *s, bool with_line) {
    output_text(o, "{\"function\":");
    if (s->place) {
        output_json(o, s->place->function);
        output_text(o, ",\"file\":");
        output_json(o, s->place->file);
        if (with_line)
            output_format(o, ",\"line\":%" PRIu32, s->place->line);
    } else {
        output_text(o, "null,\"file\":null");
    }
    output_char(o, ',');
    json_part(o, l, &s->part);
}

void lifetimes_json(output *o, const report *r, const lifetimes *l, const lifetimes_view *view) {
    size_t n = shown_sites(l, view);
    output_char(o, '{');
    report_json_head(o, r);
    output_format(o, ",\n \"of\":\"%s\",\"within_us\":%" PRIu64 ",\"soon_us\":%" PRIu64, unit(view),
                  view->spec->within, view->spec->soon);
    output_text(o, ",\n \"all\":{");
    json_part(o, l, &l->all);
    json_histogram(o, l);
    json_curve(o, &l->curve);
    json_quantiles(o, l);
    output_format(o, ",\n \"tick_us\":%" PRIu64, tick_of(&r->query->profile->table));
    output_text(o, ",\n \"sites\":[");
    for (size_t i = 0; i < n; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_site(o, l, &l->sites.items[i], !view->spec->by_function);
    }
    output_format(o, "],\n \"omitted\":{\"sites\":%zu}}\n", l->sites.count - n);
}

static void csv_share(output *o, const lifetimes_share *s) {
    output_format(o, ",%.6g,%.6g,%.6g,%" PRIu64, s->share.value, s->share.low, s->share.high,
                  s->of_samples);
}

void lifetimes_csv(output *o, const lifetimes *l, const lifetimes_view *view) {
    output_text(o, "share,value,low,high,samples,blocks");
    static const char *const names[] = {"dead_soon", "dead_in_minor_heap", "premature"};
    for (int i = 0; i < 3; i++)
        output_format(o, ",%s,%s_low,%s_high,%s_of_samples", names[i], names[i], names[i],
                      names[i]);
    output_text(o, ",function,file,line\n");
    for (size_t i = 0; i < shown_sites(l, view); i++) {
        const lifetimes_site *s = &l->sites.items[i];
        const lifetimes_part *p = &s->part;
        output_format(o, "%.6f,%.0f,%.0f,%.0f,%" PRIu64 ",%" PRIu64, percent_of_all(l, p) / 100,
                      p->amount.value, p->amount.low, p->amount.high, p->samples, p->blocks);
        csv_share(o, &p->dead_soon);
        csv_share(o, &p->dead_minor);
        csv_share(o, &p->premature);
        output_char(o, ',');
        output_csv(o, s->place ? s->place->function : "");
        output_char(o, ',');
        output_csv(o, s->place ? s->place->file : "");
        output_char(o, ',');
        if (s->place && s->place->line && !view->spec->by_function)
            output_u64(o, s->place->line, 0, ' ');
        output_char(o, '\n');
    }
}

void lifetimes_curve_csv(output *o, const lifetimes *l) {
    double last = 1;
    output_text(o, "us,alive,alive_low,alive_high\n");
    for (size_t i = 0; i < l->curve.count; i++) {
        const survival_point *p = &l->curve.items[i];
        if (is_written(&l->curve, i, &last))
            output_format(o, "%" PRIu64 ",%.6g,%.6g,%.6g\n", p->time, p->alive.value, p->alive.low,
                          p->alive.high);
    }
}
