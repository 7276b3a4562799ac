/* Tests of intervals by simulation: a made-up program is sampled with many seeds; how often does
 * the interval hold the truth? Seeds are fixed, so that a result is always the same. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "query/compare.h"
#include "random.h"
#include "unit.h"

enum { BLOCKS = 5000, ROUNDS = 2000 };

static const double rates[] = {0.002, 0.03, 0.4};

/* Block i: most are small, every 50th is large. Large ones live long. */
static uint64_t words_of(int i) {
    return 2 + (uint64_t)(i % 7) + (i % 50 == 0 ? 300 : 0);
}

static double life_of(int i) {
    return i % 50 == 0 ? 20 + i % 11 : 0.5 + i % 3;
}

/* What one round of sampling says. */
typedef struct sampled {
    estimate_blocks large, small;
    estimate_mean mean;
    double sum, squares, heaviest; /* of lives, by sample */
    double per_word;               /* of blocks: 1 / (π w) */
} sampled;

static sampled sample(double rate, uint64_t seed) {
    sampled s = {0};
    test_random r = {seed};
    uint64_t gap = test_random_gap(&r, rate);
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t words = words_of(i), k = 0, at = gap;
        for (; at < words; at += 1 + test_random_gap(&r, rate))
            k++;
        gap = at - words;
        if (k == 0)
            continue;
        estimate_blocks_add(words > 100 ? &s.large : &s.small, words, rate);
        estimate_mean_add(&s.mean, (double)words, estimate_inclusion(words, rate), 1);
        s.per_word += 1 / estimate_inclusion(words, rate) / (double)words;
        s.sum += (double)k * life_of(i);
        s.squares += (double)k * life_of(i) * life_of(i);
        s.heaviest = fmax(s.heaviest, life_of(i));
    }
    return s;
}

static bool holds(estimate e, double truth) {
    return e.low <= truth && truth <= e.high;
}

START_TEST(intervals_cover) {
    double rate = rates[_i], share = 0, mean = 0, lives = 0, true_lives = 0, true_words = 0;
    for (int i = 0; i < BLOCKS; i++) {
        true_words += (double)words_of(i);
        true_lives += (double)words_of(i) * life_of(i);
    }
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        sampled s = sample(rate, seed);
        share += holds(estimate_share(&s.large, &s.small), 0.02);
        mean += holds(estimate_mean_value(&s.mean), true_words / BLOCKS);
        lives += holds(estimate_weighted(s.sum, s.squares, s.heaviest, rate), true_lives);
    }
    printf("# rate %g: share %.3f, mean %.3f, byte-seconds %.3f\n", rate, share / ROUNDS,
           mean / ROUNDS, lives / ROUNDS);
    ck_assert_double_ge(share / ROUNDS, 0.93);
    ck_assert_double_ge(mean / ROUNDS, 0.92);
    ck_assert_double_ge(lives / ROUNDS, 0.93);
    if (rate < 0.1) { /* elsewhere leaving out 1 - rate makes the interval of lives wide */
        ck_assert_double_le(share / ROUNDS, 0.985);
        ck_assert_double_le(lives / ROUNDS, 0.985);
    }
}
END_TEST

/* ---- few blocks of very different sizes -------------------------------------------------- */

enum { MOST_KINDS = 12, FEW_ROUNDS = 2000 };

static const double few_rate = 1e-4;

/* Sizes of blocks: two, or doubling ones that make up as many words each. */
typedef struct few_mix {
    const char *name;
    uint64_t small, large;
    int kinds;
} few_mix;

static const few_mix few_mixes[] = {{"2 and 10 words", 2, 10, 2},
                                    {"2 and 100 words", 2, 100, 2},
                                    {"2 and 1,000 words", 2, 1000, 2},
                                    {"2 and 10,000 words", 2, 10000, 2},
                                    {"2, 4, 8 … 4,096 words", 2, 4096, 12}};

/* As many are expected to be tracked of the smallest, and of all larger ones. */
static const double few_small[] = {0.3, 0.5, 1, 2, 3, 5}, few_large[] = {3, 8, 25};

