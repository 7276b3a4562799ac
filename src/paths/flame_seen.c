/* flame_seen.c: pictures straight from what a lens sees; see flame.h. Nodes of a picture are
 * groups: inward, of nodes of the view with the same path; outward, of stacks that have the same
 * frames so far. A group is taken apart only where it is wide enough to be shown, so that no tree
 * is made of which a screen shows a hundredth. */
#include <string.h>

#include "paths/calltree_view.h"
#include "paths/flame.h"

/* ---- sums -------------------------------------------------------------------------------- */

typedef struct counts {
    uint64_t samples, blocks;
} counts;

typedef struct weights {
    double weight, squares, heaviest, per_word, most_per_word;
} weights;

/* By node. Of amounts of memory the counts say all. */
typedef struct sum_column {
    counts *counts;
    weights *weights; /* NULL: of amounts of memory */
} sum_column;

struct calltree_sums {
    sum_column own, all; /* `all`: with what is below */
    size_t n;
};

static bool column_make(sum_column *c, size_t n, bool weighted) {
    c->counts = calloc(n, sizeof *c->counts);
    if (weighted)
        c->weights = calloc(n, sizeof *c->weights);
    return c->counts && (c->weights || !weighted);
}

static void column_free(sum_column *c) {
    free(c->counts);
    free(c->weights);
    *c = (sum_column){0};
}

static cost column_at(const sum_column *c, uint32_t node) {
    const counts *n = &c->counts[node];
    cost all = {.samples = n->samples, .blocks = n->blocks, .weight = (double)n->samples};
    if (c->weights) {
        all.weight = c->weights[node].weight;
        all.squares = c->weights[node].squares;
        all.heaviest = c->weights[node].heaviest;
        all.per_word = c->weights[node].per_word;
        all.most_per_word = c->weights[node].most_per_word;
    }
    return all;
}

static inline void column_add(sum_column *c, uint32_t node, const cost *add) {
    c->counts[node].samples += add->samples;
    c->counts[node].blocks += add->blocks;
    if (!c->weights)
        return;
    c->weights[node].weight += add->weight;
    c->weights[node].squares += add->squares;
    if (add->heaviest > c->weights[node].heaviest)
        c->weights[node].heaviest = add->heaviest;
    c->weights[node].per_word += add->per_word;
    if (add->most_per_word > c->weights[node].most_per_word)
        c->weights[node].most_per_word = add->most_per_word;
}

static void add_below(calltree_sums *s, const calltree_view *v) {
    sum_column *all = &s->all;
    memcpy(all->counts, s->own.counts, s->n * sizeof *all->counts);
    if (all->weights)
        memcpy(all->weights, s->own.weights, s->n * sizeof *all->weights);
    for (uint32_t i = (uint32_t)s->n; i-- > 1;) {
        const uint32_t parent = calltree_view_at(v, i)->parent;
        if (all->weights) {
            const cost c = column_at(all, i);
            column_add(all, parent, &c);
        } else {
            all->counts[parent].samples += all->counts[i].samples;
            all->counts[parent].blocks += all->counts[i].blocks;
        }
    }
}

calltree_sums *calltree_sums_new(const query_result *q, const calltree_view *v) {
    const bool weighted = measure_infos[q->measure].unit != UNIT_BYTES;
    calltree_sums *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = calltree_view_count(v);
    if (!column_make(&s->own, s->n, weighted) || !column_make(&s->all, s->n, weighted)) {
        calltree_sums_free(s);
        return NULL;
    }
    for (size_t i = 0; i < q->costs.count; i++) {
        const cost_entry *e = &q->costs.items[i];
        const uint32_t node =
            e->external ? calltree_view_site(v, &q->lens, e) : v->seen_of[e->node];
        column_add(&s->own, node, &e->cost);
    }
    add_below(s, v);
    return s;
}

