/* Tests of what the viewer asks of analyse: pictures of trees, functions, hot paths, peaks, and
 * filters while they are typed. */
#include <stdio.h>

#include "paths/flame.h"
#include "paths/functions.h"
#include "paths/hotpaths.h"
#include "query/filter_complete.h"
#include "query/peaks.h"
#include "tape.h"
#include "unit.h"

/* ---- pictures of trees ------------------------------------------------------------------- */

/*  main 100 ─┬─ parse 70 ─┬─ leaf 60
 *            │            └─ xmalloc 10 (external: a cost of parse itself)
 *            ├─ eval 20
 *            ├─ leaf 6
 *            └─ List.map 4 */
static void record_tree(tape *t, profile *p) {
    tape_start(t, 0.5);
    allocate(t, 0, MEMTRACE_MINOR, 100, 60, STACK(MAIN, PARSE, LEAF));
    allocate(t, 0, MEMTRACE_EXTERNAL, 100, 10, STACK(MAIN, PARSE, XMALLOC));
    allocate(t, 0, MEMTRACE_MINOR, 100, 20, STACK(MAIN, EVAL));
    allocate(t, 0, MEMTRACE_MINOR, 100, 6, STACK(MAIN, LEAF));
    allocate(t, 0, MEMTRACE_MINOR, 100, 4, STACK(MAIN, LIB_MAP));
    tape_read_blocks(t, p, false);
}

typedef struct picture {
    tape tape;
    profile profile;
    query_result query;
    calltree tree;
} picture;

static void picture_open(picture *x, calltree_shape shape) {
    record_tree(&x->tape, &x->profile);
    ck_assert(query_run(&x->query, &x->profile, &(query_spec){0}));
    ck_assert(calltree_query(&x->query, &(calltree_spec){.shape = shape}, &x->tree));
}

static void picture_close(picture *x) {
    calltree_free(&x->tree);
    query_free(&x->query);
    profile_free(&x->profile);
}

static const char *name_of(const picture *x, const flame_node *n) {
    return n->place == FLAME_NOWHERE ? "" : x->profile.locations.items[n->place].function;
}

static void expect_node(const picture *x, const flame *f, size_t i, const char *name,
                        uint64_t samples, uint32_t parent, uint32_t n_sites) {
    ck_assert_uint_gt(f->nodes.count, i);
    const flame_node *n = &f->nodes.items[i];
    ck_assert_str_eq(name_of(x, n), name);
    ck_assert_uint_eq(n->total.samples, samples);
    ck_assert_uint_eq(n->parent, parent);
    ck_assert_uint_eq(n->sites, n_sites);
}

START_TEST(narrow_nodes_are_summed_up) {
    picture x;
    flame f;
    picture_open(&x, CALLTREE_DOWN);
    ck_assert(flame_query(&x.profile, &x.tree, &(flame_spec){.min_share = 0.15, .rows = 10}, &f));
    ck_assert_uint_eq(f.nodes.count, 6);
    expect_node(&x, &f, 0, "", 100, FLAME_NOWHERE, 0);
    expect_node(&x, &f, 1, "main", 100, 0, 0);
    expect_node(&x, &f, 2, "parse", 70, 1, 0);
    ck_assert_uint_eq(f.nodes.items[2].self.samples, 10);
    expect_node(&x, &f, 3, "leaf", 60, 2, 0);
    expect_node(&x, &f, 4, "eval", 20, 1, 0);
    expect_node(&x, &f, 5, "", 10, 1, 2);
    flame_free(&f);
    picture_close(&x);
}
END_TEST

START_TEST(outward_callers_are_counted) {
    picture x;
    flame f;
    picture_open(&x, CALLTREE_INVERTED);
    const flame_spec spec = {.min_share = 0.5, .rows = 10, .outward = true};
    ck_assert(flame_query(&x.profile, &x.tree, &spec, &f));
    expect_node(&x, &f, 1, "leaf", 66, 0, 0);
    expect_node(&x, &f, 2, "parse", 60, 1, 0);
    expect_node(&x, &f, 3, "main", 60, 2, 0);
    expect_node(&x, &f, 4, "", 6, 1, 1);  /* main calls leaf itself */
    expect_node(&x, &f, 5, "", 34, 0, 3); /* eval, parse, List.map */
    ck_assert_uint_eq(f.nodes.count, 6);
    flame_free(&f);
    picture_close(&x);
}
END_TEST

