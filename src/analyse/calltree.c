/* calltree.c: see calltree.h. First the profile's tree becomes one of the places that the lens
 * sees, which takes one look-up a node; then that is turned into the shape that was asked for. The
 * work is proportional to the nodes, outward to the distinct stacks and the depth that is asked
 * for. */
#include "analyse/calltree.h"

#include <string.h>

/* ---- places ------------------------------------------------------------------------------ */

/* Numbers for locations, so that what shall be one node has one number. */
typedef struct place_table {
    map64 functions, files, pairs, lines;
    uint32_t *of_location;   /* by the profile's locations */
    VEC(uint32_t) locations; /* by place: one that stands for it */
} place_table;

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

typedef struct path_node {
    uint32_t parent, place;
} path_node;

typedef struct path_tree {
    VEC(path_node) nodes; /* the root, whose place means nothing, first */
    VEC(cost) costs;      /* by node */
    map64 children;       /* (parent, place) → node */
    bool collapse;
} path_tree;

#define NO_PLACE UINT32_MAX

static bool add_node(path_tree *t, uint32_t parent, uint32_t place) {
    return vec_push(&t->nodes, ((path_node){.parent = parent, .place = place})) &&
           vec_push(&t->costs, ((cost){0}));
}

/* The child of `parent` for a place, or the node of the path that is it already. */
static bool go_to(path_tree *t, uint32_t parent, uint32_t place, uint32_t *child) {
    for (uint32_t n = parent; t->collapse && n != CALLTREE_ROOT; n = t->nodes.items[n].parent)
        if (t->nodes.items[n].place == place) {
            *child = n;
            return true;
        }
    uint32_t *slot = map64_put(&t->children, (uint64_t)parent << 32 | place);
    if (!slot)
        return false;
    if (*slot == MAP64_NONE) {
        *slot = (uint32_t)t->nodes.count;
        if (!add_node(t, parent, place))
            return false;
    }
    *child = *slot;
    return true;
}

static void path_tree_free(path_tree *t) {
    vec_free(&t->nodes);
    vec_free(&t->costs);
    map64_free(&t->children);
}

/* ---- what the lens sees ------------------------------------------------------------------ */

typedef struct builder {
    const query_result *query;
    const calltree_spec *spec;
    place_table places;
    uint32_t *seen_of; /* by the profile's nodes: the node in `seen` */
    path_tree seen, out;
    uint8_t *matches; /* places × steps of the focus: whether it is that function */
    uint32_t *focus;  /* by node in `seen`: the innermost end of the focus on its path; or root */
} builder;

static bool enter_frame(builder *b, uint32_t frame, uint32_t *node) {
    const lens *l = &b->query->lens;
    const profile_frame *f = &l->profile->frames.items[frame];
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        if (!(l->marks[i] & LENS_HIDDEN) && !go_to(&b->seen, *node, b->places.of_location[i], node))
            return false;
    return true;
}

static bool see_tree(builder *b) {
    const cct *tree = &b->query->profile->tree;
    b->seen_of = calloc(cct_count(tree) + 1, sizeof *b->seen_of);
    if (!b->seen_of || !add_node(&b->seen, CALLTREE_ROOT, NO_PLACE))
        return false;
    for (uint32_t i = 1; i < cct_count(tree); i++) {
        b->seen_of[i] = b->seen_of[cct_parent(tree, i)];
        if (!enter_frame(b, cct_frame(tree, i), &b->seen_of[i]))
            return false;
    }
    return true;
}

/* A cost belongs to its site: as many steps outward as the lens skips wrappers. */
static void see_costs(builder *b) {
    const query_result *q = b->query;
    for (size_t i = 0; i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        uint32_t wrapper, node = b->seen_of[e->node];
        lens_cursor site = lens_site(&q->lens, e->node, e->external, &wrapper);
        lens_cursor at = lens_innermost(&q->lens, e->node);
        for (; at.location != site.location || at.node != site.node;
             at = lens_outward(&q->lens, at))
            node = b->seen.nodes.items[node].parent;
        cost_add(&b->seen.costs.items[node], &e->cost);
    }
}

/* ---- the focus --------------------------------------------------------------------------- */

static bool match_places(builder *b) {
    const profile *p = b->query->profile;
    size_t n = b->places.locations.count, steps = call_site_steps(b->spec->focus);
    b->matches = malloc(n * steps + 1);
    for (size_t i = 0; b->matches && i < n; i++) {
        const profile_location *l = &p->locations.items[b->places.locations.items[i]];
        for (size_t step = 0; step < steps; step++)
            b->matches[i * steps + step] = call_site_match_place(b->spec->focus, step, l);
    }
    return b->matches;
}

/* Whether the path to a node ends with the focus. */
static bool ends_focus(const builder *b, uint32_t node) {
    size_t steps = call_site_steps(b->spec->focus);
    for (size_t step = steps; step-- > 0; node = b->seen.nodes.items[node].parent)
        if (node == CALLTREE_ROOT || !b->matches[b->seen.nodes.items[node].place * steps + step])
            return false;
    return true;
}

