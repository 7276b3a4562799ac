/* Tests of src/query/estimate.c: special functions against values from elsewhere, estimators and
 * intervals against the exact law and against the sampling engine itself. Seeds are fixed. */
#include <math.h>

#include "allotrace/memprof.h"
#include "memprof_host.h"
#include "query/estimate.h"
#include "unit.h"

static void check_close(double x, double expected, double relative) {
    ck_assert_double_le(fabs(x - expected), relative * fabs(expected));
}

/* ---- special functions
 * --------------------------------------------------------------------------- */

/* Sums of exact probabilities: P(n, x) and I_x(n, N - n + 1) are tails of Poisson and binomial. */
START_TEST(special_functions_are_tails) {
    for (int n = 1; n < 200; n += 7)
        for (double x = 0.5; x < 400; x *= 1.7) {
            long double tail = 0;
            for (int k = 0; k < n; k++)
                tail += expl(k * logl(x) - x - lgammal(k + 1));
            REQUIRE(fabs(estimate_gamma_p(n, x) - (double)(1 - tail)) < 1e-12);
        }
    for (int trials = 1; trials < 300; trials += 13)
        for (int n = 1; n <= trials; n += 5)
            for (double p = 0.01; p < 1; p += 0.07) {
                long double tail = 0;
                for (int k = n; k <= trials; k++)
                    tail += expl(log_binomial_pmf(trials, p, k));
                REQUIRE(fabs(estimate_beta_i(n, trials - n + 1, p) - (double)tail) < 1e-11);
            }
}
END_TEST

/* From tables: chi-square quantiles are twice those of gamma. */
START_TEST(quantiles_agree_with_tables) {
    check_close(2 * estimate_gamma_quantile(0.5, 0.95), 3.841458820694124, 1e-12);
    check_close(2 * estimate_gamma_quantile(5, 0.05), 3.940299136119060, 1e-12);
    check_close(2 * estimate_gamma_quantile(50, 0.975), 129.56119718583654, 1e-12);
    check_close(estimate_gamma_quantile(1, 0.975), -log(0.025), 1e-12);
}
END_TEST

/* In deviations from the mean, with the first term of the Cornish-Fisher expansion. */
START_TEST(quantiles_of_large_shapes_are_normal) {
    const double z = ESTIMATE_NORMAL;
    for (double a = 9e5; a < 1e15; a *= 1.7) {
        const double skew = (z * z - 1) / (3 * sqrt(a)), root = sqrt(a);
        ck_assert_double_eq_tol((estimate_gamma_quantile(a, 0.025) - a) / root, skew - z, 1e-4);
        ck_assert_double_eq_tol((estimate_gamma_quantile(a, 0.975) - a) / root, skew + z, 1e-4);
        ck_assert_double_eq_tol(estimate_gamma_p(a, a + (skew - z) * root), 0.025, 1e-5);
        ck_assert_double_eq_tol(estimate_gamma_p(a, a + (skew + z) * root), 0.975, 1e-5);
    }
}
END_TEST

/* Wherever they begin to look for them. */
START_TEST(quantiles_are_where_the_law_passes) {
    for (double a = 0.3; a < 20000; a *= 1.03) {
        ck_assert_double_eq_tol(estimate_gamma_p(a, estimate_gamma_quantile(a, 0.025)), 0.025,
                                1e-8);
        ck_assert_double_eq_tol(estimate_gamma_p(a, estimate_gamma_quantile(a, 0.975)), 0.975,
                                1e-8);
    }
    for (double rate = 0.001; rate < 1; rate *= 1.7)
        for (double n = 1; n <= 10000; n = ceil(n * 1.3)) {
            const estimate e = estimate_words((uint64_t)n, rate);
            if (e.low > n) /* else the samples themselves are the limit */
                ck_assert_double_eq_tol(estimate_beta_i(n, e.low - n + 1, rate), 0.025, 1e-8);
            ck_assert_double_eq_tol(estimate_beta_i(n + 1, e.high - n, rate), 0.975, 1e-8);
        }
}
END_TEST

/* ---- intervals of words
 * ---------------------------------------------------------------------------- */

