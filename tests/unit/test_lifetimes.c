/* Tests of lifetimes: the survival curve against textbooks and simulations, and shares on traces
 * small enough to count by hand. */
#include <stdio.h>

#include "query/lifetimes.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

/* ---- the curve --------------------------------------------------------------------------- */

/* Weeks of remission of 21 patients (Freireich et al., 1963); negative: seen no longer. The curve,
 * and Greenwood's standard errors, as books print them. */
static const int weeks[] = {6,   6,   6,   -6, 7,  -9,  10,  -10, -11, 13, 16,
                            -17, -19, -20, 22, 23, -25, -32, -32, -34, -35};
static const struct {
    uint64_t time;
    double alive, error;
} remission[] = {{6, 0.857, 0.0764},  {7, 0.807, 0.0869},  {10, 0.753, 0.0963}, {13, 0.690, 0.1068},
                 {16, 0.627, 0.1141}, {22, 0.538, 0.1282}, {23, 0.448, 0.1346}};

enum { PATIENTS = sizeof weeks / sizeof *weeks };

static survival_curve curve_of_remission(double weight) {
    survival_lives lives[PATIENTS];
    survival_curve c;
    for (int i = 0; i < PATIENTS; i++)
        lives[i] = (survival_lives){.time = (uint64_t)abs(weeks[i]),
                                    .ended = weeks[i] > 0,
                                    .weight = weight,
                                    .variance = weight * weight,
                                    .squares = weight * weight,
                                    .n = 1};
    ck_assert(survival_estimate(lives, PATIENTS, &c));
    return c;
}

START_TEST(kaplan_meier_and_greenwood) {
    survival_curve c = curve_of_remission(1);
    ck_assert_uint_eq(c.count, 7);
    for (size_t i = 0; i < 7; i++) {
        const survival_point *p = &c.items[i];
        double s = p->alive.value, log_s = log(s);
        ck_assert_uint_eq(p->time, remission[i].time);
        ck_assert_double_eq_tol(s, remission[i].alive, 6e-4);
        double factor = exp(1.959963984540054 * remission[i].error / (s * -log_s));
        ck_assert_double_eq_tol(p->alive.low, exp(log_s * factor), 2e-3);
        ck_assert_double_eq_tol(p->alive.high, exp(log_s / factor), 2e-3);
    }
    vec_free(&c);
}
END_TEST

/* Units that stand for a hundred each make no better curve. */
START_TEST(weights_change_nothing_if_equal) {
    survival_curve a = curve_of_remission(1), b = curve_of_remission(100);
    ck_assert_uint_eq(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        ck_assert_double_eq_tol(a.items[i].alive.low, b.items[i].alive.low, 1e-12);
        ck_assert_double_eq_tol(a.items[i].alive.low, b.items[i].alive.low, 1e-12);
    }
    vec_free(&a);
    vec_free(&b);
}
END_TEST

START_TEST(between_and_beyond_the_points) {
    survival_curve c = curve_of_remission(1);
    ck_assert_double_eq(survival_at(&c, 5).value, 1);
    ck_assert_double_eq(survival_at(&c, 6).value, c.items[0].alive.value);
    ck_assert_double_eq(survival_at(&c, 9).value, c.items[1].alive.value);
    ck_assert_double_eq(survival_at(&c, 99).value, c.items[6].alive.value);
    survival_quantile q = survival_find_quantile(&c, 0.5);
    ck_assert_uint_eq(q.value, 23);
    ck_assert_uint_eq(q.low, 13); /* as books have it */
    ck_assert_uint_eq(q.high, SURVIVAL_NEVER);
    q = survival_find_quantile(&c, 0.9);
    ck_assert_uint_eq(q.value, SURVIVAL_NEVER);
    vec_free(&c);
}
END_TEST

