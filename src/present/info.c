/* info.c: see info.h. */
#include "present/info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "present/ending.h"
#include "profile/gauges.h"
#include "render/figures.h"

static const char *const source_names[CCT_SOURCES] = {
    [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};

enum { SHOWN_MARKS = 10 };

/* ---- text -------------------------------------------------------------------------------- */

static void label(output *o, const char *name) {
    output_format(o, "  %-16s ", name);
}

static void line_of(output *o, const char *name, const char *text) {
    label(o, name);
    output_shown(o, text[0] ? text : "-");
    output_char(o, '\n');
}

static void show_estimate(output *o, const profile *p, const char *name, uint64_t samples) {
    figure f = figure_of(p, samples);
    label(o, name);
    output_format(o, "%s (%s)\n", figure_bytes(f.value).text,
                  ending_error(p, figure_margin(&f)).text);
}

static void show_allocations(output *o, const profile *p) {
    uint64_t all = cct_sum(p->samples);
    label(o, "samples");
    output_format(o, "%s in %s block%s\n", figure_count(all).text,
                  figure_count(cct_sum(p->blocks)).text, cct_sum(p->blocks) == 1 ? "" : "s");
    show_estimate(o, p, "allocated", all);
    for (int i = 0; i < CCT_SOURCES; i++) {
        char name[32];
        snprintf(name, sizeof name, "  %s", source_names[i]);
        if (p->samples[i])
            show_estimate(o, p, name, p->samples[i]);
    }
    label(o, "promoted");
    if (p->samples[MEMTRACE_MINOR])
        output_format(o, "%.1f%% of the minor heap's\n",
                      figure_percent(p->promoted_samples, p->samples[MEMTRACE_MINOR]));
    else
        output_text(o, "- (nothing in a minor heap)\n");
    label(o, "collected");
    output_format(o, "%s of %s block%s\n", figure_count(p->collected_blocks).text,
                  figure_count(cct_sum(p->blocks)).text, cct_sum(p->blocks) == 1 ? "" : "s");
}

static void show_gauges(output *o, const profile *p) {
    gauge_list list;
    if (!gauges_find(p, &list))
        o->error = o->error ? o->error : ENOMEM;
    for (size_t i = 0; i < list.count; i++) {
        const gauge *g = &list.items[i];
        label(o, g->name);
        output_format(o, "%s at most, ",
                      figure_bytes((double)gauge_most(g, 0, UINT64_MAX)->bytes).text);
        output_format(o, "%s at the end\n", figure_bytes((double)gauge_last(g)->bytes).text);
    }
    gauges_free(&list);
}

/* Of a trace that tells: up to when nothing is missing, and why it ends then. */
static void show_end(output *o, const profile *p) {
    const profile_end *end = &p->end;
    if (end->how == MEMTRACE_END_UNSAID || (end->how == MEMTRACE_END_WHOLE && !end->reason[0]))
        return;
    label(o, profile_ends_early(p) ? "ends early" : "end");
    if (profile_ends_early(p))
        output_format(o, "at %s%s", figure_duration(end->time).text, end->reason[0] ? ": " : "");
    output_shown(o, end->reason);
    if (end->n_lost)
        output_format(o, "; %s allocation%s could not be written, and all later ones",
                      figure_count(end->n_lost).text, end->n_lost == 1 ? "" : "s");
    output_char(o, '\n');
}

static size_t count_marks(const profile *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->marks.count; i++)
        n += !p->marks.items[i].is_gauge;
    return n;
}

static void show_marks(output *o, const profile *p) {
    size_t n = count_marks(p), shown = 0;
    if (n == 0)
        return;
    line_of(o, "marks", figure_count(n).text);
    for (const profile_mark *m = p->marks.items; shown < n && shown < SHOWN_MARKS; m++) {
        if (m->is_gauge)
            continue;
        output_format(o, "    %12s  ", figure_duration(m->time).text);
        output_shown(o, m->name);
        output_char(o, '\n');
        shown++;
    }
    if (n > shown)
        output_format(o, "    … %s more; `--json` lists all\n", figure_count(n - shown).text);
}

static void show_warnings(output *o, const info_view *view) {
    line_of(o, "warnings", view->n_warnings ? figure_count(view->n_warnings).text : "none");
    for (size_t i = 0; i < view->n_warnings; i++) {
        const memtrace_warning *w = &view->warnings[i];
        output_format(o, "    %s (%s time%s, first at byte %" PRIu64 ")\n", w->text,
                      figure_count(w->count).text, w->count == 1 ? "" : "s", w->first_offset);
    }
}

