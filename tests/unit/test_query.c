/* Tests of the table of blocks, of filters and of measures, on traces written to memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyse/calltree.h"
#include "analyse/hotspots.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

static void promote(tape *t, int domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[domain], time, id), MEMTRACE_OK);
}

static void collect(tape *t, int domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[domain], time, id), MEMTRACE_OK);
}

static void remark(tape *t, uint64_t time) {
    allocate(t, time, MEMTRACE_EXTERNAL, 0, 0, STACK(MARK));
}

/* Six blocks; each has a number of samples that tells it from all others. The trace ends at 1 s.
 *
 *     samples  words  heap      born    dies    stack
 *     1        4      minor     0       1 ms    main, leaf
 *     2        8      minor     10 ms   never   main, parse, leaf    promoted at 20 ms
 *     4        128    major     20 ms   50 ms   main, eval
 *     8        1000   external  30 ms   never   main, parse, xmalloc
 *     16       127    external  40 ms   45 ms   main, LoxArray from xmalloc
 *     32       31     minor     50 ms   70 ms   main, List.map       by domain 1 */
static void record_six(tape *t, profile *p) {
    tape_start(t, 0.5);
    uint64_t a = allocate(t, 0, MEMTRACE_MINOR, 4, 1, STACK(MAIN, LEAF)), other;
    collect(t, 0, 1000, a);
    uint64_t b = allocate(t, 10000, MEMTRACE_MINOR, 8, 2, STACK(MAIN, PARSE, LEAF));
    uint64_t c = allocate(t, 20000, MEMTRACE_MAJOR, 128, 4, STACK(MAIN, EVAL));
    promote(t, 1, 20000, b);
    allocate(t, 30000, MEMTRACE_EXTERNAL, 1000, 8, STACK(MAIN, PARSE, XMALLOC));
    uint64_t d = allocate(t, 40000, MEMTRACE_EXTERNAL, 127, 16, STACK(MAIN, GUEST_ARRAY));
    collect(t, 0, 45000, d);
    collect(t, 0, 50000, c);
    const uint64_t stack[] = {MAIN, LIB_MAP};
    ck_assert_int_eq(
        memtrace_stream_alloc(t->streams[1], 50000, MEMTRACE_MINOR, 31, 32, stack, 2, 0, &other),
        MEMTRACE_OK);
    collect(t, 0, 70000, other);
    remark(t, 1000000);
    tape_read_blocks(t, p, true); /* what the other domain did comes first in the file */
}

static uint64_t samples_kept(const profile *p, const char *text) {
    filter *f;
    filter_error error;
    query_result q;
    ck_assert_msg(filter_parse(text, &f, &error), "%s: column %zu: %s", text, error.column,
                  error.reason);
    ck_assert(query_run(&q, p, &(query_spec){.filter = f}));
    uint64_t samples = q.total.samples;
    query_free(&q);
    filter_free(f);
    return samples;
}

START_TEST(the_table_has_what_the_events_say_in_any_order) {
    tape t;
    profile p;
    record_six(&t, &p);
    ck_assert_uint_eq(p.table.count, 6); /* without the mark */
    uint64_t samples = 0;
    for (size_t i = 0; i < p.table.count; i++) {
        const block_table *b = &p.table;
        samples += b->samples[i];
        if (b->samples[i] == 2) {
            ck_assert_uint_eq(b->length[i], 8);
            ck_assert_uint_eq(blocks_born(b, i), 10000);
            ck_assert_uint_eq(blocks_promoted(b, i), 20000);
            ck_assert_uint_eq(blocks_died(b, i), BLOCKS_NEVER);
            ck_assert_uint_eq(b->source[i], MEMTRACE_MINOR);
        }
        if (b->samples[i] == 32) {
            ck_assert_uint_eq(b->domain[i], 1);
            ck_assert_uint_eq(blocks_died(b, i), 70000);
        }
    }
    ck_assert_uint_eq(samples, 63);
    profile_free(&p);
}
END_TEST

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