START_TEST(well_known_intervals) {
    /* Garwood's for 0, 1 and 10 events. */
    estimate e = estimate_words(0, 1e-6);
    ck_assert_double_eq(e.value, 0);
    ck_assert_double_eq(e.low, 0);
    check_close(e.high * 1e-6, 3.688879454, 1e-9);
    e = estimate_words(1, 1e-6);
    check_close(e.low * 1e-6, 0.025317808, 1e-7);
    check_close(e.high * 1e-6, 5.571643391, 1e-9);
    e = estimate_words(10, 1e-6);
    check_close(e.value, 1e7, 1e-12);
    check_close(e.low * 1e-6, 4.795388690, 1e-8);
    check_close(e.high * 1e-6, 18.390356042, 1e-9);
    e = estimate_words(0, 0.5); /* (1/2)^N = 0.025 */
    check_close(e.high, log2(40), 1e-12);
    check_close(estimate_normal_margin(1000, 1e-5), 1.959963985 * sqrt(1000) * 1e5, 1e-5);
}
END_TEST

START_TEST(rate_one_is_exact) {
    for (uint64_t n = 0; n < 100000; n = n * 3 + 1) {
        estimate e = estimate_words(n, 1);
        ck_assert(e.value == (double)n && e.low == (double)n && e.high == (double)n);
        ck_assert_double_eq(estimate_margin(e), 0);
    }
    estimate_blocks b = {0};
    for (int i = 1; i < 100; i++)
        estimate_blocks_add(&b, (uint64_t)i, 1);
    estimate e = estimate_blocks_total(&b);
    ck_assert(e.value == 99 && e.low == 99 && e.high == 99);
}
END_TEST

/* Where one method takes over from another, no step; and more samples never mean less. */
START_TEST(intervals_have_no_seams) {
    estimate a, b;
    for (double rate = 1e-5; rate < 1; rate *= 1.3) {
        a = estimate_words(10000, rate);
        b = estimate_words(10001, rate);
        check_close(b.low - a.low, 1 / rate, 0.1);
        check_close(b.high - a.high, 1 / rate, 0.1);
    }
    for (uint64_t n = 1; n < 10000; n = n * 5 + 2) {
        a = estimate_words(n, 0.999999e-3);
        b = estimate_words(n, 1.000001e-3);
        check_close(estimate_margin(b), estimate_margin(a), 1e-3);
    }
    const double rates[] = {1e-12, 1e-5, 0.01, 0.5, 0.99, 0.999999};
    for (int r = 0; r < 6; r++)
        for (uint64_t n = 0; n < 1u << 30; n = n * 2 + 1) {
            a = estimate_words(n, rates[r]);
            b = estimate_words(n + 1, rates[r]);
            REQUIRE(a.low <= a.value && a.value <= a.high && a.low >= (double)n);
            REQUIRE(a.low < b.low && a.high < b.high);
            if (n > 1000) /* near the normal law */
                check_close(estimate_margin(a), estimate_normal_margin(n, rates[r]),
                            rates[r] < 0.9 ? 0.03 : 1e3);
        }
}
END_TEST

/* The exact probability that the interval covers N, summed over all outcomes. */
static double coverage(double words, double rate) {
    double covered = 0, sd = sqrt(words * rate * (1 - rate)), mean = words * rate;
    for (double n = fmax(0, floor(mean - 9 * sd - 9)); n <= fmin(words, mean + 9 * sd + 9); n++) {
        estimate e = estimate_words((uint64_t)n, rate);
        if (e.low <= words * (1 + 1e-12) && words <= e.high * (1 + 1e-12))
            covered += exp(log_binomial_pmf(words, rate, n));
    }
    return covered;
}

START_TEST(intervals_keep_their_promise) {
    static const double rates[] = {1e-4, 0.005, 0.1, 0.5, 0.9};
    for (int r = 0; r < 5; r++)
        for (double expected = 0.1; expected < 1000; expected *= 2.3) {
            double words = ceil(expected / rates[r]), c = coverage(words, rates[r]);
            ck_assert_double_ge(c, 0.95 - 1e-9);
            if (expected * (1 - rates[r]) >= 50)
                ck_assert_double_le(c, 0.97); /* and is not much wider than it must be */
        }
    for (int r = 0; r < 5; r++) { /* beyond the exact method */
        double c = coverage(20000 / rates[r], rates[r]);
        ck_assert_double_ge(c, 0.949);
        ck_assert_double_le(c, 0.96);
    }
}
END_TEST