static uint64_t few_words(const few_mix *m, int kind) {
    return m->kinds == 2 ? (kind ? m->large : m->small) : m->small << kind;
}

static uint64_t draw_tracked(test_random *r, uint64_t blocks, double chance) {
    uint64_t n = 0;
    for (uint64_t at = test_random_gap(r, chance); at < blocks;
         at += 1 + test_random_gap(r, chance))
        n++;
    return n;
}

/* How often the intervals cover the number of blocks: that of any sizes, and that of sizes seen;
 * and how far up the former reaches, as a multiple. */
typedef struct few_result {
    double any, seen, reach;
} few_result;

static few_result cover_few(const few_mix *m, double small, double large, uint64_t seed) {
    few_result result = {0};
    uint64_t blocks[MOST_KINDS], rounds = 0;
    double truth = 0;
    for (int i = 0; i < m->kinds; i++) {
        const double tracked = i ? large / (m->kinds - 1) : small;
        blocks[i] = (uint64_t)llround(tracked / estimate_inclusion(few_words(m, i), few_rate));
        truth += (double)blocks[i];
    }
    test_random r = {seed};
    while (rounds < FEW_ROUNDS) {
        estimate_blocks b = {0};
        for (int i = 0; i < m->kinds; i++) {
            const double chance = estimate_inclusion(few_words(m, i), few_rate);
            estimate_blocks_add_alike(&b, chance, draw_tracked(&r, blocks[i], chance));
        }
        if (b.tracked == 0)
            continue;
        const estimate any = estimate_blocks_number(&b, 0, few_rate);
        result.any += holds(any, truth) / (double)FEW_ROUNDS;
        result.seen += holds(estimate_blocks_total(&b), truth) / (double)FEW_ROUNDS;
        result.reach += log(any.high / any.value) / FEW_ROUNDS;
        rounds++;
    }
    result.reach = exp(result.reach);
    return result;
}

/* Small blocks are most of the blocks and little of the words: often, none of them is tracked. */
START_TEST(few_blocks_of_different_sizes_are_covered) {
    const few_mix *m = &few_mixes[_i];
    for (size_t i = 0; i < sizeof few_small / sizeof *few_small; i++)
        for (size_t j = 0; j < sizeof few_large / sizeof *few_large; j++) {
            const few_result c = cover_few(m, few_small[i], few_large[j], 1 + i * 100 + j);
            printf("# %s, %g and %g tracked: %.3f, reaches %.3g times; as seen %.3f\n", m->name,
                   few_small[i], few_large[j], c.any, c.reach, c.seen);
            ck_assert_double_ge(c.any, 0.93);
        }
}
END_TEST

static estimate_blocks draw_few(const few_mix *m, const uint64_t *blocks, test_random *r) {
    estimate_blocks b = {0};
    for (int i = 0; i < m->kinds; i++) {
        const double chance = estimate_inclusion(few_words(m, i), few_rate);
        estimate_blocks_add_alike(&b, chance, draw_tracked(r, blocks[i], chance));
    }
    return b;
}

/* How often the share of one class in it and another is covered, if both have this mix of sizes. */
static double cover_share(const few_mix *m, double small, double large, uint64_t seed) {
    uint64_t blocks[MOST_KINDS];
    int rounds = 0, held = 0;
    for (int i = 0; i < m->kinds; i++)
        blocks[i] = (uint64_t)llround((i ? large / (m->kinds - 1) : small) /
                                      estimate_inclusion(few_words(m, i), few_rate));
    test_random r = {seed};
    while (rounds < FEW_ROUNDS) {
        const estimate_blocks a = draw_few(m, blocks, &r), b = draw_few(m, blocks, &r);
        if (a.tracked == 0 || b.tracked == 0)
            continue;
        const estimate_blocks in = estimate_blocks_possible(&a, 0, few_rate);
        const estimate_blocks out = estimate_blocks_possible(&b, 0, few_rate);
        held += holds(estimate_share(&in, &out), 0.5);
        rounds++;
    }
    return (double)held / rounds;
}