static const struct {
    const char *filter;
    uint64_t samples;
} kept[] = {
    {"", 63},
    {"alloc:10ms..30ms", 2 + 4 + 8},
    {"alloc:<10ms", 1},
    {"alloc:<=10ms", 1 + 2},
    {"alloc:>40ms", 32},
    {"alloc:>=40ms", 16 + 32},
    {"alloc:..10ms,0.04s..", 1 + 2 + 16 + 32},
    {"-alloc:10ms..30ms", 1 + 16 + 32},
    {"live:0", 1},
    {"live:1ms", 0}, /* a block is dead at the moment of its death */
    {"live:45ms", 2 + 4 + 8},
    {"live:1ms..20ms", 2 + 4},
    {"live:@peak", 2 + 8 + 32},
    {"live:@end", 2 + 8},
    {"alloc:<@peak", 1 + 2 + 4 + 8 + 16},
    {"size:32", 1},
    {"size:>32", 2 + 4 + 8 + 16 + 32},
    {"size:>=1K", 4 + 8},
    {"size:<1K", 1 + 2 + 16 + 32},
    {"size:4w..8w", 1 + 2},
    {"size:>7.5K", 8},
    {"life:<=1ms", 1},
    {"life:5ms..30ms", 4 + 16 + 32},
    {"life:>0.5s", 2 + 8},
    {"heap:minor", 1 + 2 + 32},
    {"heap:major", 2 + 4},
    {"heap:external,major", 2 + 4 + 8 + 16},
    {"fn:parse", 2 + 8},
    {"fn:ma?n", 63},
    {"fn:pars?,List*", 2 + 8 + 32},
    {"fn:ars*", 0},
    {"fn:/^(eval|parse)$/", 2 + 4 + 8},
    {"-fn:leaf -fn:\"eval\"", 8 + 16 + 32},
    {"file:lib/*", 32},
    {"file:leaf.c", 1 + 2},
    {"type:LoxArray", 16},
    {"type:/^m/", 8},
    {"domain:1", 32},
    {"domain:1..3", 32},
    {"domain:0", 31},
    {"promoted", 2},
    {"-promoted survived", 8},
    {"-survived heap:minor life:<5ms", 1},
    {"  hide:/./   fn:parse ", 2 + 8},
};

START_TEST(filters_keep_what_they_say) {
    tape t;
    profile p;
    record_six(&t, &p);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ck_assert_msg(samples_kept(&p, kept[i].filter) == kept[i].samples, "%s: %ju, not %ju",
                      kept[i].filter, (uintmax_t)samples_kept(&p, kept[i].filter),
                      (uintmax_t)kept[i].samples);
    profile_free(&p);
}
END_TEST

/* Enough rows for several threads, the last piece of each not whole. */
enum { MANY_ROWS = (1 << 19) + 12345 };

static void make_many_from(profile *p, uint64_t start) {
    cct_path path = {0};
    test_random random = {1};
    bool ok = true;
    *p = (profile){.info = {.word_size = 64, .sample_rate = 0.5}, .duration = start + MANY_ROWS};
    const uint32_t root = cct_walk(&p->tree, &path, NULL, 0, 0);
    for (uint64_t i = 0; i < MANY_ROWS; i++) {
        const uint64_t r = test_random_u64(&random);
        const bool huge = i % 997 == 500; /* its numbers fit into no column, nor into 32 bits */
        const memtrace_event e = {.id = i,
                                  .time = start + i,
                                  .source = r % 13 ? MEMTRACE_MINOR : MEMTRACE_EXTERNAL,
                                  .length = huge ? UINT64_C(1) << 40 : r % 100,
                                  .samples = huge ? UINT64_C(1) << 31 : 1 + r % 3,
                                  .domain = r % 7};
        p->blocks[e.source]++;
        ok &= blocks_alloc(&p->table, root, &e) &&
              (r % 5 > 0 || blocks_promote(&p->table, i, start + i + r % 50)) &&
              (r % 11 == 0 || blocks_collect(&p->table, i, start + i + r % 1000));
    }
    ck_assert(ok && blocks_finish(&p->table));
    cct_path_free(&path);
}

