/* Tests of src/memprof with a host that counts, like malloc: sessions, samples, callbacks, frees.
 * Everything random has a fixed seed, so that a result outside its bounds is a defect. */
#include <errno.h>
#include <stdio.h>

#include "memprof_host.h"
#include "unit.h"

/* ---- a host --------------------------------------------------------------------------------- */

typedef struct world {
    test_memory memory;
    memprof_filter filter;
    memprof *engine;
    memprof_thread thread;
    test_diary diary;
    memprof_tracker tracker;
} world;

static size_t fake_callstack(void *context, memprof_thread *thread, const void *site,
                             uint64_t *frames, size_t max) {
    (void)context, (void)thread;
    size_t depth = site ? *(const size_t *)site : 3, n = depth < max ? depth : max;
    for (size_t i = 0; i < n; i++)
        frames[i] = 1000 + i;
    return n;
}

static world *world_new(void) {
    world *w = calloc(1, sizeof *w);
    w->filter = (memprof_filter)MEMPROF_FILTER_INIT;
    w->engine = memprof_create(&(memprof_host){.context = &w->memory,
                                               .reallocate = test_reallocate,
                                               .callstack = fake_callstack,
                                               .filter = &w->filter});
    w->tracker = diary_tracker(&w->diary);
    return w;
}

static void world_free(world *w) {
    memprof_destroy(w->engine);
    ck_assert_int_eq(w->memory.live, 0);
    ck_assert_ptr_eq(w->filter.bits, memprof_no_bits + 63);
    free(w);
}

static memprof_status start(world *w, double rate, uint64_t seed) {
    return memprof_start(w->engine, &w->thread,
                         &(memprof_options){.rate = rate, .callstack_size = 100, .seed = seed},
                         &w->tracker);
}

/* Counts a block without tracking it. */
static uint64_t draw(world *w, uint64_t words) {
    return memprof_count(&w->thread, words) ? memprof_sample(w->engine, &w->thread, words) : 0;
}

static uint64_t allocate(world *w, uintptr_t address, uint64_t size) {
    uint64_t k = draw(w, size + 1);
    memprof_track(w->engine, &w->thread,
                  &(memprof_birth){.address = address,
                                   .size = size,
                                   .n_samples = k,
                                   .source = MEMPROF_CUSTOM,
                                   .heap = MEMPROF_MAJOR});
    return k;
}

static void release(world *w, uintptr_t address) {
    if (memprof_is_tracked(&w->filter, (void *)address))
        memprof_freed(w->engine, &w->thread, address);
}

static memprof_stats stats(world *w) {
    memprof_stats s;
    memprof_get_stats(w->engine, &s);
    return s;
}

/* ---- sessions ---------------------------------------------------------------------------------
 */

START_TEST(start_and_stop_check_the_state) {
    world *w = world_new();
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_NOT_ACTIVE);
    ck_assert_int_eq(start(w, 0.5, 1), MEMPROF_OK);
    ck_assert_int_eq(start(w, 0.5, 1), MEMPROF_ALREADY_ACTIVE);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_NOT_ACTIVE);
    ck_assert_int_eq(start(w, 0.5, 1), MEMPROF_OK);
    world_free(w);
}
END_TEST

START_TEST(bad_rates_are_refused) {
    world *w = world_new();
    const double bad[] = {0, -0.0, -1e-9, 1.0000000001, 2, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(start(w, bad[i], 1), MEMPROF_BAD_RATE);
    const double good[] = {1, 5e-324, 1e-300, nextafter(1, 0)};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(start(w, good[i], 1), MEMPROF_OK);
        draw(w, 1000000);
        ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    }
    world_free(w);
}
END_TEST

START_TEST(every_status_has_a_text) {
    for (int i = MEMPROF_OK; i <= MEMPROF_NOMEM; i++)
        ck_assert_str_ne(memprof_status_text((memprof_status)i), "unknown status");
}
END_TEST

START_TEST(a_zeroed_thread_joins_at_its_first_allocation) {
    world *w = world_new();
    ck_assert_uint_eq(draw(w, 10), 0); /* inactive */
    ck_assert_ptr_nonnull(w->thread.local);
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    memprof_thread other = {0};
    ck_assert(memprof_count(&other, 5));
    ck_assert_uint_eq(memprof_sample(w->engine, &other, 5), 5);
    memprof_thread_exit(w->engine, &other);
    ck_assert_ptr_null(other.local);
    world_free(w);
}
END_TEST

