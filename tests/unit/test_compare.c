/* Tests of src/query/compare.c: the tests of significance against exact sums and tables, and
 * their promises against simulated programs. Seeds are fixed. */
#include <math.h>
#include <string.h>

#include "query/compare.h"
#include "unit.h"

static void check_close(double x, double expected, double relative) {
    ck_assert_double_le(fabs(x - expected), relative * fabs(expected) + 1e-300);
}

static comparison compare_two(uint64_t before, double rate_before, uint64_t after,
                              double rate_after) {
    compare_run b = {.rate = rate_before, .unit = 8}, a = {.rate = rate_after, .unit = 8};
    return compare_sides(&(compare_side){.runs = &b, .samples = &before, .n_runs = 1},
                         &(compare_side){.runs = &a, .samples = &after, .n_runs = 1});
}

/* ---- one run a side ------------------------------------------------------------------------ */

/* 2 of 12 with a share of 1/2: 2 (1 + 12 + 66) / 4096. */
START_TEST(equal_rates_are_a_sign_test) {
    comparison c = compare_two(10, 1e-9, 2, 1e-9);
    check_close(c.p, 2 * 79.0 / 4096, 1e-6);
    check_close(c.before.value, 8e10, 1e-12);
    check_close(c.after.value, 1.6e10, 1e-12);
    check_close(c.change.value, -6.4e10, 1e-12);
    check_close(c.ratio.value, 0.2, 1e-12);
    check_close(compare_two(2, 1e-9, 10, 1e-9).p, c.p, 1e-9);
    check_close(c.least_p, 2.0 / 4096, 1e-6);
    ck_assert_double_eq(compare_two(7, 1e-9, 7, 1e-9).p, 1);
    ck_assert_double_eq(compare_two(0, 1e-9, 0, 1e-9).p, 1);
    ck_assert(isnan(compare_two(0, 1e-9, 0, 1e-9).ratio.value));
}
END_TEST

/* At three times the rate, three times as many samples are the same amount: share 3/4. */
START_TEST(a_change_is_the_same_without_its_ratio) {
    const compare_run b = {.rate = 1e-3, .unit = 8}, a = {.rate = 1e-4, .unit = 8};
    const uint64_t before = 50, after = 20;
    const compare_side x = {.runs = &b, .samples = &before, .n_runs = 1},
                       y = {.runs = &a, .samples = &after, .n_runs = 1};
    const comparison whole = compare_sides(&x, &y), change = compare_change(&x, &y);
    ck_assert(!isnan(whole.ratio.low) && isnan(change.ratio.value) && isnan(change.ratio.low));
    ck_assert_double_eq(change.change.low, whole.change.low);
    ck_assert_double_eq(change.change.high, whole.change.high);
    ck_assert_double_eq(change.before.high, whole.before.high);
    ck_assert_double_eq(change.p, whole.p);
    ck_assert_double_eq(change.least_p, whole.least_p);
}
END_TEST

START_TEST(rates_are_taken_into_account) {
    ck_assert_double_eq(compare_two(100, 1e-9, 300, 3e-9).p, 1);
    check_close(compare_two(4, 1e-9, 0, 3e-9).p, 2 * pow(0.25, 4), 1e-6);
    check_close(compare_two(0, 1e-9, 4, 3e-9).p, 2 * pow(0.75, 4), 1e-6);
    check_close(compare_two(100, 1e-9, 150, 3e-9).ratio.value, 0.5, 1e-12);
}
END_TEST

/* Clopper and Pearson's limits for 2 of 12 are 0.020863 and 0.484138 (from tables). */
START_TEST(ratio_has_exact_limits) {
    comparison c = compare_two(10, 1e-9, 2, 1e-9);
    check_close(c.ratio.low, 0.020863 / (1 - 0.020863), 1e-3);
    check_close(c.ratio.high, 0.484138 / (1 - 0.484138), 1e-3);
    c = compare_two(0, 1e-9, 5, 1e-9);
    ck_assert(isinf(c.ratio.value) && isinf(c.ratio.high) && c.ratio.low > 0);
    ck_assert_double_eq(compare_two(5, 1e-9, 0, 1e-9).ratio.low, 0);
}
END_TEST

