/* test_excerpt.c: a stretch of time of a trace, and a part of its samples. */
#include <math.h>
#include <string.h>

#include "derived_fixture.h"

/* Closes both readers. */
static memtrace_reader *excerpt_of(memtrace_reader *first, memtrace_reader *again,
                                   const excerpt_options *options, excerpt *e) {
    const int fd = result_fd();
    ck_assert_int_eq(excerpt_plan(e, first, options), MEMTRACE_OK);
    memtrace_info info = *memtrace_reader_info(again);
    excerpt_head(e, &info);
    const rewrite_input input = {
        .reader = again, .options = {.select = excerpt_select, .end = excerpt_end, .user = e}};
    memtrace_error error;
    ck_assert_msg(rewrite_traces(&info, &input, 1, fd, COMPRESSION_NONE, &error) == MEMTRACE_OK,
                  "%s", error.reason);
    memtrace_reader_close(first);
    memtrace_reader_close(again);
    return open_result(fd);
}

static void assert_excerpt(const tape *t, const excerpt_options *options, const char *expected) {
    excerpt e;
    char *text = text_of(excerpt_of(play(t), play(t), options, &e));
    ck_assert_str_eq(text, expected);
    free(text);
    excerpt_free(&e);
}

START_TEST(trimming_leaves_out_what_was_there_before) {
    tape t;
    record_stretch(&t);
    assert_excerpt(&t, &(excerpt_options){.from = 20, .to = 40, .keep = 1},
                   "0000000000 0000000000 alloc 2 len=30 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000001 0000000000 promote\n"
                   "0000000001 0000000000 collect\n"
                   "0000000002 0000000001 alloc 1 len=32 dom=0 depth=2    1:"
                   " table@<type>:0:0-0 App.leaf@src/leaf.c:22:0-0\n"
                   "0000000004 0000000002 mark loaded=0 dom=0\n");
    fixture_free(&t.f);
}
END_TEST

START_TEST(trimming_can_keep_what_was_alive) {
    tape t;
    record_stretch(&t);
    assert_excerpt(&t, &(excerpt_options){.from = 22, .to = 30, .keep = 1, .live = true},
                   "0000000000 0000000000 alloc 3 len=20 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000000 0000000001 alloc 1 len=22 dom=0 depth=2    1:"
                   " App.leaf@src/leaf.c:21:0-0\n"
                   "0000000000 0000000000 promote\n"
                   "0000000000 0000000002 alloc 1 len=32 dom=0 depth=2    1:"
                   " table@<type>:0:0-0 App.leaf@src/leaf.c:22:0-0\n"
                   "0000000002 0000000003 mark loaded=0 dom=0\n"
                   "0000000003 0000000000 collect\n");
    fixture_free(&t.f);
}
END_TEST

/* The record of a block that cannot go on serves a later one, which still is numbered as later. */
START_TEST(what_cannot_go_on_takes_no_room) {
    tape t;
    excerpt e;
    tape_start(&t, &head, locate);
    uint64_t brief = allocate(&t, 0, 1, 1, LEAF), old = allocate(&t, 0, 2, 2, LEAF);
    for (uint64_t time = 3; time < 1000; time++) {
        collect(&t, 0, time, brief);
        brief = allocate(&t, 0, time, 1, LEAF);
    }
    const uint64_t late = allocate(&t, 0, 1000, 3, LEAF);
    collect(&t, 0, 1003, late);
    collect(&t, 0, 1004, old);
    tape_end(&t);
    const excerpt_options options = {.from = 1001, .to = EXCERPT_END, .keep = 1, .live = true};
    char *text = text_of(excerpt_of(play(&t), play(&t), &options, &e));
    ck_assert_str_eq(text, "0000000000 0000000000 alloc 2 len=12 dom=0 depth=2    0:"
                           " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                           "0000000000 0000000001 alloc 1 len=1009 dom=0 depth=2    2:\n"
                           "0000000000 0000000002 alloc 3 len=1010 dom=0 depth=2    2:\n"
                           "0000000002 0000000002 collect\n"
                           "0000000003 0000000000 collect\n");
    ck_assert_uint_eq(e.blocks.count, 3);
    free(text);
    excerpt_free(&e);
    fixture_free(&t.f);
}
END_TEST

