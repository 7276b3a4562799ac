/* Tests of budgets: amounts, the file, and verdicts on made-up profiles. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/budget_file.h"
#include "unit.h"

/* ---- amounts and files --------------------------------------------------------------------- */

START_TEST(amounts_have_units) {
    double amount;
    budget_unit unit;
    ck_assert(budget_parse_amount("512", &amount, &unit) && amount == 512 && unit == BUDGET_BYTES);
    ck_assert(budget_parse_amount("12MB", &amount, &unit) && amount == 12 << 20);
    ck_assert(budget_parse_amount("1.5 KB", &amount, &unit) && amount == 1536);
    ck_assert(budget_parse_amount("50000 blocks", &amount, &unit) && unit == BUDGET_BLOCKS);
    ck_assert(budget_parse_amount("7words", &amount, &unit) && unit == BUDGET_WORDS);
    static const char *const wrong[] = {"", "MB", "-1", "1 mb", "1MBs", "1e999", "inf", "1 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert(!budget_parse_amount(wrong[i], &amount, &unit));
}
END_TEST

/* Parses `text`; "" or "LINE:COLUMN reason". */
static void check_parse(const char *text, const char *expected, budget_rules *rules) {
    static intern_table strings;
    budget_rules own = {0};
    toml_error error;
    char said[320] = "";
    static const budget_rule defaults = {.filter = "heap:major"};
    if (!budget_file_parse(text, &defaults, &strings, rules ? rules : &own, &error))
        snprintf(said, sizeof said, "%u:%u %s", error.line, error.column, error.reason);
    ck_assert_str_eq(said, expected);
    vec_free(&own);
}

START_TEST(files_are_read) {
    budget_rules r = {0};
    check_parse("# all\n\n[[budget]]\nmax = \"12 MB\" # enough\n"
                "[[budget]]\r\n  name = 'a \\ b'\r\n  site=\"say \\\"x\\\"\"\n"
                "expect\t= '50000 blocks'\nwithin = 2.5",
                "", &r);
    ck_assert_uint_eq(r.count, 2);
    ck_assert_str_eq(r.items[0].site, "total");
    ck_assert(!r.items[0].name && r.items[0].amount == 12 << 20 && r.items[0].within == 0);
    ck_assert_str_eq(r.items[1].name, "a \\ b");
    ck_assert_str_eq(r.items[1].site, "say \"x\"");
    ck_assert(r.items[1].amount == 50000 && r.items[1].unit == BUDGET_BLOCKS);
    ck_assert_double_eq(r.items[1].within, 2.5);
    vec_free(&r);
    check_parse("[[budget]]\nwithin = 3\nexpect = '1'", "", &r);
    ck_assert_double_eq(r.items[0].within, 3);
    vec_free(&r);
    check_parse("[[budget]]\nmax = '3 blocks'\n[[budget]]\nmeasure = 'peak'\nmax = '3 blocks'\n"
                "[[budget]]\nfilter = \"fn:/a\\\\./ size:>1K\"\nexpect = '2.5 KB*s'",
                "", &r);
    ck_assert_str_eq(r.items[0].filter, "heap:major");
    ck_assert_int_eq(r.items[0].measure, MEASURE_ALLOCATED);
    ck_assert_int_eq(r.items[1].measure, MEASURE_PEAK);
    ck_assert_str_eq(r.items[2].filter, "fn:/a\\./ size:>1K");
    ck_assert_int_eq(r.items[2].measure, MEASURE_BYTESECONDS);
    ck_assert(r.items[2].unit == BUDGET_BYTESECONDS && r.items[2].amount == 2560);
    vec_free(&r);
    check_parse("", "", NULL);
}
END_TEST

START_TEST(what_is_wrong_in_a_file_is_pointed_at) {
    check_parse("site = 'f'", "1:1 expected [[budget]]", NULL);
    check_parse("[budget]", "1:1 expected [[budget]]", NULL);
    check_parse("[[budget]] x", "1:12 expected the end of the line", NULL);
    check_parse("\n[[budget]]\nsize = 3",
                "3:1 `size` is none of name, site, filter, measure, max, expect, within", NULL);
    check_parse("[[budget]]\nsite 'f'", "2:6 expected `=`", NULL);
    check_parse("[[budget]]\nsite = f", "2:8 expected a string", NULL);
    check_parse("[[budget]]\nsite = 'f\n'", "2:10 the string is not closed", NULL);
    check_parse("[[budget]]\nsite = \"\\u0041\"", "2:10 this escape is not supported", NULL);
    check_parse("[[budget]]\nsite = \"\\", "2:10 this escape is not supported", NULL);
    check_parse("[[budget]]\nsite='f'\nsite='g'", "3:1 this key is given twice", NULL);
    check_parse("[[budget]]\nmax = '3 cows'",
                "2:7 expected an amount, like \"12 MB\", \"300 words\" or \"50000 blocks\"", NULL);
    check_parse("[[budget]]\nwithin = 1", "2:10 the factor must be above 1", NULL);
    check_parse("[[budget]]\nwithin = 'x'", "2:10 expected a number", NULL);
    check_parse("[[budget]]\n\n[[budget]]\nmax='1'", "1:1 the budget needs `max` or `expect`",
                NULL);
    check_parse("[[budget]]\nmax='1'\nexpect='1'", "1:1 `max` and `expect` exclude each other",
                NULL);
    check_parse("[[budget]]\nmax='1'\nwithin=2", "1:1 `within` requires `expect`", NULL);
    check_parse("[[budget]]\nfilter = 'size:>1K life:x'", "2:25 `x` does not begin with a number",
                NULL);
    check_parse(
        "[[budget]]\nmeasure = 'all'",
        "2:11 expected allocated, blocks, live, peak, promoted, survived, temporary or byteseconds",
        NULL);
    check_parse("[[budget]]\nmeasure = 'blocks'\nmax = '1 MB'",
                "1:1 this measure takes an amount in `blocks`", NULL);
    check_parse("[[budget]]\nmeasure = 'peak'\nmax = '1 MB*s'",
                "1:1 B*s, KB*s … belong to the measure byteseconds, and to no other", NULL);
}
END_TEST

/* ---- verdicts ------------------------------------------------------------------------------ */

/* main calls f (src/a.c:5) and g (b.c:7); f calls g. */
typedef struct made_up {
    profile profile;
    budget_tally tally;
    uint32_t f, g, f_g;
} made_up;

static void make_up(made_up *m, double rate) {
    static const profile_location places[] = {{.file = "main.c", .function = "main", .line = 1},
                                              {.file = "src/a.c", .function = "f", .line = 5},
                                              {.file = "b.c", .function = "g", .line = 7}};
    *m = (made_up){.profile.info = {.word_size = 64, .sample_rate = rate}};
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(vec_push(&m->profile.locations, places[i]));
        ck_assert(vec_push(&m->profile.frames, ((profile_frame){.first = i, .n = 1})));
    }
    cct_path path = {0};
    m->f = cct_walk(&m->profile.tree, &path, (const uint32_t[]){0, 1}, 2, 0);
    m->g = cct_walk(&m->profile.tree, &path, (const uint32_t[]){0, 2}, 2, 0);
    m->f_g = cct_walk(&m->profile.tree, &path, (const uint32_t[]){0, 1, 2}, 3, 0);
    cct_path_free(&path);
}

