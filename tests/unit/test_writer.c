/* Tests of the trace writer, whose output is judged by the independent decoder tests/decode.py. */
#include <errno.h>

#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/writer_packet.h"
#include "trace/writer_stream.h"
#include "writer_fixture.h"

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
            for (int source = 0; source < 3 && edges[j] <= edges[i] + 1; source++)
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

/* ---- packets ---- */

/* The kind of a packet's first event. */
static unsigned first_kind(const fixture *f, size_t i) {
    const size_t at = f->packets.items[i].offset + format_header_size(3);
    return bytes_u32(f->bytes.items + at) >> FORMAT_TIME_BITS;
}

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
        if (first_kind(&f, i) != FORMAT_LOCATION)
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

START_TEST(random_traces_decode_to_what_was_written) {
    static const uint64_t n_sites[] = {3, 50, 2000, 100000};
    fixture f = {.hooks.locate = _i % 2 ? fixture_locate : NULL};
    source_of_events s;
    begin(&f, &s, _i % 3 ? 3 : 2);
    random_walk(&s, (uint64_t)_i, 8000, n_sites[_i % 4]);
    finish(&f, &s);
}
END_TEST

/* ---- stacks that come by memtrace_stream_alloc_block ---- */

static void put_line(FILE *out, uint64_t time, uint64_t id, uint64_t words, uint64_t samples,
                     const uint64_t *frames, size_t n) {
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "/%" PRIu64, time, id, samples, words);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIx64, frames[i]);
    fputc('\n', out);
}

/* A line for each event, by the reader: how much of a stack is written is the writer's choice. */
static char *read_lines(const fixture *f) {
    const memtrace_reader_options as_written = {.as_written = true};
    char *text;
    size_t size;
    memtrace_reader *reader;
    memtrace_event e;
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(
        memtrace_reader_open_memory(f->bytes.items, f->bytes.count, &as_written, &reader, NULL),
        MEMTRACE_OK);
    while (memtrace_reader_next(reader, &e) == MEMTRACE_OK) {
        uint64_t codes[400];
        bool is_alloc = e.kind == MEMTRACE_ALLOC;
        for (size_t i = 0; is_alloc && i < e.n_frames; i++)
            codes[i] = memtrace_reader_frame(reader, e.frames[i])->code;
        put_line(out, e.time, e.id, is_alloc ? e.length + 1 : 0, is_alloc ? e.samples : 0, codes,
                 is_alloc ? e.n_frames : 0);
    }
    size_t n_warnings;
    memtrace_reader_warnings(reader, &n_warnings);
    ck_assert_uint_eq(n_warnings, 0);
    memtrace_reader_close(reader);
    fclose(out);
    return text;
}

/* The next stack of a random walk; gives how much of it remains. */
static size_t walk_on(uint64_t *frames, size_t *depth, uint64_t n_sites, uint64_t *seed) {
    size_t common = *depth ? next_random(seed) % (*depth + 1) : 0;
    *depth = common + next_random(seed) % (next_random(seed) % 500 == 7 ? 300 : 4);
    *depth = *depth < 300 ? *depth : 300;
    common = common < *depth ? common : *depth;
    for (size_t j = common; j < *depth; j++)
        frames[j] = 0x55550000 + (next_random(seed) % n_sites) * 5;
    return common;
}