static void make_many(profile *p) {
    make_many_from(p, 0);
}

/* A row of `make_many` by the terms of each of these filters. */
typedef bool is_selected(const block_table *b, size_t row);

static bool is_small(const block_table *b, size_t row) {
    return b->length[row] < 3;
}

static bool is_few(const block_table *b, size_t row) {
    return blocks_born(b, row) >= 4000 && blocks_born(b, row) <= 270000 &&
           blocks_promoted(b, row) != BLOCKS_NEVER && b->domain[row] != 2 &&
           (b->length[row] == 5 || b->length[row] >= 90);
}

static bool is_most(const block_table *b, size_t row) {
    return b->length[row] >= 2 && b->domain[row] != 9 && blocks_died(b, row) != BLOCKS_NEVER;
}

static bool is_live(const block_table *b, size_t row) {
    return blocks_born(b, row) <= 300000 && blocks_died(b, row) > 300000 && b->length[row] < 50;
}

static bool is_huge(const block_table *b, size_t row) {
    return b->length[row] == BLOCKS_LARGE && b->domain[row] != 3;
}

static const struct {
    const char *filter;
    is_selected *expected;
} of_many[] = {
    {"size:>4G -domain:3", is_huge},
    {"size:<3w", is_small},
    {"alloc:4ms..270ms promoted -domain:2 size:5w,>=90w", is_few},
    {"size:>=2w -domain:9 -survived", is_most},
    {"live:300ms size:<50w", is_live},
};

START_TEST(each_row_of_a_large_table_is_looked_at) {
    profile p;
    make_many(&p);
    for (size_t i = 0; i < sizeof of_many / sizeof *of_many; i++) {
        filter *f;
        filter_error error;
        selection s;
        uint64_t n = 0, n_wrong = 0, samples = 0;
        ck_assert(filter_parse(of_many[i].filter, &f, &error));
        ck_assert(filter_select(f, &p, &s));
        for (size_t row = 0; row < p.table.count; row++) {
            const bool expected = of_many[i].expected(&p.table, row);
            n_wrong += s.kept[row] != expected;
            n += expected;
            samples += expected ? blocks_samples(&p.table, row) : 0;
        }
        ck_assert_uint_gt(n, 0);
        ck_assert_msg(n_wrong == 0, "%s: %" PRIu64, of_many[i].filter, n_wrong);
        ck_assert_uint_eq(s.n_kept, n);
        ck_assert_uint_eq(samples_kept(&p, of_many[i].filter), samples);
        selection_free(&s);
        filter_free(f);
    }
    profile_free(&p);
}
END_TEST

/* The same rows before, around and after the time that halves the columns. */
START_TEST(times_select_the_same_rows_however_late_they_are) {
    static const uint64_t starts[] = {BLOCKS_SHORT - 2 * UINT64_C(1000000), BLOCKS_SHORT - 300000,
                                      BLOCKS_SHORT, UINT64_C(1) << 40};
    static const struct {
        const char *format;
        uint64_t from; /* added to the times in it */
    } filters[] = {{"alloc:%" PRIu64 "us..%" PRIu64 "us", 1},
                   {"live:%" PRIu64 "us..%" PRIu64 "us", 1},
                   {"life:>100us", 0},
                   {"life:<0.5ms", 0},
                   {"life:40us..0.9s", 0},
                   {"promoted", 0},
                   {"survived", 0},
                   {"heap:major", 0},
                   {"live:@peak", 0},
                   {"alloc:>60h", 0},
                   {"live:@end", 0}};
    profile early;
    make_many(&early);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        profile late;
        make_many_from(&late, starts[k]);
        ck_assert(blocks_are_long(&late.table) == (late.table.last >= BLOCKS_SHORT));
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
            char before[100], after[100];
            const uint64_t start = filters[i].from ? starts[k] : 0;
            snprintf(before, sizeof before, filters[i].format, UINT64_C(200000), UINT64_C(350000));
            snprintf(after, sizeof after, filters[i].format, start + 200000, start + 350000);
            const bool beyond = strcmp(before, "alloc:>60h") == 0 && starts[k] >> 40;
            ck_assert_msg(beyond || samples_kept(&late, after) == samples_kept(&early, before),
                          "%s from %" PRIu64, before, starts[k]);
        }
        profile_free(&late);
    }
    profile_free(&early);
}
END_TEST

