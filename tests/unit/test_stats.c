/* Tests of stats: sizes and lifetimes of sampled blocks, on traces small enough to count by hand.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/blocks_add.h"
#include "query/stats.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

static void promote(tape *t, unsigned domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[domain], time, id), MEMTRACE_OK);
}

static void collect(tape *t, unsigned domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[domain], time, id), MEMTRACE_OK);
}

static void read_ordered(tape *t, profile *p, bool reversed) {
    tape_read_with(t, p, reversed, &(profile_options){.keep_blocks = true, .keep_order = true});
}

static stats ask(const profile *p, const stats_spec *spec) {
    stats s;
    ck_assert(stats_query(p, spec, &s));
    return s;
}

enum { MOST_BLOCKS = 16 };

/* All blocks, and then there are no more. */
static void list(const stats *s, stats_block blocks[MOST_BLOCKS]) {
    stats_walk w = {.stats = s};
    size_t n = 0;
    while (n < MOST_BLOCKS && stats_next(&w, &blocks[n]))
        n++;
    ck_assert_uint_eq(n, s->whole.n);
}

/* At rate 1: a minor block that dies (A), one that is promoted and dies (B), a major one that
 * survives (C), an external one that dies at once (D). */
static void make_four(tape *t, profile *p) {
    tape_start(t, 1);
    uint64_t a = allocate(t, 10, MEMTRACE_MINOR, 2, 3, STACK(MAIN, LEAF));
    uint64_t b = allocate(t, 20, MEMTRACE_MINOR, 32, 33, STACK(MAIN, PARSE));
    collect(t, 0, 30, a);
    allocate(t, 40, MEMTRACE_MAJOR, 300, 301, STACK(MAIN, EVAL));
    promote(t, 0, 50, b);
    uint64_t d = allocate(t, 60, MEMTRACE_EXTERNAL, 20000, 20001, STACK(MAIN));
    collect(t, 0, 60, d);
    collect(t, 0, 1070, b);
    read_ordered(t, p, false);
}

START_TEST(numbers_of_all_blocks) {
    tape t;
    profile p;
    make_four(&t, &p);
    stats_block blocks[MOST_BLOCKS];
    stats s = ask(&p, &(stats_spec){.large = 300});
    list(&s, blocks);
    const stats_part *w = &s.whole;
    ck_assert_uint_eq(w->n, 4);
    ck_assert_uint_eq(w->words, 2 + 32 + 300 + 20000);
    ck_assert_double_eq(w->mean, 5083.5);
    /* of 2, 32, 300, 20000: squares of differences 25820182.25, 25516212.5, 22881872.25,
     * 222502222.25 */
    ck_assert_double_eq_tol(
        w->variance, (5081.5 * 5081.5 + 5051.5 * 5051.5 + 4783.5 * 4783.5 + 14916.5 * 14916.5) / 4,
        1e-6);
    ck_assert_uint_eq(w->most, 20000);
    ck_assert_uint_eq(w->n_large, 1); /* 300 is not above 300 */
    ck_assert_uint_eq(w->n_survived, 1);
    const uint64_t sizes[] = {2, 0, 1, 1};
    for (int i = 0; i < STATS_N_SIZES; i++)
        ck_assert_uint_eq(w->sizes[i], sizes[i]);
    /* Events: +A +B -A +C +D -D -B, 7 of them; C survives from number 3 to the end. */
    ck_assert_uint_eq(s.n_events, 7);
    const uint64_t events[] = {2, 5, 4, 1}, micros[] = {20, 1050, 1030, 0};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(blocks[i].events, events[i]);
        ck_assert_uint_eq(blocks[i].micros, micros[i]);
        ck_assert_int_eq(blocks[i].survived, i == 2);
    }
    ck_assert_double_eq(w->events.mean, 3);
    ck_assert_uint_eq(w->events.median, 2);
    ck_assert_uint_eq(w->events.most, 5);
    ck_assert_uint_eq(w->events.decades[1], 4);
    ck_assert_double_eq(w->micros.mean, 525);
    ck_assert_uint_eq(w->micros.decades[0], 1);
    ck_assert_uint_eq(w->micros.decades[2], 1); /* 20 */
    ck_assert_uint_eq(w->micros.decades[4], 2); /* 1,030 and 1,050 */
    stats_free(&s);
    profile_free(&p);
}
END_TEST