START_TEST(every_block_is_read_as_it_was_written) {
    static const uint64_t n_sites[] = {3, 50, 2000, 100000};
    fixture f = {.hooks.locate = _i % 2 ? fixture_locate : NULL};
    source_of_events s;
    char *text;
    size_t size, depth = 0, before = 0, n_quick = 0;
    uint64_t frames[300], time = 0, id = 0, seed = (uint64_t)_i;
    FILE *out = open_memstream(&text, &size);
    begin(&f, &s, 3);
    for (size_t i = 0; i < 20000; i++) {
        if (i == 500) /* another stream takes ids, so the next ones do not follow on these */
            atomic_fetch_add(&f.writer->next_chunk, 1);
        const uint64_t r = next_random(&seed), words = 1 + (r >> 20 & (r % 50 ? 31 : 0xFFFFF)),
                       samples = r >> 42 & 1 ? words : 1 + (r >> 43) % words;
        size_t common = walk_on(frames, &depth, n_sites[_i % 4], &seed);
        time += r % 64 == 0 ? next_random(&seed) % 40000000 : r % 3;
        if (r % 200 == 9) { /* a mark, say, by the other door */
            const uint64_t code = 7;
            ck_assert_int_eq(
                memtrace_stream_alloc(s.stream, time, MEMTRACE_EXTERNAL, 0, 0, &code, 1, 0, &id),
                MEMTRACE_OK);
            put_line(out, time, id, 1, 0, &code, 1);
            before = 0;
        }
        common = common < before ? common : before;
        const uint64_t ahead = stream_next_id(s.stream);
        if (i % 8 == 7 || ahead % FORMAT_ID_CHUNK ==
                              0) { /* deaths change nothing about that, nor it about them */
            if (!stream_collect_fast(s.stream, time, id / 3 + 1))
                ck_assert_int_eq(memtrace_stream_collect(s.stream, time, id / 3), MEMTRACE_OK);
            put_line(out, time, id / 3, 0, 0, NULL, 0);
        }
        ck_assert_int_eq(
            memtrace_stream_alloc_block(s.stream, time, words, samples, frames, depth, common, &id),
            MEMTRACE_OK);
        ck_assert_uint_eq(id, ahead);
        put_line(out, time, id, words, samples, frames, before = depth);
        if (r >> 40 & 1) {
            const bool tried = r >> 41 & 1,
                       done = tried && stream_collect_fast(s.stream, time, id / 2 + 1);
            n_quick += done;
            if (!done)
                ck_assert_int_eq(memtrace_stream_collect(s.stream, time, id / 2), MEMTRACE_OK);
            put_line(out, time, id / 2, 0, 0, NULL, 0);
        }
    }
    fclose(out);
    ck_assert_uint_gt(n_quick, 1000);
    ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    assert_packets_are_small(&f);
    char *read = read_lines(&f);
    assert_same_text(read, text);
    fclose(s.expected.out);
    free(s.expected.text);
    free(read);
    free(text);
    fixture_free(&f);
}
END_TEST

/* Whatever their size, blocks of one stack cost it once a packet. */
START_TEST(a_large_block_shares_its_stack) {
    enum { DEPTH = 200, BLOCKS = 1000, MOST = 40 };
    fixture f = {0};
    source_of_events s;
    uint64_t frames[DEPTH], id;
    for (size_t i = 0; i < DEPTH; i++)
        frames[i] = 0x1000 + i % 2 * i; /* what follows the even ones cannot be predicted */
    begin(&f, &s, 3);
    for (size_t i = 0; i < BLOCKS; i++) {
        frames[DEPTH - 1] = 0x9000 + i;
        ck_assert_int_eq(memtrace_stream_alloc_block(s.stream, i, i % 2 ? 5 : 5000, 1 + i % 5,
                                                     frames, DEPTH, i ? DEPTH - 1 : 0, &id),
                         MEMTRACE_OK);
    }
    ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    ck_assert_uint_lt(f.bytes.count, BLOCKS * MOST);
    fclose(s.expected.out);
    free(s.expected.text);
    fixture_free(&f);
}
END_TEST

/* ---- the end ---- */

