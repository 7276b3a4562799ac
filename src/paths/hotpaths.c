/* hotpaths.c: fragments that end in sites are found from groups of stacks with the same innermost
 * frames. A group is split by the next frame outward as long as it is large enough for a fragment.
 * Fragments from the outside are nodes of the view's tree; a walk from the last node to the first
 * visits a node after all below it. In both, the rest of a node is what no longer fragment has
 * taken. */
#include "paths/hotpaths.h"

#include "base/large.h"
#include "paths/functions.h"

#define NOBODY 0u /* no stack; stacks are numbered from 1 on, in the order of their nodes */

/* A list of stacks, linked by `search.next`. */
typedef struct stacks {
    uint32_t first, last; /* NOBODY: none */
    cost cost;
} stacks;

/* Stacks whose next frame outward is the same. */
typedef struct group {
    uint32_t place, least; /* `least`: the smallest number of its stacks */
    stacks stacks;
} group;

/* A fragment that ends in a site. */
typedef struct site_end {
    uint32_t least, n;
    uint32_t places[HOTPATHS_FRAMES]; /* innermost first */
    cost cost;
} site_end;

typedef struct search {
    const path_tree *base; /* has the places */
    const path_tree *tree;
    const path_sums *sums;
    hotpaths *result;
    uint8_t *is_trunk;  /* by place */
    double least;       /* weight of a fragment */
    uint32_t *nodes;    /* by stack */
    uint32_t *next;     /* by stack */
    uint32_t *at;       /* by stack: the frame outward of those that its group has in common */
    uint8_t *taken;     /* by stack: it is in a fragment */
    uint32_t *group_of; /* by place: 1 + its index among the new groups */
    VEC(group) groups;  /* a stack */
    VEC(site_end) ends;
    uint32_t path[HOTPATHS_FRAMES]; /* places of the group that is being split, innermost first */
} search;

static uint32_t parent_of(const search *s, uint32_t node) {
    return s->tree->nodes[node].parent;
}

static uint32_t place_of(const search *s, uint32_t node) {
    return s->tree->nodes[node].place;
}

static bool is_trunk(const search *s, uint32_t node) {
    return node == PATH_ROOT || s->is_trunk[place_of(s, node)];
}

static bool find_trunk(search *s, const callpaths *v) {
    const double half = path_sums_all(s->sums, s->tree, PATH_ROOT).weight / 2;
    const profile_location *locations = s->base->names->locations.items;
    functions_list all;
    s->is_trunk = calloc(s->base->places->locations.count + 1, 1);
    if (!s->is_trunk || !functions_query(v, &all))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const functions_entry *e = &all.items[i];
        if (e->total.weight > half && e->self.weight < s->least)
            s->is_trunk[s->base->places->of_location[e->place - locations]] = 1;
    }
    vec_free(&all);
    return true;
}

/* ---- fragments that end in sites --------------------------------------------------------- */

static void append(search *s, stacks *to, const stacks *more) {
    if (more->first == NOBODY)
        return;
    if (to->first == NOBODY)
        to->first = more->first;
    else
        s->next[to->last] = more->first;
    to->last = more->last;
    cost_add(&to->cost, &more->cost);
}

static void add_stack(search *s, stacks *to, uint32_t stack) {
    const stacks one = {
        .first = stack, .last = stack, .cost = path_sums_own(s->sums, s->nodes[stack])};
    s->next[stack] = NOBODY;
    append(s, to, &one);
}

/* Returns the group of a place among those from `first` on, or adds it. */
static group *find_group(search *s, size_t first, uint32_t place, uint32_t stack) {
    uint32_t *known = &s->group_of[place];
    if (!*known) {
        if (!vec_push(&s->groups, ((group){.place = place, .least = stack})))
            return NULL;
        *known = (uint32_t)(s->groups.count - first);
    }
    return &s->groups.items[first + *known - 1];
}

