/* functions.c: see functions.h. A walk over the tree, which counts how often each place is on the
 * path: what is below its outermost occurrence is below it. */
#include "paths/functions.h"

#include "base/map64.h"
#include "paths/calltree_view.h"

typedef struct walk {
    const profile *profile;
    const calltree *tree; /* NULL: the next two say the same */
    const calltree_view *view;
    const calltree_sums *sums;
    functions_list *list;
    uint32_t *counts_as;  /* by location: the one that stands for it, or NOWHERE; NULL: itself */
    uint32_t *entry_of;   /* by location that stands for some: 1 + index into the list */
    uint32_t *on_path;    /* the same */
    VEC(uint32_t) to_see; /* nodes; those with LEAVE are being left */
} walk;

#define LEAVE   0x80000000u
#define NOWHERE UINT32_MAX

static uint32_t number_of(const walk *w, const calltree_node *n) {
    if (!n->place)
        return NOWHERE;
    uint32_t at = (uint32_t)(n->place - w->profile->locations.items);
    return w->counts_as ? w->counts_as[at] : at;
}

static bool count(walk *w, const profile_location *place, uint32_t at, const cost *self,
                  const cost *total) {
    if (!w->entry_of[at]) {
        if (!vec_push(w->list, ((functions_entry){.place = place})))
            return false;
        w->entry_of[at] = (uint32_t)w->list->count;
    }
    functions_entry *e = &w->list->items[w->entry_of[at] - 1];
    cost_add(&e->self, self);
    if (w->on_path[at]++ == 0)
        cost_add(&e->total, total);
    return true;
}

static bool enter(walk *w, uint32_t node) {
    const calltree_node *n = &w->tree->nodes.items[node];
    uint32_t at = number_of(w, n);
    if (at != NOWHERE && !count(w, n->place, at, &n->self, &n->total))
        return false;
    if (!vec_push(&w->to_see, node | LEAVE) || !vec_reserve(&w->to_see, n->n_children))
        return false;
    for (uint32_t i = n->n_children; i-- > 0;)
        w->to_see.items[w->to_see.count++] = w->tree->children.items[n->first + i];
    return true;
}

static void leave(walk *w, uint32_t node) {
    uint32_t at = number_of(w, &w->tree->nodes.items[node]);
    if (at != NOWHERE)
        w->on_path[at]--;
}

static bool see_all(walk *w) {
    if (!vec_push(&w->to_see, CALLTREE_ROOT))
        return false;
    while (w->to_see.count) {
        uint32_t node = w->to_see.items[--w->to_see.count];
        if (node & LEAVE)
            leave(w, node & ~LEAVE);
        else if (!enter(w, node))
            return false;
    }
    return true;
}

/* What is below a node follows it; what costs nothing is not on any path. */
static bool see_sums(walk *w) {
    const calltree_view *v = w->view;
    const calltree_sums *s = w->sums;
    const uint32_t *locations = v->places.locations.items;
    const uint32_t n = (uint32_t)calltree_view_count(v);
    for (uint32_t i = 1, end; i < n; i = end) {
        const cost all = calltree_sums_all(s, i), own = calltree_sums_own(s, i);
        end = all.blocks ? i + 1 : v->ends[i];
        while (w->to_see.count && v->ends[w->to_see.items[w->to_see.count - 1]] <= i)
            w->on_path[locations[calltree_view_at(v, w->to_see.items[--w->to_see.count])->place]]--;
        if (all.blocks == 0)
            continue;
        const uint32_t at = locations[calltree_view_at(v, i)->place];
        if (!count(w, &w->profile->locations.items[at], at, &own, &all) || !vec_push(&w->to_see, i))
            return false;
    }
    return true;
}

static bool run(walk w, functions_list *list) {
    size_t n = w.profile->locations.count + 1;
    w.list = list;
    w.entry_of = calloc(n, sizeof *w.entry_of);
    w.on_path = calloc(n, sizeof *w.on_path);
    bool ok = w.entry_of && w.on_path && (w.tree ? see_all(&w) : see_sums(&w));
    free(w.entry_of);
    free(w.on_path);
    vec_free(&w.to_see);
    if (!ok)
        vec_free(list);
    return ok;
}

bool functions_query(const profile *p, const calltree *t, functions_list *list) {
    *list = (functions_list){0};
    return run((walk){.profile = p, .tree = t}, list);
}

bool functions_of_sums(const profile *p, const calltree_view *v, const calltree_sums *s,
                       functions_list *list) {
    *list = (functions_list){0};
    return run((walk){.profile = p, .view = v, .sums = s}, list);
}

/* The first location of each line stands for all of it. */
static bool number_lines(const profile *p, const char *file, uint32_t *counts_as) {
    map64 first = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->locations.count; i++) {
        const profile_location *l = &p->locations.items[i];
        uint32_t *known = l->file == file ? map64_put(&first, l->line) : NULL;
        ok = known || l->file != file;
        if (known && *known == MAP64_NONE)
            *known = i;
        counts_as[i] = known ? *known : NOWHERE;
    }
    map64_free(&first);
    return ok;
}

bool functions_query_lines(const profile *p, const calltree *t, const char *file,
                           functions_list *list) {
    uint32_t *counts_as = malloc((p->locations.count + 1) * sizeof *counts_as);
    *list = (functions_list){0};
    bool ok = counts_as && number_lines(p, file, counts_as) &&
              run((walk){.profile = p, .tree = t, .counts_as = counts_as}, list);
    free(counts_as);
    return ok;
}
