/* Tests of the trace writer, whose output is judged by the independent decoder tests/decode.py. */
#include "trace/format.h"
#include "trace/writer_locations.h"
#include "trace_fixture.h"

/* ---- a domain's events, written and expected at once ---- */

typedef struct source_of_events {
    fixture *f;
    memtrace_stream *stream;
    uint16_t domain;
    expectation expected;
} source_of_events;

static void open_events(source_of_events *s, fixture *f, uint16_t domain) {
    *s = (source_of_events){.f = f, .domain = domain};
    ck_assert_int_eq(memtrace_stream_open(f->writer, domain, &s->stream), MEMTRACE_OK);
    expectation_open(&s->expected);
}

static uint64_t alloc_of(source_of_events *s, uint64_t time, memtrace_source source,
                         uint64_t length, uint64_t samples, const uint64_t *frames, size_t n,
                         size_t promise) {
    uint64_t id = 0;
    ck_assert_int_eq(
        memtrace_stream_alloc(s->stream, time, source, length, samples, frames, n, promise, &id),
        MEMTRACE_OK);
    expect_alloc(&s->expected, s->f, time, id, source, length, samples, s->domain, frames, n);
    return id;
}

static uint64_t alloc_at(source_of_events *s, uint64_t time, const uint64_t *frames, size_t n) {
    return alloc_of(s, time, MEMTRACE_EXTERNAL, 10, 1, frames, n, 0);
}

static void collect_at(source_of_events *s, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(s->stream, time, id), MEMTRACE_OK);
    expect_other(&s->expected, "collect", time, id);
}

static void promote_at(source_of_events *s, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(s->stream, time, id), MEMTRACE_OK);
    expect_other(&s->expected, "promote", time, id);
}

static void assert_packets_are_small(const fixture *f) {
    for (size_t i = 0; i < f->packets.count; i++)
        ck_assert_uint_le(f->packets.items[i].size, FORMAT_MAX_PACKET);
}

/* Closes all and compares; for traces of one domain. */
static void finish(fixture *f, source_of_events *s) {
    ck_assert_int_eq(memtrace_stream_close(s->stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f->writer), MEMTRACE_OK);
    assert_packets_are_small(f);
    assert_decodes_to(f, &s->expected);
    fixture_free(f);
}

static void begin(fixture *f, source_of_events *s, uint16_t version) {
    ck_assert_int_eq(fixture_open(f, version), MEMTRACE_OK);
    open_events(s, f, 0);
}

static void fill(uint64_t *frames, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++)
        frames[i] = first + i;
}

/* ---- values ---- */

static const uint64_t edges[] = {0,     1,       15,         16,         17,          252,
                                 253,   254,     255,        256,        65535,       65536,
                                 99999, 1 << 24, 0x7FFFFFFF, 0x80000000, 0x100000000, 1ull << 62};
enum { N_EDGES = sizeof edges / sizeof *edges };

START_TEST(every_width_of_length_and_samples) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, (uint16_t)_i);
    const uint64_t frames[] = {0x1000, 0x2000};
    for (size_t i = 0; i < N_EDGES; i++)
        for (size_t j = 0; j < N_EDGES; j++)
            for (int source = 0; source < 3; source++)
                alloc_of(&s, i, source, edges[i], edges[j], frames, 2, 0);
    finish(&f, &s);
}
END_TEST

START_TEST(every_width_of_a_delta_both_signs) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    collect_at(&s, 0, 12345); /* before any allocation of this domain */
    for (uint64_t i = 0; i < 1000; i++)
        alloc_at(&s, i, NULL, 0);
    const uint64_t last = UINT64_C(1) << 62;
    ck_assert_int_eq(
        memtrace_stream_alloc_as(s.stream, 1000, last, MEMTRACE_MAJOR, 1, 1, NULL, 0, 0),
        MEMTRACE_OK);
    expect_alloc(&s.expected, &f, 1000, last, MEMTRACE_MAJOR, 1, 1, 0, NULL, 0);
    for (size_t i = 0; i < N_EDGES; i++) {
        collect_at(&s, 1000, last - edges[i]);
        promote_at(&s, 1000, last + edges[i] - (edges[i] == last));
    }
    finish(&f, &s);
}
END_TEST

