/* Tests of the table of blocks: what it keeps of them, and when most was live. */
#include <math.h>
#include <stdio.h>

#include "blocks_fixture.h"
#include "profile/blocks_add.h"
#include "profile/blocks_spread.h"
#include "profile/blocks_turns.h"
#include "profile/spans.h"
#include "profile/tick.h"
#include "random.h"
#include "unit.h"

START_TEST(numbers_beyond_32_bits_are_kept) {
    block_table b = {0};
    const uint64_t huge = UINT64_C(1) << 40;
    memtrace_event e = {.id = 7, .length = huge, .samples = huge + 1, .time = 5};
    ck_assert(blocks_add_fate(&b, 3, 1,
                              BLOCKS_DIED)); /* never allocated: its row goes, the others move */
    ck_assert(blocks_add(&b, 1, &e));
    ck_assert(blocks_add(&b, 1, &(memtrace_event){.id = UINT64_MAX, .length = 1, .samples = 1}));
    ck_assert(blocks_add_fate(&b, UINT64_MAX, 9, BLOCKS_DIED));
    for (uint64_t n = BLOCKS_MANY - 1; n <= BLOCKS_MANY + UINT64_C(1); n++)
        ck_assert(blocks_add(&b, 1, &(memtrace_event){.id = n, .length = n, .samples = n}));
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
        ok &= blocks_add(&b, (uint32_t)id, &birth);
        const double back = test_random_unit(&r) * test_random_unit(&r) * test_random_unit(&r);
        const uint64_t of = id + 1 - (uint64_t)(back * (double)(id + 1)); /* the next one, too */
        const bool promotes = test_random_unit(&r) < 0.3;
        uint64_t *fate = promotes ? &blocks[of].promoted : &blocks[of].died;
        *fate = *fate == BLOCKS_NEVER ? 2 * id + 2 : *fate;
        ok &= blocks_add_fate(&b, of, 2 * id + 2, promotes ? BLOCKS_PROMOTED : BLOCKS_DIED);
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
        ck_assert(blocks_add(&b, 1, &(memtrace_event){.id = id, .time = id, .samples = 1}));
    ck_assert(blocks_copy(&b, &copy));
    ck_assert_ptr_null(copy.times[BLOCKS_PROMOTED].low);
    ck_assert_uint_eq(blocks_promoted(&copy, PROMOTED), BLOCKS_NEVER);
    blocks_free(&copy);
    ck_assert(blocks_add_fate(&b, PROMOTED, ROWS + 1, BLOCKS_PROMOTED));
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
            ck_assert(id % 2 ||
                      blocks_add_fate(&b, id, e.time + 10, BLOCKS_PROMOTED)); /* before the birth */
            ck_assert(blocks_add(&b, (uint32_t)id, &e));
            ck_assert(id % 2 == 0 || blocks_add_fate(&b, id, e.time + 10, BLOCKS_PROMOTED));
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
        ck_assert(blocks_add(&b, 1, &e));
    }
    ck_assert(blocks_add_fate(&b, 7, 9, BLOCKS_DIED) && blocks_finish(&b));
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
                ck_assert(blocks_add(&b, 1, &e) && blocks_add(&b, 1, &survivor));
                ck_assert(blocks_add_fate(&b, 2 * i, times[i], kind));
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
    blocks_most most;
    uint64_t id = 0, x = 1, best = 0, best_time = 0;
    int64_t live[2000] = {0};
    for (uint64_t i = 0; i < 5000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        uint64_t born = i * 1900 / 5000, life = 1 + (x >> 50) % 100, n = 1 + (x >> 60);
        const memtrace_event e = {.id = id++, .time = born, .samples = n};
        ck_assert(blocks_fixture_add(&b, 1, &e, born + life));
        for (uint64_t k = born; k < born + life; k++)
            live[k] += (int64_t)n;
    }
    for (uint64_t k = 0; k < 2000; k++)
        if (live[k] > (int64_t)best) {
            best = (uint64_t)live[k];
            best_time = k;
        }
    ck_assert(blocks_finish(&b));
    for (int again = 0; again < 2; again++) {
        ck_assert(blocks_peak(&b, &most));
        ck_assert_uint_eq(most.samples, best);
        ck_assert_uint_eq(most.at.time, best_time);
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
        blocks_most most;
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t born = i * apart[k], dies = born + (i == TWICE - 1 ? apart[k] + 1 : 1);
            const memtrace_event e = {.id = i, .time = born, .samples = 1};
            ck_assert(blocks_fixture_add(&b, 1, &e, dies));
        }
        ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
        ck_assert_uint_eq(most.samples, 2);
        ck_assert_uint_eq(most.at.time, TWICE * apart[k]);
        blocks_free(&b);
    }
}
END_TEST

