/* picture.c: nodes of a picture are groups: inward, of nodes of the tree with the same path;
 * outward, of stacks with the same frames so far. A group is split only if it is wide enough to be
 * shown, so that no tree is made of which a screen shows a hundredth. */
#include "paths/picture.h"

#include <string.h>

#define NOBODY UINT32_MAX

typedef struct group {
    uint32_t place;       /* PATH_NOWHERE: the root */
    uint32_t first;       /* its first member, the others by `painter.next`; NOBODY: none */
    uint32_t sides;       /* in `painter.sides`, if two are compared */
    bool leads_on;        /* something is below it */
    bool matches_further; /* something below it matches */
    cost total, self;
} group;

typedef struct painter {
    const path_tree *base; /* has the places */
    const path_tree *tree;
    const path_sums *sums;
    const picture_spec *spec;
    picture *result;
    bool outward;
    double whole;    /* weight at the picture's root */
    uint32_t *next;  /* by node: the next member of its group */
    uint32_t *at;    /* outward, by member: the node that it enters next; root: it has ended */
    uint32_t *exits; /* outward, collapsed: see path_tree_exits; NULL: use parents */
    path_column gathered[PATH_SIDES]; /* outward from a focus: what each member stands for */
    const path_column *worth;         /* outward: what members stand for: `gathered` or own costs */
    uint32_t *group_of;               /* by place: 1 + its index among the new groups */
    uint8_t *matches;                 /* by place, from the spec's by location; NULL: no search */
    uint8_t *hits;            /* by node: a match is below it or, outward, on its path outward */
    uint32_t *marks;          /* by place: the node of the picture that last counted it */
    VEC(group) groups;        /* a stack */
    VEC(picture_sides) sides; /* of these groups, in the order in which they were made */
} painter;

static const path_node *node_at(const painter *p, uint32_t node) {
    return &p->tree->nodes[node];
}

static bool has_sides(const painter *p) {
    return p->sums->n_sides > 1;
}

static bool is_match(const painter *p, uint32_t place) {
    return place != PATH_NOWHERE && p->matches[place];
}

/* Returns where a path outward goes on after a node. */
static uint32_t exit_of(const painter *p, uint32_t node) {
    return p->exits ? p->exits[node] : node_at(p, node)->parent;
}

/* ---- groups ------------------------------------------------------------------------------ */

static bool push_group(painter *p, uint32_t place) {
    const group g = {.place = place, .first = NOBODY, .sides = (uint32_t)p->groups.count};
    return vec_push(&p->groups, g) && (!has_sides(p) || vec_push(&p->sides, (picture_sides){0}));
}

static void drop_groups(painter *p, size_t from) {
    p->groups.count = from;
    if (has_sides(p))
        p->sides.count = from;
}

/* Returns the group of a place among those from `first` on, or adds it. */
static group *find_group(painter *p, size_t first, uint32_t place) {
    uint32_t *known = &p->group_of[place];
    if (*known)
        return &p->groups.items[first + *known - 1];
    if (!push_group(p, place))
        return NULL;
    *known = (uint32_t)(p->groups.count - first);
    return &p->groups.items[p->groups.count - 1];
}

/* Adds to the sides of a group; returns both sides together. */
static cost add_sides(painter *p, const group *g, const cost of[PATH_SIDES]) {
    if (!has_sides(p))
        return of[0];
    for (unsigned i = 0; i < PATH_SIDES; i++)
        cost_add(&p->sides.items[g->sides].of[i], &of[i]);
    return path_sums_both(p->sums, &of[0], &of[1]);
}

static void join(painter *p, group *g, uint32_t member) {
    p->next[member] = g->first;
    g->first = member;
}

/* Adds a node of the tree to a group. */
static void join_inward(painter *p, group *g, uint32_t node) {
    cost of[PATH_SIDES] = {0};
    for (unsigned i = 0; i < p->sums->n_sides; i++)
        of[i] = path_sums_side(p->sums, i, p->tree, node);
    const cost all = add_sides(p, g, of), own = path_sums_own(p->sums, node);
    cost_add(&g->total, &all);
    cost_add(&g->self, &own);
    g->leads_on |= all.blocks > own.blocks;
    g->matches_further |= p->hits && p->hits[node];
    join(p, g, node);
}