/* ---- against the engine
 * ------------------------------------------------------------------------------ */

typedef struct run {
    uint64_t words, blocks, samples;
    estimate_blocks sampled;
} run;

/* A program with blocks of many sizes, profiled with a seed. */
static run profile(double rate, uint64_t seed, int n_blocks) {
    test_memory memory = {0};
    memprof *engine =
        memprof_create(&(memprof_host){.context = &memory, .reallocate = test_reallocate});
    memprof_thread thread = {0};
    REQUIRE(memprof_start(engine, &thread, &(memprof_options){.rate = rate, .seed = seed},
                          &memprof_null_tracker) == MEMPROF_OK);
    run r = {0};
    for (int i = 0; i < n_blocks; i++) {
        uint64_t words = 2 + (uint64_t)(i % 7) + (i % 50 == 0 ? 300 : 0);
        uint64_t k = memprof_count(&thread, words) ? memprof_sample(engine, &thread, words) : 0;
        r.words += words;
        r.blocks++;
        r.samples += k;
        if (k)
            estimate_blocks_add(&r.sampled, words, rate);
    }
    memprof_destroy(engine);
    return r;
}

static const double run_rates[] = {0.002, 0.03, 0.4};

/* 93–97 % of many seeds; four standard deviations of that count are 1.8 %. */
START_TEST(intervals_cover_what_the_engine_samples) {
    enum { SEEDS = 4000 };
    double rate = run_rates[_i], words_covered = 0, blocks_covered = 0, sum = 0, block_sum = 0;
    double block_squares = 0, block_variance = 0;
    run r = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        r = profile(rate, seed, 5000);
        estimate w = estimate_words(r.samples, rate), b = estimate_blocks_total(&r.sampled);
        words_covered += w.low <= (double)r.words && (double)r.words <= w.high;
        blocks_covered += b.low <= (double)r.blocks && (double)r.blocks <= b.high;
        sum += w.value;
        block_sum += b.value;
        block_squares += (b.value - (double)r.blocks) * (b.value - (double)r.blocks);
        block_variance += r.sampled.variance;
    }
    double n = (double)r.words, sd = sqrt(n * (1 - rate) / rate);
    ck_assert_double_lt(fabs(sum / SEEDS - n), 4 * sd / sqrt(SEEDS)); /* unbiased */
    ck_assert_double_ge(words_covered / SEEDS, 0.93);
    ck_assert_double_le(words_covered / SEEDS, 0.97);
    ck_assert_double_lt(fabs(block_sum / SEEDS - (double)r.blocks),
                        4 * sqrt(block_variance / SEEDS / SEEDS));
    check_close(block_variance, block_squares, 0.15); /* the variance is right on average */
    ck_assert_double_ge(blocks_covered / SEEDS, 0.93);
    ck_assert_double_le(blocks_covered / SEEDS, 0.97);
}
END_TEST

START_TEST(inclusion_is_accurate_at_both_ends) {
    check_close(estimate_inclusion(1, 1e-12), 1e-12, 1e-12);
    check_close(estimate_inclusion(1000, 1e-12), 1e-9, 1e-8);
    check_close(estimate_inclusion(3, 0.5), 0.875, 1e-15);
    ck_assert_double_eq(estimate_inclusion(1, 1), 1);
    ck_assert_double_eq(estimate_inclusion(UINT64_C(1) << 50, 0.5), 1);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("estimate");
    TCase *t = tcase_create("estimate");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, special_functions_are_tails);
    tcase_add_test(t, quantiles_agree_with_tables);
    tcase_add_test(t, quantiles_of_large_shapes_are_normal);
    tcase_add_test(t, quantiles_are_where_the_law_passes);
    tcase_add_test(t, well_known_intervals);
    tcase_add_test(t, rate_one_is_exact);
    tcase_add_test(t, intervals_have_no_seams);
    tcase_add_test(t, intervals_keep_their_promise);
    tcase_add_loop_test(t, intervals_cover_what_the_engine_samples, 0, 3);
    tcase_add_test(t, inclusion_is_accurate_at_both_ends);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
