/* hotspots.c: see hotspots.h. All three forms show the same sites; the text names places the way
 * editors and terminals understand, FILE:LINE. */
#include "present/hotspots.h"

#include <inttypes.h>
#include <string.h>

#include "present/figures.h"

enum { SHOWN_WRAPPERS = 6 };

/* ---- what is shown ----------------------------------------------------------------------- */

/* How many sites are shown; the rest is counted. */
static size_t shown_sites(const hotspots *h, const hotspots_view *view) {
    size_t n = 0;
    while (n < h->sites.count && (view->top == 0 || n < view->top) &&
           figure_percent(h->sites.items[n].entry.cost.samples, h->total.samples) >=
               view->min_share)
        n++;
    return n;
}

static uint64_t samples_of_rest(const hotspots *h, size_t shown) {
    uint64_t sum = 0;
    for (size_t i = shown; i < h->sites.count; i++)
        sum += h->sites.items[i].entry.cost.samples;
    return sum;
}

static size_t shown_callers(const hotspots_site *s, const hotspots_view *view) {
    return s->n_callers < view->callers ? s->n_callers : (size_t)view->callers;
}

bool hotspots_unsymbolized(const hotspots *h, const hotspots_view *view) {
    size_t n = shown_sites(h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *e = &h->sites.items[i].entry;
        if (e->place && profile_is_address(e->place))
            return true;
    }
    return false;
}

/* ---- text -------------------------------------------------------------------------------- */

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

static void paint(output *o, const hotspots_view *view, const char *code) {
    if (view->color)
        output_text(o, code);
}

static void show_file(output *o, const profile_location *l, bool with_line) {
    output_shown(o, l->file);
    if (with_line && l->line)
        output_format(o, ":%" PRIu32, l->line);
}

static bool has_file(const profile_location *l) {
    return l->file[0] && !profile_is_address(l);
}

static void show_function(output *o, const profile_location *l) {
    output_shown(o, l->function[0] ? l->function : "(unknown function)");
}

static void show_site_name(output *o, const hotspots_entry *e, const hotspots *h,
                           const hotspots_view *view) {
    if (h->by == HOTSPOTS_BY_TYPE) {
        output_shown(o, e->type ? e->type : "(type not recorded)");
    } else if (!e->place) {
        output_text(o, "(no backtrace)");
    } else if (h->by == HOTSPOTS_BY_FUNCTION) {
        paint(o, view, BOLD);
        show_function(o, e->place);
        paint(o, view, PLAIN);
        if (has_file(e->place)) {
            output_text(o, " (");
            show_file(o, e->place, false);
            output_char(o, ')');
        }
    } else {
        if (has_file(e->place)) {
            paint(o, view, BOLD);
            show_file(o, e->place, true);
            paint(o, view, PLAIN);
            output_char(o, ' ');
        }
        show_function(o, e->place);
    }
}

static void show_caller_name(output *o, const hotspots_entry *e, const hotspots *h) {
    if (!e->place) {
        output_text(o, h->by == HOTSPOTS_BY_TYPE ? "without backtrace" : "without caller");
        return;
    }
    output_text(o, "via ");
    show_function(o, e->place);
    if (!has_file(e->place))
        return;
    output_text(o, " (");
    show_file(o, e->place, h->by != HOTSPOTS_BY_FUNCTION);
    output_char(o, ')');
}

static void show_callers(output *o, const profile *p, const hotspots *h, const hotspots_site *s,
                         const hotspots_view *view) {
    size_t n = shown_callers(s, view);
    if (s->n_callers == 1 && !h->callers.items[s->first_caller].place)
        return;
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *c = &h->callers.items[s->first_caller + i];
        figure f = figure_of(p, c->cost.samples);
        paint(o, view, FAINT);
        output_format(o, "        %s", figure_bytes(f.value).text);
        if (f.margin > 0)
            output_format(o, " %s", figure_margin(&f).text);
        output_char(o, ' ');
        show_caller_name(o, c, h);
        if (i + 1 == n && n < s->n_callers)
            output_text(o, ", …");
        paint(o, view, PLAIN);
        output_char(o, '\n');
    }
}

