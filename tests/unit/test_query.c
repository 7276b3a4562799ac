/* Tests of filters and of measures, on traces written to memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blocks_fixture.h"
#include "query/hotspots.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

static void promote(tape *t, int domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[domain], time, id), MEMTRACE_OK);
}

static void collect(tape *t, int domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[domain], time, id), MEMTRACE_OK);
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
    remark(t, 1000000, MARK, 0);
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

/* As if a look at each block were needed. */
START_TEST(what_concerns_stacks_alone_is_told_by_their_totals) {
    tape t;
    profile p;
    size_t n_of_stacks = 0;
    record_six(&t, &p);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        filter *f;
        filter_error error;
        selection quick, slow;
        cost_list by_stack = {0}, by_row = {0};
        ck_assert(filter_parse(kept[i].filter, &f, &error));
        n_of_stacks += filter_is_of_stacks(f);
        ck_assert(
            cost_of_filter(&p, f, MEASURE_ALLOCATED, blocks_end_of(0), true, &quick, &by_stack));
        ck_assert(filter_select(f, &p, &slow));
        ck_assert(cost_of_blocks(&p, &slow, MEASURE_ALLOCATED, blocks_end_of(0), true, &by_row));
        ck_assert_uint_eq(quick.n_kept, slow.n_kept);
        ck_assert_uint_eq(quick.n_of, slow.n_of);
        ck_assert_uint_eq(quick.n_removed, slow.n_removed);
        ck_assert_uint_eq(quick.term_at, slow.term_at);
        ck_assert_uint_eq(by_stack.count, by_row.count);
        for (size_t j = 0; j < by_row.count; j++) {
            const cost_entry x = cost_list_at(&by_stack, j), y = cost_list_at(&by_row, j);
            ck_assert(x.node == y.node && x.external == y.external);
            ck_assert_uint_eq(x.cost.samples, y.cost.samples);
            ck_assert_uint_eq(x.cost.blocks, y.cost.blocks);
        }
        selection_free(&slow);
        cost_list_free(&by_stack);
        cost_list_free(&by_row);
        filter_free(f);
    }
    ck_assert_uint_gt(n_of_stacks, 1);
    profile_free(&p);
}
END_TEST

/* Enough rows for several threads, the last piece of each not whole. */
enum { MANY_ROWS = (1 << 19) + 12345 };

static void make_many_from(profile *p, uint64_t start) {
    cct_path path = {0};
    test_random random = {1};
    bool ok = true;
    *p = (profile){.info = {.word_size = 64, .sample_rate = 0.5},
                   .duration = start + MANY_ROWS,
                   .keep_blocks = true};
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
        ok &= blocks_fixture_add(&p->table, root, &e,
                                 r % 11 == 0 ? BLOCKS_NEVER : start + i + r % 1000) &&
              (r % 5 > 0 || blocks_add_fate(&p->table, i, start + i + r % 50, BLOCKS_PROMOTED));
    }
    ck_assert(ok && blocks_finish(&p->table) && profile_sum_up(p));
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

static void write_filter(char *to, size_t size, const char *text, bool times, uint64_t start) {
    if (times)
        snprintf(to, size, "%s%" PRIu64 "us..%" PRIu64 "us", text, start + 200000, start + 350000);
    else
        snprintf(to, size, "%s", text);
}

