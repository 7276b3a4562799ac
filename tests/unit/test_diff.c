/* Tests of src/query/diff.c and diff_match.c, on made-up sites. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/diff.h"
#include "query/diff_match.h"
#include "unit.h"

/* ---- matching ------------------------------------------------------------------------------ */

/* Sites as `function@file:line=samples`, separated by blanks. */
enum { MAX_SITES = 8 };

typedef struct made_up {
    profile_location places[MAX_SITES];
    char names[MAX_SITES][2][32];
    hotspots sites;
} made_up;

static void make_up(made_up *m, hotspots_by by, const char *text) {
    *m = (made_up){.sites.by = by};
    size_t n = 0;
    int used;
    unsigned line, samples;
    while (sscanf(text, " %31[^@]@%31[^:]:%u=%u%n", m->names[n][0], m->names[n][1], &line, &samples,
                  &used) == 4) {
        m->places[n] =
            (profile_location){.function = m->names[n][0], .file = m->names[n][1], .line = line};
        hotspots_site s = {.entry = {.place = &m->places[n], .cost.samples = samples}};
        ck_assert(vec_push(&m->sites.sites, s));
        text += used;
        n++;
    }
    ck_assert_int_eq(*text, '\0');
}

static void describe(char *out, size_t size, const match_rows *m, uint32_t row) {
    if (row == MATCH_NONE) {
        snprintf(out, size, "-");
        return;
    }
    const profile_location *l = m->rows.items[row].name.place;
    snprintf(out, size, "%s:%u=%u", l->file, l->line,
             (unsigned)m->counts.items[m->rows.items[row].counts]);
}

/* The pairs, as `before>after`, each with a blank after it. */
static void check_match(hotspots_by by, const char *before, const char *after,
                        const char *expected) {
    made_up x, y;
    make_up(&x, by, before);
    make_up(&y, by, after);
    match_rows b = {0}, a = {0};
    match_pairs pairs = {0};
    ck_assert(match_gather(&x.sites, 1, &b) && match_gather(&y.sites, 1, &a));
    ck_assert(match_sides(&b, &a, &pairs));
    char text[512] = "";
    for (size_t i = 0; i < pairs.count; i++) {
        char from[64], to[64];
        describe(from, sizeof from, &b, pairs.items[i].before);
        describe(to, sizeof to, &a, pairs.items[i].after);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s>%s ", from, to);
    }
    ck_assert_str_eq(text, expected);
    vec_free(&pairs);
    match_free(&b);
    match_free(&a);
    vec_free(&x.sites.sites);
    vec_free(&y.sites.sites);
}

START_TEST(equal_names_match) {
    check_match(HOTSPOTS_BY_LINE, "f@a.c:1=5 g@a.c:9=3", "g@a.c:9=4 f@a.c:1=2",
                "a.c:1=5>a.c:1=2 a.c:9=3>a.c:9=4 ");
    check_match(HOTSPOTS_BY_LINE, "", "", "");
    check_match(HOTSPOTS_BY_LINE, "f@a.c:1=5", "", "a.c:1=5>- ");
    check_match(HOTSPOTS_BY_LINE, "", "f@a.c:1=5", "->a.c:1=5 ");
}
END_TEST

/* Lines were added above the function, or within it. */
START_TEST(lines_that_moved_match) {
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=5 f@a.c:12=3 f@a.c:20=1",
                "f@a.c:17=5 f@a.c:19=3 f@a.c:27=1",
                "a.c:10=5>a.c:17=5 a.c:12=3>a.c:19=3 a.c:20=1>a.c:27=1 ");
    /* 10 stayed; between it and 30 is one line on both sides. */
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=5 f@a.c:12=3 f@a.c:30=1",
                "f@a.c:10=5 f@a.c:15=3 f@a.c:30=1",
                "a.c:10=5>a.c:10=5 a.c:12=3>a.c:15=3 a.c:30=1>a.c:30=1 ");
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=5", "f@a.c:44=6", "a.c:10=5>a.c:44=6 ");
}
END_TEST

