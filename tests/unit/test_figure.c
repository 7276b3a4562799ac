/* test_figure.c: numbers as people read them, and the intervals of estimates. */
#include <string.h>

#include "query/figure.h"
#include "unit.h"

START_TEST(bytes_have_a_unit_and_one_decimal) {
    ck_assert_str_eq(figure_bytes(0).text, "0 B");
    ck_assert_str_eq(figure_bytes(1023).text, "1023 B");
    ck_assert_str_eq(figure_bytes(1023.7).text, "1.0 KB");
    ck_assert_str_eq(figure_bytes(80e6).text, "76.3 MB");
    ck_assert_str_eq(figure_bytes(1048575).text, "1.0 MB");
    ck_assert_str_eq(figure_bytes(1e300).text + strlen(figure_bytes(1e300).text) - 3, " EB");
}
END_TEST

START_TEST(counts_rates_and_times_read_well) {
    ck_assert_str_eq(figure_count(0).text, "0");
    ck_assert_str_eq(figure_count(999).text, "999");
    ck_assert_str_eq(figure_count(1000).text, "1,000");
    ck_assert_str_eq(figure_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    ck_assert_str_eq(figure_rate(1e-4).text, "1e-4");
    ck_assert_str_eq(figure_rate(2.5e-5).text, "2.5e-5");
    ck_assert_str_eq(figure_rate(9.9999999e-6).text, "1e-5");
    ck_assert_str_eq(figure_rate(0.01).text, "0.01");
    ck_assert_str_eq(figure_rate(1).text, "1");
    ck_assert(figure_rate_up(4.95e-5) == 5e-5); /* not 4.9999999999999996e-05 */
    ck_assert(figure_rate_up(8.12e-5) == 8.2e-5);
    ck_assert(figure_rate_up(0.28001) == 0.29);
    ck_assert(figure_rate_up(0.999) == 1);
    ck_assert_str_eq(figure_duration(7).text, "7 µs");
    ck_assert_str_eq(figure_duration(852000).text, "852 ms");
    ck_assert_str_eq(figure_duration(999900).text, "1.00 s");
    ck_assert_str_eq(figure_duration(35879437).text, "35.88 s");
    ck_assert_str_eq(figure_duration(59999999).text, "1 min 0 s");
    ck_assert_str_eq(figure_duration(3600 * UINT64_C(1000000)).text, "1 h 0 min");
    ck_assert_str_eq(figure_date(0).text, "1970-01-01 00:00:00 UTC");
}
END_TEST

START_TEST(an_estimate_has_an_interval_unless_every_word_was_counted) {
    profile p = {.info = {.word_size = 64, .sample_rate = 1e-4}};
    figure f = figure_of(&p, 1000);
    ck_assert_str_eq(figure_bytes(f.value).text, "76.3 MB");
    ck_assert_str_eq(figure_margin(&f).text, "± 4.7 MB");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, " ± 4.7 MB");
    ck_assert(f.low < f.value && f.value < f.high);
    p.info.sample_rate = 1;
    f = figure_of(&p, 1000);
    ck_assert_str_eq(figure_margin(&f).text, "exact");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, "");
    ck_assert(f.low == f.value && f.value == f.high);
}
END_TEST

/* Garwood's limits of 2 are 0.2422 and 7.2247; a sample stands for 78.125 KB. */
START_TEST(both_ends_are_shown_where_samples_are_few) {
    profile p = {.info = {.word_size = 64, .sample_rate = 1e-4}};
    figure f = figure_of(&p, 2);
    ck_assert_str_eq(figure_margin(&f).text, "18.9 KB … 564.4 KB");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, " (18.9 KB … 564.4 KB)");
    f = figure_of(&p, 0);
    ck_assert_str_eq(figure_margin(&f).text, "0 B … 288.2 KB");
    f = figure_of(&p, 9);
    ck_assert_str_eq(figure_margin(&f).text, "321.5 KB … 1.3 MB");
    f = figure_of(&p, 10);
    ck_assert_str_eq(figure_margin(&f).text, "± 484.2 KB");
    p.info.sample_rate = 0.9; /* no sampled word is less than that word */
    f = figure_of(&p, 9);
    ck_assert_str_eq(figure_margin(&f).text, "72 B … 106 B");
}
END_TEST

/* Errors of independent figures add up in squares; both ends stay where they can be. */
START_TEST(a_sum_of_traces_is_surer_than_its_parts) {
    profile p = {.info = {.word_size = 64, .sample_rate = 1e-4}};
    const figure a = figure_of(&p, 900), b = figure_of(&p, 1600), few = figure_of(&p, 1);
    const figure sum = figure_sum(a, b), all = figure_of(&p, 2500);
    ck_assert_uint_eq(sum.samples, 2500);
    ck_assert_double_eq_tol(sum.value, all.value, 1e-6 * all.value);
    ck_assert_double_eq_tol(sum.margin, all.margin, 1e-3 * all.margin);
    ck_assert(sum.low < sum.value && sum.value < sum.high);
    ck_assert(figure_sum(few, few).low >= few.low);
    p.info.sample_rate = 1;
    const figure exact = figure_sum(figure_of(&p, 3), figure_of(&p, 4));
    ck_assert(exact.low == 56 && exact.value == 56 && exact.high == 56);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("figure");
    TCase *t = tcase_create("figure");
    tcase_add_test(t, bytes_have_a_unit_and_one_decimal);
    tcase_add_test(t, counts_rates_and_times_read_well);
    tcase_add_test(t, an_estimate_has_an_interval_unless_every_word_was_counted);
    tcase_add_test(t, both_ends_are_shown_where_samples_are_few);
    tcase_add_test(t, a_sum_of_traces_is_surer_than_its_parts);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