static uint64_t duration_of(const fixture *f) {
    memtrace_reader *reader;
    memtrace_event event;
    ck_assert_int_eq(
        memtrace_reader_open_memory(f->bytes.items, f->bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    ck_assert_int_eq(memtrace_reader_error(reader)->status, MEMTRACE_OK);
    const uint64_t duration = memtrace_reader_duration(reader);
    memtrace_reader_close(reader);
    return duration;
}

/* A stream with or without events lasts until it is closed, and costs a packet more only where the
 * last one would span too much. An earlier time than the latest event's is none. */
START_TEST(a_stream_lasts_until_it_is_closed) {
    static const struct {
        bool event, flushed;
        uint64_t end, duration;
        size_t packets; /* with the head */
    } cases[] = {
        {true, false, 5, 1000, 2},
        {true, false, 1000 + FORMAT_MAX_PACKET_TIME, 1000 + FORMAT_MAX_PACKET_TIME, 2},
        {true, false, 1001 + FORMAT_MAX_PACKET_TIME, 1001 + FORMAT_MAX_PACKET_TIME, 3},
        {true, true, 1000, 1000, 2},
        {true, true, 1001, 1001, 3},
        {true, false, UINT64_C(1) << 40, UINT64_C(1) << 40, 3},
        {false, false, 7000, 7000, 2},
        {false, false, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = {0};
        source_of_events s;
        begin(&f, &s, (uint16_t)_i);
        if (cases[i].event)
            alloc_at(&s, 1000, NULL, 0);
        if (cases[i].flushed)
            ck_assert_int_eq(memtrace_stream_flush(s.stream), MEMTRACE_OK);
        ck_assert_int_eq(memtrace_stream_close_at(s.stream, cases[i].end), MEMTRACE_OK);
        ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
        ck_assert_uint_eq(f.packets.count, cases[i].packets);
        ck_assert_uint_eq(duration_of(&f), cases[i].duration);
        assert_decodes_to(&f, &s.expected);
        fixture_free(&f);
    }
}
END_TEST

/* ---- failures ---- */

static memtrace_status alloc_one(memtrace_stream *s, uint64_t i, uint64_t *id) {
    uint64_t frames[30];
    fill(frames, 30, i * 17);
    return memtrace_stream_alloc(s, i, MEMTRACE_EXTERNAL, i, 1, frames, 30, 0, id);
}

/* Allocates until something fails; then everything must go on failing. Expects what succeeded. */
static memtrace_status write_until_failure(fixture *f, memtrace_stream *s, expectation *e) {
    uint64_t id = 0, frames[30];
    memtrace_status status = MEMTRACE_OK;
    for (uint64_t i = 0; i < 3000; i++) {
        const memtrace_status now = alloc_one(s, i, &id);
        fill(frames, 30, i * 17);
        if (status != MEMTRACE_OK)
            ck_assert_int_eq(now, status);
        else if (now == MEMTRACE_OK)
            expect_alloc(e, f, i, id, MEMTRACE_EXTERNAL, i, 1, 0, frames, 30);
        status = now;
    }
    if (status != MEMTRACE_OK) {
        ck_assert_int_eq(memtrace_stream_collect(s, 0, 0), status);
        ck_assert_int_eq(memtrace_stream_promote(s, 0, 0), status);
        ck_assert_int_eq(memtrace_stream_flush(s), status);
    }
    return status;
}

/* Writes a trace while something fails. `*got` is what the file says then, `*want` what was
 * written successfully. False if not even the head could be written. */
static bool write_with_failures(fixture *f, memtrace_status failure, char **got, char **want) {
    const memtrace_status opened = fixture_open(f, 3);
    if (opened != MEMTRACE_OK) {
        ck_assert_int_eq(opened, failure);
        ck_assert_ptr_null(f->writer);
        return false;
    }
    expectation e;
    expectation_open(&e);
    memtrace_stream *s;
    memtrace_status status = memtrace_stream_open(f->writer, 0, &s);
    if (status == MEMTRACE_OK) {
        const size_t before = f->packets.count;
        status = write_until_failure(f, s, &e);
        if (status == MEMTRACE_IO)
            ck_assert_uint_ge(f->packets.count, before);
        const memtrace_status closed = memtrace_stream_close(s);
        if (status != MEMTRACE_OK)
            ck_assert_int_eq(closed, status);
        status = closed;
    }
    ck_assert(status == failure || status == MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f->writer),
                     status == MEMTRACE_IO ? MEMTRACE_IO : MEMTRACE_OK);
    fclose(e.out);
    vec_free(&e.previous);
    *want = e.text;
    *got = decode_bytes(f->bytes.items, f->bytes.count, "--changed");
    return true;
}

START_TEST(a_failing_sink_leaves_whole_packets) {
    fixture f = {.hooks.locate = fixture_locate, .fail_sink_at = _i};
    char *got, *want;
    if (write_with_failures(&f, MEMTRACE_IO, &got, &want)) {
        ck_assert_uint_eq(f.packets.count, (size_t)_i - 1); /* nothing follows a failure */
        ck_assert(strncmp(got, want, strlen(got)) == 0);
        free(got);
        free(want);
    } else {
        ck_assert_int_eq(_i, 1);
    }
    fixture_free(&f);
}
END_TEST

START_TEST(failing_memory_loses_nothing_that_was_accepted) {
    fixture f = {.hooks.locate = fixture_locate, .fail_memory_at = _i};
    char *got, *want;
    if (write_with_failures(&f, MEMTRACE_NOMEM, &got, &want)) {
        assert_same_text(got, want);
        free(got);
        free(want);
    } else {
        ck_assert_int_le(_i, 2);
    }
    fixture_free(&f);
}
END_TEST

/* The context is the number of calls that succeed before. */
static int full_sink(void *context, const void *packets, size_t size) {
    (void)packets;
    (void)size;
    int *left = context;
    return (*left)-- > 0 ? 0 : ENOSPC;
}

static int full_sink_spread(void *context, const void *bytes, size_t size, size_t hole,
                            size_t times) {
    (void)hole;
    (void)times;
    return full_sink(context, bytes, size);
}

START_TEST(a_sink_that_fails_at_the_head_says_why) {
    int left = _i;
    const memtrace_writer_options hooks = {
        .sink = full_sink, .sink_spread = full_sink_spread, .room = 100, .context = &left};
    const memtrace_info info = {.sample_rate = 1};
    memtrace_writer *none;
    memtrace_error error;
    ck_assert_int_eq(memtrace_writer_open(&info, &hooks, &none, &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, ENOSPC);
    ck_assert_str_eq(error.reason, "the head of the trace cannot be written");
}
END_TEST

START_TEST(wrong_use_is_refused_and_does_no_harm) {
    fixture f = {0};
    memtrace_writer *none;
    memtrace_error error;
    memtrace_info info = {.sample_rate = 0};
    ck_assert_int_eq(memtrace_writer_open(&info, &f.hooks, &none, &error), MEMTRACE_USAGE);
    ck_assert_str_eq(error.reason, "a writer needs a sink");
    f.hooks.sink = fixture_sink;
    ck_assert_int_eq(memtrace_writer_open(&info, &f.hooks, &none, &error), MEMTRACE_USAGE);
    ck_assert_ptr_nonnull(strstr(error.reason, "rate"));
    info = (memtrace_info){.sample_rate = 1, .version = 1};
    ck_assert_int_eq(memtrace_writer_open(&info, &f.hooks, &none, &error), MEMTRACE_USAGE);
    ck_assert_ptr_nonnull(strstr(error.reason, "version"));
    info = (memtrace_info){.sample_rate = 1, .word_size = sizeof(void *)};
    ck_assert_int_eq(memtrace_writer_open(&info, &f.hooks, &none, &error), MEMTRACE_USAGE);
    ck_assert_str_eq(error.reason, "words have 32 or 64 bits");

    source_of_events s;
    begin(&f, &s, 2);
    memtrace_stream *other;
    ck_assert_int_eq(memtrace_stream_open(f.writer, 1, &other), MEMTRACE_USAGE);
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &other), MEMTRACE_USAGE);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_USAGE); /* a stream is open */
    const uint64_t frames[] = {1, 2, 3};
    uint64_t id;
    alloc_at(&s, 1, frames, 2);
    ck_assert_int_eq(memtrace_stream_alloc(s.stream, 1, MEMTRACE_MINOR, 1, 1, frames, 3, 3, &id),
                     MEMTRACE_USAGE); /* the previous has only 2 frames */
    ck_assert_int_eq(memtrace_stream_alloc(s.stream, 1, (memtrace_source)3, 1, 1, NULL, 0, 0, &id),
                     MEMTRACE_USAGE);
    ck_assert_int_eq(memtrace_stream_alloc(s.stream, 1, MEMTRACE_MINOR, 4, 6, NULL, 0, 0, &id),
                     MEMTRACE_USAGE); /* 4 words and a header cannot have 6 samples */
    alloc_at(&s, 2, frames, 3);
    finish(&f, &s);
}
END_TEST

