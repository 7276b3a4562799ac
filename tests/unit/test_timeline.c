/* Tests of what was live when: timelines, sites, the peak and how surely it was then. */
#include <stdio.h>

#include "blocks_fixture.h"
#include "profile/gauges.h"
#include "query/peak.h"
#include "query/timeline.h"
#include "query/unseen.h"
#include "random.h"
#include "tape.h"
#include "unit.h"

static void promote(tape *t, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[0], time, id), MEMTRACE_OK);
}

static void collect(tape *t, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[0], time, id), MEMTRACE_OK);
}

/* At rate 1. Live: A (3 samples, minor, 10 to 40), B (33, minor from 20, major from 50, until 90),
 * C (301, major, 45 to the end, which is 99), D (8, external, 60 to 60). */
static void make_four(tape *t, profile *p) {
    tape_start(t, 1);
    uint64_t a = allocate(t, 10, MEMTRACE_MINOR, 2, 3, STACK(MAIN, LEAF));
    uint64_t b = allocate(t, 20, MEMTRACE_MINOR, 32, 33, STACK(MAIN, LEAF_ELSEWHERE));
    collect(t, 40, a);
    allocate(t, 45, MEMTRACE_MAJOR, 300, 301, STACK(MAIN, EVAL));
    promote(t, 50, b);
    uint64_t d = allocate(t, 60, MEMTRACE_EXTERNAL, 7, 8, STACK(MAIN, PARSE, XMALLOC));
    collect(t, 60, d);
    collect(t, 90, b);
    uint64_t e = allocate(t, 99, MEMTRACE_MINOR, 0, 1, STACK(MAIN, LEAF));
    collect(t, 99, e);
    tape_read_blocks(t, p, false);
}

static void check_point(const timeline_point *x, uint64_t begin, uint64_t end, uint64_t minor,
                        uint64_t major, uint64_t allocated, uint64_t promoted, uint64_t freed) {
    ck_assert_uint_eq(x->begin, begin);
    ck_assert_uint_eq(x->end, end);
    ck_assert_uint_eq(x->live[MEMTRACE_MINOR], minor);
    ck_assert_uint_eq(x->live[MEMTRACE_MAJOR], major);
    ck_assert_uint_eq(x->live[MEMTRACE_EXTERNAL], 0);
    ck_assert_uint_eq(cct_sum(x->allocated), allocated);
    ck_assert_uint_eq(x->promoted, promoted);
    ck_assert_uint_eq(x->freed, freed);
}

