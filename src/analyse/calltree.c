/* calltree.c: see calltree.h. First the profile's tree becomes one of the places that the lens
 * sees, which takes one look-up a node; then that is turned into the shape that was asked for, if
 * it has not that shape already. The work is proportional to the nodes, outward to the distinct
 * stacks and the depth that is asked for. */
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
    VEC(uint32_t) firsts; /* by node: its first child, mostly the only one; root: none */
    map64 others;         /* (parent, place) → node: the other children */
    bool collapse;
} path_tree;

#define NO_PLACE UINT32_MAX

static bool add_node(path_tree *t, uint32_t parent, uint32_t place) {
    return vec_push(&t->nodes, ((path_node){.parent = parent, .place = place})) &&
           vec_push(&t->firsts, CALLTREE_ROOT);
}

/* What only growing needs. */
static void drop_children(path_tree *t) {
    vec_free(&t->firsts);
    map64_free(&t->others);
}

/* The child of `parent` for a place, or the node of the path that is it already. */
static bool go_to(path_tree *t, uint32_t parent, uint32_t place, uint32_t *child) {
    for (uint32_t n = parent; t->collapse && n != CALLTREE_ROOT; n = t->nodes.items[n].parent)
        if (t->nodes.items[n].place == place) {
            *child = n;
            return true;
        }
    uint32_t *first = &t->firsts.items[parent], new = (uint32_t)t->nodes.count;
    if (*first == CALLTREE_ROOT) {
        *child = *first = new;
        return add_node(t, parent, place);
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
        if (!add_node(t, parent, place))
            return false;
    }
    *child = *slot;
    return true;
}

static void path_tree_free(path_tree *t) {
    vec_free(&t->nodes);
    drop_children(t);
}

/* ---- what the lens sees ------------------------------------------------------------------ */

struct calltree_view {
    place_table places;
    path_tree seen;    /* its children are listed only while it grows */
    uint32_t *seen_of; /* by the profile's nodes: the node in `seen` */
    size_t n_of;
};

static bool enter_frame(calltree_view *v, const lens *l, uint32_t frame, uint32_t *node) {
    const profile_frame *f = &l->profile->frames.items[frame];
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        if (!(l->marks[i] & LENS_HIDDEN) && !go_to(&v->seen, *node, v->places.of_location[i], node))
            return false;
    return true;
}

static bool see_tree(calltree_view *v, const lens *l) {
    const cct *tree = &l->profile->tree;
    v->n_of = cct_count(tree) + 1;
    v->seen_of = calloc(v->n_of, sizeof *v->seen_of);
    if (!v->seen_of || !add_node(&v->seen, CALLTREE_ROOT, NO_PLACE))
        return false;
    for (uint32_t i = 1; i < cct_count(tree); i++) {
        v->seen_of[i] = v->seen_of[cct_parent(tree, i)];
        if (!enter_frame(v, l, cct_frame(tree, i), &v->seen_of[i]))
            return false;
    }
    drop_children(&v->seen);
    return true;
}

calltree_view *calltree_view_new(const lens *l, bool by_line) {
    calltree_view *v = calloc(1, sizeof *v);
    if (v && places_init(&v->places, l->profile, by_line) && see_tree(v, l))
        return v;
    calltree_view_free(v);
    return NULL;
}

size_t calltree_view_size(const calltree_view *v) {
    return sizeof *v + v->seen.nodes.capacity * sizeof *v->seen.nodes.items +
           v->n_of * sizeof *v->seen_of + v->places.locations.capacity * sizeof(uint32_t);
}

void calltree_view_free(calltree_view *v) {
    if (!v)
        return;
    places_free(&v->places);
    path_tree_free(&v->seen);
    free(v->seen_of);
    free(v);
}

/* ---- costs ------------------------------------------------------------------------------- */

typedef VEC(cost) cost_column;

typedef struct builder {
    const query_result *query;
    const calltree_spec *spec;
    const calltree_view *view;
    cost *seen_costs; /* by node of what is seen */
    path_tree out;
    cost_column out_costs; /* by node; those at the end may be missing, and are 0 */
    uint8_t *matches;      /* places × steps of the focus: whether it is that function */
    uint32_t *focus; /* by node of what is seen: the innermost end of the focus on its path; or root
                      */
} builder;