/* As much memory as there are sites, rather than some of each page. */
START_TEST(few_sites_use_few_buckets) {
    static const uint64_t n_sites[] = {50, 20000};
    static const unsigned bits[] = {CACHE_FIRST_BITS, CACHE_ALL_BITS};
    fixture f = {0};
    source_of_events s;
    begin(&f, &s, 3);
    uint64_t seed = 1;
    for (uint64_t i = 0; i < 40000; i++) {
        const uint64_t frames[] = {0x1000, 0x2000 + next_random(&seed) % n_sites[_i]};
        alloc_at(&s, i, frames, 2);
    }
    const writer_cache *cache = &s.stream->cache;
    ck_assert_uint_eq(64 - cache->shift, bits[_i]);
    ck_assert_int_le(__builtin_popcountll(cache->ready), (1 << bits[_i]) / CACHE_GROUP);
    finish(&f, &s);
}
END_TEST

START_TEST(a_stream_takes_less_than_400_KB) {
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events s;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    const size_t before = f.memory_in_use;
    open_events(&s, &f, 9);
    random_walk(&s, 1, 100, 20);
    ck_assert_uint_lt(f.memory_in_use - before, 400000);
    finish(&f, &s);
}
END_TEST

/* ---- threads ---- */

typedef struct worker {
    source_of_events events;
    pthread_t thread;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    random_walk(&w->events, w->events.domain, 3000, 500);
    ck_assert_int_eq(memtrace_stream_close(w->events.stream), MEMTRACE_OK);
    fclose(w->events.expected.out);
    return NULL;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Cuts a text into its lines, sorted. */
static char **sorted_lines(char *text, size_t *n) {
    VEC(char *) lines = {0};
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;) {
        const bool room = vec_push(&lines, line);
        ck_assert(room);
    }
    qsort(lines.items, lines.count, sizeof *lines.items, by_text);
    *n = lines.count;
    return lines.items;
}