/* The same rows before, around and after the time that halves the columns. */
START_TEST(times_select_the_same_rows_however_late_they_are) {
    static const uint64_t starts[] = {BLOCKS_SHORT - 2 * UINT64_C(1000000), BLOCKS_SHORT - 300000,
                                      BLOCKS_SHORT, UINT64_C(1) << 40};
    static const struct {
        const char *text;
        bool times; /* follow it */
    } filters[] = {{"alloc:", true},           {"live:", true},
                   {"life:>100us", false},     {"life:<0.5ms", false},
                   {"life:40us..0.9s", false}, {"promoted", false},
                   {"survived", false},        {"heap:major", false},
                   {"live:@peak", false},      {"alloc:>60h", false},
                   {"live:@end", false}};
    profile early;
    make_many(&early);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        profile late;
        make_many_from(&late, starts[k]);
        ck_assert(blocks_are_long(&late.table) == (late.table.last >= BLOCKS_SHORT));
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
            char before[100], after[100];
            write_filter(before, sizeof before, filters[i].text, filters[i].times, 0);
            write_filter(after, sizeof after, filters[i].text, filters[i].times, starts[k]);
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
    blocks_most most;
    uint64_t best_time = 0;
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
    ck_assert(blocks_peak(&p.table, &most));
    ck_assert_uint_eq(most.samples, (uint64_t)best);
    ck_assert_uint_eq(most.at.time, best_time);
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
            const cost_entry got = cost_list_at(&q.costs, k), *e = &got;
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

/* A stack a number, most with a few blocks. Every 1000th row is of the first stack; every
 * `heavy_every`th has more samples than go into a byte. */
enum { MANY_STACKS = 1 << 17 };

static void make_many_stacks(profile *p, size_t heavy_every) {
    cct_path path = {0};
    test_random random = {2};
    bool ok = true;
    *p = (profile){
        .info = {.word_size = 64, .sample_rate = 0.5}, .duration = MANY_ROWS, .keep_blocks = true};
    for (uint64_t i = 0; i < MANY_ROWS; i++) {
        const uint64_t r = test_random_u64(&random);
        const uint32_t frame = i % 1000 ? (uint32_t)(r % MANY_STACKS) : 0;
        const memtrace_event e = {.id = i,
                                  .time = i,
                                  .source = r % 13 ? MEMTRACE_MINOR : MEMTRACE_EXTERNAL,
                                  .length = r % 100,
                                  .samples = i % heavy_every == 7 ? 300 + r % 300 : 1 + r % 3};
        ok &= blocks_fixture_add(&p->table, cct_walk(&p->tree, &path, &frame, 1, 0), &e, i + 1);
    }
    ck_assert(ok && blocks_finish(&p->table) && profile_sum_up(p));
    cct_path_free(&path);
}

static void check_sums_of_stacks(const profile *p) {
    const size_t n = 2 * cct_count(&p->tree);
    uint64_t(*expected)[2] = calloc(n, sizeof *expected);
    filter *f;
    filter_error error;
    selection s;
    cost_list list = {0};
    ck_assert(expected && filter_parse("size:>=3w", &f, &error));
    for (size_t row = 0; row < p->table.count; row++) {
        const size_t at = 2 * p->table.node[row] + (p->table.source[row] == MEMTRACE_EXTERNAL);
        if (p->table.length[row] >= 3) {
            expected[at][0] += blocks_samples(&p->table, row);
            expected[at][1]++;
        }
    }
    ck_assert(cost_of_filter(p, f, MEASURE_ALLOCATED, blocks_end_of(0), false, &s, &list));
    for (size_t i = 0; i < list.count; i++) {
        const cost_entry e = cost_list_at(&list, i);
        uint64_t *of = expected[2 * e.node + e.external];
        ck_assert_uint_gt(e.cost.blocks, 0);
        ck_assert_uint_eq(e.cost.samples, of[0]);
        ck_assert_uint_eq(e.cost.blocks, of[1]);
        of[0] = of[1] = 0;
    }
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(expected[i][1], 0);
    cost_list_free(&list);
    filter_free(f);
    free(expected);
}

/* A few sums that are too large for most others' bytes, and then too many. */
START_TEST(sums_of_many_stacks_are_whole) {
    static const size_t heavy_every[] = {5000, 50};
    for (size_t i = 0; i < 2; i++) {
        profile p;
        make_many_stacks(&p, heavy_every[i]);
        ck_assert_uint_gt(p.tree.n_stacks, MANY_STACKS / 2);
        check_sums_of_stacks(&p);
        profile_free(&p);
    }
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
    {"aloc:1s", 1, "`aloc` is not one of alloc, live"},
    {"fn:x aloc:1s", 6, "`aloc`"},
    {"alloc", 6, "needs a value"},
    {"alloc:", 7, "missing"},
    {"alloc:10x", 9, "must end in us"},
    {"alloc:10", 9, "must end in us"},
    {"alloc:x", 7, "does not begin with a number"},
    {"alloc:@noon", 7, "@start, @peak and @end"},
    {"life:@peak", 6, "does not begin with a number"},
    {"size:>=1Q", 9, "a size must end in"},
    {"domain:1x", 9, "whole number"},
    {"heap:old", 6, "not one of minor, major, external"},
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
    {"fn:/é/ life:3", 14, "must end in us"}, /* characters, not bytes */
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
    ck_assert_uint_eq(s.term_at, 14); /* a negated term is not clear without its `-` */
    ck_assert_uint_eq(s.term_size, strlen("-life:>1ms"));
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

/* What terms on sizes and lifetimes say of all blocks that they keep; in a trace of 1 s. */
static const struct {
    const char *filter;
    uint64_t least_words, life_below;
} bounds[] = {
    {"fn:a", 0, 0},
    {"size:>=64K", 8193, 0},
    {"size:>64K", 8194, 0},
    {"size:65530", 0, 0}, /* no word is as large: it keeps nothing */
    {"size:3w", 4, 0},
    {"size:<1K", 0, 0},
    {"-size:<1K", 129, 0},
    {"-size:..1K", 130, 0},
    {"size:8w..,5w", 6, 0},
    {"size:8w.. size:20w..30w", 21, 0},
    {"size:8w.. -size:8w,9w", 11, 0},
    {"-size:2w..9w", 0, 0},
    {"-size:0..9w", 11, 0},
    {"size:>5w size:<3w", 0, 0},
    {"life:<1ms", 0, 1000},
    {"life:..1ms", 0, 1001},
    {"life:>1ms", 0, 0},
    {"-life:>=2ms", 0, 2000},
    {"life:<1ms,5ms..7ms", 0, 7001},
    {"life:<7ms -life:3ms..", 0, 3000},
    {"-life:1us..5ms life:<3ms", 0, 1},
    {"life:<1h", 0, 0},
    {"size:2K.. life:<1s alloc:<1ms", 257, 1000000},
};

START_TEST(filters_bound_what_may_have_been_missed) {
    profile p = {.duration = 1000000, .info = {.word_size = 64}};
    filter *f;
    filter_error error;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        ck_assert(filter_parse(bounds[i].filter, &f, &error));
        const filter_bounds may = filter_bounds_of(f, &p);
        ck_assert_msg(may.least_words == bounds[i].least_words &&
                          may.life_below == bounds[i].life_below,
                      "%s: %" PRIu64 " words, %" PRIu64 " us", bounds[i].filter, may.least_words,
                      may.life_below);
        filter_free(f);
    }
    const filter_bounds may = filter_bounds_of(NULL, &p);
    ck_assert(may.least_words == 0 && may.life_below == 0);
}
END_TEST

static const filter_bounds any;

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
    ck_assert_double_ge(cost_estimate(&p, MEASURE_BLOCKS, any, &c).high, 3.68 * 5000);
    ck_assert_double_le(cost_estimate_of_seen(&p, MEASURE_BLOCKS, &c).high, 20);
    /* unless the question is about large ones */
    const filter_bounds large = {.least_words = 8193};
    const estimate e = cost_estimate(&p, MEASURE_BLOCKS, large, &c);
    ck_assert_double_le(e.high, 20);
    ck_assert_double_eq(e.low, cost_estimate(&p, MEASURE_BLOCKS, any, &c).low);
    c = (cost){0};
    c = cost_or_missed(&p, MEASURE_BLOCKS, large, c);
    ck_assert_double_le(cost_estimate(&p, MEASURE_BLOCKS, large, &c).high, 5.6 * weight);
    p.info.sample_rate = 1;
    c = (cost){.samples = 4, .blocks = 3, .weight = 3, .heaviest = 1};
    ck_assert_double_eq(cost_estimate(&p, MEASURE_BLOCKS, any, &c).high, 3);
    profile_free(&p);
}
END_TEST