/* Deaths between two births that 32 bits cannot count, one by one or together. */
START_TEST(the_peak_of_many_samples_is_exact) {
    static const uint64_t each[] = {UINT64_C(1) << 20, (UINT64_C(1) << 33) + 5};
    enum { N = 10000 };
    for (size_t k = 0; k < 2; k++) {
        block_table b = {0};
        blocks_most most;
        for (uint64_t i = 0; i < N + 2; i++) {
            const memtrace_event e = {
                .id = i, .time = i < N ? i / 2 : N, .samples = each[k] + (i == N)};
            ck_assert(blocks_add(&b, 1, &e));
            for (uint64_t id = 0; i + 1 == N && id < N; id++) /* all, and then few are born */
                ck_assert(blocks_add_fate(&b, id, 9000, BLOCKS_DIED));
        }
        ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
        ck_assert_uint_eq(most.at.time, N / 2 - 1);
        ck_assert_uint_eq(most.samples, N * each[k]);
        uint8_t few[N + 2] = {[1] = 1, [N] = 1, [N + 1] = 1};
        ck_assert(blocks_peak_of(&b, few, &most));
        ck_assert_uint_eq(most.at.time, N);
        ck_assert_uint_eq(most.samples, 2 * each[k] + 1);
        blocks_free(&b);
    }
}
END_TEST

/* ---- the order of events ------------------------------------------------------------------- */

static void check_live(const block_table *b, const blocks_most *most) {
    uint64_t live = 0;
    for (size_t i = 0; i < b->count; i++)
        live += blocks_was_live(b, i, most->at) ? blocks_samples(b, i) : 0;
    ck_assert_uint_eq(live, most->samples);
}

static void bear(block_table *b, uint64_t id, uint64_t time, uint16_t domain) {
    const memtrace_event e = {.id = id, .time = time, .length = 2, .samples = 3, .domain = domain};
    ck_assert(blocks_enter(b, domain) && blocks_add(b, 1, &e));
}

static void bury(block_table *b, uint64_t id, uint64_t time, uint16_t domain) {
    ck_assert(blocks_enter(b, domain) && blocks_add_fate(b, id, time, BLOCKS_DIED));
}

/* However many events have one time. */
START_TEST(the_peak_follows_the_order_of_a_domain) {
    enum { ROUNDS = 3, BLOCKS = 100, RING = 10, REPLACED = 1000 };
    for (int is_ring = 0; is_ring < 2; is_ring++) {
        block_table b = {0}, copy;
        blocks_most most;
        blocks_spread spread;
        for (uint64_t round = 0; round < ROUNDS && !is_ring; round++) {
            for (uint64_t i = 0; i < BLOCKS; i++)
                bear(&b, round * BLOCKS + i, 7, 4);
            for (uint64_t i = 0; i < BLOCKS; i++)
                bury(&b, round * BLOCKS + i, 7, 4);
        }
        for (uint64_t i = 0; i < REPLACED && is_ring; i++) {
            if (i >= RING)
                bury(&b, i - RING, 7, 4);
            bear(&b, i, 7, 4);
        }
        ck_assert(blocks_copy(&b, &copy) && blocks_finish(&b));
        for (const block_table *t = &b; t; t = t == &b ? &copy : NULL) {
            ck_assert(blocks_peak(t, &most));
            ck_assert_uint_eq(most.samples, 3 * (is_ring ? RING : BLOCKS));
            ck_assert_uint_eq(most.at.time, 7);
            check_live(t, &most);
            ck_assert(blocks_spread_of_most(t, NULL, &most, &spread));
            ck_assert_uint_eq(spread.low, most.samples);
            ck_assert_uint_eq(spread.high, most.samples);
        }
        blocks_free(&copy);
        blocks_free(&b);
    }
}
END_TEST

