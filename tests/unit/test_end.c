/* Tests of how a trace says that its recording ended, and of what follows from it. */
#include <fcntl.h>
#include <sys/stat.h>

#include "trace/end.h"
#include "trace/excerpt.h"
#include "trace/format.h"
#include "trace/relabel.h"
#include "trace/rewrite.h"
#include "trace/room.h"
#include "trace_fixture.h"
#include "trace_text.h"

static char path[] = "/tmp/allotrace-end-XXXXXX";

static void make_file(void) {
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void) {
    unlink(path);
}

static int open_path_to_write(void) {
    const int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static int amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    fixture *f = context;
    ck_assert_uint_le(offset + size, f->bytes.count);
    memcpy(f->bytes.items + offset, bytes, size);
    return 0;
}

static int amend_nothing(void *context, uint64_t offset, const void *bytes, size_t size) {
    (void)context, (void)offset, (void)bytes, (void)size;
    return ESPIPE;
}

enum { N_BLOCKS = 20000, LATEST = 3 * N_BLOCKS };

static void start(fixture *f, uint16_t version) {
    f->hooks.locate = fixture_locate;
    ck_assert_int_eq(fixture_open(f, version), MEMTRACE_OK);
}

/* Blocks at every third microsecond; what the last one of these calls said. */
static memtrace_status add_blocks(memtrace_stream *s, uint64_t first) {
    memtrace_status status = MEMTRACE_OK;
    for (uint64_t i = 0, id; i < N_BLOCKS && status == MEMTRACE_OK; i++) {
        const uint64_t stack[] = {0x1000, 0x2000 + i % 50};
        status =
            memtrace_stream_alloc(s, first + 3 * i, MEMTRACE_EXTERNAL, 10, 1, stack, 2, 0, &id);
    }
    return status;
}

/* A whole trace, or one whose sink fails at the Nth call. */
static void make_trace(fixture *f, uint16_t version) {
    memtrace_stream *s;
    start(f, version);
    ck_assert_int_eq(memtrace_stream_open(f->writer, 0, &s), MEMTRACE_OK);
    const memtrace_status added = add_blocks(s, 0), closed = memtrace_stream_close_at(s, LATEST);
    const memtrace_status ended = memtrace_writer_close(f->writer);
    ck_assert_int_eq(added == MEMTRACE_OK && closed == MEMTRACE_OK && ended == MEMTRACE_OK,
                     f->fail_sink_at == 0);
}

static bool has_defect(const memtrace_reader *reader, memtrace_defect defect) {
    size_t n;
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    for (size_t i = 0; i < n; i++)
        if (w[i].defect == defect)
            return true;
    return false;
}

/* Reads to the end; the reader stays open. */
static memtrace_end read_end(memtrace_reader *reader) {
    memtrace_event event;
    memtrace_status status;
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        ;
    ck_assert_int_eq(status, MEMTRACE_END);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    return memtrace_reader_end(reader);
}

static memtrace_end end_of_bytes(const void *bytes, size_t size, size_t *n_warnings) {
    memtrace_reader *reader = open_bytes(bytes, size);
    const memtrace_end end = read_end(reader);
    memtrace_reader_warnings(reader, n_warnings);
    ck_assert_int_eq(has_defect(reader, MEMTRACE_DEFECT_NO_END), end.how == MEMTRACE_END_OPEN);
    memtrace_reader_close(reader);
    return end;
}

static memtrace_end end_of_file(void) {
    memtrace_reader *reader;
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    const memtrace_end end = read_end(reader);
    memtrace_reader_close(reader);
    return end;
}

/* ---- writing and reading ---- */

START_TEST(a_writer_that_is_closed_says_that_the_trace_is_whole) {
    size_t n;
    fixture f = {.hooks.amend = amend};
    make_trace(&f, (uint16_t)_i);
    const memtrace_end end = end_of_bytes(f.bytes.items, f.bytes.count, &n);
    ck_assert_int_eq(end.how, MEMTRACE_END_WHOLE);
    ck_assert_uint_eq(end.time, LATEST);
    ck_assert_uint_eq(n, 0);
    fixture_free(&f);
}
END_TEST