START_TEST(the_peak_of_a_large_table_is_that_of_all_its_rows) {
    enum { END = MANY_ROWS + 1000 };
    static int64_t change[END];
    uint64_t time, samples, best_time = 0;
    int64_t live = 0, best = 0;
    profile p;
    make_many(&p);
    for (size_t row = 0; row < p.table.count; row++) {
        change[blocks_born(&p.table, row)] += (int64_t)blocks_samples(&p.table, row);
        if (blocks_died(&p.table, row) != BLOCKS_NEVER && blocks_died(&p.table, row) < END)
            change[blocks_died(&p.table, row)] -= (int64_t)blocks_samples(&p.table, row);
    }
    for (uint64_t t = 0; t < END; t++) {
        live += change[t];
        best_time = live > best ? t : best_time;
        best = live > best ? live : best;
    }
    ck_assert(blocks_peak(&p.table, &time, &samples));
    ck_assert_uint_eq(samples, (uint64_t)best);
    ck_assert_uint_eq(time, best_time);
    profile_free(&p);
}
END_TEST

START_TEST(costs_of_heap_and_external_blocks_stay_apart) {
    static const char *const filters[] = {"size:<3w", "size:>=3w"}; /* small sums, and large ones */
    profile p;
    make_many(&p);
    for (size_t i = 0; i < 2; i++) {
        filter *f;
        filter_error error;
        query_result q;
        uint64_t expected[2][2] = {0}, found[2][2] = {0}; /* heap, external; samples, blocks */
        ck_assert(filter_parse(filters[i], &f, &error));
        ck_assert(query_run(&q, &p, &(query_spec){.filter = f}));
        for (size_t row = 0; row < p.table.count; row++) {
            const bool external = p.table.source[row] == MEMTRACE_EXTERNAL;
            if (is_small(&p.table, row) == (i == 0)) {
                expected[external][0] += blocks_samples(&p.table, row);
                expected[external][1]++;
            }
        }
        for (size_t k = 0; k < q.costs.count; k++) {
            const cost_entry *e = &q.costs.items[k];
            found[e->external][0] += e->cost.samples;
            found[e->external][1] += e->cost.blocks;
        }
        ck_assert_int_eq(expected[0][0] > UINT32_MAX, i == 1);
        for (int external = 0; external < 2; external++)
            for (int k = 0; k < 2; k++)
                ck_assert_uint_eq(found[external][k], expected[external][k]);
        query_free(&q);
        filter_free(f);
    }
    profile_free(&p);
}
END_TEST

static bool counts(const block_table *b, measure m, uint64_t moment, size_t row) {
    return m == MEASURE_LIVE       ? blocks_born(b, row) <= moment && blocks_died(b, row) > moment
           : m == MEASURE_PROMOTED ? blocks_promoted(b, row) != BLOCKS_NEVER
                                   : blocks_died(b, row) == BLOCKS_NEVER;
}

