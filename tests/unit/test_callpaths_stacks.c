/* Tests that views of call paths, in all the ways that one can look, say what follows from every
 * single stack alone. */
#include <stdio.h>

#include "paths/functions.h"
#include "paths/picture.h"
#include "random_stacks.h"

/* ---- what single stacks say -------------------------------------------------------------- */

/* A stack as it is looked at: its places in the order of the picture. */
typedef struct route {
    const profile_location *places[2 * DEEPEST];
    size_t n;
    cost cost;
    double amount;
    unsigned side;
} route;

typedef VEC(route) routes;

typedef struct oracle {
    const callpaths_spec *how;
    const picture_spec *spec;
    const profile *names;
    unsigned n_sides;
    double whole;
    picture result;
} oracle;

static bool same_place(const profile_location *a, const profile_location *b, bool by_line) {
    return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 &&
           (!by_line || a->line == b->line);
}

/* The stack of a cost, from its site outward. */
static void take_stack(route *r, const query_result *q, const cost_entry *e) {
    uint32_t wrapper;
    lens_cursor at = lens_site(&q->lens, e->node, e->external, &wrapper);
    for (; at.location != LENS_NOWHERE; at = lens_outward(&q->lens, at)) {
        ck_assert_uint_lt(r->n, sizeof r->places / sizeof *r->places);
        r->places[r->n++] = lens_location(&q->lens, at.location);
    }
}

static void reverse(route *r) {
    for (size_t i = 0, j = r->n; i + 1 < j; i++) {
        const profile_location *inner = r->places[--j];
        r->places[j] = r->places[i];
        r->places[i] = inner;
    }
}

static void drop_first(route *r, size_t n) {
    memmove(r->places, r->places + n, (r->n - n) * sizeof *r->places);
    r->n -= n;
}

/* Whether the focus ends, inward, at this place of a stack from the outside. */
static bool focus_ends(const route *r, const call_site *focus, size_t at) {
    const size_t steps = call_site_steps(focus);
    for (size_t step = 0; step < steps; step++)
        if (at + 1 < steps || !call_site_match_place(focus, step, r->places[at + 1 - steps + step]))
            return false;
    return true;
}

/* What is left of a stack from the outside around the focus; false: it is not there. */
static bool cut_at_focus(route *r, const callpaths_spec *how) {
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < r->n; i++)
        if (focus_ends(r, how->focus, i) && (at == SIZE_MAX || how->shape == CALLPATHS_CALLERS))
            at = i;
    if (at == SIZE_MAX)
        return false;
    if (how->shape == CALLPATHS_CALLEES)
        drop_first(r, at + 1);
    else
        r->n = at + 1 - call_site_steps(how->focus);
    return true;
}

static void collapse(route *r, bool by_line) {
    size_t n = 0, k;
    for (size_t i = 0; i < r->n; i++) {
        for (k = 0; k < n && !same_place(r->places[k], r->places[i], by_line); k++)
            ;
        if (k == n)
            r->places[k] = r->places[i];
        n = k + 1;
    }
    r->n = n;
}

static void take_routes(routes *all, const callpaths_spec *how, const query_result *q,
                        unsigned side) {
    for (size_t i = 0; i < q->costs.count; i++) {
        const cost_entry got = cost_list_at(&q->costs, i), *e = &got;
        route r = {.cost = e->cost, .side = side};
        r.amount = cost_value(q->profile, q->measure, &e->cost);
        take_stack(&r, q, e);
        reverse(&r);
        if (how->focus && !cut_at_focus(&r, how))
            continue;
        if (callpaths_is_outward(how))
            reverse(&r);
        if (how->collapse)
            collapse(&r, how->by_line);
        ck_assert(vec_push(all, r));
    }
}

/* Those that go on with a place. */
static routes routes_of(const oracle *o, const routes *all, const profile_location *place) {
    routes some = {0};
    for (size_t i = 0; i < all->count; i++) {
        route r = all->items[i];
        if (r.n == 0 || !same_place(r.places[0], place, o->how->by_line))
            continue;
        drop_first(&r, 1);
        ck_assert(vec_push(&some, r));
    }
    return some;
}

static bool place_matches(const oracle *o, const profile_location *place) {
    for (size_t i = 0; i < o->names->locations.count; i++)
        if (o->spec->matches[i] && same_place(&o->names->locations.items[i], place, false))
            return true;
    return false;
}

static bool route_matches(const oracle *o, const route *r) {
    for (size_t i = 0; i < r->n; i++)
        if (place_matches(o, r->places[i]))
            return true;
    return false;
}