START_TEST(a_writer_that_is_not_closed_has_said_that_the_end_is_open) {
    size_t n;
    memtrace_stream *s;
    fixture f = {.hooks.amend = amend};
    start(&f, 3);
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    ck_assert_int_eq(add_blocks(s, 0), MEMTRACE_OK);
    const memtrace_end end = end_of_bytes(f.bytes.items, f.bytes.count, &n);
    ck_assert_int_eq(end.how, MEMTRACE_END_OPEN);
    ck_assert_uint_gt(end.time, 0);
    ck_assert_uint_lt(end.time, LATEST);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    fixture_free(&f);
}
END_TEST

/* The Nth call of the sink fails: all later events are missing, none before. */
START_TEST(a_sink_that_fails_leaves_word_when_and_why) {
    size_t n;
    memtrace_event event;
    fixture f = {.hooks.amend = amend, .fail_sink_at = _i};
    make_trace(&f, 3);
    const memtrace_end end = end_of_bytes(f.bytes.items, f.bytes.count, &n);
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_int_eq(end.os_error, ENOSPC);
    ck_assert_uint_eq(n, 1);
    memtrace_reader *reader = open_bytes(f.bytes.items, f.bytes.count);
    uint64_t next = 0;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        if (event.kind == MEMTRACE_ALLOC) {
            ck_assert_uint_eq(event.time, next);
            next += 3;
        }
    ck_assert_uint_eq(end.time, next);
    memtrace_reader_close(reader);
    fixture_free(&f);
}
END_TEST

START_TEST(a_writer_that_cannot_amend_says_nothing) {
    size_t n;
    fixture f = {0};
    make_trace(&f, 3);
    ck_assert_int_eq(end_of_bytes(f.bytes.items, f.bytes.count, &n).how, MEMTRACE_END_UNSAID);
    ck_assert_uint_eq(n, 0);
    fixture_free(&f);
}
END_TEST

START_TEST(in_a_pipe_the_end_is_said_at_the_end) {
    size_t n;
    fixture f = {.hooks.amend = amend_nothing};
    make_trace(&f, 3);
    ck_assert_int_eq(end_of_bytes(f.bytes.items, f.bytes.count, &n).how, MEMTRACE_END_WHOLE);
    ck_assert_int_eq(end_of_bytes(f.bytes.items, f.bytes.count - END_PACKET, &n).how,
                     MEMTRACE_END_OPEN);
    fixture_free(&f);
}
END_TEST

START_TEST(a_whole_trace_that_was_cut_short_ends_early) {
    size_t n;
    fixture f = {.hooks.amend = _i ? amend : NULL};
    make_trace(&f, 3);
    const memtrace_end end = end_of_bytes(f.bytes.items, f.bytes.count / 2, &n);
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_uint_lt(end.time, LATEST);
    ck_assert_uint_eq(n, 1); /* that it is cut, and not that once more */
    fixture_free(&f);
}
END_TEST

/* One domain's last packet is missing: what others did after that is not all. */
START_TEST(of_several_domains_the_first_to_fall_silent_counts) {
    size_t n;
    memtrace_stream *s[2];
    fixture f = {.hooks.amend = amend};
    start(&f, 3);
    for (uint16_t i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_open(f.writer, i, &s[i]), MEMTRACE_OK);
    uint64_t id;
    const uint64_t stack[] = {1};
    ck_assert_int_eq(memtrace_stream_alloc(s[1], 70, MEMTRACE_EXTERNAL, 1, 1, stack, 1, 0, &id),
                     MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_flush(s[1]), MEMTRACE_OK);
    ck_assert_int_eq(add_blocks(s[0], 0), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_flush(s[0]), MEMTRACE_OK);
    ck_assert_uint_eq(end_of_bytes(f.bytes.items, f.bytes.count, &n).time, 70);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_close(s[i]), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    fixture_free(&f);
}
END_TEST