START_TEST(shares_of_few_blocks_are_covered) {
    const few_mix *m = &few_mixes[_i];
    for (size_t i = 0; i < sizeof few_small / sizeof *few_small; i++)
        for (size_t j = 0; j < sizeof few_large / sizeof *few_large; j++) {
            const double c = cover_share(m, few_small[i], few_large[j], 7 + i * 100 + j);
            printf("# share, %s, %g and %g tracked: %.3f\n", m->name, few_small[i], few_large[j],
                   c);
            ck_assert_double_ge(c, 0.93);
        }
}
END_TEST

/* Most words live for a moment, and a few as long as the trace: often, none of these is sampled. */
START_TEST(what_few_blocks_hold_is_covered) {
    enum { LONG = 100, SHORT = 0 };
    static const double lives[] = {[SHORT] = 0.01, [1] = LONG};
    for (size_t i = 0; i < sizeof few_small / sizeof *few_small; i++)
        for (size_t j = 0; j < sizeof few_large / sizeof *few_large; j++) {
            const double expected[] = {few_large[j], few_small[i]};
            const double truth = (expected[0] * lives[0] + expected[1] * lives[1]) / few_rate;
            test_random r = {9 + i * 100 + j};
            int rounds = 0, held = 0;
            while (rounds < FEW_ROUNDS) {
                double sum = 0, squares = 0, heaviest = 0;
                uint64_t n = 0;
                for (int kind = 0; kind < 2; kind++) {
                    const uint64_t words = (uint64_t)llround(expected[kind] / few_rate);
                    const uint64_t k = draw_tracked(&r, words, few_rate);
                    sum += (double)k * lives[kind];
                    squares += (double)k * lives[kind] * lives[kind];
                    heaviest = k ? lives[kind] : heaviest;
                    n += k;
                }
                if (n == 0)
                    continue;
                const double most = estimate_weight_possible(heaviest, n, LONG);
                held += holds(estimate_weighted(sum, squares, most, few_rate), truth);
                rounds++;
            }
            printf("# held, %g for long and %g samples: %.3f\n", expected[1], expected[0],
                   (double)held / rounds);
            ck_assert_double_ge((double)held / rounds, 0.93);
        }
}
END_TEST

/* Where as many were seen as tell the sizes, nothing is added for others. */
START_TEST(many_blocks_tell_their_sizes) {
    estimate_blocks b = {0};
    estimate_blocks_add_alike(&b, estimate_inclusion(10000, few_rate), ESTIMATE_FEW_BLOCKS - 1);
    ck_assert_double_ge(estimate_blocks_number(&b, 0, few_rate).high, 3 / few_rate / 2);
    estimate_blocks_add(&b, 10000, few_rate);
    ck_assert_double_le(estimate_blocks_number(&b, 0, few_rate).high, 150);
}
END_TEST

/* What one sees is no less than what may be there if none is seen. */
START_TEST(a_large_block_seen_excludes_no_small_ones) {
    estimate_blocks b = {0}, exact = {0};
    estimate_blocks_add(&b, 1 << 20, few_rate); /* surely tracked */
    ck_assert_double_eq(estimate_blocks_number(&b, 0, few_rate).low, 1);
    ck_assert_double_ge(estimate_blocks_number(&b, 0, few_rate).high, 3.68 / few_rate / 2);
    estimate_blocks_add(&exact, 10000, 1);
    const estimate e = estimate_blocks_number(&exact, 0, 1);
    ck_assert(e.value == 1 && e.low == 1 && e.high == 1);
    const estimate none = estimate_blocks_number(&(estimate_blocks){.heaviest = 100}, 0, few_rate);
    ck_assert_double_eq(none.high, estimate_blocks_total(&(estimate_blocks){.heaviest = 100}).high);
}
END_TEST

/* ---- weighted amounts compared ------------------------------------------------------------ */

static compare_weighted number_of(const sampled *s) {
    estimate_blocks all = {.count = s->large.count + s->small.count,
                           .variance = s->large.variance + s->small.variance,
                           .heaviest = fmax(s->large.heaviest, s->small.heaviest),
                           .tracked = s->large.tracked + s->small.tracked};
    const estimate total = estimate_blocks_total(&all);
    return (compare_weighted){.amount = total, .seen = total, .scatter = s->per_word};
}