START_TEST(trimming_moves_the_start) {
    tape t;
    excerpt e;
    record_stretch(&t);
    memtrace_reader *part =
        excerpt_of(play(&t), play(&t), &(excerpt_options){.from = 20, .to = 40, .keep = 1}, &e);
    ck_assert_uint_eq(memtrace_reader_info(part)->start_time, START_TIME + 20);
    ck_assert_double_eq(memtrace_reader_info(part)->sample_rate, 0.5);
    ck_assert_uint_eq(e.n_blocks, 4);
    ck_assert_uint_eq(e.n_kept, 2);
    ck_assert_uint_eq(e.n_samples, 7);
    excerpt_free(&e);
    memtrace_reader_close(part);
    fixture_free(&t.f);
}
END_TEST

/* It lasts to the end of the stretch, or of the trace, even if nothing happened in it. */
START_TEST(trimming_keeps_the_end) {
    static const struct {
        uint64_t from, to, duration;
    } cases[] = {{0, 30, 30},
                 {22, 1000, 978},
                 {22, EXCERPT_END, 50000000 - 22},
                 {50, 40000000, 40000000 - 50},
                 {60000000, EXCERPT_END, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tape t;
        excerpt e;
        tape_start(&t, &head, locate);
        collect(&t, 0, 25, allocate(&t, 0, 10, 3, LEAF));
        tape_end_at(&t, 50000000);
        const excerpt_options options = {.from = cases[i].from, .to = cases[i].to, .keep = 1};
        ck_assert_uint_eq(duration_of(excerpt_of(play(&t), play(&t), &options, &e)),
                          cases[i].duration);
        excerpt_free(&e);
        fixture_free(&t.f);
    }
}
END_TEST

/* The packet of domain 1 comes first in the file. */
START_TEST(a_death_may_come_before_its_allocation) {
    tape t;
    tape_start(&t, &head, locate);
    const uint64_t early = allocate(&t, 0, 5, 1, LEAF), late = allocate(&t, 0, 30, 1, LEAF);
    collect(&t, 1, 8, early);
    collect(&t, 1, 35, late);
    tape_end(&t);
    char *text = text_of(play(&t));
    ck_assert_msg(strncmp(text, "0000000008 0000000000 collect\n", 30) == 0, "%s", text);
    free(text);
    assert_excerpt(&t, &(excerpt_options){.from = 10, .to = EXCERPT_END, .keep = 1, .live = true},
                   "0000000020 0000000000 alloc 1 len=40 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000025 0000000000 collect\n");
    fixture_free(&t.f);
}
END_TEST

static excerpt thinner(double keep, uint64_t seed) {
    tape t;
    excerpt e;
    tape_start(&t, &head, locate);
    tape_end(&t);
    memtrace_reader *reader = play(&t);
    ck_assert_int_eq(excerpt_plan(&e, reader, &(excerpt_options){.keep = keep, .seed = seed}),
                     MEMTRACE_OK);
    memtrace_reader_close(reader);
    fixture_free(&t.f);
    return e;
}

START_TEST(how_samples_are_grouped_does_not_matter) {
    excerpt one = thinner(0.3, 1), many = thinner(0.3, 1);
    uint64_t taken = 0;
    for (uint64_t i = 0; i < 1000; i++)
        taken += excerpt_thin(&many, i % 7);
    ck_assert_uint_eq(excerpt_thin(&one, 142 * 21 + 0 + 1 + 2 + 3 + 4 + 5), taken);
    ck_assert_uint_gt(taken, 0);
}
END_TEST

/* The numbers of samples left in blocks of five follow the binomial law, to five standard errors.
 */
START_TEST(thinning_is_binomial) {
    enum { BLOCKS = 100000, K = 5 };
    static const double law[K + 1] = {0.16807, 0.36015, 0.3087, 0.1323, 0.02835, 0.00243};
    excerpt e = thinner(0.3, (uint64_t)_i);
    uint64_t counts[K + 1] = {0};
    for (int i = 0; i < BLOCKS; i++)
        counts[excerpt_thin(&e, K)]++;
    for (int k = 0; k <= K; k++) {
        const double sigma = sqrt(BLOCKS * law[k] * (1 - law[k]));
        ck_assert_double_eq_tol((double)counts[k], BLOCKS * law[k], 5 * sigma);
    }
}
END_TEST

START_TEST(keeping_all_keeps_all) {
    excerpt e = thinner(1, 0);
    ck_assert_uint_eq(excerpt_thin(&e, UINT64_C(1) << 60), UINT64_C(1) << 60);
}
END_TEST

/* A block of 8 PB takes no longer than others: sums of z and z² over many blocks. */
START_TEST(thinning_of_huge_blocks_is_normal) {
    enum { BLOCKS = 10000 };
    const double n = 0x1p50, keep = 0.1, deviation = sqrt(n * keep * (1 - keep));
    double sum = 0, squares = 0;
    excerpt e = thinner(keep, 5);
    for (int i = 0; i < BLOCKS; i++) {
        const double z = ((double)excerpt_thin(&e, (uint64_t)n) - n * keep) / deviation;
        sum += z;
        squares += z * z;
    }
    ck_assert_double_lt(fabs(sum), 4 * sqrt(BLOCKS));
    ck_assert_double_lt(fabs(squares - BLOCKS), 4 * sqrt(2 * BLOCKS));
}
END_TEST

START_TEST(seeds_and_rates_give_other_choices) {
    excerpt a = thinner(0.01, 1), b = thinner(0.01, 2), again = thinner(0.01, 1);
    ck_assert(a.gap != b.gap || a.random != b.random);
    ck_assert_uint_eq(a.random, again.random);
    ck_assert_uint_eq(a.gap, again.gap);
}
END_TEST

static bool same_frame(const memtrace_frame *a, const memtrace_frame *b) {
    if (a->code != b->code || a->n_locations != b->n_locations)
        return false;
    for (uint32_t i = 0; i < a->n_locations; i++)
        if (a->locations[i].line != b->locations[i].line ||
            strcmp(a->locations[i].file, b->locations[i].file) != 0 ||
            strcmp(a->locations[i].function, b->locations[i].function) != 0)
            return false;
    return true;
}

static bool same_stack(memtrace_reader *r, const memtrace_event *e, memtrace_reader *s,
                       const memtrace_event *f) {
    if (e->n_frames != f->n_frames)
        return false;
    for (uint32_t i = 0; i < e->n_frames; i++)
        if (!same_frame(memtrace_reader_frame(r, e->frames[i]),
                        memtrace_reader_frame(s, f->frames[i])))
            return false;
    return true;
}

/* Each event of the result is one of the original, in its order, with the same stack; allocations
 * come before whatever happens to them, and ids have no gaps. */
START_TEST(what_is_left_of_a_real_trace_is_as_it_was) {
    char path[4096];
    snprintf(path, sizeof path, "%s/traces/ocamlopt.ctf", test_data());
    excerpt e;
    const excerpt_options options = {.to = EXCERPT_END, .keep = 0.25};
    memtrace_reader *part = excerpt_of(open_path(path), open_path(path), &options, &e);
    memtrace_reader *all = open_path(path);
    ck_assert_double_eq(memtrace_reader_info(part)->sample_rate, 2e-5 / 4);
    memtrace_event kept, event;
    uint64_t n = 0;
    while (memtrace_reader_next(part, &kept) == MEMTRACE_OK) {
        do
            ck_assert_int_eq(memtrace_reader_next(all, &event), MEMTRACE_OK);
        while (event.kind != kept.kind || event.time != kept.time ||
               (kept.kind == MEMTRACE_ALLOC &&
                (event.length != kept.length || !same_stack(part, &kept, all, &event))));
        if (kept.kind == MEMTRACE_ALLOC)
            ck_assert_uint_eq(kept.id, n++);
        else
            ck_assert_uint_lt(kept.id, n);
    }
    ck_assert_uint_eq(n, e.n_kept);
    ck_assert_double_eq_tol((double)e.n_taken, 1676 / 4.0, 5 * sqrt(1676 * 0.25 * 0.75));
    size_t n_warnings;
    memtrace_reader_warnings(part, &n_warnings);
    ck_assert_uint_eq(n_warnings, 0);
    memtrace_reader_close(part);
    memtrace_reader_close(all);
    excerpt_free(&e);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("excerpt");
    TCase *t = tcase_create("excerpt");
    tcase_add_test(t, trimming_leaves_out_what_was_there_before);
    tcase_add_test(t, trimming_can_keep_what_was_alive);
    tcase_add_test(t, what_cannot_go_on_takes_no_room);
    tcase_add_test(t, trimming_moves_the_start);
    tcase_add_test(t, trimming_keeps_the_end);
    tcase_add_test(t, a_death_may_come_before_its_allocation);
    tcase_add_test(t, how_samples_are_grouped_does_not_matter);
    tcase_add_loop_test(t, thinning_is_binomial, 0, 3);
    tcase_add_test(t, keeping_all_keeps_all);
    tcase_add_test(t, thinning_of_huge_blocks_is_normal);
    tcase_add_test(t, seeds_and_rates_give_other_choices);
    tcase_add_test(t, what_is_left_of_a_real_trace_is_as_it_was);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
