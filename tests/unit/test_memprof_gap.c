/* Tests of the engine's randomness against exact expectations. Seeds are fixed: a value outside its
 * four standard deviations is a defect, not bad luck. */
#include "memprof/gap.h"
#include "memprof/gap_log.h"
#include "memprof_host.h"
#include "unit.h"

static const double rates[] = {1e-9, 1e-5, 1e-3, 0.1, 0.5, 0.9, 0.9999};
enum { N_RATES = sizeof rates / sizeof *rates };

static gap_source source_of(uint64_t seed, double rate) {
    gap_source s;
    gap_seed(&s, seed, 0);
    gap_set_rate(&s, rate);
    return s;
}

/* Over every exponent, and densely where the terms change sign. */
START_TEST(the_logarithm_keeps_its_bound) {
    double worst = 0;
    for (int e = -1000; e <= 1000; e++)
        for (int i = 0; i < 200; i++) {
            double x = ldexp(1 + i / 200.0, e), exact = log(x);
            if (x != 1)
                worst = fmax(worst, fabs(gap_log(x) / exact - 1));
        }
    for (int i = 1; i < 2000000; i++)
        worst =
            fmax(worst, fabs(gap_log(i / 1e6) / log(i / 1e6 + (i == 1000000)) - (i != 1000000)));
    for (int e = 1; e <= 1000; e++)
        worst = fmax(worst, fabs(gap_log1m(ldexp(1, -e)) / log1p(-ldexp(1, -e)) - 1));
    for (int i = 1; i < 100000; i++)
        worst = fmax(worst, fabs(gap_log1m(i / 1e5) / log1p(-i / 1e5) - 1));
    ck_assert_double_lt(worst, GAP_LOG_ERROR);
    ck_assert_double_gt(worst, GAP_LOG_ERROR / 100); /* the bound says something */
}
END_TEST

/* Mean (1-p)/p, variance (1-p)/p²; the fourth moment gives the error of the variance. */
START_TEST(gaps_have_the_right_mean_and_variance) {
    enum { N = 2000000 };
    const double p = rates[_i], mean = (1 - p) / p, variance = (1 - p) / (p * p);
    const double kurtosis = 9 + p * p / (1 - p);
    gap_source s = source_of(11, p);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        double d = (double)gap_next(&s) - mean;
        sum += d;
        squares += d * d;
    }
    ck_assert_double_lt(fabs(sum / N) / sqrt(variance / N), 4);
    ck_assert_double_lt(fabs(squares / N / variance - 1) / sqrt((kurtosis - 1) / N), 4);
}
END_TEST

START_TEST(gaps_are_geometric) {
    enum { N = 1000000, CLASSES = 100 };
    const double p = rates[_i];
    gap_source s = source_of(12, p);
    uint64_t counts[CLASSES] = {0};
    /* Classes of equal width, each of probability at least 1/1000. */
    double width = fmax(1, floor(0.05 / p)), statistic = 0, freedom = -1, left = N;
    for (int i = 0; i < N; i++) {
        double class = floor((double)gap_next(&s) / width);
        counts[class < CLASSES ? (int)class : CLASSES - 1]++;
    }
    double seen = 0;
    for (int c = 0; c < CLASSES; c++) {
        double upper = N * exp((c + 1) * width * log1p(-p)); /* expected from the next class on */
        seen += (double)counts[c];
        bool last = c == CLASSES - 1 || upper < 10;
        double expected = last ? left : left - upper;
        if (last)
            for (int d = c + 1; d < CLASSES; d++)
                seen += (double)counts[d];
        statistic += (seen - expected) * (seen - expected) / expected;
        freedom++;
        seen = 0;
        left = upper;
        if (last)
            break;
    }
    ck_assert_double_gt(freedom, 0);
    ck_assert_double_lt(fabs(chi_square_z(statistic, freedom)), 4);
}
END_TEST

