/* test_peaks.c: the peaks of a curve. */
#include "query/peaks.h"
#include "unit.h"

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

static Suite *suite(void) {
    Suite *s = suite_create("peaks");
    TCase *t = tcase_create("peaks");
    tcase_add_test(t, peaks_are_where_memory_fell_on_both_sides);
    tcase_add_test(t, nothing_live_has_no_peak);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
