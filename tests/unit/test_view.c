/* Tests of what the viewer asks of queries: peaks, and filters while they are typed. */
#include <stdio.h>

#include "query/filter_complete.h"
#include "query/peaks.h"
#include "tape.h"
#include "unit.h"

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
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, PARSE, LEAF));
    allocate(&t, 0, MEMTRACE_EXTERNAL, 9, 1, STACK(MAIN, PARSE, XMALLOC));
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LIB_MAP));
    tape_read_blocks(&t, &p, false);
    expect_completion(&p, "he|", 0, 2, "heap:");
    expect_completion(&p, "pro|", 0, 3, "promoted");
    expect_completion(&p, "fn:main -li|fe:x", 9, 14, "live: life:");
    expect_completion(
        &p, "|", 0, 0,
        "alloc: live: size: life: heap: fn: file: module: type: domain: promoted survived hide: "
        "hide-file: hide-module: below: above: path: recursion: repeats:");
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
    tcase_add_test(t, peaks_are_where_memory_fell_on_both_sides);
    tcase_add_test(t, nothing_live_has_no_peak);
    tcase_add_test(t, terms_are_found_in_any_text);
    tcase_add_test(t, what_could_stand_at_the_cursor);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