START_TEST(estimates_of_a_measure_are_in_its_unit) {
    tape t;
    profile p;
    record_six(&t, &p);
    cost c = {.samples = 10, .blocks = 2, .weight = 5, .squares = 25, .heaviest = 5};
    ck_assert_double_eq_tol(cost_estimate(&p, MEASURE_ALLOCATED, any, &c).value, 10 * 8 / .5, 1e-9);
    estimate e = cost_estimate(&p, MEASURE_BYTESECONDS, any, &c);
    ck_assert_double_eq_tol(e.value, 5 * 8 / .5, 1e-9);
    /* one sample's worth: Garwood's limits for 1 are 0.0253 and 5.572 */
    ck_assert_double_eq_tol(e.low, .0253178 * 80, 1e-3);
    e = cost_estimate_of_seen(&p, MEASURE_BYTESECONDS, &c);
    ck_assert_double_eq_tol(e.high, 5.571643 * 80, 1e-3);
    /* of two blocks that lived for less than the trace's second, another may have lived through */
    c = (cost){.samples = 4, .blocks = 2, .weight = .04, .squares = .0004, .heaviest = .01};
    e = cost_estimate(&p, MEASURE_BYTESECONDS, any, &c);
    ck_assert_double_ge(e.high, 3.68 * 8 / .5);
    ck_assert_double_le(e.high, 5.6 * 8 / .5);
    /* unless the question is about short lives, or fifty blocks tell */
    const estimate seen = cost_estimate_of_seen(&p, MEASURE_BYTESECONDS, &c);
    e = cost_estimate(&p, MEASURE_BYTESECONDS, (filter_bounds){.life_below = 10001}, &c);
    ck_assert_double_eq(e.high, seen.high);
    c.blocks = ESTIMATE_FEW_BLOCKS;
    ck_assert_double_eq(cost_estimate(&p, MEASURE_BYTESECONDS, any, &c).high, seen.high);
    p.info.sample_rate = 1;
    e = cost_estimate(&p, MEASURE_BYTESECONDS, any, &c);
    ck_assert_double_eq(e.low, e.high);
    profile_free(&p);
}
END_TEST

