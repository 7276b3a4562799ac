/* path_tree.c: makes trees. What a lens sees is made in preorder, from groups of the profile's
 * nodes that are one node here. Other trees grow by one look-up per node of their source, and are
 * put into preorder afterwards. */
#include "paths/path_tree.h"

#include <string.h>

#include "base/large.h"
#include "base/map64.h"

/* ---- growing ----------------------------------------------------------------------------- */

enum { NEAR_CHILDREN = 8 }; /* of a node, searched one by one; most nodes have one or two */

typedef struct growing {
    path_tree *tree;
    VEC(uint32_t) parents;  /* by node, with the root first and parents before children */
    VEC(uint32_t) places;   /* by node */
    VEC(uint32_t) firsts;   /* by node: its first child; root: none */
    VEC(uint32_t) siblings; /* by node: the next near child of its parent; root: none */
    map64 others;           /* (parent, place) → node, for children that are not near */
} growing;

static bool add_node(growing *g, uint32_t parent, uint32_t place) {
    return vec_push(&g->parents, parent) && vec_push(&g->places, place) &&
           vec_push(&g->firsts, PATH_ROOT) && vec_push(&g->siblings, PATH_ROOT);
}

static bool go_far(growing *g, uint32_t parent, uint32_t place, uint32_t *child) {
    uint32_t *slot = map64_put(&g->others, (uint64_t)parent << 32 | place);
    if (!slot)
        return false;
    const bool is_new = *slot == MAP64_NONE;
    if (is_new)
        *slot = (uint32_t)g->places.count;
    *child = *slot;
    return !is_new || add_node(g, parent, place);
}

/* Finds the child of `parent` for a place, or adds it. */
static bool go(growing *g, uint32_t parent, uint32_t place, uint32_t *child) {
    uint32_t *link = &g->firsts.items[parent];
    for (int i = 0; i < NEAR_CHILDREN; i++) {
        if (*link == PATH_ROOT) {
            *child = *link = (uint32_t)g->places.count;
            return add_node(g, parent, place);
        }
        if (g->places.items[*link] == place) {
            *child = *link;
            return true;
        }
        link = &g->siblings.items[*link];
    }
    return go_far(g, parent, place, child);
}

static bool begin(growing *g, const profile *names, const place_table *of) {
    *g = (growing){.tree = calloc(1, sizeof *g->tree)};
    if (!g->tree)
        return false;
    g->tree->names = names;
    g->tree->places = of;
    return add_node(g, PATH_ROOT, PATH_NOWHERE);
}

/* Makes the map from a source of `n` nodes, with room for one more. */
static uint32_t *map_from(growing *g, unsigned side, size_t n) {
    g->tree->n_of[side] = n;
    return g->tree->of[side] = calloc(n + 1, sizeof *g->tree->of[side]);
}

/* ---- the order of nodes ------------------------------------------------------------------ */

/* Computes in `to` where each node goes in preorder, so that nodes that are read together are
 * adjacent. On entry, nodes only come after their parents. There may be many nodes, so this uses
 * existing arrays; `ends` is scratch memory. */
static void number_nodes(const uint32_t *parents, size_t n, uint32_t *ends, uint32_t *to) {
    uint32_t *sizes = to; /* until all ends are known */
    for (size_t i = 0; i < n; i++)
        sizes[i] = 1;
    for (size_t i = n; i-- > 1;)
        sizes[parents[i]] += sizes[i];
    ends[PATH_ROOT] = 1;
    for (size_t i = 1; i < n; i++) { /* `ends`: the end so far of what is below the parent */
        uint32_t *end = &ends[parents[i]];
        ends[i] = *end + 1;
        *end += sizes[i];
    }
    for (size_t i = 0; i < n; i++)
        to[i] = ends[i] - sizes[i];
}

static void move_maps(const path_tree *t, const uint32_t *to) {
    for (unsigned side = 0; side < PATH_SIDES; side++)
        for (size_t i = 0; i < t->n_of[side]; i++)
            if (t->of[side][i] != PATH_NOWHERE)
                t->of[side][i] = to[t->of[side][i]];
}

