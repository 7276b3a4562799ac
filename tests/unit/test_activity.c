/* Tests of activity: what sites hold, allocated and gained in a window, and in which order. */
#include <string.h>

#include "query/activity.h"
#include "tape.h"
#include "unit.h"

/* A window from 100 µs to 200 µs. One site keeps 10 words from before, loses 3 of them in the
 * window and gets 4; another churns 50 words in it, and 100 before. */
static profile make_two(void) {
    tape t;
    profile p;
    tape_start(&t, 1);
    allocate(&t, 10, MEMTRACE_EXTERNAL, 6, 7, STACK(MAIN, PARSE));
    const uint64_t lost = allocate(&t, 20, MEMTRACE_EXTERNAL, 2, 3, STACK(MAIN, PARSE));
    uint64_t churned = allocate(&t, 30, MEMTRACE_EXTERNAL, 99, 100, STACK(MAIN, EVAL));
    ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 40, churned), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 120, lost), MEMTRACE_OK);
    allocate(&t, 130, MEMTRACE_EXTERNAL, 3, 4, STACK(MAIN, PARSE));
    churned = allocate(&t, 140, MEMTRACE_EXTERNAL, 49, 50, STACK(MAIN, EVAL));
    ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 150, churned), MEMTRACE_OK);
    tape_read_blocks(&t, &p, false);
    return p;
}

static void ask(const profile *p, const filter *f, activity_order order, query_result *q,
                activity *a) {
    ck_assert(query_run(q, p, &(query_spec){.filter = f, .keep_rows = true}));
    ck_assert(activity_query(q, 100, 200, order, a));
}

START_TEST(a_window_is_counted) {
    profile p = make_two();
    query_result q;
    activity a;
    ask(&p, NULL, ACTIVITY_BY_LIVE, &q, &a);
    ck_assert_uint_eq(a.sites.count, 2);
    const activity_site *keeps = &a.sites.items[0], *churns = &a.sites.items[1];
    ck_assert_uint_eq(keeps->live, 11);
    ck_assert_uint_eq(keeps->allocated, 14);
    ck_assert_uint_eq(keeps->recent, 4);
    ck_assert_uint_eq(keeps->came, 4);
    ck_assert_uint_eq(keeps->went, 3);
    ck_assert_uint_eq(churns->live, 0);
    ck_assert_uint_eq(churns->allocated, 150);
    ck_assert_uint_eq(churns->recent, 50);
    ck_assert_uint_eq(churns->came + churns->went, 0);
    ck_assert_uint_eq(a.total.live, 11);
    ck_assert_uint_eq(a.total.allocated, 164);
    ck_assert_uint_eq(a.total.recent, 54);
    activity_free(&a);
    query_free(&q);
    profile_free(&p);
}
END_TEST

/* The site that keeps is first by these orders, and not by the others. */
START_TEST(sites_are_sorted) {
    static const bool keeps_first[ACTIVITY_N_ORDERS] = {
        [ACTIVITY_BY_LIVE] = true, [ACTIVITY_BY_GROWTH] = true};
    profile p = make_two();
    for (int order = 0; order < ACTIVITY_N_ORDERS; order++) {
        query_result q;
        activity a;
        ask(&p, NULL, (activity_order)order, &q, &a);
        ck_assert_int_eq(a.sites.items[0].live > 0, keeps_first[order]);
        activity_free(&a);
        query_free(&q);
    }
    profile_free(&p);
}
END_TEST

/* Clocks that are read rarely give many blocks the time 0. */
START_TEST(a_window_from_the_start_has_all_that_is_older_than_its_end) {
    tape t;
    profile p;
    query_result q;
    activity a;
    tape_start(&t, 1);
    allocate(&t, 0, MEMTRACE_EXTERNAL, 6, 7, STACK(MAIN, PARSE));
    const uint64_t lost = allocate(&t, 0, MEMTRACE_EXTERNAL, 2, 3, STACK(MAIN, PARSE));
    ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 40, lost), MEMTRACE_OK);
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){.keep_rows = true}));
    ck_assert(activity_query(&q, 0, 50, ACTIVITY_BY_RATE, &a));
    ck_assert_uint_eq(a.total.recent, 10);
    ck_assert_uint_eq(a.total.came, 7);
    ck_assert_uint_eq(a.total.went, 0);
    activity_free(&a);
    query_free(&q);
    profile_free(&p);
}
END_TEST

START_TEST(a_filter_leaves_out_blocks_and_sites) {
    profile p = make_two();
    query_result q;
    activity a;
    filter *f;
    ck_assert(filter_parse("size:<=24", &f, &(filter_error){0}));
    ask(&p, f, ACTIVITY_BY_LIVE, &q, &a);
    ck_assert_uint_eq(a.sites.count, 1);
    ck_assert_uint_eq(a.total.allocated, 7);
    activity_free(&a);
    query_free(&q);
    filter_free(f);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("activity");
    TCase *t = tcase_create("activity");
    tcase_add_test(t, a_window_is_counted);
    tcase_add_test(t, a_window_from_the_start_has_all_that_is_older_than_its_end);
    tcase_add_test(t, sites_are_sorted);
    tcase_add_test(t, a_filter_leaves_out_blocks_and_sites);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