START_TEST(of_all_time) {
    tape t;
    profile p;
    timeline l;
    make_four(&t, &p);
    ck_assert(timeline_query(&p, &(timeline_spec){.to = TIMELINE_END, .points = 4}, &l));
    ck_assert_uint_eq(l.points.count, 4);
    check_point(&l.points.items[0], 0, 25, 36, 0, 36, 0, 0);
    check_point(&l.points.items[1], 25, 50, 33, 301, 301, 0, 3);
    check_point(&l.points.items[2], 50, 75, 0, 334, 8, 33, 8);
    check_point(&l.points.items[3], 75, 100, 0, 301, 1, 0, 34);
    ck_assert_uint_eq(l.points.items[2].allocated[MEMTRACE_EXTERNAL], 8);
    ck_assert_uint_eq(l.peak.at.time, 60); /* D, too, before it was freed in the same microsecond */
    ck_assert_uint_eq(l.peak.samples, 342);
    ck_assert_uint_eq(l.end_samples, 301);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

/* What is live before counts, what comes after does not; the last point is shorter. */
START_TEST(of_a_stretch) {
    tape t;
    profile p;
    timeline l;
    make_four(&t, &p);
    ck_assert(timeline_query(&p, &(timeline_spec){.from = 30, .to = 52, .points = 4}, &l));
    ck_assert_uint_eq(l.points.count, 4);
    check_point(&l.points.items[0], 30, 36, 36, 0, 0, 0, 0);
    check_point(&l.points.items[1], 36, 42, 33, 0, 0, 0, 3);
    check_point(&l.points.items[2], 42, 48, 33, 301, 301, 0, 0);
    check_point(&l.points.items[3], 48, 53, 0, 334, 0, 33, 0);
    timeline_free(&l);
    /* Stretches of less than 1 µs do not exist. */
    ck_assert(timeline_query(&p, &(timeline_spec){.from = 59, .to = 60, .points = 9}, &l));
    ck_assert_uint_eq(l.points.count, 2);
    check_point(&l.points.items[1], 60, 61, 0, 334, 8, 0, 8);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(of_some_blocks) {
    tape t;
    profile p;
    timeline l;
    make_four(&t, &p);
    const uint8_t kept[] = {1, 1, 0, 0, 0};
    const timeline_spec spec = {.kept = kept, .to = TIMELINE_END, .points = 1};
    ck_assert(timeline_query(&p, &spec, &l));
    check_point(&l.points.items[0], 0, 100, 0, 0, 36, 33, 36);
    ck_assert_uint_eq(l.peak.at.time, 20);
    ck_assert_uint_eq(l.peak.samples, 36);
    ck_assert_uint_eq(l.end_samples, 0);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

/* The four in numbers of blocks: A and B are live at first, then B and C. */
START_TEST(in_numbers_of_blocks) {
    tape t;
    profile p;
    timeline l;
    make_four(&t, &p);
    const timeline_spec spec = {.to = TIMELINE_END, .points = 4, .measure = MEASURE_BLOCKS};
    static const uint64_t minor[] = {2, 1, 0, 0}, major[] = {0, 1, 2, 1}, freed[] = {0, 1, 1, 2},
                          allocated[] = {2, 1, 0, 1}, promoted[] = {0, 0, 1, 0};
    ck_assert(timeline_query(&p, &spec, &l));
    ck_assert_uint_eq(l.costs.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const timeline_costs *n = &l.costs.items[i];
        ck_assert_uint_eq(n->live[MEMTRACE_MINOR].blocks, minor[i]);
        ck_assert_uint_eq(n->live[MEMTRACE_MAJOR].blocks, major[i]);
        ck_assert_uint_eq(n->live[MEMTRACE_EXTERNAL].blocks, 0);
        ck_assert_uint_eq(n->allocated[MEMTRACE_MINOR].blocks + n->allocated[MEMTRACE_MAJOR].blocks,
                          allocated[i]);
        ck_assert_uint_eq(n->promoted.blocks, promoted[i]);
        ck_assert_uint_eq(n->freed.blocks, freed[i]);
        ck_assert_double_eq(n->live[MEMTRACE_MAJOR].weight, (double)major[i]); /* at rate 1 */
    }
    ck_assert_uint_eq(l.costs.items[2].allocated[MEMTRACE_EXTERNAL].blocks, 1);
    ck_assert_uint_eq(l.peak_cost.blocks, 3);
    ck_assert_uint_eq(l.end_cost.blocks, 1);
    ck_assert_uint_eq(l.end_cost.samples, l.end_samples);
    timeline_free(&l);
    ck_assert(timeline_query(&p, &(timeline_spec){.to = TIMELINE_END, .points = 4}, &l));
    ck_assert_uint_eq(l.costs.count, 0);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

static void check_held(const cost *c, uint64_t blocks, double micros) {
    ck_assert_uint_eq(c->blocks, blocks);
    ck_assert_double_eq_tol(c->weight, micros / 1e6, 1e-12);
}

/* The four in samples times microseconds: A holds 90 in all, B 2,310, C 16,254; D and E nothing. */
START_TEST(in_what_is_held) {
    tape t;
    profile p;
    timeline l;
    make_four(&t, &p);
    timeline_spec spec = {.to = TIMELINE_END, .points = 4, .measure = MEASURE_BYTESECONDS};
    static const uint64_t minor[] = {2, 2, 0, 0}, major[] = {0, 1, 2, 2};
    static const double held[][2] = {{210, 0}, {870, 1505}, {0, 8350}, {0, 7719}};
    ck_assert(timeline_query(&p, &spec, &l));
    for (size_t i = 0; i < 4; i++) {
        const timeline_costs *c = &l.costs.items[i];
        check_held(&c->live[MEMTRACE_MINOR], minor[i], held[i][0]);
        check_held(&c->live[MEMTRACE_MAJOR], major[i], held[i][1]);
        check_held(&c->live[MEMTRACE_EXTERNAL], 0, 0);
        check_held(&c->held, minor[i] + major[i], held[i][0] + held[i][1]);
    }
    check_held(&l.costs.items[0].allocated[MEMTRACE_MINOR], 2, 2400);
    check_held(&l.costs.items[1].allocated[MEMTRACE_MAJOR], 1, 16254);
    check_held(&l.costs.items[2].promoted, 1, 2310);
    check_held(&l.costs.items[3].freed, 2, 2310);
    check_held(&l.peak_cost, 3, 2310 + 16254);
    check_held(&l.end_cost, 1, 16254);
    timeline_free(&l);
    spec.from = 30;
    spec.to = 52; /* where B, once promoted, is held for 2 more, and is one block in all */
    spec.points = 1;
    ck_assert(timeline_query(&p, &spec, &l));
    check_held(&l.costs.items[0].live[MEMTRACE_MINOR], 2, 10 * 3 + 20 * 33);
    check_held(&l.costs.items[0].live[MEMTRACE_MAJOR], 2, 2 * 33 + 7 * 301);
    check_held(&l.costs.items[0].held, 3, 10 * 3 + 22 * 33 + 7 * 301);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

/* Sites in the order of what they hold in the time that is asked about: leaf has less and longer.
 */
START_TEST(of_sites_that_hold_most) {
    tape t;
    profile p;
    lens view;
    timeline_groups s;
    timeline_spec spec = {.to = TIMELINE_END, .points = 2, .measure = MEASURE_BYTESECONDS};
    tape_start(&t, 1);
    allocate(&t, 0, MEMTRACE_MAJOR, 2, 3, STACK(MAIN, LEAF));
    uint64_t a = allocate(&t, 900, MEMTRACE_MAJOR, 9, 10, STACK(MAIN, PARSE));
    collect(&t, 999, a);
    tape_read_blocks(&t, &p, false);
    ck_assert(lens_init(&view, &p, true, NULL));
    ck_assert(timeline_of_groups(&view, &spec, GROUPS_BY_LINE, blocks_end_of(900), 9, &s));
    ck_assert_str_eq(s.items[0].of.place->function, "leaf");
    check_held(&s.items[0].cost, 1, 3 * 999);
    check_held(&s.items[1].cost, 1, 10 * 99);
    timeline_groups_free(&s);
    spec.from = 900;
    ck_assert(timeline_of_groups(&view, &spec, GROUPS_BY_LINE, blocks_end_of(900), 9, &s));
    ck_assert_str_eq(s.items[0].of.place->function, "parse");
    timeline_groups_free(&s);
    lens_free(&view);
    profile_free(&p);
}
END_TEST

/* Sites in the order of their numbers, not of their bytes. */
START_TEST(of_sites_in_numbers) {
    tape t;
    profile p;
    lens l;
    timeline_groups s;
    tape_start(&t, 1);
    allocate(&t, 10, MEMTRACE_MAJOR, 300, 301, STACK(MAIN, EVAL));
    allocate(&t, 11, MEMTRACE_MAJOR, 2, 3, STACK(MAIN, PARSE));
    allocate(&t, 12, MEMTRACE_MAJOR, 2, 3, STACK(MAIN, PARSE));
    tape_read_blocks(&t, &p, false);
    ck_assert(lens_init(&l, &p, true, NULL));
    timeline_spec spec = {.to = TIMELINE_END, .points = 2, .measure = MEASURE_BLOCKS};
    ck_assert(timeline_of_groups(&l, &spec, GROUPS_BY_LINE, blocks_end_of(12), 9, &s));
    ck_assert_str_eq(s.items[0].of.place->function, "parse");
    ck_assert_uint_eq(s.items[0].cost.blocks, 2);
    timeline_groups_free(&s);
    spec.measure = MEASURE_ALLOCATED;
    ck_assert(timeline_of_groups(&l, &spec, GROUPS_BY_LINE, blocks_end_of(12), 9, &s));
    ck_assert_str_eq(s.items[0].of.place->function, "eval");
    timeline_groups_free(&s);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(of_sites) {
    tape t;
    profile p;
    lens l;
    timeline_groups s;
    make_four(&t, &p);
    const timeline_spec spec = {.to = TIMELINE_END, .points = 2};
    ck_assert(lens_init(&l, &p, true, NULL));
    ck_assert(timeline_of_groups(&l, &spec, GROUPS_BY_LINE, blocks_end_of(25), 9, &s));
    const char *const functions[] = {"leaf", "leaf", "eval", "parse"};
    const uint64_t samples[] = {33, 3, 0, 0}, peaks[] = {33, 3, 301, 8};
    ck_assert_uint_eq(s.count, 4); /* xmalloc is a wrapper */
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_str_eq(s.items[i].of.place->function, functions[i]);
        ck_assert_uint_eq(s.items[i].samples, samples[i]);
        ck_assert_uint_eq(s.items[i].line.peak.samples, i == 3 ? 8 : peaks[i]);
    }
    ck_assert_uint_eq(s.items[2].line.points.items[1].live[MEMTRACE_MAJOR], 301);
    timeline_groups_free(&s);
    ck_assert(timeline_of_groups(&l, &spec, GROUPS_BY_FUNCTION, blocks_end_of(25), 1,
                                 &s)); /* both lines of leaf */
    ck_assert_uint_eq(s.count, 1);
    ck_assert_uint_eq(s.items[0].samples, 36);
    timeline_groups_free(&s);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(what_was_live_at_the_peak) {
    tape t;
    profile p;
    peak k;
    make_four(&t, &p);
    ck_assert(peak_query(&p, NULL, &k));
    ck_assert_uint_eq(k.at.time, 60);
    ck_assert_uint_eq(k.samples, 342);
    ck_assert_uint_eq(k.blocks, 3);
    ck_assert_uint_eq(k.heaps[MEMTRACE_MINOR], 0);
    ck_assert_uint_eq(k.heaps[MEMTRACE_MAJOR], 334);
    ck_assert_uint_eq(k.heaps[MEMTRACE_EXTERNAL], 8);
    ck_assert_uint_eq(k.ages[LIFETIME_1MS], 342);
    ck_assert_uint_eq(k.later, 41);
    ck_assert_uint_eq(k.end_samples, 301);
    ck_assert_uint_eq(k.own.at.time, 60);
    const uint8_t kept[] = {1, 1, 0, 0, 0};
    ck_assert(peak_query(&p, kept, &k));
    ck_assert_uint_eq(k.at.time, 60);
    ck_assert_uint_eq(k.samples, 33);
    ck_assert_uint_eq(k.own.at.time, 20);
    ck_assert_uint_eq(k.own.samples, 36);
    profile_free(&p);
}
END_TEST

static void read_gauge(tape *t, int domain, uint64_t code, uint64_t time, uint64_t words) {
    ck_assert_int_eq(memtrace_stream_remark(t->streams[domain], time, code, words), MEMTRACE_OK);
}

static void check_reading(const gauge_reading *r, uint64_t time, uint64_t words) {
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(r->time, time);
    ck_assert_uint_eq(r->bytes, words * 8);
}

/* Whichever domain read it, and wherever its packets stand in the file. */
START_TEST(what_the_system_saw) {
    tape t;
    profile p;
    gauge_list list;
    tape_start(&t, 1);
    for (uint64_t time = 10; time <= 50; time += 10)
        read_gauge(&t, (int)(time / 10 % 2), GAUGE, time, time == 30 ? 900 : time);
    tape_read_blocks(&t, &p, _i);
    ck_assert_uint_eq(p.table.count, 0);
    ck_assert_uint_eq(p.collected_blocks, 0);
    ck_assert(gauges_find(&p, &list));
    ck_assert_uint_eq(list.count, 1);
    const gauge *g = &list.items[0];
    ck_assert_str_eq(g->name, "rss");
    ck_assert_uint_eq(g->readings.count, 5);
    ck_assert_ptr_null(gauge_at(g, 9));
    check_reading(gauge_at(g, 10), 10, 10);
    check_reading(gauge_at(g, 39), 30, 900);
    check_reading(gauge_at(g, UINT64_MAX), 50, 50);
    check_reading(gauge_last(g), 50, 50);
    ck_assert_ptr_null(gauge_most(g, 0, 10));
    check_reading(gauge_most(g, 0, 30), 20, 20);
    check_reading(gauge_most(g, 0, UINT64_MAX), 30, 900);
    check_reading(gauge_most(g, 41, 49), 40, 40);
    gauges_free(&list);
    profile_free(&p);
}
END_TEST

enum { MB = (1 << 20) / 8 /* words */ };

/* Of a process that held so many MB, of which a block of so many was freed, one stayed, and a mark
 * was made in between. */
static bool finds_unseen(int held, int freed, memtrace_source source, uint64_t mark, bool table,
                         unseen *u) {
    tape t;
    profile p;
    tape_start(&t, 1);
    read_gauge(&t, 0, GAUGE, 5, 1000 * MB);
    read_gauge(&t, 0, ANONYMOUS, 10, MB);
    const uint64_t words = (uint64_t)freed * MB;
    collect(&t, 20, allocate(&t, 15, source, words - 1, words, STACK(LEAF)));
    allocate(&t, 25, source, MB - 1, MB, STACK(LEAF));
    remark(&t, 25, mark, 0);
    read_gauge(&t, 0, ANONYMOUS, 30, (uint64_t)held * MB);
    read_gauge(&t, 0, ANONYMOUS, 40, 3 * MB);
    if (table)
        tape_read_blocks(&t, &p, false);
    else
        tape_read(&t, &p, false);
    const bool found = unseen_find(&p, u);
    profile_free(&p);
    return found;
}

START_TEST(what_a_process_held_beside) {
    unseen u;
    ck_assert(finds_unseen(40, 5, MEMTRACE_EXTERNAL, MARK, true, &u));
    ck_assert_double_eq(u.held, 40 << 20);
    ck_assert_double_eq(u.recorded, 5 << 20);
    ck_assert(
        finds_unseen(40, 5, MEMTRACE_EXTERNAL, MARK, false, &u)); /* then it may all have lived */
    ck_assert_double_eq(u.recorded, 6 << 20);
    ck_assert(!finds_unseen(40, 14, MEMTRACE_EXTERNAL, MARK, true, &u)); /* more than a third */
    ck_assert(!finds_unseen(9, 1, MEMTRACE_EXTERNAL, MARK, true, &u));   /* as every process has */
    ck_assert(finds_unseen(10, 1, MEMTRACE_EXTERNAL, MARK, true, &u));
    ck_assert(!finds_unseen(40, 5, MEMTRACE_MAJOR, MARK, true, &u)); /* a heap has some slack */
    ck_assert(!finds_unseen(40, 5, MEMTRACE_EXTERNAL, STOPPED, true, &u));
}
END_TEST

START_TEST(of_nothing) {
    tape t;
    profile p;
    peak k;
    timeline l;
    tape_start(&t, 0.5);
    tape_read_blocks(&t, &p, false);
    ck_assert(peak_query(&p, NULL, &k));
    ck_assert_uint_eq(k.samples, 0);
    ck_assert(timeline_query(&p, &(timeline_spec){.to = TIMELINE_END, .points = 60}, &l));
    ck_assert_uint_eq(l.points.count, 1);
    timeline_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- how surely it was then -------------------------------------------------------------- */

enum { LENGTH = 1000000, POPULATION = 10000, ROUNDS = 60 };

static void add_block(block_table *b, uint64_t id, uint64_t born, uint64_t died) {
    const memtrace_event event = {.kind = MEMTRACE_ALLOC,
                                  .time = born,
                                  .id = id,
                                  .length = 0,
                                  .samples = 1,
                                  .source = MEMTRACE_MAJOR};
    ck_assert(blocks_fixture_add(b, 0, &event, died <= LENGTH ? died : BLOCKS_NEVER));
}

static int compare_times(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* One program, of which all blocks go into `all` and one in ten into `some`. Blocks are born at
 * random times, more of them towards the middle if it is a hill, and live 5 % of the time. */
static void make_program(uint64_t seed, bool hill, profile *all, profile *some) {
    test_random r = {seed};
    *all = *some = (profile){.duration = LENGTH, .keep_blocks = true};
    all->info.sample_rate = 1;
    some->info.sample_rate = 0.1;
    uint64_t births[POPULATION];
    for (size_t i = 0; i < POPULATION; i++) {
        double at = test_random_unit(&r);
        if (hill)
            at = (at + test_random_unit(&r)) / 2;
        births[i] = (uint64_t)(at * LENGTH);
    }
    qsort(births, POPULATION, sizeof *births, compare_times);
    for (uint64_t id = 0; id < POPULATION; id++) {
        const uint64_t born = births[id];
        uint64_t died = born + (uint64_t)(0.05 * LENGTH * test_random_exponential(&r));
        add_block(&all->table, id, born, died);
        if (test_random_unit(&r) < 0.1)
            add_block(&some->table, id, born, died);
    }
    ck_assert(blocks_finish(&all->table) && blocks_finish(&some->table));
}

START_TEST(the_peak_is_where_it_is_said_to_be) {
    int covered = 0;
    double width = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        profile all, some;
        blocks_most most;
        peak k;
        make_program(seed, _i == 0, &all, &some);
        ck_assert(blocks_peak(&all.table, &most) && peak_query(&some, NULL, &k));
        covered += k.low <= most.at.time && most.at.time <= k.high;
        width += (double)(k.high - k.low) / LENGTH / ROUNDS;
        profile_free(&all);
        profile_free(&some);
    }
    printf("# %s: covers %d of %d, %.0f %% of the time wide\n", _i == 0 ? "hill" : "plain", covered,
           ROUNDS, 100 * width);
    ck_assert_int_ge(covered, ROUNDS * 95 / 100);
    if (_i == 0)
        ck_assert_double_le(width, 0.5); /* and says something */
}
END_TEST

/* What is live in numbers, against counting anew: sums of what came and went are right. */
START_TEST(numbers_add_up) {
    profile all, some;
    timeline l;
    make_program(7, true, &all, &some);
    ck_assert(timeline_query(
        &some, &(timeline_spec){.to = TIMELINE_END, .points = 40, .measure = MEASURE_BLOCKS}, &l));
    for (size_t i = 0; i < l.points.count; i++) {
        const uint64_t end = l.points.items[i].end;
        const cost *live = &l.costs.items[i].live[MEMTRACE_MAJOR];
        cost sum = {0};
        for (size_t row = 0; row < some.table.count; row++)
            if (blocks_born(&some.table, row) < end && blocks_died(&some.table, row) >= end) {
                const cost one = cost_of_number(&some, row);
                cost_add(&sum, &one);
            }
        ck_assert_uint_eq(live->blocks, sum.blocks);
        ck_assert_double_eq_tol(live->weight, 10 * (double)sum.blocks, 1e-6);
        ck_assert_double_eq_tol(live->squares, sum.squares, 1e-5);
        const estimate e = cost_estimate(&some, MEASURE_BLOCKS, (filter_bounds){0}, live);
        ck_assert(sum.blocks == 0 || (e.low < e.value && e.value < e.high));
    }
    timeline_free(&l);
    profile_free(&all);
    profile_free(&some);
}
END_TEST

/* What is held, against counting anew, and all of it against the whole. */
START_TEST(what_is_held_adds_up) {
    profile all, some;
    timeline l;
    cost whole = {0};
    double sum_of_points = 0;
    make_program(7, true, &all, &some);
    for (size_t row = 0; row < some.table.count; row++) {
        const cost one = cost_of_life(&some, row);
        cost_add(&whole, &one);
    }
    const timeline_spec spec = {
        .to = TIMELINE_END, .points = 37, .measure = MEASURE_BYTESECONDS, .without_peak = true};
    ck_assert(timeline_query(&some, &spec, &l));
    for (size_t i = 0; i < l.points.count; i++) {
        const timeline_point *x = &l.points.items[i];
        const uint64_t limit = x->end < some.duration ? x->end : some.duration;
        cost sum = {0};
        for (size_t row = 0; row < some.table.count; row++) {
            const uint64_t born = blocks_born(&some.table, row),
                           died = blocks_died(&some.table, row);
            const uint64_t from = born > x->begin ? born : x->begin;
            const uint64_t to = died < limit ? died : limit;
            const cost one = cost_of_seconds(blocks_samples(&some.table, row),
                                             from < to ? (double)(to - from) / 1e6 : 0);
            if (from < to)
                cost_add(&sum, &one);
        }
        const cost *held = &l.costs.items[i].held;
        ck_assert_uint_eq(held->blocks, sum.blocks);
        ck_assert_uint_eq(held->samples, sum.samples);
        ck_assert_double_eq_tol(held->weight, sum.weight, 1e-9 * sum.weight);
        ck_assert_double_eq_tol(held->squares, sum.squares, 1e-9 * sum.squares);
        ck_assert_double_eq_tol(held->heaviest, sum.heaviest, 1e-12);
        sum_of_points += held->weight;
    }
    ck_assert_double_eq_tol(sum_of_points, whole.weight, 1e-9 * whole.weight);
    timeline_free(&l);
    profile_free(&all);
    profile_free(&some);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("timeline");
    TCase *t = tcase_create("timeline");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, of_all_time);
    tcase_add_test(t, of_a_stretch);
    tcase_add_test(t, of_some_blocks);
    tcase_add_test(t, of_sites);
    tcase_add_test(t, in_numbers_of_blocks);
    tcase_add_test(t, of_sites_in_numbers);
    tcase_add_test(t, what_was_live_at_the_peak);
    tcase_add_loop_test(t, what_the_system_saw, 0, 2);
    tcase_add_test(t, what_a_process_held_beside);
    tcase_add_test(t, of_nothing);
    tcase_add_test(t, numbers_add_up);
    tcase_add_test(t, in_what_is_held);
    tcase_add_test(t, of_sites_that_hold_most);
    tcase_add_test(t, what_is_held_adds_up);
    tcase_add_loop_test(t, the_peak_is_where_it_is_said_to_be, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