/* A block's end may stand in the file long before its beginning: the rows of its domain are in
 * order all the same. */
START_TEST(ends_before_beginnings_disturb_no_order) {
    block_table b = {.keep_order = true};
    blocks_most most;
    bury(&b, 0, 30, 1);
    bury(&b, 2, 30, 1);
    for (uint64_t id = 0; id < 4; id++)
        bear(&b, id, 10, 0);
    bury(&b, 1, 10, 0);
    bury(&b, 3, 10, 0);
    ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
    ck_assert_uint_eq(b.count, 4);
    ck_assert_uint_eq(b.order.count, 8);
    ck_assert_uint_eq(most.samples, 12);
    check_live(&b, &most);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(blocks_died(&b, i), i % 2 ? 10 : 30);
        ck_assert_uint_eq(blocks_place(&b, i), i);
        ck_assert_uint_eq(b.after[i], 4);
        ck_assert_uint_eq(blocks_event_row(b.order.items[6 + i % 2]), i % 2 ? 2 : 0);
    }
    blocks_free(&b);
}
END_TEST

/* Blocks whose ends stand in the file before them have the names that were said before them. */
START_TEST(ends_before_beginnings_take_no_names_away) {
    for (int without_places = 0; without_places < 2; without_places++) {
        block_table b = {.keep_order = true, .without_places = without_places};
        span_cursor at = {0};
        bear(&b, 0, 1, 0);
        bury(&b, 2, 30, 1);
        bear(&b, 1, 2, 0);
        bury(&b, 3, 30, 1);
        bury(&b, 4, 30, 1);
        ck_assert(spans_add(&b, SPAN_SCOPE, 0, "two and three"));
        bear(&b, 2, 3, 0);
        bear(&b, 3, 4, 0);
        ck_assert(spans_add(&b, SPAN_SCOPE, 0, "four"));
        bear(&b, 4, 5, 0);
        ck_assert(blocks_finish(&b));
        ck_assert_uint_eq(b.count, 5);
        for (size_t i = 0; i < b.count; i++) {
            const uint64_t id = blocks_born(&b, i) - 1;
            const char *name = spans_text(&b, SPAN_SCOPE, i, &at);
            ck_assert_pstr_eq(name, id < 2 ? NULL : id < 4 ? "two and three" : "four");
        }
        blocks_free(&b);
    }
}
END_TEST

/* The first events of a file may be ends, of blocks of another domain, and all that theirs does. */
START_TEST(ends_before_all_else_are_ends) {
    block_table b = {0};
    blocks_most most;
    bury(&b, 0, 0, 0);
    bear(&b, 0, 0, 2);
    bear(&b, 1, 1, 2);
    bear(&b, 2, 2, 2);
    ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
    ck_assert_uint_eq(most.samples, 6);
    ck_assert_uint_eq(most.at.time, 2);
    check_live(&b, &most);
    blocks_free(&b);
}
END_TEST

/* Two domains at one time: each may have freed before the other allocated, or after. */
START_TEST(what_is_not_known_between_domains_is_a_spread) {
    block_table b = {0};
    blocks_most most;
    blocks_spread spread;
    for (uint16_t domain = 0; domain < 2; domain++) {
        for (uint64_t i = 0; i < 5; i++)
            bear(&b, domain * UINT64_C(5) + i, 7, domain);
        for (uint64_t i = 0; i < 4; i++)
            bury(&b, domain * UINT64_C(5) + i, 7, domain);
    }
    ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
    ck_assert(blocks_spread_of_most(&b, NULL, &most, &spread));
    ck_assert_uint_eq(spread.low, 15); /* surely one of them was there alone */
    ck_assert_uint_eq(spread.high, 30);
    ck_assert(spread.low <= most.samples && most.samples <= spread.high);
    check_live(&b, &most);
    blocks_free(&b);
}
END_TEST