size_t calltree_sums_size(const calltree_sums *s) {
    return sizeof *s + 2 * s->n * (sizeof(counts) + (s->own.weights ? sizeof(weights) : 0));
}

void calltree_sums_free(calltree_sums *s) {
    if (!s)
        return;
    column_free(&s->own);
    column_free(&s->all);
    free(s);
}

cost calltree_sums_own(const calltree_sums *s, uint32_t node) {
    return column_at(&s->own, node);
}

cost calltree_sums_all(const calltree_sums *s, uint32_t node) {
    return column_at(&s->all, node);
}

/* ---- groups ------------------------------------------------------------------------------ */

#define NOBODY UINT32_MAX

typedef struct group {
    uint32_t place;       /* NO_PLACE: the tree's root */
    uint32_t first;       /* of its members, the others by `painter.next`; NOBODY: there are none */
    bool leads_on;        /* something is below */
    bool matches_further; /* below there is a match */
    cost total, self;
} group;

typedef struct painter {
    const profile *profile;
    const calltree_view *view;
    const calltree_sums *sums;
    const flame_spec *spec;
    flame *result;
    bool outward;
    double least;        /* weight */
    uint32_t *next;      /* by node: the next member of the same group */
    uint32_t *at;        /* outward, by member: the node that it enters next; root: it has ended */
    sum_column gathered; /* outward from a focus: what each member stands for */
    uint32_t *group_of;  /* by place: one more than its index among the groups that are made */
    uint8_t *hits;       /* by node: inward, whether a match is below; outward, on the path to it */
    uint32_t *seen_in;   /* by place: the node of the picture that last counted it */
    VEC(group) groups;   /* a stack */
} painter;

static const path_node *node_at(const painter *p, uint32_t node) {
    return calltree_view_at(p->view, node);
}

static const profile_location *location_of(const painter *p, uint32_t place) {
    return &p->profile->locations.items[p->view->places.locations.items[place]];
}

static bool is_match(const painter *p, uint32_t place) {
    return place != NO_PLACE && p->spec->matches[p->view->places.locations.items[place]];
}

static cost worth(const painter *p, uint32_t member) {
    return column_at(p->gathered.counts ? &p->gathered : &p->sums->own, member);
}

/* The group of a place among those from `first` on. */
static group *find_group(painter *p, size_t first, uint32_t place) {
    uint32_t *known = &p->group_of[place];
    if (*known)
        return &p->groups.items[first + *known - 1];
    if (!vec_push(&p->groups, ((group){.place = place, .first = NOBODY})))
        return NULL;
    *known = (uint32_t)(p->groups.count - first);
    return &p->groups.items[p->groups.count - 1];
}

static void join(painter *p, group *g, uint32_t member) {
    p->next[member] = g->first;
    g->first = member;
}

/* A node of the view. */
static void join_inward(painter *p, group *g, uint32_t node) {
    const cost all = column_at(&p->sums->all, node), own = column_at(&p->sums->own, node);
    cost_add(&g->total, &all);
    cost_add(&g->self, &own);
    g->leads_on |= all.blocks > own.blocks;
    g->matches_further |= p->hits && p->hits[node];
    join(p, g, node);
}

/* A stack that enters the next node outward. */
static void join_outward(painter *p, group *g, uint32_t member) {
    const uint32_t node = p->at[member] = node_at(p, p->at[member])->parent;
    const cost c = worth(p, member);
    const bool ended = node == CALLTREE_ROOT;
    cost_add(&g->total, &c);
    if (ended)
        cost_add(&g->self, &c);
    g->leads_on |= !ended;
    g->matches_further |= p->hits && p->hits[node];
    join(p, g, member);
}

