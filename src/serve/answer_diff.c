/* answer_diff.c: `/api/diff`: what changed between two of the traces, or two moments of one, site
 * by site. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/diff.h"
#include "serve/request.h"

enum { SORT_DEFAULT, SORT_CHANGE, SORT_BEFORE, SORT_AFTER };
static const char *const sorts[] = {"default", "change", "before", "after", NULL};

enum { DESCENDING, ASCENDING };
static const char *const orders[] = {"desc", "asc", NULL};

typedef struct diff_asked {
    asked before, after;
    asked_moments moments;
    asked went, came; /* of moments alone */
    diff_options options;
    int sort, order;
    uint64_t offset, limit;
    call_site *search; /* NULL: all sites */
    VEC(const diff_site *) rows;
    size_t count;
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
    if (!request_choice(r, "by", hotspots_groupings, &by) ||
        !request_choice(r, "normalise", diff_normalisations, &normalise) ||
        !request_choice(r, "sort", sorts, &d->sort) ||
        !request_choice(r, "order", orders, &d->order) ||
        !request_integer(r, "offset", 0, UINT32_MAX, &d->offset) ||
        !request_integer(r, "limit", 1, 1000, &d->limit) || !parse_search(r, d) ||
        !request_moments(r, &d->moments))
        return false;
    d->options = (diff_options){.by = (hotspots_by)by, .normalise = (diff_normalise)normalise};
    if (!d->moments.given)
        return request_ask_of(r, &d->before, "before", 0) &&
               request_ask_of(r, &d->after, "after", 1);
    if (normalise != DIFF_BY_NONE)
        return request_refuse(r, "normalise", 0, "is for two traces");
    return request_ask_states(r, &d->moments, &d->before, &d->after) &&
           request_ask_moments(r, &d->moments, &d->went, &d->came);
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
    cache_entry *e = asked_cached(r, &d->before, key, make_diff, d);
    free(key);
    return e;
}

/* ---- rows -------------------------------------------------------------------------------- */

static const diff_name *name_of(const diff_site *s) {
    return s->in_after ? &s->after : &s->before;
}

static bool name_matches(const call_site *search, const diff_name *n) {
    if (n->type && call_site_match(search, 0, n->type))
        return true;
    return n->place && (call_site_match(search, 0, n->place->function) ||
                        call_site_match(search, 0, n->place->file));
}

static double key_of(const diff_site *s, int sort) {
    return sort == SORT_CHANGE   ? s->c.change.value
           : sort == SORT_BEFORE ? s->c.before.value
                                 : s->c.after.value;
}

static int compare_rows(const void *a, const void *b, void *context) {
    const diff_site *x = *(const diff_site *const *)a, *y = *(const diff_site *const *)b;
    const diff_asked *d = context;
    double kx = key_of(x, d->sort), ky = key_of(y, d->sort);
    if (kx == ky)
        return x < y ? -1 : x > y;
    return (kx > ky) == (d->order == DESCENDING) ? -1 : 1;
}