/* Of domains that take turns it is certain how much each made, whatever they left of the turn
 * before. */
START_TEST(peaks_far_apart_are_looked_at_by_themselves) {
    enum { TURNS = 7, BLOCKS = 10, LONG = 10000 };
    block_table b = {0};
    blocks_most most;
    blocks_spread spread;
    for (uint64_t turn = 0; turn < TURNS; turn++)
        for (uint64_t i = 0; i < 2 * BLOCKS; i++) {
            const uint64_t id = turn * BLOCKS + i % BLOCKS, half = i % BLOCKS / (BLOCKS / 2);
            if (i < BLOCKS)
                bear(&b, id, turn * LONG, turn % 3);
            else
                bury(&b, id, turn * LONG + 1000 * (1 + half), turn % 3);
        }
    ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
    ck_assert(blocks_spread_of_most(&b, NULL, &most, &spread));
    ck_assert_uint_eq(spread.low, 3 * BLOCKS);
    ck_assert_uint_eq(spread.high, 3 * BLOCKS);
    blocks_free(&b);
}
END_TEST

/* What happened: threads whose clocks stand still for a while. */
enum { THREADS = 4, EVENTS = 6000, TICK = 100, CHUNK = 70 };

typedef struct happening {
    double when;   /* us */
    uint64_t time; /* as of the thread's clock */
    uint64_t id;
    uint16_t domain;
    bool is_birth;
} happening;

/* Returns the most that was live. Blocks die in any thread. */
static uint64_t happen(test_random *r, happening *all) {
    double now = 0, read[THREADS];
    uint64_t living[EVENTS], n = 0, id = 0, most = 0;
    for (size_t d = 0; d < THREADS; d++)
        read[d] = -TICK;
    for (size_t i = 0; i < EVENTS; i++) {
        const uint16_t domain = (uint16_t)(test_random_u64(r) % THREADS);
        now += (i % 1000 == 0 ? 1000 : 1) * test_random_exponential(r);
        read[domain] = now >= read[domain] + TICK ? floor(now) : read[domain];
        all[i] = (happening){.when = now, .time = (uint64_t)read[domain], .domain = domain};
        all[i].is_birth = n == 0 || test_random_unit(r) < (i / 300 % 2 ? 0.2 : 0.8);
        if (all[i].is_birth) {
            living[n++] = all[i].id = id++;
        } else {
            const size_t which = (size_t)(test_random_u64(r) % n);
            all[i].id = living[which];
            living[which] = living[--n];
        }
        most = n > most ? n : most;
    }
    return most;
}

/* As in a file: chunks of one domain, in the order in which they were filled. */
static void write_chunks(const happening *all, block_table *b) {
    size_t n[THREADS] = {0}, chunk[THREADS][CHUNK];
    for (size_t i = 0; i < EVENTS + THREADS; i++) {
        const size_t d = i < EVENTS ? all[i].domain : i - EVENTS;
        if (i < EVENTS)
            chunk[d][n[d]++] = i;
        for (size_t k = 0; (n[d] == CHUNK || i >= EVENTS) && k < n[d]; k++) {
            const happening *h = &all[chunk[d][k]];
            if (h->is_birth)
                bear(b, h->id, h->time, h->domain);
            else
                bury(b, h->id, h->time, h->domain);
        }
        n[d] = n[d] == CHUNK ? 0 : n[d];
    }
}

/* At ends of microseconds. */
static void check_ends(const happening *all, const block_table *b) {
    for (size_t k = 0; k < EVENTS; k += EVENTS / 10) {
        const uint64_t time = (uint64_t)all[k].when;
        int64_t truth = 0;
        uint64_t samples = 0;
        blocks_spread at;
        for (size_t i = 0; i < EVENTS && all[i].when <= (double)time + 1; i++)
            truth += all[i].is_birth ? 3 : -3;
        for (size_t i = 0; i < b->count; i++)
            samples += blocks_was_live(b, i, blocks_end_of(time)) ? blocks_samples(b, i) : 0;
        ck_assert(blocks_spread_at(b, NULL, blocks_end_of(time), samples, &at));
        ck_assert(at.low <= samples && samples <= at.high && at.low < at.high);
        ck_assert((int64_t)at.low <= truth && truth <= (int64_t)at.high);
    }
}