/* Children of a node that cost something. */
static bool split_node(painter *p, size_t first, uint32_t node, uint32_t wanted) {
    const uint32_t *ends = p->view->ends;
    for (uint32_t child = node + 1; child < ends[node]; child = ends[child]) {
        const uint32_t place = node_at(p, child)->place;
        if (!p->sums->all.counts[child].blocks || (wanted != NO_PLACE && place != wanted))
            continue;
        group *g = find_group(p, first, place);
        if (!g)
            return false;
        join_inward(p, g, child);
    }
    return true;
}

static bool split_stack(painter *p, size_t first, uint32_t member, uint32_t wanted) {
    if (p->at[member] == CALLTREE_ROOT)
        return true;
    const uint32_t place = node_at(p, p->at[member])->place;
    if (wanted != NO_PLACE && place != wanted)
        return true;
    group *g = find_group(p, first, place);
    if (g)
        join_outward(p, g, member);
    return g;
}

/* Pushes what a group consists of, by place; or only what has one place. Its list of members is
 * used up where it has any such. */
static bool split(painter *p, size_t index, uint32_t wanted) {
    const size_t first = p->groups.count;
    bool ok = true;
    for (uint32_t m = p->groups.items[index].first, next; ok && m != NOBODY; m = next) {
        next = p->next[m];
        ok = p->outward ? split_stack(p, first, m, wanted) : split_node(p, first, m, wanted);
    }
    for (size_t i = first; i < p->groups.count; i++)
        p->group_of[p->groups.items[i].place] = 0;
    return ok;
}

/* ---- where it begins --------------------------------------------------------------------- */

/* The whole stacks, or nodes. */
static void begin_whole(painter *p, group *g) {
    const calltree_sums *s = p->sums;
    if (!p->outward) {
        join_inward(p, g, CALLTREE_ROOT);
        return;
    }
    g->total = column_at(&s->all, CALLTREE_ROOT);
    g->self = column_at(&s->own, CALLTREE_ROOT);
    for (uint32_t i = 1; i < s->n; i++)
        if (s->own.counts[i].blocks) {
            p->at[i] = i;
            g->leads_on = true;
            g->matches_further |= p->hits && p->hits[i];
            join(p, g, i);
        }
}

/* What stands below the outermost ends of the focus. */
static void begin_callees(painter *p, group *g, const uint32_t *focus) {
    for (uint32_t i = 1; i < p->sums->n; i++)
        if (focus[i] == i && focus[node_at(p, i)->parent] == CALLTREE_ROOT &&
            p->sums->all.counts[i].blocks)
            join_inward(p, g, i);
}

/* What stands above its innermost ends, where costs gather, so that each path is walked once. */
static bool begin_callers(painter *p, group *g, const uint32_t *focus, size_t steps) {
    const calltree_sums *s = p->sums;
    if (!column_make(&p->gathered, s->n, s->own.weights))
        return false;
    for (uint32_t i = 1; i < s->n; i++)
        if (focus[i] != CALLTREE_ROOT && s->own.counts[i].blocks) {
            const cost own = column_at(&s->own, i);
            column_add(&p->gathered, focus[i], &own);
        }
    for (uint32_t i = 1; i < s->n; i++) {
        if (!p->gathered.counts[i].blocks)
            continue;
        uint32_t node = i;
        for (size_t step = 1; step < steps; step++)
            node = node_at(p, node)->parent;
        p->at[i] = node;
        join_outward(p, g, i);
    }
    return true;
}

static bool begin(painter *p, const calltree_spec *shape) {
    const bool focused = shape->shape == CALLTREE_CALLEES || shape->shape == CALLTREE_CALLERS;
    if (!vec_push(&p->groups, ((group){.place = NO_PLACE, .first = NOBODY})))
        return false;
    group *g = &p->groups.items[0];
    if (!focused) {
        begin_whole(p, g);
        return true;
    }
    uint32_t *focus = calltree_view_focus(p->view, p->profile, shape->focus);
    bool ok = focus;
    if (ok && p->outward)
        ok = begin_callers(p, g, focus, call_site_steps(shape->focus));
    else if (ok)
        begin_callees(p, g, focus);
    free(focus);
    return ok;
}