static void show_rest(output *o, const hotspots *h, size_t shown, const hotspots_view *view) {
    size_t n = h->sites.count - shown;
    if (n == 0)
        return;
    static const char *const nouns[] = {[HOTSPOTS_BY_LINE] = "site",
                                        [HOTSPOTS_BY_FUNCTION] = "function",
                                        [HOTSPOTS_BY_TYPE] = "type"};
    output_format(o, "%6.1f%% in %s %s%s%s",
                  figure_percent(samples_of_rest(h, shown), h->total.samples), figure_count(n).text,
                  shown ? "more " : "", nouns[h->by], n == 1 ? "" : "s");
    if (figure_percent(h->sites.items[shown].entry.cost.samples, h->total.samples) <
        view->min_share)
        output_format(o, " below %g%%%s", view->min_share, n == 1 ? "" : " each");
    output_char(o, '\n');
}

/* Sites are not where malloc was called; readers who look there shall know why. */
static void show_wrappers(output *o, const hotspots *h) {
    size_t n = h->wrappers.count;
    if (n == 0)
        return;
    output_format(o, "Wrappers of malloc were skipped (--wrappers show counts them as sites): ");
    for (size_t i = 0; i < n && i < SHOWN_WRAPPERS; i++) {
        output_text(o, i ? ", " : "");
        output_shown(o, h->wrappers.items[i].place->function);
    }
    output_text(o, n > SHOWN_WRAPPERS ? ", …\n" : "\n");
}

static void show_nothing(output *o, const profile *p) {
    figure none = figure_of(p, 0);
    output_format(o, "No allocations: the trace holds no samples at rate %s.\n",
                  figure_rate(p->info.sample_rate).text);
    if (none.high > 0)
        output_format(o,
                      "A program that allocates less than about %s in all may show none; "
                      "record it with a higher rate.\n",
                      figure_bytes(none.high).text);
}