START_TEST(hardly_any_samples_have_no_ratio) {
    static const struct {
        uint64_t before, after;
        bool has_ratio;
    } pairs[] = {{1, 10000, false}, {2, 10000, false}, {5, 10000, true}, {1, 1, false},
                 {30, 1, true},     {12, 15, true},    {0, 9, true}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const comparison c = compare_two(pairs[i].before, 1e-6, pairs[i].after, 1e-6);
        ck_assert_int_eq(!isnan(c.ratio.value), pairs[i].has_ratio);
        ck_assert_int_eq(isnan(c.ratio.high), isnan(c.ratio.value));
    }
}
END_TEST

START_TEST(rate_one_is_exact) {
    comparison c = compare_two(1000, 1, 999, 1);
    ck_assert_double_eq(c.p, 0);
    ck_assert(c.change.low == -8 && c.change.high == -8);
    ck_assert_double_eq(c.ratio.low, 0.999);
    ck_assert_double_eq(compare_two(1000, 1, 1000, 1).p, 1);
    /* Against an exact side, the other is a plain Poisson count: P(0 | 3) doubled. */
    check_close(compare_two(3000000000, 1, 0, 1e-9).p, 2 * exp(-3), 1e-6);
    check_close(compare_two(0, 1e-9, 3000000000, 1).p, 2 * exp(-3), 1e-6);
}
END_TEST

/* Where the normal law takes over there is no step. */
START_TEST(large_counts_have_no_seam) {
    comparison a = compare_two(99990, 1e-6, 101000, 1e-6);
    comparison b = compare_two(100010, 1e-6, 101020, 1e-6);
    check_close(b.p, a.p, 0.02);
    check_close(b.ratio.high - b.ratio.low, a.ratio.high - a.ratio.low, 0.02);
    ck_assert_double_eq(compare_two(UINT64_C(1) << 40, 0.5, UINT64_C(1) << 40, 0.5).p, 1);
    ck_assert_double_le(compare_two(UINT64_C(1) << 40, 0.5, UINT64_C(1) << 41, 0.5).p, 1e-300);
}
END_TEST

/* ---- several runs -------------------------------------------------------------------------- */

static comparison compare_runs(const uint64_t *before, size_t n_before, const uint64_t *after,
                               size_t n_after, double rate) {
    compare_run runs[8];
    for (int i = 0; i < 8; i++)
        runs[i] = (compare_run){.rate = rate, .unit = rate}; /* amounts are samples */
    return compare_sides(&(compare_side){.runs = runs, .samples = before, .n_runs = n_before},
                         &(compare_side){.runs = runs, .samples = after, .n_runs = n_after});
}

/* t of 2.7764 with 4 degrees of freedom, 12.706 with 1, 1.96 with infinitely many. */
START_TEST(student_agrees_with_tables) {
    check_close(compare_student_quantile(0.05, 4), 2.776445105, 1e-8);
    check_close(compare_student_quantile(0.05, 1), 12.70620474, 1e-8);
    check_close(compare_student_quantile(0.01, 10), 3.169272673, 1e-8);
    check_close(compare_student_quantile(0.05, 1e6), 1.95996636, 1e-6);
    check_close(compare_student_tails(2.776445105, 4), 0.05, 1e-8);
    ck_assert_double_eq(compare_student_tails(0, 4), 1);
}
END_TEST

/* 1000, 1200, 800 against 1300, 1500, 1100: the means differ by 300, each has a variance of
 * 40000/3; t = 300/√(80000/3) = 1.837 with 4 degrees of freedom, though one run of each would
 * have been significant. */
START_TEST(runs_that_differ_are_believed_less) {
    const uint64_t before[] = {1000, 1200, 800}, after[] = {1300, 1500, 1100};
    comparison c = compare_runs(before, 3, after, 3, 1e-9);
    check_close(c.p, compare_student_tails(300 / sqrt(80000.0 / 3), 4), 1e-6);
    ck_assert_double_gt(c.p, 0.05);
    ck_assert(c.change.low < 0 && c.change.high > 0);
    check_close(c.before.value, 1000, 1e-9);
    ck_assert_double_lt(compare_runs(before, 1, after, 1, 1e-9).p, 1e-6);
}
END_TEST