void info_text(output *o, const profile *p, const info_view *view) {
    const memtrace_info *i = &p->info;
    if (view->color)
        output_text(o, "\033[1m");
    output_shown(o, view->path);
    output_text(o, view->color ? "\033[0m\n" : "\n");
    line_of(o, "program", i->executable_name);
    line_of(o, "host", i->host_name);
    label(o, "pid");
    output_format(o, "%" PRIu64 "\n", i->pid);
    line_of(o, "context", i->context);
    line_of(o, "runtime", i->runtime_params);
    line_of(o, "started", figure_date(i->start_time).text);
    line_of(o, "duration", figure_duration(p->duration).text);
    show_end(o, p);
    label(o, "rate");
    output_format(o, "%s (a sample stands for %s)\n", figure_rate(i->sample_rate).text,
                  figure_bytes(profile_bytes_per_sample(p)).text);
    show_allocations(o, p);
    line_of(o, "domains", figure_count(p->n_domains).text);
    line_of(o, "distinct stacks", figure_count(p->tree.n_stacks).text);
    show_gauges(o, p);
    show_marks(o, p);
    label(o, "format");
    output_format(o, "version %u, %u-bit words\n", i->version, i->word_size);
    if (view->size) {
        label(o, "file");
        output_format(o, "%s\n", figure_bytes((double)view->size).text);
    }
    show_warnings(o, view);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_field(output *o, const char *name, const char *text) {
    output_format(o, ",\"%s\":", name);
    output_json(o, text);
}

static void json_promoted(output *o, const profile *p, const info_view *view) {
    if (view->promotion_unknown) {
        output_text(o, ",\n \"promoted\":null");
        return;
    }
    figure promoted = figure_of(p, p->promoted_samples);
    output_text(o, ",\n \"promoted\":{");
    figure_json(o, &promoted);
    output_format(o, ",\"blocks\":%" PRIu64 ",\"share\":%.6f}", p->promoted_blocks,
                  figure_percent(p->promoted_samples, p->samples[MEMTRACE_MINOR]) / 100);
}

static void json_allocations(output *o, const profile *p, const info_view *view) {
    figure all = figure_of(p, cct_sum(p->samples));
    output_text(o, ",\n \"allocated\":{");
    figure_json(o, &all);
    output_format(o, ",\"blocks\":%" PRIu64 "}", cct_sum(p->blocks));
    for (int i = 0; i < CCT_SOURCES; i++) {
        figure f = figure_of(p, p->samples[i]);
        output_format(o, ",\n \"%s\":{", source_names[i]);
        figure_json(o, &f);
        output_format(o, ",\"blocks\":%" PRIu64 "}", p->blocks[i]);
    }
    json_promoted(o, p, view);
    output_format(o, ",\n \"collected_blocks\":%" PRIu64, p->collected_blocks);
}

static void json_marks(output *o, const profile *p) {
    size_t n = 0;
    output_text(o, ",\n \"marks\":[");
    for (size_t i = 0; i < p->marks.count; i++) {
        const profile_mark *m = &p->marks.items[i];
        if (m->is_gauge)
            continue;
        output_format(o, "%s{\"time\":%" PRIu64 ",\"name\":", n++ ? "," : "", m->time);
        output_json(o, m->name);
        output_char(o, '}');
    }
    output_char(o, ']');
}

static void json_gauges(output *o, const profile *p) {
    gauge_list list;
    if (!gauges_find(p, &list))
        o->error = o->error ? o->error : ENOMEM;
    output_text(o, ",\n \"gauges\":[");
    for (size_t i = 0; i < list.count; i++) {
        const gauge *g = &list.items[i];
        const gauge_reading *most = gauge_most(g, 0, UINT64_MAX), *last = gauge_last(g);
        output_text(o, i ? ",{\"name\":" : "{\"name\":");
        output_json(o, g->name);
        output_format(
            o, ",\"readings\":%zu,\"most\":%" PRIu64 ",\"time\":%" PRIu64 ",\"last\":%" PRIu64 "}",
            g->readings.count, most->bytes, most->time, last->bytes);
    }
    output_char(o, ']');
    gauges_free(&list);
}

static void json_end(output *o, const profile *p) {
    ending_json(o, p);
    if (p->end.how != MEMTRACE_END_WHOLE)
        return;
    output_format(o, ",\n \"end\":{\"time\":%" PRIu64 ",\"reason\":", p->end.time);
    output_json(o, p->end.reason);
    output_char(o, '}');
}

static void json_warnings(output *o, const info_view *view) {
    output_text(o, ",\n \"warnings\":[");
    for (size_t i = 0; i < view->n_warnings; i++) {
        const memtrace_warning *w = &view->warnings[i];
        output_format(o, "%s{\"offset\":%" PRIu64 ",\"count\":%" PRIu64 ",\"text\":", i ? "," : "",
                      w->first_offset, w->count);
        output_json(o, w->text);
        output_char(o, '}');
    }
    output_char(o, ']');
}

void info_json(output *o, const profile *p, const info_view *view) {
    const memtrace_info *i = &p->info;
    output_text(o, "{\"file\":");
    output_json(o, view->path);
    if (view->size)
        output_format(o, ",\"file_size\":%" PRIu64, view->size);
    json_field(o, "program", i->executable_name);
    json_field(o, "host", i->host_name);
    output_format(o, ",\"pid\":%" PRIu64, i->pid);
    json_field(o, "context", i->context);
    json_field(o, "runtime", i->runtime_params);
    output_format(o, ",\n \"version\":%u,\"word_size\":%u,\"rate\":", i->version, i->word_size);
    figure_json_number(o, i->sample_rate);
    output_format(o,
                  ",\"start\":%" PRIu64 ",\"duration\":%" PRIu64 ",\"domains\":%" PRIu32
                  ",\"distinct_stacks\":%zu,\"suspect_blocks\":%" PRIu64,
                  i->start_time, p->duration, p->n_domains, p->tree.n_stacks, p->suspect_blocks);
    json_end(o, p);
    json_allocations(o, p, view);
    json_marks(o, p);
    json_gauges(o, p);
    json_warnings(o, view);
    output_char(o, '}');
}