/* A hot line that went away is not taken for its neighbour, which stayed. */
START_TEST(lines_that_went_away_do_not_match) {
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=90 f@a.c:12=5", "f@a.c:12=6",
                "a.c:10=90>- a.c:12=5>a.c:12=6 ");
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=1 f@a.c:12=5", "f@a.c:12=6 f@a.c:15=2 f@a.c:16=2",
                "a.c:10=1>- a.c:12=5>a.c:12=6 ->a.c:15=2 ->a.c:16=2 ");
}
END_TEST

START_TEST(files_that_were_renamed_match) {
    check_match(HOTSPOTS_BY_LINE, "f@a.c:10=5 f@a.c:12=3", "f@b.c:11=5 f@b.c:13=3",
                "a.c:10=5>b.c:11=5 a.c:12=3>b.c:13=3 ");
    /* But not if there is a choice, nor without a name. */
    check_match(HOTSPOTS_BY_FUNCTION, "f@a.c:1=1", "f@b.c:1=1 f@c.c:1=1",
                "->b.c:1=1 a.c:1=1>- ->c.c:1=1 ");
    check_match(HOTSPOTS_BY_FUNCTION, "f@a.c:1=1 f@b.c:1=2", "f@b.c:7=3 f@c.c:1=1",
                "b.c:1=2>b.c:7=3 a.c:1=1>c.c:1=1 ");
    check_match(HOTSPOTS_BY_LINE, "$7@a.c:1=1", "$7@b.c:1=1", "a.c:1=1>- ->b.c:1=1 ");
    check_match(HOTSPOTS_BY_LINE, "lib+0x10@lib[1]:0=1", "lib+0x10@lib[2]:0=1",
                "lib[1]:0=1>- ->lib[2]:0=1 ");
}
END_TEST

START_TEST(functions_gather_their_lines) {
    check_match(HOTSPOTS_BY_FUNCTION, "f@a.c:1=5 f@a.c:2=3 g@a.c:1=1", "f@a.c:9=4",
                "a.c:1=8>a.c:9=4 a.c:1=1>- ");
}
END_TEST

START_TEST(runs_of_a_side_are_counted_apart) {
    made_up m[2];
    make_up(&m[0], HOTSPOTS_BY_LINE, "f@a.c:1=5");
    make_up(&m[1], HOTSPOTS_BY_LINE, "f@a.c:1=7 g@a.c:2=9");
    hotspots runs[] = {m[0].sites, m[1].sites};
    match_rows rows = {0};
    ck_assert(match_gather(runs, 2, &rows));
    ck_assert_uint_eq(rows.rows.count, 2);
    const uint64_t expected[] = {5, 7, 0, 9};
    ck_assert_uint_eq(rows.counts.count, 4);
    ck_assert_mem_eq(rows.counts.items, expected, sizeof expected);
    match_free(&rows);
    for (int i = 0; i < 2; i++)
        vec_free(&m[i].sites.sites);
}
END_TEST

/* ---- the whole query ----------------------------------------------------------------------- */

/* A profile of functions `a`, `b`, … with so many samples each. */
static void make_profile(profile *p, double rate, uint64_t duration, const uint64_t *samples,
                         size_t n) {
    static const char *const names[] = {"a", "b", "c", "d"};
    *p = (profile){.info = {.word_size = 64, .sample_rate = rate}, .duration = duration};
    cct_path path = {0};
    for (uint32_t i = 0; i < n; i++) {
        profile_location l = {.file = "x.c", .function = names[i], .line = i + 1};
        ck_assert(vec_push(&p->locations, l));
        ck_assert(vec_push(&p->frames, ((profile_frame){.first = i, .n = 1})));
        uint32_t node = cct_walk(&p->tree, &path, &i, 1, 0);
        if (samples[i])
            ck_assert(cct_add(&p->tree, &(cct_addition){node, MEMTRACE_MAJOR, samples[i], 1}, 1));
    }
    cct_path_free(&path);
}