/* Of n units of which all are known, so many as the share says are dead at the quantile. */
START_TEST(quantiles_of_known_units_are_exact) {
    enum { N = 1000 };
    static survival_lives lives[N];
    for (uint64_t n = 10; n <= N; n += 10) {
        survival_curve c;
        for (uint64_t i = 0; i < n; i++)
            lives[i] =
                (survival_lives){.time = i + 1, .n = 1, .ended = true, .weight = 1, .squares = 1};
        ck_assert(survival_estimate(lives, n, &c));
        ck_assert_uint_eq(survival_find_quantile(&c, 0.5).value, n / 2);
        ck_assert_uint_eq(survival_find_quantile(&c, 0.9).value, n / 10 * 9);
        ck_assert_uint_eq(survival_find_quantile(&c, 0.9).low, n / 10 * 9);
        vec_free(&c);
    }
}
END_TEST

static int compare_lives(const void *a, const void *b) {
    const survival_lives *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : (int)y->ended - (int)x->ended;
}

/* Times of a few bits and of many. */
START_TEST(the_order_of_lives_is_of_no_account) {
    enum { N = 3000 };
    static survival_lives mixed[N], sorted[N];
    test_random random = {1};
    survival_curve a, b;
    for (int i = 0; i < N; i++) {
        const uint64_t r = test_random_u64(&random);
        mixed[i] = (survival_lives){.time = r >> (r % 64),
                                    .ended = r >> 9 & 1,
                                    .weight = 1 + (double)(r % 1000) / 1024,
                                    .variance = (double)(r % 77) / 80,
                                    .squares = 1,
                                    .n = 1 + r % 5};
    }
    memcpy(sorted, mixed, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, compare_lives);
    ck_assert(survival_estimate(mixed, N, &a) && survival_estimate(sorted, N, &b));
    ck_assert_uint_gt(a.count, N / 4);
    ck_assert_uint_eq(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        ck_assert(i == 0 || a.items[i - 1].time < a.items[i].time);
        ck_assert_uint_eq(a.items[i].time, b.items[i].time);
        ck_assert_uint_eq(a.items[i].at_risk, b.items[i].at_risk);
        ck_assert_double_eq_tol(a.items[i].alive.low, b.items[i].alive.low, 1e-9);
    }
    vec_free(&a);
    vec_free(&b);
}
END_TEST

START_TEST(all_end_or_none) {
    survival_curve c;
    survival_lives lives[] = {{5, 1, 1, 1, 1, true}, {3, 1, 1, 1, 1, true}};
    ck_assert(survival_estimate(lives, 2, &c));
    ck_assert_uint_eq(c.count, 2);
    ck_assert_double_eq_tol(c.items[0].alive.value, 0.5, 1e-12);
    ck_assert_double_eq(c.items[1].alive.value, 0);
    ck_assert_double_eq(c.items[1].alive.low, 0);
    ck_assert_double_ge(c.items[1].alive.high, 0.5);
    vec_free(&c);
    survival_lives seen[] = {{5, 1, 1, 1, 1, false}, {3, 1, 1, 1, 1, false}};
    ck_assert(survival_estimate(seen, 2, &c));
    ck_assert_uint_eq(c.count, 0);
    ck_assert(survival_estimate(NULL, 0, &c));
    ck_assert_uint_eq(c.count, 0);
    ck_assert_double_eq(survival_at(&c, 1).value, 1);
}
END_TEST

/* A program of small blocks that die soon and large ones that live long, sampled by words; it ends
 * before many of them. How often does the interval hold the curve of all blocks as it would be had
 * all been seen to the end, by words and by numbers of blocks; and by words times lifetime, of
 * which what was held counts? */
enum { BLOCKS = 4000, ROUNDS = 500, END = 1000 };
typedef enum weighing { OF_WORDS, OF_BLOCKS, HELD } weighing;

static uint64_t words_of(int i) {
    return i % 20 == 0 ? 40 : 2 + (uint64_t)i % 5;
}

/* Returns how long it lives in the end. */
static uint64_t make_life(test_random *r, int i, survival_lives *life) {
    double time = (i % 20 == 0 ? 300 : 60) * test_random_exponential(r);
    double seen = END * test_random_unit(r);
    *life = (survival_lives){.time = (uint64_t)fmin(time, seen), .n = 1, .ended = time < seen};
    return (uint64_t)time;
}

static const uint64_t moments[] = {10, 50, 150, 400};

