/* test_merge.c: several traces as one: times, domains, processes that end, gauges, rates. */
#include "derived_fixture.h"
#include "trace/merge.h"

/* The same codes in another program. */
static size_t locate_elsewhere(void *context, uint64_t code, memtrace_location *l, size_t max) {
    if (code != LEAF)
        return locate(context, code, l, max);
    l[0] = (memtrace_location){.file = "twig.c", .function = "twig", .line = 5};
    return 1;
}

static memtrace_reader *merged(const tape *a, const tape *b, merge *m) {
    memtrace_reader *first[] = {play(a), play(b)}, *again[] = {play(a), play(b)};
    const int fd = result_fd();
    memtrace_error error;
    ck_assert_int_eq(merge_start(m, first, 2, 0), MEMTRACE_OK);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(merge_plan(m, i, first[i]), MEMTRACE_OK);
    ck_assert_msg(merge_write(m, again, fd, COMPRESSION_NONE, &error) == MEMTRACE_OK, "%s",
                  error.reason);
    for (size_t i = 0; i < 2; i++) {
        memtrace_reader_close(first[i]);
        memtrace_reader_close(again[i]);
    }
    return open_result(fd);
}

static void record_pair(tape *a, tape *b, double second_rate) {
    memtrace_info later = head;
    later.start_time += 100;
    later.sample_rate = second_rate;
    later.pid = 8;
    later.executable_name = "/bin/prog2";
    tape_start(a, &head, locate);
    collect(a, 0, 50, allocate(a, 0, 3, 2, LEAF));
    tape_end(a);
    tape_start(b, &later, locate_elsewhere);
    collect(b, 1, 9, allocate(b, 0, 4, 1, LEAF));
    allocate(b, 0, 5, 1, OTHER_LEAF);
    tape_end(b);
}