/* A node that stands for some; their weights are amounts if two are compared. */
static picture_node sum_routes(const oracle *o, const routes *some, picture_sides *sides) {
    picture_node n = {.parent = PATH_NOWHERE};
    for (size_t i = 0; i < some->count; i++) {
        route r = some->items[i];
        cost_add(&sides->of[r.side], &r.cost);
        if (o->n_sides > 1)
            r.cost.weight = r.amount;
        cost_add(&n.total, &r.cost);
        if (r.n == 0)
            cost_add(&n.self, &r.cost);
        if (o->spec->matches && route_matches(o, &r))
            n.match = PICTURE_MATCH_BELOW;
    }
    return n;
}

/* By falling weight, then by name; weights are sums in another order than the view's. */
static bool stands_before(const oracle *o, const routes *x, const routes *y,
                          const profile_location *a, const profile_location *b) {
    picture_sides s = {0};
    const double v = sum_routes(o, x, &s).total.weight, w = sum_routes(o, y, &s).total.weight;
    if (v > w * (1 + 1e-9) || w > v * (1 + 1e-9))
        return v > w;
    int order = strcmp(a->function, b->function);
    if (order == 0)
        order = strcmp(a->file, b->file);
    return order ? order < 0 : a->line < b->line;
}

typedef struct branch {
    const profile_location *place;
    routes routes;
} branch;

typedef VEC(branch) branches;

static branches branch_out(const oracle *o, const routes *all) {
    branches of = {0};
    for (size_t i = 0; i < all->count; i++) {
        const profile_location *place = all->items[i].n ? all->items[i].places[0] : NULL;
        bool known = !place;
        for (size_t k = 0; k < of.count && !known; k++)
            known = same_place(of.items[k].place, place, o->how->by_line);
        if (!known)
            ck_assert(vec_push(&of, ((branch){place, routes_of(o, all, place)})));
    }
    for (size_t i = 1; i < of.count; i++)
        for (size_t k = i; k > 0 && stands_before(o, &of.items[k].routes, &of.items[k - 1].routes,
                                                  of.items[k].place, of.items[k - 1].place);
             k--) {
            const branch b = of.items[k];
            of.items[k] = of.items[k - 1];
            of.items[k - 1] = b;
        }
    return of;
}

static void branches_free(branches *b) {
    for (size_t i = 0; i < b->count; i++)
        vec_free(&b->items[i].routes);
    vec_free(b);
}

static void keep_node(oracle *o, picture_node n, const picture_sides *sides) {
    ck_assert(vec_push(&o->result.nodes, n));
    ck_assert(vec_push(&o->result.sides, *sides));
}

/* How many places the stacks end in that have not ended yet. */
static uint32_t count_ends(const oracle *o, const branches *of, size_t first) {
    const profile_location *seen[STACKS * 2];
    uint32_t n = 0;
    for (size_t b = first; b < of->count; b++)
        for (size_t i = 0; i < of->items[b].routes.count; i++) {
            const route *r = &of->items[b].routes.items[i];
            const profile_location *last = r->n ? r->places[r->n - 1] : of->items[b].place;
            uint32_t k = 0;
            while (k < n && !same_place(seen[k], last, o->how->by_line))
                k++;
            seen[k] = last;
            n += k == n;
        }
    return n;
}

static void keep_rest(oracle *o, const branches *of, size_t first, uint32_t parent) {
    routes all = {0};
    picture_sides sides = {0};
    bool matches = false;
    if (first == of->count)
        return;
    for (size_t b = first; b < of->count; b++) {
        matches = matches || (o->spec->matches && place_matches(o, of->items[b].place));
        for (size_t i = 0; i < of->items[b].routes.count; i++)
            ck_assert(vec_push(&all, of->items[b].routes.items[i]));
    }
    picture_node n = sum_routes(o, &all, &sides);
    n.place = PATH_NOWHERE;
    n.parent = parent;
    n.self = (cost){0};
    n.more = true;
    n.sites =
        callpaths_is_outward(o->how) ? (uint32_t)(of->count - first) : count_ends(o, of, first);
    n.match = matches ? PICTURE_MATCH_BELOW : n.match;
    keep_node(o, n, &sides);
    vec_free(&all);
}

static uint32_t location_of(const oracle *o, const profile_location *place) {
    for (uint32_t i = 0; place && i < o->names->locations.count; i++)
        if (same_place(&o->names->locations.items[i], place, o->how->by_line))
            return i;
    return PATH_NOWHERE;
}

