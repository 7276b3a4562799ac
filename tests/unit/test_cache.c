/* test_cache.c: answers that are kept, and computed once for all who ask at a time. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "answers/cache.h"
#include "unit.h"

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

static cache_entry *get_counted(cache *all, const char *key, counted *c) {
    return cache_get(all, key, (cache_maker){.make = make_counted, .context = c});
}

static int number_of(const cache_entry *e) {
    const counted_value *v = cache_entry_value(e);
    return v->number;
}

START_TEST(what_is_asked_again_is_not_made_again) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(25);
    cache_entry *a = get_counted(all, "a", &c), *b = get_counted(all, "b", &c);
    ck_assert_int_eq(number_of(a), 1);
    ck_assert_int_eq(number_of(b), 2);
    cache_release(all, a);
    cache_release(all, b);
    a = get_counted(all, "a", &c); /* now the newest */
    ck_assert_int_eq(number_of(a), 1);
    cache_release(all, a);
    cache_release(all, get_counted(all, "c", &c)); /* b goes */
    ck_assert_int_eq(c.released, 1);
    a = get_counted(all, "a", &c);
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
    cache_entry *a = get_counted(all, "a", &c);
    cache_entry *b = get_counted(all, "b", &c);
    cache_release(all, b);
    ck_assert_int_eq(c.released, 1);
    cache_forget(all, "a");
    ck_assert_int_eq(number_of(a), 1); /* still there for its user, for nobody else */
    cache_entry *again = get_counted(all, "a", &c);
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
    cache_limit(all, 5);
    cache_protect(all, 2);
    for (size_t i = 0; i < 3; i++)
        cache_release(all, get_counted(all, keys[i], &c));
    ck_assert_int_eq(c.released, 1);
    cache_release(all, get_counted(all, "b", &c));
    ck_assert_int_eq(c.made, 3);
    cache_limit(all, 5);
    cache_protect(all, 0);
    ck_assert_int_eq(c.released, 3);
    cache_free(all);
}
END_TEST

START_TEST(an_entry_can_be_the_last_or_the_first_to_go) {
    static const char *const keys[] = {"a", "b", "c"};
    counted c = {.size = 1};
    cache *all = cache_new(3);
    cache_entry *entries[3];
    for (size_t i = 0; i < 3; i++)
        entries[i] = get_counted(all, keys[i], &c);
    cache_touch(all, entries[0]);
    cache_give_up(all, entries[2]);
    cache_release(all, entries[1]);
    cache_release(all, entries[0]);
    for (size_t left = 3; left > 0; left--) { /* c, b, a go */
        cache_limit(all, left - 1);
        ck_assert_int_eq(c.released, 4 - (int)left);
        const int made = c.made;
        if (left > 1)
            cache_release(all, get_counted(all, "a", &c));
        ck_assert_int_eq(c.made, made);
    }
    cache_free(all);
}
END_TEST

START_TEST(room_is_made_of_all_that_nobody_uses) {
    counted c = {.size = 1};
    cache *all = cache_new(9);
    cache_protect(all, 2);
    cache_entry *used = get_counted(all, "a", &c);
    cache_release(all, get_counted(all, "b", &c));
    cache_release(all, get_counted(all, "c", &c));
    cache_make_room(all);
    ck_assert_int_eq(c.released, 2);
    ck_assert_int_eq(number_of(used), 1);
    cache_release(all, used);
    cache_free(all);
}
END_TEST

static bool make_when_others_are_gone(void *context, cache_value *value) {
    counted *c = context;
    ck_assert_int_eq(c->released, 1);
    return make_counted(context, value);
}

START_TEST(others_go_before_a_large_one_is_made) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(45);
    const cache_maker maker = {.make = make_when_others_are_gone, .context = &c, .needs = 25};
    cache_limit(all, 45);
    cache_protect(all, 2);
    cache_release(all, get_counted(all, "a", &c));
    cache_entry *used = get_counted(all, "b", &c);
    cache_release(all, get_counted(all, "c", &c));
    cache_release(all, cache_get(all, "d", maker)); /* without a */
    ck_assert_int_eq(c.released, 1);
    cache_release(all, used);
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
    ck_assert_ptr_null(cache_get(u->all, "a", (cache_maker){make_at_second, u, 0}));
    return NULL;
}

START_TEST(who_waits_for_one_that_fails_tries_himself) {
    unlucky u = {.all = cache_new(5)};
    pthread_t first;
    ck_assert_int_eq(pthread_create(&first, NULL, ask_first, &u), 0);
    while (!u.begun)
        sched_yield();
    u.second_asks = true;
    cache_entry *e = cache_get(u.all, "a", (cache_maker){make_at_second, &u, 0});
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(u.tried, 2);
    pthread_join(first, NULL);
    cache_release(u.all, e);
    cache_free(u.all);
}
END_TEST

START_TEST(what_is_only_looked_for_is_not_made) {
    counted c = {.size = 10, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(25);
    ck_assert_ptr_null(cache_find(all, "a"));
    cache_entry *a = get_counted(all, "a", &c);
    ck_assert_ptr_eq(cache_find(all, "a"), a);
    cache_release(all, a);
    cache_release(all, a);
    cache_free(all);
    ck_assert_int_eq(c.made, 1);
}
END_TEST

START_TEST(failures_are_not_remembered) {
    counted c = {.size = 1, .fails = true, .lock = PTHREAD_MUTEX_INITIALIZER};
    cache *all = cache_new(5);
    ck_assert_ptr_null(get_counted(all, "a", &c));
    c.fails = false;
    cache_entry *a = get_counted(all, "a", &c);
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
        cache_entry *e = get_counted(k->all, key, k->c);
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

static Suite *suite(void) {
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("cache");
    tcase_add_test(t, what_is_asked_again_is_not_made_again);
    tcase_add_test(t, what_is_in_use_stays);
    tcase_add_test(t, the_newest_may_stay_however_large);
    tcase_add_test(t, an_entry_can_be_the_last_or_the_first_to_go);
    tcase_add_test(t, room_is_made_of_all_that_nobody_uses);
    tcase_add_test(t, others_go_before_a_large_one_is_made);
    tcase_add_test(t, who_waits_for_one_that_fails_tries_himself);
    tcase_add_test(t, what_is_only_looked_for_is_not_made);
    tcase_add_test(t, failures_are_not_remembered);
    tcase_add_test(t, threads_may_ask_at_once);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
