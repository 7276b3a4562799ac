/* test_reader_remark.c: marks and gauges are written as allocations without samples, and read as
 * what they are. */
#include <stdio.h>

#include "tape.h"
#include "trace/span_remark.h"
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

/* ---- spans --------------------------------------------------------------------------------- */

/* Its ids are bytes that follow each other, but for the last one of the trace's and of its own. */
static memtrace_span span_of(uint8_t trace, uint8_t span) {
    memtrace_span made;
    for (size_t i = 0; i < sizeof made.ids; i++)
        made.ids[i] = (uint8_t)(0xE8 + i);
    made.ids[MEMTRACE_TRACE_ID - 1] = trace;
    made.ids[sizeof made.ids - 1] = span;
    return made;
}

static size_t enter(tape *t, uint64_t time, memtrace_span *said, memtrace_span span) {
    struct span_remark remarks[SPAN_REMARKS];
    const size_t n = span_remark_list(said, &span, remarks);
    for (size_t i = 0; i < n; i++)
        remark(t, time, SPAN_PARTS + remarks[i].which, remarks[i].value);
    return n;
}

/* What the next span's remarks say when all of them are read. */
static const char *next_span(memtrace_reader *reader, size_t n, memtrace_event *e) {
    for (size_t i = 0; i < n; i++) {
        *e = next(reader);
        ck_assert_int_eq(e->kind, MEMTRACE_SPAN);
        ck_assert_msg((i + 1 == n) == (e->name != NULL), "remark %zu of %zu", i, n);
    }
    return e->name;
}

START_TEST(ids_of_spans_are_told_when_they_are_complete) {
    static const char begin[] = "e8e9eaebecedeeeff0f1f2f3f4f5f6";
    tape t;
    memtrace_event e;
    memtrace_span said = {0}, other = span_of(1, 3);
    other.ids[0] = 0;
    tape_start(&t, 1);
    ck_assert_uint_eq(enter(&t, 1, &said, span_of(1, 2)), 4);
    ck_assert_uint_eq(enter(&t, 2, &said, span_of(1, 3)), 2); /* of the same trace */
    ck_assert_uint_eq(enter(&t, 3, &said, (memtrace_span){0}), 1);
    ck_assert_uint_eq(enter(&t, 4, &said, span_of(2, 3)), 2); /* also behind none */
    ck_assert_uint_eq(enter(&t, 5, &said, other), 4);
    memtrace_reader *reader = play(&t, NULL);
    char expected[SPAN_TEXT];
    const struct {
        size_t n;
        const char *end;
    } spans[] = {{4, "01-f8f9fafbfcfdfe02"},
                 {2, "01-f8f9fafbfcfdfe03"},
                 {1, NULL},
                 {2, "02-f8f9fafbfcfdfe03"}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        snprintf(expected, sizeof expected, "%s%s", begin, spans[i].end ? spans[i].end : "");
        ck_assert_str_eq(next_span(reader, spans[i].n, &e), spans[i].end ? expected : "");
    }
    next_span(reader, 4, &e);
    const memtrace_span read = span_remark_ids(e.name);
    ck_assert_mem_eq(&read, &other, sizeof read);
    ends(reader, &t);
}
END_TEST

START_TEST(a_span_of_which_a_part_is_missing_is_none) {
    memtrace_span said = {0};
    const memtrace_span span = span_of(1, 2), again = span_of(1, 3);
    struct span_remark remarks[SPAN_REMARKS];
    for (size_t missing = 0; missing < 3; missing++) {
        tape t;
        memtrace_event e;
        said = (memtrace_span){0};
        tape_start(&t, 1);
        const size_t n = span_remark_list(&said, &span, remarks);
        for (size_t i = 0; i < n; i++)
            if (i != missing)
                remark(&t, 1, SPAN_PARTS + remarks[i].which, remarks[i].value);
        enter(&t, 2, &said, again);
        said = (memtrace_span){0};
        enter(&t, 3, &said, again);
        memtrace_reader *reader = play(&t, NULL);
        ck_assert_str_eq(next_span(reader, 3, &e), "");
        ck_assert_str_eq(next_span(reader, 2, &e), ""); /* nor is what refers to it */
        ck_assert_uint_eq(strlen(next_span(reader, 4, &e)), SPAN_TEXT - 1);
        ends(reader, &t);
    }
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
    tcase_add_test(t, ids_of_spans_are_told_when_they_are_complete);
    tcase_add_test(t, a_span_of_which_a_part_is_missing_is_none);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
