/* asked_paths.c: views of call paths from entries of the cache. What a lens shows of a trace is the
 * same for all questions whose filter hides no frames, so each step towards a view is an entry of
 * its own: the tree of each side, both joined, collapsed, and the sums. */
#include "answers/asked_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OF_NODE = 20 /* bytes per node that a tree of call paths takes while it is made */ };

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

void asked_paths_collapse_first(request *r, asked *a, const lens *seen) {
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