START_TEST(gaps_are_uncorrelated) {
    enum { N = 1000000, LAGS = 130 };
    static double z[N];
    gap_source s = source_of(13, 0.01);
    for (int i = 0; i < N; i++)
        z[i] = ((double)gap_next(&s) - 99) / sqrt(0.99 / 0.0001);
    const int lags[] = {1, 2, 3, 4, 5, 8, GAP_BATCH - 1, GAP_BATCH, GAP_BATCH + 1};
    for (size_t l = 0; l < sizeof lags / sizeof *lags; l++) {
        double product = 0;
        for (int i = lags[l]; i < N; i++)
            product += z[i] * z[i - lags[l]];
        ck_assert_double_lt(fabs(product / sqrt(N)), 4);
    }
}
END_TEST

START_TEST(streams_are_functions_of_seed_and_number) {
    gap_source a, b;
    gap_seed(&a, 1, 1);
    gap_seed(&b, 1, 1);
    ck_assert_mem_eq(a.s, b.s, sizeof a.s);
    const uint64_t others[][2] = {{1, 2}, {2, 1}, {0, 1}, {1, 0}, {0, 0}, {UINT64_MAX, 1}};
    for (size_t i = 0; i < 6; i++) {
        gap_seed(&b, others[i][0], others[i][1]);
        for (int lane = 0; lane < GAP_LANES; lane++)
            for (int word = 0; word < 4; word++)
                ck_assert_uint_ne(a.s[word][lane], b.s[word][lane]);
    }
}
END_TEST

/* The first outputs of xoshiro256++ with state {1, 2, 3, 4}, which everybody's
 * implementation has to give. A rate of 1/2 makes the gap of u the floor of -log2(u). */
START_TEST(the_generator_is_xoshiro) {
    gap_source s = source_of(1, 0.5);
    for (int lane = 0; lane < GAP_LANES; lane++)
        for (int word = 0; word < 4; word++)
            s.s[word][lane] = (uint64_t)word + 1;
    static const uint64_t outputs[] = {41943041,
                                       58720359,
                                       UINT64_C(3588806011781223),
                                       UINT64_C(3591011842654386),
                                       UINT64_C(9228616714210784205),
                                       UINT64_C(9973669472204895162)};
    for (int i = 0; i < 6; i++)
        for (int lane = 0; lane < GAP_LANES; lane++) {
            double u = ((double)(outputs[i] >> 12) + 0.5) * 0x1p-52;
            ck_assert_int_eq(gap_next(&s), (int64_t)floor(-log2(u)));
        }
}
END_TEST

/* Both algorithms, on both sides of 1/2, against the exact law. */
START_TEST(counts_are_binomial) {
    enum { N = 400000, CLASSES = 2000 };
    static const struct {
        double n, p;
    } laws[] = {{1, 0.3},     {10, 0.5},  {40, 0.9},     {100, 0.15},   {100, 0.17}, {1000, 0.1},
                {1000, 0.95}, {500, 0.5}, {64, 0.75},    {50000, 0.01}, {1e6, 1e-4}, {1e6, 0.001},
                {1e12, 1e-9}, {33, 0.5},  {1500, 0.999}, {0, 0.5}};
    const double n = laws[_i].n, p = laws[_i].p;
    gap_source s = source_of(100 + (uint64_t)_i, p);
    static uint64_t counts[CLASSES];
    for (int i = 0; i < N; i++) {
        uint64_t k = gap_binomial(&s, (uint64_t)n);
        REQUIRE((double)k <= n);
        counts[k < CLASSES ? k : CLASSES - 1]++;
    }
    if (n == 0)
        ck_assert_uint_eq(counts[0], N);
    else
        ck_assert_double_lt(fabs(binomial_z(counts, CLASSES, N, n, p)), 4);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("memprof_gap");
    TCase *t = tcase_create("memprof_gap");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_logarithm_keeps_its_bound);
    tcase_add_loop_test(t, gaps_have_the_right_mean_and_variance, 0, N_RATES);
    tcase_add_loop_test(t, gaps_are_geometric, 0, N_RATES);
    tcase_add_test(t, gaps_are_uncorrelated);
    tcase_add_test(t, streams_are_functions_of_seed_and_number);
    tcase_add_test(t, the_generator_is_xoshiro);
    tcase_add_loop_test(t, counts_are_binomial, 0, 16);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