void hotspots_text(output *o, const profile *p, const hotspots *h, const hotspots_view *view) {
    if (h->total.samples == 0) {
        show_nothing(o, p);
        return;
    }
    figure total = figure_of(p, h->total.samples);
    paint(o, view, BOLD);
    output_format(o, "%s total allocations", figure_bytes(total.value).text);
    paint(o, view, PLAIN);
    output_format(o, " (%s, %s sample%s at rate %s)\n", figure_margin(&total).text,
                  figure_count(h->total.samples).text, h->total.samples == 1 ? "" : "s",
                  figure_rate(p->info.sample_rate).text);
    size_t n = shown_sites(h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_site *s = &h->sites.items[i];
        output_format(o, "%6.1f%% ", figure_percent(s->entry.cost.samples, h->total.samples));
        show_site_name(o, &s->entry, h, view);
        output_char(o, '\n');
        show_callers(o, p, h, s, view);
    }
    show_rest(o, h, n, view);
    show_wrappers(o, h);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static const char *const by_names[] = {
#define HOTSPOTS_GROUPING_TEXT(name, text) [HOTSPOTS_BY_##name] = text,
    HOTSPOTS_GROUPINGS(HOTSPOTS_GROUPING_TEXT)
#undef HOTSPOTS_GROUPING_TEXT
};

/* The names of an entry. Groups by function have no line: it would be one of many. */
static void json_names(output *o, const hotspots_entry *e, bool is_type, bool with_line) {
    if (is_type) {
        output_text(o, "\"type\":");
        if (e->type)
            output_json(o, e->type);
        else
            output_text(o, "null");
        return;
    }
    if (!e->place) {
        output_text(o, "\"function\":null,\"file\":null");
        return;
    }
    output_text(o, "\"function\":");
    output_json(o, e->place->function);
    output_text(o, ",\"file\":");
    output_json(o, e->place->file);
    if (with_line)
        output_format(o, ",\"line\":%" PRIu32, e->place->line);
}

static void json_measure(output *o, const profile *p, const hotspots_entry *e, uint64_t total) {
    figure f = figure_of(p, e->cost.samples);
    output_format(o, ",\"share\":%.6f,", figure_percent(e->cost.samples, total) / 100);
    figure_json(o, &f);
    output_format(o, ",\"blocks\":%" PRIu64, e->cost.blocks);
}

static void json_site(output *o, const profile *p, const hotspots *h, const hotspots_site *s,
                      const hotspots_view *view) {
    bool by_type = h->by == HOTSPOTS_BY_TYPE, with_line = h->by != HOTSPOTS_BY_FUNCTION;
    output_char(o, '{');
    json_names(o, &s->entry, by_type, with_line);
    json_measure(o, p, &s->entry, h->total.samples);
    output_text(o, ",\"callers\":[");
    size_t n = shown_callers(s, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *c = &h->callers.items[s->first_caller + i];
        output_text(o, i ? ",{" : "{");
        json_names(o, c, false, with_line);
        json_measure(o, p, c, h->total.samples);
        output_char(o, '}');
    }
    output_format(o, "],\"callers_omitted\":%zu}", s->n_callers - n);
}

static void json_wrappers(output *o, const profile *p, const hotspots *h) {
    if (h->wrappers.count == 0)
        return;
    output_text(o, ",\n \"wrappers_skipped\":[");
    for (size_t i = 0; i < h->wrappers.count; i++) {
        const hotspots_entry *e = &h->wrappers.items[i];
        figure f = figure_of(p, e->cost.samples);
        output_text(o, i ? ",{\"function\":" : "{\"function\":");
        output_json(o, e->place->function);
        output_char(o, ',');
        figure_json(o, &f);
        output_char(o, '}');
    }
    output_text(o, "]");
}

void hotspots_json(output *o, const profile *p, const hotspots *h, const hotspots_view *view) {
    figure total = figure_of(p, h->total.samples);
    size_t n = shown_sites(h, view);
    uint64_t rest = samples_of_rest(h, n);
    figure omitted = figure_of(p, rest);
    output_format(o, "{\"by\":\"%s\",\"unit\":\"B\",\"rate\":", by_names[h->by]);
    figure_json_number(o, p->info.sample_rate);
    output_text(o, ",\"program\":");
    output_json(o, p->info.executable_name);
    output_text(o, ",\n \"total\":{");
    figure_json(o, &total);
    output_text(o, "},\n \"hotspots\":[");
    for (size_t i = 0; i < n; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_site(o, p, h, &h->sites.items[i], view);
    }
    output_format(o, "],\n \"omitted\":{\"sites\":%zu,\"share\":%.6f,", h->sites.count - n,
                  figure_percent(rest, h->total.samples) / 100);
    figure_json(o, &omitted);
    output_text(o, "}");
    json_wrappers(o, p, h);
    output_text(o, "}\n");
}

/* ---- CSV --------------------------------------------------------------------------------- */

void hotspots_csv(output *o, const profile *p, const hotspots *h, const hotspots_view *view) {
    output_text(o, "share,value,low,high,samples,blocks,function,file,line,type\n");
    size_t n = shown_sites(h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *e = &h->sites.items[i].entry;
        figure f = figure_of(p, e->cost.samples);
        output_format(o, "%.6f,%.0f,%.0f,%.0f,%" PRIu64 ",%" PRIu64 ",",
                      figure_percent(e->cost.samples, h->total.samples) / 100, f.value, f.low,
                      f.high, e->cost.samples, e->cost.blocks);
        output_csv(o, e->place ? e->place->function : "");
        output_char(o, ',');
        output_csv(o, e->place ? e->place->file : "");
        output_char(o, ',');
        if (e->place && e->place->line && h->by == HOTSPOTS_BY_LINE)
            output_u64(o, e->place->line, 0, ' ');
        output_char(o, ',');
        output_csv(o, e->type ? e->type : "");
        output_char(o, '\n');
    }
}
