/* Tests of the table of blocks: what it keeps of them, and when most was live. */
#include "analyse/blocks.h"
#include "analyse/tick.h"
#include "random.h"
#include "unit.h"

START_TEST(numbers_beyond_32_bits_are_kept) {
    block_table b = {0};
    const uint64_t huge = UINT64_C(1) << 40;
    memtrace_event e = {.id = 7, .length = huge, .samples = huge + 1, .time = 5};
    ck_assert(blocks_collect(&b, 3, 1)); /* never allocated: its row goes, the others move */
    ck_assert(blocks_alloc(&b, 1, &e));
    ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = UINT64_MAX, .length = 1, .samples = 1}));
    ck_assert(blocks_collect(&b, UINT64_MAX, 9));
    for (uint64_t n = BLOCKS_MANY - 1; n <= BLOCKS_MANY + UINT64_C(1); n++)
        ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = n, .length = n, .samples = n}));
    ck_assert(blocks_finish(&b));
    ck_assert_uint_eq(b.count, 5);
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(blocks_length(&b, 2 + i), BLOCKS_MANY - 1 + i);
        ck_assert_uint_eq(blocks_samples(&b, 2 + i), BLOCKS_MANY - 1 + i);
    }
    ck_assert_uint_eq(blocks_length(&b, 0), huge);
    ck_assert_uint_eq(blocks_samples(&b, 0), huge + 1);
    ck_assert_uint_eq(blocks_length(&b, 1), 1);
    ck_assert_uint_eq(blocks_died(&b, 1), 9);
    blocks_free(&b);
}
END_TEST

/* What is known of a block, kept in the plainest way. */
typedef struct plain_block {
    uint64_t born, promoted, died;
    bool is_there;
} plain_block;

static void check_table(const block_table *b, const plain_block *blocks, size_t n) {
    size_t n_there = 0, n_right = 0;
    for (size_t i = 0; i < n; i++)
        n_there += blocks[i].is_there;
    for (size_t i = 0; i < b->count; i++) { /* a block's node is its id */
        const plain_block *block = &blocks[b->node[i]];
        n_right += block->is_there && blocks_born(b, i) == block->born &&
                   blocks_promoted(b, i) == block->promoted && blocks_died(b, i) == block->died;
    }
    ck_assert_uint_eq(b->count, n_there);
    ck_assert_uint_eq(n_right, n_there);
}

/* Fates of young and of old blocks, some twice, some before the birth; and a copy now and then. */
START_TEST(fates_are_those_of_their_blocks) {
    enum { N = 300000 };
    static plain_block blocks[N + 1];
    block_table b = {0}, copy;
    test_random r = {5};
    bool ok = true;
    for (uint64_t i = 0; i <= N; i++)
        blocks[i] = (plain_block){0, BLOCKS_NEVER, BLOCKS_NEVER, false};
    for (uint64_t id = 0; id < N; id++) {
        const memtrace_event birth = {.id = id, .time = 2 * id, .length = 1, .samples = 1};
        blocks[id].born = birth.time;
        blocks[id].is_there = true;
        ok &= blocks_alloc(&b, (uint32_t)id, &birth);
        const double back = test_random_unit(&r) * test_random_unit(&r) * test_random_unit(&r);
        const uint64_t of = id + 1 - (uint64_t)(back * (double)(id + 1)); /* the next one, too */
        const bool promotes = test_random_unit(&r) < 0.3;
        uint64_t *fate = promotes ? &blocks[of].promoted : &blocks[of].died;
        *fate = *fate == BLOCKS_NEVER ? 2 * id + 2 : *fate;
        ok &= promotes ? blocks_promote(&b, of, 2 * id + 2) : blocks_collect(&b, of, 2 * id + 2);
        if (id % 99991 == 7) {
            ck_assert(blocks_copy(&b, &copy));
            check_table(&copy, blocks, id + 1);
            blocks_free(&copy);
        }
    }
    ck_assert(ok && blocks_finish(&b));
    check_table(&b, blocks, N);
    blocks_free(&b);
}
END_TEST