/* Of what is held, by those that live for at most so long and by others. */
static estimate share_until(const survival_lives *lives, size_t n, uint64_t time, double rate) {
    double sum[2] = {0}, squares[2] = {0}, heaviest[2] = {0};
    for (size_t i = 0; i < n; i++) {
        const bool out = lives[i].time > time;
        sum[out] += lives[i].weight;
        squares[out] += lives[i].weight * (double)lives[i].time;
        heaviest[out] = fmax(heaviest[out], (double)lives[i].time);
    }
    return estimate_share_of(estimate_weighted(sum[0], squares[0], heaviest[0], rate),
                             estimate_weighted(sum[1], squares[1], heaviest[1], rate));
}

/* How many of the words of a block are sampled; `*gap` words from its first on are not. */
static uint64_t sample_words(test_random *r, double rate, uint64_t words, uint64_t *gap) {
    uint64_t k = 0, at = *gap;
    for (; at < words; at += 1 + test_random_gap(r, rate))
        k++;
    *gap = at - words;
    return k;
}

/* Counts, for each moment, whether the curve of a sample holds that of all; last, whether the share
 * does. */
static void sample_program(uint64_t seed, double rate, weighing kind, int covered[5]) {
    test_random r = {seed};
    survival_lives *all = malloc(BLOCKS * sizeof *all), *some = malloc(BLOCKS * sizeof *some);
    double longer[4] = {0}, sum = 0;
    size_t n = 0;
    uint64_t gap = test_random_gap(&r, rate);
    for (int i = 0; i < BLOCKS; i++) {
        const uint64_t words = words_of(i), whole = make_life(&r, i, &all[i]);
        const uint64_t k = sample_words(&r, rate, words, &gap);
        const double time = kind == HELD ? (double)all[i].time : 1;
        all[i].weight = kind == OF_BLOCKS ? 1 : (double)words * time;
        all[i].ended |= kind == HELD;
        sum += all[i].weight;
        for (int m = 0; m < 4; m++)
            longer[m] += (kind == HELD ? all[i].time : whole) > moments[m] ? all[i].weight : 0;
        if (k == 0 || time == 0)
            continue;
        double inclusion = estimate_inclusion(words, rate);
        some[n] = all[i];
        some[n].weight = kind == OF_BLOCKS ? 1 / inclusion : (double)k * time;
        some[n].squares = some[n].weight * some[n].weight;
        some[n++].variance = kind == OF_BLOCKS ? (1 - inclusion) / inclusion / inclusion
                                               : (double)k * (1 - rate) * time * time;
    }
    const estimate whole = share_until(all, BLOCKS, moments[1], 1);
    const estimate part = share_until(some, n, moments[1], rate);
    covered[4] += kind != HELD || (part.low <= whole.value && whole.value <= part.high);
    survival_curve curve;
    ck_assert(survival_estimate(some, n, &curve));
    for (int i = 0; i < 4; i++) {
        const estimate e = survival_at(&curve, moments[i]);
        const double alive = longer[i] / sum, rounding = 1e-9;
        covered[i] += e.low <= alive + rounding && alive <= e.high + rounding;
    }
    vec_free(&curve);
    free(all);
    free(some);
}

START_TEST(curves_are_covered) {
    static const double rates[] = {0.02, 0.2, 1};
    static const char *const names[] = {"words", "blocks", "words times lifetime"};
    double rate = rates[_i / 3];
    const weighing kind = _i % 3;
    const bool is_known = rate >= 1 && kind == HELD;
    int covered[5] = {0};
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        sample_program(seed, rate, kind, covered);
    printf("# %s, rate %g:", names[kind], rate);
    for (int i = 0; i < 5; i++)
        printf(" %.1f %%", 100. * covered[i] / ROUNDS);
    printf("\n");
    for (int i = 0; i < 4; i++) {
        ck_assert_int_ge(covered[i], is_known ? ROUNDS : ROUNDS * 92 / 100);
        ck_assert_int_le(covered[i], is_known ? ROUNDS : ROUNDS * 985 / 1000);
    }
    ck_assert_int_ge(covered[4], ROUNDS * 92 / 100);
}
END_TEST

/* ---- proportions ------------------------------------------------------------------------- */