static void count(made_up *m, uint32_t node, uint64_t words, uint64_t samples, int times) {
    const memtrace_event e = {.source = MEMTRACE_MAJOR, .length = words - 1, .samples = samples};
    for (int i = 0; i < times; i++)
        ck_assert(budget_count(&m->tally, m->profile.info.sample_rate, node, &e));
}

static budget_result judge(made_up *m, const char *site, const char *amount, double within) {
    budget_rule rule = {.site = site, .within = within};
    budget_result result;
    lens l;
    ck_assert(budget_parse_amount(amount, &rule.amount, &rule.unit));
    ck_assert(lens_init(&l, &m->profile, true, NULL));
    ck_assert(budget_judge(&l, &m->tally, &rule, &result));
    lens_free(&l);
    return result;
}

static void discard(made_up *m) {
    budget_tally_free(&m->tally);
    profile_free(&m->profile);
}

START_TEST(sites_are_named_in_several_ways) {
    made_up m;
    make_up(&m, 1);
    count(&m, m.f, 10, 10, 3);
    count(&m, m.g, 5, 5, 4);
    count(&m, m.f_g, 2, 2, 7);
    static const struct {
        const char *site;
        double words, blocks;
    } cases[] = {
        {"total", 64, 14},    {"f", 30, 3},           {"g", 34, 11},           {"src/a.c:5", 30, 3},
        {"a.c:5", 30, 3},     {".c:5", 0, 0},         {"a.c:6", 0, 0},         {"b.c:7", 34, 11},
        {"under:f", 44, 10},  {"under:main", 64, 14}, {"under:a.c:5", 44, 10}, {"main", 0, 0},
        {"x/src/a.c:5", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        budget_result r = judge(&m, cases[i].site, "1 words", 0);
        ck_assert_double_eq(r.actual.value, cases[i].words);
        ck_assert_double_eq(r.actual.high, cases[i].words);
        ck_assert_double_eq(judge(&m, cases[i].site, "1", 0).actual.value, cases[i].words * 8);
        r = judge(&m, cases[i].site, "1 blocks", 0);
        ck_assert_double_eq(r.actual.value, cases[i].blocks);
    }
    discard(&m);
}
END_TEST

START_TEST(exact_numbers_are_decided) {
    made_up m;
    make_up(&m, 1);
    count(&m, m.f, 100, 100, 1);
    ck_assert_int_eq(judge(&m, "f", "100 words", 0).verdict, BUDGET_PASS);
    ck_assert_int_eq(judge(&m, "f", "99 words", 0).verdict, BUDGET_FAIL);
    ck_assert_int_eq(judge(&m, "f", "1000 words", 10).verdict, BUDGET_PASS);
    ck_assert_int_eq(judge(&m, "f", "1001 words", 10).verdict, BUDGET_FAIL);
    ck_assert_int_eq(judge(&m, "f", "10 words", 10).verdict, BUDGET_PASS);
    ck_assert_int_eq(judge(&m, "f", "9 words", 10).verdict, BUDGET_FAIL);
    ck_assert_int_eq(judge(&m, "f", "60 words", 2).verdict, BUDGET_PASS);
    discard(&m);
}
END_TEST

/* 100 samples at 1e-4 are a million words, from 813,000 to 1,216,000. */
START_TEST(only_an_interval_beyond_the_limit_fails) {
    made_up m;
    make_up(&m, 1e-4);
    count(&m, m.f, 10, 1, 100);
    ck_assert_int_eq(judge(&m, "f", "1300000 words", 0).verdict, BUDGET_PASS);
    ck_assert_int_eq(judge(&m, "f", "1200000 words", 0).verdict, BUDGET_UNDECIDED);
    ck_assert_int_eq(judge(&m, "f", "900000 words", 0).verdict, BUDGET_UNDECIDED);
    ck_assert_int_eq(judge(&m, "f", "800000 words", 0).verdict, BUDGET_FAIL);
    ck_assert_int_eq(judge(&m, "f", "2000000 words", 2).verdict, BUDGET_UNDECIDED);
    ck_assert_int_eq(judge(&m, "f", "100000 blocks", 0).verdict, BUDGET_UNDECIDED);
    /* Nothing seen is no proof of nothing. */
    budget_result r = judge(&m, "g", "10000 words", 0);
    ck_assert_int_eq(r.verdict, BUDGET_UNDECIDED);
    ck_assert_double_eq_tol(r.deciding_rate, 3.69e-4, 1e-9);
    ck_assert_int_eq(judge(&m, "g", "40000 words", 0).verdict, BUDGET_PASS);
    ck_assert_int_eq(judge(&m, "g", "10000 blocks", 0).verdict, BUDGET_UNDECIDED);
    discard(&m);
}
END_TEST

/* Ten blocks of 10,000 words do not tell that there are no small ones; fifty do. */
START_TEST(a_limit_of_blocks_needs_as_many_as_tell_their_sizes) {
    made_up m;
    make_up(&m, 1e-4);
    count(&m, m.f, 10000, 1, 10);
    budget_result r = judge(&m, "f", "1000 blocks", 0);
    ck_assert_int_eq(r.verdict, BUDGET_UNDECIDED);
    ck_assert_double_eq_tol(r.deciding_rate, 5e-4, 1e-9);
    count(&m, m.f, 10000, 1, 40);
    ck_assert_int_eq(judge(&m, "f", "1000 blocks", 0).verdict, BUDGET_PASS);
    discard(&m);
}
END_TEST

/* At the rate that is named, the same truth gives a verdict (four times of five; here as expected).
 */
START_TEST(the_rate_that_is_named_decides) {
    made_up m, n;
    make_up(&m, 1e-4);
    count(&m, m.f, 10, 1, 100);
    static const char *const limits[] = {"1100000 words", "910000 words", "110000 blocks"};
    for (int i = 0; i < 3; i++) {
        budget_result r = judge(&m, "f", limits[i], 0);
        ck_assert_int_eq(r.verdict, BUDGET_UNDECIDED);
        ck_assert_double_gt(r.deciding_rate, 1e-4);
        make_up(&n, r.deciding_rate);
        count(&n, n.f, 10, 1, (int)(1e6 * r.deciding_rate));
        ck_assert_int_ne(judge(&n, "f", limits[i], 0).verdict, BUDGET_UNDECIDED);
        discard(&n);
    }
    ck_assert_double_eq(judge(&m, "f", "1000000 words", 0).deciding_rate, 1);
    discard(&m);
}
END_TEST

START_TEST(maxima_have_a_tenth_to_spare) {
    static const struct {
        double value, high, maximum;
    } cases[] = {{1000, 1000, 1100}, {12345, 12345, 13580}, {3, 3, 4},
                 {0, 0, 0},          {100, 150, 210},       {0, 50, 111}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const budget_result r = {.actual = {.value = cases[i].value, .high = cases[i].high}};
        ck_assert_double_eq(budget_maximum(&r), cases[i].maximum);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("budget");
    TCase *t = tcase_create("budget");
    tcase_add_test(t, amounts_have_units);
    tcase_add_test(t, files_are_read);
    tcase_add_test(t, what_is_wrong_in_a_file_is_pointed_at);
    tcase_add_test(t, sites_are_named_in_several_ways);
    tcase_add_test(t, exact_numbers_are_decided);
    tcase_add_test(t, only_an_interval_beyond_the_limit_fails);
    tcase_add_test(t, a_limit_of_blocks_needs_as_many_as_tell_their_sizes);
    tcase_add_test(t, the_rate_that_is_named_decides);
    tcase_add_test(t, maxima_have_a_tenth_to_spare);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