START_TEST(merging_aligns_times_and_renumbers) {
    tape a, b;
    merge m;
    record_pair(&a, &b, 0.5);
    memtrace_reader *both = merged(&a, &b, &m);
    const memtrace_info *info = memtrace_reader_info(both);
    ck_assert_uint_eq(info->start_time, START_TIME);
    ck_assert_uint_eq(info->pid, 0);
    ck_assert_str_eq(info->executable_name, "/bin/prog, /bin/prog2");
    ck_assert_str_eq(info->host_name, "venus");
    ck_assert_str_eq(info->context, "2 merged traces");
    char *text = text_of(both);
    ck_assert_str_eq(text, "0000000003 0000000000 alloc 2 len=13 dom=0 depth=2    0:"
                           " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                           "0000000050 0000000000 collect\n"
                           "0000000104 0000000001 alloc 1 len=14 dom=1 depth=2    0:"
                           " App.main@src/main.c:10:0-0 twig@twig.c:5:0-0\n"
                           "0000000105 0000000002 alloc 1 len=15 dom=1 depth=2    1:"
                           " App.leaf@src/leaf.c:21:0-0\n"
                           "0000000109 0000000001 collect\n");
    free(text);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* Of the traces of two processes, the first of which has ended before: what that one had is freed
 * then. Parts of one process are not two. */
START_TEST(a_process_that_ends_frees_what_it_has) {
    tape a, b;
    merge m;
    memtrace_info later = head;
    later.start_time += 100;
    later.pid += _i == 0;
    tape_start(&a, &head, locate);
    allocate(&a, 0, 3, 2, LEAF);
    collect(&a, 0, 5, allocate(&a, 0, 4, 1, LEAF));
    remark(&a, 1, 6, MARK, 0);
    tape_end_at(&a, 40);
    tape_start(&b, &later, locate);
    allocate(&b, 0, 1, 1, LEAF);
    tape_end_at(&b, 70);
    char *text = text_of(merged(&a, &b, &m));
    merge_free(&m);
    ck_assert_msg((_i == 0) == !!strstr(text, "0000000040 0000000000 collect\n"), "%s", text);
    ck_assert_msg(!strstr(text, "0000000040 0000000001 collect\n"), "%s", text);
    ck_assert_msg(!strstr(text, "0000000002 collect\n"), "%s", text);
    ck_assert_uint_eq(duration_of(merged(&a, &b, &m)), 170);
    free(text);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* The readings of domain 2 as "time=value …". */
static char *readings_of(char *text) {
    static char readings[256];
    size_t used = 0;
    readings[0] = '\0';
    for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
        uint64_t time, value;
        int domain;
        if (sscanf(line, "%" SCNu64 " %*u gauge rss=%" SCNu64 " dom=%d", &time, &value, &domain) ==
                3 &&
            domain == 2)
            used += (size_t)snprintf(readings + used, sizeof readings - used,
                                     "%" PRIu64 "=%" PRIu64 " ", time, value);
    }
    free(text);
    return readings;
}

/* Gauges of two processes become their sums, as long as there are both; of one process there is
 * nothing to sum up. Marks stay where they are. */
/* Such traces say nothing of when a process ended, and may start at 0. */
START_TEST(what_was_live_in_traces_without_times_stays) {
    tape a, b;
    merge m;
    memtrace_info first = head, second = head;
    first.start_time = 0;
    first.context = MEMTRACE_IMPORTED "a sketch" MEMTRACE_NO_TIMES;
    second.executable_name = "/bin/prog2";
    tape_start(&a, &first, locate);
    allocate(&a, 0, 0, 2, LEAF);
    tape_end(&a);
    tape_start(&b, &second, locate);
    allocate(&b, 0, 0, 1, LEAF);
    tape_end(&b);
    memtrace_reader *both = merged(&b, &a, &m);
    ck_assert_str_eq(memtrace_reader_info(both)->context, first.context);
    char *text = text_of(both);
    ck_assert_ptr_null(strstr(text, "collect"));
    free(text);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

START_TEST(gauges_are_summed_up_over_processes) {
    tape a, b;
    merge m;
    memtrace_info later = head;
    later.start_time += 10;
    later.pid += _i == 0;
    tape_start(&a, &head, locate);
    remark(&a, 0, 3, GAUGE, 13);
    remark(&a, 0, 6, MARK, 0);
    remark(&a, 0, 20, GAUGE, 30);
    tape_end_at(&a, 40);
    tape_start(&b, &later, locate);
    remark(&b, 0, 5, GAUGE, 15);
    remark(&b, 0, 60, GAUGE, 70);
    tape_end_at(&b, 100);
    char *text = text_of(merged(&a, &b, &m));
    ck_assert_msg(strstr(text, "0000000006 0000000000 mark loaded=0 dom=0\n"), "%s", text);
    ck_assert_msg(!strstr(text, "alloc") && !strstr(text, "collect"), "%s", text);
    ck_assert_str_eq(readings_of(text),
                     _i ? "3=13 15=15 20=30 70=70 " : "3=13 15=28 20=45 41=15 70=70 ");
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* A domain in which blocks only end, and a trace without any, have numbers of their own, too. */
START_TEST(merging_keeps_domains_apart) {
    tape a, b;
    merge m;
    memtrace_info other = head;
    other.pid++;
    tape_start(&a, &head, locate);
    if (_i)
        collect(&a, 1, 5, allocate(&a, 0, 3, 2, LEAF));
    tape_end_at(&a, 50);
    tape_start(&b, &other, locate);
    collect(&b, 1, 5, allocate(&b, 0, 3, 2, LEAF));
    tape_end_at(&b, 40);
    memtrace_reader *both = merged(&a, &b, &m);
    ck_assert_uint_eq(m.parts[1].first_domain, _i ? 2 : 1);
    ck_assert_uint_eq(duration_of(both), 50);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

START_TEST(merging_thins_to_the_lowest_rate) {
    tape a, b;
    merge m;
    memtrace_info dense = head;
    dense.sample_rate = 1;
    tape_start(&a, &head, locate);
    allocate(&a, 0, 1000, 1000, LEAF);
    tape_end(&a);
    tape_start(&b, &dense, locate);
    for (int i = 0; i < 1000; i++)
        allocate(&b, 0, (uint64_t)i, 10, LEAF);
    tape_end(&b);
    memtrace_reader *both = merged(&a, &b, &m);
    ck_assert_double_eq(memtrace_reader_info(both)->sample_rate, 0.5);
    ck_assert_uint_eq(m.parts[0].blocks.n_taken, 1000);
    ck_assert_double_eq_tol((double)m.parts[1].blocks.n_taken, 5000, 5 * 50);
    memtrace_reader_close(both);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

START_TEST(word_sizes_do_not_mix) {
    tape a, b;
    merge m;
    memtrace_info narrow = head;
    narrow.word_size = 32;
    tape_start(&a, &head, locate);
    tape_end(&a);
    tape_start(&b, &narrow, locate);
    tape_end(&b);
    memtrace_reader *readers[] = {play(&a), play(&b)};
    ck_assert_int_eq(merge_start(&m, readers, 2, 0), MEMTRACE_USAGE);
    ck_assert_str_eq(m.hindrance, "their word sizes differ");
    merge_free(&m);
    for (size_t i = 0; i < 2; i++)
        memtrace_reader_close(readers[i]);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("merge");
    TCase *t = tcase_create("merge");
    tcase_add_test(t, merging_aligns_times_and_renumbers);
    tcase_add_loop_test(t, a_process_that_ends_frees_what_it_has, 0, 2);
    tcase_add_loop_test(t, gauges_are_summed_up_over_processes, 0, 2);
    tcase_add_loop_test(t, merging_keeps_domains_apart, 0, 2);
    tcase_add_test(t, what_was_live_in_traces_without_times_stays);
    tcase_add_test(t, merging_thins_to_the_lowest_rate);
    tcase_add_test(t, word_sizes_do_not_mix);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