START_TEST(rows_end_and_say_so) {
    picture x;
    flame f;
    picture_open(&x, CALLTREE_DOWN);
    ck_assert(flame_query(&x.profile, &x.tree, &(flame_spec){.rows = 3}, &f));
    ck_assert_uint_eq(f.nodes.count, 6);
    ck_assert(!f.nodes.items[1].more);
    ck_assert(f.nodes.items[2].more);  /* parse calls leaf */
    ck_assert(!f.nodes.items[3].more); /* eval calls nobody */
    flame_free(&f);
    picture_close(&x);
}
END_TEST

static uint32_t place_of(const profile *p, const char *function) {
    for (uint32_t i = 0; i < p->locations.count; i++)
        if (strcmp(p->locations.items[i].function, function) == 0)
            return i;
    ck_abort_msg("no function %s", function);
    return 0;
}

START_TEST(a_picture_may_begin_at_a_path) {
    picture x;
    flame f;
    picture_open(&x, CALLTREE_DOWN);
    const uint32_t root[] = {place_of(&x.profile, "main"), place_of(&x.profile, "parse"), 12345};
    const flame_spec spec = {.root = root, .n_root = 3, .rows = 10};
    ck_assert(flame_query(&x.profile, &x.tree, &spec, &f));
    ck_assert_uint_eq(f.n_found, 2);
    expect_node(&x, &f, 0, "parse", 70, FLAME_NOWHERE, 0);
    expect_node(&x, &f, 1, "leaf", 60, 0, 0);
    flame_free(&f);
    picture_close(&x);
}
END_TEST

START_TEST(each_stack_that_matches_counts_once) {
    picture x;
    flame f;
    picture_open(&x, CALLTREE_DOWN);
    uint8_t matches[64] = {0};
    ck_assert_uint_lt(x.profile.locations.count, sizeof matches);
    matches[place_of(&x.profile, "parse")] = matches[place_of(&x.profile, "leaf")] = 1;
    flame_spec spec = {.min_share = 0.15, .rows = 10, .matches = matches};
    ck_assert(flame_query(&x.profile, &x.tree, &spec, &f));
    ck_assert_uint_eq(f.matched.samples, 76);
    ck_assert_int_eq(f.nodes.items[1].match, FLAME_MATCH_BELOW);
    ck_assert_int_eq(f.nodes.items[2].match, FLAME_MATCH);
    ck_assert_int_eq(f.nodes.items[4].match, FLAME_NO_MATCH);
    ck_assert_int_eq(f.nodes.items[5].match, FLAME_MATCH_BELOW); /* leaf is summed up in it */
    flame_free(&f);
    const uint32_t root[] = {place_of(&x.profile, "main"), place_of(&x.profile, "parse")};
    spec.root = root;
    spec.n_root = 2;
    ck_assert(flame_query(&x.profile, &x.tree, &spec, &f));
    ck_assert_uint_eq(f.matched.samples, 70); /* of what is shown */
    flame_free(&f);
    picture_close(&x);
}
END_TEST

/* ---- functions and hot paths ------------------------------------------------------------- */

static const functions_entry *entry_of(const functions_list *list, const char *function) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].place->function, function) == 0)
            return &list->items[i];
    return NULL;
}

