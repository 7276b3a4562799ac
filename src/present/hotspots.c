/* hotspots.c: see hotspots.h. All three forms show the same sites; the text names places the way
 * editors and terminals understand, FILE:LINE. */
#include "present/hotspots.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN_WRAPPERS = 6 };

/* ---- what is shown ----------------------------------------------------------------------- */

/* How many sites are shown; the rest is counted. */
static size_t shown_sites(const report *r, const hotspots *h, const hotspots_view *view) {
    size_t n = 0;
    while (n < h->sites.count && (view->top == 0 || n < view->top) &&
           report_percent(r, &h->sites.items[n].entry.cost) >= view->min_share)
        n++;
    return n;
}

static cost cost_of_rest(const hotspots *h, size_t shown) {
    cost sum = {0};
    for (size_t i = shown; i < h->sites.count; i++)
        cost_add(&sum, &h->sites.items[i].entry.cost);
    return sum;
}

static size_t shown_callers(const hotspots_site *s, const hotspots_view *view) {
    return s->n_callers < view->callers ? s->n_callers : (size_t)view->callers;
}

bool hotspots_unsymbolized(const report *r, const hotspots *h, const hotspots_view *view) {
    size_t n = shown_sites(r, h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *e = &h->sites.items[i].entry;
        if (e->place && profile_is_address(e->place))
            return true;
    }
    return false;
}

/* ---- text -------------------------------------------------------------------------------- */

static void show_site_name(output *o, const report *r, const hotspots_entry *e, const hotspots *h) {
    if (h->by == HOTSPOTS_BY_TYPE)
        output_shown(o, e->type ? e->type : "(type not recorded)");
    else
        report_place(o, r, e->place, h->by == HOTSPOTS_BY_LINE);
}

static void show_caller_name(output *o, const hotspots_entry *e, const hotspots *h) {
    if (!e->place) {
        output_text(o, h->by == HOTSPOTS_BY_TYPE ? "without backtrace" : "without caller");
        return;
    }
    output_text(o, "via ");
    report_function(o, e->place);
    if (!report_has_file(e->place))
        return;
    output_text(o, " (");
    report_file(o, e->place, h->by != HOTSPOTS_BY_FUNCTION);
    output_char(o, ')');
}

static void show_callers(output *o, const report *r, const hotspots *h, const hotspots_site *s,
                         const hotspots_view *view) {
    size_t n = shown_callers(s, view);
    if (s->n_callers == 1 && !h->callers.items[s->first_caller].place)
        return;
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *c = &h->callers.items[s->first_caller + i];
        figure f = report_figure(r, &c->cost);
        report_paint(o, r, REPORT_FAINT);
        output_format(o, "        %s%s", report_amount(r, f.value).text, report_beside(r, &f).text);
        output_char(o, ' ');
        show_caller_name(o, c, h);
        if (i + 1 == n && n < s->n_callers)
            output_text(o, ", …");
        report_paint(o, r, REPORT_PLAIN);
        output_char(o, '\n');
    }
}

static void show_rest(output *o, const report *r, const hotspots *h, size_t shown,
                      const hotspots_view *view) {
    size_t n = h->sites.count - shown;
    cost rest = cost_of_rest(h, shown);
    if (n == 0)
        return;
    static const char *const nouns[] = {[HOTSPOTS_BY_LINE] = "site",
                                        [HOTSPOTS_BY_FUNCTION] = "function",
                                        [HOTSPOTS_BY_TYPE] = "type"};
    output_format(o, "%6.1f%% in %s %s%s%s", report_percent(r, &rest), figure_count(n).text,
                  shown ? "more " : "", nouns[h->by], n == 1 ? "" : "s");
    if (report_percent(r, &h->sites.items[shown].entry.cost) < view->min_share)
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

void hotspots_text(output *o, const report *r, const hotspots *h, const hotspots_view *view) {
    if (report_text_head(o, r))
        hotspots_text_sites(o, r, h, view);
}

void hotspots_text_sites(output *o, const report *r, const hotspots *h, const hotspots_view *view) {
    size_t n = shown_sites(r, h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_site *s = &h->sites.items[i];
        output_format(o, "%6.1f%% ", report_percent(r, &s->entry.cost));
        show_site_name(o, r, &s->entry, h);
        output_char(o, '\n');
        show_callers(o, r, h, s, view);
    }
    show_rest(o, r, h, n, view);
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

static void json_site(output *o, const report *r, const hotspots *h, const hotspots_site *s,
                      const hotspots_view *view) {
    bool by_type = h->by == HOTSPOTS_BY_TYPE, with_line = h->by != HOTSPOTS_BY_FUNCTION;
    output_char(o, '{');
    json_names(o, &s->entry, by_type, with_line);
    output_char(o, ',');
    report_json_cost(o, r, &s->entry.cost);
    output_text(o, ",\"callers\":[");
    size_t n = shown_callers(s, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *c = &h->callers.items[s->first_caller + i];
        output_text(o, i ? ",{" : "{");
        json_names(o, c, false, with_line);
        output_char(o, ',');
        report_json_cost(o, r, &c->cost);
        output_char(o, '}');
    }
    output_format(o, "],\"callers_omitted\":%zu}", s->n_callers - n);
}

static void json_wrappers(output *o, const report *r, const hotspots *h) {
    if (h->wrappers.count == 0)
        return;
    output_text(o, ",\n \"wrappers_skipped\":[");
    for (size_t i = 0; i < h->wrappers.count; i++) {
        const hotspots_entry *e = &h->wrappers.items[i];
        output_text(o, i ? ",{\"function\":" : "{\"function\":");
        output_json(o, e->place->function);
        output_char(o, ',');
        report_json_cost(o, r, &e->cost);
        output_char(o, '}');
    }
    output_text(o, "]");
}

void hotspots_json(output *o, const report *r, const hotspots *h, const hotspots_view *view) {
    output_format(o, "{\"by\":\"%s\",", by_names[h->by]);
    report_json_head(o, r);
    hotspots_json_sites(o, r, h, view);
    output_text(o, "}\n");
}

void hotspots_json_sites(output *o, const report *r, const hotspots *h, const hotspots_view *view) {
    size_t n = shown_sites(r, h, view);
    cost rest = cost_of_rest(h, n);
    figure omitted = report_figure(r, &rest);
    output_text(o, ",\n \"hotspots\":[");
    for (size_t i = 0; i < n; i++) {
        output_text(o, i ? ",\n  " : "\n  ");
        json_site(o, r, h, &h->sites.items[i], view);
    }
    output_format(o, "],\n \"omitted\":{\"sites\":%zu,\"share\":%.6f,", h->sites.count - n,
                  report_percent(r, &rest) / 100);
    figure_json(o, &omitted);
    output_text(o, "}");
    json_wrappers(o, r, h);
}

/* ---- CSV --------------------------------------------------------------------------------- */

void hotspots_csv(output *o, const report *r, const hotspots *h, const hotspots_view *view) {
    output_text(o, REPORT_CSV_COLUMNS ",function,file,line,type\n");
    size_t n = shown_sites(r, h, view);
    for (size_t i = 0; i < n; i++) {
        const hotspots_entry *e = &h->sites.items[i].entry;
        report_csv_cost(o, r, &e->cost);
        output_char(o, ',');
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