static void tell(oracle *o, const routes *all, const profile_location *place, uint32_t parent,
                 uint32_t row) {
    const uint32_t me = (uint32_t)o->result.nodes.count;
    picture_sides sides = {0};
    picture_node n = sum_routes(o, all, &sides);
    branches of = branch_out(o, all);
    size_t shown = 0;
    n.place = location_of(o, place);
    n.parent = parent;
    n.more = row + 1 >= o->spec->rows && of.count > 0;
    if (o->spec->matches && place && place_matches(o, place))
        n.match = PICTURE_MATCH;
    if (me == 0)
        o->whole = n.total.weight;
    keep_node(o, n, &sides);
    for (; row + 1 < o->spec->rows && shown < of.count; shown++) {
        picture_sides ignored = {0};
        const double weight = sum_routes(o, &of.items[shown].routes, &ignored).total.weight;
        if (100 * weight / o->whole < o->spec->min_percent)
            break;
        tell(o, &of.items[shown].routes, of.items[shown].place, me, row + 1);
    }
    if (row + 1 < o->spec->rows)
        keep_rest(o, &of, shown, me);
    branches_free(&of);
}

static void tell_all(oracle *o, routes *all) {
    const profile_location *place = NULL;
    for (size_t i = 0; i < o->spec->n_root; i++) {
        const profile_location *next = &o->names->locations.items[o->spec->root[i]];
        routes some = routes_of(o, all, next);
        if (some.count == 0)
            break;
        vec_free(all);
        *all = some;
        place = next;
        o->result.n_found++;
    }
    for (size_t i = 0; o->spec->matches && i < all->count; i++)
        if ((place && place_matches(o, place)) || route_matches(o, &all->items[i]))
            cost_add(&o->result.matched, &all->items[i].cost);
    tell(o, all, place, PATH_NOWHERE, 0);
}

/* ---- that views say the same ------------------------------------------------------------- */

static void expect_cost(const cost *x, const cost *y) {
    ck_assert_uint_eq(x->samples, y->samples);
    ck_assert_uint_eq(x->blocks, y->blocks);
    ck_assert_double_eq_tol(x->weight, y->weight, 1e-9 * (1 + y->weight));
}

static void expect_same_node(const picture_node *x, const picture_node *y) {
    ck_assert_uint_eq(x->place, y->place);
    ck_assert_uint_eq(x->parent, y->parent);
    expect_cost(&x->total, &y->total);
    expect_cost(&x->self, &y->self);
    ck_assert_uint_eq(x->sites, y->sites);
    ck_assert_int_eq(x->more, y->more);
    ck_assert_int_eq(x->match, y->match);
}

static size_t expect_same_picture(const callpaths *v, const picture_spec *spec) {
    oracle o = {
        .how = &v->spec, .spec = spec, .names = callpaths_base(v)->names, .n_sides = v->n_sides};
    routes all = {0};
    picture p;
    for (unsigned i = 0; i < v->n_sides; i++)
        take_routes(&all, &v->spec, v->queries[i], i);
    tell_all(&o, &all);
    ck_assert(picture_query(v, spec, &p));
    ck_assert_uint_eq(p.n_found, o.result.n_found);
    ck_assert_uint_eq(p.matched.samples, o.result.matched.samples);
    ck_assert_uint_eq(p.nodes.count, o.result.nodes.count);
    for (size_t i = 0; i < p.nodes.count; i++)
        expect_same_node(&p.nodes.items[i], &o.result.nodes.items[i]);
    ck_assert_uint_eq(p.sides.count, v->n_sides > 1 ? p.nodes.count : 0);
    for (size_t i = 0; i < p.sides.count; i++)
        for (int side = 0; side < PATH_SIDES; side++)
            expect_cost(&p.sides.items[i].of[side], &o.result.sides.items[i].of[side]);
    const size_t n = p.nodes.count;
    picture_free(&o.result);
    picture_free(&p);
    vec_free(&all);
    return n;
}

/* From where a view begins, and from below. */
static size_t expect_same_pictures(const callpaths *v, uint64_t *seed) {
    const profile *names = callpaths_base(v)->names;
    const uint32_t root[] = {place_of(names, "leaf"), place_of(names, "parse"),
                             place_of(names, "eval")};
    uint8_t matches[64] = {0};
    ck_assert_uint_lt(names->locations.count, sizeof matches);
    for (size_t i = 0; i < names->locations.count; i++)
        matches[i] = strcmp(names->locations.items[i].function, "eval") == 0;
    const picture_spec how = {.root = root,
                              .n_root = draw(seed, 3),
                              .min_percent = (double)draw(seed, 20) + 0.1,
                              .rows = 1 + (uint32_t)draw(seed, DEEPEST),
                              .matches = draw(seed, 2) ? matches : NULL};
    return expect_same_picture(v, &how);
}