/* Words that another thread allocates until it is sampled, or not any more. */
START_TEST(others_notice_a_start_and_a_stop_in_time) {
    world *w = world_new();
    memprof_thread other = {0};
    if (memprof_count(&other, 1))
        memprof_sample(w->engine, &other, 1); /* attached while inactive */
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    int64_t words = 0;
    while (!memprof_count(&other, 16) || !memprof_sample(w->engine, &other, 16))
        words += 16;
    ck_assert_int_le(words, MEMPROF_NOTICE_WORDS);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    ck_assert(memprof_count(&other, 16));
    ck_assert_uint_eq(memprof_sample(w->engine, &other, 16), 0);

    /* However long the gap: at this rate it is 10^12 words on average. */
    ck_assert_int_eq(start(w, 1e-12, 1), MEMPROF_OK);
    while (!memprof_count(&other, 16)) /* notices */
        ;
    memprof_sample(w->engine, &other, 16);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    for (words = 0; !memprof_count(&other, 16) || !memprof_sample(w->engine, &other, 16);)
        words += 16;
    ck_assert_int_le(words, MEMPROF_NOTICE_WORDS);
    world_free(w);
}
END_TEST

START_TEST(stop_forgets_without_a_word) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    for (uintptr_t a = 1; a <= 100; a++)
        allocate(w, a * 64, 2);
    ck_assert_uint_eq(stats(w).tracked, 100);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    ck_assert_uint_eq(stats(w).tracked, 0);
    ck_assert_uint_eq(w->diary.n, 100);
    for (uintptr_t a = 1; a <= 100; a++) {
        ck_assert(!memprof_is_tracked(&w->filter, (void *)(a * 64)));
        memprof_freed(w->engine, &w->thread, a * 64);
    }
    ck_assert_uint_eq(w->diary.n, 100);
    ck_assert(memprof_is_quiet(w->engine));
    world_free(w);
}
END_TEST

/* ---- samples -----------------------------------------------------------------------------------
 */

START_TEST(rate_one_samples_every_word) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    const uint64_t sizes[] = {0, 1, 2, 100, 1 << 20, UINT64_C(1) << 50, 3};
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_eq(allocate(w, 64 * (i + 1), sizes[i]), sizes[i] + 1);
    for (size_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(w->diary.events[i].info.n_samples, sizes[i] + 1);
        ck_assert_uint_eq(w->diary.events[i].info.size, sizes[i]);
        ck_assert_int_eq(w->diary.events[i].info.source, MEMPROF_CUSTOM);
        ck_assert_uint_eq(w->diary.events[i].info.callstack_length, 3);
    }
    world_free(w);
}
END_TEST

/* Those of a moving heap, whose callbacks are postponed, too. */
START_TEST(sources_reach_the_callbacks) {
    world *w = world_new();
    const memprof_source sources[] = {MEMPROF_NORMAL, MEMPROF_UNMARSHALLED, MEMPROF_CUSTOM};
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    for (uintptr_t i = 0; i < 6; i++) {
        uint64_t k = draw(w, 8);
        memprof_birth b = {.address = 64 * (i + 1),
                           .size = 7,
                           .n_samples = k,
                           .source = sources[i % 3],
                           .heap = i < 3 ? MEMPROF_MINOR : MEMPROF_MAJOR};
        memprof_track(w->engine, &w->thread, &b);
    }
    memprof_run_postponed(w->engine, &w->thread);
    ck_assert_uint_eq(w->diary.n, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(w->diary.events[i].info.source, sources[i % 3]);
        ck_assert_int_eq(w->diary.events[i].kind, i < 3 ? 'a' : 'A');
    }
    world_free(w);
}
END_TEST

START_TEST(same_seed_same_samples) {
    uint64_t first[3][2000];
    for (int run = 0; run < 3; run++) {
        world *w = world_new();
        ck_assert_int_eq(start(w, 0.01, run == 2 ? 8 : 7), MEMPROF_OK);
        for (uint64_t i = 0; i < 2000; i++)
            first[run][i] = draw(w, i % 50 + 1);
        world_free(w);
    }
    ck_assert_mem_eq(first[0], first[1], sizeof first[0]);
    ck_assert_mem_ne(first[0], first[2], sizeof first[0]);
}
END_TEST

/* Each size, in a program that mixes them, gets its own binomial law; and what a block got says
 * nothing about the next block. */
