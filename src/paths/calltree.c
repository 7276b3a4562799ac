/* calltree.c: see calltree.h. First the profile's tree becomes one of the places that the lens
 * sees (calltree_view.c); then that is turned into the shape that was asked for, if it has not that
 * shape already. The work is proportional to the nodes, outward to the distinct stacks and the
 * depth that is asked for. */
#include <string.h>

#include "paths/calltree_view.h"

/* ---- costs ------------------------------------------------------------------------------- */

typedef VEC(cost) cost_column;

typedef struct builder {
    const query_result *query;
    const calltree_spec *spec;
    const calltree_view *view;
    cost *seen_costs; /* by node of what is seen */
    path_tree out;
    cost_column out_costs; /* by node; those at the end may be missing, and are 0 */
    uint32_t *focus;       /* see calltree_view_focus */
} builder;

static const path_node *seen_at(const builder *b, uint32_t node) {
    return calltree_view_at(b->view, node);
}

static bool add_cost(builder *b, uint32_t node, const cost *c) {
    cost_column *costs = &b->out_costs;
    while (costs->count <= node)
        if (!vec_push(costs, ((cost){0})))
            return false;
    cost_add(&costs->items[node], c);
    return true;
}

static bool see_costs(builder *b) {
    const query_result *q = b->query;
    b->seen_costs = calloc(calltree_view_count(b->view), sizeof *b->seen_costs);
    for (size_t i = 0; b->seen_costs && i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        cost_add(&b->seen_costs[calltree_view_site(b->view, &q->lens, e)], &e->cost);
    }
    return b->seen_costs;
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
            ok = path_tree_go(&b->out, out[node->parent], node->place, &out[i]);
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
        if (!path_tree_go(&b->out, at, place, &at))
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
    if (!path_tree_add(&b->out, CALLTREE_ROOT, NO_PLACE))
        return false;
    if ((shape == CALLTREE_CALLEES || shape == CALLTREE_CALLERS) &&
        !(b->focus = calltree_view_focus(b->view, b->query->profile, b->spec->focus)))
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

int calltree_compare(double x_weight, const profile_location *x, double y_weight,
                     const profile_location *y) {
    if (x_weight != y_weight)
        return x_weight > y_weight ? -1 : 1;
    int order = strcmp(x->function, y->function);
    if (order == 0)
        order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int compare_siblings(const void *a, const void *b, void *context) {
    const calltree *t = context;
    const calltree_node *x = &t->nodes.items[*(const uint32_t *)a];
    const calltree_node *y = &t->nodes.items[*(const uint32_t *)b];
    return calltree_compare(x->total.weight, x->place, y->total.weight, y->place);
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
    free(b->focus);
}

/* What only building needs, of a deep trace as large as the result. */
static void drop_scaffold(builder *b) {
    path_tree_drop_children(&b->out);
    free(b->focus);
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