static diff diff_of(const uint64_t *before, const uint64_t *after, double rate,
                    const diff_options *o) {
    static profile b, a; /* names live on in the result, until the next call */
    profile_free(&b);
    profile_free(&a);
    make_profile(&b, rate, 2000000, before, 4);
    make_profile(&a, rate, 1000000, after, 4);
    query_result qb, qa;
    ck_assert(query_run(&qb, &b, &(query_spec){0}) && query_run(&qa, &a, &(query_spec){0}));
    const query_result *pb = &qb, *pa = &qa;
    diff d;
    ck_assert(diff_query(&pb, 1, &pa, 1, o, &d));
    query_free(&qb);
    query_free(&qa);
    return d;
}

START_TEST(sure_changes_come_first) {
    const uint64_t before[] = {1000, 100, 20, 0}, after[] = {1050, 20, 0, 300};
    diff d = diff_of(before, after, 1e-6, &(diff_options){0});
    ck_assert_uint_eq(d.sites.count, 4);
    ck_assert_uint_eq(d.n_sure, 3);
    static const char *const order[] = {"d", "b", "c", "a"};
    for (int i = 0; i < 4; i++) {
        const diff_site *s = &d.sites.items[i];
        const diff_name *n = s->in_before ? &s->before : &s->after;
        ck_assert_str_eq(n->place->function, order[i]);
        ck_assert_int_eq(s->sure, i < 3);
    }
    ck_assert(!d.sites.items[0].in_before && d.sites.items[0].in_after);
    ck_assert(d.sites.items[2].in_before && !d.sites.items[2].in_after);
    ck_assert_double_eq_tol(d.sites.items[0].c.change.value, 300 * 8e6, 1);
    ck_assert_double_eq_tol(d.total.before.value, 1120 * 8e6, 1);
    ck_assert_double_eq_tol(d.total.after.value, 1370 * 8e6, 1);
    ck_assert(d.total_sure);
    ck_assert(d.sites.items[3].sure_change == 0);
    diff_free(&d);
}
END_TEST

START_TEST(amounts_are_normalised) {
    const uint64_t before[] = {100, 50, 0, 0}, after[] = {100, 50, 0, 0};
    diff d = diff_of(before, after, 1, &(diff_options){.per_before = 4, .per_after = 8});
    ck_assert_double_eq_tol(d.total.before.value, 150 * 8 / 4.0, 1e-9);
    ck_assert_double_eq_tol(d.total.after.value, 150 * 8 / 8.0, 1e-9);
    diff_free(&d);
    d = diff_of(before, after, 1, &(diff_options){.normalise = DIFF_BY_TIME});
    ck_assert_double_eq_tol(d.total.before.value, 150 * 8 / 2.0, 1e-9);
    ck_assert_double_eq_tol(d.total.ratio.value, 2, 1e-9);
    diff_free(&d);
    const uint64_t more[] = {200, 100, 0, 0};
    d = diff_of(before, more, 1, &(diff_options){.normalise = DIFF_BY_TOTAL});
    ck_assert_double_eq_tol(d.total.ratio.value, 2, 1e-9); /* the total stays what it is */
    ck_assert_uint_eq(d.sites.count, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(d.sites.items[i].c.ratio.value, 1, 1e-9);
        ck_assert(!d.sites.items[i].sure);
    }
    diff_free(&d);
}
END_TEST

/* Whether so many runs with these results a side can decide. */
static bool is_decided(const diff_options *options, const query_result *before, size_t n_before,
                       const query_result *after, size_t n_after) {
    const query_result *const b[] = {before, before, before}, *const a[] = {after, after, after};
    return diff_is_decided(options, b, n_before, a, n_after);
}