START_TEST(proportions) {
    estimate e = estimate_proportion(2, 10, 1e-6); /* Clopper and Pearson's table */
    ck_assert_double_eq_tol(e.low, 0.0252, 1e-4);
    ck_assert_double_eq_tol(e.high, 0.5561, 1e-4);
    e = estimate_proportion(0, 10, 1e-6);
    ck_assert_double_eq(e.low, 0);
    ck_assert_double_eq_tol(e.high, 0.3085, 1e-4);
    e = estimate_proportion(10, 10, 1e-6);
    ck_assert_double_eq_tol(e.low, 0.6915, 1e-4);
    ck_assert_double_eq(e.high, 1);
    e = estimate_proportion(2, 10, 1);
    ck_assert(e.low == 0.2 && e.high == 0.2);
    e = estimate_proportion(0, 0, 0.1);
    ck_assert(e.low == 0 && e.high == 1);
}
END_TEST

/* Of any number of units; in between are those of whole numbers. */
START_TEST(proportions_of_any_size) {
    const estimate e = estimate_proportion_of(0.2, 10),
                   exact = estimate_proportion_of(0.2, INFINITY);
    ck_assert_double_eq_tol(e.low, 0.0252, 1e-4);
    ck_assert_double_eq_tol(e.high, 0.5561, 1e-4);
    ck_assert(exact.low == 0.2 && exact.high == 0.2);
    double high = 1;
    for (double units = 0.1; units < 1e9; units *= 3) {
        const estimate wide = estimate_proportion_of(0.2, units);
        ck_assert(wide.low < 0.2 && 0.2 < wide.high && wide.high <= high);
        high = wide.high;
    }
}
END_TEST

/* ---- traces ------------------------------------------------------------------------------ */

static void promote(tape *t, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[0], time, id), MEMTRACE_OK);
}

static void collect(tape *t, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[0], time, id), MEMTRACE_OK);
}

/* At rate 1, of 10 words each: leaf makes three blocks of which two die in the minor heap and one
 * is promoted and dies soon after; parse makes one that is promoted and stays, and one that is too
 * young at the end to say. */
static void make_trace(tape *t, profile *p) {
    tape_start(t, 1);
    uint64_t a = allocate(t, 0, MEMTRACE_MINOR, 9, 10, STACK(MAIN, LEAF));
    uint64_t b = allocate(t, 10, MEMTRACE_MINOR, 9, 10, STACK(MAIN, LEAF));
    uint64_t c = allocate(t, 20, MEMTRACE_MINOR, 9, 10, STACK(MAIN, LEAF));
    uint64_t d = allocate(t, 30, MEMTRACE_MINOR, 9, 10, STACK(MAIN, PARSE));
    collect(t, 50, a);
    collect(t, 2010, b);
    promote(t, 3000, c);
    promote(t, 3000, d);
    collect(t, 3500, c);
    allocate(t, 10000, MEMTRACE_MINOR, 9, 10, STACK(MAIN, PARSE));
    uint64_t last = allocate(t, 10500, MEMTRACE_EXTERNAL, 9, 10, STACK(MAIN));
    collect(t, 10500, last);
    tape_read_blocks(t, p, false);
}

static lifetimes ask(const profile *p, const lifetimes_spec *spec) {
    lens view;
    lifetimes l;
    ck_assert(lens_init(&view, p, true, NULL));
    ck_assert(lifetimes_query(&view, spec, &l));
    lens_free(&view);
    return l;
}

static void check_samples(const lifetimes_share *s, uint64_t samples, uint64_t of) {
    ck_assert_uint_eq(s->samples, samples);
    ck_assert_uint_eq(s->of_samples, of);
}

static void check_share(const lifetimes_share *s, uint64_t samples, uint64_t of) {
    check_samples(s, samples, of);
    ck_assert_double_eq(s->share.value, of ? (double)samples / (double)of : 0);
}

