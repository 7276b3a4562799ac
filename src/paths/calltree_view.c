/* calltree_view.c: see calltree_view.h. The profile's tree becomes one of the places that the lens
 * sees, which takes one look-up a node. */
#include "paths/calltree_view.h"

/* ---- places ------------------------------------------------------------------------------ */

/* Strings of a profile are equal if their pointers are. */
static bool number_place(place_table *t, const profile_location *l, bool by_line, uint32_t *place) {
    uint32_t function, file, pair;
    return map64_number(&t->functions, (uintptr_t)l->function, &function) &&
           map64_number(&t->files, (uintptr_t)l->file, &file) &&
           map64_number(&t->pairs, (uint64_t)function << 32 | file, &pair) &&
           map64_number(&t->lines, (uint64_t)pair << 32 | (by_line ? l->line : 0), place);
}

static bool places_init(place_table *t, const profile *p, bool by_line) {
    size_t n = p->locations.count;
    t->of_location = malloc((n + 1) * sizeof *t->of_location);
    for (size_t i = 0; t->of_location && i < n; i++) {
        uint32_t place;
        if (!number_place(t, &p->locations.items[i], by_line, &place))
            return false;
        if (place == t->locations.count && !vec_push(&t->locations, (uint32_t)i))
            return false;
        t->of_location[i] = place;
    }
    return t->of_location;
}

static void places_free(place_table *t) {
    map64_free(&t->functions);
    map64_free(&t->files);
    map64_free(&t->pairs);
    map64_free(&t->lines);
    free(t->of_location);
    vec_free(&t->locations);
}

/* ---- growing trees ----------------------------------------------------------------------- */

bool path_tree_add(path_tree *t, uint32_t parent, uint32_t place) {
    return vec_push(&t->nodes, ((path_node){.parent = parent, .place = place})) &&
           vec_push(&t->firsts, CALLTREE_ROOT);
}

void path_tree_drop_children(path_tree *t) {
    vec_free(&t->firsts);
    map64_free(&t->others);
}

bool path_tree_go(path_tree *t, uint32_t parent, uint32_t place, uint32_t *child) {
    for (uint32_t n = parent; t->collapse && n != CALLTREE_ROOT; n = t->nodes.items[n].parent)
        if (t->nodes.items[n].place == place) {
            *child = n;
            return true;
        }
    uint32_t *first = &t->firsts.items[parent], new = (uint32_t)t->nodes.count;
    if (*first == CALLTREE_ROOT) {
        *child = *first = new;
        return path_tree_add(t, parent, place);
    }
    if (t->nodes.items[*first].place == place) {
        *child = *first;
        return true;
    }
    uint32_t *slot = map64_put(&t->others, (uint64_t)parent << 32 | place);
    if (!slot)
        return false;
    if (*slot == MAP64_NONE) {
        *slot = new;
        if (!path_tree_add(t, parent, place))
            return false;
    }
    *child = *slot;
    return true;
}

void path_tree_free(path_tree *t) {
    vec_free(&t->nodes);
    path_tree_drop_children(t);
}

/* ---- what the lens sees ------------------------------------------------------------------ */

static bool enter_frame(calltree_view *v, const lens *l, uint32_t frame, uint32_t *node) {
    const profile_frame *f = &l->profile->frames.items[frame];
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        if (!(l->marks[i] & LENS_HIDDEN) &&
            !path_tree_go(&v->seen, *node, v->places.of_location[i], node))
            return false;
    return true;
}

static bool see_tree(calltree_view *v, const lens *l) {
    const cct *tree = &l->profile->tree;
    v->n_of = cct_count(tree) + 1;
    v->seen_of = calloc(v->n_of, sizeof *v->seen_of);
    if (!v->seen_of || !path_tree_add(&v->seen, CALLTREE_ROOT, NO_PLACE))
        return false;
    for (uint32_t i = 1; i < cct_count(tree); i++) {
        v->seen_of[i] = v->seen_of[cct_parent(tree, i)];
        if (!enter_frame(v, l, cct_frame(tree, i), &v->seen_of[i]))
            return false;
    }
    path_tree_drop_children(&v->seen);
    return true;
}

/* Nodes come after their parents; now each is moved to where those before it, and what is below
 * them, end. What questions look at together then stands together. */