/* Follows the path to where the picture begins, as far as it exists. */
static bool find_root(painter *p) {
    const place_table *places = &p->view->places;
    for (size_t i = 0; i < p->spec->n_root; i++) {
        const size_t before = p->groups.count;
        if (p->spec->root[i] >= p->profile->locations.count)
            break;
        if (!split(p, before - 1, places->of_location[p->spec->root[i]]))
            return false;
        if (p->groups.count == before)
            break;
        p->result->n_found++;
    }
    return true;
}

/* ---- searching --------------------------------------------------------------------------- */

static bool find_hits(painter *p) {
    const uint32_t n = (uint32_t)p->sums->n;
    if (!p->spec->matches)
        return true;
    p->hits = calloc(n, 1);
    if (!p->hits)
        return false;
    for (uint32_t i = 1; p->outward && i < n; i++)
        p->hits[i] = p->hits[node_at(p, i)->parent] | is_match(p, node_at(p, i)->place);
    for (uint32_t i = n; !p->outward && i-- > 1;)
        if ((p->hits[i] || is_match(p, node_at(p, i)->place)) && p->sums->all.counts[i].blocks)
            p->hits[node_at(p, i)->parent] = 1;
    return true;
}

/* The own costs of what is below a node and has a match on its path from there. */
static void add_matches_below(const painter *p, uint32_t node, uint8_t *on_match, cost *sum) {
    for (uint32_t i = node + 1; i < p->view->ends[node]; i++) {
        const uint32_t parent = node_at(p, i)->parent;
        on_match[i] = (parent != node && on_match[parent]) || is_match(p, node_at(p, i)->place);
        if (on_match[i] && p->sums->own.counts[i].blocks) {
            const cost own = column_at(&p->sums->own, i);
            cost_add(sum, &own);
        }
    }
}

/* Each stack in the picture that matches, once. */
static bool sum_matches(painter *p, const group *root) {
    cost *sum = &p->result->matched;
    uint8_t *on_match = malloc(p->sums->n);
    if (!on_match)
        return false;
    if (is_match(p, root->place))
        *sum = root->total;
    for (uint32_t m = root->first; !is_match(p, root->place) && m != NOBODY; m = p->next[m]) {
        const cost c = p->outward ? worth(p, m) : (cost){0};
        if (!p->outward)
            add_matches_below(p, m, on_match, sum);
        else if (p->hits[p->at[m]])
            cost_add(sum, &c);
    }
    free(on_match);
    return true;
}

static flame_match match_of(const painter *p, const group *g) {
    if (!p->spec->matches)
        return FLAME_NO_MATCH;
    return is_match(p, g->place) ? FLAME_MATCH
           : g->matches_further  ? FLAME_MATCH_BELOW
                                 : FLAME_NO_MATCH;
}

/* ---- painting ---------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b, void *context) {
    const painter *p = context;
    const group *x = a, *y = b;
    return calltree_compare(x->total.weight, location_of(p, x->place), y->total.weight,
                            location_of(p, y->place));
}

/* Those that are wide enough come first, largest first; returns how many. */
static size_t order_groups(painter *p, size_t first) {
    group *all = p->groups.items + first;
    size_t shown = 0;
    for (size_t i = 0; i < p->groups.count - first; i++)
        if (all[i].total.weight >= p->least) {
            const group g = all[i];
            all[i] = all[shown];
            all[shown++] = g;
        }
    if (shown > 1)
        qsort_r(all, shown, sizeof *all, compare_groups, p);
    return shown;
}

/* Places that allocate in a node and below it, which `counter` has not counted. */
static uint32_t count_sites(painter *p, uint32_t node, uint32_t counter) {
    uint32_t sites = 0;
    for (uint32_t i = node; i < p->view->ends[node]; i++) {
        if (!p->sums->own.counts[i].blocks)
            continue;
        uint32_t *seen = &p->seen_in[node_at(p, i)->place];
        sites += *seen != counter;
        *seen = counter;
    }
    return sites;
}