START_TEST(measures_of_a_selection_count_each_row_of_it) {
    static const measure measures[] = {MEASURE_LIVE, MEASURE_PROMOTED, MEASURE_SURVIVED};
    profile p;
    filter *f;
    filter_error error;
    make_many(&p);
    ck_assert(filter_parse("size:<3w", &f, &error));
    for (size_t i = 0; i < 6; i++) {
        const query_spec spec = {
            .filter = f, .measure = measures[i / 2], .moment = 300000, .keep_rows = i % 2};
        query_result q;
        uint64_t samples = 0;
        for (size_t row = 0; row < p.table.count; row++)
            if (is_small(&p.table, row) && counts(&p.table, spec.measure, spec.moment, row))
                samples += blocks_samples(&p.table, row);
        ck_assert_uint_gt(samples, 0);
        ck_assert(query_run(&q, &p, &spec));
        ck_assert_uint_eq(q.total.samples, samples);
        ck_assert((q.selection.kept != NULL) == spec.keep_rows);
        query_free(&q);
    }
    filter_free(f);
    profile_free(&p);
}
END_TEST

static const struct {
    const char *filter;
    size_t column;
    const char *part; /* of the reason */
} refused[] = {
    {"aloc:1s", 1, "`aloc` is none of alloc, live"},
    {"fn:x aloc:1s", 6, "`aloc`"},
    {"alloc", 6, "needs a value"},
    {"alloc:", 7, "missing"},
    {"alloc:10x", 9, "ends in us"},
    {"alloc:10", 9, "ends in us"},
    {"alloc:x", 7, "does not begin with a number"},
    {"alloc:@noon", 7, "@start, @peak or @end"},
    {"life:@peak", 6, "does not begin with a number"},
    {"size:>=1Q", 9, "a size ends in"},
    {"domain:1x", 9, "whole number"},
    {"heap:old", 6, "none of minor, major, external"},
    {"fn:/a", 4, "closing /"},
    {"fn://", 4, "empty pattern"},
    {"fn:/(/", 4, "("},
    {"fn:a,", 6, "missing"},
    {"promoted:yes", 9, "takes no value"},
    {"-hide:x", 1, "cannot be negated"},
    {"hide:a,@libs", 8, "`@libs` is not @library"},
    {"hide:@", 6, "is not @library"},
    {"hide:@library.", 6, "`@library.` is not @library"},
    {"alloc:..", 9, "missing"},
    {"alloc:5s..2s", 11, "ends before it begins"},
    {"size:1..3,2K..1K", 15, "ends before it begins"},
    {"fn:/é/ life:3", 14, "ends in us"}, /* characters, not bytes */
    {"heap:major;", 6, "`major;`"},
};

START_TEST(complaints_point_at_the_column) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        filter *f;
        filter_error error;
        ck_assert_msg(!filter_parse(refused[i].filter, &f, &error), "%s", refused[i].filter);
        ck_assert_ptr_null(f);
        ck_assert_msg(error.column == refused[i].column && strstr(error.reason, refused[i].part),
                      "%s: %zu: %s", refused[i].filter, error.column, error.reason);
    }
}
END_TEST

START_TEST(an_empty_selection_knows_why) {
    tape t;
    profile p;
    filter *f;
    filter_error error;
    selection s;
    record_six(&t, &p);
    ck_assert(filter_parse("heap:external -life:>1ms size:1w", &f, &error));
    ck_assert(filter_select(f, &p, &s));
    ck_assert_uint_eq(s.n_kept, 0);
    ck_assert_uint_eq(s.n_of, 6);
    ck_assert_uint_eq(s.n_removed, 2);
    ck_assert_uint_eq(s.term_at, 15);
    ck_assert_uint_eq(s.term_size, 4);
    selection_free(&s);
    filter_free(f);
    profile_free(&p);
}
END_TEST

