/* callpaths.c: the steps by which a view is made; callpaths.h has the design. */
#include "paths/callpaths.h"

static place_by places_of(const callpaths *v) {
    return v->spec.by_line ? PLACE_BY_LINE : PLACE_BY_FUNCTION;
}

path_tree *callpaths_see(const callpaths *v, unsigned side) {
    return path_tree_see(&v->queries[side]->lens, places_of(v));
}

path_tree *callpaths_join(const callpaths *v) {
    return path_tree_join(v->seen, places_of(v));
}

static path_tree *collapse(const callpaths *v, const path_tree *of) {
    if (v->spec.shape != CALLPATHS_CALLEES)
        return path_tree_collapse(of, NULL);
    uint32_t *focus = path_tree_focus(of, v->spec.focus);
    path_tree *t = focus ? path_tree_collapse(of, focus) : NULL;
    free(focus);
    return t;
}

path_tree *callpaths_collapse(const callpaths *v) {
    const path_tree *of = callpaths_base(v);
    path_tree *t = collapse(v, of);
    if (!t || !callpaths_stands_alone(v) || path_tree_stand_alone(t, of, places_of(v)))
        return t;
    path_tree_free(t);
    return NULL;
}

path_sums *callpaths_sum(const callpaths *v) {
    path_sums *s = path_sums_new(callpaths_tree(v), v->queries, v->n_sides);
    bool ok = s;
    for (unsigned side = 0; ok && side < v->n_sides; side++)
        ok = path_sums_add(s, side, v->queries[side], callpaths_base(v), v->collapsed);
    if (ok)
        return s;
    path_sums_free(s);
    return NULL;
}

/* The view has its parts as const, so freeing them needs a cast. */
static void free_seen(callpaths *v) {
    for (unsigned i = 0; i < PATH_SIDES; i++) {
        path_tree_free((path_tree *)(uintptr_t)v->seen[i]);
        v->seen[i] = NULL;
    }
}

static bool make_joined(callpaths *v) {
    v->joined = callpaths_join(v);
    free_seen(v);
    return v->joined;
}

static bool make_trees(callpaths *v) {
    for (unsigned i = 0; i < v->n_sides; i++)
        if (!(v->seen[i] = callpaths_see(v, i)))
            return false;
    return (v->n_sides < PATH_SIDES || make_joined(v)) &&
           (!callpaths_collapses(&v->spec) || (v->collapsed = callpaths_collapse(v)));
}

bool callpaths_make(callpaths *v, const query_result *q, const query_result *against,
                    const callpaths_spec *spec) {
    *v = (callpaths){.spec = *spec, .queries = {q, against}, .n_sides = against ? PATH_SIDES : 1};
    if (make_trees(v) && (v->sums = callpaths_sum(v)))
        return true;
    callpaths_free(v);
    return false;
}

void callpaths_free(callpaths *v) {
    path_sums_free((path_sums *)(uintptr_t)v->sums);
    path_tree_free((path_tree *)(uintptr_t)v->collapsed);
    path_tree_free((path_tree *)(uintptr_t)v->joined);
    free_seen(v);
    *v = (callpaths){0};
}
