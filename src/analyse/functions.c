/* functions.c: see functions.h. A walk over the tree, which counts how often each place is on the
 * path: what is below its outermost occurrence is below it. */
#include "analyse/functions.h"

typedef struct walk {
    const profile *profile;
    const calltree *tree;
    functions_list *list;
    uint32_t *entry_of;   /* by location: 1 + index into the list */
    uint32_t *on_path;    /* by location */
    VEC(uint32_t) to_see; /* nodes; those with LEAVE are being left */
} walk;

#define LEAVE 0x80000000u

static bool enter(walk *w, uint32_t node) {
    const calltree_node *n = &w->tree->nodes.items[node];
    size_t at = n->place ? (size_t)(n->place - w->profile->locations.items) : 0;
    if (n->place) {
        if (!w->entry_of[at]) {
            if (!vec_push(w->list, ((functions_entry){.place = n->place})))
                return false;
            w->entry_of[at] = (uint32_t)w->list->count;
        }
        functions_entry *e = &w->list->items[w->entry_of[at] - 1];
        cost_add(&e->self, &n->self);
        if (w->on_path[at]++ == 0)
            cost_add(&e->total, &n->total);
    }
    if (!vec_push(&w->to_see, node | LEAVE) || !vec_reserve(&w->to_see, n->n_children))
        return false;
    for (uint32_t i = n->n_children; i-- > 0;)
        w->to_see.items[w->to_see.count++] = w->tree->children.items[n->first + i];
    return true;
}

static void leave(walk *w, uint32_t node) {
    const profile_location *place = w->tree->nodes.items[node].place;
    if (place)
        w->on_path[place - w->profile->locations.items]--;
}

static bool see_all(walk *w) {
    if (!w->entry_of || !w->on_path || !vec_push(&w->to_see, CALLTREE_ROOT))
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

bool functions_query(const profile *p, const calltree *t, functions_list *list) {
    size_t n = p->locations.count + 1;
    *list = (functions_list){0};
    walk w = {.profile = p,
              .tree = t,
              .list = list,
              .entry_of = calloc(n, sizeof *w.entry_of),
              .on_path = calloc(n, sizeof *w.on_path)};
    bool ok = see_all(&w);
    free(w.entry_of);
    free(w.on_path);
    vec_free(&w.to_see);
    if (!ok)
        vec_free(list);
    return ok;
}