START_TEST(a_row_takes_at_most_forty_bytes) {
    size_t size = BLOCKS_N_EVENTS * 2 * sizeof(uint32_t);
#define COLUMN_SIZE(type, name) size += sizeof(type);
    BLOCKS_COLUMNS(COLUMN_SIZE)
    ck_assert_uint_le(size, 40);
}
END_TEST

START_TEST(promotions_take_memory_once_there_is_one) {
    enum { ROWS = 3000, PROMOTED = 2000 };
    block_table b = {0}, copy;
    for (uint64_t id = 0; id < ROWS; id++)
        ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = id, .time = id, .samples = 1}));
    ck_assert(blocks_copy(&b, &copy));
    ck_assert_ptr_null(copy.times[BLOCKS_PROMOTED].low);
    ck_assert_uint_eq(blocks_promoted(&copy, PROMOTED), BLOCKS_NEVER);
    blocks_free(&copy);
    ck_assert(blocks_promote(&b, PROMOTED, ROWS + 1));
    ck_assert(blocks_copy(&b, &copy) && blocks_finish(&b));
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t expected = i == PROMOTED ? ROWS + 1 : BLOCKS_NEVER;
        ck_assert_uint_eq(blocks_promoted(&b, i), expected);
        ck_assert_uint_eq(blocks_promoted(&copy, i), expected);
    }
    blocks_free(&copy);
    blocks_free(&b);
}
END_TEST

/* OCaml tells of the promotion of a handle as if it were that of the memory that it stands for. */
START_TEST(only_blocks_of_the_minor_heap_are_promoted) {
    static const uint64_t starts[] = {0, BLOCKS_SHORT};
    enum { N = 6 };
    for (int late = 0; late < 2; late++) {
        block_table b = {.keep_order = true}, copy;
        for (uint64_t id = 0; id < N; id++) {
            const memtrace_event e = {.id = id,
                                      .time = starts[late] + id,
                                      .samples = 1,
                                      .source = (memtrace_source)(id % 3)};
            ck_assert(id % 2 || blocks_promote(&b, id, e.time + 10)); /* before the birth */
            ck_assert(blocks_alloc(&b, (uint32_t)id, &e));
            ck_assert(id % 2 == 0 || blocks_promote(&b, id, e.time + 10));
        }
        ck_assert(blocks_copy(&b, &copy) && blocks_finish(&b));
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t expected = i % 3 == 0 ? starts[late] + i + 10 : BLOCKS_NEVER;
            ck_assert_uint_eq(blocks_promoted(&b, i), expected);
            ck_assert_uint_eq(blocks_promoted(&copy, i), expected);
        }
        ck_assert_uint_eq(b.order.count, N + 2);
        blocks_free(&copy);
        blocks_free(&b);
    }
}
END_TEST

/* No writer does that, but a damaged trace may: sums over rows are those over events. */
START_TEST(an_id_that_comes_again_is_another_block) {
    block_table b = {0};
    for (uint64_t i = 0; i < 3; i++) {
        const memtrace_event e = {.id = 7, .time = i, .length = i, .samples = 1};
        ck_assert(blocks_alloc(&b, 1, &e));
    }
    ck_assert(blocks_collect(&b, 7, 9) && blocks_finish(&b));
    ck_assert_uint_eq(b.count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(blocks_length(&b, i), i);
        ck_assert_uint_eq(blocks_died(&b, i), i == 0 ? 9 : BLOCKS_NEVER);
    }
    blocks_free(&b);
}
END_TEST