static char *join(worker *workers, size_t n) {
    char *all;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    for (size_t i = 0; i < n; i++) {
        fputs(workers[i].events.expected.text, out);
        free(workers[i].events.expected.text);
        vec_free(&workers[i].events.expected.previous);
    }
    fclose(out);
    return all;
}

START_TEST(streams_run_in_parallel) {
    enum { N = 4 };
    fixture f = {.hooks.locate = fixture_locate};
    worker workers[N];
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    for (uint16_t i = 0; i < N; i++)
        open_events(&workers[i].events, &f, (uint16_t)(i * 21845)); /* to the last domain */
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (size_t i = 0; i < N; i++)
        pthread_join(workers[i].thread, NULL);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);

    char *want = join(workers, N);
    char *got = decode_bytes(f.bytes.items, f.bytes.count, "--changed");
    size_t n_want, n_got;
    char **want_lines = sorted_lines(want, &n_want), **got_lines = sorted_lines(got, &n_got);
    ck_assert_uint_eq(n_got, n_want);
    for (size_t i = 0; i < n_got; i++)
        assert_same_text(got_lines[i], want_lines[i]);
    free(want_lines);
    free(got_lines);
    free(want);
    free(got);
    fixture_free(&f);
}
END_TEST

static Suite *writer_suite(void) {
    Suite *s = suite_create("writer");
    TCase *t = tcase_create("writer");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, every_width_of_length_and_samples, 2, 4);
    tcase_add_test(t, every_width_of_a_delta_both_signs);
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
    tcase_add_loop_test(t, every_block_is_read_as_it_was_written, 0, 4);
    tcase_add_test(t, a_large_block_shares_its_stack);
    tcase_add_loop_test(t, a_stream_lasts_until_it_is_closed, 2, 4);
    tcase_add_loop_test(t, random_traces_decode_to_what_was_written, 0, 8);
    tcase_add_loop_test(t, a_failing_sink_leaves_whole_packets, 1, 12);
    tcase_add_loop_test(t, a_sink_that_fails_at_the_head_says_why, 0, 4);
    tcase_add_loop_test(t, failing_memory_loses_nothing_that_was_accepted, 1, 12);
    tcase_add_test(t, wrong_use_is_refused_and_does_no_harm);
    tcase_add_loop_test(t, few_sites_use_few_buckets, 0, 2);
    tcase_add_test(t, a_stream_takes_less_than_400_KB);
    tcase_add_test(t, streams_run_in_parallel);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(writer_suite)