START_TEST(shares_of_bytes_and_blocks) {
    for (int blocks = 0; blocks < 2; blocks++) {
        tape t;
        profile p;
        make_trace(&t, &p);
        lifetimes l =
            ask(&p, &(lifetimes_spec){.measure = blocks ? MEASURE_BLOCKS : MEASURE_ALLOCATED,
                                      .within = 1000,
                                      .soon = 600});
        ck_assert_uint_eq(l.all.blocks, 6);
        ck_assert_double_eq(l.all.amount.value, blocks ? 6 : 480);
        check_samples(&l.all.dead_soon, 20, 50);
        ck_assert_double_eq_tol(l.all.dead_soon.share.value, 2. / 6, 1e-9); /* as the curve */
        check_share(&l.all.dead_minor, 20, 40);
        check_share(&l.all.premature, 10, 20);
        ck_assert_uint_eq(l.sites.count, 3);
        const lifetimes_site *s = &l.sites.items[0];
        ck_assert_str_eq(s->place->function, "leaf");
        check_share(&s->part.dead_soon, 10, 30);
        check_share(&s->part.dead_minor, 20, 30);
        check_share(&s->part.premature, 10, 10);
        s = &l.sites.items[1];
        ck_assert_str_eq(s->place->function, "parse");
        check_share(&s->part.dead_soon, 0, 10);
        check_share(&s->part.dead_minor, 0, 10);
        check_share(&s->part.premature, 0, 10);
        check_share(&l.decades[0], 10, 60);
        check_share(&l.decades[2], 10, 60); /* 50 */
        check_share(&l.decades[4], 20, 60); /* 2,000 and 3,480 */
        check_share(&l.alive, 20, 60);
        /* 6 at first, one dies at 0, one at 50; one is seen for 500; then two of three die. */
        ck_assert_uint_eq(l.curve.count, 4);
        const uint64_t times[] = {0, 50, 2000, 3480};
        const double alive[] = {5. / 6, 4. / 6, 4. / 6 * 2 / 3, 4. / 6 / 3};
        for (size_t i = 0; i < 4; i++) {
            ck_assert_uint_eq(l.curve.items[i].time, times[i]);
            ck_assert_double_eq_tol(l.curve.items[i].alive.value, alive[i], 1e-12);
            ck_assert_int_eq(l.curve.items[i].alive.low == l.curve.items[i].alive.high, i < 2);
        }
        ck_assert_uint_eq(l.quantiles[0].value, 2000);
        ck_assert_uint_eq(l.quantiles[1].value, SURVIVAL_NEVER);
        lifetimes_free(&l);
        profile_free(&p);
    }
}
END_TEST

/* A program makes two blocks every 100 us, of which one dies after 20 ms in the mean and the other
 * never. Most are younger than the limit when the trace ends; leaf and parse make as many. */
enum { PAIRS = 1200, PAIR_TIME = 100, PROGRAM_END = PAIRS * PAIR_TIME, PROGRAMS = 200 };

typedef struct made {
    uint64_t time, id;
} made;

/* All are promoted at once. The shares that die within `limit`: of all, and of leaf alone. */
static void make_program(test_random *r, double rate, uint64_t limit, bool blocks, profile *p,
                         double truth[2]) {
    static made ends[2 * PAIRS];
    size_t n_ends = 0, next = 0;
    uint64_t gap = test_random_gap(r, rate);
    double sum[2] = {0}, soon[2] = {0};
    tape t;
    tape_start(&t, rate);
    for (uint64_t i = 0; i < 2 * PAIRS; i++) {
        const uint64_t now = i / 2 * PAIR_TIME, words = words_of((int)(i / 4));
        const double life = i % 2 ? INFINITY : 20000 * test_random_exponential(r);
        const uint64_t k = sample_words(r, rate, words, &gap);
        const double weight = blocks ? 1 : (double)words;
        const uint64_t site = i / 2 % 2 ? PARSE : LEAF;
        for (int one = 0; one < (site == LEAF ? 2 : 1); one++) {
            sum[one] += weight;
            soon[one] += life <= (double)limit ? weight : 0;
        }
        for (; next < n_ends && ends[next].time <= now; next++)
            collect(&t, ends[next].time, ends[next].id);
        if (k == 0)
            continue;
        const uint64_t id = allocate(&t, now, MEMTRACE_MINOR, words - 1, k, STACK(MAIN, site));
        promote(&t, now, id);
        if (life >= PROGRAM_END)
            continue;
        const uint64_t end = now + (uint64_t)life;
        size_t at = n_ends++;
        for (; at > next && ends[at - 1].time > end; at--)
            ends[at] = ends[at - 1];
        ends[at] = (made){end, id};
    }
    tape_read_blocks(&t, p, false);
    for (int i = 0; i < 2; i++)
        truth[i] = soon[i] / sum[i];
}