static const path_node *seen_at(const builder *b, uint32_t node) {
    return &b->view->seen.nodes.items[node];
}

static bool add_cost(builder *b, uint32_t node, const cost *c) {
    cost_column *costs = &b->out_costs;
    while (costs->count <= node)
        if (!vec_push(costs, ((cost){0})))
            return false;
    cost_add(&costs->items[node], c);
    return true;
}

/* A cost belongs to its site: as many steps outward as the lens skips wrappers. */
static bool see_costs(builder *b) {
    const query_result *q = b->query;
    b->seen_costs = calloc(b->view->seen.nodes.count, sizeof *b->seen_costs);
    for (size_t i = 0; b->seen_costs && i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        uint32_t wrapper, node = b->view->seen_of[e->node];
        lens_cursor site = lens_site(&q->lens, e->node, e->external, &wrapper);
        lens_cursor at = lens_innermost(&q->lens, e->node);
        for (; at.location != site.location || at.node != site.node;
             at = lens_outward(&q->lens, at))
            node = seen_at(b, node)->parent;
        cost_add(&b->seen_costs[node], &e->cost);
    }
    return b->seen_costs;
}

/* ---- the focus --------------------------------------------------------------------------- */

static bool match_places(builder *b) {
    const profile *p = b->query->profile;
    size_t n = b->view->places.locations.count, steps = call_site_steps(b->spec->focus);
    b->matches = malloc(n * steps + 1);
    for (size_t i = 0; b->matches && i < n; i++) {
        const profile_location *l = &p->locations.items[b->view->places.locations.items[i]];
        for (size_t step = 0; step < steps; step++)
            b->matches[i * steps + step] = call_site_match_place(b->spec->focus, step, l);
    }
    return b->matches;
}

/* Whether the path to a node ends with the focus. */
static bool ends_focus(const builder *b, uint32_t node) {
    size_t steps = call_site_steps(b->spec->focus);
    for (size_t step = steps; step-- > 0; node = seen_at(b, node)->parent)
        if (node == CALLTREE_ROOT || !b->matches[seen_at(b, node)->place * steps + step])
            return false;
    return true;
}