START_TEST(k_is_binomial_whatever_the_sizes) {
    enum { CLASSES = 200, SIZES = 8, ROUNDS = 60000 };
    static const uint64_t words[SIZES] = {1, 2, 3, 7, 20, 100, 1000, 5000};
    static const double rates[] = {0.001, 0.02, 0.3, 0.95};
    for (size_t r = 0; r < 4; r++) {
        world *w = world_new();
        uint64_t counts[SIZES][CLASSES] = {0};
        double previous = 0, product = 0, total = 0;
        ck_assert_int_eq(start(w, rates[r], 42 + r), MEMPROF_OK);
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < SIZES; i++) {
                uint64_t k = draw(w, words[i]);
                double n = (double)words[i];
                double z = ((double)k - n * rates[r]) / sqrt(n * rates[r] * (1 - rates[r]));
                counts[i][k < CLASSES ? k : CLASSES - 1]++;
                product += z * previous;
                previous = z;
                total++;
            }
        for (int i = 0; i < SIZES; i++)
            if ((double)words[i] * rates[r] <= 100)
                ck_assert_double_lt(
                    fabs(binomial_z(counts[i], CLASSES, ROUNDS, (double)words[i], rates[r])), 4);
        ck_assert_double_lt(fabs(product / sqrt(total)), 4); /* uncorrelated neighbours */
        world_free(w);
    }
}
END_TEST

/* Blocks that get so many samples that they are drawn as one number. */
START_TEST(huge_blocks_have_the_right_mean_and_variance) {
    enum { ROUNDS = 20000 };
    static const double rates[] = {1e-4, 0.01, 0.5, 0.999};
    static const uint64_t words[] = {10000000, 100000, 1u << 20, UINT64_C(1) << 40};
    for (int r = 0; r < 4; r++) {
        world *w = world_new();
        double sum = 0, squares = 0, n = (double)words[r], mean = n * rates[r];
        double variance = mean * (1 - rates[r]);
        ck_assert_int_eq(start(w, rates[r], 5), MEMPROF_OK);
        for (int i = 0; i < ROUNDS; i++) {
            double d = (double)draw(w, words[r]) - mean;
            sum += d;
            squares += d * d;
        }
        ck_assert_double_lt(fabs(sum / sqrt(ROUNDS * variance)), 4);
        ck_assert_double_lt(fabs(squares / ROUNDS / variance - 1), 4 * sqrt(2. / ROUNDS));
        world_free(w);
    }
}
END_TEST

/* A sampler that starts one word too late would never sample a thread's first word. */
START_TEST(the_first_word_of_a_thread_is_sampled_like_any_other) {
    enum { THREADS = 50000 };
    world *w = world_new();
    const double rate = 0.05;
    uint64_t sampled[3] = {0};
    ck_assert_int_eq(start(w, rate, 3), MEMPROF_OK);
    for (int i = 0; i < THREADS; i++) {
        memprof_thread t = {0};
        for (int word = 0; word < 3; word++)
            if (memprof_count(&t, 1))
                sampled[word] += memprof_sample(w->engine, &t, 1);
        memprof_thread_exit(w->engine, &t);
    }
    for (int word = 0; word < 3; word++)
        ck_assert_double_lt(fabs((double)sampled[word] - THREADS * rate),
                            4 * sqrt(THREADS * rate * (1 - rate)));
    world_free(w);
}
END_TEST

enum { LIVES = 20000, LIFE_BLOCKS = 30, LIFE_WORDS = 7 };

typedef struct lives {
    double sum, squares;      /* of the samples of a life */
    uint64_t at[LIFE_BLOCKS]; /* samples in the first block of all lives, and so on */
} lives;

/* A thread that counts down a gap of its own, and begins its session when that ends. */
static uint64_t draw_late(world *w, double rate, uint64_t life, uint64_t words, bool *began) {
    if (!memprof_count(&w->thread, words))
        return 0;
    if (!*began) {
        int64_t left = w->thread.countdown;
        w->thread = (memprof_thread){0};
        ck_assert_int_eq(start(w, rate, ~life), MEMPROF_OK);
        memprof_resume(w->engine, &w->thread, left);
        *began = true;
    }
    return memprof_sample(w->engine, &w->thread, words);
}