/* Who has read the statement already, while the program ran, still gets to know the end. */
START_TEST(an_end_that_is_said_while_the_trace_is_read_counts) {
    memtrace_reader *reader;
    memtrace_event event;
    uint8_t open_end[END_PACKET], packet[END_PACKET];
    fixture f = {.hooks.amend = amend};
    make_trace(&f, 3);
    const memtrace_end to_come = {.how = MEMTRACE_END_OPEN};
    end_put(open_end, &(end_trace){3, START_TIME, 4711}, &to_come);
    size_t at = 0;
    while (f.bytes.items[at + FORMAT_AT_PID] || f.bytes.items[at + FORMAT_AT_PID + 1])
        at += (size_t)(f.bytes.items[at + FORMAT_AT_SIZE] | f.bytes.items[at + 5] << 8) / 8;
    memcpy(packet, f.bytes.items + at, sizeof packet);
    memcpy(f.bytes.items + at, open_end, sizeof open_end);
    write_file(path, f.bytes.items, f.bytes.count);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_reader_end(reader).how, MEMTRACE_END_OPEN);
    memcpy(f.bytes.items + at, packet, sizeof packet);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, packet, sizeof packet, (off_t)at), sizeof packet);
    close(fd);
    ck_assert_int_eq(read_end(reader).how, MEMTRACE_END_WHOLE);
    memtrace_reader_close(reader);
    fixture_free(&f);
}
END_TEST

START_TEST(strict_reading_fails_at_a_trace_that_ends_early) {
    fixture f = {.hooks.amend = amend, .fail_sink_at = 5};
    memtrace_event event;
    memtrace_reader *reader;
    memtrace_status status;
    make_trace(&f, 3);
    ck_assert_int_eq(memtrace_reader_open_memory(f.bytes.items, f.bytes.count,
                                                 &(memtrace_reader_options){.strict = true},
                                                 &reader, NULL),
                     MEMTRACE_OK);
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        ;
    ck_assert_int_eq(status, MEMTRACE_FORMAT);
    ck_assert_ptr_nonnull(strstr(memtrace_reader_error(reader)->reason, "No space left"));
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_FORMAT);
    memtrace_reader_close(reader);
    fixture_free(&f);
}
END_TEST

