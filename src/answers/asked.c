/* asked.c: opens questions: the filter, the lens, the query, the rows. */
#include "answers/asked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answers/asked_paths.h"

enum { WRAPPERS_SKIP, WRAPPERS_SHOW };
static const char *const wrappers[] = {[WRAPPERS_SKIP] = "skip", [WRAPPERS_SHOW] = "show", NULL};

/* The input of a query_result; it must outlive the query. */
typedef struct making {
    const profile *profile;
    const query_spec *spec;
} making;

static void release_lens(void *value) {
    lens_free(value);
    free(value);
}

static bool make_lens(void *context, cache_value *value) {
    const making *m = context;
    lens *l = malloc(sizeof *l);
    if (!l || !lens_init(l, m->profile, !m->spec->show_wrappers, NULL)) {
        free(l);
        return false;
    }
    *value = (cache_value){
        .value = l, .size = sizeof *l + m->profile->locations.count, .release = release_lens};
    return true;
}

/* Finds or makes the lens. Making it looks at every name, which takes a while, so all questions
 * that hide no frames share one. */
static bool find_lens(request *r, const asked *a, query_spec *spec, cache_entry **e) {
    making m = {.profile = &a->reading->profile, .spec = spec};
    char key[80];
    *e = NULL;
    if (filter_hides_any(spec->filter))
        return true;
    snprintf(key, sizeof key, "%zu %" PRIu64 " lens %d", a->trace, a->reading->serial,
             spec->show_wrappers);
    *e = cache_get(r->viewer->cache, key, (cache_maker){.make = make_lens, .context = &m});
    spec->lens = *e ? cache_entry_value(*e) : NULL;
    return *e;
}

static void release_query(void *value) {
    query_free(value);
    free(value);
}

static bool make_query(void *context, cache_value *value) {
    const making *m = context;
    query_result *q = malloc(sizeof *q);
    if (!q || !query_run(q, m->profile, m->spec)) {
        free(q);
        return false;
    }
    *value = (cache_value){.value = q,
                           .size = sizeof *q + cost_list_size(&q->costs) +
                                   m->profile->locations.count + shape_size(q->lens.shape) +
                                   (q->selection.kept ? q->selection.n_of : 0),
                           .release = release_query};
    return true;
}

/* Returns the bytes that the costs of all stacks take. */
static size_t need_to_ask(const making *m) {
    const size_t counts = sizeof(uint32_t) + sizeof(cost_few);
    const measure_unit unit = measure_infos[m->spec->measure].unit;
    const bool words = unit == UNIT_BLOCKS && !m->spec->alone;
    return m->profile->tree.n_stacks * (counts + (unit != UNIT_BYTES ? sizeof(cost_weights) : 0) +
                                        (words ? sizeof(cost_words) : 0));
}

/* Sets `*text` to the whole filter. Returns false when there is no memory. */
static bool find_text(const request *r, asked *a, const char **text) {
    *text = request_text(r, "filter");
    if (!a->also)
        return true;
    if (asprintf(&a->text, "%s%s%s", *text ? *text : "", *text ? " " : "", a->also) < 0)
        a->text = NULL;
    *text = a->text;
    return a->text;
}

static bool parse_spec(request *r, const char *text, query_spec *spec, filter **f) {
    int counted = MEASURE_ALLOCATED, show = WRAPPERS_SKIP;
    filter_error error;
    *spec = (query_spec){.moment = QUERY_END};
    *f = NULL;
    if (!request_choice(r, "measure", measure_names, &counted) ||
        !request_choice(r, "wrappers", wrappers, &show) || !request_time(r, "at", &spec->moment))
        return false;
    spec->measure = (measure)counted;
    spec->show_wrappers = show == WRAPPERS_SHOW;
    if (request_text(r, "at") && counted != MEASURE_LIVE)
        return request_refuse(r, "at", 0, "is for measure=live");
    if (text && !filter_parse(text, f, &error))
        return error.column ? request_refuse(r, "filter", error.column, "%s", error.reason)
                            : request_no_memory(r);
    spec->filter = *f;
    return true;
}

/* How keys begin: with the trace, the serial of the reading and the measure. */
#define KEY_BEGIN "%zu %" PRIu64 " %d "

void api_forget(viewer *v, size_t trace, const reading *r, measure m) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, KEY_BEGIN, trace, r->serial, (int)m);
    cache_forget(v->cache, prefix);
}