static double live(double rate, uint64_t life, bool late, lives *of) {
    world *w = world_new();
    bool began = !late;
    double n = 0;
    if (late)
        w->thread.countdown = memprof_first_gap(rate, life);
    else
        ck_assert_int_eq(start(w, rate, ~life), MEMPROF_OK);
    for (int block = 0; block < LIFE_BLOCKS; block++) {
        uint64_t k = draw_late(w, rate, life, LIFE_WORDS, &began);
        of->at[block] += k;
        n += (double)k;
    }
    world_free(w);
    return n;
}

/* Samples are binomial in each life: its mean and variance are known, and so is the fourth moment,
 * which is the error of the variance. */
static void check_lives(const lives *of, double p) {
    const double n = LIFE_BLOCKS * LIFE_WORDS, variance = n * p * (1 - p);
    const double fourth = variance * (1 + 3 * (n - 2) * p * (1 - p));
    ck_assert_double_lt(fabs(of->sum / LIVES - n * p), 4 * sqrt(variance / LIVES));
    ck_assert_double_lt(fabs(of->squares / LIVES - variance),
                        4 * sqrt((fourth - variance * variance) / LIVES));
    for (int block = 0; block < LIFE_BLOCKS; block++)
        ck_assert_double_lt(fabs((double)of->at[block] - LIVES * LIFE_WORDS * p),
                            4.5 * sqrt(LIVES * LIFE_WORDS * p * (1 - p)));
}

START_TEST(who_waits_for_the_first_sample_is_sampled_like_any_other) {
    const double rates[] = {0.0005, 0.005, 0.05}, n = LIFE_BLOCKS * LIFE_WORDS;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (int late = 0; late < 2; late++) {
            lives of = {0};
            for (uint64_t life = 0; life < LIVES; life++) {
                double k = live(rates[r], life, late, &of);
                of.sum += k;
                of.squares += (k - n * rates[r]) * (k - n * rates[r]);
            }
            check_lives(&of, rates[r]);
        }
}
END_TEST

/* ---- callbacks ----------------------------------------------------------------------------------
 */

START_TEST(a_life) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    allocate(w, 0x2000, 4);
    release(w, 0x1000);
    release(w, 0x1000); /* not tracked any more */
    release(w, 0x3000);
    ck_assert_str_eq(diary_text(&w->diary), "A1 A2 D1");
    world_free(w);
}
END_TEST

START_TEST(null_metadata_ends_the_tracking) {
    world *w = world_new();
    w->diary.refuse_alloc = true;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    ck_assert(!memprof_is_tracked(&w->filter, (void *)0x1000));
    release(w, 0x1000);
    ck_assert_str_eq(diary_text(&w->diary), "A1");
    ck_assert_uint_eq(stats(w).tracked, 0);
    world_free(w);
}
END_TEST

START_TEST(the_null_tracker_tracks_nothing) {
    world *w = world_new();
    w->tracker = memprof_null_tracker;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    ck_assert_uint_eq(allocate(w, 0x1000, 4), 5);
    ck_assert_uint_eq(stats(w).tracked, 0);
    world_free(w);
}
END_TEST

static void allocate_and_free_inside(void *context, memprof_thread *thread) {
    world *w = context;
    static int depth = 0;
    ck_assert_int_eq(depth, 0); /* callbacks do not nest */
    depth++;
    ck_assert_uint_eq(allocate(w, 0x9000, 1000000), 0); /* suspended */
    release(w, 0x1000);
    ck_assert_int_eq(memprof_stop(w->engine, thread), MEMPROF_IN_CALLBACK);
    errno = 77;
    depth--;
}

START_TEST(a_callback_is_not_sampled_and_its_frees_wait) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    w->diary.inside = allocate_and_free_inside;
    w->diary.inside_context = w;
    errno = 5;
    allocate(w, 0x2000, 4);
    ck_assert_int_eq(errno, 5);
    ck_assert_str_eq(diary_text(&w->diary), "A1 A2 D1");
    ck_assert_uint_eq(allocate(w, 0x3000, 4), 5); /* sampled again */
    world_free(w);
}
END_TEST

/* The words of a callback do not use up the gap. */
START_TEST(suspension_does_not_move_the_samples) {
    uint64_t k[2][500];
    for (int run = 0; run < 2; run++) {
        world *w = world_new();
        ck_assert_int_eq(start(w, 0.05, 9), MEMPROF_OK);
        if (run == 1) {
            w->diary.inside = allocate_and_free_inside;
            w->diary.inside_context = w;
        }
        for (uintptr_t i = 0; i < 500; i++)
            k[run][i] = allocate(w, 0x100000 + i * 64, i % 30);
        world_free(w);
    }
    ck_assert_mem_eq(k[0], k[1], sizeof k[0]);
}
END_TEST