/* Adds a stack that enters `node` next to a group. */
static void join_outward(painter *p, group *g, uint32_t member, uint32_t node) {
    cost of[PATH_SIDES] = {0};
    for (unsigned i = 0; i < p->sums->n_sides; i++)
        of[i] = path_column_at(&p->worth[i], member);
    const cost c = add_sides(p, g, of);
    const bool ended = node == PATH_ROOT;
    p->at[member] = node;
    cost_add(&g->total, &c);
    if (ended)
        cost_add(&g->self, &c);
    g->leads_on |= !ended;
    g->matches_further |= p->hits && p->hits[node];
    join(p, g, member);
}

/* Puts the children of a node that have costs into groups, either those of the place `wanted` or,
 * for PATH_NOWHERE, all. */
static bool split_node(painter *p, size_t first, uint32_t node, uint32_t wanted) {
    const uint32_t *ends = p->tree->ends;
    const path_any any = path_sums_any(p->sums, p->sums->own);
    for (uint32_t child = node + 1; child < ends[node]; child = ends[child]) {
        const uint32_t place = node_at(p, child)->place;
        if ((wanted != PATH_NOWHERE && place != wanted) ||
            !path_any_between(any, child, ends[child]))
            continue;
        group *g = find_group(p, first, place);
        if (!g)
            return false;
        join_inward(p, g, child);
    }
    return true;
}

static bool split_stack(painter *p, size_t first, uint32_t member, uint32_t wanted) {
    const uint32_t node = p->at[member], place = node_at(p, node)->place;
    if (node == PATH_ROOT || (wanted != PATH_NOWHERE && place != wanted))
        return true;
    group *g = find_group(p, first, place);
    if (g)
        join_outward(p, g, member, exit_of(p, node));
    return g;
}

/* Pushes the groups into which a group splits by place, or only that of one place. The list of
 * members is used up by this. */
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

/* Begins with whole stacks or nodes. */
static void begin_whole(painter *p, group *g) {
    join_inward(p, g, PATH_ROOT);
    if (!p->outward)
        return;
    const path_any any = path_sums_any(p->sums, p->sums->own);
    g->first = NOBODY;
    for (uint32_t i = 1; i < p->sums->n; i++)
        if (path_any_at(any, i)) {
            p->at[i] = i;
            g->matches_further |= p->hits && p->hits[i];
            join(p, g, i);
        }
}

/* Begins with what is below the outermost ends of the focus. */
static void begin_callees(painter *p, group *g, const uint32_t *focus) {
    const path_any any = path_sums_any(p->sums, p->sums->own);
    for (uint32_t i = 1; i < p->sums->n; i++)
        if (focus[i] == i && focus[node_at(p, i)->parent] == PATH_ROOT &&
            path_any_between(any, i, p->tree->ends[i]))
            join_inward(p, g, i);
}

static bool gather_side(path_column *c, const path_column *own, const uint32_t *focus, size_t n) {
    if (!path_column_begin(c, n))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (focus[i] != PATH_ROOT && path_column_any(own, i))
            path_column_mark(c, focus[i]);
    if (!path_column_make(c, n, cost_columns_shape(&own->costs)))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (focus[i] != PATH_ROOT && path_column_any(own, i)) {
            const cost one = path_column_at(own, i);
            path_column_add(c, focus[i], &one);
        }
    return true;
}

/* Gathers costs at the innermost ends of the focus, so that each path is walked once. */
static bool gather(painter *p, const uint32_t *focus) {
    const path_sums *s = p->sums;
    p->worth = p->gathered;
    for (unsigned side = 0; side < s->n_sides; side++)
        if (!gather_side(&p->gathered[side], &s->own[side], focus, s->n))
            return false;
    return true;
}

/* Begins with what is above the innermost ends of the focus. */
static bool begin_callers(painter *p, group *g, const uint32_t *focus, size_t steps) {
    if (!gather(p, focus))
        return false;
    const path_any any = path_sums_any(p->sums, p->gathered);
    for (uint32_t i = 1; i < p->sums->n; i++) {
        if (!path_any_at(any, i))
            continue;
        uint32_t node = i;
        for (size_t step = 0; step < steps; step++)
            node = node_at(p, node)->parent;
        join_outward(p, g, i, node);
    }
    return true;
}