/* In words times microseconds: 40, 33,600, 309,000 and nothing. */
START_TEST(what_blocks_hold) {
    tape t;
    profile p;
    make_four(&t, &p);
    stats s = ask(&p, &(stats_spec){.large = 256, .held = true});
    const stats_held *h = &s.whole.held;
    ck_assert_double_eq_tol(h->mean, 342640e-6 / 4, 1e-12);
    ck_assert_double_eq_tol(h->most, 0.309, 1e-12);
    const double mean = 0.08566, squares = (0.08562 * 0.08562) + (0.05206 * 0.05206) +
                                           (0.22334 * 0.22334) + (mean * mean);
    ck_assert_double_eq_tol(h->variance, squares / 4, 1e-9);
    ck_assert_double_eq_tol(h->deviation, sqrt(squares / 4), 1e-9);
    /* Headers count: 60 + 34,650, nothing, 310,030, nothing. */
    ck_assert_double_eq_tol(h->sizes[0].value, 34710 / 344740., 1e-9);
    ck_assert_double_eq_tol(h->sizes[2].value, 310030 / 344740., 1e-9);
    ck_assert_double_eq(h->sizes[2].high, h->sizes[2].value);
    ck_assert_double_eq(h->sizes[1].value + h->sizes[3].value, 0);
    stats_free(&s);
    s = ask(&p, &(stats_spec){.large = 256});
    ck_assert_double_eq(s.whole.held.most, 0);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

START_TEST(of_the_major_heap_alone) {
    tape t;
    profile p;
    make_four(&t, &p);
    stats_block blocks[MOST_BLOCKS];
    stats s = ask(&p, &(stats_spec){.major_only = true, .large = 256});
    list(&s, blocks);
    /* +C +B(promoted) +D -D -B: C first, as B comes with its promotion. */
    ck_assert_uint_eq(s.n_events, 5);
    ck_assert_uint_eq(s.whole.n, 3);
    const uint64_t words[] = {300, 32, 20000}, events[] = {5, 3, 1}, micros[] = {1030, 1020, 0};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(blocks[i].words, words[i]);
        ck_assert_uint_eq(blocks[i].events, events[i]);
        ck_assert_uint_eq(blocks[i].micros, micros[i]);
    }
    ck_assert_uint_eq(s.whole.n_large, 2);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

START_TEST(only_what_is_kept) {
    tape t;
    profile p;
    make_four(&t, &p);
    const uint8_t kept[] = {1, 0, 0, 1};
    stats_block blocks[MOST_BLOCKS];
    stats s = ask(&p, &(stats_spec){.kept = kept});
    list(&s, blocks);
    ck_assert_uint_eq(s.whole.n, 2);
    ck_assert_uint_eq(s.n_events, 4); /* those of others do not count */
    ck_assert_uint_eq(blocks[1].events, 1);
    ck_assert_uint_eq(s.whole.n_large, 2);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

START_TEST(segments_have_equally_many_blocks) {
    static const struct {
        uint64_t segments;
        size_t parts, each, last;
    } cases[] = {{0, 0, 0, 0}, {1, 1, 10, 10}, {3, 3, 4, 2},  {4, 4, 3, 1},
                 {6, 5, 2, 2}, {10, 10, 1, 1}, {99, 10, 1, 1}};
    tape t;
    profile p;
    tape_start(&t, 1);
    for (uint64_t i = 0; i < 10; i++)
        allocate(&t, i, MEMTRACE_MAJOR, i, i + 1, STACK(MAIN));
    read_ordered(&t, &p, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stats s = ask(&p, &(stats_spec){.segments = cases[i].segments});
        ck_assert_uint_eq(s.segments.count, cases[i].parts);
        for (size_t j = 0; j < s.segments.count; j++) {
            const stats_part *part = &s.segments.items[j];
            size_t n = j + 1 < s.segments.count ? cases[i].each : cases[i].last;
            ck_assert_uint_eq(part->n, n);
            ck_assert_uint_eq(part->first, j * cases[i].each);
            ck_assert_double_eq(part->mean, (double)part->first + (double)(n - 1) / 2);
        }
        stats_free(&s);
    }
    profile_free(&p);
}
END_TEST

/* What another domain does stands elsewhere in the file, in either order. */
START_TEST(events_of_domains_are_put_in_order) {
    for (int reversed = 0; reversed < 2; reversed++) {
        tape t;
        profile p;
        tape_start(&t, 1);
        uint64_t a = allocate(&t, 10, MEMTRACE_MAJOR, 1, 2, STACK(MAIN));
        uint64_t b = allocate(&t, 20, MEMTRACE_MAJOR, 2, 3, STACK(MAIN));
        allocate(&t, 30, MEMTRACE_MAJOR, 3, 4, STACK(MAIN));
        collect(&t, 1, 15, a);
        collect(&t, 1, 25, b);
        read_ordered(&t, &p, reversed);
        stats_block blocks[MOST_BLOCKS];
        stats s = ask(&p, &(stats_spec){0});
        list(&s, blocks);
        const uint64_t words[] = {1, 2, 3}, events[] = {1, 1, 1};
        for (size_t i = 0; i < 3; i++) {
            ck_assert_uint_eq(blocks[i].words, words[i]);
            ck_assert_uint_eq(blocks[i].events, events[i]);
        }
        ck_assert_uint_eq(s.n_events, 5);
        stats_free(&s);
        profile_free(&p);
    }
}
END_TEST

/* Clocks differ: a block that another domain frees before it was made lived no time. */
START_TEST(a_death_before_the_birth) {
    tape t;
    profile p;
    tape_start(&t, 1);
    uint64_t a = allocate(&t, 10, MEMTRACE_MAJOR, 1, 2, STACK(MAIN));
    collect(&t, 1, 5, a);
    uint64_t unknown = a + 7;
    collect(&t, 1, 6, unknown); /* of a block that was never allocated */
    read_ordered(&t, &p, true);
    stats_block blocks[MOST_BLOCKS];
    stats s = ask(&p, &(stats_spec){0});
    list(&s, blocks);
    ck_assert_uint_eq(s.whole.n, 1);
    ck_assert_uint_eq(s.whole.n_survived, 0);
    ck_assert_uint_eq(blocks[0].events, 0);
    ck_assert_uint_eq(blocks[0].micros, 0);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

START_TEST(nothing_at_all) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    read_ordered(&t, &p, false);
    stats s = ask(&p, &(stats_spec){.segments = 3});
    ck_assert_uint_eq(s.whole.n, 0);
    ck_assert_double_eq(s.whole.mean, 0);
    ck_assert_uint_eq(s.segments.count, 0);
    ck_assert_double_eq(s.whole.size_shares[0].high, 1);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

/* A block of one word (header alone) is sampled with probability 1/2, one of many words surely. */
START_TEST(small_blocks_stand_for_several) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MAJOR, 0, 1, STACK(MAIN));
    allocate(&t, 2, MEMTRACE_MAJOR, 999, 500, STACK(MAIN));
    read_ordered(&t, &p, false);
    stats s = ask(&p, &(stats_spec){.large = 256});
    const stats_part *w = &s.whole;
    ck_assert_double_eq_tol(w->blocks.value, 3, 1e-9);
    ck_assert_double_eq_tol(w->mean_words.value, 333, 1e-9);
    ck_assert_double_eq_tol(w->large.value, 1. / 3, 1e-9);
    ck_assert_double_lt(w->large.low, 1. / 3);
    ck_assert_double_gt(w->large.high, 1. / 3);
    ck_assert_double_eq(w->size_shares[1].value, 0);
    ck_assert_double_gt(w->size_shares[0].high, w->size_shares[0].value);
    /* None of 257 to 10,000 words but the one: blocks above would have been seen. */
    ck_assert_double_eq(w->size_shares[3].high, 0);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

static int compare_numbers(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of a microsecond to some days, in three segments. */
START_TEST(medians_of_short_and_long_lives) {
    enum { BLOCKS = 301, EACH = 101 };
    tape t;
    profile p;
    test_random r = {3};
    uint64_t ids[BLOCKS], lives[BLOCKS], deaths[BLOCKS];
    tape_start(&t, 1);
    for (size_t i = 0; i < BLOCKS; i++) {
        lives[i] = (uint64_t)exp(27 * test_random_unit(&r));
        ids[i] = allocate(&t, i, MEMTRACE_MAJOR, 1, 2, STACK(MAIN));
    }
    for (size_t i = 0; i < BLOCKS; i++)
        deaths[i] = (i + lives[i]) << 9 | i;
    qsort(deaths, BLOCKS, sizeof *deaths, compare_numbers);
    for (size_t i = 0; i < BLOCKS; i++)
        collect(&t, 1, deaths[i] >> 9, ids[deaths[i] % 512]);
    read_ordered(&t, &p, false);
    stats s = ask(&p, &(stats_spec){.segments = 3});
    for (size_t i = 0; i < 3; i++) {
        const size_t n = i < 2 ? EACH : BLOCKS - 2 * EACH;
        uint64_t sorted[EACH];
        memcpy(sorted, lives + i * EACH, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_numbers);
        ck_assert_uint_eq(s.segments.items[i].micros.median, sorted[(n - 1) / 2]);
        ck_assert_uint_eq(s.segments.items[i].micros.most, sorted[n - 1]);
    }
    qsort(lives, BLOCKS, sizeof *lives, compare_numbers);
    ck_assert_uint_eq(s.whole.micros.median, lives[(BLOCKS - 1) / 2]);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

/* Smaller ones may have been missed, as small as blocks within the class may be, or without. */
static void expect_smaller(estimate_blocks *b, uint64_t least, double rate) {
    if (b->tracked > 0)
        b->heaviest = fmax(b->heaviest, 1 / estimate_inclusion(least > 2 ? least : 2, rate));
}

static void check_share(estimate e, const uint64_t *words, size_t n, uint64_t least, uint64_t most,
                        double rate) {
    estimate_blocks within = {0}, without = {0};
    for (size_t i = 0; i < n; i++)
        estimate_blocks_add(words[i] >= least && words[i] <= most ? &within : &without,
                            words[i] + 1, rate);
    expect_smaller(&within, least + 1, rate);
    expect_smaller(&without, least > 0 ? 1 : most + 2, rate);
    const estimate want = estimate_share(&within, &without);
    ck_assert_double_eq_tol(e.value, want.value, 1e-9);
    ck_assert_double_eq_tol(e.low, want.low, 1e-9);
    ck_assert_double_eq_tol(e.high, want.high, 1e-9);
}

/* Sizes around all limits, some several times. */
START_TEST(shares_of_the_program_are_those_of_its_blocks) {
    static const uint64_t words[] = {0,   1,   1,   32,  32,    33,    255,   256, 257, 300,
                                     300, 510, 511, 512, 10000, 10001, 20000, 7,   7,   7};
    static const uint64_t larges[] = {0, 40, 256, 510, 511, 600, 10000, 15000};
    enum { N = sizeof words / sizeof *words };
    const double rate = 1e-2;
    tape t;
    profile p;
    tape_start(&t, rate);
    for (size_t i = 0; i < N; i++)
        allocate(&t, i, MEMTRACE_MAJOR, words[i], 1, STACK(MAIN));
    read_ordered(&t, &p, false);
    for (size_t i = 0; i < sizeof larges / sizeof *larges; i++) {
        stats s = ask(&p, &(stats_spec){.large = larges[i]});
        estimate_blocks all = {0};
        estimate_mean mean = {0};
        for (size_t j = 0; j < N; j++) {
            estimate_blocks_add(&all, words[j] + 1, rate);
            estimate_mean_add(&mean, (double)words[j], estimate_inclusion(words[j] + 1, rate), 1);
        }
        ck_assert_double_eq_tol(s.whole.blocks.high, estimate_blocks_number(&all, 0, rate).high,
                                1e-6);
        ck_assert_double_eq_tol(s.whole.mean_words.high, estimate_mean_value(&mean).high, 1e-6);
        check_share(s.whole.large, words, N, larges[i] + 1, UINT64_MAX, rate);
        for (int j = 0; j < STATS_N_SIZES; j++)
            check_share(s.whole.size_shares[j], words, N, j ? stats_sizes[j - 1].most + 1 : 0,
                        stats_sizes[j].most, rate);
        stats_free(&s);
    }
    profile_free(&p);
}
END_TEST

/* The numbers published for this trace. */
START_TEST(published_numbers_of_irmin) {
    char path[512];
    memtrace_reader *reader;
    profile p = {0};
    const char *folder = getenv("TEST_DATA");
    ck_assert_ptr_nonnull(folder);
    snprintf(path, sizeof path, "%s/traces/irmin-replay.ctf", folder);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    ck_assert_int_eq(
        profile_read(&p, reader, &(profile_options){.keep_blocks = true, .keep_order = true}),
        MEMTRACE_OK);
    memtrace_reader_close(reader);
    stats s = ask(&p, &(stats_spec){.major_only = true, .large = 256});
    ck_assert_uint_eq(s.whole.n, 739);
    ck_assert_double_eq(s.whole.mean, 737.660351826793);
    ck_assert_double_eq(s.whole.deviation, 14584.597321238027);
    ck_assert_uint_eq(s.whole.most, 376181);
    ck_assert_double_eq(100. * (double)s.whole.n_large / (double)s.whole.n, 1.6238159675236807);
    stats_free(&s);
    profile_free(&p);
}
END_TEST

typedef struct written {
    uint64_t time, event;
    size_t at; /* in the file */
} written;

static int compare_written(const void *a, const void *b) {
    const written *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

/* Times of events as domains that take turns write them: in order but for what the others did
 * meanwhile; most within one moment of a long time; anything. */
static uint64_t time_of_event(int kind, size_t at, test_random *r) {
    enum { TURN = 500, DOMAINS = 3 };
    if (kind == 0)
        return (at / (TURN * DOMAINS) * TURN + at % TURN) / 2;
    if (kind == 1)
        return test_random_unit(r) < 0.999 ? 7 : (uint64_t)(1e15 * test_random_unit(r));
    return (uint64_t)(1e6 * test_random_unit(r));
}

/* … by time, and those of one time as they stand in the file. */
START_TEST(many_events_are_put_in_order) {
    enum { BLOCKS = 60000 };
    block_table b = {.keep_order = true};
    test_random r = {_i + 1};
    written *all = malloc(2 * BLOCKS * sizeof *all);
    size_t n = 0;
    for (uint64_t id = 0; id < BLOCKS; id++) {
        const memtrace_event event = {.kind = MEMTRACE_ALLOC,
                                      .time = time_of_event(_i, n, &r),
                                      .id = id,
                                      .length = 1,
                                      .samples = 1};
        ck_assert(blocks_add(&b, 0, &event));
        all[n] = (written){.time = event.time, .event = id << 2 | BLOCKS_BORN, .at = n};
        n++;
        const uint64_t dead = id - id % 50, died = time_of_event(_i, n, &r);
        if (id % 50 || blocks_born(&b, dead) > died)
            continue;
        ck_assert(blocks_add_fate(&b, dead, died, BLOCKS_DIED));
        all[n] = (written){.time = died, .event = dead << 2 | BLOCKS_DIED, .at = n};
        n++;
    }
    ck_assert(blocks_finish(&b));
    qsort(all, n, sizeof *all, compare_written);
    ck_assert_uint_eq(b.order.count, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(b.order.items[i], all[i].event);
    free(all);
    blocks_free(&b);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("stats");
    TCase *t = tcase_create("stats");
    tcase_add_test(t, numbers_of_all_blocks);
    tcase_add_test(t, what_blocks_hold);
    tcase_add_test(t, of_the_major_heap_alone);
    tcase_add_test(t, only_what_is_kept);
    tcase_add_test(t, segments_have_equally_many_blocks);
    tcase_add_test(t, events_of_domains_are_put_in_order);
    tcase_add_loop_test(t, many_events_are_put_in_order, 0, 3);
    tcase_add_test(t, a_death_before_the_birth);
    tcase_add_test(t, nothing_at_all);
    tcase_add_test(t, small_blocks_stand_for_several);
    tcase_add_test(t, medians_of_short_and_long_lives);
    tcase_add_test(t, shares_of_the_program_are_those_of_its_blocks);
    tcase_add_test(t, published_numbers_of_irmin);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