START_TEST(a_missed_free_is_implied_by_a_second_birth) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    allocate(w, 0x1000, 8);
    release(w, 0x1000);
    ck_assert_str_eq(diary_text(&w->diary), "A1 D1 A2 D2");
    ck_assert_uint_eq(stats(w).implied_deaths, 1);
    world_free(w);
}
END_TEST

START_TEST(a_failed_realloc_leaves_the_block_alive) {
    world *w = world_new();
    memprof_taken taken;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    ck_assert(!memprof_take(w->engine, &w->thread, 0x2000, &taken));
    ck_assert(memprof_take(w->engine, &w->thread, 0x1000, &taken));
    ck_assert(!memprof_is_tracked(&w->filter, (void *)0x1000));
    memprof_untake(w->engine, &w->thread, &taken);
    ck_assert(memprof_is_tracked(&w->filter, (void *)0x1000));
    ck_assert_str_eq(diary_text(&w->diary), "A1");
    ck_assert(memprof_take(w->engine, &w->thread, 0x1000, &taken));
    allocate(w, 0x1000, 9); /* another thread may have got the address */
    memprof_bury(w->engine, &w->thread, &taken);
    release(w, 0x1000);
    ck_assert_str_eq(diary_text(&w->diary), "A1 A2 D1 D2");

    allocate(w, 0x1000, 4);
    ck_assert(memprof_take(w->engine, &w->thread, 0x1000, &taken));
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    memprof_untake(w->engine, &w->thread, &taken); /* its session is over */
    ck_assert_uint_eq(stats(w).tracked, 0);
    world_free(w);
}
END_TEST

START_TEST(deep_stacks_are_kept_up_to_the_size_asked_for) {
    world *w = world_new();
    const size_t depths[] = {0, 99, 100, 255, 256, 257, 5000, 100000};
    for (size_t limit = 1; limit <= 20000; limit *= 10) {
        ck_assert_int_eq(memprof_start(w->engine, &w->thread,
                                       &(memprof_options){.rate = 1, .callstack_size = limit},
                                       &w->tracker),
                         MEMPROF_OK);
        for (size_t i = 0; i < 8; i++) {
            w->diary.n = 0;
            memprof_track(w->engine, &w->thread,
                          &(memprof_birth){.address = 64 * (i + 1),
                                           .size = 1,
                                           .n_samples = draw(w, 2),
                                           .site = &depths[i]});
            size_t expected = depths[i] < limit ? depths[i] : limit;
            const memprof_allocation *info = &w->diary.events[0].info;
            ck_assert_uint_eq(info->callstack_length, expected);
            if (expected)
                ck_assert_uint_eq(info->callstack[expected - 1], 1000 + expected - 1);
        }
        ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    }
    world_free(w);
}
END_TEST

/* ---- the index ----------------------------------------------------------------------------------
 */

/* Thousands of blocks, in an order that goes to and fro, against a plain array. */
START_TEST(the_index_agrees_with_an_array) {
    enum { ADDRESSES = 60000 };
    world *w = world_new();
    bool *live = calloc(ADDRESSES, sizeof *live);
    size_t n_live = 0;
    uint64_t x = 12345;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    for (int i = 0; i < 400000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t n = (x >> 33) % ADDRESSES;
        uintptr_t address = UINT64_C(0x7f0000000000) + n * 16;
        REQUIRE(!live[n] || memprof_is_tracked(&w->filter, (void *)address));
        if (live[n]) {
            release(w, address);
            n_live--;
        } else {
            allocate(w, address, 1);
            n_live++;
        }
        live[n] = !live[n];
        if (i % 1000 == 0)
            ck_assert_uint_eq(stats(w).tracked, n_live);
    }
    ck_assert_uint_eq(stats(w).implied_deaths, 0);
    size_t false_positives = 0;
    for (size_t n = 0; n < ADDRESSES; n++) {
        REQUIRE(!live[n] ||
                memprof_is_tracked(&w->filter, (void *)(UINT64_C(0x7f0000000000) + n * 16)));
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uintptr_t elsewhere = UINT64_C(0x600000000000) + (x >> 34) * 16;
        false_positives += memprof_is_tracked(&w->filter, (void *)elsewhere);
    }
    ck_assert_uint_lt(false_positives, ADDRESSES / 48); /* the filter has grown */
    free(live);
    world_free(w);
}
END_TEST