START_TEST(the_end_of_a_trace_bends_no_share) {
    const double rate = _i % 2 ? 0.2 : 1;
    const bool blocks = _i / 2 % 2;
    const uint64_t limit = _i / 4 ? 10000 : 80000;
    int covered = 0, covered_leaf = 0;
    double error = 0, width = 0, truth[2];
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        test_random r = {seed};
        profile p;
        make_program(&r, rate, limit, blocks, &p, truth);
        lifetimes l =
            ask(&p, &(lifetimes_spec){.measure = blocks ? MEASURE_BLOCKS : MEASURE_ALLOCATED,
                                      .within = limit,
                                      .soon = limit});
        const bool first = strcmp(l.sites.items[0].place->function, "leaf") == 0;
        const estimate e = l.all.dead_soon.share;
        const estimate leaf = l.sites.items[first ? 0 : 1].part.dead_soon.share;
        ck_assert_double_eq_tol(e.value, 1 - survival_at(&l.curve, limit).value, 1e-9);
        ck_assert_double_eq_tol(e.value, l.all.premature.share.value, 1e-9);
        ck_assert_double_lt(e.low, e.high);
        error += e.value - truth[0];
        width += e.high - e.low;
        covered += e.low <= truth[0] && truth[0] <= e.high;
        covered_leaf += leaf.low <= truth[1] && truth[1] <= leaf.high;
        lifetimes_free(&l);
        profile_free(&p);
    }
    printf(
        "# %s within %g ms, rate %g: error %.4f, width %.4f, covered %.1f %%, of a site %.1f %%\n",
        blocks ? "blocks" : "words", (double)limit / 1000, rate, error / PROGRAMS, width / PROGRAMS,
        100. * covered / PROGRAMS, 100. * covered_leaf / PROGRAMS);
    ck_assert_double_le(fabs(error / PROGRAMS), 0.005);
    ck_assert_int_ge(covered, PROGRAMS * 93 / 100);
    ck_assert_int_ge(covered_leaf, PROGRAMS * 93 / 100);
}
END_TEST

/* At rate 1: b might have died within the limit, as a did; then that is less likely, but nobody was
 * seen that long; then c was, and there is nothing that is not known. */
