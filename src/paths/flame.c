/* flame.c: see flame.h. */
#include "paths/flame.h"

typedef struct painter {
    const profile *profile;
    const calltree *tree;
    const flame_spec *spec;
    flame *result;
    double least;         /* weight */
    uint8_t *match;       /* flame_match, by node of the tree; NULL: nothing is searched for */
    uint32_t *seen_in;    /* by location: the node that last counted it */
    VEC(uint32_t) hidden; /* nodes to visit */
} painter;

static const calltree_node *node_at(const painter *p, uint32_t i) {
    return &p->tree->nodes.items[i];
}

static uint32_t child_at(const painter *p, uint32_t node, uint32_t i) {
    return p->tree->children.items[node_at(p, node)->first + i];
}

static uint32_t number_of(const painter *p, const profile_location *l) {
    return l ? (uint32_t)(l - p->profile->locations.items) : FLAME_NOWHERE;
}

/* ---- where the picture begins ------------------------------------------------------------ */

/* A place has several locations, of which only one is the node's. */
static bool same_place(const profile_location *a, const profile_location *b, bool by_line) {
    return a->function == b->function && a->file == b->file && (!by_line || a->line == b->line);
}

uint32_t flame_child(const profile *p, const calltree *t, uint32_t node, uint32_t place,
                     bool by_line) {
    if (place >= p->locations.count)
        return CALLTREE_ROOT;
    const calltree_node *n = &t->nodes.items[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = t->children.items[n->first + i];
        if (same_place(t->nodes.items[child].place, &p->locations.items[place], by_line))
            return child;
    }
    return CALLTREE_ROOT;
}

static uint32_t find_root(painter *p) {
    uint32_t at = CALLTREE_ROOT;
    for (size_t i = 0; i < p->spec->n_root; i++) {
        uint32_t child = flame_child(p->profile, p->tree, at, p->spec->root[i], p->spec->by_line);
        if (child == CALLTREE_ROOT)
            break;
        at = child;
        p->result->n_found++;
    }
    return at;
}

/* ---- searching --------------------------------------------------------------------------- */

/* A stack ends at a node's own costs, and matches if a node on its path does. */
static bool sum_matches(painter *p, uint32_t root) {
    size_t n = p->tree->nodes.count;
    enum { OUTSIDE, INSIDE, ON_MATCH };
    uint8_t *state = calloc(n + 1, 1);
    if (!state)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t above = i == CALLTREE_ROOT ? OUTSIDE : state[node_at(p, i)->parent];
        state[i] = i == root && above == OUTSIDE ? INSIDE : above;
        if (state[i] == INSIDE && p->match[i] == FLAME_MATCH)
            state[i] = ON_MATCH;
        if (state[i] == ON_MATCH)
            cost_add(&p->result->matched, &node_at(p, i)->self);
    }
    free(state);
    return true;
}

static bool search(painter *p, uint32_t root) {
    size_t n = p->tree->nodes.count;
    p->match = calloc(n + 1, 1);
    if (!p->match)
        return false;
    for (size_t i = n; i-- > 1;) {
        const calltree_node *node = &p->tree->nodes.items[i];
        if (p->spec->matches[number_of(p, node->place)])
            p->match[i] = FLAME_MATCH;
        if (p->match[i] && node->total.blocks && !p->match[node->parent])
            p->match[node->parent] = FLAME_MATCH_BELOW;
    }
    return sum_matches(p, root);
}

/* ---- painting ---------------------------------------------------------------------------- */

static bool push_children(painter *p, uint32_t node) {
    const calltree_node *n = node_at(p, node);
    if (!vec_reserve(&p->hidden, n->n_children))
        return false;
    for (uint32_t i = 0; i < n->n_children; i++)
        p->hidden.items[p->hidden.count++] = child_at(p, node, i);
    return true;
}

/* Counts the places that allocate in the subtrees that wait in `hidden`. */
static bool count_sites(painter *p, uint32_t counter, uint32_t *sites) {
    while (p->hidden.count) {
        uint32_t node = p->hidden.items[--p->hidden.count];
        const calltree_node *n = node_at(p, node);
        uint32_t *seen = &p->seen_in[number_of(p, n->place)];
        if (n->self.blocks && *seen != counter) {
            *seen = counter;
            ++*sites;
        }
        if (!push_children(p, node))
            return false;
    }
    return true;
}

/* The children from the `shown`th on, as one node. */
static bool sum_up(painter *p, uint32_t node, uint32_t shown, uint32_t parent) {
    const calltree_node *n = node_at(p, node);
    flame_node rest = {
        .node = FLAME_NOWHERE, .place = FLAME_NOWHERE, .parent = parent, .more = true};
    p->hidden.count = 0;
    for (uint32_t i = shown; i < n->n_children; i++) {
        uint32_t child = child_at(p, node, i);
        cost_add(&rest.total, &node_at(p, child)->total);
        if (p->match && p->match[child])
            rest.match = FLAME_MATCH_BELOW;
        if (!vec_push(&p->hidden, child))
            return false;
    }
    rest.sites = n->n_children - shown;
    if (!p->spec->outward) {
        rest.sites = 0;
        if (!count_sites(p, (uint32_t)p->result->nodes.count, &rest.sites))
            return false;
    }
    return vec_push(&p->result->nodes, rest);
}

static bool paint(painter *p, uint32_t node, uint32_t parent, uint32_t row) {
    const calltree_node *n = node_at(p, node);
    uint32_t me = (uint32_t)p->result->nodes.count, shown = 0;
    if (!vec_push(&p->result->nodes,
                  ((flame_node){.node = node,
                                .place = number_of(p, n->place),
                                .parent = parent,
                                .total = n->total,
                                .self = n->self,
                                .more = row + 1 >= p->spec->rows && n->n_children > 0,
                                .match = p->match ? (flame_match)p->match[node] : FLAME_NO_MATCH})))
        return false;
    if (row + 1 >= p->spec->rows)
        return true;
    for (; shown < n->n_children; shown++) {
        uint32_t child = child_at(p, node, shown);
        if (node_at(p, child)->total.weight < p->least)
            break;
        if (!paint(p, child, me, row + 1))
            return false;
    }
    return shown == n->n_children || sum_up(p, node, shown, me);
}

bool flame_query(const profile *p, const calltree *t, const flame_spec *spec, flame *result) {
    *result = (flame){0};
    painter b = {.profile = p,
                 .tree = t,
                 .spec = spec,
                 .result = result,
                 .seen_in = calloc(p->locations.count + 1, sizeof *b.seen_in)};
    uint32_t root = find_root(&b);
    b.least = spec->min_share * node_at(&b, root)->total.weight;
    bool ok =
        b.seen_in && (!spec->matches || search(&b, root)) && paint(&b, root, FLAME_NOWHERE, 0);
    free(b.match);
    free(b.seen_in);
    vec_free(&b.hidden);
    if (!ok)
        flame_free(result);
    return ok;
}

void flame_free(flame *f) {
    vec_free(&f->nodes);
}