static bool set_key(asked *a, const query_spec *spec, const char *text) {
    return asprintf(&a->key, KEY_BEGIN "%" PRIu64 " %d %d %d %d %s\n", a->trace, a->reading->serial,
                    (int)spec->measure, spec->moment, spec->show_wrappers, spec->keep_rows,
                    spec->keep_counted, spec->alone, text ? text : "") >= 0;
}

static bool run_query(request *r, asked *a, query_spec *spec, const char *text) {
    making m = {.profile = &a->reading->profile, .spec = spec};
    spec->at_peak = reading_peaks_at(a->reading, spec->moment);
    if (spec->moment > a->reading->profile.duration)
        spec->moment = a->reading->profile.duration;
    if (!set_key(a, spec, text)) {
        a->key = NULL;
        return request_no_memory(r);
    }
    cache_entry *seen;
    const bool found = find_lens(r, a, spec, &seen);
    if (seen && a->collapses)
        asked_paths_collapse_first(r, a, spec->lens);
    if (found)
        a->entry =
            cache_get(r->viewer->cache, a->key,
                      (cache_maker){.make = make_query, .context = &m, .needs = need_to_ask(&m)});
    cache_release(r->viewer->cache, seen);
    if (!a->entry)
        return request_no_memory(r);
    a->query = cache_entry_value(a->entry);
    a->report = (report){.query = a->query, .filter = text, .figures = &a->reading->figures};
    return true;
}

bool asked_open_of(request *r, asked *a, const char *trace, uint64_t otherwise) {
    query_spec spec = {0};
    const char *text;
    bool ok =
        find_text(r, a, &text) ? parse_spec(r, text, &spec, &a->filter) : request_no_memory(r);
    spec.keep_rows = a->needs_rows;
    spec.keep_counted = a->needs_counted;
    spec.alone = a->alone && measure_infos[spec.measure].unit == UNIT_BLOCKS;
    if (a->of_allocated || a->live_at) {
        spec.measure = a->live_at ? MEASURE_LIVE : MEASURE_ALLOCATED;
        spec.moment = a->live_at ? *a->live_at : QUERY_END;
    }
    ok = ok &&
         request_reading(r, trace, otherwise, a->needs_blocks || query_needs_blocks(&spec),
                         &a->trace, &a->reading) &&
         run_query(r, a, &spec, text);
    a->hides = filter_hides_any(a->filter);
    return ok;
}

bool asked_open(request *r, asked *a) {
    a->alone = true;
    return asked_open_of(r, a, "trace", 0);
}

void asked_release_query(request *r, asked *a) {
    cache_release(r->viewer->cache, a->entry);
    a->entry = NULL;
    a->query = NULL;
}

void asked_close(request *r, asked *a) {
    asked_release_query(r, a);
    cache_release(r->viewer->cache, a->tree);
    cache_release(r->viewer->cache, a->rows);
    reading_release(a->reading);
    filter_free(a->filter);
    free(a->text);
    free(a->key);
    *a = (asked){0};
}

cache_entry *asked_cached(request *r, const asked *a, const char *key, cache_maker maker) {
    char *whole;
    if (asprintf(&whole, "%s%s", a->key, key) < 0)
        return NULL;
    cache_entry *e = cache_get(r->viewer->cache, whole, maker);
    free(whole);
    return e;
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool make_rows(void *context, cache_value *value) {
    const asked *a = context;
    selection s;
    if (!filter_select(a->filter, &a->reading->profile, &s))
        return false;
    *value = (cache_value){.value = s.kept, .size = s.n_of, .release = free};
    return true;
}

/* The rows do not depend on the measure, so the key leaves it out. They are computed on demand
 * only: the flame graph does not need them and need not wait. */
bool asked_rows(request *r, asked *a, const uint8_t **kept) {
    char *key;
    *kept = NULL;
    if (!filter_selects(a->filter))
        return true;
    if (!a->rows && asprintf(&key, "%zu %" PRIu64 " rows %s", a->trace, a->reading->serial,
                             a->report.filter) >= 0) {
        a->rows = cache_get(r->viewer->cache, key, (cache_maker){.make = make_rows, .context = a});
        free(key);
    }
    if (!a->rows)
        return request_no_memory(r);
    *kept = cache_entry_value(a->rows);
    return true;
}

figure asked_figure(const asked *a, const cost *c) {
    return report_figure_within(&a->report, a->query->may, c);
}
