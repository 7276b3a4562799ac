/* answer_diff.c: `/api/diff`: what changed between two traces, or two moments of one trace, site by
 * site. */
#include <stdio.h>

#include "answers/asked_moments.h"
#include "answers/endpoints.h"
#include "answers/write.h"
#include "render/render.h"
#include "reports/diff.h"

/* Names of columns. */
enum { SORT_DEFAULT };
static const char *const sorts[] = {"default", "change", "before", "after", NULL};

typedef struct diff_asked {
    asked before, after;
    asked_moments moments;
    asked went, came; /* only if the question is about moments */
    diff_options options;
    int sort;
    bool ascending;
    uint64_t offset, limit;
    call_site *search; /* NULL: all sites */
    diff_report report;
    table table;
    const table_column *by; /* NULL: in the diff's own order */
    VEC(uint32_t) rows;     /* the rows that match, sorted */
} diff_asked;

/* ---- the question ------------------------------------------------------------------------ */

static bool parse_search(request *r, diff_asked *d) {
    filter_error error;
    const char *text = request_text(r, "search");
    return !text || call_site_search(text, &d->search, &error) ||
           request_refuse(r, "search", error.column, "%s", error.reason);
}

static bool parse(request *r, diff_asked *d) {
    int by = HOTSPOTS_BY_LINE, normalise = DIFF_BY_NONE;
    if (!request_choice(r, "by", hotspots_stack_groupings, &by) ||
        !request_choice(r, "normalise", diff_normalisations, &normalise) ||
        !request_choice(r, "sort", sorts, &d->sort) || !request_order(r, &d->ascending) ||
        !request_integer(r, "offset", 0, UINT32_MAX, &d->offset) ||
        !request_integer(r, "limit", 1, 1000, &d->limit) || !parse_search(r, d) ||
        !asked_moments_read(r, &d->moments))
        return false;
    d->options = (diff_options){.by = (hotspots_by)by, .normalise = (diff_normalise)normalise};
    if (!d->moments.given)
        return asked_open_of(r, &d->before, "before", 0) && asked_open_of(r, &d->after, "after", 1);
    if (normalise != DIFF_BY_NONE)
        return request_refuse(r, "normalise", 0, "is for two traces");
    return asked_moments_open_states(r, &d->moments, &d->before, &d->after) &&
           asked_moments_open_changes(r, &d->moments, &d->went, &d->came);
}

static void release_diff(void *value) {
    diff_free(value);
    free(value);
}

static bool make_diff(void *context, cache_value *value) {
    const diff_asked *a = context;
    const diff_moments_of of = {.before = a->before.query,
                                .after = a->after.query,
                                .went = a->went.query,
                                .came = a->came.query};
    diff *d = malloc(sizeof *d);
    if (!d ||
        !(a->moments.given ? diff_moments(&of, &a->options, d)
                           : diff_query(&a->before.query, 1, &a->after.query, 1, &a->options, d))) {
        free(d);
        return false;
    }
    *value = (cache_value){.value = d,
                           .size = sizeof *d + d->sites.capacity * sizeof *d->sites.items,
                           .release = release_diff};
    return true;
}

static cache_entry *find_diff(request *r, diff_asked *d) {
    char *key;
    if (asprintf(&key, "diff %d %d %d %d %s", (int)d->options.by, (int)d->options.normalise,
                 d->moments.given, d->moments.of, d->after.key) < 0)
        return NULL;
    cache_entry *e =
        asked_cached(r, &d->before, key, (cache_maker){.make = make_diff, .context = d});
    free(key);
    return e;
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool name_matches(const call_site *search, const diff_name *n) {
    if (n->type && call_site_match(search, 0, n->type))
        return true;
    return n->place && (call_site_match(search, 0, n->place->function) ||
                        call_site_match(search, 0, n->place->file));
}

static int compare_rows(const void *a, const void *b, void *context) {
    const diff_asked *d = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order =
        table_compare(&d->table, d->by, table_row(&d->table, x), table_row(&d->table, y));
    if (order == 0)
        return x < y ? -1 : x > y;
    return d->ascending ? order : -order;
}

static bool choose_rows(diff_asked *d) {
    for (uint32_t i = 0; i < d->table.n; i++) {
        const diff_site *s = table_row(&d->table, i);
        if ((!d->search || name_matches(d->search, diff_name_of(s))) && !vec_push(&d->rows, i))
            return false;
    }
    d->by = d->sort == SORT_DEFAULT ? NULL : table_find(&d->table, sorts[d->sort]);
    if (d->by && d->rows.count)
        qsort_r(d->rows.items, d->rows.count, sizeof *d->rows.items, compare_rows, d);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void report_on(diff_asked *d, const diff *all) {
    const bool moments = d->moments.given;
    d->report = (diff_report){
        .diff = all,
        .before = &d->before.query,
        .after = &d->after.query,
        .n_before = 1,
        .n_after = 1,
        .is_moments = moments,
        .moved = moments ? d->went.query->total.samples + d->came.query->total.samples : 0};
    d->table = diff_table(&d->report);
}

static void write_heads(output *o, const diff_asked *d) {
    output_text(o, "{\"before\":{");
    write_head(o, &d->before);
    output_text(o, "},\n\"after\":{");
    write_head(o, &d->after);
    if (d->moments.given) {
        output_text(o, "},\n\"went\":{");
        write_cost(o, &d->went, &d->went.query->total);
        output_text(o, "},\n\"came\":{");
        write_cost(o, &d->came, &d->came.query->total);
    }
    output_char(o, '}');
}

static void write_total(output *o, diff_asked *d) {
    const table total = diff_total(&d->report);
    output_text(o, ",\n\"total\":{");
    render_json_fields(o, &total, &d->report.total);
    output_char(o, '}');
}

static bool write_diff(request *r, diff_asked *d) {
    const diff *all = d->report.diff;
    const page_rows rows =
        page_rows_from(&d->table, d->rows.items, d->rows.count, d->offset, d->limit);
    output *o = r->o;
    write_heads(o, d);
    output_format(
        o, ",\n\"by\":\"%s\",\"normalise\":\"%s\",\"false_discovery_rate\":%g,\"decided\":%s",
        hotspots_groupings[d->options.by], diff_normalisations[d->options.normalise],
        COMPARE_FALSE_DISCOVERIES, all->decided ? "true" : "false");
    write_total(o, d);
    output_format(o, ",\n\"count\":%zu,\"offset\":%llu,\"n_sure\":%zu", d->rows.count,
                  (unsigned long long)d->offset, all->n_sure);
    const bool ok = write_table_rows(o, "rows", &rows, &d->after.reading->profile, true);
    output_text(o, "}\n");
    return ok;
}

bool answer_diff(request *r) {
    diff_asked d = {.limit = 100};
    bool ok = parse(r, &d);
    cache_entry *e = ok ? find_diff(r, &d) : NULL;
    if (ok && !e)
        ok = request_no_memory(r);
    if (ok) {
        report_on(&d, cache_entry_value(e));
        ok = choose_rows(&d) && write_diff(r, &d);
    }
    cache_release(r->viewer->cache, e);
    call_site_free(d.search);
    vec_free(&d.rows);
    asked_close(r, &d.went);
    asked_close(r, &d.came);
    asked_close(r, &d.before);
    asked_close(r, &d.after);
    return ok;
}