START_TEST(a_function_counts_a_stack_once) {
    tape t;
    profile p;
    query_result q;
    calltree tree;
    functions_list list;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, EVAL, PARSE, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 2, STACK(MAIN, EVAL, PARSE));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 4, STACK(MAIN, PARSE));
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){0}));
    ck_assert(calltree_query(&q, &(calltree_spec){0}, &tree));
    ck_assert(functions_query(&p, &tree, &list));
    ck_assert_uint_eq(list.count, 3);
    ck_assert_uint_eq(entry_of(&list, "main")->total.samples, 7);
    ck_assert_uint_eq(entry_of(&list, "eval")->total.samples, 3);
    ck_assert_uint_eq(entry_of(&list, "eval")->self.samples, 1);
    ck_assert_uint_eq(entry_of(&list, "parse")->total.samples, 7);
    ck_assert_uint_eq(entry_of(&list, "parse")->self.samples, 6);
    vec_free(&list);
    calltree_free(&tree);
    query_free(&q);
    profile_free(&p);
}
END_TEST

START_TEST(a_line_counts_a_stack_once_whatever_is_on_it) {
    tape t;
    profile p;
    query_result q;
    calltree tree;
    functions_list list;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, LIB_MAP, EVAL_WITHIN));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 2, STACK(MAIN, EVAL, LIB_MAP, EVAL_WITHIN, LEAF));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 4, STACK(MAIN, LIB_MAP, EVAL_WITHIN, EVAL, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 8, STACK(MAIN, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 16, STACK(MAIN, PARSE));
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){0}));
    ck_assert(calltree_query(&q, &(calltree_spec){.by_line = true}, &tree));
    ck_assert(functions_query(&p, &tree, &list));
    const char *file = entry_of(&list, "eval")->place->file;
    vec_free(&list);
    ck_assert(functions_query_lines(&p, &tree, file, &list));
    ck_assert_uint_eq(list.count, 1); /* no other file */
    ck_assert_uint_eq(list.items[0].place->line, 50);
    ck_assert_uint_eq(list.items[0].total.samples, 15);
    ck_assert_uint_eq(list.items[0].total.blocks, 4);
    ck_assert_uint_eq(list.items[0].self.samples, 13);
    vec_free(&list);
    calltree_free(&tree);
    query_free(&q);
    profile_free(&p);
}
END_TEST

/* As `outer > inner`, with how much it has. */
static void expect_fragment(const hotpaths *h, size_t i, const char *path, uint64_t samples) {
    char text[200] = "";
    ck_assert_uint_gt(h->fragments.count, i);
    const hotpaths_fragment *f = &h->fragments.items[i];
    for (uint32_t k = 0; k < f->n; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", k ? " > " : "",
                 h->frames.items[f->first + k]->function);
    }
    ck_assert_str_eq(text, path);
    ck_assert_uint_eq(f->cost.samples, samples);
}

START_TEST(fragments_take_each_stack_once) {
    tape t;
    profile p;
    query_result q;
    calltree tree;
    hotpaths h;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 99, 40, STACK(MAIN, PARSE, LEAF));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 24, STACK(MAIN, EVAL, LEAF));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 4, STACK(MAIN, LIB_MAP, LEAF)); /* too small for its own */
    /* Many small sites below one function. */
    allocate(&t, 0, MEMTRACE_MINOR, 99, 8, STACK(MAIN, EVAL, LIB_MAP, PARSE));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 8, STACK(MAIN, EVAL, LIB_MAP, GUEST_ARRAY));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 8, STACK(MAIN, EVAL, LIB_MAP, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 5, STACK(MAIN));
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){0}));
    ck_assert(calltree_query(&q, &(calltree_spec){0}, &tree));
    ck_assert(hotpaths_query(&p, &tree, 0.2, &h));
    ck_assert_uint_eq(h.fragments.count, 3);
    expect_fragment(&h, 0, "parse > leaf", 40); /* main is on all paths */
    expect_fragment(&h, 1, "eval > leaf", 24);
    expect_fragment(&h, 2, "eval > List.map", 24);
    ck_assert(h.fragments.items[1].ends_in_site && !h.fragments.items[2].ends_in_site);
    hotpaths_free(&h);
    ck_assert(hotpaths_query(&p, &tree, 0.5, &h)); /* no one caller of leaf has so much */
    ck_assert_uint_eq(h.fragments.count, 1);
    expect_fragment(&h, 0, "leaf", 68);
    hotpaths_free(&h);
    calltree_free(&tree);
    query_free(&q);
    profile_free(&p);
}
END_TEST