START_TEST(codes_zero_and_all_ones) {
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events s;
    begin(&f, &s, 3);
    const uint64_t a[] = {0, UINT64_MAX, 0, 0, 5}, b[] = {0, 0, 0}, c[] = {UINT64_MAX - 1};
    for (int i = 0; i < 3; i++) {
        alloc_at(&s, 1, a, 5);
        alloc_at(&s, 1, b, 3);
        alloc_at(&s, 1, c, 1);
    }
    finish(&f, &s);
}
END_TEST

/* ---- packets ---- */

START_TEST(packets_split_at_32_KiB) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    uint64_t frames[100], seed = 1;
    for (uint64_t i = 0; i < 2000; i++) {
        const size_t n = next_random(&seed) % 100;
        for (size_t j = 0; j < n; j++)
            frames[j] = next_random(&seed);
        alloc_at(&s, i, frames, n);
    }
    ck_assert_uint_gt(f.packets.count, 20);
    for (size_t i = 1; i < f.packets.count; i++) /* well filled */
        ck_assert_uint_gt(f.packets.items[i].size, FORMAT_MAX_PACKET - 1100);
    finish(&f, &s);
}
END_TEST

START_TEST(packets_split_at_30_seconds) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    const uint64_t limit = FORMAT_MAX_PACKET_TIME;
    alloc_at(&s, 0, NULL, 0);
    alloc_at(&s, limit, NULL, 0); /* just fits */
    ck_assert_uint_eq(f.packets.count, 1);
    alloc_at(&s, limit + 1, NULL, 0);
    ck_assert_uint_eq(f.packets.count, 2);
    collect_at(&s, limit * 2 + 2, 0);
    ck_assert_uint_eq(f.packets.count, 3);
    collect_at(&s, limit * 1000, 1); /* the low 25 bits of time wrap many times */
    for (uint64_t t = 0; t < 100; t++)
        alloc_at(&s, limit * 1000 + t * 700001, NULL, 0);
    finish(&f, &s);
}
END_TEST

START_TEST(time_never_runs_backwards) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    alloc_at(&s, 1000, NULL, 0);
    ck_assert_int_eq(memtrace_stream_collect(s.stream, 7, 0), MEMTRACE_OK);
    expect_other(&s.expected, "collect", 1000, 0);
    finish(&f, &s);
}
END_TEST

START_TEST(oldest_is_the_first_event_not_yet_handed_over) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    ck_assert_uint_eq(memtrace_stream_oldest(s.stream), UINT64_MAX);
    alloc_at(&s, 77, NULL, 0);
    collect_at(&s, 99, 0);
    ck_assert_uint_eq(memtrace_stream_oldest(s.stream), 77);
    ck_assert_int_eq(memtrace_stream_flush(s.stream), MEMTRACE_OK);
    ck_assert_uint_eq(memtrace_stream_oldest(s.stream), UINT64_MAX);
    alloc_at(&s, 100, NULL, 0);
    ck_assert_uint_eq(memtrace_stream_oldest(s.stream), 100);
    finish(&f, &s);
}
END_TEST

START_TEST(a_stream_without_events_writes_nothing) {
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events s;
    begin(&f, &s, 2);
    ck_assert_int_eq(memtrace_stream_flush(s.stream), MEMTRACE_OK);
    ck_assert_uint_eq(f.packets.count, 1);
    finish(&f, &s);
}
END_TEST

/* ---- ids ---- */