/* Functions are those on the paths, each path counted once in each. */
static size_t expect_same_functions(const callpaths *v) {
    routes all = {0};
    functions_list list;
    take_routes(&all, &v->spec, v->queries[0], 0);
    ck_assert(functions_query(v, &list));
    for (size_t i = 0; i < list.count; i++) {
        functions_entry wanted = {0};
        for (size_t k = 0; k < all.count; k++) {
            const route *r = &all.items[k];
            bool on_path = false;
            for (size_t f = 0; f < r->n; f++)
                on_path |= same_place(r->places[f], list.items[i].place, v->spec.by_line);
            if (on_path)
                cost_add(&wanted.total, &r->cost);
            if (r->n && same_place(r->places[r->n - 1], list.items[i].place, v->spec.by_line))
                cost_add(&wanted.self, &r->cost);
        }
        ck_assert_uint_gt(wanted.total.blocks, 0);
        expect_cost(&list.items[i].total, &wanted.total);
        expect_cost(&list.items[i].self, &wanted.self);
    }
    const size_t n = list.count;
    vec_free(&list);
    vec_free(&all);
    return n;
}

static size_t expect_same(const query_result *q, const query_result *against, uint64_t *seed) {
    const char *const sequence[] = {"parse", "leaf"};
    call_site *focus;
    size_t n = 0;
    ck_assert(call_site_of(sequence, 1 + draw(seed, 2), &focus));
    for (int shape = CALLPATHS_DOWN; shape <= CALLPATHS_CALLERS; shape++) {
        const bool focused = shape == CALLPATHS_CALLEES || shape == CALLPATHS_CALLERS;
        const callpaths_spec spec = {.shape = (callpaths_shape)shape,
                                     .by_line = draw(seed, 2),
                                     .collapse = draw(seed, 2),
                                     .focus = focused ? focus : NULL};
        callpaths v;
        ck_assert(callpaths_make(&v, q, against, &spec));
        n += expect_same_pictures(&v, seed);
        if (shape == CALLPATHS_DOWN && !against)
            n += expect_same_functions(&v);
        callpaths_free(&v);
    }
    call_site_free(focus);
    return n;
}

/* Some are external, so that wrappers are skipped; functions have several lines. */
static void record_stacks(tape *t, profile *p, double rate, uint64_t *seed) {
    stacks s;
    tape_start(t, rate);
    draw_stacks(&s, seed);
    for (size_t i = 0; i < STACKS; i++) {
        for (size_t f = 1; f < s.n[i]; f++)
            if (s.codes[i][f] == LEAF && draw(seed, 2))
                s.codes[i][f] = LEAF_ELSEWHERE;
        if (s.n[i] < DEEPEST && draw(seed, 4) == 0)
            s.codes[i][s.n[i]++] = XMALLOC;
        allocate(t, 0, draw(seed, 3) ? MEMTRACE_MINOR : MEMTRACE_EXTERNAL, 4 * EACH,
                 1 + draw(seed, 9), s.codes[i], s.n[i]);
    }
    allocate(t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, PARSE, LEAF));
    tape_read_blocks(t, p, false);
}

START_TEST(views_say_what_single_stacks_say) {
    static const char *const texts[] = {"heap:minor", "recursion:parse below:eval",
                                        "repeats:/./ above:leaf", "path:main,parse hide:eval"};
    enum { N = sizeof texts / sizeof *texts };
    uint64_t seed = 7;
    size_t n = 0;
    filter *filters[N];
    filter_error error;
    for (size_t i = 0; i < N; i++)
        ck_assert(filter_parse(texts[i], &filters[i], &error));
    for (int round = 0; round < 400; round++) {
        tape t;
        profile p;
        query_result q;
        const query_spec spec = {.measure = round % 2 ? MEASURE_BLOCKS : MEASURE_ALLOCATED,
                                 .filter = round % 4 < 2 ? filters[round / 4 % N] : NULL};
        record_stacks(&t, &p, 0.5, &seed);
        ck_assert(query_run(&q, &p, &spec));
        n += expect_same(&q, NULL, &seed);
        query_free(&q);
        profile_free(&p);
    }
    for (size_t i = 0; i < N; i++)
        filter_free(filters[i]);
    ck_assert_uint_gt(n, 5000); /* there was something in them */
}
END_TEST

START_TEST(comparisons_say_what_single_stacks_say) {
    uint64_t seed = 11;
    size_t n = 0;
    for (int round = 0; round < 200; round++) {
        tape t, u;
        profile p, o;
        query_result q, r;
        const query_spec spec = {.measure = round % 2 ? MEASURE_BLOCKS : MEASURE_ALLOCATED};
        record_stacks(&t, &p, 0.5, &seed);
        record_stacks(&u, &o, 0.1, &seed);
        ck_assert(query_run(&q, &p, &spec));
        ck_assert(query_run(&r, &o, &spec));
        n += expect_same(&q, &r, &seed);
        query_free(&q);
        query_free(&r);
        profile_free(&p);
        profile_free(&o);
    }
    ck_assert_uint_gt(n, 5000);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("callpaths_stacks");
    TCase *t = tcase_create("callpaths_stacks");
    tcase_add_test(t, views_say_what_single_stacks_say);
    tcase_add_test(t, comparisons_say_what_single_stacks_say);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