/* Stacks of a few functions, many times, so that most paths are parts of others' stacks. */
enum { STACKS = 20, DEEPEST = 12, EACH = 1 << STACKS };

typedef struct stacks {
    uint64_t codes[STACKS][DEEPEST];
    size_t n[STACKS];
} stacks;

static uint64_t draw(uint64_t *seed, uint64_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static void draw_stacks(stacks *s, uint64_t *seed) {
    const uint64_t codes[] = {PARSE, EVAL, LIB_MAP, LEAF};
    for (size_t i = 0; i < STACKS; i++) {
        s->n[i] = 1 + draw(seed, DEEPEST);
        s->codes[i][0] = MAIN;
        for (size_t f = 1; f < s->n[i]; f++)
            s->codes[i][f] = codes[draw(seed, sizeof codes / sizeof *codes)];
    }
}

/* As the tree does: of a function that is on the path already, it goes on from there. */
static void collapse_stack(stacks *s, size_t i) {
    size_t n = 0, k;
    for (size_t f = 0; f < s->n[i]; f++) {
        for (k = 0; k < n && s->codes[i][k] != s->codes[i][f]; k++)
            ;
        s->codes[i][k] = s->codes[i][f];
        n = k + 1;
    }
    s->n[i] = n;
}

static bool is_called(uint64_t code, const char *function) {
    for (size_t i = 0; i < sizeof tape_places / sizeof *tape_places; i++)
        if (tape_places[i].code == code)
            return strcmp(tape_places[i].outer.function, function) == 0;
    return false;
}

/* Whether the frames of a fragment stand in a stack, one after the other, at its end if they end
 * in a site. */
static bool has_fragment(const stacks *s, size_t i, const hotpaths *h, const hotpaths_fragment *f) {
    for (size_t at = 0; at + f->n <= s->n[i]; at++) {
        size_t k = 0;
        while (k < f->n && is_called(s->codes[i][at + k], h->frames.items[f->first + k]->function))
            k++;
        if (k == f->n && (!f->ends_in_site || at + k == s->n[i]))
            return true;
    }
    return false;
}

/* Stack i has EACH samples and 2^i more, so that what a fragment has says which stacks it has.
 * Returns how many stacks fit to more than one fragment. */
static size_t expect_disjoint(const stacks *s, const hotpaths *h, double share, const cost *all) {
    uint64_t taken = 0, samples = 0, blocks = 0;
    size_t contested = 0;
    for (size_t k = 0; k < h->fragments.count; k++) {
        const hotpaths_fragment *f = &h->fragments.items[k];
        uint64_t has = f->cost.samples % EACH;
        ck_assert_uint_eq(f->cost.samples / EACH, (uint64_t)__builtin_popcountll(has));
        ck_assert_uint_eq(f->cost.blocks, f->cost.samples / EACH);
        ck_assert_uint_eq(has & taken, 0); /* none is in two */
        ck_assert(f->cost.weight >= share * all->weight);
        for (size_t i = 0; i < STACKS; i++)
            ck_assert(!(has >> i & 1) || has_fragment(s, i, h, f));
        taken |= has;
    }
    for (size_t i = 0; i < STACKS; i++) {
        size_t fit = 0;
        for (size_t k = 0; k < h->fragments.count; k++)
            fit += has_fragment(s, i, h, &h->fragments.items[k]);
        contested += fit > 1;
        samples += taken >> i & 1 ? 0 : EACH + ((uint64_t)1 << i);
        blocks += !(taken >> i & 1);
    }
    for (size_t k = 0; k < h->fragments.count; k++) {
        samples += h->fragments.items[k].cost.samples;
        blocks += h->fragments.items[k].cost.blocks;
    }
    ck_assert_uint_eq(samples, all->samples); /* with what is in none */
    ck_assert_uint_eq(blocks, all->blocks);
    return contested;
}

START_TEST(no_block_is_in_two_fragments) {
    const double shares[] = {0.001, 0.06, 0.11, 0.2, 0.3, 0.6};
    uint64_t seed = 1;
    size_t contested = 0, n = 0;
    for (int round = 0; round < 200; round++) {
        stacks s;
        tape t;
        profile p;
        query_result q;
        tape_start(&t, 0.5);
        draw_stacks(&s, &seed);
        for (size_t i = 0; i < STACKS; i++)
            allocate(&t, 0, MEMTRACE_MINOR, 4 * EACH, EACH + ((uint64_t)1 << i), s.codes[i],
                     s.n[i]);
        tape_read_blocks(&t, &p, false);
        ck_assert(query_run(&q, &p, &(query_spec){0}));
        for (int collapse = 0; collapse < 2; collapse++) {
            calltree tree;
            ck_assert(calltree_query(&q, &(calltree_spec){.collapse_recursion = collapse}, &tree));
            for (size_t i = 0; collapse && i < STACKS; i++)
                collapse_stack(&s, i);
            for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
                hotpaths h;
                ck_assert(hotpaths_query(&p, &tree, shares[k], &h));
                contested +=
                    expect_disjoint(&s, &h, shares[k], &tree.nodes.items[CALLTREE_ROOT].total);
                n += h.fragments.count;
                hotpaths_free(&h);
            }
            calltree_free(&tree);
        }
        query_free(&q);
        profile_free(&p);
    }
    ck_assert_uint_gt(n, 2000);
    ck_assert_uint_gt(contested, 2000); /* it was tempted */
}
END_TEST