static bool choose_rows(diff_asked *d, const diff *all) {
    for (size_t i = 0; i < all->sites.count; i++) {
        const diff_site *s = &all->sites.items[i];
        if ((!d->search || name_matches(d->search, name_of(s))) && !vec_push(&d->rows, s))
            return false;
    }
    d->count = d->rows.count;
    if (d->sort != SORT_DEFAULT && d->count)
        qsort_r(d->rows.items, d->count, sizeof *d->rows.items, compare_rows, d);
    size_t from = d->offset < d->count ? (size_t)d->offset : d->count;
    size_t n = d->count - from < d->limit ? d->count - from : (size_t)d->limit;
    if (n)
        memmove(d->rows.items, d->rows.items + from, n * sizeof *d->rows.items);
    d->rows.count = n;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_number(output *o, double x) {
    if (isfinite(x))
        output_format(o, "%.9g", x);
    else
        output_text(o, "null");
}

static void write_estimate(output *o, const char *name, const estimate *e, uint64_t samples,
                           const char *end) {
    output_format(o, "\"%s\":{\"value\":", name);
    write_number(o, e->value);
    output_text(o, ",\"low\":");
    write_number(o, e->low);
    output_text(o, ",\"high\":");
    write_number(o, e->high);
    output_format(o, ",\"samples\":%llu%s", (unsigned long long)samples, end);
}

/* `moved`: the samples that the change rests on. */
static void write_total(output *o, const diff *d, uint64_t moved) {
    const comparison *c = &d->total;
    output_format(o, ",\n\"total\":{\"sure\":%s,\"p\":", d->total_sure ? "true" : "false");
    write_number(o, c->p);
    output_char(o, ',');
    write_estimate(o, "before", &c->before, c->before_samples, "},");
    write_estimate(o, "after", &c->after, c->after_samples, "},");
    write_estimate(o, "change", &c->change, moved, "},");
    write_estimate(o, "ratio", &c->ratio, c->before_samples + c->after_samples, "}}");
}

enum { NAME_FUNCTION, NAME_FILE, NAME_LINE, NAME_TYPE };

/* What a row is called: numbers of strings, and the line. */
static int64_t name_part(const diff_asked *d, const diff_site *s, int part, place_list *strings) {
    const diff_name *n = name_of(s);
    switch (part) {
    case NAME_FUNCTION:
        return place_list_string(strings, n->place ? n->place->function : NULL);
    case NAME_FILE:
        return place_list_string(strings, n->place ? n->place->file : NULL);
    case NAME_LINE:
        return n->place && d->options.by == HOTSPOTS_BY_LINE ? n->place->line : 0;
    default:
        return place_list_string(strings, n->type);
    }
}

static int64_t id_of(const asked *a, bool present, const diff_name *n) {
    return present && n->place ? (int64_t)(n->place - a->reading->profile.locations.items) : -1;
}

static bool number_strings(const diff_asked *d, place_list *strings) {
    bool ok = true;
    for (size_t i = 0; i < d->rows.count; i++)
        for (int part = NAME_FUNCTION; part <= NAME_TYPE; part++)
            ok = ok && name_part(d, d->rows.items[i], part, strings) >= 0;
    return ok;
}

static void write_names(output *o, const diff_asked *d, place_list *strings) {
    static const char *const names[] = {"function", "file", "line", "type"};
    json_column c;
    for (int part = NAME_FUNCTION; part <= NAME_TYPE; part++) {
        column_start(&c, o, names[part], part == NAME_FUNCTION);
        for (size_t i = 0; i < d->rows.count; i++)
            column_integer(&c, name_part(d, d->rows.items[i], part, strings));
        column_end(&c);
    }
    column_start(&c, o, "id_before", false);
    for (size_t i = 0; i < d->rows.count; i++)
        column_integer(&c,
                       id_of(&d->before, d->rows.items[i]->in_before, &d->rows.items[i]->before));
    column_end(&c);
    column_start(&c, o, "id_after", false);
    for (size_t i = 0; i < d->rows.count; i++)
        column_integer(&c, id_of(&d->after, d->rows.items[i]->in_after, &d->rows.items[i]->after));
    column_end(&c);
}

/* X(name, expression of `s`) */
#define DIFF_COLUMNS(X)                                                                            \
    X("before", s->c.before.value)                                                                 \
    X("before_low", s->c.before.low)                                                               \
    X("before_high", s->c.before.high)                                                             \
    X("before_samples", (double)s->c.before_samples)                                               \
    X("after", s->c.after.value)                                                                   \
    X("after_low", s->c.after.low)                                                                 \
    X("after_high", s->c.after.high)                                                               \
    X("after_samples", (double)s->c.after_samples)                                                 \
    X("change", s->c.change.value)                                                                 \
    X("change_low", s->c.change.low)                                                               \
    X("change_high", s->c.change.high)                                                             \
    X("p", s->c.p)                                                                                 \
    X("q", s->q)                                                                                   \
    X("sure", s->sure ? 1.0 : 0.0)                                                                 \
    X("sure_change", s->sure_change)

/* What is of one of the moments alone. */
#define MOMENTS_COLUMNS(X)                                                                         \
    X("went", s->went.value)                                                                       \
    X("went_low", s->went.low)                                                                     \
    X("went_high", s->went.high)                                                                   \
    X("came", s->came.value)                                                                       \
    X("came_low", s->came.low)                                                                     \
    X("came_high", s->came.high)

static void write_changes(output *o, const diff_asked *d) {
#define DIFF_COLUMN(name, expression)                                                              \
    output_text(o, ",\n\"" name "\":[");                                                           \
    for (size_t i = 0; i < d->rows.count; i++) {                                                   \
        const diff_site *s = d->rows.items[i];                                                     \
        output_text(o, i ? "," : "");                                                              \
        write_number(o, expression);                                                               \
    }                                                                                              \
    output_char(o, ']');
    DIFF_COLUMNS(DIFF_COLUMN)
    if (d->moments.given) {
        MOMENTS_COLUMNS(DIFF_COLUMN)
    }
#undef DIFF_COLUMN
}

static bool write_diff(request *r, const diff_asked *d, const diff *all) {
    place_list strings = {0};
    output *o = r->o;
    bool ok = number_strings(d, &strings);
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
    output_format(
        o, "},\n\"by\":\"%s\",\"normalise\":\"%s\",\"false_discovery_rate\":%g,\"decided\":%s",
        hotspots_groupings[d->options.by], diff_normalisations[d->options.normalise],
        COMPARE_FALSE_DISCOVERIES, all->decided ? "true" : "false");
    write_total(o, all,
                d->moments.given ? d->went.query->total.samples + d->came.query->total.samples
                                 : all->total.before_samples + all->total.after_samples);
    output_format(o, ",\n\"count\":%zu,\"offset\":%llu,\"n_sure\":%zu,\n", d->count,
                  (unsigned long long)d->offset, all->n_sure);
    ok = ok && write_places(o, &strings, &d->after.reading->profile, true, NULL);
    output_text(o, ",\n\"rows\":{");
    write_names(o, d, &strings);
    write_changes(o, d);
    output_text(o, "}}\n");
    place_list_free(&strings);
    return ok;
}

bool answer_diff(request *r) {
    diff_asked d = {.limit = 100};
    bool ok = parse(r, &d);
    cache_entry *e = ok ? find_diff(r, &d) : NULL;
    if (ok && !e)
        ok = request_no_memory(r);
    if (ok) {
        const diff *all = cache_entry_value(e);
        ok = choose_rows(&d, all) && write_diff(r, &d, all);
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