START_TEST(ids_come_in_chunks_in_version_3) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    memtrace_stream *other;
    uint64_t id;
    ck_assert_int_eq(memtrace_stream_open(f.writer, 1, &other), MEMTRACE_OK);
    for (uint64_t i = 0; i < 25000; i++) {
        if (i == 5000) {
            ck_assert_int_eq(memtrace_stream_alloc(other, 0, MEMTRACE_MAJOR, 1, 1, NULL, 0, 0, &id),
                             MEMTRACE_OK);
            ck_assert_uint_eq(id, 10000);
        }
        const uint64_t want = i < 10000 ? i : i + 10000;
        ck_assert_uint_eq(alloc_at(&s, i, NULL, 0), want);
        if (i % 5000 == 4999)
            collect_at(&s, i, want / 2);
    }
    ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
    expect_alloc(&s.expected, &f, 0, 10000, MEMTRACE_MAJOR, 1, 1, 1, NULL, 0);
    s.stream = other;
    finish(&f, &s);
}
END_TEST

START_TEST(ids_are_successive_in_version_2) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 2);
    for (uint64_t i = 0; i < 25000; i++)
        ck_assert_uint_eq(alloc_at(&s, i, NULL, 0), i);
    finish(&f, &s);
}
END_TEST

START_TEST(ids_chosen_by_the_caller_are_kept) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    static const uint64_t ids[] = {7, 8, 9, 100, 101, 1ull << 40, 3, 4};
    for (uint64_t i = 0; i < 8; i++) {
        ck_assert_int_eq(
            memtrace_stream_alloc_as(s.stream, i, ids[i], MEMTRACE_MINOR, 3, 1, NULL, 0, 0),
            MEMTRACE_OK);
        expect_alloc(&s.expected, &f, i, ids[i], MEMTRACE_MINOR, 3, 1, 0, NULL, 0);
        collect_at(&s, i, ids[i / 2]);
    }
    ck_assert_int_eq(memtrace_stream_flush(s.stream), MEMTRACE_OK);
    ck_assert_uint_eq(f.packets.count, 1 + 4);
    finish(&f, &s);
}
END_TEST

/* ---- backtraces ---- */

START_TEST(long_minor_backtraces_leave_the_short_form) {
    static uint64_t frames[3000];
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    uint64_t seed = 2;
    for (size_t n = 250; n < 262; n++) {
        for (size_t i = 0; i < n; i++)
            frames[i] = next_random(&seed);
        alloc_of(&s, n, MEMTRACE_MINOR, 16, 1, frames, n, 0); /* one codeword a frame */
        frames[0]++;
        alloc_of(&s, n, MEMTRACE_MINOR, 16, 1, frames, n, 0); /* a miss and runs of 255 */
    }
    finish(&f, &s);
}
END_TEST

START_TEST(deep_recursion_is_cheap_and_whole) {
    static uint64_t frames[100000];
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events s;
    begin(&f, &s, 3);
    for (size_t i = 0; i < 100000; i++)
        frames[i] = 0x400000 + i % 7; /* seven functions that call each other */
    for (size_t n = 1; n <= 100000; n = n * 3 + 1)
        alloc_at(&s, n, frames, n);
    frames[0] = 1; /* nothing is shared any more */
    alloc_at(&s, 100000, frames, 100000);
    ck_assert_int_eq(memtrace_stream_flush(s.stream), MEMTRACE_OK);
    ck_assert_uint_lt(f.bytes.count, 8000);
    finish(&f, &s);
}
END_TEST

START_TEST(too_long_a_backtrace_loses_its_outermost_frames) {
    static uint64_t frames[20000];
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    uint64_t id;
    fill(frames, 20000, 1 << 20);
    ck_assert_int_eq(
        memtrace_stream_alloc(s.stream, 1, MEMTRACE_MINOR, 1, 1, frames, 20000, 0, &id),
        MEMTRACE_OK);
    const size_t kept = (FORMAT_MAX_PACKET - format_header_size(3) - 68) / 10, cut = 20000 - kept;
    expect_alloc(&s.expected, &f, 1, 0, MEMTRACE_MINOR, 1, 1, 0, frames + cut, kept);

    frames[19999]++; /* shares all the rest: the same frames are missing, and it costs nothing */
    ck_assert_int_eq(
        memtrace_stream_alloc(s.stream, 2, MEMTRACE_MINOR, 1, 1, frames, 20000, 0, &id),
        MEMTRACE_OK);
    expect_alloc(&s.expected, &f, 2, 1, MEMTRACE_MINOR, 1, 1, 0, frames + cut, kept);

    alloc_at(&s, 3, frames, cut / 10); /* nothing of this was written before, but it fits */
    alloc_at(&s, 4, frames, 10);
    finish(&f, &s);
}
END_TEST

