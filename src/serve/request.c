/* request.c: parameters of a request; see request.h. */
#include "serve/request.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

const char *request_text(const request *r, const char *name) {
    for (size_t i = 0; i < r->n_parameters; i++)
        if (strcmp(r->parameters[i].name, name) == 0)
            return r->parameters[i].value[0] ? r->parameters[i].value : NULL;
    return NULL;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Digits up to something else, at most `most`; false if there are none, or it is larger. */
static bool take_integer(const char **text, uint64_t most, uint64_t *value) {
    const char *start = *text;
    *value = 0;
    for (; isdigit((unsigned char)**text); ++*text) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (digit > most || *value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return *text > start;
}

bool request_integer(request *r, const char *name, uint64_t low, uint64_t high, uint64_t *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    if (!take_integer(&text, high, value) || *text || *value < low)
        return request_refuse(r, name, 0, "a whole number from %" PRIu64 " to %" PRIu64, low, high);
    return true;
}

bool request_number(request *r, const char *name, double low, double high, double *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    if (!number_parse(text, value) || !(*value >= low && *value <= high))
        return request_refuse(r, name, 0, "a number from %g to %g", low, high);
    return true;
}

bool request_flag(request *r, const char *name, bool *value) {
    uint64_t number = *value;
    if (!request_integer(r, name, 0, 1, &number))
        return false;
    *value = number;
    return true;
}

/* A moment that has a name, of the whole of `trace`. */
static bool named_time(request *r, bool is_peak, uint64_t *micros) {
    reading *now;
    size_t trace;
    if (!request_reading(r, "trace", 0, true, &trace, &now))
        return false;
    *micros = is_peak ? now->peak.at.time : now->profile.duration;
    reading_release(now);
    return true;
}

bool request_moment(request *r, const char *name, uint64_t *micros) {
    const char *text = request_text(r, name);
    if (!text || text[0] != '@')
        return request_time(r, name, micros);
    if (strcmp(text, "@end") == 0 || strcmp(text, "@peak") == 0)
        return named_time(r, strcmp(text, "@peak") == 0, micros);
    *micros = 0;
    return strcmp(text, "@start") == 0 ||
           request_refuse(r, name, 0, "a time, or one of @start, @peak, @end");
}

/* Whole microseconds, or with a unit. */
bool request_time(request *r, const char *name, uint64_t *micros) {
    const char *text = request_text(r, name), *end = text;
    filter_error error;
    if (!text || (take_integer(&end, UINT64_MAX - 1, micros) && !*end))
        return true;
    return filter_parse_time(text, micros, &error) ||
           request_refuse(r, name, error.column, "%s", error.reason);
}

bool request_choice(request *r, const char *name, const char *const *choices, int *value) {
    const char *text = request_text(r, name);
    if (!text)
        return true;
    char known[160] = "";
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return true;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", choices[i]);
    }
    return request_refuse(r, name, 0, "one of %s", known);
}

bool request_ids(request *r, const char *name, id_list *ids) {
    const char *text = request_text(r, name);
    for (; text; text++) {
        uint64_t id;
        if (!take_integer(&text, UINT32_MAX - 1, &id) || (*text && *text != '.'))
            return request_refuse(r, name, 0, "ids of places, separated by dots");
        if (!vec_push(ids, (uint32_t)id))
            return request_no_memory(r);
        if (!*text)
            break;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool focus_of_ids(request *r, const profile *p, const id_list *ids, call_site **focus) {
    const char **names = malloc((ids->count + 1) * sizeof *names);
    bool ok = names;
    for (size_t i = 0; ok && i < ids->count; i++) {
        if (ids->items[i] >= p->locations.count) {
            free(names);
            return request_refuse(r, "focus_ids", 0, "there is no place %" PRIu32, ids->items[i]);
        }
        names[i] = p->locations.items[ids->items[i]].function;
    }
    ok = ok && call_site_of(names, ids->count, focus);
    free(names);
    return ok || request_no_memory(r);
}

bool request_focus(request *r, const profile *p, call_site **focus) {
    id_list ids = {0};
    filter_error error;
    const char *text = request_text(r, "focus");
    if (text && request_text(r, "focus_ids"))
        return request_refuse(r, "focus_ids", 0, "excludes focus");
    if (text)
        return call_site_parse(text, p, focus, &error) ||
               (error.column ? request_refuse(r, "focus", error.column, "%s", error.reason)
                             : request_no_memory(r));
    bool ok = request_ids(r, "focus_ids", &ids);
    if (ok && ids.count == 0)
        ok = request_refuse(r, "focus", 0, "callers and callees need a focus");
    ok = ok && focus_of_ids(r, p, &ids, focus);
    vec_free(&ids);
    return ok;
}

/* Many locations have the same function, and the same file. */
static bool matches_name(const call_site *s, map64 *known, const char *name) {
    uint32_t *match = map64_put(known, (uintptr_t)name);
    if (!match)
        return call_site_match(s, 0, name);
    if (*match == MAP64_NONE)
        *match = call_site_match(s, 0, name);
    return *match;
}

enum { ASK_AFTER = 256 /* locations */ };

static bool client_has_gone(const request *r) {
    return r->client && r->client->has_gone(r->client->context);
}

static bool nobody_waits(request *r) {
    return request_fail(r, HTTP_UNAVAILABLE, "nobody waits for the answer any more");
}

bool request_no_answer(request *r) {
    return client_has_gone(r) ? nobody_waits(r) : request_no_memory(r);
}

bool request_search(request *r, const profile *p, uint8_t **matches) {
    const char *text = request_text(r, "search");
    call_site *s;
    filter_error error;
    map64 known = {0};
    *matches = NULL;
    if (!text)
        return true;
    if (!call_site_search(text, &s, &error))
        return error.column ? request_refuse(r, "search", error.column, "%s", error.reason)
                            : request_no_memory(r);
    *matches = malloc(p->locations.count + 1);
    bool gone = false;
    for (size_t i = 0; *matches && !gone && i < p->locations.count; i++) {
        const profile_location *l = &p->locations.items[i];
        gone = i % ASK_AFTER == 0 && client_has_gone(r);
        (*matches)[i] = matches_name(s, &known, l->function) || matches_name(s, &known, l->file);
    }
    map64_free(&known);
    call_site_free(s);
    if (gone) {
        free(*matches);
        *matches = NULL;
        return nobody_waits(r);
    }
    return *matches || request_no_memory(r);
}

/* ---- questions --------------------------------------------------------------------------- */

static const char *const measures[] = {
#define MEASURE_TEXT(name, text, unit, title) text,
    MEASURES(MEASURE_TEXT)
#undef MEASURE_TEXT
        NULL};

enum { WRAPPERS_SKIP, WRAPPERS_SHOW };
static const char *const wrappers[] = {[WRAPPERS_SKIP] = "skip", [WRAPPERS_SHOW] = "show", NULL};

bool request_reading(request *r, const char *parameter, uint64_t otherwise, bool blocks,
                     size_t *trace, reading **now) {
    uint64_t index = otherwise;
    *now = NULL;
    if (!request_integer(r, parameter, 0, UINT32_MAX, &index))
        return false;
    if (index >= r->viewer->n_traces)
        return request_fail(r, HTTP_NOT_FOUND, "there is no trace %" PRIu64, index);
    *trace = (size_t)index;
    *now = viewer_take(r->viewer, *trace, blocks);
    return *now || request_fail(r, HTTP_UNAVAILABLE,
                                blocks ? "the blocks of the trace cannot be read"
                                       : "the trace is not read yet");
}

/* What makes a query_result, and what must be there while it does. */
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

/* All names are looked at for it, which takes a while: once for all questions that hide nothing. */
static bool find_lens(request *r, const asked *a, query_spec *spec, cache_entry **e) {
    making m = {.profile = &a->reading->profile, .spec = spec};
    char key[80];
    *e = NULL;
    if (filter_hides_any(spec->filter))
        return true;
    snprintf(key, sizeof key, "%zu %" PRIu64 " lens %d", a->trace, a->reading->serial,
             spec->show_wrappers);
    *e = cache_get(r->viewer->cache, key, make_lens, &m);
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
                           .size = sizeof *q + q->costs.capacity * sizeof *q->costs.items +
                                   m->profile->locations.count + shape_size(q->lens.shape) +
                                   (q->selection.kept ? q->selection.n_of : 0),
                           .release = release_query};
    return true;
}

/* The whole filter; false when there is no memory. */
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
    if (!request_choice(r, "measure", measures, &counted) ||
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

static bool set_key(asked *a, const query_spec *spec, const char *text) {
    return asprintf(&a->key, "%zu %" PRIu64 " %d %" PRIu64 " %d %d %s\n", a->trace,
                    a->reading->serial, (int)spec->measure, spec->moment, spec->show_wrappers,
                    spec->keep_rows, text ? text : "") >= 0;
}

/* Who asks for the microsecond of the peak is told of the peak, not of the microsecond's end. */
static bool is_peak_of(const reading *r, uint64_t moment) {
    return reading_has_blocks(r) && r->peak.samples > 0 && moment == r->peak.at.time;
}

static bool run_query(request *r, asked *a, query_spec *spec, const char *text) {
    making m = {.profile = &a->reading->profile, .spec = spec};
    spec->at_peak = is_peak_of(a->reading, spec->moment);
    if (spec->moment > a->reading->profile.duration)
        spec->moment = a->reading->profile.duration;
    if (!set_key(a, spec, text)) {
        a->key = NULL;
        return request_no_memory(r);
    }
    cache_entry *seen;
    if (find_lens(r, a, spec, &seen))
        a->entry = cache_get(r->viewer->cache, a->key, make_query, &m);
    cache_release(r->viewer->cache, seen);
    if (!a->entry)
        return request_no_memory(r);
    a->query = cache_entry_value(a->entry);
    a->report = (report){.query = a->query, .filter = text, .figures = &a->reading->figures};
    return true;
}

bool request_ask_of(request *r, asked *a, const char *trace, uint64_t otherwise) {
    query_spec spec = {0};
    const char *text;
    bool ok =
        find_text(r, a, &text) ? parse_spec(r, text, &spec, &a->filter) : request_no_memory(r);
    spec.keep_rows = a->needs_rows;
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

/* Also where B was before A. */
static void write_state(const asked_moments *m, uint64_t moment, bool is_peak, char *text,
                        size_t size) {
    if (m->of == MOMENTS_LIVE && is_peak)
        snprintf(text, size, "live:@peak");
    else
        snprintf(text, size, "%s%" PRIu64 "us", m->of == MOMENTS_LIVE ? "live:" : "alloc:..",
                 moment);
}

static void write_moments_terms(asked_moments *m, const reading *now) {
    write_state(m, m->from, is_peak_of(now, m->from), m->before, sizeof m->before);
    write_state(m, m->to, is_peak_of(now, m->to), m->after, sizeof m->after);
    snprintf(m->went, sizeof m->went, "%s -%s", m->before, m->after);
    snprintf(m->came, sizeof m->came, "%s -%s", m->after, m->before);
}

bool request_moments(request *r, asked_moments *m) {
    static const char *const kinds[] = {
        [MOMENTS_LIVE] = "live", [MOMENTS_ALLOCATED] = "allocated", NULL};
    m->given = request_text(r, "from") || request_text(r, "to");
    if (!request_choice(r, "of", kinds, &m->of))
        return false;
    if (!m->given)
        return !request_text(r, "of") || request_refuse(r, "of", 0, "needs from and to");
    if (!request_text(r, "from") || !request_text(r, "to"))
        return request_refuse(r, request_text(r, "to") ? "from" : "to", 0, "both are needed");
    if (!request_moment(r, "from", &m->from) || !request_moment(r, "to", &m->to))
        return false;
    if (request_text(r, "before") || request_text(r, "after"))
        return request_refuse(r, "from", 0, "excludes before and after: it is of one trace");
    reading *now;
    size_t trace;
    if (!request_reading(r, "trace", 0, true, &trace, &now))
        return false;
    write_moments_terms(m, now);
    reading_release(now);
    return true;
}

bool request_ask_states(request *r, const asked_moments *m, asked *before, asked *after) {
    if (m->of == MOMENTS_LIVE) {
        before->live_at = &m->from;
        after->live_at = &m->to;
    } else {
        before->of_allocated = after->of_allocated = true;
        before->also = m->before;
        after->also = m->after;
    }
    return request_ask_of(r, before, "trace", 0) && request_ask_of(r, after, "trace", 0);
}

bool request_ask_moments(request *r, const asked_moments *m, asked *went, asked *came) {
    went->of_allocated = came->of_allocated = true;
    went->also = m->went;
    came->also = m->came;
    return request_ask_of(r, went, "trace", 0) && request_ask_of(r, came, "trace", 0);
}

bool request_ask(request *r, asked *a) {
    return request_ask_of(r, a, "trace", 0);
}

void asked_close(request *r, asked *a) {
    cache_release(r->viewer->cache, a->entry);
    cache_release(r->viewer->cache, a->rows);
    reading_release(a->reading);
    filter_free(a->filter);
    free(a->text);
    free(a->key);
    *a = (asked){0};
}

cache_entry *asked_cached(request *r, const asked *a, const char *key,
                          bool (*make)(void *context, cache_value *value), void *context) {
    char *whole;
    if (asprintf(&whole, "%s%s", a->key, key) < 0)
        return NULL;
    cache_entry *e = cache_get(r->viewer->cache, whole, make, context);
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

/* They are the same whatever is measured. The picture needs none of them, so it need not wait. */
bool asked_rows(request *r, asked *a, const uint8_t **kept) {
    char *key;
    *kept = NULL;
    if (!filter_selects(a->filter))
        return true;
    if (!a->rows && asprintf(&key, "%zu %" PRIu64 " rows %s", a->trace, a->reading->serial,
                             a->report.filter) >= 0) {
        a->rows = cache_get(r->viewer->cache, key, make_rows, a);
        free(key);
    }
    if (!a->rows)
        return request_no_memory(r);
    *kept = cache_entry_value(a->rows);
    return true;
}