static bool begin(painter *p, const callpaths *v) {
    const callpaths_spec *s = &v->spec;
    /* For collapsed callees, the tree has nothing else. */
    const bool whole =
        s->shape == CALLPATHS_DOWN || s->shape == CALLPATHS_INVERTED || callpaths_collapses(s);
    if (!push_group(p, PATH_NOWHERE))
        return false;
    group *g = &p->groups.items[0];
    if (whole) {
        begin_whole(p, g);
        return true;
    }
    uint32_t *focus = path_tree_focus(p->tree, s->focus);
    bool ok = focus;
    if (ok && p->outward)
        ok = begin_callers(p, g, focus, call_site_steps(s->focus));
    else if (ok)
        begin_callees(p, g, focus);
    free(focus);
    return ok;
}

/* Follows the path to where the picture begins, as far as it exists. */
static bool find_root(painter *p) {
    for (size_t i = 0; i < p->spec->n_root; i++) {
        const size_t before = p->groups.count;
        if (p->spec->root[i] >= p->base->names->locations.count)
            break;
        if (!split(p, before - 1, p->base->places->of_location[p->spec->root[i]]))
            return false;
        if (p->groups.count == before)
            break;
        p->result->n_found++;
    }
    return true;
}

/* ---- searching --------------------------------------------------------------------------- */

static void find_hits_below(painter *p) {
    const path_any any = path_sums_any(p->sums, p->sums->own);
    const path_node *nodes = p->tree->nodes;
    uint8_t *hits = p->hits;
    for (uint32_t i = (uint32_t)p->tree->n; i-- > 1;)
        if ((hits[i] | p->matches[nodes[i].place]) && path_any_between(any, i, p->tree->ends[i]))
            hits[nodes[i].parent] = 1;
}

static void find_hits_above(painter *p) {
    for (uint32_t i = 1; i < p->tree->n; i++)
        p->hits[i] = p->hits[exit_of(p, i)] | p->matches[node_at(p, i)->place];
}

static bool find_hits(painter *p) {
    const uint32_t *locations = p->base->places->locations.items;
    const size_t n_places = p->base->places->locations.count;
    if (!p->spec->matches)
        return true;
    p->matches = malloc(n_places + 1);
    p->hits = calloc(p->tree->n, 1);
    if (!p->matches || !p->hits)
        return false;
    for (size_t i = 0; i < n_places; i++)
        p->matches[i] = p->spec->matches[locations[i]];
    if (p->outward)
        find_hits_above(p);
    else
        find_hits_below(p);
    return true;
}

/* Adds the own costs of nodes below a node, if a match is on the path from it to them. */
static void add_matches_below(const painter *p, uint32_t node, uint8_t *on_match, cost *sum) {
    const path_any any = path_sums_any(p->sums, p->sums->own);
    const path_node *nodes = p->tree->nodes;
    const uint32_t end = p->tree->ends[node];
    on_match[node] = 0;
    for (uint32_t i = node + 1; i < end; i++) {
        on_match[i] = on_match[nodes[i].parent] | p->matches[nodes[i].place];
        if (on_match[i] && path_any_at(any, i)) {
            const cost own = path_sums_own(p->sums, i);
            cost_add(sum, &own);
        }
    }
}

/* Sums up the stacks in the picture that match, each once. */
static bool sum_matches(painter *p, const group *root) {
    cost *sum = &p->result->matched;
    uint8_t *on_match = malloc(p->sums->n);
    if (!on_match)
        return false;
    if (is_match(p, root->place))
        *sum = root->total;
    for (uint32_t m = root->first; !is_match(p, root->place) && m != NOBODY; m = p->next[m]) {
        const cost c = p->outward ? path_sums_at(p->sums, p->worth, m) : (cost){0};
        if (!p->outward)
            add_matches_below(p, m, on_match, sum);
        else if (p->hits[p->at[m]])
            cost_add(sum, &c);
    }
    free(on_match);
    return true;
}

static picture_match match_of(const painter *p, const group *g) {
    if (!p->spec->matches)
        return PICTURE_NO_MATCH;
    return is_match(p, g->place) ? PICTURE_MATCH
           : g->matches_further  ? PICTURE_MATCH_BELOW
                                 : PICTURE_NO_MATCH;
}