START_TEST(hidden_frames_leave_their_cost_to_their_callers) {
    tape t;
    profile p;
    filter *f;
    filter_error error;
    query_result q;
    hotspots h;
    record_six(&t, &p);
    ck_assert(filter_parse("hide:leaf,List.*", &f, &error));
    ck_assert(!query_needs_blocks(&(query_spec){.filter = f}));
    ck_assert(query_run(&q, &p, &(query_spec){.filter = f}));
    ck_assert(hotspots_query(&q, HOTSPOTS_BY_FUNCTION, &h));
    ck_assert_uint_eq(h.total.samples, 63);
    ck_assert_str_eq(h.sites.items[0].entry.place->function, "main");
    ck_assert_uint_eq(h.sites.items[0].entry.cost.samples, 1 + 16 + 32);
    ck_assert_str_eq(h.sites.items[1].entry.place->function, "parse");
    ck_assert_uint_eq(h.sites.items[1].entry.cost.samples, 2 + 8);
    hotspots_free(&h);
    query_free(&q);
    filter_free(f);
    profile_free(&p);
}
END_TEST

static cost measured(const profile *p, measure m, uint64_t moment) {
    query_result q;
    ck_assert(query_run(&q, p, &(query_spec){.measure = m, .moment = moment}));
    cost total = q.total;
    query_free(&q);
    return total;
}

START_TEST(a_lens_that_is_known_is_what_a_question_sees) {
    tape t;
    profile p;
    filter *f;
    filter_error error;
    query_result q;
    hotspots h;
    lens l;
    record_six(&t, &p);
    ck_assert(filter_parse("hide:leaf,List.*", &f, &error));
    ck_assert(lens_init(&l, &p, true, f) && query_run(&q, &p, &(query_spec){.lens = &l}));
    lens_free(&l); /* the question has its own */
    ck_assert(hotspots_query(&q, HOTSPOTS_BY_FUNCTION, &h));
    ck_assert_str_eq(h.sites.items[0].entry.place->function, "main");
    ck_assert_uint_eq(h.sites.items[0].entry.cost.samples, 1 + 16 + 32);
    hotspots_free(&h);
    query_free(&q);
    filter_free(f);
    profile_free(&p);
}
END_TEST

START_TEST(measures_count_what_they_say) {
    tape t;
    profile p;
    record_six(&t, &p);
    ck_assert_uint_eq(measured(&p, MEASURE_ALLOCATED, 0).samples, 63);
    ck_assert_uint_eq(measured(&p, MEASURE_LIVE, 40000).samples, 2 + 4 + 8 + 16);
    ck_assert_uint_eq(measured(&p, MEASURE_LIVE, QUERY_END).samples, 2 + 8);
    ck_assert_uint_eq(measured(&p, MEASURE_PEAK, 0).samples, 2 + 8 + 32);
    ck_assert_uint_eq(measured(&p, MEASURE_PROMOTED, 0).samples, 2);
    ck_assert_uint_eq(measured(&p, MEASURE_SURVIVED, 0).samples, 2 + 8);
    cost life = measured(&p, MEASURE_BYTESECONDS, 0);
    ck_assert_double_eq_tol(life.weight,
                            1 * .001 + 2 * .99 + 4 * .03 + 8 * .97 + 16 * .005 + 32 * .02, 1e-9);
    ck_assert_double_eq_tol(life.heaviest, .99, 1e-9);
    cost blocks = measured(&p, MEASURE_BLOCKS, 0);
    double small = 1 / (1 - pow(.5, 5)), eight = 1 / (1 - pow(.5, 9));
    ck_assert_double_eq_tol(blocks.weight, small + eight + 4, 1e-8);
    ck_assert_uint_eq(blocks.blocks, 6);
    profile_free(&p);
}
END_TEST

/* Large ones were seen; of small ones, as many may have been missed as if nothing had been seen. */
START_TEST(few_blocks_do_not_tell_how_small_others_are) {
    tape t;
    profile p;
    record_six(&t, &p);
    p.info.sample_rate = 1e-4;
    const double weight = 1 / estimate_inclusion(10000, 1e-4);
    cost c = {.samples = 4,
              .blocks = 3,
              .weight = 3 * weight,
              .squares = 3 * weight * (weight - 1),
              .heaviest = weight};
    ck_assert_double_ge(cost_estimate(&p, MEASURE_BLOCKS, &c).high, 3.68 * 5000);
    ck_assert_double_le(cost_estimate_of_seen(&p, MEASURE_BLOCKS, &c).high, 20);
    p.info.sample_rate = 1;
    c = (cost){.samples = 4, .blocks = 3, .weight = 3, .heaviest = 1};
    ck_assert_double_eq(cost_estimate(&p, MEASURE_BLOCKS, &c).high, 3);
    profile_free(&p);
}
END_TEST