/* ---- pictures without a tree ------------------------------------------------------------- */

static void expect_same_node(const flame_node *x, const flame_node *y) {
    ck_assert_uint_eq(x->place, y->place);
    ck_assert_uint_eq(x->parent, y->parent);
    ck_assert_uint_eq(x->total.samples, y->total.samples);
    ck_assert_uint_eq(x->total.blocks, y->total.blocks);
    ck_assert_double_eq(x->total.weight, y->total.weight);
    ck_assert_uint_eq(x->self.samples, y->self.samples);
    ck_assert_uint_eq(x->sites, y->sites);
    ck_assert_int_eq(x->more, y->more);
    ck_assert_int_eq(x->match, y->match);
}

static size_t expect_same_picture(const query_result *q, const calltree_sums *sums,
                                  const calltree_spec *shape, const flame_spec *spec) {
    calltree tree;
    flame x, y;
    ck_assert(calltree_query(q, shape, &tree));
    ck_assert(flame_query(q->profile, &tree, spec, &x));
    ck_assert(flame_of_sums(q->profile, sums, shape, spec, &y));
    ck_assert_uint_eq(x.n_found, y.n_found);
    ck_assert_uint_eq(x.matched.samples, y.matched.samples);
    ck_assert_uint_eq(x.nodes.count, y.nodes.count);
    for (size_t i = 0; i < x.nodes.count; i++)
        expect_same_node(&x.nodes.items[i], &y.nodes.items[i]);
    const size_t n = x.nodes.count;
    flame_free(&x);
    flame_free(&y);
    calltree_free(&tree);
    return n;
}

/* All shapes, from where the tree begins and from below. */
static size_t expect_same_pictures(const query_result *q, const calltree_view *view,
                                   const calltree_sums *sums, uint64_t *seed) {
    const char *const sequence[] = {"parse", "leaf"};
    const profile *p = q->profile;
    const uint32_t root[] = {place_of(p, "leaf"), place_of(p, "parse"), place_of(p, "eval")};
    uint8_t matches[64] = {0};
    call_site *focus;
    size_t n = 0;
    ck_assert_uint_lt(p->locations.count, sizeof matches);
    matches[place_of(p, "eval")] = 1;
    ck_assert(call_site_of(sequence, 1 + draw(seed, 2), &focus));
    for (int shape = CALLTREE_DOWN; shape <= CALLTREE_CALLERS; shape++) {
        const calltree_spec what = {.shape = (calltree_shape)shape, .view = view, .focus = focus};
        const flame_spec how = {.root = root,
                                .n_root = draw(seed, 3),
                                .min_share = (double)draw(seed, 20) / 100,
                                .rows = 1 + (uint32_t)draw(seed, DEEPEST),
                                .outward = shape == CALLTREE_INVERTED || shape == CALLTREE_CALLERS,
                                .matches = draw(seed, 2) ? matches : NULL};
        n += expect_same_picture(q, sums, &what, &how);
    }
    call_site_free(focus);
    return n;
}