/* ---- painting ---------------------------------------------------------------------------- */

/* Largest first, then by name. */
static int compare_groups(const void *a, const void *b, void *context) {
    const painter *p = context;
    const group *x = a, *y = b;
    if (x->total.weight != y->total.weight)
        return x->total.weight > y->total.weight ? -1 : 1;
    const profile_location *l = path_tree_location(p->base, x->place);
    const profile_location *m = path_tree_location(p->base, y->place);
    int order = strcmp(l->function, m->function);
    if (order == 0)
        order = strcmp(l->file, m->file);
    return order ? order : (l->line > m->line) - (l->line < m->line);
}

static bool is_wide(const painter *p, const group *g) {
    return p->whole > 0 ? 100 * g->total.weight / p->whole >= p->spec->min_percent
                        : p->spec->min_percent <= 0;
}

/* Sorts the groups that are shown to the front, largest first; returns their number. */
static size_t order_groups(painter *p, size_t first) {
    group *all = p->groups.items + first;
    size_t shown = 0;
    for (size_t i = 0; i < p->groups.count - first; i++)
        if (is_wide(p, &all[i])) {
            const group g = all[i];
            all[i] = all[shown];
            all[shown++] = g;
        }
    if (shown > 1)
        qsort_r(all, shown, sizeof *all, compare_groups, p);
    return p->spec->most && shown > p->spec->most ? (size_t)p->spec->most : shown;
}

/* Marks the places that allocate in a node and below it. */
static void mark_sites(const painter *p, uint32_t node, uint32_t mark) {
    const path_any any = path_sums_any(p->sums, p->sums->own);
    const path_node *nodes = p->tree->nodes;
    const uint32_t end = p->tree->ends[node];
    uint32_t *marks = p->marks;
    for (uint32_t word = node / BITS_WORD; word <= (end - 1) / BITS_WORD; word++)
        for (uint32_t left = path_any_word(any, word, node, end); left; left &= left - 1)
            marks[nodes[word * BITS_WORD + (uint32_t)__builtin_ctz(left)].place] = mark;
}

/* Does the same, and returns how many places were not marked before. */
static uint32_t mark_new_sites(const painter *p, uint32_t node, uint32_t mark) {
    const path_any any = path_sums_any(p->sums, p->sums->own);
    const path_node *nodes = p->tree->nodes;
    uint32_t n = 0;
    for (uint32_t i = node; i < p->tree->ends[node]; i++) {
        if (!path_any_at(any, i))
            continue;
        uint32_t *known = &p->marks[nodes[i].place];
        n += *known != mark;
        *known = mark;
    }
    return n;
}

/* Returns how many places allocate in the groups from `first` on, and below. For many nodes,
 * counting marks at the end is faster than checking each node. */
static uint32_t count_sites(const painter *p, size_t first, uint32_t mark) {
    const size_t n_places = p->base->places->locations.count;
    size_t n_nodes = 0;
    uint32_t sites = 0;
    for (size_t i = first; i < p->groups.count; i++)
        for (uint32_t m = p->groups.items[i].first; m != NOBODY; m = p->next[m])
            n_nodes += p->tree->ends[m] - m;
    const bool many = n_nodes > n_places;
    for (size_t i = first; i < p->groups.count; i++)
        for (uint32_t m = p->groups.items[i].first; m != NOBODY; m = p->next[m])
            if (many)
                mark_sites(p, m, mark);
            else
                sites += mark_new_sites(p, m, mark);
    for (size_t i = 0; many && i < n_places; i++)
        sites += p->marks[i] == mark;
    return sites;
}

/* Adds the sides of a node that stands for some groups. */
static bool push_sides(painter *p, size_t first, size_t end) {
    picture_sides sum = {0};
    if (!has_sides(p))
        return true;
    for (size_t i = first; i < end; i++)
        for (unsigned side = 0; side < PATH_SIDES; side++)
            cost_add(&sum.of[side], &p->sides.items[p->groups.items[i].sides].of[side]);
    return vec_push(&p->result->sides, sum);
}