/* Pushes the groups into which stacks split by their next frame; stacks without one remain. */
static bool split(search *s, stacks *of) {
    const size_t first = s->groups.count;
    stacks stay = {.first = NOBODY};
    bool ok = true;
    for (uint32_t stack = of->first, next; ok && stack != NOBODY; stack = next) {
        next = s->next[stack];
        group *g = NULL;
        if (!is_trunk(s, s->at[stack])) {
            g = find_group(s, first, place_of(s, s->at[stack]), stack);
            ok = g;
            s->at[stack] = parent_of(s, s->at[stack]);
        }
        add_stack(s, g ? &g->stacks : &stay, stack);
        if (g && stack < g->least)
            g->least = stack;
    }
    for (size_t i = first; i < s->groups.count; i++)
        s->group_of[s->groups.items[i].place] = 0;
    *of = stay;
    return ok;
}

static bool take(search *s, const group *g, uint32_t n_frames) {
    site_end end = {.least = g->least, .n = n_frames, .cost = g->stacks.cost};
    for (uint32_t i = 0; i < n_frames; i++)
        end.places[i] = s->path[i];
    for (uint32_t stack = g->stacks.first; stack != NOBODY; stack = s->next[stack])
        s->taken[stack] = true;
    return vec_push(&s->ends, end);
}

/* Leaves in a group what no fragment takes. The recursion is at most HOTPATHS_FRAMES deep. */
static bool take_apart(search *s, group *g, uint32_t n_frames) {
    const size_t first = s->groups.count;
    if (n_frames < HOTPATHS_FRAMES && !split(s, &g->stacks))
        return false;
    for (size_t i = first; i < s->groups.count; i++) {
        group inner = s->groups.items[i];
        if (inner.stacks.cost.weight >= s->least) {
            s->path[n_frames] = inner.place;
            if (!take_apart(s, &inner, n_frames + 1))
                return false;
        }
        append(s, &g->stacks, &inner.stacks);
    }
    s->groups.count = first;
    if (n_frames == 0 || g->stacks.first == NOBODY || g->stacks.cost.weight < s->least)
        return true;
    if (!take(s, g, n_frames))
        return false;
    g->stacks = (stacks){.first = NOBODY};
    return true;
}

/* Adds a fragment; its frames are written outermost first. */
static bool add_end(search *s, const site_end *e) {
    hotpaths *h = s->result;
    const hotpaths_fragment f = {
        .first = (uint32_t)h->frames.count, .n = e->n, .cost = e->cost, .ends_in_site = true};
    for (uint32_t i = e->n; i-- > 0;)
        if (!vec_push(&h->frames, path_tree_location(s->base, e->places[i])))
            return false;
    return vec_push(&h->fragments, f);
}

/* The order of fragments of equal size. */
static int compare_ends(const void *a, const void *b) {
    const site_end *x = a, *y = b;
    return x->least != y->least ? (x->least < y->least) - (x->least > y->least)
                                : (x->n < y->n) - (x->n > y->n);
}

/* Counts stacks, without that of the root, which has no frame. */
static uint32_t count_stacks(const search *s, path_any any) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < s->tree->n; i++)
        n += path_any_at(any, i);
    return n;
}

static bool take_ends(search *s) {
    const path_any any = path_sums_any(s->sums, s->sums->own);
    const uint32_t n = count_stacks(s, any);
    group all = {.stacks = {.first = NOBODY}};
    s->nodes = large_new(n + 1, sizeof *s->nodes);
    s->next = large_new(n + 1, sizeof *s->next);
    s->at = large_new(n + 1, sizeof *s->at);
    s->taken = calloc(n + 1, sizeof *s->taken);
    s->group_of = calloc(s->base->places->locations.count + 1, sizeof *s->group_of);
    if (!s->nodes || !s->next || !s->at || !s->taken || !s->group_of)
        return false;
    for (uint32_t i = 1, stack = 1; i < s->tree->n; i++)
        if (path_any_at(any, i)) {
            s->nodes[stack] = s->at[stack] = i;
            add_stack(s, &all.stacks, stack++);
        }
    bool ok = take_apart(s, &all, 0);
    if (s->ends.count)
        qsort(s->ends.items, s->ends.count, sizeof *s->ends.items, compare_ends);
    for (size_t i = 0; ok && i < s->ends.count; i++)
        ok = add_end(s, &s->ends.items[i]);
    return ok;
}

