/* shape.c: a node comes after its parent, so each pass has finished the nodes outward of a node
 * when it comes to that node. */
#include "query/shape.h"

#include <string.h>

#include "query/filter_internal.h"

/* ---- which functions a term is about ----------------------------------------------------- */

static bool matches_any(const filter_term *t, const char *function) {
    for (size_t i = 0; i < t->values.count; i++)
        if (filter_match(&t->values.items[i].pattern, function))
            return true;
    return false;
}

/* Returns which locations match, decided once per function. NULL when there is no memory. */
static uint8_t *match_locations(const profile *p, const filter_term *t) {
    uint8_t *matches = calloc(p->locations.count + 1, 1);
    map64 known = {0};
    bool ok = matches;
    for (size_t i = 0; ok && i < p->locations.count; i++) {
        const char *function = p->locations.items[i].function;
        uint32_t *match = map64_put(&known, (uintptr_t)function);
        ok = match;
        if (ok && *match == MAP64_NONE)
            *match = matches_any(t, function);
        matches[i] = ok && *match;
    }
    map64_free(&known);
    if (ok)
        return matches;
    free(matches);
    return NULL;
}

/* ---- the terms --------------------------------------------------------------------------- */

/* The state of a pass; the meaning of `state`, by node, depends on the term. */
typedef struct folding {
    stack_shape *shape;
    const profile *profile;
    const filter_term *term;
    uint8_t *matches; /* by location */
    uint32_t *state;
} folding;

static bool is_match(const folding *f, uint32_t node) {
    return f->matches[f->shape->locations[node]];
}

static bool is_same_function(const folding *f, uint32_t a, uint32_t b) {
    const profile_location *l = f->profile->locations.items;
    return l[f->shape->locations[a]].function == l[f->shape->locations[b]].function;
}

/* Moves the ends of stacks to `ends[node]`; a stack whose end is the root is dropped. */
static void end_stacks(stack_shape *s, const uint32_t *ends) {
    for (size_t i = 0; i < s->n_of; i++)
        if (s->of[i] != SHAPE_NOWHERE)
            s->of[i] = ends[s->of[i]] == SHAPE_ROOT ? SHAPE_NOWHERE : ends[s->of[i]];
}

/* The state of a node that is kept is the node itself. */
static void fold_below(folding *f) {
    stack_shape *s = f->shape;
    for (uint32_t i = 1; i < s->n; i++) {
        const bool inside = f->state[s->parents[i]] != SHAPE_ROOT;
        if (!inside && !is_match(f, i))
            continue;
        f->state[i] = i;
        if (!inside)
            s->parents[i] = SHAPE_ROOT;
    }
    end_stacks(s, f->state);
}

/* The state is the innermost match. */
static void fold_above(folding *f) {
    stack_shape *s = f->shape;
    for (uint32_t i = 1; i < s->n; i++)
        f->state[i] = is_match(f, i) ? i : f->state[s->parents[i]];
    end_stacks(s, f->state);
}

/* The state is the number of steps that the path to the node matches. It is more than the number of
 * steps once the path does not match. */
static void fold_path(folding *f) {
    stack_shape *s = f->shape;
    const uint32_t steps = (uint32_t)f->term->values.count, off = steps + 1;
    const profile_location *l = f->profile->locations.items;
    for (uint32_t i = 1; i < s->n; i++) {
        const uint32_t before = f->state[s->parents[i]];
        f->state[i] = before;
        if (before >= steps)
            continue;
        const filter_pattern *step = &f->term->values.items[before].pattern;
        f->state[i] = filter_match(step, l[s->locations[i]].function) ? before + 1 : off;
        if (f->state[i] == steps)
            s->parents[i] = SHAPE_ROOT;
    }
    for (uint32_t i = 0; i < s->n; i++)
        f->state[i] = f->state[i] == steps ? i : SHAPE_ROOT;
    end_stacks(s, f->state);
}

/* The state is the innermost match on a node's path, in which each matching function occurs
 * once. */