/* Adds one node for the groups from `first` on. */
static bool sum_up(painter *p, size_t first, uint32_t parent) {
    const uint32_t me = (uint32_t)p->result->nodes.count;
    picture_node rest = {.place = PATH_NOWHERE, .parent = parent, .more = true};
    for (size_t i = first; i < p->groups.count; i++) {
        const group *g = &p->groups.items[i];
        cost_add(&rest.total, &g->total);
        if (match_of(p, g) != PICTURE_NO_MATCH)
            rest.match = PICTURE_MATCH_BELOW;
    }
    rest.sites = p->outward ? (uint32_t)(p->groups.count - first) : count_sites(p, first, me);
    return first == p->groups.count ||
           (vec_push(&p->result->nodes, rest) && push_sides(p, first, p->groups.count));
}

static bool push_node(painter *p, size_t index, uint32_t parent, bool is_last_row) {
    const group *g = &p->groups.items[index];
    const uint32_t *locations = p->base->places->locations.items;
    const picture_node node = {.place =
                                   g->place == PATH_NOWHERE ? PATH_NOWHERE : locations[g->place],
                               .parent = parent,
                               .total = g->total,
                               .self = g->self,
                               .more = is_last_row && g->leads_on,
                               .match = match_of(p, g)};
    return vec_push(&p->result->nodes, node) && push_sides(p, index, index + 1);
}

static bool paint(painter *p, size_t index, uint32_t parent, uint32_t row) {
    const size_t first = p->groups.count;
    const uint32_t me = (uint32_t)p->result->nodes.count;
    const bool is_last_row = row + 1 >= p->spec->rows;
    if (!push_node(p, index, parent, is_last_row))
        return false;
    if (is_last_row && !p->spec->only_counted)
        return true;
    if (!split(p, index, PATH_NOWHERE))
        return false;
    const size_t shown = is_last_row ? 0 : order_groups(p, first);
    for (size_t i = 0; i < shown; i++)
        if (!paint(p, first + i, me, row + 1))
            return false;
    bool ok = p->spec->only_counted || sum_up(p, first + shown, me);
    if (p->spec->only_counted)
        p->result->nodes.items[me].omitted = (uint32_t)(p->groups.count - first - shown);
    drop_groups(p, first);
    return ok;
}

static bool painter_init(painter *p, const callpaths *v) {
    const size_t n = p->sums->n, n_places = p->base->places->locations.count;
    p->next = malloc(n * sizeof *p->next);
    p->group_of = calloc(n_places + 1, sizeof *p->group_of);
    p->marks = calloc(n_places + 1, sizeof *p->marks);
    if (p->outward)
        p->at = malloc(n * sizeof *p->at);
    if (p->outward && v->spec.collapse && !(p->exits = path_tree_exits(p->tree)))
        return false;
    return p->next && p->group_of && p->marks && (p->at || !p->outward) && find_hits(p);
}

static void painter_free(painter *p) {
    for (unsigned side = 0; side < PATH_SIDES; side++)
        path_column_free(&p->gathered[side]);
    free(p->next);
    free(p->at);
    free(p->exits);
    free(p->group_of);
    free(p->marks);
    free(p->matches);
    free(p->hits);
    vec_free(&p->groups);
    vec_free(&p->sides);
}

static bool paint_all(painter *p) {
    if (has_sides(p))
        p->result->whole = p->sides.items[0];
    if (!find_root(p))
        return false;
    const size_t root = p->groups.count - 1;
    p->whole = p->groups.items[root].total.weight;
    return (!p->spec->matches || sum_matches(p, &p->groups.items[root])) &&
           paint(p, root, PATH_NOWHERE, 0);
}

bool picture_query(const callpaths *v, const picture_spec *spec, picture *result) {
    *result = (picture){0};
    painter p = {.base = callpaths_base(v),
                 .tree = callpaths_tree(v),
                 .sums = v->sums,
                 .worth = v->sums->own,
                 .spec = spec,
                 .result = result,
                 .outward = callpaths_is_outward(&v->spec)};
    bool ok = painter_init(&p, v) && begin(&p, v) && paint_all(&p);
    painter_free(&p);
    if (!ok)
        picture_free(result);
    return ok;
}

void picture_free(picture *p) {
    vec_free(&p->nodes);
    vec_free(&p->sides);
}
