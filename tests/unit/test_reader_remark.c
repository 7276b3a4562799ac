/* test_reader_remark.c: marks and gauges are written as allocations without samples, and read as
 * what they are. */
#include "tape.h"
#include "unit.h"

static memtrace_reader *play(tape *t, const memtrace_reader_options *options) {
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_close(t->streams[i]), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(t->writer), MEMTRACE_OK);
    memtrace_reader *reader;
    ck_assert_int_eq(
        memtrace_reader_open_memory(t->bytes.items, t->bytes.count, options, &reader, NULL),
        MEMTRACE_OK);
    return reader;
}

static memtrace_event next(memtrace_reader *reader) {
    memtrace_event event;
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_OK);
    return event;
}

static void ends(memtrace_reader *reader, tape *t) {
    memtrace_event event;
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    memtrace_reader_close(reader);
    vec_free(&t->bytes);
}

static void record(tape *t) {
    tape_start(t, 1);
    remark(t, 5, MARK, 0);
    const uint64_t id = allocate(t, 6, MEMTRACE_EXTERNAL, 9, 10, STACK(MAIN, LEAF));
    remark(t, 7, GAUGE, 4096);
    remark(t, 7, WORKER, 0);
    ck_assert_int_eq(memtrace_stream_collect(t->streams[0], 8, id), MEMTRACE_OK);
}

START_TEST(marks_and_gauges_are_events) {
    tape t;
    record(&t);
    memtrace_reader *reader = play(&t, NULL);
    memtrace_event e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_MARK);
    ck_assert_uint_eq(e.time, 5);
    ck_assert_uint_eq(e.id, 0);
    ck_assert_str_eq(e.name, "loaded");
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_ALLOC);
    ck_assert_uint_eq(e.id, 1);
    ck_assert_uint_eq(e.common_prefix, 0);
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_GAUGE);
    ck_assert_uint_eq(e.time, 7);
    ck_assert_str_eq(e.name, "rss");
    ck_assert_uint_eq(e.length, 4096);
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_THREAD);
    ck_assert_str_eq(e.name, "worker");
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_COLLECT);
    ck_assert_uint_eq(e.id, 1);
    ends(reader, &t);
}
END_TEST

START_TEST(they_can_be_read_as_written) {
    static const struct {
        memtrace_event_kind kind;
        uint64_t id, samples, length;
    } written[] = {{MEMTRACE_ALLOC, 0, 0, 0},   {MEMTRACE_COLLECT, 0, 0, 0},
                   {MEMTRACE_ALLOC, 1, 10, 9},  {MEMTRACE_ALLOC, 2, 0, 4096},
                   {MEMTRACE_COLLECT, 2, 0, 0}, {MEMTRACE_ALLOC, 3, 0, 0},
                   {MEMTRACE_COLLECT, 3, 0, 0}, {MEMTRACE_COLLECT, 1, 0, 0}};
    tape t;
    record(&t);
    memtrace_reader *reader = play(&t, &(memtrace_reader_options){.as_written = true});
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const memtrace_event e = next(reader);
        ck_assert_int_eq(e.kind, written[i].kind);
        ck_assert_uint_eq(e.id, written[i].id);
        ck_assert_uint_eq(e.samples, written[i].samples);
        ck_assert_uint_eq(e.length, written[i].length);
    }
    ends(reader, &t);
}
END_TEST

START_TEST(without_backtraces_they_have_no_names) {
    tape t;
    record(&t);
    memtrace_reader *reader = play(&t, &(memtrace_reader_options){.skip_backtraces = true});
    const memtrace_event_kind kinds[] = {MEMTRACE_MARK, MEMTRACE_ALLOC, MEMTRACE_MARK,
                                         MEMTRACE_MARK, MEMTRACE_COLLECT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const memtrace_event e = next(reader);
        ck_assert_int_eq(e.kind, kinds[i]);
        ck_assert(kinds[i] != MEMTRACE_MARK || !e.name);
    }
    ends(reader, &t);
}
END_TEST

/* As a recorder writes it that was killed in between, or another one; and a frame that says nothing
 * of marks. */
START_TEST(their_ends_may_be_missing) {
    tape t;
    tape_start(&t, 1);
    const uint64_t open = allocate(&t, 5, MEMTRACE_EXTERNAL, 7, 0, STACK(GAUGE));
    allocate(&t, 6, MEMTRACE_EXTERNAL, 7, 0, STACK(LEAF));
    const uint64_t other = allocate(&t, 7, MEMTRACE_EXTERNAL, 9, 10, STACK(LEAF));
    ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 8, other), MEMTRACE_OK);
    memtrace_reader *reader = play(&t, NULL);
    memtrace_event e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_GAUGE);
    ck_assert_uint_eq(e.id, open);
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_MARK);
    ck_assert_ptr_null(e.name);
    ck_assert_int_eq(next(reader).kind, MEMTRACE_ALLOC);
    e = next(reader);
    ck_assert_int_eq(e.kind, MEMTRACE_COLLECT);
    ck_assert_uint_eq(e.id, other);
    ends(reader, &t);
}
END_TEST

START_TEST(no_packet_ends_between_them_and_their_ends) {
    enum { N = 100000 };
    tape t;
    tape_start(&t, 1);
    for (uint64_t i = 0; i < N; i++)
        remark(&t, i, GAUGE, i);
    memtrace_reader *reader = play(&t, NULL);
    for (uint64_t i = 0; i < N; i++) {
        const memtrace_event e = next(reader);
        ck_assert_int_eq(e.kind, MEMTRACE_GAUGE);
        ck_assert_uint_eq(e.length, i);
    }
    ends(reader, &t);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("reader_remark");
    TCase *t = tcase_create("remarks");
    tcase_add_test(t, marks_and_gauges_are_events);
    tcase_add_test(t, they_can_be_read_as_written);
    tcase_add_test(t, without_backtraces_they_have_no_names);
    tcase_add_test(t, their_ends_may_be_missing);
    tcase_add_test(t, no_packet_ends_between_them_and_their_ends);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