START_TEST(a_promise_of_common_frames_is_taken) {
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    uint64_t frames[50];
    fill(frames, 50, 100);
    alloc_of(&s, 1, MEMTRACE_MAJOR, 5, 2, frames, 50, 0);
    frames[30] = 0;
    alloc_of(&s, 2, MEMTRACE_MAJOR, 5, 2, frames, 50, 30);
    alloc_of(&s, 3, MEMTRACE_MAJOR, 5, 2, frames, 20, 20);
    alloc_of(&s, 4, MEMTRACE_MAJOR, 5, 2, frames, 50, 7); /* more is equal than was promised */
    alloc_of(&s, 5, MEMTRACE_MAJOR, 5, 2, frames, 50, 50);
    finish(&f, &s);
}
END_TEST

/* Random walks of a call stack with everything that the encoding distinguishes: more call sites
 * than the cache holds, loops, returns, lone events, jumps of time. */
static void random_walk(source_of_events *s, uint64_t seed, size_t n_events, uint64_t n_sites) {
    uint64_t frames[400], time = 0, last = 0;
    size_t depth = 0;
    for (size_t i = 0; i < n_events; i++) {
        const uint64_t r = next_random(&seed);
        time += r % 64 == 0 ? next_random(&seed) % 40000000 : r % 512;
        size_t keep = depth ? depth - next_random(&seed) % depth : 0;
        if (r % 100 == 3)
            keep = 0;
        depth = keep + next_random(&seed) % (r % 1000 == 7 ? 300 : 6);
        if (depth > 400)
            depth = 400;
        for (size_t j = keep; j < depth; j++)
            frames[j] = 0x55550000 + (next_random(&seed) % n_sites) * 5;
        last = alloc_of(s, time, r >> 8 & 1 ? MEMTRACE_MINOR : (r >> 9) % 3, (r >> 16) % 20,
                        1 + (r >> 32) % 2, frames, depth, 0);
        if (r >> 40 & 1)
            collect_at(s, time, last - (r >> 48) % (last + 1));
        if ((r >> 41) % 4 == 0)
            promote_at(s, time, last / 2);
    }
}

START_TEST(random_traces_decode_to_what_was_written) {
    static const uint64_t n_sites[] = {3, 50, 2000, 100000};
    fixture f = {.hooks.locate = _i % 2 ? fixture_locate : NULL};
    source_of_events s;
    begin(&f, &s, _i % 3 ? 3 : 2);
    random_walk(&s, (uint64_t)_i, 8000, n_sites[_i % 4]);
    finish(&f, &s);
}
END_TEST

static Suite *writer_suite(void) {
    Suite *s = suite_create("writer");
    TCase *t = tcase_create("writer");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, every_width_of_length_and_samples, 2, 4);
    tcase_add_test(t, every_width_of_a_delta_both_signs);
    tcase_add_test(t, codes_zero_and_all_ones);
    tcase_add_test(t, packets_split_at_32_KiB);
    tcase_add_test(t, packets_split_at_30_seconds);
    tcase_add_test(t, time_never_runs_backwards);
    tcase_add_test(t, oldest_is_the_first_event_not_yet_handed_over);
    tcase_add_test(t, a_stream_without_events_writes_nothing);
    tcase_add_test(t, ids_come_in_chunks_in_version_3);
    tcase_add_test(t, ids_are_successive_in_version_2);
    tcase_add_test(t, ids_chosen_by_the_caller_are_kept);
    tcase_add_test(t, long_minor_backtraces_leave_the_short_form);
    tcase_add_test(t, deep_recursion_is_cheap_and_whole);
    tcase_add_test(t, too_long_a_backtrace_loses_its_outermost_frames);
    tcase_add_test(t, a_promise_of_common_frames_is_taken);
    tcase_add_loop_test(t, random_traces_decode_to_what_was_written, 0, 12);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(writer_suite)
