/* peak.c: see peak.h. */
#include "present/peak.h"

#include <inttypes.h>

static const char *const heap_names[CCT_SOURCES] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

/* ---- text -------------------------------------------------------------------------------- */

static void show_row(output *o, const report *r, const peak *k, const char *name,
                     uint64_t samples) {
    double share = figure_percent(samples, k->samples);
    figure f = figure_of(r->query->profile, samples);
    if (samples == 0)
        return;
    output_format(o, "  %5.1f%% %-13s %12s%s\n", share, name, figure_bytes(f.value).text,
                  figure_beside(figure_margin(&f)).text);
}

static void show_when(output *o, const peak *k) {
    if (k->low < k->high)
        output_format(o,
                      "By what the sample says, most may also have been live at another time "
                      "from %s to %s.\n",
                      figure_duration(k->low).text, figure_duration(k->high).text);
}

static void show_own(output *o, const report *r, const peak *k) {
    if (k->own.at.time == k->at.time && k->own.at.place == k->at.place)
        return;
    figure own = figure_between(r->query->profile, k->own.samples, k->own_spread);
    output_format(o, "Of what the filter keeps, most was live at %s: %s (%s).\n",
                  figure_duration(k->own.at.time).text, figure_bytes(own.value).text,
                  figure_margin(&own).text);
}

static void show_fate(output *o, const report *r, const peak *k) {
    figure later = figure_of(r->query->profile, k->later),
           end = figure_of(r->query->profile, k->end_samples);
    output_format(o, "Of it, %s (%s) was freed later. At the end, %s (%s) was live.\n",
                  figure_bytes(later.value).text, figure_margin(&later).text,
                  figure_bytes(end.value).text, figure_margin(&end).text);
}

static void show_sites(output *o, const report *r, const report *sites, const hotspots *h,
                       const hotspots_view *view) {
    const query_result *q = sites->query;
    if (sites == r) {
        output_text(o, "\nBy site:\n");
    } else {
        figure f = report_figure(sites, &q->total);
        output_format(o, "\nBy site, as %s (%s%s in all):\n", measure_infos[q->measure].name,
                      report_amount(sites, f.value).text, report_beside(sites, &f).text);
    }
    hotspots_text_sites(o, sites, h, view);
}

void peak_text(output *o, const report *r, const peak *k, const report *sites, const hotspots *h,
               const hotspots_view *view) {
    bool any = report_text_head(o, r);
    if (k->own.samples > 0)
        show_own(o, r, k);
    if (!any)
        return;
    show_when(o, k);
    show_fate(o, r, k);
    output_text(o, "\nBy heap:\n");
    for (int i = 0; i < CCT_SOURCES; i++)
        show_row(o, r, k, heap_names[i], k->heaps[i]);
    output_text(o, "\nBy how long it had lived:\n");
    for (int i = 0; i < PEAK_AGES; i++)
        show_row(o, r, k, lifetime_class_text((lifetime_class)i), k->ages[i]);
    show_sites(o, r, sites, h, view);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_amount(output *o, const report *r, uint64_t samples) {
    figure f = figure_of(r->query->profile, samples);
    output_char(o, '{');
    figure_json(o, &f);
    output_char(o, '}');
}

static void json_named(output *o, const report *r, const char *name, uint64_t samples) {
    output_format(o, ",\n \"%s\":", name);
    json_amount(o, r, samples);
}

void peak_json(output *o, const report *r, const peak *k, const report *sites, const hotspots *h,
               const hotspots_view *view) {
    output_char(o, '{');
    report_json_head(o, r);
    output_format(o, ",\n \"time_low\":%" PRIu64 ",\"time_high\":%" PRIu64, k->low, k->high);
    json_named(o, r, "freed_later", k->later);
    json_named(o, r, "at_end", k->end_samples);
    output_text(o, ",\n \"own_peak\":{");
    const figure own = figure_between(r->query->profile, k->own.samples, k->own_spread);
    figure_json(o, &own);
    output_char(o, '}');
    output_format(o, ",\"own_time\":%" PRIu64, k->own.at.time);
    output_text(o, ",\n \"heaps\":{");
    for (int i = 0; i < CCT_SOURCES; i++) {
        output_format(o, "%s\"%s\":", i ? "," : "", heap_names[i]);
        json_amount(o, r, k->heaps[i]);
    }
    output_text(o, "},\n \"ages\":{");
    for (int i = 0; i < PEAK_AGES; i++) {
        output_format(o, "%s\"%s\":", i ? "," : "", lifetime_class_text((lifetime_class)i));
        json_amount(o, r, k->ages[i]);
    }
    output_char(o, '}');
    if (sites != r) {
        figure f = report_figure(sites, &sites->query->total);
        output_format(o, ",\n \"sites_measure\":\"%s\",\"sites_unit\":\"%s\",\"sites_total\":{",
                      measure_infos[sites->query->measure].name,
                      figure_unit(measure_infos[sites->query->measure].unit));
        figure_json(o, &f);
        output_char(o, '}');
    }
    hotspots_json_sites(o, sites, h, view);
    output_text(o, "}\n");
}