/* Moves one column after the other, each to an array that is no longer needed. */
static void move_columns(growing *g) {
    const uint32_t *to = g->firsts.items;
    for (size_t i = 0; i < g->parents.count; i++)
        g->siblings.items[to[i]] = to[g->parents.items[i]];
    for (size_t i = 0; i < g->places.count; i++)
        g->parents.items[to[i]] = g->places.items[i];
    vec_free(&g->firsts);
    vec_free(&g->places);
}

static bool order_nodes(growing *g) {
    path_tree *t = g->tree;
    t->n = g->parents.count;
    number_nodes(g->parents.items, t->n, g->siblings.items, g->firsts.items);
    move_maps(t, g->firsts.items);
    move_columns(g);
    t->nodes = malloc(t->n * sizeof *t->nodes);
    for (size_t i = 0; t->nodes && i < t->n; i++)
        t->nodes[i] = (path_node){.parent = g->siblings.items[i], .place = g->parents.items[i]};
    return t->nodes;
}

/* The last node below a node is the last one below its last child. */
static bool find_ends(path_tree *t) {
    t->ends = large_zeroed(t->n, sizeof *t->ends);
    for (uint32_t i = (uint32_t)t->n; t->ends && i-- > 0;) {
        uint32_t *of_parent = &t->ends[t->nodes[i].parent];
        if (t->ends[i] == 0)
            t->ends[i] = i + 1;
        if (*of_parent == 0)
            *of_parent = t->ends[i];
    }
    return t->ends;
}

/* Returns the tree if all went well, else NULL. */
static path_tree *end(growing *g, bool ok) {
    map64_free(&g->others);
    ok = ok && order_nodes(g);
    vec_free(&g->parents);
    vec_free(&g->places);
    vec_free(&g->firsts);
    vec_free(&g->siblings);
    if (ok && find_ends(g->tree))
        return g->tree;
    path_tree_free(g->tree);
    return NULL;
}

/* ---- what a lens sees -------------------------------------------------------------------- */

/* Nodes of the profile's tree that are one node here. */
typedef struct seen_group {
    uint32_t place, parent; /* of the node to be made */
    uint32_t first;         /* its first member, the others by `seeing.next`; CCT_ROOT: none */
    uint32_t least;         /* the member that comes first in the profile's tree */
} seen_group;

typedef struct seeing {
    const lens *lens;
    const cct *from;
    path_tree *tree;
    VEC(path_node) nodes;
    VEC(seen_group) groups; /* a stack of groups that are to become nodes, the next one last */
    VEC(uint32_t) entered;  /* nodes of the profile's tree whose frames come next */
    uint32_t *chains;       /* by node of it: the first chain that begins below it; root: none */
    uint32_t *next;         /* by node of it: the next member of its group */
    uint32_t *group_of;     /* by place: 1 + its index among the new groups */
    /* By node of it, `tree->of[0]`: in the end, its node here. Before that, the location in its
     * frame that its group is at. Before that, for the first node of a chain, the next chain below
     * its parent. */
    uint32_t *of;
} seeing;

static void link_chains(const seeing *s) {
    const cct *tree = s->from;
    size_t chain = tree->parents.count;
    for (uint32_t i = (uint32_t)cct_count(tree); i-- > 1;) {
        if (!(tree->frames.items[i] & CCT_FIRST))
            continue;
        uint32_t *first = &s->chains[tree->parents.items[--chain]];
        s->of[i] = *first;
        *first = i;
    }
}

static bool enter_below(seeing *s, uint32_t node) {
    const cct *tree = s->from;
    const uint32_t inner = node + 1;
    if (inner < cct_count(tree) && !(tree->frames.items[inner] & CCT_FIRST) &&
        !vec_push(&s->entered, inner))
        return false;
    for (uint32_t i = s->chains[node]; i != CCT_ROOT; i = s->of[i])
        if (!vec_push(&s->entered, i))
            return false;
    return true;
}

static bool join_group(seeing *s, size_t first, uint32_t place, uint32_t node, uint32_t location) {
    uint32_t *known = &s->group_of[place];
    if (!*known) {
        const seen_group new = {
            .place = place, .parent = (uint32_t)s->nodes.count - 1, .least = node};
        if (!vec_push(&s->groups, new))
            return false;
        *known = (uint32_t)(s->groups.count - first);
    }
    seen_group *g = &s->groups.items[first + *known - 1];
    s->of[node] = location;
    s->next[node] = g->first;
    g->first = node;
    g->least = node < g->least ? node : g->least;
    return true;
}