static bool find_focus(builder *b) {
    size_t n = b->seen.nodes.count;
    b->focus = calloc(n, sizeof *b->focus);
    if (!b->focus || !match_places(b))
        return false;
    for (uint32_t i = 1; i < n; i++)
        b->focus[i] = ends_focus(b, i) ? i : b->focus[b->seen.nodes.items[i].parent];
    return true;
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* What is below the focus becomes the tree; without a focus, all. */
static bool shape_down(builder *b) {
    size_t n = b->seen.nodes.count;
    uint32_t *out = calloc(n, sizeof *out);
    bool ok = out;
    for (uint32_t i = 0; ok && i < n; i++) {
        const path_node *node = &b->seen.nodes.items[i];
        bool below = b->focus ? b->focus[node->parent] != CALLTREE_ROOT : i != CALLTREE_ROOT;
        if (below)
            ok = go_to(&b->out, out[node->parent], node->place, &out[i]);
        if (ok && (!b->focus || b->focus[i] != CALLTREE_ROOT))
            cost_add(&b->out.costs.items[out[i]], &b->seen.costs.items[i]);
    }
    free(out);
    return ok;
}

/* From `node` of what is seen to the outermost caller. */
static bool add_outward(builder *b, uint32_t node, const cost *c) {
    uint32_t at = CALLTREE_ROOT;
    uint64_t left = b->spec->max_depth ? b->spec->max_depth : UINT64_MAX;
    for (; node != CALLTREE_ROOT && left > 0; node = b->seen.nodes.items[node].parent, left--)
        if (!go_to(&b->out, at, b->seen.nodes.items[node].place, &at))
            return false;
    cost_add(&b->out.costs.items[at], c);
    return true;
}

/* Costs gather at the ends of the focus first, so that each path outward is walked once. */
static void gather_at_focus(builder *b) {
    cost *costs = b->seen.costs.items;
    for (size_t i = b->seen.nodes.count; i-- > 0;)
        if (b->focus[i] != i) {
            if (b->focus[i] != CALLTREE_ROOT)
                cost_add(&costs[b->focus[i]], &costs[i]);
            costs[i] = (cost){0};
        }
    costs[CALLTREE_ROOT] = (cost){0};
}

static bool shape_outward(builder *b) {
    if (b->focus)
        gather_at_focus(b);
    for (uint32_t i = 0; i < b->seen.nodes.count; i++) {
        const cost *c = &b->seen.costs.items[i];
        uint32_t node = i;
        for (size_t step = b->focus ? call_site_steps(b->spec->focus) : 0; c->blocks && step > 0;
             step--)
            node = b->seen.nodes.items[node].parent;
        if (c->blocks && !add_outward(b, node, c))
            return false;
    }
    return true;
}

static bool build(builder *b) {
    calltree_shape shape = b->spec->shape;
    if (!places_init(&b->places, b->query->profile, b->spec->by_line) || !see_tree(b))
        return false;
    see_costs(b);
    b->out.collapse = b->spec->collapse_recursion;
    if (!add_node(&b->out, CALLTREE_ROOT, NO_PLACE))
        return false;
    if ((shape == CALLTREE_CALLEES || shape == CALLTREE_CALLERS) && !find_focus(b))
        return false;
    return shape == CALLTREE_DOWN || shape == CALLTREE_CALLEES ? shape_down(b) : shape_outward(b);
}

/* ---- the result -------------------------------------------------------------------------- */

static bool copy_nodes(const builder *b, calltree *t) {
    const profile *p = b->query->profile;
    size_t n = b->out.nodes.count;
    if (!vec_reserve(&t->nodes, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const path_node *node = &b->out.nodes.items[i];
        t->nodes.items[i] = (calltree_node){
            .parent = node->parent,
            .place = i ? &p->locations.items[b->places.locations.items[node->place]] : NULL,
            .self = b->out.costs.items[i],
        };
    }
    t->nodes.count = n;
    return true;
}

static int compare_siblings(const void *a, const void *b, void *context) {
    const calltree *t = context;
    const calltree_node *x = &t->nodes.items[*(const uint32_t *)a];
    const calltree_node *y = &t->nodes.items[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    int order = strcmp(x->place->function, y->place->function);
    if (order == 0)
        order = strcmp(x->place->file, y->place->file);
    return order ? order : (x->place->line > y->place->line) - (x->place->line < y->place->line);
}

/* Those that cost nothing, since a filter left nothing of them, are not listed. */
static void list_children(calltree *t) {
    for (uint32_t i = 1; i < t->nodes.count; i++)
        if (t->nodes.items[i].total.blocks)
            t->children.items[t->children.count++] = i;
    if (t->children.count)
        qsort_r(t->children.items, t->children.count, sizeof *t->children.items, compare_siblings,
                t);
    for (uint32_t i = 0; i < t->children.count; i++) {
        calltree_node *parent = &t->nodes.items[t->nodes.items[t->children.items[i]].parent];
        if (parent->n_children++ == 0)
            parent->first = i;
    }
}

bool calltree_arrange(calltree *t) {
    size_t n = t->nodes.count;
    if (!vec_reserve(&t->children, n))
        return false;
    for (size_t i = 0; i < n; i++)
        t->nodes.items[i].total = t->nodes.items[i].self;
    for (size_t i = n; i-- > 1;)
        cost_add(&t->nodes.items[t->nodes.items[i].parent].total, &t->nodes.items[i].total);
    list_children(t);
    return true;
}

bool calltree_query(const query_result *q, const calltree_spec *spec, calltree *result) {
    builder b = {.query = q, .spec = spec};
    *result = (calltree){0};
    bool ok = build(&b) && copy_nodes(&b, result) && calltree_arrange(result);
    if (!ok)
        calltree_free(result);
    places_free(&b.places);
    path_tree_free(&b.seen);
    path_tree_free(&b.out);
    free(b.seen_of);
    free(b.matches);
    free(b.focus);
    return ok;
}

void calltree_free(calltree *t) {
    vec_free(&t->nodes);
    vec_free(&t->children);
}