static compare_weighted lives_of(const sampled *s, double rate) {
    const estimate e = estimate_weighted(s->sum, s->squares, s->heaviest, rate);
    return (compare_weighted){.amount = e, .seen = e, .scatter = s->squares / rate};
}

static compare_weighted times(compare_weighted w, double factor) {
    estimate e = w.amount;
    e = (estimate){e.value * factor, e.low * factor, e.high * factor};
    return (compare_weighted){.amount = e, .seen = e, .scatter = w.scatter * factor * factor};
}

/* Two runs of one program, at these rates; and if the second amounted to twice as much. */
static void compare_runs(uint64_t seed, const double rate[2], bool lives, comparison *same,
                         comparison *twice) {
    compare_weighted w[2];
    compare_run runs[2];
    const uint64_t samples[] = {1, 1}; /* only counted */
    for (int i = 0; i < 2; i++) {
        sampled s = sample(rate[i], 2 * seed + (uint64_t)i);
        w[i] = lives ? lives_of(&s, rate[i]) : number_of(&s);
        runs[i] = (compare_run){.rate = rate[i], .unit = 1};
    }
    const compare_side before = {runs, samples, w, 1};
    const compare_side after = {runs + 1, samples + 1, w + 1, 1};
    *same = compare_sides(&before, &after);
    w[1] = times(w[1], 2);
    *twice = compare_sides(&before, &after);
}

static const double rates_of_runs[][2] = {{0.002, 0.002}, {0.03, 0.03}, {0.005, 0.05}};

START_TEST(no_change_is_found_where_there_is_none) {
    const double *rate = rates_of_runs[_i / 2];
    bool lives = _i % 2;
    double found = 0, covered = 0, doubled = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        comparison same, twice;
        compare_runs(seed, rate, lives, &same, &twice);
        found += same.p <= 0.05;
        covered += holds(same.change, 0);
        doubled += twice.p <= 0.05;
    }
    printf("# %s at rates %g and %g: found %.3f, covered %.3f, doubled found %.3f\n",
           lives ? "byte-seconds" : "blocks", rate[0], rate[1], found / ROUNDS, covered / ROUNDS,
           doubled / ROUNDS);
    ck_assert_double_le(found / ROUNDS, 0.065);
    ck_assert_double_ge(covered / ROUNDS, 0.93);
    ck_assert_double_ge(doubled / ROUNDS, 0.3);
}
END_TEST

/* ---- exact runs against sampled ones ------------------------------------------------------- */

/* A site has so many blocks of these sizes, in turn. */
typedef struct exact_site {
    int n;
    uint64_t words[2];
} exact_site;

static const exact_site exact_sites[] = {
    {1, {2, 2}},     {1, {5, 5}},        {2, {3, 3}},     {3, {2, 9}},     {5, {4, 4}},
    {5, {2, 2}},     {1, {100, 100}},    {1, {200, 200}}, {3, {100, 2}},   {2, {300, 300}},
    {20, {5, 5}},    {20, {2, 300}},     {50, {3, 20}},   {100, {2, 2}},   {400, {4, 50}},
    {1, {500, 500}}, {10, {1000, 1000}}, {30, {2, 1000}}, {200, {90, 90}}, {1, {30, 30}},
};

enum { EXACT_SITES = sizeof exact_sites / sizeof *exact_sites, EXACT_ROUNDS = 300, EXACT_RUNS = 2 };

/* As diff.c weighs it, where sizes and lives of the site are known. A block lives 1 or 9 s. */
static compare_weighted exact_weigh(const exact_site *s, double rate, bool lives, test_random *r) {
    estimate_blocks all = {0};
    double sum = 0, squares = 0, per_word = 0, heaviest = 0;
    uint64_t gap = rate < 1 ? test_random_gap(r, rate) : 0;
    for (int i = 0; i < s->n; i++) {
        const uint64_t words = s->words[i % 2];
        const double life = i % 2 ? 9 : 1;
        uint64_t k = 0, at = gap;
        for (; at < words; at += rate < 1 ? 1 + test_random_gap(r, rate) : 1)
            k++;
        gap = rate < 1 ? at - words : 0;
        heaviest = fmax(heaviest, lives ? life : 1 / estimate_inclusion(words, rate));
        if (k == 0)
            continue;
        estimate_blocks_add(&all, words, rate);
        per_word += 1 / estimate_inclusion(words, rate) / (double)words;
        sum += (double)k * life;
        squares += (double)k * life * life;
    }
    all.heaviest = heaviest;
    const estimate e =
        lives ? estimate_weighted(sum, squares, heaviest, rate) : estimate_blocks_total(&all);
    return (compare_weighted){.amount = e, .seen = e, .scatter = lives ? squares / rate : per_word};
}

