/* asked.c: answers questions from entries of the cache. What a lens shows of a trace is the same
 * for all questions whose filter hides no frames, so each step towards a view of call paths is a
 * cache entry of its own. */
#include "answers/asked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answers/request.h"

enum { WRAPPERS_SKIP, WRAPPERS_SHOW };
static const char *const wrappers[] = {[WRAPPERS_SKIP] = "skip", [WRAPPERS_SHOW] = "show", NULL};

enum { OF_NODE = 20 /* bytes per node that a tree of call paths takes while it is made */ };

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

/* A question about the microsecond of the peak is answered for the peak itself, not for the end of
 * that microsecond. */
static bool is_peak_of(const reading *r, uint64_t moment) {
    return reading_has_blocks(r) && r->peak.samples > 0 && moment == r->peak.at.time;
}

static void collapse_first(request *r, asked *a, const lens *seen);

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
    const bool found = find_lens(r, a, spec, &seen);
    if (seen && a->collapses)
        collapse_first(r, a, spec->lens);
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

/* Writes the filter term of the state at `moment`. The terms also work if `to` is before `from`. */
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

bool asked_moments_read(request *r, asked_moments *m) {
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

bool asked_open_states(request *r, const asked_moments *m, asked *before, asked *after) {
    if (m->of == MOMENTS_LIVE) {
        before->live_at = &m->from;
        after->live_at = &m->to;
    } else {
        before->of_allocated = after->of_allocated = true;
        before->also = m->before;
        after->also = m->after;
    }
    return asked_open_of(r, before, "trace", 0) && asked_open_of(r, after, "trace", 0);
}

bool asked_open_moments(request *r, const asked_moments *m, asked *went, asked *came) {
    went->of_allocated = came->of_allocated = true;
    went->also = m->went;
    came->also = m->came;
    return asked_open_of(r, went, "trace", 0) && asked_open_of(r, came, "trace", 0);
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

/* ---- call paths -------------------------------------------------------------------------- */

static void release_tree(void *value) {
    path_tree_free(value);
}

static void release_sums(void *value) {
    path_sums_free(value);
}

static bool keep_tree(path_tree *t, cache_value *value) {
    if (t)
        *value = (cache_value){.value = t, .size = path_tree_size(t), .release = release_tree};
    return t;
}

static bool make_first(void *context, cache_value *value) {
    return keep_tree(callpaths_see(context, 0), value);
}

static bool make_second(void *context, cache_value *value) {
    return keep_tree(callpaths_see(context, 1), value);
}

static bool make_joined(void *context, cache_value *value) {
    return keep_tree(callpaths_join(context), value);
}

static bool make_collapsed(void *context, cache_value *value) {
    return keep_tree(callpaths_collapse(context), value);
}

static bool make_sums(void *context, cache_value *value) {
    path_sums *s = callpaths_sum(context);
    if (s)
        *value = (cache_value){.value = s, .size = path_sums_size(s), .release = release_sums};
    return s;
}

static const void *hold(asked_paths *p, cache_entry *e) {
    if (!e)
        return NULL;
    p->entries[p->n_entries++] = e;
    return cache_entry_value(e);
}

/* Returns the value of the cache entry `key`, which `make` computes from `p->view` as far as that
 * is filled in. `needs` are the bytes that making it takes. The entry is released with `p`. Returns
 * NULL when there is no memory. */
static const void *keep(request *r, asked_paths *p, const char *key,
                        bool (*make)(void *context, cache_value *value), size_t needs) {
    const cache_maker maker = {.make = make, .context = &p->view, .needs = needs};
    return hold(p, key ? cache_get(r->viewer->cache, key, maker) : NULL);
}

/* Returns the value of the cache entry `key`, which is released with `p`; NULL if there is none. */
static const void *find(request *r, asked_paths *p, const char *key) {
    return hold(p, key ? cache_find(r->viewer->cache, key) : NULL);
}

static size_t need_to_see(const asked *a) {
    return cct_count(&a->reading->profile.tree) * OF_NODE;
}

/* Functions that make keys return NULL when there is no memory. Keys begin with the trace's number
 * (see cache_forget), and the caller frees them. */
static char *key_of_seen(const asked *a, bool by_line) {
    char *key;
    const int size =
        a->hides ? asprintf(&key, "%sview %d", a->key, by_line)
                 : asprintf(&key, "%zu %" PRIu64 " view %d", a->trace, a->reading->serial, by_line);
    return size < 0 ? NULL : key;
}

/* Takes `key` over and frees it. */
static char *key_beyond(char *key, const char *step, const char *of) {
    char *longer = NULL;
    if (key && asprintf(&longer, "%s\n%s %s", key, step, of) < 0)
        longer = NULL;
    free(key);
    return longer;
}

/* Takes `key` over and frees it. */
static char *key_of_collapsed(const request *r, const asked_paths *p, char *key) {
    const bool focused = p->view.spec.focus;
    const char *focus = focused ? request_text(r, "focus") : NULL;
    const char *ids = focused && !focus ? request_text(r, "focus_ids") : NULL;
    return key_beyond(key,
                      ids     ? "collapsed below ids"
                      : focus ? "collapsed below"
                              : "collapsed",
                      ids     ? ids
                      : focus ? focus
                              : "");
}

static bool collapse_tree(request *r, asked_paths *p, const char *key) {
    p->view.collapsed = keep(r, p, key, make_collapsed, callpaths_base(&p->view)->n * OF_NODE);
    return p->view.collapsed;
}

static bool see_tree(request *r, asked_paths *p, const asked *a, const char *key) {
    p->view.seen[0] = keep(r, p, key, make_first, need_to_see(a));
    return p->view.seen[0];
}

/* Joins the two trees of the view, and then gives both up to save memory. */
static bool make_one(request *r, asked_paths *p, const char *key) {
    p->view.joined =
        keep(r, p, key, make_joined, (p->view.seen[0]->n + p->view.seen[1]->n) * OF_NODE);
    if (!p->view.joined)
        return false;
    for (unsigned side = 0; side < PATH_SIDES; side++) {
        p->view.seen[side] = NULL;
        cache_give_up(r->viewer->cache, p->entries[side]);
    }
    p->entries[0] = p->entries[PATH_SIDES]; /* the joined tree was added after the two */
    p->n_entries = 1;
    return true;
}

static bool join_trees(request *r, asked_paths *p, const asked *a, const asked *against, char **key,
                       const char *second) {
    char *first = strdup(*key);
    *key = key_beyond(*key, "joined", second);
    p->view.joined = find(r, p, *key);
    const bool ok = p->view.joined ||
                    (first && see_tree(r, p, a, first) &&
                     (p->view.seen[1] = keep(r, p, second, make_second, need_to_see(against))) &&
                     make_one(r, p, *key));
    free(first);
    return ok;
}

/* Joins the trees of both sides. On entry, `*key` is the key of the first side; on return, of the
 * joined tree. */
static bool compare_trees(request *r, asked_paths *p, const asked *a, const asked *against,
                          char **key) {
    char *second = key_of_seen(against, p->view.spec.by_line);
    bool ok = second;
    if (ok && strcmp(second, *key) == 0) {
        ok = see_tree(r, p, a, *key);
        p->view.seen[1] = p->view.seen[0];
    } else if (ok) {
        ok = join_trees(r, p, a, against, key, second);
    }
    free(second);
    return ok;
}

/* Makes the collapsed tree, and then gives the tree that it was made from up to save memory. */
static bool collapse_alone(request *r, asked_paths *p, const asked *a, char **key) {
    char *seen = strdup(*key);
    *key = key_of_collapsed(r, p, *key);
    p->view.collapsed = find(r, p, *key);
    if (!p->view.collapsed && seen && see_tree(r, p, a, seen) && collapse_tree(r, p, *key)) {
        p->view.seen[0] = NULL;
        cache_give_up(r->viewer->cache, p->entries[0]);
        p->entries[0] = p->entries[--p->n_entries];
    }
    free(seen);
    return p->view.collapsed;
}

/* Makes the collapsed tree before the query. A failure is ignored: the tree is tried again when it
 * is needed, and the request is refused then. */
static void collapse_first(request *r, asked *a, const lens *seen) {
    const query_result nothing = {.profile = &a->reading->profile, .lens = *seen};
    asked_paths p = {.view = {.spec = {.by_line = a->by_line, .collapse = true},
                              .queries = {&nothing},
                              .n_sides = 1}};
    char *key = key_of_seen(a, a->by_line);
    if (key && callpaths_stands_alone(&p.view) && collapse_alone(r, &p, a, &key))
        a->tree = p.entries[--p.n_entries];
    asked_paths_release(r, &p);
    free(key);
}

/* Finds or makes the trees that the sums are taken over. On entry, `*key` is the key of the first
 * side's tree; on return, of the final tree. */
static bool find_trees(request *r, asked_paths *p, const asked *a, const asked *against,
                       char **key) {
    if (!*key)
        return false;
    if (callpaths_stands_alone(&p->view))
        return collapse_alone(r, p, a, key);
    if (!(against ? compare_trees(r, p, a, against, key) : see_tree(r, p, a, *key)))
        return false;
    if (!callpaths_collapses(&p->view.spec))
        return true;
    *key = key_of_collapsed(r, p, *key);
    return collapse_tree(r, p, *key);
}

static bool sum_up(request *r, asked_paths *p, const asked *a, const asked *against, char *tree) {
    char *key;
    if (!tree || asprintf(&key, "%s%s\nsums %s", a->key, against ? against->key : "", tree) < 0)
        return false;
    p->view.sums = keep(r, p, key, make_sums,
                        cost_list_size(&a->query->costs) +
                            (against ? cost_list_size(&against->query->costs) : 0));
    free(key);
    return p->view.sums;
}

static bool open_paths(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                       bool with_sums, asked_paths *p) {
    char *key = key_of_seen(a, spec->by_line);
    *p = (asked_paths){.view = {.spec = *spec,
                                .queries = {a->query, against ? against->query : NULL},
                                .n_sides = against ? PATH_SIDES : 1}};
    const bool ok =
        find_trees(r, p, a, against, &key) && (!with_sums || sum_up(r, p, a, against, key));
    free(key);
    /* Another question will need the same trees, so they become the newest entries. The lens and
     * the costs of each side may stay as well. The sums need no protection, since this question
     * uses them. */
    const unsigned n_trees = p->n_entries - (ok && with_sums);
    for (unsigned i = 0; ok && i < n_trees; i++)
        cache_touch(r->viewer->cache, p->entries[i]);
    cache_protect(r->viewer->cache, n_trees + 2 * (size_t)p->view.n_sides);
    if (ok)
        return true;
    asked_paths_release(r, p);
    return request_no_memory(r);
}

bool asked_paths_of(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                    asked_paths *p) {
    return open_paths(r, a, against, spec, true, p);
}

bool asked_paths_tree(request *r, const asked *a, const callpaths_spec *spec, asked_paths *p) {
    return open_paths(r, a, NULL, spec, false, p);
}

void asked_paths_release(request *r, asked_paths *p) {
    while (p->n_entries > 0)
        cache_release(r->viewer->cache, p->entries[--p->n_entries]);
    *p = (asked_paths){0};
}
