/* Tests of views of call paths: pictures, functions and hot paths, in all the ways that one can
 * look; and that what is computed without a tree is what every single stack says. */
#include <stdio.h>

#include "paths/functions.h"
#include "paths/hotpaths.h"
#include "paths/picture.h"
#include "tape.h"
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

static uint32_t place_of(const profile *p, const char *function) {
    for (uint32_t i = 0; i < p->locations.count; i++)
        if (strcmp(p->locations.items[i].function, function) == 0)
            return i;
    ck_abort_msg("no function %s", function);
    return 0;
}

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
        const cost_entry *e = &q->costs.items[i];
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
    uint64_t seed = 7;
    size_t n = 0;
    filter *minor;
    filter_error error;
    ck_assert(filter_parse("heap:minor", &minor, &error));
    for (int round = 0; round < 300; round++) {
        tape t;
        profile p;
        query_result q;
        const query_spec spec = {.measure = round % 2 ? MEASURE_BLOCKS : MEASURE_ALLOCATED,
                                 .filter = round % 4 < 2 ? minor : NULL};
        record_stacks(&t, &p, 0.5, &seed);
        ck_assert(query_run(&q, &p, &spec));
        n += expect_same(&q, NULL, &seed);
        query_free(&q);
        profile_free(&p);
    }
    filter_free(minor);
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
    tcase_add_test(t, views_say_what_single_stacks_say);
    tcase_add_test(t, comparisons_say_what_single_stacks_say);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