/* Runs that agree better than sampling can are believed as far as sampling goes. */
START_TEST(no_variance_is_below_that_of_sampling) {
    const uint64_t before[] = {100, 100, 100}, after[] = {130, 130, 130};
    comparison c = compare_runs(before, 3, after, 3, 1e-9);
    check_close(c.p, compare_student_tails(30 / sqrt(300.0 / 9 + 390.0 / 9), 3.93297), 1e-3);
    c = compare_runs(before, 3, after, 3, 1); /* exact, and always the same */
    ck_assert_double_le(c.p, 1e-20);
    check_close(c.change.low, 30, 1e-9);
    check_close(c.change.high, 30, 1e-9);
}
END_TEST

/* One run after: the runs before say how much runs differ. */
START_TEST(one_side_may_have_one_run) {
    const uint64_t before[] = {1000, 1200, 800}, after[] = {1300};
    comparison c = compare_runs(before, 3, after, 1, 1e-9);
    ck_assert_double_gt(c.p, 0.05);
    ck_assert_double_lt(c.p, 1);
}
END_TEST

/* ---- many sites ---------------------------------------------------------------------------- */

START_TEST(q_values_are_those_of_benjamini_and_hochberg) {
    compare_test t[] = {{.p = 0.01}, {.p = 0.04}, {.p = 0.03}, {.p = 0.005}, {.p = 0.9}};
    ck_assert(compare_q_values(t, 5));
    check_close(t[3].q, 0.025, 1e-12);
    check_close(t[0].q, 0.025, 1e-12);
    check_close(t[2].q, 0.05, 1e-12);
    check_close(t[1].q, 0.05, 1e-12);
    check_close(t[4].q, 0.9, 1e-12);
    /* What cannot be significant does not count. */
    t[1].least_p = t[2].least_p = t[4].least_p = 0.5;
    ck_assert(compare_q_values(t, 5));
    check_close(t[3].q, 0.01, 1e-12);
    check_close(t[0].q, 0.01, 1e-12);
    ck_assert(t[1].q == 1 && t[2].q == 1 && t[4].q == 1);
    ck_assert(compare_q_values(t, 0));
}
END_TEST

/* ---- simulated programs -------------------------------------------------------------------- */