/* One of so many is external. */
static void allocate_stacks(tape *t, const stacks *s, size_t external, uint64_t *seed) {
    for (size_t i = 0; i < STACKS; i++)
        allocate(t, 0, i % external ? MEMTRACE_MINOR : MEMTRACE_EXTERNAL, 4 * EACH,
                 1 + draw(seed, 9), s->codes[i], s->n[i]);
}

START_TEST(pictures_need_no_tree) {
    uint64_t seed = 7;
    size_t n = 0;
    for (int round = 0; round < 300; round++) {
        stacks s;
        tape t;
        profile p;
        query_result q;
        tape_start(&t, 0.5);
        draw_stacks(&s, &seed);
        allocate_stacks(&t, &s, 5, &seed);
        allocate(&t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, PARSE, LEAF));
        tape_read_blocks(&t, &p, false);
        ck_assert(query_run(&q, &p, &(query_spec){0}));
        calltree_view *view = calltree_view_new(&q.lens, false);
        calltree_sums *sums = calltree_sums_new(&q, view);
        ck_assert(view && sums);
        n += expect_same_pictures(&q, view, sums, &seed);
        calltree_sums_free(sums);
        calltree_view_free(view);
        query_free(&q);
        profile_free(&p);
    }
    ck_assert_uint_gt(n, 5000); /* there was something in them */
}
END_TEST

static void expect_same_cost(const cost *x, const cost *y) {
    ck_assert_uint_eq(x->samples, y->samples);
    ck_assert_uint_eq(x->blocks, y->blocks);
    ck_assert_double_eq_tol(x->weight, y->weight, 1e-9 * (1 + y->weight));
}

/* Those of sums come in another order. */
static void expect_same_functions(const functions_list *of_tree, const functions_list *of_sums) {
    ck_assert_uint_eq(of_tree->count, of_sums->count);
    for (size_t i = 0; i < of_tree->count; i++) {
        const functions_entry *x = &of_tree->items[i], *y = of_sums->items;
        while (y < of_sums->items + of_sums->count && y->place != x->place)
            y++;
        ck_assert(y < of_sums->items + of_sums->count);
        expect_same_cost(&x->self, &y->self);
        expect_same_cost(&x->total, &y->total);
    }
}

static void expect_same_paths(const hotpaths *x, const hotpaths *y) {
    ck_assert_uint_eq(x->fragments.count, y->fragments.count);
    ck_assert_uint_eq(x->frames.count, y->frames.count);
    for (size_t i = 0; i < x->fragments.count; i++) {
        expect_same_cost(&x->fragments.items[i].cost, &y->fragments.items[i].cost);
        ck_assert_uint_eq(x->fragments.items[i].first, y->fragments.items[i].first);
        ck_assert_uint_eq(x->fragments.items[i].n, y->fragments.items[i].n);
    }
    for (size_t i = 0; i < x->frames.count; i++)
        ck_assert_ptr_eq(x->frames.items[i], y->frames.items[i]);
}