/* Goes on to the next visible location of the node's frame, from `location` on, or to what is
 * below. */
static bool go_on(seeing *s, size_t first, uint32_t node, uint32_t location) {
    const profile_frame *f = &s->lens->profile->frames.items[cct_frame(s->from, node)];
    while (location < f->first + f->n && lens_hides(s->lens, location))
        location++;
    if (location < f->first + f->n)
        return join_group(s, first, s->tree->places->of_location[location], node, location);
    s->of[node] = (uint32_t)s->nodes.count - 1;
    return enter_below(s, node);
}

static bool go_on_below(seeing *s, size_t first) {
    while (s->entered.count) {
        const uint32_t node = s->entered.items[--s->entered.count];
        const uint32_t frame = cct_frame(s->from, node);
        if (!go_on(s, first, node, s->lens->profile->frames.items[frame].first))
            return false;
    }
    return true;
}

/* The stack is last in, first out, so the last one comes first. */
static int compare_seen(const void *a, const void *b) {
    const seen_group *x = a, *y = b;
    return (x->least < y->least) - (x->least > y->least);
}

/* Sorts the groups from `first` on, whose parent node has been made. */
static void order_groups(seeing *s, size_t first) {
    const size_t n = s->groups.count - first;
    seen_group *all = n ? s->groups.items + first : NULL;
    bool ordered = true;
    for (size_t i = 0; i < n; i++) {
        s->group_of[all[i].place] = 0;
        ordered &= i == 0 || all[i - 1].least > all[i].least;
    }
    if (!ordered)
        qsort(all, n, sizeof *all, compare_seen);
}

/* Makes the last group a node, and what is below it groups. */
static bool see_group(seeing *s) {
    const seen_group g = s->groups.items[--s->groups.count];
    const size_t first = s->groups.count;
    if (!vec_push(&s->nodes, ((path_node){.parent = g.parent, .place = g.place})))
        return false;
    for (uint32_t node = g.first, next; node != CCT_ROOT; node = next) {
        next = s->next[node];
        if (!go_on(s, first, node, s->of[node] + 1) || !go_on_below(s, first))
            return false;
    }
    order_groups(s, first);
    return true;
}

static bool see_all(seeing *s) {
    const path_node root = {.parent = PATH_ROOT, .place = PATH_NOWHERE};
    if (!vec_push(&s->nodes, root))
        return false;
    if (cct_count(s->from) == 0)
        return true;
    link_chains(s);
    if (!enter_below(s, CCT_ROOT) || !go_on_below(s, 0))
        return false;
    order_groups(s, 0);
    while (s->groups.count)
        if (!see_group(s))
            return false;
    return true;
}

static bool take_nodes(seeing *s) {
    path_tree *t = s->tree;
    t->n = s->nodes.count;
    t->nodes = realloc(s->nodes.items, t->n * sizeof *t->nodes);
    if (!t->nodes)
        return false;
    s->nodes.items = NULL;
    return find_ends(t);
}

static bool seeing_init(seeing *s, place_by by) {
    const profile *p = s->lens->profile;
    path_tree *t = s->tree;
    const size_t n = cct_count(&p->tree) + 1;
    t->names = p;
    t->places = &t->own_places;
    t->n_of[0] = n - 1;
    s->of = t->of[0] = large_zeroed(n, sizeof *s->of);
    s->chains = large_zeroed(n, sizeof *s->chains);
    s->next = large_new(n, sizeof *s->next);
    s->group_of = calloc(p->locations.count + 1, sizeof *s->group_of);
    return s->of && s->chains && s->next && s->group_of &&
           place_table_make(&t->own_places, p->locations.items, p->locations.count, by);
}

static bool number_places(growing *g, place_by by) {
    path_tree *t = g->tree;
    t->places = &t->own_places;
    return place_table_make(&t->own_places, t->names->locations.items, t->names->locations.count,
                            by);
}

/* Returns the nodes of a shape that stacks pass. NULL when there is no memory. */
static uint8_t *pass_shape(const stack_shape *s) {
    uint8_t *passed = calloc(s->n + 1, 1);
    for (size_t i = 0; passed && i < s->n_of; i++)
        if (s->of[i] != SHAPE_NOWHERE)
            passed[s->of[i]] = 1;
    for (size_t i = s->n; passed && i-- > 1;)
        if (passed[i])
            passed[s->parents[i]] = 1;
    return passed;
}