static uint64_t next_u64(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) {
    return ((double)(next_u64(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
    return sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979 * uniform(state));
}

static uint64_t poisson(double mean, uint64_t *state) {
    double t = 0;
    uint64_t n = 0;
    for (; (t -= log(uniform(state))) < mean; n++)
        ;
    return n;
}

enum { SITES = 100, CHANGED = 20, ROUNDS = 100, MAX_RUNS = 6 };

typedef struct scenario {
    size_t runs;         /* a side */
    double spread;       /* relative standard deviation between runs */
    double factor;       /* by which the changed sites change */
    double after_factor; /* rate after / rate before */
    double power;        /* that is asked for */
} scenario;

typedef struct outcome {
    double false_rate; /* mean share of accidents among discoveries */
    double power;      /* share of real changes that were found */
    double covered;    /* of the intervals of changes */
} outcome;

static void draw(uint64_t *samples, const scenario *s, double mean, uint64_t *state) {
    for (size_t i = 0; i < s->runs; i++)
        samples[i] = poisson(mean * fmax(0, 1 + s->spread * normal(state)), state);
}

static comparison simulate_site(const scenario *s, double mean, double factor, uint64_t *state) {
    compare_run before[MAX_RUNS], after[MAX_RUNS];
    uint64_t x[MAX_RUNS], y[MAX_RUNS];
    for (size_t i = 0; i < s->runs; i++) {
        before[i] = (compare_run){.rate = 1e-6, .unit = 1e-6}; /* amounts are samples before */
        after[i] = (compare_run){.rate = 1e-6 * s->after_factor, .unit = 1e-6};
    }
    draw(x, s, mean, state);
    draw(y, s, mean * factor * s->after_factor, state);
    return compare_sides(&(compare_side){.runs = before, .samples = x, .n_runs = s->runs},
                         &(compare_side){.runs = after, .samples = y, .n_runs = s->runs});
}

/* Site sizes go from 1 to 300 samples. */
static double size_of_site(int i) {
    return pow(300, i / (SITES - 1.0));
}

static outcome simulate(const scenario *s, uint64_t seed) {
    outcome o = {0};
    uint64_t state = seed;
    for (int round = 0; round < ROUNDS; round++) {
        compare_test tests[SITES];
        for (int i = 0; i < SITES; i++) {
            double mean = size_of_site(i), factor = i % (SITES / CHANGED) == 0 ? s->factor : 1;
            comparison c = simulate_site(s, mean, factor, &state);
            tests[i] = (compare_test){.p = c.p, .least_p = c.least_p};
            double truth = mean * (factor - 1);
            o.covered += c.change.low <= truth && truth <= c.change.high;
        }
        ck_assert(compare_q_values(tests, SITES));
        int found = 0, wrong = 0;
        for (int i = 0; i < SITES; i++)
            if (tests[i].q <= 0.05) {
                found++;
                wrong += s->factor == 1 || i % (SITES / CHANGED) != 0;
            }
        o.false_rate += found ? (double)wrong / found : 0;
        o.power += (double)(found - wrong) / CHANGED;
    }
    o.false_rate /= ROUNDS;
    o.power /= ROUNDS;
    o.covered /= ROUNDS * SITES;
    return o;
}

/* Three standard deviations of a rate of 5 % over 100 rounds are 6.5 %. */
static const double false_limit = 0.05 + 0.065;

static const scenario scenarios[] = {
    {.runs = 1, .factor = 2, .after_factor = 1, .power = 0.35},
    {.runs = 1, .factor = 0.5, .after_factor = 3, .power = 0.35},
    {.runs = 3, .factor = 2, .after_factor = 1, .power = 0.2},
    {.runs = 3, .spread = 0.1, .factor = 3, .after_factor = 1, .power = 0.2},
    {.runs = 6, .spread = 0.2, .factor = 3, .after_factor = 0.5, .power = 0.5},
};

START_TEST(discoveries_are_rarely_accidents) {
    scenario s = scenarios[_i];
    outcome o = simulate(&s, 42);
    ck_assert_double_le(o.false_rate, false_limit);
    ck_assert_double_ge(o.power, s.power);
    ck_assert_double_ge(o.covered, 0.94);
    s.factor = 1; /* nothing changed: every discovery is an accident */
    o = simulate(&s, 43);
    ck_assert_double_le(o.false_rate, false_limit);
    ck_assert_double_ge(o.covered, 0.94);
}
END_TEST

/* With runs that differ, believing one of each would be wrong; the test above must not pass by
 * being blind. */
START_TEST(one_run_cannot_see_how_runs_differ) {
    outcome o = simulate(&(scenario){.runs = 1, .spread = 0.3, .factor = 1, .after_factor = 1}, 7);
    ck_assert_double_gt(o.false_rate, 0.5);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("compare");
    TCase *t = tcase_create("compare");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, equal_rates_are_a_sign_test);
    tcase_add_test(t, a_change_is_the_same_without_its_ratio);
    tcase_add_test(t, rates_are_taken_into_account);
    tcase_add_test(t, ratio_has_exact_limits);
    tcase_add_test(t, hardly_any_samples_have_no_ratio);
    tcase_add_test(t, rate_one_is_exact);
    tcase_add_test(t, large_counts_have_no_seam);
    tcase_add_test(t, student_agrees_with_tables);
    tcase_add_test(t, runs_that_differ_are_believed_less);
    tcase_add_test(t, no_variance_is_below_that_of_sampling);
    tcase_add_test(t, one_side_may_have_one_run);
    tcase_add_test(t, q_values_are_those_of_benjamini_and_hochberg);
    tcase_add_loop_test(t, discoveries_are_rarely_accidents, 0,
                        (int)(sizeof scenarios / sizeof *scenarios));
    tcase_add_test(t, one_run_cannot_see_how_runs_differ);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