static size_t compare_with_tree(const query_result *q, bool by_line) {
    const profile *p = q->profile;
    calltree_view *view = calltree_view_new(&q->lens, by_line);
    calltree_sums *sums = calltree_sums_new(q, view);
    calltree tree;
    functions_list of_tree, of_sums;
    hotpaths x, y;
    ck_assert(view && sums);
    ck_assert(calltree_query(q, &(calltree_spec){.by_line = by_line}, &tree));
    ck_assert(functions_query(p, &tree, &of_tree));
    ck_assert(functions_of_sums(p, view, sums, &of_sums));
    expect_same_functions(&of_tree, &of_sums);
    ck_assert(hotpaths_query(p, &tree, 0.05, &x));
    ck_assert(hotpaths_of_sums(p, view, sums, 0.05, &y));
    expect_same_paths(&x, &y);
    const size_t n = of_tree.count + x.fragments.count;
    hotpaths_free(&x);
    hotpaths_free(&y);
    vec_free(&of_tree);
    vec_free(&of_sums);
    calltree_free(&tree);
    calltree_sums_free(sums);
    calltree_view_free(view);
    return n;
}

/* … also where a filter leaves nothing of some stacks. */
START_TEST(functions_and_paths_need_no_tree) {
    uint64_t seed = 11;
    size_t n = 0;
    filter *minor;
    filter_error error;
    ck_assert(filter_parse("heap:minor", &minor, &error));
    for (int round = 0; round < 200; round++) {
        stacks s;
        tape t;
        profile p;
        query_result q;
        tape_start(&t, 0.5);
        draw_stacks(&s, &seed);
        allocate_stacks(&t, &s, 3, &seed);
        tape_read_blocks(&t, &p, false);
        const query_spec spec = {.measure = round % 2 ? MEASURE_BLOCKS : MEASURE_ALLOCATED,
                                 .filter = round % 4 < 2 ? minor : NULL};
        ck_assert(query_run(&q, &p, &spec));
        n += compare_with_tree(&q, round % 8 < 4);
        query_free(&q);
        profile_free(&p);
    }
    filter_free(minor);
    ck_assert_uint_gt(n, 1000);
}
END_TEST

/* ---- peaks ------------------------------------------------------------------------------- */

/* A curve: what is live at the end of each point. */
static void expect_peaks(const uint64_t *live, size_t n, double share, const size_t *peaks,
                         size_t n_peaks) {
    timeline t = {0};
    peaks_list list;
    for (size_t i = 0; i < n; i++)
        ck_assert(
            vec_push(&t.points, ((timeline_point){.end = i + 1, .live[MEMTRACE_MAJOR] = live[i]})));
    ck_assert(peaks_query(&t, share, 100, &list));
    ck_assert_uint_eq(list.count, n_peaks);
    for (size_t i = 0; i < n_peaks; i++) {
        ck_assert_uint_eq(list.items[i].time, peaks[i]);
        ck_assert_uint_eq(list.items[i].samples, live[peaks[i]]);
    }
    vec_free(&list);
    timeline_free(&t);
}

#define EXPECT_PEAKS(share, live, ...)                                                             \
    expect_peaks(live, sizeof(live) / sizeof *(live), share, (const size_t[]){__VA_ARGS__},        \
                 sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t))

START_TEST(peaks_are_where_memory_fell_on_both_sides) {
    const uint64_t twins[] = {0, 900, 100, 1000, 0};
    EXPECT_PEAKS(0.1, twins, 3, 1);
    const uint64_t ripples[] = {0, 500, 990, 980, 1000, 985, 400, 0};
    EXPECT_PEAKS(0.1, ripples, 4);
    const uint64_t stairs[] = {100, 200, 300, 300, 300, 400};
    EXPECT_PEAKS(0.1, stairs, 5);
    const uint64_t many[] = {800, 10, 700, 20, 900, 15, 850, 600, 800};
    EXPECT_PEAKS(0.1, many, 4, 6, 0, 8, 2);
    EXPECT_PEAKS(0.5, many, 4, 6, 0, 2);    /* from 8 it fell by a quarter only */
    const uint64_t few[] = {3, 1, 4, 2, 3}; /* chance */
    EXPECT_PEAKS(0.1, few, 2);
    const uint64_t flat[] = {7, 7, 7};
    EXPECT_PEAKS(0.1, flat, 0);
}
END_TEST

START_TEST(nothing_live_has_no_peak) {
    const uint64_t none[] = {0, 0};
    expect_peaks(none, 2, 0.1, NULL, 0);
    expect_peaks(none, 0, 0.1, NULL, 0);
}
END_TEST

