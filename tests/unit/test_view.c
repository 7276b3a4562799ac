/* Tests of the parts of the viewer that have no socket: who may ask, the cache, pictures of trees.
 */
#include <pthread.h>

#include <stdio.h>

#include "analyse/flame.h"
#include "present/http/cache.h"
#include "present/http/guard.h"
#include "tape.h"
#include "unit.h"

/* ---- who may ask ------------------------------------------------------------------------- */

START_TEST(names_of_this_machine_are_hosts) {
    guard g;
    ck_assert(guard_init(&g, "box.example", false, 8080));
    ck_assert(guard_host(&g, "localhost"));
    ck_assert(guard_host(&g, "127.0.0.1:8080"));
    ck_assert(guard_host(&g, "[::1]:9"));
    ck_assert(guard_host(&g, "BOX.example:8080"));
    ck_assert(!guard_host(&g, NULL));
    ck_assert(!guard_host(&g, ""));
    ck_assert(!guard_host(&g, "10.0.0.1"));
    ck_assert(!guard_host(&g, "example"));
    ck_assert(!guard_host(&g, "box.example.evil"));
    ck_assert(!guard_host(&g, "[::1]x"));
}
END_TEST

START_TEST(all_addresses_are_hosts_where_it_listens_at_all) {
    guard g;
    ck_assert(guard_init(&g, NULL, true, 1));
    ck_assert(guard_host(&g, "10.0.0.1:1"));
    ck_assert(guard_host(&g, "[fe80::1]:1"));
    ck_assert(!guard_host(&g, "evil.example"));
}
END_TEST

START_TEST(tokens_are_compared_as_a_whole) {
    guard g;
    char cookie[200], token[100];
    ck_assert(guard_init(&g, NULL, false, 8081));
    ck_assert_uint_eq(strlen(g.token), GUARD_TOKEN_SIZE);
    ck_assert(guard_token(&g, g.token, NULL));
    snprintf(cookie, sizeof cookie, "x=y; allotrace-8081=%s", g.token);
    ck_assert(guard_token(&g, NULL, cookie));
    ck_assert(!guard_token(&g, NULL, g.token));
    ck_assert(!guard_token(&g, "", ""));
    ck_assert(!guard_token(&g, NULL, NULL));
    for (size_t i = 0; i < GUARD_TOKEN_SIZE; i++) {
        memcpy(token, g.token, sizeof g.token);
        token[i] ^= 1;
        ck_assert(!guard_token(&g, token, NULL));
    }
}
END_TEST

/* ---- the cache --------------------------------------------------------------------------- */

typedef struct counted {
    int made, released; /* under the lock of the test */
    pthread_mutex_t lock;
    bool fails;
    size_t size;
} counted;

typedef struct counted_value {
    counted *of;
    int number;
} counted_value;

static void release_counted(void *value) {
    counted_value *v = value;
    pthread_mutex_lock(&v->of->lock);
    v->of->released++;
    pthread_mutex_unlock(&v->of->lock);
    free(v);
}

static bool make_counted(void *context, cache_value *value) {
    counted *c = context;
    if (c->fails)
        return false;
    counted_value *v = malloc(sizeof *v);
    ck_assert_ptr_nonnull(v);
    pthread_mutex_lock(&c->lock);
    *v = (counted_value){.of = c, .number = ++c->made};
    pthread_mutex_unlock(&c->lock);
    *value = (cache_value){.value = v, .size = c->size, .release = release_counted};
    return true;
}

static int number_of(const cache_entry *e) {
    const counted_value *v = cache_entry_value(e);
    return v->number;
}

START_TEST(what_is_asked_again_is_not_made_again) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(25);
    cache_entry *a = cache_get(all, "a", make_counted, &c),
                *b = cache_get(all, "b", make_counted, &c);
    ck_assert_int_eq(number_of(a), 1);
    ck_assert_int_eq(number_of(b), 2);
    cache_release(all, a);
    cache_release(all, b);
    a = cache_get(all, "a", make_counted, &c); /* now the newest */
    ck_assert_int_eq(number_of(a), 1);
    cache_release(all, a);
    cache_release(all, cache_get(all, "c", make_counted, &c)); /* b goes */
    ck_assert_int_eq(c.released, 1);
    a = cache_get(all, "a", make_counted, &c);
    ck_assert_int_eq(number_of(a), 1);
    cache_release(all, a);
    cache_free(all);
    ck_assert_int_eq(c.made, 3);
    ck_assert_int_eq(c.released, 3);
}
END_TEST

START_TEST(what_is_in_use_stays) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(5);
    cache_entry *a = cache_get(all, "a", make_counted, &c);
    cache_entry *b = cache_get(all, "b", make_counted, &c);
    cache_release(all, b);
    ck_assert_int_eq(c.released, 1);
    cache_forget(all, "a");
    ck_assert_int_eq(number_of(a), 1); /* still there for its user, for nobody else */
    cache_entry *again = cache_get(all, "a", make_counted, &c);
    ck_assert_int_eq(number_of(again), 3);
    cache_release(all, a);
    ck_assert_int_eq(c.released, 2);
    cache_release(all, again);
    cache_free(all);
    ck_assert_int_eq(c.released, 3);
}
END_TEST

START_TEST(failures_are_not_remembered) {
    counted c = {.size = 1, .fails = true, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(5);
    ck_assert_ptr_null(cache_get(all, "a", make_counted, &c));
    c.fails = false;
    cache_entry *a = cache_get(all, "a", make_counted, &c);
    ck_assert_ptr_nonnull(a);
    cache_release(all, a);
    cache_free(all);
}
END_TEST

typedef struct crowd {
    cache *all;
    counted *c;
} crowd;

static void *ask_often(void *context) {
    const crowd *k = context;
    for (int i = 0; i < 2000; i++) {
        char key[8];
        snprintf(key, sizeof key, "%d", i % 7);
        cache_entry *e = cache_get(k->all, key, make_counted, k->c);
        if (i % 97 == 0)
            cache_forget(k->all, "3");
        ck_assert_int_gt(number_of(e), 0);
        cache_release(k->all, e);
    }
    return NULL;
}

START_TEST(threads_may_ask_at_once) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    crowd k = {.all = cache_new(45), .c = &c};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, &k), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cache_free(k.all);
    ck_assert_int_eq(c.made, c.released);
}
END_TEST

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
                        uint64_t samples, uint32_t parent, uint32_t sites) {
    ck_assert_uint_gt(f->nodes.count, i);
    const flame_node *n = &f->nodes.items[i];
    ck_assert_str_eq(name_of(x, n), name);
    ck_assert_uint_eq(n->total.samples, samples);
    ck_assert_uint_eq(n->parent, parent);
    ck_assert_uint_eq(n->sites, sites);
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

static Suite *suite(void) {
    Suite *s = suite_create("view");
    TCase *t = tcase_create("view");
    tcase_add_test(t, names_of_this_machine_are_hosts);
    tcase_add_test(t, all_addresses_are_hosts_where_it_listens_at_all);
    tcase_add_test(t, tokens_are_compared_as_a_whole);
    tcase_add_test(t, what_is_asked_again_is_not_made_again);
    tcase_add_test(t, what_is_in_use_stays);
    tcase_add_test(t, failures_are_not_remembered);
    tcase_add_test(t, threads_may_ask_at_once);
    tcase_add_test(t, narrow_nodes_are_summed_up);
    tcase_add_test(t, outward_callers_are_counted);
    tcase_add_test(t, rows_end_and_say_so);
    tcase_add_test(t, a_picture_may_begin_at_a_path);
    tcase_add_test(t, each_stack_that_matches_counts_once);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
