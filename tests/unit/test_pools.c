/* Tests of pools and their blocks: what is known of them, against a simple model. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/pools.h"
#include "unit.h"

static memory tables;
static pools all;

static void begin(void) {
    memset(&all, 0, sizeof all);
    all.memory = &tables;
}

static void end(void) {
    pools_close(&all);
    memory_release(&tables);
}

static char place[1 << 16];

START_TEST(blocks_are_known_by_pool_and_address) {
    uint64_t before;
    ck_assert(!pools_may_know(&all, place, place));
    ck_assert(pools_put(&all, place, place, 7, &before));
    ck_assert_uint_eq(before, 0);
    ck_assert(pools_put(&all, NULL, place, 8, &before)); /* a pool within the other */
    ck_assert_uint_eq(before, 0);
    ck_assert(pools_put(&all, place, place, 9, &before));
    ck_assert_uint_eq(before, 7 + 1);
    ck_assert_uint_eq(pools_take(&all, place, place + 1), 0);
    ck_assert_uint_eq(pools_take(&all, place, place), 9 + 1);
    ck_assert_uint_eq(pools_take(&all, place, place), 0);
    ck_assert_uint_eq(pools_take(&all, NULL, place), 8 + 1);
    ck_assert(!pools_may_know(&all, NULL, place) && !pools_may_know_any(&all, NULL));
}
END_TEST

START_TEST(many_blocks_are_as_in_a_model) {
    enum { POOLS = 7, N = sizeof place, ROUNDS = 1000000 };
    static uint64_t model[POOLS][N]; /* ids + 1 */
    size_t counts[POOLS] = {0};
    uint64_t before;
    srand(1);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        const size_t p = (size_t)rand() % POOLS, at = (size_t)rand() % N;
        uint64_t *known = &model[p][at];
        if (rand() % 3) {
            ck_assert(pools_put(&all, &place[p], &place[at], i, &before));
            ck_assert_uint_eq(before, *known);
            counts[p] += !*known;
            *known = i + 1;
        } else {
            ck_assert(!*known || pools_may_know(&all, &place[p], &place[at]));
            ck_assert_uint_eq(pools_take(&all, &place[p], &place[at]), *known);
            counts[p] -= *known != 0;
            *known = 0;
        }
    }
    for (size_t p = 0; p < POOLS; p++) {
        const void *block;
        ck_assert_uint_eq(pools_count(&all, &place[p]), counts[p]);
        for (; counts[p] > 0; counts[p]--) {
            const uint64_t taken = pools_take_oldest(&all, &place[p], &block);
            ck_assert_uint_ne(taken, 0);
            ck_assert_uint_eq(taken, model[p][(const char *)block - place]);
            model[p][(const char *)block - place] = 0;
        }
        ck_assert_uint_eq(pools_take_oldest(&all, &place[p], &block), 0);
    }
}
END_TEST

START_TEST(what_is_closed_knows_nothing) {
    uint64_t before;
    const void *block;
    for (size_t i = 0; i < 1000; i++)
        ck_assert(pools_put(&all, place, &place[i], i, &before));
    pools_close(&all);
    ck_assert_uint_eq(pools_take(&all, place, place), 0);
    ck_assert_uint_eq(pools_count(&all, place), 0);
    ck_assert_uint_eq(pools_take_oldest(&all, place, &block), 0);
    ck_assert(pools_put(&all, place, place, 1, &before));
    ck_assert_uint_eq(pools_take(&all, place, place), 0);
}
END_TEST

static void *come_and_go(void *pool) {
    uint64_t before;
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 2000; i++)
            if (!pools_put(&all, pool, &place[i], i, &before) || before)
                return pool;
        for (size_t i = 0; i < 2000; i += 2)
            if (!pools_may_know(&all, pool, &place[i]) ||
                pools_take(&all, pool, &place[i]) != i + 1)
                return pool;
        const void *block;
        for (size_t n = pools_count(&all, pool); n > 0; n--)
            if (!pools_take_oldest(&all, pool, &block))
                return pool;
    }
    return NULL;
}

START_TEST(threads_may_be_at_it_together) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *failed;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &place[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(all.n, 0);
}
END_TEST

START_TEST(a_pool_has_the_name_that_it_was_given_last) {
    ck_assert_str_eq(pools_text(pools_name(place)), "(unnamed pool)");
    pools_call(place, "nodes");
    pools_call(NULL, "of no address");
    ck_assert_str_eq(pools_text(pools_name(place)), "nodes");
    pools_call(place, "cells");
    ck_assert_str_eq(pools_text(pools_name(place)), "cells");
    ck_assert_str_eq(pools_text(pools_name(NULL)), "of no address");
    pools_call(place, NULL);
    pools_call(NULL, "");
    ck_assert_uint_eq(pools_name(place), 0);
    ck_assert_uint_eq(pools_name(NULL), 0);
}
END_TEST

START_TEST(pools_come_and_go) {
    for (size_t i = 0; i < 1000000; i++) {
        const char *pool = &place[i % sizeof place];
        pools_call(pool, "request");
        ck_assert_str_eq(pools_text(pools_name(pool)), "request");
        pools_call(pool, NULL);
        ck_assert_uint_eq(pools_name(pool), 0);
    }
    size_t named = 0;
    for (size_t i = 0; i < sizeof place; i++) {
        pools_call(&place[i], "all at once");
        named += pools_name(&place[i]) != 0;
    }
    ck_assert_uint_ge(named, sizeof place / 5);
    for (size_t i = 0; i < sizeof place; i++)
        pools_call(&place[i], NULL);
    pools_call(place, "again");
    ck_assert_str_eq(pools_text(pools_name(place)), "again");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("pools");
    TCase *t = tcase_create("pools");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, blocks_are_known_by_pool_and_address);
    tcase_add_test(t, many_blocks_are_as_in_a_model);
    tcase_add_test(t, what_is_closed_knows_nothing);
    tcase_add_test(t, threads_may_be_at_it_together);
    tcase_add_test(t, a_pool_has_the_name_that_it_was_given_last);
    tcase_add_test(t, pools_come_and_go);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