START_TEST(what_was_not_seen_is_not_exact) {
    for (int older = 0; older < 3; older++) {
        tape t;
        profile p;
        tape_start(&t, 1);
        uint64_t a = allocate(&t, 0, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
        collect(&t, 100, a);
        allocate(&t, older == 2 ? 200 : 500, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
        allocate(&t, older ? 550 : 1200, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
        allocate(&t, 1500, MEMTRACE_EXTERNAL, 9, 10, STACK(MAIN));
        const uint8_t kept[] = {1, 1, 1, 0};
        tape_read_blocks(&t, &p, false);
        lifetimes l = ask(&p, &(lifetimes_spec){.kept = kept, .within = older == 2 ? 900 : 1100});
        const estimate e = l.all.dead_soon.share;
        ck_assert_double_eq_tol(e.value, 1. / 3, 1e-9);
        ck_assert_double_eq_tol(e.low, 1. / 3, 1e-9);
        if (older == 2)
            ck_assert_double_eq(e.high, e.low);
        else
            ck_assert_double_eq(e.high, 1);
        lifetimes_free(&l);
        profile_free(&p);
    }
}
END_TEST

/* All that was seen to the end died; what was not need not have. */
START_TEST(what_was_not_seen_may_have_lived) {
    tape t;
    profile p;
    tape_start(&t, 1);
    uint64_t a = allocate(&t, 0, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
    collect(&t, 100, a);
    uint64_t b = allocate(&t, 450, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
    allocate(&t, 500, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, LEAF));
    collect(&t, 550, b);
    tape_read_blocks(&t, &p, false);
    lifetimes l = ask(&p, &(lifetimes_spec){.within = 1000});
    ck_assert_double_eq(l.all.dead_soon.share.value, 1);
    ck_assert_double_eq_tol(l.all.dead_soon.share.low, 2. / 3, 1e-9);
    ck_assert_double_gt(survival_at(&l.curve, 1000).high, 1. / 3);
    lifetimes_free(&l);
    profile_free(&p);
}
END_TEST

/* In microseconds and words: 500 of leaf that die soon, 20,000 and 34,800; of parse 104,700 and
 * 5,000 that stay. The first and the last live for no time. */
START_TEST(shares_of_what_is_held) {
    tape t;
    profile p;
    make_trace(&t, &p);
    lifetimes l =
        ask(&p, &(lifetimes_spec){.measure = MEASURE_BYTESECONDS, .within = 1000, .soon = 600});
    const double held = 0 + 500 + 20000 + 34800 + 104700 + 5000;
    ck_assert_double_eq_tol(l.all.amount.value, held * 8e-6, 1e-9);
    ck_assert_double_eq_tol(l.all.dead_soon.share.value, 5500 / held, 1e-9);
    ck_assert_double_eq_tol(1 - survival_at(&l.curve, 1000).value, 5500 / held, 1e-9);
    ck_assert_double_eq(l.all.dead_soon.share.low, l.all.dead_soon.share.high); /* at rate 1 */
    ck_assert_double_eq_tol(l.all.dead_minor.share.value, 20500 / (20500. + 34800 + 104700), 1e-9);
    ck_assert_double_eq_tol(l.all.premature.share.value, 34800 / (34800. + 104700), 1e-9);
    ck_assert_str_eq(l.sites.items[0].place->function, "parse"); /* it has fewer bytes than leaf */
    ck_assert_double_eq_tol(l.alive.share.value, 109700 / held, 1e-9);
    ck_assert_double_eq_tol(survival_at(&l.curve, 500).value, (held - 500 - 5000) / held, 1e-9);
    ck_assert_uint_eq(l.quantiles[0].value, 10470);
    lifetimes_free(&l);
    p.info.sample_rate = 0.1; /* what has no sample may hold something all the same */
    const uint8_t kept[] = {0, 1, 0, 0, 0, 0};
    l = ask(&p, &(lifetimes_spec){.kept = kept, .measure = MEASURE_BYTESECONDS, .within = 1000});
    ck_assert_double_gt(l.alive.share.high, 0.5);
    ck_assert_double_lt(l.decades[1].share.high, 0.5); /* not much, if it lives for 9 us at most */
    ck_assert_double_gt(l.decades[1].share.high, 0);
    lifetimes_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(of_some_and_of_none) {
    tape t;
    profile p;
    make_trace(&t, &p);
    const uint8_t kept[] = {1, 0, 0, 0, 0, 0}, none[6] = {0};
    lifetimes l = ask(&p, &(lifetimes_spec){.kept = kept, .within = 1000, .soon = 600});
    ck_assert_uint_eq(l.sites.count, 1);
    check_share(&l.all.dead_soon, 10, 10);
    check_share(&l.alive, 0, 10);
    ck_assert_double_eq(l.all.premature.share.high, 1);
    lifetimes_free(&l);
    l = ask(&p, &(lifetimes_spec){.kept = none});
    ck_assert_uint_eq(l.sites.count, 0);
    ck_assert_uint_eq(l.curve.count, 0);
    lifetimes_free(&l);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("lifetimes");
    TCase *t = tcase_create("lifetimes");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, kaplan_meier_and_greenwood);
    tcase_add_test(t, weights_change_nothing_if_equal);
    tcase_add_test(t, between_and_beyond_the_points);
    tcase_add_test(t, quantiles_of_known_units_are_exact);
    tcase_add_test(t, the_order_of_lives_is_of_no_account);
    tcase_add_test(t, all_end_or_none);
    tcase_add_loop_test(t, curves_are_covered, 0, 9);
    tcase_add_test(t, proportions);
    tcase_add_test(t, proportions_of_any_size);
    tcase_add_test(t, shares_of_bytes_and_blocks);
    tcase_add_loop_test(t, the_end_of_a_trace_bends_no_share, 0, 8);
    tcase_add_test(t, what_was_not_seen_is_not_exact);
    tcase_add_test(t, what_was_not_seen_may_have_lived);
    tcase_add_test(t, shares_of_what_is_held);
    tcase_add_test(t, of_some_and_of_none);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
