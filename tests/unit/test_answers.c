/* Tests of what requests to the viewer share, without a socket: who may ask, the cache, answers
 * that are kept. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "advice/advise.h"
#include "serve/api.h"
#include "serve/cache.h"
#include "serve/guard.h"
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

START_TEST(the_newest_may_stay_however_large) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(25);
    const char *const keys[] = {"a", "b", "c"};
    cache_limit(all, 5, 2);
    for (size_t i = 0; i < 3; i++)
        cache_release(all, cache_get(all, keys[i], make_counted, &c));
    ck_assert_int_eq(c.released, 1);
    cache_release(all, cache_get(all, "b", make_counted, &c));
    ck_assert_int_eq(c.made, 3);
    cache_limit(all, 5, 0);
    ck_assert_int_eq(c.released, 3);
    cache_free(all);
}
END_TEST

/* A value whose maker fails while another thread waits for it. */
typedef struct unlucky {
    cache *all;
    atomic_int tried, begun;
    atomic_bool second_asks;
} unlucky;

static bool make_at_second(void *context, cache_value *value) {
    unlucky *u = context;
    if (u->tried++ > 0) {
        *value = (cache_value){.value = malloc(1), .size = 1, .release = free};
        return true;
    }
    u->begun = 1;
    while (!u->second_asks)
        sched_yield();
    return false;
}

static void *ask_first(void *context) {
    unlucky *u = context;
    ck_assert_ptr_null(cache_get(u->all, "a", make_at_second, u));
    return NULL;
}

START_TEST(who_waits_for_one_that_fails_tries_himself) {
    unlucky u = {.all = cache_new(5)};
    pthread_t first;
    ck_assert_int_eq(pthread_create(&first, NULL, ask_first, &u), 0);
    while (!u.begun)
        sched_yield();
    u.second_asks = true;
    cache_entry *e = cache_get(u.all, "a", make_at_second, &u);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(u.tried, 2);
    pthread_join(first, NULL);
    cache_release(u.all, e);
    cache_free(u.all);
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

/* ---- answers that are kept ------------------------------------------------------------------ */

static void record(profile *p) {
    tape t;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 100, 60, STACK(MAIN, PARSE, LEAF));
    tape_read_blocks(&t, p, false);
}

static atomic_int advised;

bool __real_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advise *result);
bool __wrap_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advise *result);

bool __wrap_advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                             advise *result) {
    advised++;
    return __real_advise_query_for(asker, q, min_share, result);
}

/* The answer to a request for advice, which the caller frees. */
static char *ask_advice(viewer *v, const char *terms, const char *share) {
    const api_parameter parameters[] = {{"filter", terms}, {"share", share}};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert_int_eq(api_answer(v, "advice", parameters, 2, NULL, &o), 200);
    output_char(&o, '\0');
    ck_assert_int_eq(o.error, 0);
    return o.buffer;
}

START_TEST(advice_is_not_sought_again) {
    static const struct {
        const char *filter, *share;
        int advised;
    } asked[] = {{"", "10", 1}, {"", "10", 1}, {"size:50w", "10", 2}, {"", "20", 3}, {"", "10", 3}};
    profile p;
    viewer v;
    char name[] = "a.ctf", *first = NULL;
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *answer = ask_advice(&v, asked[i].filter, asked[i].share);
        ck_assert_int_eq(advised, asked[i].advised);
        if (asked[i].advised == 1 && first)
            ck_assert_str_eq(answer, first);
        free(first);
        first = answer;
    }
    free(first);
    record(&p);
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    free(ask_advice(&v, "", "10"));
    ck_assert_int_eq(advised, 4);
    viewer_free(&v);
}
END_TEST

/* Where no memory was ever taken for rows, none may be moved: what checks for that says so. */
START_TEST(a_table_may_be_empty) {
    const api_parameter parameters[] = {{"filter", "fn:nowhere"}, {"kind", "leaks"}};
    profile p;
    viewer v;
    output o;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    for (size_t n = 1; n <= 2; n++) {
        output_start(&o, OUTPUT_MEMORY);
        ck_assert_int_eq(api_answer(&v, "table", parameters, n, NULL, &o), 200);
        output_finish(&o);
    }
    viewer_free(&v);
}
END_TEST

static bool goes_at_once(void *context) {
    ++*(int *)context;
    return true;
}

START_TEST(a_search_ends_when_its_client_has_gone) {
    const api_parameter parameters[] = {{"search", "leaf"}};
    int asked = 0;
    const api_client client = {goes_at_once, &asked};
    profile p;
    viewer v;
    output o;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    output_start(&o, OUTPUT_MEMORY);
    ck_assert_int_eq(api_answer(&v, "tree", parameters, 1, &client, &o), 503);
    ck_assert_int_eq(asked, 1);
    o.used = 0;
    ck_assert_int_eq(api_answer(&v, "tree", parameters, 1, NULL, &o), 200);
    output_finish(&o);
    viewer_free(&v);
}
END_TEST

START_TEST(advice_ends_when_its_client_has_gone) {
    int asked = 0;
    const api_client client = {goes_at_once, &asked};
    profile p;
    viewer v;
    output o;
    char name[] = "a.ctf";
    record(&p);
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    output_start(&o, OUTPUT_MEMORY);
    ck_assert_int_eq(api_answer(&v, "advice", NULL, 0, &client, &o), 503);
    ck_assert_int_ge(asked, 1);
    o.used = 0;
    ck_assert_int_eq(api_answer(&v, "advice", NULL, 0, NULL, &o), 200);
    output_finish(&o);
    viewer_free(&v);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("answers");
    TCase *t = tcase_create("answers");
    tcase_add_test(t, names_of_this_machine_are_hosts);
    tcase_add_test(t, all_addresses_are_hosts_where_it_listens_at_all);
    tcase_add_test(t, tokens_are_compared_as_a_whole);
    tcase_add_test(t, what_is_asked_again_is_not_made_again);
    tcase_add_test(t, what_is_in_use_stays);
    tcase_add_test(t, the_newest_may_stay_however_large);
    tcase_add_test(t, who_waits_for_one_that_fails_tries_himself);
    tcase_add_test(t, failures_are_not_remembered);
    tcase_add_test(t, threads_may_ask_at_once);
    tcase_add_test(t, advice_is_not_sought_again);
    tcase_add_test(t, a_table_may_be_empty);
    tcase_add_test(t, a_search_ends_when_its_client_has_gone);
    tcase_add_test(t, advice_ends_when_its_client_has_gone);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
