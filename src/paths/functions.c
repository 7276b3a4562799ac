/* functions.c: see functions.h. One pass over the tree: what is below the outermost node of a place
 * is below that place. */
#include "paths/functions.h"

#include "base/map64.h"

typedef struct walk {
    const path_tree *base; /* whose places they are */
    const path_tree *tree;
    const path_sums *sums;
    functions_list *list;
    const uint32_t
        *counts_as;     /* by place: the one that stands for it, or PATH_NOWHERE; NULL: itself */
    uint32_t *entry_of; /* by place that stands for some: 1 + index into the list */
    uint32_t *last;     /* the same: the last of its outermost nodes */
} walk;

static bool count(walk *w, uint32_t node, uint32_t place, const cost *all) {
    const cost own = path_sums_own(w->sums, node);
    if (!w->entry_of[place]) {
        if (!vec_push(w->list, ((functions_entry){.place = path_tree_location(w->base, place)})))
            return false;
        w->entry_of[place] = (uint32_t)w->list->count;
    }
    functions_entry *e = &w->list->items[w->entry_of[place] - 1];
    cost_add(&e->self, &own);
    if (w->last[place] == PATH_ROOT || node >= w->tree->ends[w->last[place]]) {
        cost_add(&e->total, all);
        w->last[place] = node;
    }
    return true;
}

static bool see_all(walk *w) {
    const path_tree *t = w->tree;
    for (uint32_t i = 1, end; i < t->n; i = end) {
        const cost all = path_sums_all(w->sums, i);
        const uint32_t place = t->nodes[i].place;
        const uint32_t as = w->counts_as ? w->counts_as[place] : place;
        end = all.blocks ? i + 1 : t->ends[i];
        if (all.blocks && as != PATH_NOWHERE && !count(w, i, as, &all))
            return false;
    }
    return true;
}

static bool run(const callpaths *v, const uint32_t *counts_as, functions_list *list) {
    const size_t n = callpaths_base(v)->places->locations.count + 1;
    walk w = {.base = callpaths_base(v),
              .tree = callpaths_tree(v),
              .sums = v->sums,
              .list = list,
              .counts_as = counts_as,
              .entry_of = calloc(n, sizeof *w.entry_of),
              .last = calloc(n, sizeof *w.last)};
    *list = (functions_list){0};
    const bool ok = w.entry_of && w.last && see_all(&w);
    free(w.entry_of);
    free(w.last);
    if (!ok)
        vec_free(list);
    return ok;
}

bool functions_query(const callpaths *v, functions_list *list) {
    return run(v, NULL, list);
}

/* The first place of each line stands for all of it. */
static bool number_lines(const path_tree *t, const char *file, uint32_t *counts_as) {
    map64 first = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->places->locations.count; i++) {
        const profile_location *l = path_tree_location(t, i);
        uint32_t *known = l->file == file ? map64_put(&first, l->line) : NULL;
        ok = known || l->file != file;
        if (known && *known == MAP64_NONE)
            *known = i;
        counts_as[i] = known ? *known : PATH_NOWHERE;
    }
    map64_free(&first);
    return ok;
}

bool functions_query_lines(const callpaths *v, const char *file, functions_list *list) {
    const path_tree *t = callpaths_base(v);
    uint32_t *counts_as = malloc((t->places->locations.count + 1) * sizeof *counts_as);
    *list = (functions_list){0};
    const bool ok = counts_as && number_lines(t, file, counts_as) && run(v, counts_as, list);
    free(counts_as);
    return ok;
}