/* ---- without callbacks ------------------------------------------------------------------------
 */

START_TEST(what_a_host_keeps_it_gets_back_once) {
    world *w = world_new();
    int first, second;
    void *before;
    ck_assert(!memprof_keep(w->engine, 0x1000, &first, &before)); /* before the start */
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    ck_assert(memprof_keep(w->engine, 0x1000, &first, &before));
    ck_assert_ptr_null(before);
    ck_assert(memprof_is_tracked(&w->filter, (void *)0x1000));
    ck_assert(memprof_keep(w->engine, 0x1000, &second, &before)); /* its free was missed */
    ck_assert_ptr_eq(before, &first);
    ck_assert_uint_eq(stats(w).tracked, 1);
    ck_assert_ptr_null(memprof_drop(w->engine, 0x2000));
    ck_assert_ptr_eq(memprof_drop(w->engine, 0x1000), &second);
    ck_assert_ptr_null(memprof_drop(w->engine, 0x1000));
    ck_assert(!memprof_is_tracked(&w->filter, (void *)0x1000));
    ck_assert_uint_eq(w->diary.n, 0);
    world_free(w);
}
END_TEST

START_TEST(nothing_is_kept_beyond_a_stop) {
    world *w = world_new();
    int block;
    void *before;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    for (uintptr_t i = 1; i <= 5000; i++) /* the table and its filter grow */
        ck_assert(memprof_keep(w->engine, i * 32, &block, &before));
    for (uintptr_t i = 1; i <= 5000; i++)
        REQUIRE(memprof_is_tracked(&w->filter, (void *)(i * 32)));
    ck_assert_uint_eq(stats(w).tracked, 5000);
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
    ck_assert_uint_eq(stats(w).tracked, 0);
    ck_assert(!memprof_keep(w->engine, 32, &block, &before));
    ck_assert_ptr_null(memprof_drop(w->engine, 64));
    ck_assert_uint_eq(w->diary.n, 0);
    world_free(w);
}
END_TEST

/* ---- without memory, and interrupted
 * ------------------------------------------------------------- */

static void exercise(world *w) {
    if (start(w, 1, 1) != MEMPROF_OK)
        return;
    for (uintptr_t round = 0; round < 3; round++) {
        for (uintptr_t a = 1; a < 3000; a++)
            allocate(w, a * 16, a % 7);
        for (uintptr_t a = 1; a < 3000; a += 1 + round)
            release(w, a * 16);
    }
    for (uintptr_t i = 1; i <= 2000; i++) {
        void *before;
        const bool kept = memprof_keep(w->engine, i * 64 + 8, w, &before);
        if (!before && i % 3 == 0)
            ck_assert_ptr_eq(memprof_drop(w->engine, i * 64 + 8), kept ? w : NULL);
    }
    ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_OK);
}

/* A world whose engine's n-th request for memory fails, and with `on` all later ones; NULL if that
 * was the first. */
static world *world_with_failure(long n, bool on) {
    world *w = calloc(1, sizeof *w);
    w->filter = (memprof_filter)MEMPROF_FILTER_INIT;
    w->memory = (test_memory){.fail_at = n, .fail_on = on};
    w->tracker = diary_tracker(&w->diary);
    w->engine = memprof_create(&(memprof_host){.context = &w->memory,
                                               .reallocate = test_reallocate,
                                               .callstack = fake_callstack,
                                               .filter = &w->filter});
    if (w->engine)
        return w;
    free(w);
    return NULL;
}

START_TEST(any_allocation_of_the_engine_may_fail) {
    for (int on = 0; on < 2; on++) {
        long n = 1;
        for (bool failed = true; failed; n++) {
            world *w = world_with_failure(n, on);
            if (!w)
                continue;
            exercise(w);
            failed = w->memory.calls >= n;
            world_free(w);
        }
        ck_assert_int_gt(n, 10);
    }
}
END_TEST

/* As a signal handler would find it: the engine is busy. */
static void *interrupting_reallocate(void *context, void *old, size_t old_size, size_t size) {
    world *w = context;
    if (w->engine && w->thread.busy == 1) {
        ck_assert_uint_eq(draw(w, 100), 0);
        memprof_freed(w->engine, &w->thread, 0x1000);
        memprof_nursery_enter(w->engine, &w->thread, 0x1000, 0x2000);
        memprof_nursery_leave(w->engine, &w->thread, 0x1000);
        ck_assert_int_eq(memprof_stop(w->engine, &w->thread), MEMPROF_IN_CALLBACK);
    }
    return test_reallocate(&w->memory, old, old_size, size);
}