/* The groups from `first` on, as one node. */
static bool sum_up(painter *p, size_t first, uint32_t parent) {
    const uint32_t me = (uint32_t)p->result->nodes.count;
    flame_node rest = {
        .node = FLAME_NOWHERE, .place = FLAME_NOWHERE, .parent = parent, .more = true};
    for (size_t i = first; i < p->groups.count; i++) {
        const group *g = &p->groups.items[i];
        cost_add(&rest.total, &g->total);
        if (match_of(p, g) != FLAME_NO_MATCH)
            rest.match = FLAME_MATCH_BELOW;
        rest.sites += p->outward;
        for (uint32_t m = g->first; !p->outward && m != NOBODY; m = p->next[m])
            rest.sites += count_sites(p, m, me);
    }
    return first == p->groups.count || vec_push(&p->result->nodes, rest);
}

static bool push_node(painter *p, const group *g, uint32_t parent, bool is_last_row) {
    return vec_push(
        &p->result->nodes,
        ((flame_node){.node = FLAME_NOWHERE,
                      .place = g->place == NO_PLACE ? FLAME_NOWHERE
                                                    : p->view->places.locations.items[g->place],
                      .parent = parent,
                      .total = g->total,
                      .self = g->self,
                      .more = is_last_row && g->leads_on,
                      .match = match_of(p, g)}));
}

static bool paint(painter *p, size_t index, uint32_t parent, uint32_t row) {
    const size_t first = p->groups.count;
    const uint32_t me = (uint32_t)p->result->nodes.count;
    const bool is_last_row = row + 1 >= p->spec->rows;
    if (!push_node(p, &p->groups.items[index], parent, is_last_row))
        return false;
    if (is_last_row)
        return true;
    if (!split(p, index, NO_PLACE))
        return false;
    const size_t shown = order_groups(p, first);
    for (size_t i = 0; i < shown; i++)
        if (!paint(p, first + i, me, row + 1))
            return false;
    bool ok = sum_up(p, first + shown, me);
    p->groups.count = first;
    return ok;
}

static bool painter_init(painter *p) {
    const size_t n = p->sums->n, n_places = p->view->places.locations.count;
    p->next = malloc(n * sizeof *p->next);
    p->group_of = calloc(n_places + 1, sizeof *p->group_of);
    p->seen_in = calloc(n_places + 1, sizeof *p->seen_in);
    if (p->outward)
        p->at = malloc(n * sizeof *p->at);
    return p->next && p->group_of && p->seen_in && (p->at || !p->outward) && find_hits(p);
}

static void painter_free(painter *p) {
    column_free(&p->gathered);
    free(p->next);
    free(p->at);
    free(p->group_of);
    free(p->seen_in);
    free(p->hits);
    vec_free(&p->groups);
}

static bool paint_all(painter *p) {
    if (!find_root(p))
        return false;
    const size_t root = p->groups.count - 1;
    p->least = p->spec->min_share * p->groups.items[root].total.weight;
    return (!p->spec->matches || sum_matches(p, &p->groups.items[root])) &&
           paint(p, root, FLAME_NOWHERE, 0);
}

bool flame_of_sums(const profile *of, const calltree_sums *s, const calltree_spec *shape,
                   const flame_spec *spec, flame *result) {
    *result = (flame){0};
    painter p = {.profile = of,
                 .view = shape->view,
                 .sums = s,
                 .spec = spec,
                 .result = result,
                 .outward = shape->shape == CALLTREE_INVERTED || shape->shape == CALLTREE_CALLERS};
    bool ok = painter_init(&p) && begin(&p, shape) && paint_all(&p);
    painter_free(&p);
    if (!ok)
        flame_free(result);
    return ok;
}