/* Twice as long, and how much that is by accident, nobody knows. */
START_TEST(times_of_one_run_a_side_decide_nothing) {
    const uint64_t before[] = {1000, 100, 20, 0}, after[] = {1050, 20, 0, 300};
    diff d = diff_of(before, after, 1, &(diff_options){.normalise = DIFF_BY_TIME});
    ck_assert(!d.decided && !d.total_sure && isnan(d.total.p));
    ck_assert_uint_eq(d.n_sure, 0);
    for (size_t i = 0; i < d.sites.count; i++) {
        ck_assert(!d.sites.items[i].sure && isnan(d.sites.items[i].q));
        ck_assert(isnan(d.sites.items[i].c.p) && d.sites.items[i].sure_change == 0);
    }
    diff_free(&d);
    const diff_options none = {0}, by_time = {.normalise = DIFF_BY_TIME};
    const profile one = {.n_domains = 1}, several = {.n_domains = 3};
    const query_result held = {.measure = MEASURE_BYTESECONDS, .profile = &one},
                       allocated = {.measure = MEASURE_ALLOCATED, .profile = &several},
                       peak = {.measure = MEASURE_PEAK, .profile = &one},
                       peak_of_threads = {.measure = MEASURE_PEAK, .profile = &several};
    ck_assert(!is_decided(&none, &held, 1, &held, 1));
    ck_assert(is_decided(&none, &held, 1, &held, 2));
    ck_assert(is_decided(&none, &allocated, 1, &allocated, 1));
    ck_assert(is_decided(&by_time, &allocated, 2, &allocated, 1));
    ck_assert(is_decided(&none, &peak, 1, &peak, 1));
    ck_assert(!is_decided(&none, &peak, 1, &peak_of_threads, 1));
    ck_assert(is_decided(&none, &peak, 1, &peak_of_threads, 3));
    ck_assert(is_decided(&none, &peak_of_threads, 1, &peak_of_threads, 1)); /* moments of it */
}
END_TEST

START_TEST(nothing_differs_from_itself) {
    const uint64_t same[] = {1000, 100, 20, 1}, none[] = {0, 0, 0, 0};
    diff d = diff_of(same, same, 1e-6, &(diff_options){.by = HOTSPOTS_BY_FUNCTION});
    ck_assert_uint_eq(d.n_sure, 0);
    ck_assert(!d.total_sure);
    diff_free(&d);
    d = diff_of(none, none, 1e-6, &(diff_options){0});
    ck_assert(d.sites.count == 0 && !d.total_sure);
    diff_free(&d);
}
END_TEST

/* ---- amounts ------------------------------------------------------------------------------- */

/* Three large blocks on both sides, and one small one that only one side happened to see. */
START_TEST(a_size_seen_on_one_side_may_have_been_missed_on_the_other) {
    const profile p = {.info = {.sample_rate = 1e-4, .word_size = 64}};
    const query_result q = {.profile = &p, .measure = MEASURE_BLOCKS};
    const double large = 1 / estimate_inclusion(10000, 1e-4), small = 5000;
    const cost b = {.samples = 3,
                    .blocks = 3,
                    .weight = 3 * large,
                    .squares = 3 * large * (large - 1),
                    .heaviest = large,
                    .per_word = 3 * large / 10000,
                    .most_per_word = 1e-4};
    cost a = b;
    cost_add(&a, &(cost){.samples = 1,
                         .blocks = 1,
                         .weight = small,
                         .squares = small * small,
                         .heaviest = small,
                         .per_word = small / 2,
                         .most_per_word = 0.5});
    const comparison c = diff_costs(&q, &b, &q, &a);
    ck_assert_double_eq_tol(c.change.value, small, 1e-9);
    ck_assert_double_lt(c.change.low, 0);
    ck_assert(isnan(c.ratio.value)); /* hardly any samples: see compare.h */
    ck_assert_double_gt(c.p, 0.05);
    ck_assert_double_gt(c.before.high, 3.68 * small);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("diff");
    TCase *t = tcase_create("diff");
    tcase_add_test(t, equal_names_match);
    tcase_add_test(t, lines_that_moved_match);
    tcase_add_test(t, lines_that_went_away_do_not_match);
    tcase_add_test(t, files_that_were_renamed_match);
    tcase_add_test(t, functions_gather_their_lines);
    tcase_add_test(t, runs_of_a_side_are_counted_apart);
    tcase_add_test(t, sure_changes_come_first);
    tcase_add_test(t, amounts_are_normalised);
    tcase_add_test(t, times_of_one_run_a_side_decide_nothing);
    tcase_add_test(t, nothing_differs_from_itself);
    tcase_add_test(t, a_size_seen_on_one_side_may_have_been_missed_on_the_other);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