START_TEST(what_is_said_is_read_as_it_was) {
    uint8_t packet[END_PACKET];
    char reason[2 * MEMTRACE_MAX_REASON];
    memset(reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    memtrace_end said = end_make(MEMTRACE_END_EARLY, 1234567890123, 28, reason), read;
    said.n_lost = UINT64_C(0x123456789ABCDEF0);
    for (unsigned version = 1; version <= FORMAT_MAX_VERSION; version++) {
        const end_trace of = {version, START_TIME, version == 3 ? 0 : 4711};
        end_put(packet, &of, &said);
        ck_assert(end_parse(packet, sizeof packet, &of, &read));
        ck_assert_int_eq(read.how, said.how);
        ck_assert_uint_eq(read.time, said.time);
        ck_assert_uint_eq(read.n_lost, said.n_lost);
        ck_assert_int_eq(read.os_error, 28);
        ck_assert_uint_eq(strlen(read.reason), MEMTRACE_MAX_REASON - 1);
        ck_assert(!end_parse(packet, sizeof packet - 1, &of, &read));
    }
}
END_TEST

START_TEST(a_gap_is_read_as_it_was) {
    uint8_t packet[END_PACKET];
    memtrace_end end;
    memtrace_gap said = {1234567890123, 1234567890456, UINT64_MAX, UINT64_MAX}, read;
    for (unsigned version = 1; version <= FORMAT_MAX_VERSION; version++) {
        const end_trace of = {version, START_TIME, version == 3 ? 0 : 4711};
        end_put_gap(packet, &of, &said);
        ck_assert(end_parse_gap(packet, sizeof packet, &of, &read));
        ck_assert_mem_eq(&read, &said, sizeof read);
        ck_assert(!end_parse_gap(packet, sizeof packet - 1, &of, &read));
        ck_assert(!end_parse(packet, sizeof packet, &of, &end));
        said.of = 0;
    }
}
END_TEST

/* Its bytes may come one part after the other, and then move. */
START_TEST(a_statement_is_read_wherever_it_stands) {
    enum { PIECE = 1 << 16, STEP = 16, N_FILLERS = 4 };
    static uint8_t bytes[PIECE + END_PACKET];
    char reason[MEMTRACE_MAX_REASON] = "";
    fixture f = {.hooks.amend = amend_nothing};
    start(&f, ROOM_VERSION);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    memset(reason, 'x', sizeof reason - 1);
    const end_trace of = {ROOM_VERSION, START_TIME, 4711};
    const memtrace_end said = end_make(MEMTRACE_END_WHOLE, LATEST, 0, reason);
    const size_t size = f.bytes.count - END_PACKET;
    memcpy(bytes, f.bytes.items, size);
    for (size_t before = STEP; before < END_PACKET; before += STEP) {
        const size_t at = PIECE - before, each = (at - size) / N_FILLERS;
        for (size_t i = 0; i < N_FILLERS; i++)
            room_put_filler(bytes + size + i * each,
                            i + 1 < N_FILLERS ? each : at - size - i * each, START_TIME);
        end_put(bytes + at, &of, &said);
        const int fd = open_path_to_write();
        ck_assert_int_eq(write(fd, bytes, at + END_PACKET), (ssize_t)(at + END_PACKET));
        close(fd);
        const memtrace_end read = end_of_file();
        ck_assert_int_eq(read.how, MEMTRACE_END_WHOLE);
        ck_assert_str_eq(read.reason, reason);
    }
    fixture_free(&f);
}
END_TEST

/* Whatever byte is another one: it is read within bounds, or is no statement. */
START_TEST(a_damaged_statement_is_none_or_makes_sense) {
    uint8_t packet[END_PACKET];
    const memtrace_end said = end_make(MEMTRACE_END_WHOLE, 7, 0, "because");
    const end_trace of = {3, START_TIME, 4711};
    for (size_t i = 0; i < sizeof packet; i++)
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            memtrace_end read = {0};
            end_put(packet, &of, &said);
            packet[i] ^= (uint8_t)flip;
            if (!end_parse(packet, sizeof packet, &of, &read))
                continue;
            ck_assert_int_ge(read.how, MEMTRACE_END_OPEN);
            ck_assert_int_le(read.how, MEMTRACE_END_EARLY);
            ck_assert_uint_lt(strnlen(read.reason, sizeof read.reason), sizeof read.reason);
        }
}
END_TEST

/* ---- traces from traces ---- */

