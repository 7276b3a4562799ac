/* hotpaths.c: see hotpaths.h. The fragments that end in sites are nodes of a tree of reversed
 * stacks, which is made here; those from the outside are nodes of the view's tree itself. In both,
 * a walk from the last node to the first sees each node after all below it: what is left of a node
 * when its turn comes, no fragment below has taken. */
#include "paths/hotpaths.h"

#include "base/map64.h"
#include "paths/functions.h"

#define NOBODY 0u /* the root is never taken */

/* A node of the reversed stacks. */
typedef struct reversed {
    uint32_t parent;
    uint32_t place;
    cost left;
} reversed;

typedef struct search {
    const path_tree *base; /* whose places they are */
    const path_tree *tree;
    const path_sums *sums;
    hotpaths *result;
    uint8_t *is_trunk; /* by place */
    double least;      /* weight of a fragment */
    VEC(reversed) ends;
    map64 children;   /* (parent, place) → node in `ends` */
    uint32_t *end_of; /* by node of the tree: the node in `ends` that stands for its own costs */
    uint32_t
        *taker; /* by node in `ends`: the taken node that is, or is outward of, it; or NOBODY */
    cost *left; /* by node of the tree */
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
    const double half = path_sums_all(s->sums, PATH_ROOT).weight / 2;
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

static bool go_outward(search *s, uint32_t *at, uint32_t place) {
    uint32_t *child = map64_put(&s->children, (uint64_t)*at << 32 | place);
    if (!child)
        return false;
    if (*child == MAP64_NONE) {
        *child = (uint32_t)s->ends.count;
        if (!vec_push(&s->ends, ((reversed){.parent = *at, .place = place})))
            return false;
    }
    *at = *child;
    return true;
}

static bool reverse_stack(search *s, uint32_t node) {
    const cost self = path_sums_own(s->sums, node);
    uint32_t at = 0, end = node;
    for (int n = 0; n < HOTPATHS_FRAMES && !is_trunk(s, node); n++, node = parent_of(s, node))
        if (!go_outward(s, &at, place_of(s, node)))
            return false;
    s->end_of[end] = at;
    cost_add(&s->ends.items[at].left, &self);
    return true;
}

static bool reverse_stacks(search *s) {
    const path_any any = path_sums_any(s->sums, s->sums->own);
    size_t n = s->tree->n;
    s->end_of = calloc(n, sizeof *s->end_of);
    if (!s->end_of || !vec_push(&s->ends, (reversed){0}))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (path_any_at(any, i) && !reverse_stack(s, i))
            return false;
    return true;
}

/* A node is the outermost frame of its fragment, its parent the next one inward. */
static bool add_end(search *s, uint32_t node) {
    hotpaths *h = s->result;
    hotpaths_fragment f = {
        .first = (uint32_t)h->frames.count, .cost = s->ends.items[node].left, .ends_in_site = true};
    for (uint32_t at = node; at != 0; at = s->ends.items[at].parent, f.n++)
        if (!vec_push(&h->frames, path_tree_location(s->base, s->ends.items[at].place)))
            return false;
    return vec_push(&h->fragments, f);
}

static bool take_ends(search *s) {
    s->taker = calloc(s->ends.count, sizeof *s->taker);
    if (!s->taker)
        return false;
    for (uint32_t i = (uint32_t)s->ends.count; i-- > 1;) {
        reversed *r = &s->ends.items[i];
        if (r->left.blocks && r->left.weight >= s->least) {
            s->taker[i] = i;
            if (!add_end(s, i))
                return false;
        } else {
            cost_add(&s->ends.items[r->parent].left, &r->left);
        }
    }
    for (uint32_t i = 1; i < s->ends.count; i++)
        if (s->taker[i] == NOBODY)
            s->taker[i] = s->taker[s->ends.items[i].parent];
    return true;
}

/* ---- fragments from the outside ---------------------------------------------------------- */

/* Here a node is the innermost frame. */
static bool add_inner(search *s, uint32_t node) {
    hotpaths *h = s->result;
    hotpaths_fragment f = {.first = (uint32_t)h->frames.count, .cost = s->left[node]};
    for (uint32_t at = node; !is_trunk(s, at); at = parent_of(s, at))
        f.n++;
    if (!vec_reserve(&h->frames, f.n))
        return false;
    h->frames.count += f.n;
    for (uint32_t i = f.n; i-- > 0; node = parent_of(s, node))
        h->frames.items[f.first + i] = path_tree_location(s->base, place_of(s, node));
    return vec_push(&h->fragments, f);
}

static bool take_rest(search *s) {
    size_t n = s->tree->n;
    s->left = calloc(n, sizeof *s->left);
    if (!s->left)
        return false;
    for (uint32_t i = (uint32_t)n; i-- > 1;) {
        const cost self = path_sums_own(s->sums, i);
        if (self.blocks && s->taker[s->end_of[i]] == NOBODY)
            cost_add(&s->left[i], &self);
        if (s->left[i].blocks == 0 || s->left[i].weight < s->least || is_trunk(s, i))
            cost_add(&s->left[parent_of(s, i)], &s->left[i]);
        else if (!add_inner(s, i))
            return false;
    }
    return true;
}

/* ---- the result -------------------------------------------------------------------------- */

static int compare_fragments(const void *a, const void *b) {
    const hotpaths_fragment *x = a, *y = b;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

static bool find_all(search *s, const callpaths *v) {
    return find_trunk(s, v) && reverse_stacks(s) && take_ends(s) && take_rest(s);
}

bool hotpaths_query(const callpaths *v, double share, hotpaths *result) {
    const double all = path_sums_all(v->sums, PATH_ROOT).weight;
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
    free(s.end_of);
    free(s.taker);
    free(s.left);
    vec_free(&s.ends);
    map64_free(&s.children);
    if (!ok)
        hotpaths_free(result);
    return ok;
}

void hotpaths_free(hotpaths *h) {
    vec_free(&h->fragments);
    vec_free(&h->frames);
}