/* ---- filters while they are typed -------------------------------------------------------- */

START_TEST(terms_are_found_in_any_text) {
    filter_spans s;
    const char *text = "  fn:\"a b\",/c d/  -heap:minor alloc:1s.. nonsense:x promoted";
    ck_assert(filter_find_terms(text, &s));
    ck_assert_uint_eq(s.count, 5);
    ck_assert_uint_eq(s.items[0].start, 2);
    ck_assert_uint_eq(s.items[0].end, 16);
    ck_assert(s.items[1].negated);
    ck_assert_uint_eq(s.items[1].name - s.items[1].start, 1);
    ck_assert_uint_eq(s.items[1].name_size, 4);
    ck_assert_uint_eq(s.items[4].end, strlen(text));
    vec_free(&s);
    ck_assert(filter_find_terms("fn:\"open", &s));
    ck_assert_uint_eq(s.items[0].end, 8);
    vec_free(&s);
}
END_TEST

/* The cursor is at the `|`. The items, separated by blanks. */
static void expect_completion(const profile *p, const char *text, size_t start, size_t end,
                              const char *items) {
    char plain[100], got[400] = "";
    size_t cursor = strcspn(text, "|");
    filter_completion c;
    snprintf(plain, sizeof plain, "%.*s%s", (int)cursor, text, text + cursor + 1);
    ck_assert(filter_complete(plain, cursor, p, 100, &c));
    for (size_t i = 0; i < c.n; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", c.items[i].text);
    }
    ck_assert_str_eq(got, items);
    ck_assert_uint_eq(c.start, start);
    ck_assert_uint_eq(c.end, end);
    filter_completion_free(&c);
}

START_TEST(what_could_stand_at_the_cursor) {
    tape t;
    profile p;
    record_tree(&t, &p);
    expect_completion(&p, "he|", 0, 2, "heap:");
    expect_completion(&p, "pro|", 0, 3, "promoted");
    expect_completion(&p, "fn:main -li|fe:x", 9, 14, "live: life:");
    expect_completion(
        &p, "|", 0, 0,
        "alloc: live: size: life: heap: fn: file: type: domain: promoted survived hide:");
    expect_completion(&p, "heap:minor,m|", 11, 12, "minor major");
    expect_completion(&p, "heap:m|,major", 5, 6, "minor major");
    expect_completion(&p, "alloc:1s..@p|", 10, 12, "@peak");
    expect_completion(&p, "fn:a|", 3, 4, "main parse leaf xmalloc eval List.map");
    expect_completion(&p, "fn:ma| promoted", 3, 5, "main xmalloc List.map");
    expect_completion(&p, "fn:/ma|", 3, 6, "");
    expect_completion(&p, "file:ev|", 5, 7, "eval.c");
    expect_completion(&p, "hide:@|", 5, 6, "@library");
    expect_completion(&p, "nonsense:x|", 9, 10, "");
    expect_completion(&p, "size:1|", 5, 6, "");
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("view");
    TCase *t = tcase_create("view");
    tcase_add_test(t, narrow_nodes_are_summed_up);
    tcase_add_test(t, outward_callers_are_counted);
    tcase_add_test(t, rows_end_and_say_so);
    tcase_add_test(t, a_picture_may_begin_at_a_path);
    tcase_add_test(t, each_stack_that_matches_counts_once);
    tcase_add_test(t, a_function_counts_a_stack_once);
    tcase_add_test(t, a_line_counts_a_stack_once_whatever_is_on_it);
    tcase_add_test(t, fragments_take_each_stack_once);
    tcase_add_test(t, no_block_is_in_two_fragments);
    tcase_add_test(t, pictures_need_no_tree);
    tcase_add_test(t, functions_and_paths_need_no_tree);
    tcase_add_test(t, peaks_are_where_memory_fell_on_both_sides);
    tcase_add_test(t, nothing_live_has_no_peak);
    tcase_add_test(t, terms_are_found_in_any_text);
    tcase_add_test(t, what_could_stand_at_the_cursor);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
