/* Tests of views of call paths: pictures, functions and hot paths, in all the ways that one can
 * look. */
#include <stdio.h>

#include "paths/functions.h"
#include "paths/hotpaths.h"
#include "paths/picture.h"
#include "random_stacks.h"
#include "unit.h"

/* ---- pictures ---------------------------------------------------------------------------- */

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

typedef struct looked {
    tape tape;
    profile profile;
    query_result query;
    callpaths view;
    call_site *focus;
} looked;

/* At what was recorded. */
static void look_at(looked *x, callpaths_spec spec, const char *focus) {
    filter_error error;
    x->focus = NULL;
    ck_assert(!focus || call_site_parse(focus, &x->profile, &x->focus, &error));
    spec.focus = x->focus;
    ck_assert(callpaths_make(&x->view, &x->query, NULL, &spec));
}

static void look_away(looked *x) {
    callpaths_free(&x->view);
    call_site_free(x->focus);
}

static void look(looked *x, callpaths_shape shape) {
    record_tree(&x->tape, &x->profile);
    ck_assert(query_run(&x->query, &x->profile, &(query_spec){0}));
    look_at(x, (callpaths_spec){.shape = shape}, NULL);
}

static void forget(looked *x) {
    query_free(&x->query);
    profile_free(&x->profile);
}

static const char *name_of(const profile *p, const picture_node *n) {
    return n->place == PATH_NOWHERE ? "" : p->locations.items[n->place].function;
}

static void expect_node(const looked *x, const picture *f, size_t i, const char *name,
                        uint64_t samples, uint32_t parent, uint32_t n_sites) {
    ck_assert_uint_gt(f->nodes.count, i);
    const picture_node *n = &f->nodes.items[i];
    ck_assert_str_eq(name_of(&x->profile, n), name);
    ck_assert_uint_eq(n->total.samples, samples);
    ck_assert_uint_eq(n->parent, parent);
    ck_assert_uint_eq(n->sites, n_sites);
}