/* What a domain freed of another's may have been before its own allocations, although the table, in
 * which nothing ends before it begins, has it behind them. */
START_TEST(ends_that_float_make_no_amount_certain) {
    block_table b = {0};
    blocks_most most;
    blocks_spread spread;
    bury(&b, 8, 5, 1);
    bear(&b, 2, 5, 1);
    bear(&b, 3, 5, 1);
    bear(&b, 7, 1, 0);
    bear(&b, 8, 5, 0);
    bury(&b, 7, 5, 0); /* all of the domain 0 may have been before all of the domain 1 */
    ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
    ck_assert(blocks_spread_of_most(&b, NULL, &most, &spread));
    ck_assert_uint_le(spread.low, 6);
    ck_assert_uint_ge(spread.high, 12);
    ck_assert(blocks_spread_at(&b, NULL, most.at, most.samples, &spread));
    ck_assert_uint_le(spread.low, 6);
    blocks_free(&b);
}
END_TEST

START_TEST(the_truth_is_within_the_spread) {
    static happening all[EVENTS];
    double width = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        test_random r = {seed};
        block_table b = {0};
        blocks_most most, some;
        blocks_spread spread, at;
        uint8_t kept[EVENTS];
        const uint64_t truth = 3 * happen(&r, all);
        write_chunks(all, &b);
        ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
        check_live(&b, &most);
        ck_assert(blocks_spread_of_most(&b, NULL, &most, &spread));
        ck_assert_uint_le(spread.low, truth);
        ck_assert_uint_ge(spread.high, truth);
        ck_assert(spread.low <= most.samples && most.samples <= spread.high);
        for (size_t i = 0; i < b.count; i++)
            kept[i] = i % 3 > 0;
        ck_assert(blocks_peak_of(&b, kept, &some));
        ck_assert(blocks_spread_at(&b, kept, some.at, some.samples, &at));
        ck_assert(at.low <= some.samples && some.samples <= at.high && at.low < at.high);
        check_ends(all, &b);
        width += (double)(spread.high - spread.low) / (double)most.samples / 50;
        blocks_free(&b);
    }
    printf("# %.0f %% wide\n", 100 * width);
    ck_assert_double_le(width, 0.6); /* and says something */
}
END_TEST

/* ---- turns --------------------------------------------------------------------------------- */

enum { TURNERS = 3, STEPS = 60 };

/* A step: births of the domain's next block, or the death of its `dies`th block, or of that of the
 * domain before it. */
typedef struct turn_step {
    bool is_birth, of_neighbour;
    uint64_t dies;
} turn_step;

static void write_steps(turn_step steps[STEPS]) {
    uint64_t born = 0, died = 0;
    for (size_t i = 0; i < STEPS; i++) {
        const bool birth = born == died || random() % 3;
        steps[i] = (turn_step){.is_birth = birth, .dies = died};
        born += birth;
        died += !birth;
    }
}

/* Plays a step, unless the block that it would free is still to be born. */
static bool play(block_table *b, uint16_t domain, const turn_step *step, uint64_t time,
                 uint64_t born[TURNERS]) {
    const uint16_t of = (uint16_t)(domain - step->of_neighbour);
    const uint64_t id = of * UINT64_C(1000) + (step->is_birth ? born[of]++ : step->dies);
    if (!step->is_birth && step->dies >= born[of])
        return false;
    if (step->is_birth)
        bear(b, id, time, domain);
    else
        bury(b, id, time, domain);
    return true;
}