static bool number_nodes(const path_tree *t, uint32_t *ends, uint32_t *to) {
    const size_t n = t->nodes.count;
    uint32_t *next = malloc(n * sizeof *next); /* by node: where its next child goes */
    if (!next)
        return false;
    for (size_t i = 0; i < n; i++)
        ends[i] = 1;
    for (size_t i = n; i-- > 1;)
        ends[t->nodes.items[i].parent] += ends[i];
    to[CALLTREE_ROOT] = 0;
    next[CALLTREE_ROOT] = 1;
    for (size_t i = 1; i < n; i++) {
        uint32_t *place = &next[t->nodes.items[i].parent];
        to[i] = *place;
        next[i] = *place + 1;
        *place += ends[i];
    }
    free(next);
    return true;
}

static bool move_nodes(calltree_view *v, const uint32_t *sizes, const uint32_t *to) {
    const size_t n = calltree_view_count(v);
    path_node *moved = malloc(n * sizeof *moved);
    v->ends = malloc(n * sizeof *v->ends);
    if (!moved || !v->ends) {
        free(moved);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const path_node *from = calltree_view_at(v, i);
        moved[to[i]] = (path_node){.parent = to[from->parent], .place = from->place};
        v->ends[to[i]] = to[i] + sizes[i];
    }
    free(v->seen.nodes.items);
    v->seen.nodes.items = moved;
    v->seen.nodes.capacity = n;
    for (size_t i = 0; i < v->n_of; i++)
        v->seen_of[i] = to[v->seen_of[i]];
    return true;
}

static bool order_nodes(calltree_view *v) {
    const size_t n = calltree_view_count(v);
    uint32_t *sizes = malloc(n * sizeof *sizes), *to = malloc(n * sizeof *to);
    bool ok = sizes && to && number_nodes(&v->seen, sizes, to) && move_nodes(v, sizes, to);
    free(sizes);
    free(to);
    return ok;
}

calltree_view *calltree_view_new(const lens *l, bool by_line) {
    calltree_view *v = calloc(1, sizeof *v);
    if (v && places_init(&v->places, l->profile, by_line) && see_tree(v, l) && order_nodes(v))
        return v;
    calltree_view_free(v);
    return NULL;
}

size_t calltree_view_size(const calltree_view *v) {
    return sizeof *v + v->seen.nodes.capacity * (sizeof *v->seen.nodes.items + sizeof *v->ends) +
           v->n_of * sizeof *v->seen_of + v->places.locations.capacity * sizeof(uint32_t);
}

void calltree_view_free(calltree_view *v) {
    if (!v)
        return;
    places_free(&v->places);
    path_tree_free(&v->seen);
    free(v->ends);
    free(v->seen_of);
    free(v);
}

/* ---- places of costs --------------------------------------------------------------------- */

uint32_t calltree_view_site(const calltree_view *v, const lens *l, const cost_entry *e) {
    uint32_t wrapper, node = v->seen_of[e->node];
    if (!e->external)
        return node;
    const lens_cursor site = lens_site(l, e->node, true, &wrapper);
    lens_cursor at = lens_innermost(l, e->node);
    for (; at.location != site.location || at.node != site.node; at = lens_outward(l, at))
        node = calltree_view_at(v, node)->parent;
    return node;
}

/* ---- the focus --------------------------------------------------------------------------- */

/* Places × steps of the focus: whether it is that function. */
static uint8_t *match_places(const calltree_view *v, const profile *p, const call_site *focus) {
    const size_t n = v->places.locations.count, steps = call_site_steps(focus);
    uint8_t *matches = malloc(n * steps + 1);
    for (size_t i = 0; matches && i < n; i++) {
        const profile_location *l = &p->locations.items[v->places.locations.items[i]];
        for (size_t step = 0; step < steps; step++)
            matches[i * steps + step] = call_site_match_place(focus, step, l);
    }
    return matches;
}

/* Whether the path to a node ends with the focus. */
static bool ends_focus(const calltree_view *v, const uint8_t *matches, size_t steps,
                       uint32_t node) {
    for (size_t step = steps; step-- > 0; node = calltree_view_at(v, node)->parent)
        if (node == CALLTREE_ROOT || !matches[calltree_view_at(v, node)->place * steps + step])
            return false;
    return true;
}

uint32_t *calltree_view_focus(const calltree_view *v, const profile *p, const call_site *focus) {
    const size_t n = calltree_view_count(v), steps = call_site_steps(focus);
    uint32_t *ends = calloc(n, sizeof *ends);
    uint8_t *matches = match_places(v, p, focus);
    if (!ends || !matches) {
        free(ends);
        free(matches);
        return NULL;
    }
    for (uint32_t i = 1; i < n; i++)
        ends[i] = ends_focus(v, matches, steps, i) ? i : ends[calltree_view_at(v, i)->parent];
    free(matches);
    return ends;
}