static comparison exact_compare(const exact_site *before, const exact_site *after, bool lives,
                                size_t n_runs, const double *rate, test_random *r) {
    static const uint64_t samples[EXACT_RUNS] = {1, 1}; /* only counted */
    const exact_site *const sites[] = {before, after};
    compare_run runs[2][EXACT_RUNS];
    compare_weighted w[2][EXACT_RUNS];
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n_runs; i++) {
            runs[side][i] = (compare_run){.rate = rate[side], .unit = 1};
            w[side][i] = exact_weigh(sites[side], rate[side], lives, r);
        }
    return compare_sides(&(compare_side){runs[0], samples, w[0], n_runs},
                         &(compare_side){runs[1], samples, w[1], n_runs});
}

/* Of the same program, one side sees all and the other a hundredth. */
START_TEST(what_a_sample_missed_is_no_change) {
    static const exact_site gone = {0}, many = {1000, {2, 20}};
    static const double rate_of_order[][2] = {{1, 0.01}, {0.01, 1}};
    const double *rate = rate_of_order[_i % 2];
    const bool lives = _i / 2 % 2;
    const size_t n_runs = 1 + (size_t)(_i / 4);
    int accidents = 0, found = 0;
    double low = 0, covered = 0;
    test_random r = {77};
    for (int round = 0; round < EXACT_ROUNDS; round++) {
        compare_test tests[EXACT_SITES + 1] = {{0}};
        for (int i = 0; i < EXACT_SITES; i++) {
            const exact_site *s = &exact_sites[i];
            const comparison c = exact_compare(s, s, lives, n_runs, rate, &r);
            tests[i].p = c.p;
            low += c.p <= 0.05;
            covered += holds(c.change, 0);
        }
        tests[EXACT_SITES].p = exact_compare(&many, &gone, lives, n_runs, rate, &r).p;
        ck_assert(compare_q_values(tests, EXACT_SITES + 1));
        bool accident = false;
        for (int i = 0; i < EXACT_SITES; i++)
            accident |= tests[i].q <= 0.05;
        accidents += accident;
        found += tests[EXACT_SITES].q <= 0.05;
    }
    low /= EXACT_ROUNDS * EXACT_SITES;
    covered /= EXACT_ROUNDS * EXACT_SITES;
    printf("# %s, %zu a side, at %g and %g: p <= 5 %% %.3f, rounds with accidents %.3f, found "
           "%.3f, covered %.3f\n",
           lives ? "byte-seconds" : "blocks", n_runs, rate[0], rate[1], low,
           (double)accidents / EXACT_ROUNDS, (double)found / EXACT_ROUNDS, covered);
    ck_assert_double_le(low, 0.05);
    /* three standard deviations of 5 % */
    ck_assert_double_le((double)accidents / EXACT_ROUNDS,
                        0.05 + 3 * sqrt(0.05 * 0.95 / EXACT_ROUNDS));
    if (n_runs == 1) /* of two runs each, one degree of freedom says little */
        ck_assert_double_ge((double)found / EXACT_ROUNDS, 0.95);
    ck_assert_double_ge(covered, 0.95);
}
END_TEST

/* One block of two words, at the rate 1/100. */
START_TEST(a_small_block_that_was_missed_says_nothing) {
    static const exact_site one = {1, {2, 2}}, gone = {0};
    static const double rate[] = {1, 0.01}, rarely[] = {1, 1e-9};
    for (size_t n_runs = 1; n_runs <= EXACT_RUNS; n_runs++)
        for (int lives = 0; lives < 2; lives++) {
            test_random r = {1};
            ck_assert_double_gt(exact_compare(&one, &gone, lives, n_runs, rate, &r).p, 0.9);
            ck_assert_double_gt(exact_compare(&one, &gone, lives, n_runs, rarely, &r).p, 0.9);
        }
}
END_TEST