START_TEST(narrow_nodes_are_summed_up) {
    looked x;
    picture f;
    look(&x, CALLPATHS_DOWN);
    ck_assert(picture_query(&x.view, &(picture_spec){.min_percent = 15, .rows = 10}, &f));
    ck_assert_uint_eq(f.nodes.count, 6);
    expect_node(&x, &f, 0, "", 100, PATH_NOWHERE, 0);
    expect_node(&x, &f, 1, "main", 100, 0, 0);
    expect_node(&x, &f, 2, "parse", 70, 1, 0);
    ck_assert_uint_eq(f.nodes.items[2].self.samples, 10);
    expect_node(&x, &f, 3, "leaf", 60, 2, 0);
    expect_node(&x, &f, 4, "eval", 20, 1, 0);
    expect_node(&x, &f, 5, "", 10, 1, 2);
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

START_TEST(outward_callers_are_counted) {
    looked x;
    picture f;
    look(&x, CALLPATHS_INVERTED);
    const picture_spec spec = {.min_percent = 50, .rows = 10};
    ck_assert(picture_query(&x.view, &spec, &f));
    expect_node(&x, &f, 1, "leaf", 66, 0, 0);
    expect_node(&x, &f, 2, "parse", 60, 1, 0);
    expect_node(&x, &f, 3, "main", 60, 2, 0);
    expect_node(&x, &f, 4, "", 6, 1, 1);  /* main calls leaf itself */
    expect_node(&x, &f, 5, "", 34, 0, 3); /* eval, parse, List.map */
    ck_assert_uint_eq(f.nodes.count, 6);
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

START_TEST(rows_end_and_say_so) {
    looked x;
    picture f;
    look(&x, CALLPATHS_DOWN);
    ck_assert(picture_query(&x.view, &(picture_spec){.rows = 3}, &f));
    ck_assert_uint_eq(f.nodes.count, 6);
    ck_assert(!f.nodes.items[1].more);
    ck_assert(f.nodes.items[2].more);  /* parse calls leaf */
    ck_assert(!f.nodes.items[3].more); /* eval calls nobody */
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

START_TEST(a_picture_may_begin_at_a_path) {
    looked x;
    picture f;
    look(&x, CALLPATHS_DOWN);
    const uint32_t root[] = {place_of(&x.profile, "main"), place_of(&x.profile, "parse"), 12345};
    const picture_spec spec = {.root = root, .n_root = 3, .rows = 10};
    ck_assert(picture_query(&x.view, &spec, &f));
    ck_assert_uint_eq(f.n_found, 2);
    expect_node(&x, &f, 0, "parse", 70, PATH_NOWHERE, 0);
    expect_node(&x, &f, 1, "leaf", 60, 0, 0);
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

START_TEST(each_stack_that_matches_counts_once) {
    looked x;
    picture f;
    look(&x, CALLPATHS_DOWN);
    uint8_t matches[64] = {0};
    ck_assert_uint_lt(x.profile.locations.count, sizeof matches);
    matches[place_of(&x.profile, "parse")] = matches[place_of(&x.profile, "leaf")] = 1;
    picture_spec spec = {.min_percent = 15, .rows = 10, .matches = matches};
    ck_assert(picture_query(&x.view, &spec, &f));
    ck_assert_uint_eq(f.matched.samples, 76);
    ck_assert_int_eq(f.nodes.items[1].match, PICTURE_MATCH_BELOW);
    ck_assert_int_eq(f.nodes.items[2].match, PICTURE_MATCH);
    ck_assert_int_eq(f.nodes.items[4].match, PICTURE_NO_MATCH);
    ck_assert_int_eq(f.nodes.items[5].match, PICTURE_MATCH_BELOW); /* leaf is summed up in it */
    picture_free(&f);
    const uint32_t root[] = {place_of(&x.profile, "main"), place_of(&x.profile, "parse")};
    spec.root = root;
    spec.n_root = 2;
    ck_assert(picture_query(&x.view, &spec, &f));
    ck_assert_uint_eq(f.matched.samples, 70); /* of what is shown */
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

START_TEST(what_is_not_summed_up_is_counted) {
    looked x;
    picture f;
    look(&x, CALLPATHS_DOWN);
    const picture_spec spec = {.min_percent = 5, .most = 2, .rows = 3, .only_counted = true};
    ck_assert(picture_query(&x.view, &spec, &f));
    ck_assert_uint_eq(f.nodes.count, 4);
    ck_assert_uint_eq(f.nodes.items[0].omitted, 0);
    ck_assert_uint_eq(f.nodes.items[1].omitted, 2); /* leaf is the third, List.map too narrow */
    ck_assert_uint_eq(f.nodes.items[2].omitted, 1); /* what parse calls is in no row */
    ck_assert_uint_eq(f.nodes.items[3].omitted, 0);
    picture_free(&f);
    look_away(&x);
    forget(&x);
}
END_TEST

/* ---- ways to look ------------------------------------------------------------------------ */

/* The child of this number, as a picture of all has it, with the samples of all below it. */
static uint32_t follow(const looked *x, const picture *f, uint32_t parent, uint32_t child,
                       const char *function, uint64_t samples) {
    for (uint32_t i = parent + 1; i < f->nodes.count; i++)
        if (f->nodes.items[i].parent == parent && child-- == 0) {
            ck_assert_str_eq(name_of(&x->profile, &f->nodes.items[i]), function);
            ck_assert_uint_eq(f->nodes.items[i].total.samples, samples);
            return i;
        }
    ck_abort_msg("%s is not there", function);
    return 0;
}

static void paint_all(looked *x, callpaths_spec spec, const char *focus, picture *f) {
    look_at(x, spec, focus);
    ck_assert(picture_query(&x->view, &(picture_spec){.rows = 100}, f));
    look_away(x);
}

START_TEST(callers_and_callees_surround_the_focus) {
    looked x;
    picture f;
    tape_start(&x.tape, 0.5);
    allocate(&x.tape, 1, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF, PARSE, LEAF, EVAL));
    allocate(&x.tape, 2, MEMTRACE_MINOR, 9, 2, STACK(MAIN, EVAL, LEAF));
    allocate(&x.tape, 3, MEMTRACE_MINOR, 9, 4, STACK(MAIN, EVAL));
    tape_read(&x.tape, &x.profile, false);
    ck_assert(query_run(&x.query, &x.profile, &(query_spec){0}));
    paint_all(&x, (callpaths_spec){.shape = CALLPATHS_CALLERS}, "leaf", &f);
    ck_assert_uint_eq(f.nodes.items[0].total.samples, 3);
    follow(&x, &f, follow(&x, &f, 0, 0, "eval", 2), 0, "main", 2);
    follow(&x, &f, follow(&x, &f, 0, 1, "parse", 1), 0, "leaf", 1); /* the innermost occurrence */
    picture_free(&f);
    paint_all(&x, (callpaths_spec){.shape = CALLPATHS_CALLEES}, "/^le/", &f);
    ck_assert_uint_eq(f.nodes.items[0].total.samples, 3);
    ck_assert_uint_eq(f.nodes.items[0].self.samples, 2);
    follow(&x, &f, follow(&x, &f, 0, 0, "parse", 1), 0, "leaf", 1); /* the outermost one */
    picture_free(&f);
    paint_all(&x, (callpaths_spec){.shape = CALLPATHS_CALLERS}, "parse > leaf", &f);
    follow(&x, &f, follow(&x, &f, 0, 0, "leaf", 1), 0, "main", 1);
    picture_free(&f);
    paint_all(&x, (callpaths_spec){.collapse = true}, NULL, &f);
    const uint32_t main = follow(&x, &f, 0, 0, "main", 7),
                   leaf = follow(&x, &f, main, 1, "leaf", 1);
    follow(&x, &f, leaf, 0, "eval", 1); /* from the inner leaf, which is the same row */
    picture_free(&f);
    forget(&x);
}
END_TEST

START_TEST(collapsed_paths_go_back_in_their_own_direction) {
    looked x;
    picture f;
    tape_start(&x.tape, 0.5);
    allocate(&x.tape, 1, MEMTRACE_MINOR, 9, 1, STACK(MAIN, PARSE, EVAL, PARSE, LEAF, EVAL));
    tape_read(&x.tape, &x.profile, false);
    ck_assert(query_run(&x.query, &x.profile, &(query_spec){0}));
    paint_all(&x, (callpaths_spec){.collapse = true}, NULL, &f);
    uint32_t at = follow(&x, &f, follow(&x, &f, 0, 0, "main", 1), 0, "parse", 1);
    at = follow(&x, &f, follow(&x, &f, at, 0, "leaf", 1), 0, "eval", 1);
    ck_assert_uint_eq(at + 1, f.nodes.count);
    picture_free(&f);
    paint_all(&x, (callpaths_spec){.shape = CALLPATHS_INVERTED, .collapse = true}, NULL, &f);
    at = follow(&x, &f, follow(&x, &f, 0, 0, "eval", 1), 0, "parse", 1); /* not by way of leaf */
    at = follow(&x, &f, at, 0, "main", 1);
    ck_assert_uint_eq(at + 1, f.nodes.count);
    picture_free(&f);
    forget(&x);
}
END_TEST

/* As a cache does that has forgotten some of it. */
START_TEST(a_view_may_be_made_again_in_parts) {
    looked x;
    picture f;
    record_tree(&x.tape, &x.profile);
    ck_assert(query_run(&x.query, &x.profile, &(query_spec){0}));
    look_at(&x, (callpaths_spec){.collapse = true}, NULL);
    path_tree_free((path_tree *)(uintptr_t)x.view.seen[0]);
    x.view.seen[0] = callpaths_see(&x.view, 0);
    ck_assert(x.view.seen[0]);
    ck_assert(picture_query(&x.view, &(picture_spec){.rows = 100}, &f));
    follow(&x, &f, follow(&x, &f, 0, 0, "main", 100), 0, "parse", 70);
    picture_free(&f);
    look_away(&x);
    forget(&x);
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
    callpaths view;
    functions_list list;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, EVAL, PARSE, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 2, STACK(MAIN, EVAL, PARSE));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 4, STACK(MAIN, PARSE));
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){0}));
    ck_assert(callpaths_make(&view, &q, NULL, &(callpaths_spec){0}));
    ck_assert(functions_query(&view, &list));
    ck_assert_uint_eq(list.count, 3);
    ck_assert_uint_eq(entry_of(&list, "main")->total.samples, 7);
    ck_assert_uint_eq(entry_of(&list, "eval")->total.samples, 3);
    ck_assert_uint_eq(entry_of(&list, "eval")->self.samples, 1);
    ck_assert_uint_eq(entry_of(&list, "parse")->total.samples, 7);
    ck_assert_uint_eq(entry_of(&list, "parse")->self.samples, 6);
    vec_free(&list);
    callpaths_free(&view);
    query_free(&q);
    profile_free(&p);
}
END_TEST