static void fold_recursion(folding *f) {
    stack_shape *s = f->shape;
    for (uint32_t i = 1; i < s->n; i++) {
        uint32_t at = f->state[s->parents[i]];
        f->state[i] = at;
        if (!is_match(f, i))
            continue;
        while (at != SHAPE_ROOT && !is_same_function(f, at, i))
            at = f->state[s->parents[at]];
        if (at != SHAPE_ROOT)
            s->parents[i] = s->parents[at];
        f->state[i] = i;
    }
}

static void fold_repeats(folding *f) {
    stack_shape *s = f->shape;
    for (uint32_t i = 1; i < s->n; i++) {
        const uint32_t parent = s->parents[i];
        if (parent != SHAPE_ROOT && is_match(f, i) && is_same_function(f, parent, i))
            s->parents[i] = s->parents[parent];
    }
}

static void (*const folds[FILTER_N_KINDS])(folding *) = {
    [FILTER_BELOW] = fold_below,         [FILTER_ABOVE] = fold_above,     [FILTER_PATH] = fold_path,
    [FILTER_RECURSION] = fold_recursion, [FILTER_REPEATS] = fold_repeats,
};

static bool fold(stack_shape *s, const profile *p, const filter_term *t) {
    folding f = {.shape = s,
                 .profile = p,
                 .term = t,
                 .matches = match_locations(p, t),
                 .state = calloc(s->n + 1, sizeof *f.state)};
    const bool ok = f.matches && f.state;
    if (ok)
        folds[t->kind](&f);
    free(f.matches);
    free(f.state);
    return ok;
}

/* ---- what is folded ---------------------------------------------------------------------- */

static bool make_room(stack_shape *s, const profile *p) {
    const cct *tree = &p->tree;
    s->n = 1;
    s->n_of = cct_count(tree);
    for (uint32_t i = 1; i < s->n_of; i++)
        s->n += p->frames.items[cct_frame(tree, i)].n;
    if (s->n >= SHAPE_NOWHERE)
        return false;
    s->parents = calloc(s->n + 1, sizeof *s->parents);
    s->locations = calloc(s->n + 1, sizeof *s->locations);
    s->of = calloc(s->n_of + 1, sizeof *s->of);
    return s->parents && s->locations && s->of;
}

static void take_stacks(stack_shape *s, const profile *p, const uint8_t *marks, uint8_t hidden) {
    const cct *tree = &p->tree;
    s->n = 1;
    for (uint32_t i = 1; i < s->n_of; i++) {
        const profile_frame *f = &p->frames.items[cct_frame(tree, i)];
        s->of[i] = s->of[cct_parent(tree, i)];
        for (uint32_t l = f->first; l < f->first + f->n; l++) {
            if (marks[l] & hidden)
                continue;
            s->parents[s->n] = s->of[i];
            s->locations[s->n] = l;
            s->of[i] = (uint32_t)s->n++;
        }
    }
}

stack_shape *shape_make(const profile *p, const filter *f, size_t n_terms, const uint8_t *marks,
                        uint8_t hidden) {
    stack_shape *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->users = 1;
    bool ok = make_room(s, p);
    if (ok)
        take_stacks(s, p, marks, hidden);
    for (size_t i = 0; ok && i < n_terms; i++)
        if (folds[f->terms.items[i].kind])
            ok = fold(s, p, &f->terms.items[i]);
    if (ok)
        return s;
    shape_release(s);
    return NULL;
}

stack_shape *shape_use(stack_shape *s) {
    if (s)
        atomic_fetch_add(&s->users, 1);
    return s;
}

void shape_release(stack_shape *s) {
    if (!s || atomic_fetch_sub(&s->users, 1) > 1)
        return;
    free(s->parents);
    free(s->locations);
    free(s->of);
    free(s);
}

size_t shape_size(const stack_shape *s) {
    return s ? sizeof *s + s->n * 2 * sizeof *s->parents + s->n_of * sizeof *s->of : 0;
}