START_TEST(weighted_amounts_at_rate_one) {
    const compare_run run = {.rate = 1, .unit = 1};
    const uint64_t samples = 1;
    const compare_weighted ten = {.amount = {10, 10, 10}, .seen = {10, 10, 10}};
    const compare_weighted twelve = {.amount = {12, 12, 12}, .seen = {12, 12, 12}};
    const compare_weighted none = {.amount = {0, 0, 0}};
    const compare_side before = {&run, &samples, &ten, 1}, after = {&run, &samples, &twelve, 1};
    const compare_side nothing = {&run, &samples, &none, 1};
    comparison c = compare_sides(&before, &after);
    ck_assert_double_eq(c.p, 0);
    ck_assert_double_eq(c.change.value, 2);
    ck_assert_double_eq(c.change.low, 2);
    ck_assert_double_eq_tol(c.ratio.high, 1.2, 1e-12);
    ck_assert_double_eq(compare_sides(&before, &before).p, 1);
    c = compare_sides(&nothing, &after);
    ck_assert_double_eq(c.p, 0);
    ck_assert(isinf(c.ratio.value));
    ck_assert(isnan(compare_sides(&nothing, &nothing).ratio.value));
}
END_TEST

START_TEST(shares_and_means_at_rate_one_are_exact) {
    estimate_blocks a = {0}, b = {0};
    estimate_mean m = {0};
    estimate_blocks_add(&a, 5, 1);
    for (int i = 0; i < 3; i++) {
        estimate_blocks_add(&b, 7, 1);
        estimate_mean_add(&m, i, estimate_inclusion(7, 1), 1);
    }
    estimate e = estimate_share(&a, &b);
    ck_assert(e.value == 0.25 && e.low == 0.25 && e.high == 0.25);
    e = estimate_share(&(estimate_blocks){.heaviest = 1}, &b);
    ck_assert(e.value == 0 && e.low == 0 && e.high == 0);
    e = estimate_mean_value(&m);
    ck_assert(e.value == 1 && e.low == 1 && e.high == 1);
}
END_TEST

/* None seen, each of which would have stood for 100: at most 3.69 times that, beside 10,000. */
START_TEST(a_share_of_none_has_a_limit) {
    estimate_blocks b = {0};
    for (int i = 0; i < 100; i++)
        estimate_blocks_add(&b, 1, 0.01);
    estimate e = estimate_share(&(estimate_blocks){.heaviest = 100}, &b);
    ck_assert_double_eq(e.low, 0);
    ck_assert_double_eq_tol(e.high, 0.043, 0.003); /* 366 of 8,150 + 366: the lower limit of b */
    estimate rest = estimate_share(&b, &(estimate_blocks){.heaviest = 100});
    ck_assert_double_eq_tol(rest.low, 1 - e.high, 1e-12);
    ck_assert_double_eq(rest.high, 1);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("coverage");
    TCase *t = tcase_create("coverage");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, intervals_cover, 0, 3);
    tcase_add_loop_test(t, few_blocks_of_different_sizes_are_covered, 0,
                        sizeof few_mixes / sizeof *few_mixes);
    tcase_add_loop_test(t, shares_of_few_blocks_are_covered, 0,
                        sizeof few_mixes / sizeof *few_mixes);
    tcase_add_test(t, what_few_blocks_hold_is_covered);
    tcase_add_test(t, many_blocks_tell_their_sizes);
    tcase_add_test(t, a_large_block_seen_excludes_no_small_ones);
    tcase_add_loop_test(t, no_change_is_found_where_there_is_none, 0, 6);
    tcase_add_loop_test(t, what_a_sample_missed_is_no_change, 0, 8);
    tcase_add_test(t, a_small_block_that_was_missed_says_nothing);
    tcase_add_test(t, weighted_amounts_at_rate_one);
    tcase_add_test(t, shares_and_means_at_rate_one_are_exact);
    tcase_add_test(t, a_share_of_none_has_a_limit);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