START_TEST(a_line_counts_a_stack_once_whatever_is_on_it) {
    tape t;
    profile p;
    query_result q;
    callpaths view;
    functions_list list;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 99, 1, STACK(MAIN, EVAL, LIB_MAP, EVAL_WITHIN));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 2, STACK(MAIN, EVAL, LIB_MAP, EVAL_WITHIN, LEAF));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 4, STACK(MAIN, LIB_MAP, EVAL_WITHIN, EVAL, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 8, STACK(MAIN, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 99, 16, STACK(MAIN, PARSE));
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){0}));
    ck_assert(callpaths_make(&view, &q, NULL, &(callpaths_spec){.by_line = true}));
    ck_assert(functions_query(&view, &list));
    const char *file = entry_of(&list, "eval")->place->file;
    vec_free(&list);
    ck_assert(functions_query_lines(&view, file, &list));
    ck_assert_uint_eq(list.count, 1); /* no other file */
    ck_assert_uint_eq(list.items[0].place->line, 50);
    ck_assert_uint_eq(list.items[0].total.samples, 15);
    ck_assert_uint_eq(list.items[0].total.blocks, 4);
    ck_assert_uint_eq(list.items[0].self.samples, 13);
    vec_free(&list);
    callpaths_free(&view);
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
    callpaths view;
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
    ck_assert(callpaths_make(&view, &q, NULL, &(callpaths_spec){0}));
    ck_assert(hotpaths_query(&view, 0.2, &h));
    ck_assert_uint_eq(h.fragments.count, 3);
    expect_fragment(&h, 0, "parse > leaf", 40); /* main is on all paths */
    expect_fragment(&h, 1, "eval > leaf", 24);
    expect_fragment(&h, 2, "eval > List.map", 24);
    ck_assert(h.fragments.items[1].ends_in_site && !h.fragments.items[2].ends_in_site);
    hotpaths_free(&h);
    ck_assert(hotpaths_query(&view, 0.5, &h)); /* no one caller of leaf has so much */
    ck_assert_uint_eq(h.fragments.count, 1);
    expect_fragment(&h, 0, "leaf", 68);
    hotpaths_free(&h);
    callpaths_free(&view);
    query_free(&q);
    profile_free(&p);
}
END_TEST

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
            callpaths view;
            ck_assert(callpaths_make(&view, &q, NULL, &(callpaths_spec){.collapse = collapse}));
            for (size_t i = 0; collapse && i < STACKS; i++)
                collapse_stack(&s, i);
            for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
                hotpaths h;
                ck_assert(hotpaths_query(&view, shares[k], &h));
                contested += expect_disjoint(&s, &h, shares[k], &q.total);
                n += h.fragments.count;
                hotpaths_free(&h);
            }
            callpaths_free(&view);
        }
        query_free(&q);
        profile_free(&p);
    }
    ck_assert_uint_gt(n, 2000);
    ck_assert_uint_gt(contested, 2000); /* it was tempted */
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("callpaths");
    TCase *t = tcase_create("callpaths");
    tcase_add_test(t, narrow_nodes_are_summed_up);
    tcase_add_test(t, outward_callers_are_counted);
    tcase_add_test(t, rows_end_and_say_so);
    tcase_add_test(t, a_picture_may_begin_at_a_path);
    tcase_add_test(t, each_stack_that_matches_counts_once);
    tcase_add_test(t, what_is_not_summed_up_is_counted);
    tcase_add_test(t, callers_and_callees_surround_the_focus);
    tcase_add_test(t, collapsed_paths_go_back_in_their_own_direction);
    tcase_add_test(t, a_view_may_be_made_again_in_parts);
    tcase_add_test(t, a_function_counts_a_stack_once);
    tcase_add_test(t, a_line_counts_a_stack_once_whatever_is_on_it);
    tcase_add_test(t, fragments_take_each_stack_once);
    tcase_add_test(t, no_block_is_in_two_fragments);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
