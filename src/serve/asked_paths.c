/* asked_paths.c: the views of call paths that requests share; see request.h. Each step of a view is
 * an entry of the cache of its own: what a lens sees of a trace is the same for all questions that
 * hide nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "serve/request.h"

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

/* What is made of a view that is begun. NULL when there is no memory. */
static const void *keep(request *r, asked_paths *p, const char *key,
                        bool (*make)(void *context, cache_value *value)) {
    cache_entry *e = key ? cache_get(r->viewer->cache, key, make, &p->view) : NULL;
    if (!e)
        return NULL;
    p->entries[p->n_entries++] = e;
    return cache_entry_value(e);
}

/* Keys, NULL when there is no memory. They begin with the trace, and are freed by the caller. */
static char *key_of_seen(const asked *a, bool by_line) {
    char *key;
    const int size =
        a->hides ? asprintf(&key, "%sview %d", a->key, by_line)
                 : asprintf(&key, "%zu %" PRIu64 " view %d", a->trace, a->reading->serial, by_line);
    return size < 0 ? NULL : key;
}

/* `key` is freed. */
static char *key_beyond(char *key, const char *step, const char *of) {
    char *longer = NULL;
    if (key && asprintf(&longer, "%s\n%s %s", key, step, of) < 0)
        longer = NULL;
    free(key);
    return longer;
}

/* Makes the trees of both sides one, whose key replaces the first one's. */
static bool compare_trees(request *r, asked_paths *p, const asked *against, char **key) {
    char *second = key_of_seen(against, p->view.spec.by_line);
    const bool same = second && *key && strcmp(second, *key) == 0;
    if (same)
        p->view.seen[1] = p->view.seen[0];
    else
        p->view.seen[1] = keep(r, p, second, make_second);
    if (!same && p->view.seen[1]) {
        *key = key_beyond(*key, "joined", second);
        p->view.joined = keep(r, p, *key, make_joined);
    }
    free(second);
    return same || p->view.joined;
}

static bool collapse_tree(request *r, asked_paths *p, char **key) {
    const bool focused = p->view.spec.focus;
    const char *focus = focused ? request_text(r, "focus") : NULL;
    const char *ids = focused && !focus ? request_text(r, "focus_ids") : NULL;
    *key = key_beyond(*key,
                      ids     ? "collapsed below ids"
                      : focus ? "collapsed below"
                              : "collapsed",
                      ids     ? ids
                      : focus ? focus
                              : "");
    p->view.collapsed = keep(r, p, *key, make_collapsed);
    return p->view.collapsed;
}

static bool sum_up(request *r, asked_paths *p, const asked *a, const asked *against, char *tree) {
    char *key;
    if (!tree || asprintf(&key, "%s%s\nsums %s", a->key, against ? against->key : "", tree) < 0)
        return false;
    p->view.sums = keep(r, p, key, make_sums);
    free(key);
    return p->view.sums;
}

bool asked_paths_of(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                    asked_paths *p) {
    char *key = key_of_seen(a, spec->by_line);
    *p = (asked_paths){.view = {.spec = *spec,
                                .queries = {a->query, against ? against->query : NULL},
                                .n_sides = against ? PATH_SIDES : 1}};
    p->view.seen[0] = keep(r, p, key, make_first);
    const bool ok = p->view.seen[0] && (!against || compare_trees(r, p, against, &key)) &&
                    (!callpaths_collapses(spec) || collapse_tree(r, p, &key)) &&
                    sum_up(r, p, a, against, key);
    free(key);
    if (ok)
        return true;
    asked_paths_release(r, p);
    return request_no_memory(r);
}

void asked_paths_release(request *r, asked_paths *p) {
    while (p->n_entries > 0)
        cache_release(r->viewer->cache, p->entries[--p->n_entries]);
    *p = (asked_paths){0};
}