START_TEST(estimates_of_a_measure_are_in_its_unit) {
    tape t;
    profile p;
    record_six(&t, &p);
    cost c = {.samples = 10, .blocks = 2, .weight = 5, .squares = 25, .heaviest = 5};
    ck_assert_double_eq_tol(cost_estimate(&p, MEASURE_ALLOCATED, &c).value, 10 * 8 / .5, 1e-9);
    estimate e = cost_estimate(&p, MEASURE_BYTESECONDS, &c);
    ck_assert_double_eq_tol(e.value, 5 * 8 / .5, 1e-9);
    /* one sample's worth: Garwood's limits for 1 are 0.0253 and 5.572 */
    ck_assert_double_eq_tol(e.low, .0253178 * 80, 1e-3);
    ck_assert_double_eq_tol(e.high, 5.571643 * 80, 1e-3);
    p.info.sample_rate = 1;
    e = cost_estimate(&p, MEASURE_BYTESECONDS, &c);
    ck_assert_double_eq(e.low, e.high);
    profile_free(&p);
}
END_TEST

START_TEST(what_is_invisible) {
    ck_assert_double_eq(estimate_invisible(1), 0);
    ck_assert_double_eq_tol(pow(1 - .01, estimate_invisible(.01)), .05, 1e-9);
    ck_assert_double_eq_tol(estimate_invisible(1e-6) * 1e-6, 2.9957, 1e-3);
}
END_TEST

/* The only child at each step from the root, with its function and the samples of all below it. */
static const calltree_node *follow(const calltree *t, const calltree_node *n, uint32_t child,
                                   const char *function, uint64_t samples) {
    ck_assert_uint_lt(child, n->n_children);
    n = &t->nodes.items[t->children.items[n->first + child]];
    ck_assert_str_eq(n->place->function, function);
    ck_assert_uint_eq(n->total.samples, samples);
    return n;
}

static void make_tree(const profile *p, calltree_spec spec, const char *focus, calltree *t) {
    query_result q;
    call_site *site = NULL;
    filter_error error;
    ck_assert(!focus || call_site_parse(focus, p, &site, &error));
    spec.focus = site;
    ck_assert(query_run(&q, p, &(query_spec){0}));
    ck_assert(calltree_query(&q, &spec, t));
    query_free(&q);
    call_site_free(site);
}

START_TEST(trees_sum_what_is_below) {
    tape t;
    profile p;
    calltree tree;
    record_six(&t, &p);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_DOWN}, NULL, &tree);
    const calltree_node *main = follow(&tree, &tree.nodes.items[CALLTREE_ROOT], 0, "main", 63);
    ck_assert_uint_eq(main->n_children, 4);
    ck_assert_uint_eq(main->self.samples, 16); /* by way of a wrapper */
    follow(&tree, main, 0, "List.map", 32);
    const calltree_node *parse = follow(&tree, main, 1, "parse", 2 + 8);
    ck_assert_uint_eq(parse->self.samples, 8);
    follow(&tree, parse, 0, "leaf", 2);
    calltree_free(&tree);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_INVERTED}, NULL, &tree);
    const calltree_node *root = &tree.nodes.items[CALLTREE_ROOT];
    follow(&tree, follow(&tree, root, 0, "List.map", 32), 0, "main", 32);
    const calltree_node *leaf = follow(&tree, root, 4, "leaf", 1 + 2);
    follow(&tree, follow(&tree, leaf, 0, "parse", 2), 0, "main", 2);
    calltree_free(&tree);
    profile_free(&p);
}
END_TEST