/* Whatever was there before the first late time stays what it was. */
START_TEST(times_are_exact_around_the_one_that_halves_the_columns) {
    static const uint64_t times[] = {0,
                                     BLOCKS_SHORT - UINT64_C(1),
                                     BLOCKS_SHORT,
                                     BLOCKS_SHORT + UINT64_C(1),
                                     UINT64_C(1) << 40,
                                     BLOCKS_NEVER - 1};
    enum { N = sizeof times / sizeof *times };
    for (size_t late = 0; late < N; late++) /* the times up to this one happen */
        for (blocks_event kind = BLOCKS_PROMOTED; kind <= BLOCKS_DIED; kind++) {
            block_table b = {0}, copy;
            for (size_t i = 0; i <= late; i++) {
                const memtrace_event e = {.id = 2 * i, .time = times[i / 2], .samples = 1};
                const memtrace_event survivor = {
                    .id = 2 * i + 1, .time = times[i / 2], .samples = 1};
                ck_assert(blocks_alloc(&b, 1, &e) && blocks_alloc(&b, 1, &survivor));
                ck_assert(kind == BLOCKS_DIED ? blocks_collect(&b, 2 * i, times[i])
                                              : blocks_promote(&b, 2 * i, times[i]));
            }
            ck_assert(blocks_copy(&b, &copy) && blocks_finish(&b));
            ck_assert(blocks_are_long(&b) == (times[late] >= BLOCKS_SHORT));
            ck_assert_uint_eq(b.last, kind == BLOCKS_DIED ? times[late] : times[late / 2]);
            for (size_t i = 0; i <= late; i++)
                for (const block_table *t = &b; t; t = t == &b ? &copy : NULL) {
                    const blocks_event other = BLOCKS_PROMOTED + BLOCKS_DIED - kind;
                    ck_assert_uint_eq(blocks_born(t, 2 * i), times[i / 2]);
                    ck_assert_uint_eq(kind == BLOCKS_DIED ? blocks_died(t, 2 * i)
                                                          : blocks_promoted(t, 2 * i),
                                      times[i]);
                    ck_assert_uint_eq(other == BLOCKS_DIED ? blocks_died(t, 2 * i)
                                                           : blocks_promoted(t, 2 * i),
                                      BLOCKS_NEVER);
                    ck_assert_uint_eq(blocks_died(t, 2 * i + 1), BLOCKS_NEVER);
                    ck_assert_uint_eq(blocks_promoted(t, 2 * i + 1), BLOCKS_NEVER);
                }
            blocks_free(&copy);
            blocks_free(&b);
        }
}
END_TEST

/* Many short bursts, so that the peak must be told from its neighbours in other bins. */
START_TEST(the_peak_is_the_maximum_over_all_moments) {
    block_table b = {0};
    uint64_t time, samples, id = 0, x = 1, best = 0, best_time = 0;
    int64_t live[2000] = {0};
    for (int i = 0; i < 5000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        uint64_t born = (x >> 33) % 1900, life = (x >> 50) % 100, n = 1 + (x >> 60);
        ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = id, .time = born, .samples = n}));
        ck_assert(blocks_collect(&b, id++, born + life));
        for (uint64_t k = born; k < born + life; k++)
            live[k] += (int64_t)n;
    }
    for (uint64_t k = 0; k < 2000; k++)
        if (live[k] > (int64_t)best) {
            best = (uint64_t)live[k];
            best_time = k;
        }
    ck_assert(blocks_finish(&b));
    for (int scale = 0; scale < 2; scale++) { /* some moments a bin, and far apart */
        for (int again = 0; again < 2; again++) {
            ck_assert(blocks_peak(&b, &time, &samples));
            ck_assert_uint_eq(samples, best);
            ck_assert_uint_eq(time, best_time);
        }
        blocks_remember_peak(&b, false, 0, 0);
        for (size_t i = 0; i < b.count && scale == 0; i++) {
            blocks_set_time(&b, BLOCKS_BORN, i, blocks_born(&b, i) * 1000003);
            blocks_set_time(&b, BLOCKS_DIED, i, blocks_died(&b, i) * 1000003);
        }
        b.last *= 1000003;
        best_time *= 1000003;
    }
    blocks_free(&b);
}
END_TEST