/* The same steps of each domain, in many orders. */
START_TEST(the_peak_is_within_bounds_whichever_way_domains_take_turns) {
    for (unsigned round = 0; round < 50; round++) {
        turn_step steps[TURNERS][STEPS];
        blocks_spread first = {0}, bounds;
        srandom(round);
        for (size_t d = 0; d < TURNERS; d++)
            write_steps(steps[d]);
        for (size_t i = 0; i < STEPS && round % 2; i++) { /* domain 2 frees for domain 1 */
            steps[1][i] = (turn_step){.is_birth = true};
            steps[2][i] = (turn_step){.of_neighbour = true, .dies = i};
        }
        for (unsigned order = 0; order < 20; order++) {
            block_table b = {0};
            blocks_most most;
            size_t at[TURNERS] = {0};
            uint64_t born[TURNERS] = {0}, time = 0;
            while (time < TURNERS * STEPS) {
                const uint16_t d = (uint16_t)(order ? (uint64_t)random() % TURNERS : time / STEPS);
                if (at[d] < STEPS && play(&b, d, &steps[d][at[d]], time, born)) {
                    at[d]++;
                    time++;
                }
            }
            ck_assert(blocks_finish(&b) && blocks_peak(&b, &most));
            ck_assert(blocks_turns(&b, &bounds));
            first = order ? first : bounds;
            ck_assert(bounds.low == first.low && bounds.high == first.high);
            ck_assert(bounds.low <= most.samples && most.samples <= bounds.high);
            blocks_free(&b);
        }
    }
}
END_TEST

/* One keeps two blocks, the other frees two. Whichever is first, a run does not prove that the peak
 * of the other run was different. */
START_TEST(threads_that_share_a_domain_may_follow_in_another_order) {
    blocks_spread of[2];
    for (uint64_t first = 0; first < 2; first++) {
        block_table b = {0};
        blocks_most most;
        bear(&b, 9, 1, 0);
        for (uint64_t i = 0; i < 2; i++) {
            const uint64_t thread = first ^ i, time = 2 + 2 * i;
            for (uint64_t n = 0; n < 2; n++)
                bear(&b, 2 * thread + n, time, 1);
            for (uint64_t n = 0; n < 2 && thread == 1; n++)
                bury(&b, 2 * thread + n, time + 1, 1);
        }
        ck_assert(blocks_finish(&b) && blocks_peak(&b, &most) && blocks_turns(&b, &of[first]));
        ck_assert(of[first].low <= most.samples && most.samples <= of[first].high);
        blocks_free(&b);
    }
    ck_assert(of[0].low <= of[1].high && of[1].low <= of[0].high);
}
END_TEST

START_TEST(a_domain_alone_takes_no_turns) {
    block_table b = {0};
    blocks_spread bounds;
    bear(&b, 0, 1, 0);
    bear(&b, 1, 2, 0);
    bury(&b, 0, 3, 0);
    bear(&b, 2, 4, 0);
    ck_assert(blocks_finish(&b) && blocks_turns(&b, &bounds));
    ck_assert(bounds.low == 6 && bounds.high == 6);
    blocks_free(&b);
}
END_TEST

/* Births of `n` blocks at each of some times. */
static uint64_t tick_where(size_t n, uint64_t step, uint64_t rarely) {
    block_table b = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t time = i / n * step + (i / n % 7 == 6 ? rarely : 0);
        ck_assert(blocks_add(&b, 1, &(memtrace_event){.id = i, .time = time, .samples = 1}));
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
    tcase_add_test(t, the_peak_follows_the_order_of_a_domain);
    tcase_add_test(t, ends_before_beginnings_disturb_no_order);
    tcase_add_test(t, ends_before_beginnings_take_no_names_away);
    tcase_add_test(t, ends_before_all_else_are_ends);
    tcase_add_test(t, what_is_not_known_between_domains_is_a_spread);
    tcase_add_test(t, peaks_far_apart_are_looked_at_by_themselves);
    tcase_add_test(t, ends_that_float_make_no_amount_certain);
    tcase_add_test(t, the_truth_is_within_the_spread);
    tcase_add_test(t, the_peak_is_within_bounds_whichever_way_domains_take_turns);
    tcase_add_test(t, threads_that_share_a_domain_may_follow_in_another_order);
    tcase_add_test(t, a_domain_alone_takes_no_turns);
    tcase_add_test(t, a_tick_is_for_how_long_many_blocks_have_one_time);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