START_TEST(interruptions_are_dropped_and_counted) {
    world *w = calloc(1, sizeof *w);
    w->filter = (memprof_filter)MEMPROF_FILTER_INIT;
    w->tracker = diary_tracker(&w->diary);
    w->engine = memprof_create(&(memprof_host){.context = w,
                                               .reallocate = interrupting_reallocate,
                                               .callstack = fake_callstack,
                                               .filter = &w->filter});
    exercise(w);
    ck_assert_uint_gt(stats(w).lost_busy, 0);
    memprof_destroy(w->engine);
    ck_assert_int_eq(w->memory.live, 0);
    free(w);
}
END_TEST

START_TEST(a_forked_child_can_begin_anew) {
    world *w = world_new();
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    memprof *old = w->engine;
    memprof_disown(&w->thread, &w->filter);
    ck_assert(!memprof_is_tracked(&w->filter, (void *)0x1000));
    w->engine = memprof_create(&(memprof_host){
        .context = &w->memory, .reallocate = test_reallocate, .filter = &w->filter});
    w->diary.n = 0;
    ck_assert_int_eq(start(w, 1, 1), MEMPROF_OK);
    allocate(w, 0x1000, 4);
    release(w, 0x1000);
    ck_assert_str_eq(diary_text(&w->diary), "A2 D2");
    memprof_destroy(old); /* only so that no memory is missing */
    world_free(w);
}
END_TEST

START_TEST(engines_do_not_know_each_other) {
    world *a = world_new(), *b = world_new();
    ck_assert_int_eq(start(a, 1, 1), MEMPROF_OK);
    ck_assert_int_eq(start(b, 1, 1), MEMPROF_OK);
    allocate(a, 0x1000, 1);
    release(b, 0x1000);
    ck_assert_uint_eq(b->diary.n, 0);
    ck_assert_uint_eq(stats(a).tracked, 1);
    world_free(a);
    allocate(b, 0x1000, 1);
    ck_assert_uint_eq(b->diary.n, 1);
    world_free(b);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("memprof");
    TCase *t = tcase_create("memprof");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, start_and_stop_check_the_state);
    tcase_add_test(t, bad_rates_are_refused);
    tcase_add_test(t, every_status_has_a_text);
    tcase_add_test(t, a_zeroed_thread_joins_at_its_first_allocation);
    tcase_add_test(t, others_notice_a_start_and_a_stop_in_time);
    tcase_add_test(t, stop_forgets_without_a_word);
    tcase_add_test(t, rate_one_samples_every_word);
    tcase_add_test(t, sources_reach_the_callbacks);
    tcase_add_test(t, same_seed_same_samples);
    tcase_add_test(t, k_is_binomial_whatever_the_sizes);
    tcase_add_test(t, huge_blocks_have_the_right_mean_and_variance);
    tcase_add_test(t, the_first_word_of_a_thread_is_sampled_like_any_other);
    tcase_add_test(t, who_waits_for_the_first_sample_is_sampled_like_any_other);
    tcase_add_test(t, a_life);
    tcase_add_test(t, null_metadata_ends_the_tracking);
    tcase_add_test(t, the_null_tracker_tracks_nothing);
    tcase_add_test(t, a_callback_is_not_sampled_and_its_frees_wait);
    tcase_add_test(t, suspension_does_not_move_the_samples);
    tcase_add_test(t, a_missed_free_is_implied_by_a_second_birth);
    tcase_add_test(t, a_failed_realloc_leaves_the_block_alive);
    tcase_add_test(t, deep_stacks_are_kept_up_to_the_size_asked_for);
    tcase_add_test(t, the_index_agrees_with_an_array);
    tcase_add_test(t, what_a_host_keeps_it_gets_back_once);
    tcase_add_test(t, nothing_is_kept_beyond_a_stop);
    tcase_add_test(t, any_allocation_of_the_engine_may_fail);
    tcase_add_test(t, interruptions_are_dropped_and_counted);
    tcase_add_test(t, a_forked_child_can_begin_anew);
    tcase_add_test(t, engines_do_not_know_each_other);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