/* Grows a tree from stacks that are cut or folded. Stacks that are dropped have no blocks, because
 * the filter does not keep these. */
static bool grow_shaped(growing *g, const stack_shape *s) {
    uint32_t *of = map_from(g, 0, s->n_of), *to = calloc(s->n + 1, sizeof *to);
    uint8_t *passed = pass_shape(s);
    bool ok = of && to && passed;
    for (size_t i = 1; ok && i < s->n; i++)
        if (passed[i])
            ok = go(g, to[s->parents[i]], g->tree->places->of_location[s->locations[i]], &to[i]);
    for (size_t i = 0; ok && i < s->n_of; i++)
        of[i] = s->of[i] == SHAPE_NOWHERE ? PATH_ROOT : to[s->of[i]];
    free(to);
    free(passed);
    return ok;
}

static path_tree *see_shaped(const lens *l, place_by by) {
    growing g;
    const bool ok =
        begin(&g, l->profile, NULL) && number_places(&g, by) && grow_shaped(&g, l->shape);
    return end(&g, ok);
}

static path_tree *see_whole(const lens *l, place_by by) {
    seeing s = {.lens = l, .from = &l->profile->tree, .tree = calloc(1, sizeof *s.tree)};
    bool ok = s.tree && seeing_init(&s, by) && see_all(&s);
    free(s.chains);
    free(s.next);
    free(s.group_of);
    vec_free(&s.groups);
    vec_free(&s.entered);
    ok = ok && take_nodes(&s);
    vec_free(&s.nodes);
    if (ok)
        return s.tree;
    path_tree_free(s.tree);
    return NULL;
}

/* Keeps only the nodes of stacks in the map; others are never asked for. */
static void keep_stacks(path_tree *t, const cct *from) {
    uint32_t *of = t->of[0];
    size_t n = 0;
    for (uint32_t node = 0; node < t->n_of[0]; node++)
        if (bits_has(from->stacks, node))
            of[n++] = of[node];
    of[n] = PATH_ROOT;
    uint32_t *smaller = realloc(of, (n + 1) * sizeof *of);
    t->of[0] = smaller ? smaller : of;
    t->n_of[0] = n;
    t->is_of_stacks = true;
}

path_tree *path_tree_see(const lens *l, place_by by) {
    path_tree *t = l->shape ? see_shaped(l, by) : see_whole(l, by);
    if (t)
        keep_stacks(t, &l->profile->tree);
    return t;
}

uint32_t path_tree_site(const path_tree *t, unsigned side, const lens *l, const cost_entry *e) {
    uint32_t node = path_tree_end_of(t, side, &l->profile->tree, e->node), wrapper;
    const lens_cursor site = lens_site(l, e->node, true, &wrapper);
    lens_cursor at = lens_innermost(l, e->node);
    for (; at.location != site.location || at.node != site.node; at = lens_outward(l, at))
        node = t->nodes[node].parent;
    return node;
}

/* ---- two trees --------------------------------------------------------------------------- */

static bool add_names(profile *names, const profile *from) {
    for (size_t i = 0; i < from->locations.count; i++) {
        const profile_location *l = &from->locations.items[i];
        const profile_location copy = {
            .function = intern(&names->strings, l->function, strlen(l->function)),
            .file = intern(&names->strings, l->file, strlen(l->file)),
            .line = l->line};
        if (!copy.function || !copy.file || !vec_push(&names->locations, copy))
            return false;
    }
    return true;
}

/* `first` is the number of its first location. */
static bool grow_joined(growing *g, unsigned side, const path_tree *from, size_t first) {
    const uint32_t *place_of = g->tree->places->of_location + first;
    uint32_t *of = map_from(g, side, from->n);
    for (size_t i = 1; of && i < from->n; i++) {
        const path_node *node = &from->nodes[i];
        const uint32_t location = from->places->locations.items[node->place];
        if (!go(g, of[node->parent], place_of[location], &of[i]))
            return false;
    }
    return of;
}