START_TEST(many_costs_are_packed) {
    cost_columns c;
    const cost_shape shape = {.few = true, .weights = true};
    ck_assert(cost_columns_make(&c, COST_MANY, shape));
    for (size_t i = 0; i < COST_MANY; i++)
        cost_columns_add(&c, i,
                         &(cost){.samples = i,
                                 .blocks = 1,
                                 .weight = (double)i / 3,
                                 .squares = (double)i / 7,
                                 .heaviest = (double)i / 11});
    const cost all = cost_columns_sum(&c, 0, COST_MANY);
    const size_t before = cost_columns_size(&c, COST_MANY);
    cost_columns_pack(&c, COST_MANY - 1);
    ck_assert_ptr_null(c.packed);
    cost_columns_pack(&c, COST_MANY);
    ck_assert(cost_columns_shape(&c).weights);
    ck_assert_uint_lt(cost_columns_size(&c, COST_MANY), before);
    const cost packed = cost_columns_sum(&c, 0, COST_MANY);
    ck_assert_double_eq(packed.weight, all.weight);
    ck_assert_double_eq_tol(packed.squares / all.squares, 1, 1e-7);
    ck_assert_double_eq_tol(packed.heaviest / all.heaviest, 1, 1e-7);
    ck_assert_uint_eq(packed.samples, all.samples);
    cost_columns_free(&c);
}
END_TEST

START_TEST(what_is_invisible) {
    ck_assert_double_eq(estimate_invisible(1), 0);
    ck_assert_double_eq_tol(pow(1 - .01, estimate_invisible(.01)), .05, 1e-9);
    ck_assert_double_eq_tol(estimate_invisible(1e-6) * 1e-6, 2.9957, 1e-3);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("query");
    TCase *t = tcase_create("query");
    tcase_add_test(t, the_table_has_what_the_events_say_in_any_order);
    tcase_add_test(t, filters_keep_what_they_say);
    tcase_add_test(t, what_concerns_stacks_alone_is_told_by_their_totals);
    tcase_add_test(t, each_row_of_a_large_table_is_looked_at);
    tcase_add_test(t, times_select_the_same_rows_however_late_they_are);
    tcase_add_test(t, costs_of_heap_and_external_blocks_stay_apart);
    tcase_add_test(t, the_peak_of_a_large_table_is_that_of_all_its_rows);
    tcase_add_test(t, sums_of_many_stacks_are_whole);
    tcase_add_test(t, measures_of_a_selection_count_each_row_of_it);
    tcase_add_test(t, complaints_point_at_the_column);
    tcase_add_test(t, an_empty_selection_knows_why);
    tcase_add_test(t, hidden_frames_leave_their_cost_to_their_callers);
    tcase_add_test(t, a_lens_that_is_known_is_what_a_question_sees);
    tcase_add_test(t, measures_count_what_they_say);
    tcase_add_test(t, filters_bound_what_may_have_been_missed);
    tcase_add_test(t, few_blocks_do_not_tell_how_small_others_are);
    tcase_add_test(t, estimates_of_a_measure_are_in_its_unit);
    tcase_add_test(t, many_costs_are_packed);
    tcase_add_test(t, what_is_invisible);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