START_TEST(callers_and_callees_surround_the_focus) {
    tape t;
    profile p;
    calltree tree;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LEAF, PARSE, LEAF, EVAL));
    allocate(&t, 2, MEMTRACE_MINOR, 9, 2, STACK(MAIN, EVAL, LEAF));
    allocate(&t, 3, MEMTRACE_MINOR, 9, 4, STACK(MAIN, EVAL));
    tape_read(&t, &p, false);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_CALLERS}, "leaf", &tree);
    const calltree_node *root = &tree.nodes.items[CALLTREE_ROOT];
    ck_assert_uint_eq(root->total.samples, 3);
    follow(&tree, follow(&tree, root, 0, "eval", 2), 0, "main", 2);
    follow(&tree, follow(&tree, root, 1, "parse", 1), 0, "leaf", 1); /* the innermost occurrence */
    calltree_free(&tree);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_CALLEES}, "/^le/", &tree);
    root = &tree.nodes.items[CALLTREE_ROOT];
    ck_assert_uint_eq(root->total.samples, 3);
    ck_assert_uint_eq(root->self.samples, 2);
    follow(&tree, follow(&tree, root, 0, "parse", 1), 0, "leaf", 1); /* the outermost one */
    calltree_free(&tree);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_CALLERS}, "parse > leaf", &tree);
    follow(&tree, follow(&tree, &tree.nodes.items[CALLTREE_ROOT], 0, "leaf", 1), 0, "main", 1);
    calltree_free(&tree);
    make_tree(&p, (calltree_spec){.shape = CALLTREE_DOWN, .collapse_recursion = true}, NULL, &tree);
    const calltree_node *main = follow(&tree, &tree.nodes.items[CALLTREE_ROOT], 0, "main", 7);
    const calltree_node *leaf = follow(&tree, main, 1, "leaf", 1);
    follow(&tree, leaf, 0, "eval", 1); /* from the inner leaf, which is the same row */
    calltree_free(&tree);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("query");
    TCase *t = tcase_create("query");
    tcase_add_test(t, the_table_has_what_the_events_say_in_any_order);
    tcase_add_test(t, numbers_beyond_32_bits_are_kept);
    tcase_add_test(t, fates_are_those_of_their_blocks);
    tcase_add_test(t, a_row_takes_at_most_forty_bytes);
    tcase_add_test(t, promotions_take_memory_once_there_is_one);
    tcase_add_test(t, the_peak_is_the_maximum_over_all_moments);
    tcase_add_test(t, the_peak_is_found_where_every_moment_is_like_the_others);
    tcase_add_test(t, the_peak_of_many_samples_is_exact);
    tcase_add_test(t, filters_keep_what_they_say);
    tcase_add_test(t, each_row_of_a_large_table_is_looked_at);
    tcase_add_test(t, times_select_the_same_rows_however_late_they_are);
    tcase_add_test(t, times_are_exact_around_the_one_that_halves_the_columns);
    tcase_add_test(t, an_id_that_comes_again_is_another_block);
    tcase_add_test(t, costs_of_heap_and_external_blocks_stay_apart);
    tcase_add_test(t, the_peak_of_a_large_table_is_that_of_all_its_rows);
    tcase_add_test(t, measures_of_a_selection_count_each_row_of_it);
    tcase_add_test(t, complaints_point_at_the_column);
    tcase_add_test(t, an_empty_selection_knows_why);
    tcase_add_test(t, hidden_frames_leave_their_cost_to_their_callers);
    tcase_add_test(t, a_lens_that_is_known_is_what_a_question_sees);
    tcase_add_test(t, measures_count_what_they_say);
    tcase_add_test(t, few_blocks_do_not_tell_how_small_others_are);
    tcase_add_test(t, estimates_of_a_measure_are_in_its_unit);
    tcase_add_test(t, what_is_invisible);
    tcase_add_test(t, trees_sum_what_is_below);
    tcase_add_test(t, callers_and_callees_surround_the_focus);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