/* Turns the map from a tree of stacks into one from these stacks. */
static bool map_stacks(path_tree *t, unsigned side, const path_tree *from) {
    const size_t n = from->n_of[0];
    uint32_t *ends = large_new(n + 1, sizeof *ends);
    for (size_t i = 0; ends && i <= n; i++)
        ends[i] = t->of[side][from->of[0][i]];
    if (!ends)
        return false;
    free(t->of[side]);
    t->of[side] = ends;
    t->n_of[side] = n;
    return t->is_of_stacks = true;
}

path_tree *path_tree_join(const path_tree *const of[PATH_SIDES], place_by by) {
    growing g;
    bool ok = begin(&g, NULL, NULL);
    if (ok)
        g.tree->names = &g.tree->own_names;
    ok = ok && add_names(&g.tree->own_names, of[0]->names) &&
         add_names(&g.tree->own_names, of[1]->names) && number_places(&g, by) &&
         grow_joined(&g, 0, of[0], 0) && map_stacks(g.tree, 0, of[0]) &&
         grow_joined(&g, 1, of[1], of[0]->names->locations.count) && map_stacks(g.tree, 1, of[1]);
    return end(&g, ok);
}

/* ---- collapsed recursion ----------------------------------------------------------------- */

/* A node of the source tree on the path to the current one, and the depth of its node in the
 * collapsed tree. */
typedef struct trail_step {
    uint32_t node, depth;
} trail_step;

/* The path to the current node of the growing tree, on which each place occurs once. */
typedef struct trail {
    uint32_t *nodes;       /* by depth, from 1 on */
    uint32_t *places;      /* by place: the depth at which it was last put on a path */
    VEC(trail_step) steps; /* the source is in preorder */
    uint32_t depth;
} trail;

static bool trail_init(trail *t, const path_tree *of) {
    *t = (trail){.nodes = malloc((of->n + 1) * sizeof *t->nodes),
                 .places = calloc(of->places->locations.count + 1, sizeof *t->places)};
    return t->nodes && t->places && vec_push(&t->steps, ((trail_step){.node = PATH_ROOT}));
}

static void trail_free(trail *t) {
    free(t->nodes);
    free(t->places);
    vec_free(&t->steps);
}

/* Puts `node`, at that depth, and what is outward of it on the path, until that is the same as
 * before. */
static void trail_follow(trail *t, const growing *g, uint32_t node, uint32_t depth) {
    for (uint32_t i = node, d = depth; d > 0; i = g->parents.items[i], d--) {
        if (d <= t->depth && t->nodes[d] == i)
            break;
        t->nodes[d] = i;
        t->places[g->places.items[i]] = d;
    }
    t->depth = depth;
}

/* Goes back to the parent of the next node, and returns the depth of its node. */
static uint32_t trail_go_back(trail *t, uint32_t parent) {
    while (t->steps.items[t->steps.count - 1].node != parent)
        t->steps.count--;
    return t->steps.items[t->steps.count - 1].depth;
}

/* Finds the node on the path that has the place, or goes to a new one. `*depth` becomes its
 * depth. */
static bool go_collapsed(growing *g, trail *t, uint32_t parent, uint32_t place, uint32_t *child,
                         uint32_t *depth) {
    trail_follow(t, g, parent, *depth);
    const uint32_t known = t->places[place];
    if (known > 0 && known <= t->depth && g->places.items[t->nodes[known]] == place) {
        *child = t->nodes[known];
        *depth = known;
        return true;
    }
    ++*depth;
    return go(g, parent, place, child);
}

static bool grow_collapsed(growing *g, trail *t, const path_tree *of, const uint32_t *focus) {
    uint32_t *to = map_from(g, 0, of->n);
    if (!to)
        return false;
    to[PATH_ROOT] = focus ? PATH_NOWHERE : PATH_ROOT;
    for (uint32_t i = 1; i < of->n; i++) {
        const path_node *node = &of->nodes[i];
        uint32_t depth = trail_go_back(t, node->parent);
        if (focus && focus[node->parent] == PATH_ROOT)
            to[i] = focus[i] == PATH_ROOT ? PATH_NOWHERE : PATH_ROOT;
        else if (!go_collapsed(g, t, to[node->parent], node->place, &to[i], &depth))
            return false;
        if (!vec_push(&t->steps, ((trail_step){.node = i, .depth = depth})))
            return false;
    }
    return true;
}

path_tree *path_tree_collapse(const path_tree *of, const uint32_t *focus) {
    growing g;
    trail t = {0};
    const bool ok =
        begin(&g, NULL, NULL) && trail_init(&t, of) && grow_collapsed(&g, &t, of, focus);
    trail_free(&t);
    return end(&g, ok);
}