/* ---- fragments from the outside ---------------------------------------------------------- */

/* Adds a fragment whose innermost frame is `node`. */
static bool add_inner(search *s, uint32_t node, const cost *left) {
    hotpaths *h = s->result;
    hotpaths_fragment f = {.first = (uint32_t)h->frames.count, .cost = *left};
    for (uint32_t at = node; !is_trunk(s, at); at = parent_of(s, at))
        f.n++;
    if (!vec_reserve(&h->frames, f.n))
        return false;
    h->frames.count += f.n;
    for (uint32_t i = f.n; i-- > 0; node = parent_of(s, node))
        h->frames.items[f.first + i] = path_tree_location(s->base, place_of(s, node));
    return vec_push(&h->fragments, f);
}

/* What was left by nodes below `node`, which is visited later. Such nodes are all on one path, with
 * the innermost last. */
typedef struct pending {
    uint32_t node;
    cost left;
} pending;

typedef VEC(pending) pending_path;

static bool leave_to(pending_path *path, uint32_t node, const cost *left) {
    if (path->count && path->items[path->count - 1].node == node) {
        cost_add(&path->items[path->count - 1].left, left);
        return true;
    }
    return left->blocks == 0 || vec_push(path, ((pending){.node = node, .left = *left}));
}

static bool take_rest(search *s) {
    const path_any any = path_sums_any(s->sums, s->sums->own);
    pending_path path = {0};
    uint32_t stack = count_stacks(s, any);
    bool ok = true;
    for (uint32_t i = (uint32_t)s->tree->n; ok && i-- > 1;) {
        cost left = {0};
        if (path_any_at(any, i) && !s->taken[stack--])
            left = path_sums_own(s->sums, i);
        if (path.count && path.items[path.count - 1].node == i)
            cost_add(&left, &path.items[--path.count].left);
        if (left.blocks == 0 || left.weight < s->least || is_trunk(s, i))
            ok = leave_to(&path, parent_of(s, i), &left);
        else
            ok = add_inner(s, i, &left);
    }
    vec_free(&path);
    return ok;
}

/* ---- the result -------------------------------------------------------------------------- */

static int compare_fragments(const void *a, const void *b) {
    const hotpaths_fragment *x = a, *y = b;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

static bool find_all(search *s, const callpaths *v) {
    return find_trunk(s, v) && take_ends(s) && take_rest(s);
}

bool hotpaths_query(const callpaths *v, double share, hotpaths *result) {
    const double all = path_sums_all(v->sums, callpaths_tree(v), PATH_ROOT).weight;
    search s = {.base = callpaths_base(v),
                .tree = callpaths_tree(v),
                .sums = v->sums,
                .result = result,
                .least = share * all};
    *result = (hotpaths){0};
    const bool ok = all <= 0 || find_all(&s, v);
    if (ok && result->fragments.count)
        qsort(result->fragments.items, result->fragments.count, sizeof *result->fragments.items,
              compare_fragments);
    free(s.is_trunk);
    free(s.nodes);
    free(s.next);
    free(s.at);
    free(s.taken);
    free(s.group_of);
    vec_free(&s.groups);
    vec_free(&s.ends);
    if (!ok)
        hotpaths_free(result);
    return ok;
}

void hotpaths_free(hotpaths *h) {
    vec_free(&h->fragments);
    vec_free(&h->frames);
}