/* Whenever a block is born it might be the peak, at any scale of time; only once two are live. */
START_TEST(the_peak_is_found_where_every_moment_is_like_the_others) {
    enum { N = 30000, TWICE = 12345 };
    static const uint64_t apart[] = {2, 1000, UINT64_C(1) << 30};
    for (size_t k = 0; k < 3; k++) {
        block_table b = {0};
        uint64_t time, samples;
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t born = i * apart[k], dies = born + (i == TWICE - 1 ? apart[k] + 1 : 1);
            ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = i, .time = born, .samples = 1}));
            ck_assert(blocks_collect(&b, i, dies));
        }
        ck_assert(blocks_finish(&b) && blocks_peak(&b, &time, &samples));
        ck_assert_uint_eq(samples, 2);
        ck_assert_uint_eq(time, TWICE * apart[k]);
        blocks_free(&b);
    }
}
END_TEST

/* Deaths of one moment that 32 bits cannot count, one by one or together. */
START_TEST(the_peak_of_many_samples_is_exact) {
    static const uint64_t each[] = {UINT64_C(1) << 20, (UINT64_C(1) << 33) + 5};
    enum { N = 10000 };
    for (size_t k = 0; k < 2; k++) {
        block_table b = {0};
        uint64_t time, samples;
        for (uint64_t i = 0; i < N + 2; i++) {
            const uint64_t born = i < N ? i / 2 : N;
            const memtrace_event event = {.id = i, .time = born, .samples = each[k] + (i == N)};
            ck_assert(blocks_alloc(&b, 1, &event) && blocks_collect(&b, i, born + 9000 - 1));
        }
        for (size_t i = 0; i < N; i++) {
            blocks_set_time(&b, BLOCKS_DIED, i, 9000); /* all of them, and then few more are born */
        }
        ck_assert(blocks_finish(&b));
        ck_assert(blocks_peak(&b, &time, &samples));
        ck_assert_uint_eq(time, N / 2 - 1);
        ck_assert_uint_eq(samples, N * each[k]);
        uint8_t few[N + 2] = {[1] = 1, [N] = 1, [N + 1] = 1};
        ck_assert(blocks_peak_of(&b, few, &time, &samples));
        ck_assert_uint_eq(time, N);
        ck_assert_uint_eq(samples, 2 * each[k] + 1);
        blocks_free(&b);
    }
}
END_TEST

/* Births of `n` blocks at each of some times. */
static uint64_t tick_where(size_t n, uint64_t step, uint64_t rarely) {
    block_table b = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t time = i / n * step + (i / n % 7 == 6 ? rarely : 0);
        ck_assert(blocks_alloc(&b, 1, &(memtrace_event){.id = i, .time = time, .samples = 1}));
    }
    ck_assert(blocks_finish(&b));
    const uint64_t tick = tick_of(&b);
    blocks_free(&b);
    return tick;
}

START_TEST(a_tick_is_for_how_long_many_blocks_have_one_time) {
    ck_assert_uint_eq(tick_where(100, 97, 0), 97);
    ck_assert_uint_eq(tick_where(20, 97, 50), 97); /* the median */
    ck_assert_uint_eq(tick_where(100, 1, 0), 0);   /* as fine as times are */
    ck_assert_uint_eq(tick_where(1, 97, 0), 0);    /* nothing else happened meanwhile */
    ck_assert_uint_eq(tick_where(100, 5000, 0), 0);
    ck_assert_uint_eq(tick_of(&(block_table){0}), 0);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("blocks");
    TCase *t = tcase_create("blocks");
    tcase_add_test(t, numbers_beyond_32_bits_are_kept);
    tcase_add_test(t, fates_are_those_of_their_blocks);
    tcase_add_test(t, a_row_takes_at_most_forty_bytes);
    tcase_add_test(t, promotions_take_memory_once_there_is_one);
    tcase_add_test(t, only_blocks_of_the_minor_heap_are_promoted);
    tcase_add_test(t, an_id_that_comes_again_is_another_block);
    tcase_add_test(t, times_are_exact_around_the_one_that_halves_the_columns);
    tcase_add_test(t, the_peak_is_the_maximum_over_all_moments);
    tcase_add_test(t, the_peak_is_found_where_every_moment_is_like_the_others);
    tcase_add_test(t, the_peak_of_many_samples_is_exact);
    tcase_add_test(t, a_tick_is_for_how_long_many_blocks_have_one_time);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