bool path_tree_stand_alone(path_tree *t, const path_tree *of, place_by by) {
    if (!place_table_make(&t->own_places, of->names->locations.items, of->names->locations.count,
                          by) ||
        !map_stacks(t, 0, of))
        return false;
    t->names = of->names;
    t->places = &t->own_places;
    return true;
}

uint32_t *path_tree_exits(const path_tree *t) {
    uint32_t *exits = calloc(t->n, sizeof *exits);
    uint32_t *last = calloc(t->places->locations.count + 1, sizeof *last); /* by place */
    for (uint32_t i = 1; exits && last && i < t->n; i++) {
        uint32_t *outermost = &last[t->nodes[i].place];
        if (i >= t->ends[*outermost] || *outermost == PATH_ROOT)
            *outermost = i;
        exits[i] = t->nodes[*outermost].parent;
    }
    if (!last) {
        free(exits);
        exits = NULL;
    }
    free(last);
    return exits;
}

/* ---- the focus --------------------------------------------------------------------------- */

/* Returns, for places × steps of the focus, whether the place matches the step. */
static uint8_t *match_places(const path_tree *t, const call_site *focus) {
    const size_t n = t->places->locations.count, steps = call_site_steps(focus);
    uint8_t *matches = malloc(n * steps + 1);
    for (uint32_t i = 0; matches && i < n; i++)
        for (size_t step = 0; step < steps; step++)
            matches[i * steps + step] =
                call_site_match_place(focus, step, path_tree_location(t, i));
    return matches;
}

/* Whether the path to a node ends with the focus. */
static bool ends_focus(const path_tree *t, const uint8_t *matches, size_t steps, uint32_t node) {
    for (size_t step = steps; step-- > 0; node = t->nodes[node].parent)
        if (node == PATH_ROOT || !matches[t->nodes[node].place * steps + step])
            return false;
    return true;
}

uint32_t *path_tree_focus(const path_tree *t, const call_site *focus) {
    const size_t steps = call_site_steps(focus);
    uint32_t *ends = calloc(t->n, sizeof *ends);
    uint8_t *matches = match_places(t, focus);
    for (uint32_t i = 1; ends && matches && i < t->n; i++)
        ends[i] = ends_focus(t, matches, steps, i) ? i : ends[t->nodes[i].parent];
    if (!matches) {
        free(ends);
        ends = NULL;
    }
    free(matches);
    return ends;
}

/* ---- paths ------------------------------------------------------------------------------- */

bool path_tree_walk(const path_tree *t, uint32_t node, path_places *places) {
    vec_clear(places);
    for (; node != PATH_ROOT; node = t->nodes[node].parent)
        if (!vec_push(places, t->nodes[node].place))
            return false;
    for (size_t i = 0, j = places->count; i + 1 < j; i++) {
        const uint32_t outer = places->items[--j];
        places->items[j] = places->items[i];
        places->items[i] = outer;
    }
    return true;
}

uint64_t *path_tree_lengths(const path_tree *t, const size_t *ends) {
    uint64_t *lengths = calloc(t->n, sizeof *lengths);
    for (size_t i = 1; lengths && i < t->n; i++) {
        const path_node *n = &t->nodes[i];
        const size_t first = n->place ? ends[n->place - 1] : 0;
        lengths[i] = lengths[n->parent] + ends[n->place] - first;
    }
    return lengths;
}

/* ---- memory ------------------------------------------------------------------------------ */

size_t path_tree_size(const path_tree *t) {
    const profile *names = &t->own_names;
    return sizeof *t + t->n * (sizeof *t->nodes + sizeof *t->ends) +
           (t->n_of[0] + t->n_of[1]) * sizeof *t->of[0] +
           t->own_places.locations.capacity * sizeof(uint32_t) +
           names->locations.capacity * (sizeof *names->locations.items + sizeof(uint32_t));
}

void path_tree_free(path_tree *t) {
    if (!t)
        return;
    place_table_free(&t->own_places);
    profile_free(&t->own_names);
    free(t->nodes);
    free(t->ends);
    for (unsigned side = 0; side < PATH_SIDES; side++)
        free(t->of[side]);
    free(t);
}
