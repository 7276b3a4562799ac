/* functions.c: one pass over the tree. What is below the outermost node of a place is below that
 * place. */
#include "paths/functions.h"

#include "base/map64.h"

/* A node on the path of the walk. */
typedef struct open_node {
    uint32_t node;
    uint32_t entry; /* as in `entry_of`, if it is an outermost node of that place; else 0 */
    cost all;       /* what was visited of it */
} open_node;

typedef struct walk {
    const path_tree *base; /* has the places */
    const path_tree *tree;
    const path_sums *sums;
    functions_list *list;
    /* By place: the place that stands for it, or PATH_NOWHERE; NULL: itself. */
    const uint32_t *counts_as;
    uint32_t *entry_of; /* by place that stands for others: 1 + index into the list */
    uint32_t *last;     /* by such a place: the last of its outermost nodes */
    VEC(open_node) path;
} walk;

/* Ends nodes that are not on the path to `node`. */
static void close_nodes(walk *w, uint32_t node) {
    while (w->path.count && w->tree->ends[w->path.items[w->path.count - 1].node] <= node) {
        const open_node done = w->path.items[--w->path.count];
        if (done.entry)
            cost_add(&w->list->items[done.entry - 1].total, &done.all);
        if (w->path.count)
            cost_add(&w->path.items[w->path.count - 1].all, &done.all);
    }
}

/* Counts a node's own costs. Sets `*entry` to the entry that also counts what is below the node. */
static bool count(walk *w, uint32_t node, uint32_t place, const cost *own, uint32_t *entry) {
    if (!w->entry_of[place]) {
        if (!vec_push(w->list, ((functions_entry){.place = path_tree_location(w->base, place)})))
            return false;
        w->entry_of[place] = (uint32_t)w->list->count;
    }
    cost_add(&w->list->items[w->entry_of[place] - 1].self, own);
    if (w->last[place] == PATH_ROOT || node >= w->tree->ends[w->last[place]]) {
        *entry = w->entry_of[place];
        w->last[place] = node;
    }
    return true;
}

static bool see_all(walk *w) {
    const path_tree *t = w->tree;
    const path_any any = path_sums_any(w->sums, w->sums->own);
    for (uint32_t i = 1; i < t->n;) {
        close_nodes(w, i);
        if (!path_any_between(any, i, t->ends[i])) {
            i = t->ends[i];
            continue;
        }
        open_node new = {.node = i, .all = path_sums_own(w->sums, i)};
        const uint32_t place = t->nodes[i].place;
        const uint32_t as = w->counts_as ? w->counts_as[place] : place;
        if ((as != PATH_NOWHERE && !count(w, i, as, &new.all, &new.entry)) ||
            !vec_push(&w->path, new))
            return false;
        i++;
    }
    close_nodes(w, (uint32_t)t->n);
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
    vec_free(&w.path);
    if (!ok)
        vec_free(list);
    return ok;
}

bool functions_query(const callpaths *v, functions_list *list) {
    return run(v, NULL, list);
}

/* The first place of each line stands for all of the line. */
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