static bool find_focus(builder *b) {
    size_t n = b->view->seen.nodes.count;
    b->focus = calloc(n, sizeof *b->focus);
    if (!b->focus || !match_places(b))
        return false;
    for (uint32_t i = 1; i < n; i++)
        b->focus[i] = ends_focus(b, i) ? i : b->focus[seen_at(b, i)->parent];
    return true;
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* What is below the focus becomes the tree; without a focus, all. */
static bool shape_down(builder *b) {
    size_t n = b->view->seen.nodes.count;
    uint32_t *out = calloc(n, sizeof *out);
    bool ok = out;
    for (uint32_t i = 0; ok && i < n; i++) {
        const path_node *node = seen_at(b, i);
        bool below = b->focus ? b->focus[node->parent] != CALLTREE_ROOT : i != CALLTREE_ROOT;
        if (below)
            ok = go_to(&b->out, out[node->parent], node->place, &out[i]);
        if (ok && (!b->focus || b->focus[i] != CALLTREE_ROOT))
            ok = add_cost(b, out[i], &b->seen_costs[i]);
    }
    free(out);
    return ok;
}

static bool leaves_path(const builder *b, uint64_t step, uint32_t place) {
    const calltree_spec *s = b->spec;
    if (step >= s->n_path || s->collapse_recursion)
        return false;
    return s->path[step] >= b->query->profile->locations.count ||
           b->view->places.of_location[s->path[step]] != place;
}

/* From `node` of what is seen to the outermost caller. */
static bool add_outward(builder *b, uint32_t node, const cost *c) {
    uint32_t at = CALLTREE_ROOT;
    uint64_t most = b->spec->max_depth ? b->spec->max_depth : UINT64_MAX;
    for (uint64_t step = 0; node != CALLTREE_ROOT && step < most; step++) {
        uint32_t place = seen_at(b, node)->place;
        if (!go_to(&b->out, at, place, &at))
            return false;
        if (leaves_path(b, step, place))
            break;
        node = seen_at(b, node)->parent;
    }
    return add_cost(b, at, c);
}

/* Costs gather at the ends of the focus first, so that each path outward is walked once. */
static void gather_at_focus(builder *b) {
    cost *costs = b->seen_costs;
    for (size_t i = b->view->seen.nodes.count; i-- > 0;)
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
    for (uint32_t i = 0; i < b->view->seen.nodes.count; i++) {
        const cost *c = &b->seen_costs[i];
        uint32_t node = i;
        for (size_t step = b->focus ? call_site_steps(b->spec->focus) : 0; c->blocks && step > 0;
             step--)
            node = seen_at(b, node)->parent;
        if (c->blocks && !add_outward(b, node, c))
            return false;
    }
    return true;
}

/* What is seen has the shape already. */
static bool is_as_seen(const builder *b) {
    return b->spec->shape == CALLTREE_DOWN && !b->spec->collapse_recursion;
}

static bool build(builder *b) {
    calltree_shape shape = b->spec->shape;
    if (!see_costs(b))
        return false;
    if (is_as_seen(b))
        return true;
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
    const path_tree *from = is_as_seen(b) ? &b->view->seen : &b->out;
    const cost *costs = is_as_seen(b) ? b->seen_costs : b->out_costs.items;
    const uint32_t *locations = b->view->places.locations.items;
    size_t n = from->nodes.count, n_costs = is_as_seen(b) ? n : b->out_costs.count;
    if (!vec_reserve(&t->nodes, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const path_node *node = &from->nodes.items[i];
        t->nodes.items[i] = (calltree_node){
            .parent = node->parent,
            .place = i ? &p->locations.items[locations[node->place]] : NULL,
            .self = i < n_costs ? costs[i] : (cost){0},
        };
    }
    t->nodes.count = n;
    return true;
}

static int compare_siblings(const void *a, const void *b, void *context) {
    const calltree *t = context;
    const calltree_node *x = &t->nodes.items[*(const uint32_t *)a];
    const calltree_node *y = &t->nodes.items[*(const uint32_t *)b];
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    int order = strcmp(x->place->function, y->place->function);
    if (order == 0)
        order = strcmp(x->place->file, y->place->file);
    return order ? order : (x->place->line > y->place->line) - (x->place->line < y->place->line);
}

static calltree_node *parent_of(calltree *t, uint32_t node) {
    return &t->nodes.items[t->nodes.items[node].parent];
}

/* Those that cost nothing, since a filter left nothing of them, are not listed. */
static void list_children(calltree *t) {
    calltree_node *nodes = t->nodes.items;
    uint32_t first = 0, n = (uint32_t)t->nodes.count;
    for (uint32_t i = 1; i < n; i++)
        parent_of(t, i)->n_children += nodes[i].total.blocks > 0;
    for (uint32_t i = 0; i < n; i++) {
        nodes[i].first = first;
        first += nodes[i].n_children;
        nodes[i].n_children = 0;
    }
    t->children.count = first;
    for (uint32_t i = 1; i < n; i++)
        if (nodes[i].total.blocks) {
            calltree_node *parent = parent_of(t, i);
            t->children.items[parent->first + parent->n_children++] = i;
        }
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i].n_children > 1)
            qsort_r(&t->children.items[nodes[i].first], nodes[i].n_children,
                    sizeof *t->children.items, compare_siblings, t);
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

static void builder_free(builder *b) {
    path_tree_free(&b->out);
    vec_free(&b->out_costs);
    free(b->seen_costs);
    free(b->matches);
    free(b->focus);
}

/* What only building needs, of a deep trace as large as the result. */
static void drop_scaffold(builder *b) {
    drop_children(&b->out);
    free(b->matches);
    free(b->focus);
    b->matches = NULL;
    b->focus = NULL;
    if (!is_as_seen(b)) {
        free(b->seen_costs);
        b->seen_costs = NULL;
    }
}

bool calltree_query(const query_result *q, const calltree_spec *spec, calltree *result) {
    calltree_view *own = spec->view ? NULL : calltree_view_new(&q->lens, spec->by_line);
    builder b = {.query = q, .spec = spec, .view = own ? own : spec->view};
    *result = (calltree){0};
    bool ok = b.view && build(&b);
    if (ok) {
        drop_scaffold(&b);
        ok = copy_nodes(&b, result);
    }
    builder_free(&b);
    calltree_view_free(own);
    ok = ok && calltree_arrange(result);
    if (!ok)
        calltree_free(result);
    return ok;
}

void calltree_free(calltree *t) {
    vec_free(&t->nodes);
    vec_free(&t->children);
}