static memtrace_end end_of_part(const fixture *f, uint64_t from, uint64_t to) {
    excerpt e = {0};
    memtrace_reader *reader = open_bytes(f->bytes.items, f->bytes.count);
    ck_assert_int_eq(
        excerpt_plan(&e, reader, &(excerpt_options){.from = from, .to = to, .keep = 1}),
        MEMTRACE_OK);
    memtrace_reader_close(reader);
    reader = open_bytes(f->bytes.items, f->bytes.count);
    const int fd = open_path_to_write();
    const rewrite_options how = {.select = excerpt_select, .end = excerpt_end, .user = &e};
    ck_assert_int_eq(rewrite_trace(reader, &how, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    close(fd);
    memtrace_reader_close(reader);
    excerpt_free(&e);
    return end_of_file();
}

/* A trace that lacks what was between 5,000 and 6,000 us; of a part, what that one says. */
static size_t gaps_of_part(uint64_t from, uint64_t to, memtrace_gap *gap) {
    size_t n;
    memtrace_event event;
    memtrace_reader *reader;
    fixture f = {.hooks.amend = amend};
    const end_trace of = {3, START_TIME, 4711};
    const memtrace_gap missing = {5000, 6000, 77, 7700};
    uint8_t packet[END_PACKET];
    make_trace(&f, 3);
    end_put_gap(packet, &of, &missing);
    ck_assert(vec_reserve(&f.bytes, sizeof packet));
    memcpy(f.bytes.items + f.bytes.count, packet, sizeof packet);
    f.bytes.count += sizeof packet;
    ck_assert_int_eq(end_of_part(&f, from, to).how, MEMTRACE_END_WHOLE);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    *gap = n > 0 ? *gaps : (memtrace_gap){0};
    ck_assert_int_eq(has_defect(reader, MEMTRACE_DEFECT_GAP), n > 0);
    memtrace_reader_close(reader);
    fixture_free(&f);
    return n;
}

START_TEST(a_part_lacks_what_is_missing_in_it) {
    memtrace_gap gap;
    ck_assert_uint_eq(gaps_of_part(0, EXCERPT_END, &gap), 1);
    ck_assert_uint_eq(gap.from, 5000);
    ck_assert_uint_eq(gap.to, 6000);
    ck_assert_uint_eq(gap.bytes, 77);
    ck_assert_uint_eq(gap.of, 7700);
    ck_assert_uint_eq(gaps_of_part(4000, 5500, &gap), 1);
    ck_assert_uint_eq(gap.from, 1000);
    ck_assert_uint_eq(gap.to, 1500);
    ck_assert_uint_eq(gaps_of_part(1000, 4000, &gap), 0);
    ck_assert_uint_eq(gaps_of_part(7000, 9000, &gap), 1); /* blocks may have been freed there */
    ck_assert_uint_eq(gap.to, 0);
}
END_TEST

START_TEST(a_part_ends_early_if_its_time_does) {
    size_t n;
    fixture f = {.hooks.amend = amend, .fail_sink_at = 5};
    make_trace(&f, (uint16_t)_i);
    const uint64_t time = end_of_bytes(f.bytes.items, f.bytes.count, &n).time;
    ck_assert_uint_gt(time, 1000);
    memtrace_end end = end_of_part(&f, 0, EXCERPT_END);
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_uint_eq(end.time, time);
    ck_assert_int_eq(end.os_error, ENOSPC);
    end = end_of_part(&f, 900, EXCERPT_END);
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_uint_eq(end.time, time - 900);
    end = end_of_part(&f, 100, 900);
    ck_assert_int_eq(end.how, MEMTRACE_END_WHOLE);
    end = end_of_part(&f, time + 5, EXCERPT_END);
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_uint_eq(end.time, 0);
    fixture_free(&f);
}
END_TEST

/* A trace without names has no process: the statement is then one of somebody else's. */
START_TEST(a_trace_of_nobody_keeps_its_end) {
    fixture f = {.hooks.amend = amend, .fail_sink_at = 5};
    make_trace(&f, 3);
    memtrace_reader *reader = open_bytes(f.bytes.items, f.bytes.count);
    const int fd = open_path_to_write();
    memtrace_info info = *memtrace_reader_info(reader);
    const rewrite_input input = {.reader = reader};
    info.pid = 0;
    ck_assert_int_eq(rewrite_traces(&info, &input, 1, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    close(fd);
    memtrace_reader_close(reader);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    ck_assert_int_eq(read_end(reader).how, MEMTRACE_END_EARLY);
    ck_assert(has_defect(reader, MEMTRACE_DEFECT_ENDS_EARLY));
    ck_assert(!has_defect(reader, MEMTRACE_DEFECT_FOREIGN_PID));
    ck_assert(!has_defect(reader, MEMTRACE_DEFECT_BAD_EVENT));
    memtrace_reader_close(reader);
    fixture_free(&f);
}
END_TEST

static memtrace_end end_of_two(const fixture *a, const fixture *b) {
    memtrace_reader *first = open_bytes(a->bytes.items, a->bytes.count),
                    *second = open_bytes(b->bytes.items, b->bytes.count);
    memtrace_info info = *memtrace_reader_info(first);
    const rewrite_input inputs[] = {{.reader = first},
                                    {.reader = second, .options = {.first_domain = 1}}};
    const int fd = open_path_to_write();
    info.version = 3;
    ck_assert_int_eq(rewrite_traces(&info, inputs, 2, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    close(fd);
    memtrace_reader_close(first);
    memtrace_reader_close(second);
    return end_of_file();
}

START_TEST(of_several_traces_the_one_that_ends_early_counts) {
    fixture whole = {.hooks.amend = amend}, early = {.hooks.amend = amend, .fail_sink_at = 5},
            unsaid = {0};
    make_trace(&whole, 3);
    make_trace(&early, 3);
    make_trace(&unsaid, 3);
    ck_assert_int_eq(end_of_two(&whole, &whole).how, MEMTRACE_END_WHOLE);
    ck_assert_int_eq(end_of_two(&whole, &early).how, MEMTRACE_END_EARLY);
    ck_assert_int_eq(end_of_two(&early, &whole).how, MEMTRACE_END_EARLY);
    ck_assert_int_eq(end_of_two(&unsaid, &early).how, MEMTRACE_END_EARLY);
    ck_assert_int_eq(end_of_two(&whole, &unsaid).how, MEMTRACE_END_UNSAID);
    fixture_free(&whole);
    fixture_free(&early);
    fixture_free(&unsaid);
}
END_TEST

static size_t same_names(void *user, uint64_t code, const memtrace_frame *frame,
                         memtrace_location *locations, size_t max) {
    (void)user, (void)code;
    return rewrite_frame_locations(frame, locations, max);
}

/* By a copy, and into the room that a trace has for names, which stands behind the statement. */
START_TEST(new_names_leave_the_end_as_it_is) {
    struct stat before, after;
    fixture f = {.hooks.amend = amend, .fail_sink_at = _i ? 9 : 5};
    relabel *r;
    if (_i) {
        f.hooks.sink_spread = fixture_sink_spread;
        f.hooks.room = 1;
    }
    make_trace(&f, 3);
    size_t n;
    const memtrace_end said = end_of_bytes(f.bytes.items, f.bytes.count, &n);
    write_file(path, f.bytes.items, f.bytes.count);
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert_int_eq(relabel_open(&r, path, NULL), MEMTRACE_OK);
    ck_assert_int_eq(relabel_end(r)->how, MEMTRACE_END_EARLY);
    ck_assert_int_eq(relabel_write(r, same_names, NULL, path, NULL), MEMTRACE_OK);
    relabel_close(r);
    ck_assert_int_eq(stat(path, &after), 0);
    const memtrace_end end = end_of_file();
    ck_assert_int_eq(end.how, MEMTRACE_END_EARLY);
    ck_assert_uint_eq(end.time, said.time);
    ck_assert_int_eq(end.os_error, ENOSPC);
    fixture_free(&f);
}
END_TEST

static Suite *end_suite(void) {
    Suite *suite = suite_create("end");
    TCase *c = tcase_create("end");
    tcase_add_unchecked_fixture(c, make_file, remove_file);
    tcase_add_loop_test(c, a_writer_that_is_closed_says_that_the_trace_is_whole, 2, 4);
    tcase_add_test(c, a_writer_that_is_not_closed_has_said_that_the_end_is_open);
    tcase_add_loop_test(c, a_sink_that_fails_leaves_word_when_and_why, 2, 8);
    tcase_add_test(c, a_writer_that_cannot_amend_says_nothing);
    tcase_add_test(c, in_a_pipe_the_end_is_said_at_the_end);
    tcase_add_loop_test(c, a_whole_trace_that_was_cut_short_ends_early, 0, 2);
    tcase_add_test(c, of_several_domains_the_first_to_fall_silent_counts);
    tcase_add_test(c, an_end_that_is_said_while_the_trace_is_read_counts);
    tcase_add_test(c, strict_reading_fails_at_a_trace_that_ends_early);
    tcase_add_test(c, what_is_said_is_read_as_it_was);
    tcase_add_test(c, a_statement_is_read_wherever_it_stands);
    tcase_add_test(c, a_damaged_statement_is_none_or_makes_sense);
    tcase_add_test(c, a_gap_is_read_as_it_was);
    tcase_add_test(c, a_part_lacks_what_is_missing_in_it);
    tcase_add_loop_test(c, a_part_ends_early_if_its_time_does, 2, 4);
    tcase_add_test(c, a_trace_of_nobody_keeps_its_end);
    tcase_add_test(c, of_several_traces_the_one_that_ends_early_counts);
    tcase_add_loop_test(c, new_names_leave_the_end_as_it_is, 0, 2);
    suite_add_tcase(suite, c);
    return suite;
}

UNIT_MAIN(end_suite)
