/* Tests of the trace reader on damaged traces: what is reported, and what is still read. */
#include <stdio.h>
#include <sys/resource.h>

#include "allotrace/memtrace.h"
#include "sanitized.h"
#include "trace_bytes.h"
#include "unit.h"

static trace_bytes t; /* one process a test: each starts with a zeroed one */
static memtrace_reader *reader;
static memtrace_event event;

static struct {
    unsigned n;
    memtrace_defect defect;
    uint64_t offset;
    char detail[200];
} last; /* what the observer saw */

static void observe(void *context, memtrace_defect defect, uint64_t offset, const char *detail) {
    ck_assert_ptr_eq(context, &last);
    last.n++;
    last.defect = defect;
    last.offset = offset;
    snprintf(last.detail, sizeof last.detail, "%s", detail);
}

static void begin(unsigned version) {
    t.version = version;
    trace_head(&t);
}

/* A packet of one allocation with a backtrace of one code, which is its bucket's number + 1000. */
static void small_packet(uint64_t time, unsigned bucket) {
    trace_packet(&t, &(packet_fields){.begin = time, .id_begin = time});
    trace_short_alloc(&t, time, 1, 0, 1);
    trace_miss(&t, bucket, bucket + 1000);
    trace_packet_end(&t);
}

static void open_with(bool strict) {
    memtrace_error error;
    const memtrace_reader_options options = {.strict = strict};
    memtrace_status status =
        memtrace_reader_open_memory(t.bytes, t.size, &options, &reader, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    memtrace_reader_on_defect(reader, observe, &last);
}

static void next_at(uint64_t time) {
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_OK);
    ck_assert_uint_eq(event.time, time);
}

/* The trace ends here, and `count` defects of one kind were met, the first at `offset`. In strict
 * reading that one is the error. */
static void ends_with(memtrace_defect defect, uint64_t count, uint64_t offset) {
    size_t n;
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(w->defect, defect);
    ck_assert_uint_eq(w->count, count);
    ck_assert_uint_eq(w->first_offset, offset);
    ck_assert_uint_eq(last.n, count);
    ck_assert_int_eq(last.defect, defect);
    memtrace_reader_close(reader);

    last.n = 0;
    open_with(true);
    memtrace_status status;
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        ;
    ck_assert_int_eq(status, MEMTRACE_FORMAT);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_FORMAT);
    ck_assert_uint_eq(memtrace_reader_error(reader)->offset, offset);
    ck_assert_uint_eq(last.n, 1);
    ck_assert_str_eq(memtrace_reader_error(reader)->reason, last.detail);
    memtrace_reader_close(reader);
}

static void frame_is(uint32_t i, uint64_t code) {
    ck_assert_uint_lt(i, event.n_frames);
    ck_assert_uint_eq(memtrace_reader_frame(reader, event.frames[i])->code, code);
}

/* So far the events of one part are missing. */
static void gap_is(uint64_t from, uint64_t to, uint64_t bytes) {
    size_t n;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(gaps->from, from);
    ck_assert_uint_eq(gaps->to, to);
    ck_assert_uint_eq(gaps->bytes, bytes);
}

/* ---- time -------------------------------------------------------------------------------- */

START_TEST(time_set_back_between_packets) {
    begin(2);
    small_packet(500, 1);
    size_t back = t.size + 66;
    small_packet(400, 2);
    small_packet(600, 3);
    open_with(false);
    next_at(500);
    next_at(500);
    next_at(600);
    ends_with(MEMTRACE_DEFECT_TIME_BACKWARDS, 1, back);
}
END_TEST

START_TEST(time_set_back_within_a_packet) {
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 1000});
    trace_fate(&t, FORMAT_COLLECT, 2000, 0);
    size_t back = t.size;
    trace_fate(&t, FORMAT_COLLECT, 900, 0); /* before the packet's begin: seems 33 s later */
    trace_fate(&t, FORMAT_COLLECT, 1500, 0);
    trace_fate(&t, FORMAT_COLLECT, 2100, 0);
    trace_packet_end(&t);
    open_with(false);
    next_at(2000);
    next_at(2000);
    next_at(2000);
    next_at(2100);
    ends_with(MEMTRACE_DEFECT_TIME_BACKWARDS, 2, back);
}
END_TEST

/* The writer closes the packet while the clock is still behind: its end is before its begin. */
START_TEST(a_packet_that_ends_before_it_begins) {
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 1000, .end = 900});
    trace_fate(&t, FORMAT_COLLECT, 1100, 0);
    size_t back = t.size;
    trace_fate(&t, FORMAT_COLLECT, 900, 0);
    trace_packet_end(&t);
    patch(&t, t.packet + FORMAT_AT_TIME_END, 8, TRACE_START + 900);
    small_packet(1200, 1);
    open_with(false);
    next_at(1100);
    next_at(1100);
    next_at(1200);
    ends_with(MEMTRACE_DEFECT_TIME_BACKWARDS, 1, back);
}
END_TEST

START_TEST(a_damaged_begin_does_not_stop_the_clock) {
    begin(2);
    small_packet(100, 1);
    size_t damaged = t.size;
    small_packet(200, 2);
    patch(&t, damaged + FORMAT_AT_TIME_BEGIN + 6, 1, 0x55);
    small_packet(300, 3);
    open_with(false);
    next_at(100);
    next_at(100);
    next_at(300);
    ends_with(MEMTRACE_DEFECT_TIME_BACKWARDS, 1, damaged + 66);
}
END_TEST

/* ---- packets ----------------------------------------------------------------------------- */

/* No end is believed of a packet that is another process's, cut short, has an event that makes no
 * sense, or whose header makes none. */
START_TEST(an_end_that_makes_no_sense_is_not_believed) {
    enum { LATER = 20000000 };
    static const packet_fields wrong[] = {
        {.begin = 600, .end = UINT64_C(1) << 50},
        {.begin = UINT64_C(1) << 50, .end = 900},
        {.begin = 600, .end = LATER, .pid = 5},
        {.begin = 600, .end = LATER, .id_begin = 7, .id_end = 6},
        {.begin = 600, .end = LATER}, /* with a bad event */
        {.begin = 600, .end = LATER}, /* cut short */
    };
    enum { N = sizeof wrong / sizeof *wrong };
    begin(3);
    small_packet(500, 1);
    trace_packet(&t, &wrong[_i]);
    if (_i == N - 2)
        trace_event(&t, 99, 600);
    t.end = t.begin;
    trace_packet_end(&t);
    if (_i == N - 1)
        patch(&t, t.packet + FORMAT_AT_SIZE, 4, 1000 * 8);
    open_with(false);
    next_at(500);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_uint_eq(memtrace_reader_duration(reader), 500);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_foreign_packet_is_skipped_whole) {
    begin(3);
    size_t foreign[2];
    for (int i = 0; i < 2; i++) {
        foreign[i] = t.size;
        trace_packet(&t, &(packet_fields){.begin = 99999999, .pid = 5});
        trace_location_event(&t, 1, 1);
        trace_location(&t, 1, 0, 0, 31, "theirs.ml", 31, "F");
        trace_short_alloc(&t, 99999999, 1, 0, 1);
        trace_miss(&t, 1, 5);
        trace_packet_end(&t);
        trace_packet(&t, &(packet_fields){.begin = 5, .id_begin = 1});
        trace_location_event(&t, 10 + i, 1);
        trace_location(&t, 1, 0, 0, i ? 0 : 31, i ? NULL : "ours.ml", i ? 0 : 31, i ? NULL : "F");
        trace_short_alloc(&t, 5, 1, 0, 1);
        trace_miss(&t, 1, 10 + i);
        trace_packet_end(&t);
    }
    open_with(false);
    for (int i = 0; i < 2; i++) {
        next_at(5);
        frame_is(0, 10 + i);
        ck_assert(!event.suspect);
        const memtrace_frame *f = memtrace_reader_frame(reader, event.frames[0]);
        ck_assert_str_eq(f->locations[0].file, "ours.ml");
    }
    ends_with(MEMTRACE_DEFECT_FOREIGN_PID, 2, foreign[0]);
}
END_TEST

START_TEST(garbage_between_packets_is_searched_through) {
    begin(2);
    small_packet(100, 1);
    size_t garbage = t.size;
    put_string(&t, "\x01 some other process's output ");
    put(&t, 4, FORMAT_MAGIC); /* a magic number without a plausible header */
    put(&t, 8, 99);
    size_t n_garbage = t.size - garbage;
    small_packet(200, 2);
    trace_packet(&t, &(packet_fields){.begin = 300, .id_begin = 300});
    trace_short_alloc(&t, 300, 1, 0, 1);
    trace_hit(&t, 2, 0); /* filled since the loss: to be trusted */
    trace_short_alloc(&t, 301, 1, 0, 1);
    trace_hit(&t, 1, 0);
    trace_short_alloc(&t, 302, 1, 1, 1); /* its prefix is not */
    trace_hit(&t, 2, 0);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    next_at(200);
    ck_assert(!event.suspect);
    next_at(300);
    ck_assert(!event.suspect);
    next_at(301);
    ck_assert(event.suspect);
    frame_is(0, 1001);
    next_at(302);
    ck_assert(event.suspect);
    ck_assert_uint_eq(event.common_prefix, 1);
    char expected[100];
    snprintf(expected, sizeof expected,
             "no magic number where a packet should begin; %zu bytes"
             " skipped",
             n_garbage);
    ck_assert_str_eq(last.detail, expected);
    gap_is(100, 200, n_garbage);
    ends_with(MEMTRACE_DEFECT_NOT_A_PACKET, 1, garbage);
}
END_TEST

START_TEST(garbage_of_any_length_at_the_end) {
    begin(2);
    small_packet(100, 1);
    size_t garbage = t.size;
    for (int i = 0; i < _i; i++)
        put(&t, 1, 0x5A);
    open_with(false);
    next_at(100);
    ends_with(MEMTRACE_DEFECT_NOT_A_PACKET, 1, garbage);
}
END_TEST

/* A packet broken off, and another process's or a later packet directly behind it. */
START_TEST(a_packet_within_a_broken_one_is_found) {
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 100});
    trace_short_alloc(&t, 100, 1, 0, 1);
    trace_miss(&t, 1, 5);
    size_t broken = t.size, packet = t.packet;
    small_packet(200, 2);
    small_packet(300, 3);
    t.packet = packet;
    patch(&t, t.packet + FORMAT_AT_SIZE, 4, (t.size - packet - 20) * 8);
    open_with(false);
    next_at(100);
    next_at(200);
    next_at(300);
    ends_with(MEMTRACE_DEFECT_BAD_EVENT, 1, broken);
}
END_TEST

START_TEST(the_rest_of_a_packet_with_a_bad_event_is_skipped) {
    static const struct {
        unsigned kind;
        const char *why;
    } bad[] = {{5, "unknown kind"}, {100, "unknown kind"}, {117, "unknown kind"},
               {0, "unknown kind"}, {127, "unknown kind"}, {FORMAT_ALLOC, "more samples"}};
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 100, .end = 150});
    trace_fate(&t, FORMAT_COLLECT, 100, 0);
    size_t at = t.size;
    if (bad[_i].kind == FORMAT_ALLOC)
        trace_alloc(&t, 100, 4, 6, 0, 0, 0);
    else
        trace_event(&t, bad[_i].kind, 100);
    put(&t, 8, 0);
    const size_t n_lost = t.size - at;
    trace_packet_end(&t);
    small_packet(200, 2);
    open_with(false);
    next_at(100);
    next_at(200);
    ck_assert_ptr_nonnull(strstr(last.detail, bad[_i].why));
    gap_is(100, 150, n_lost);
    ends_with(MEMTRACE_DEFECT_BAD_EVENT, 1, at);
}
END_TEST

/* A packet that is spoilt at its end and the next one at its beginning. */
START_TEST(damage_across_packets_is_one_gap) {
    size_t n;
    begin(3);
    small_packet(100, 1);
    trace_packet(&t, &(packet_fields){.begin = 200, .end = 250});
    const size_t at = t.size;
    trace_event(&t, 5, 200);
    trace_packet_end(&t);
    const size_t front = t.size;
    small_packet(300, 2);
    memset(t.bytes + front, 0xAA, 8);
    const size_t n_lost = t.size - at;
    small_packet(400, 3);
    open_with(false);
    next_at(100);
    next_at(400);
    gap_is(100, 400, n_lost);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_uint_eq(memtrace_reader_gaps(reader, &n)->of, t.size);
    memtrace_reader_close(reader);
}
END_TEST

/* Packets are written when they are full: what is lost is not later than the end of the next one.
 */
START_TEST(damage_before_another_domain_lasts_until_its_packet_ends) {
    begin(3);
    small_packet(100, 1);
    const size_t at = t.size;
    put_string(&t, "rubbish");
    const size_t n_lost = t.size - at;
    trace_packet(&t, &(packet_fields){.begin = 90, .end = 150, .domain = 1, .id_begin = 200});
    trace_short_alloc(&t, 90, 1, 0, 1);
    trace_miss(&t, 5, 1005);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    next_at(90);
    gap_is(100, 150, n_lost);
    memtrace_reader_close(reader);
}
END_TEST

/* What was lost at the end lasted until the trace did. */
START_TEST(damage_at_the_end_lasts_until_the_end) {
    begin(3);
    small_packet(100, 1);
    const size_t at = t.size;
    put_string(&t, "rubbish");
    open_with(false);
    next_at(100);
    const size_t n_lost = t.size - at;
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    gap_is(100, 100, n_lost);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(an_event_beyond_its_packet_is_bad) {
    begin(3);
    trace_packet(&t, &(packet_fields){.begin = 100});
    trace_fate(&t, FORMAT_COLLECT, 100, 0);
    size_t at = t.size;
    switch (_i) {
    case 0:
        put(&t, 3, 0);
        break;
    case 1:
        trace_short_alloc(&t, 100, 1, 0, 200);
        break;
    case 2:
        trace_short_alloc(&t, 100, 1, 0, 1);
        put(&t, 2, FORMAT_TAG_MISS);
        break;
    case 3:
        trace_location_event(&t, 7, 255);
        break;
    case 4:
        trace_location_event(&t, 7, 1);
        put(&t, 6, ~UINT64_C(0));
        put(&t, 4, 0x41414141); /* a name without an end */
        break;
    }
    trace_packet_end(&t);
    small_packet(200, 2);
    open_with(false);
    next_at(100);
    next_at(200);
    ends_with(MEMTRACE_DEFECT_BAD_EVENT, 1, at);
}
END_TEST

/* Each event before the cut is used, wherever the cut is. */
START_TEST(a_cut_trace_gives_each_whole_event) {
    size_t ends[10];
    begin((unsigned)_i);
    trace_packet(&t, &(packet_fields){.begin = 100});
    size_t first = t.size, packet = t.packet;
    for (int i = 0; i < 10; i++) {
        trace_short_alloc(&t, 100, 1, 0, 2);
        trace_miss(&t, i, 500);
        trace_hit(&t, i, 2);
        ends[i] = t.size;
    }
    trace_packet_end(&t);
    size_t whole = t.size;
    for (size_t cut = packet + 1; cut < whole; cut++) {
        t.size = cut;
        unsigned n = 0, expected = 0;
        while (expected < 10 && ends[expected] <= cut)
            expected++;
        open_with(false);
        while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
            n++;
        ck_assert_uint_eq(n, expected);
        size_t n_warnings;
        const memtrace_warning *w = memtrace_reader_warnings(reader, &n_warnings);
        ck_assert_uint_eq(n_warnings, 1);
        ck_assert_int_eq(w->defect, MEMTRACE_DEFECT_CUT_SHORT);
        ck_assert_uint_eq(w->first_offset, cut < first ? packet : n ? ends[n - 1] : first);
        memtrace_reader_close(reader);
    }
}
END_TEST

START_TEST(damage_before_a_cut_is_both) {
    size_t n;
    begin(2);
    small_packet(100, 1);
    t.size -= 11; /* its codeword is missing, and an event of unknown kind stands there */
    t.bytes[t.packet + 66 + 3] = 50 << 1;
    open_with(false);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    ck_assert_uint_ge(n, 1);
    ck_assert_int_eq(w->defect, MEMTRACE_DEFECT_BAD_EVENT);
    memtrace_reader_close(reader);
}
END_TEST

/* ---- what was lost ----------------------------------------------------------------------- */

START_TEST(a_name_never_given_is_a_question_mark) {
    begin(2);
    small_packet(50, 1);
    trace_packet(&t, &(packet_fields){.begin = 100});
    trace_location_event(&t, 1, 1);
    trace_location(&t, 1, 0, 0, 31, "a.ml", 31, "A.f");
    size_t at = t.size;
    trace_location_event(&t, 2, 2);
    trace_location(&t, 2, 0, 0, 8, NULL, 31, "A.f");
    trace_location(&t, 3, 0, 0, 1, NULL, 4, NULL);
    trace_short_alloc(&t, 100, 1, 0, 1);
    trace_miss(&t, 2, 2);
    trace_packet_end(&t);
    open_with(false);
    next_at(50);
    next_at(100);
    const memtrace_frame *f = memtrace_reader_frame(reader, event.frames[0]);
    ck_assert_str_eq(f->locations[0].file, "?");
    ck_assert_str_eq(f->locations[0].function, "A.f");
    ck_assert_str_eq(f->locations[1].file, "a.ml");
    ck_assert_str_eq(f->locations[1].function, "?");
    ends_with(MEMTRACE_DEFECT_EMPTY_NAME, 1, at);
}
END_TEST

/* A name that stands for itself is certain, one that a code finds in a table is not: which name is
 * where depends on what was lost. */
START_TEST(names_from_before_a_loss_are_suspect) {
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 100});
    trace_location_event(&t, 1, 1);
    trace_location(&t, 1, 0, 0, 31, "a.ml", 31, "A.f");
    trace_short_alloc(&t, 100, 1, 0, 1);
    trace_miss(&t, 1, 1);
    trace_packet_end(&t);
    put(&t, 1, 0); /* no packet: something was lost */
    trace_packet(&t, &(packet_fields){.begin = 200, .id_begin = 200});
    trace_location_event(&t, 2, 1);
    trace_location(&t, 2, 0, 0, 31, "b.ml", 31, "B.f");
    trace_location_event(&t, 3, 1);
    trace_location(&t, 3, 0, 0, 0, NULL, 0, NULL);
    size_t first = t.size;
    trace_location_event(&t, 4, 1);
    trace_location(&t, 4, 0, 0, 1, NULL, 0, NULL);
    trace_location_event(&t, 5, 1);
    trace_location(&t, 5, 0, 0, 0, NULL, 31, "A.g");
    trace_location_event(&t, 6, 1);
    trace_location(&t, 6, 0, 0, 1, NULL, 0, NULL);
    trace_short_alloc(&t, 200, 1, 0, 6);
    for (unsigned code = 1; code <= 6; code++)
        trace_miss(&t, code, code);
    trace_location_event(&t, 4, 1);
    trace_location(&t, 4, 0, 0, 0, NULL, 31, "B.h");
    trace_short_alloc(&t, 201, 1, 6, 0);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    last.n = 0;
    next_at(200);
    static const bool suspect[] = {false, false, false, true, true, false};
    ck_assert_uint_eq(event.n_frames, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_msg(memtrace_reader_frame(reader, event.frames[i])->suspect == suspect[i],
                      "code %u", i + 1);
    next_at(201);
    const memtrace_frame *f = memtrace_reader_frame(reader, event.frames[3]);
    ck_assert(!f->suspect); /* it was named anew */
    ck_assert_str_eq(f->locations[0].file, "b.ml");
    ck_assert_str_eq(f->locations[0].function, "B.h");
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    size_t n;
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(w[1].defect, MEMTRACE_DEFECT_STALE_NAME);
    ck_assert_uint_eq(w[1].count, 2);
    ck_assert_uint_eq(w[1].first_offset, first);
    memtrace_reader_close(reader);
}
END_TEST

static void packet_of(uint64_t begin, uint16_t domain) {
    trace_packet(&t, &(packet_fields){.begin = begin, .domain = domain, .id_begin = begin});
}

/* A packet of another domain, so that the names of the one before it are put away. */
static void change_domain(uint64_t time) {
    if (t.version < 3)
        return;
    packet_of(time, 1);
    trace_location_event(&t, 999, 1);
    trace_location(&t, 1, 0, 0, FORMAT_NAMES, "other.ml", FORMAT_NAMES, "Other.f");
    trace_packet_end(&t);
}

/* A file that is announced takes over the definitions of the one that falls off the end. Of those
 * that were there before a loss each stays suspect, wherever it is moved; its own do not. */
START_TEST(definitions_from_before_a_loss_are_suspect_one_by_one) {
    static const struct {
        const char *file, *definition; /* announced; NULL: they have these codes */
        uint8_t file_code, code;
        bool suspect;
        const char *found;
    } places[] = {
        {"new.ml", NULL, 0, 0, true, "Old.c"}, /* c b a */
        {NULL, "New.a", 0, 0, false, "New.a"}, /* A c b a */
        {NULL, NULL, 0, 1, true, "Old.c"},     /* c A b a */
        {NULL, NULL, 0, 1, false, "New.a"},    /* A c b a */
        {NULL, "New.b", 0, 0, false, "New.b"}, /* B A c b a */
        {NULL, NULL, 0, 3, true, "Old.b"},     /* b B A c a */
        {NULL, NULL, 0, 2, false, "New.a"},    /* A b B c a */
        {NULL, NULL, 0, 4, true, "Old.a"},     /* a A b B c */
        {NULL, NULL, 0, 1, false, "New.a"},    /* A a b B c */
        {NULL, NULL, 0, 3, false, "New.b"},    /* B A a b c */
        {NULL, "Old.d", 5, 0, true, "Old.d"},  /* in a file from before */
        {"next.ml", "New.c", 0, 0, false, "New.c"},
    };
    enum { PLACES = sizeof places / sizeof *places };
    begin((unsigned)_i);
    packet_of(100, 0);
    for (unsigned i = 0; i < FORMAT_NAMES; i++) {
        char name[] = {(char)('A' + i), '\0'};
        trace_location_event(&t, 1000 + i, i == 0 ? 3 : 1);
        trace_location(&t, 1, 0, 0, FORMAT_NAMES, name, FORMAT_NAMES, i == 0 ? "Old.a" : "Old");
        for (unsigned j = 1; i == 0 && j < 3; j++)
            trace_location(&t, 1, 0, 0, 0, NULL, FORMAT_NAMES, j == 1 ? "Old.b" : "Old.c");
    }
    trace_packet_end(&t);
    put(&t, 1, 0); /* no packet: something was lost */
    for (unsigned i = 0; i < PLACES; i++) {
        change_domain(200 + 10 * i);
        packet_of(205 + 10 * i, 0);
        trace_location_event(&t, i, 1);
        trace_location(&t, 1, 0, 0, places[i].file ? FORMAT_NAMES : places[i].file_code,
                       places[i].file, places[i].definition ? FORMAT_NAMES : places[i].code,
                       places[i].definition);
        trace_short_alloc(&t, 205 + 10 * i, 1, 0, 1);
        trace_miss(&t, i, i);
        trace_packet_end(&t);
    }
    open_with(false);
    for (unsigned i = 0; i < PLACES; i++) {
        next_at(205 + 10 * i);
        const memtrace_frame *f = memtrace_reader_frame(reader, event.frames[0]);
        ck_assert_str_eq(f->locations[0].function, places[i].found);
        ck_assert_msg(f->suspect == places[i].suspect, "place %u", i);
    }
    ck_assert_int_eq(last.defect, MEMTRACE_DEFECT_STALE_NAME);
    memtrace_reader_close(reader);
}
END_TEST

/* ---- what costs memory ------------------------------------------------------------------- */

static void limit_memory(void) {
#ifndef SANITIZED /* these take terabytes of addresses */
    const struct rlimit limit = {.rlim_cur = 256 << 20, .rlim_max = 256 << 20};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

START_TEST(domains_of_few_events_are_small) {
    enum { DOMAINS = 1 << 16, EVENTS = 3 };
    begin(3);
    for (unsigned d = 0; d < DOMAINS; d++) {
        trace_packet(&t, &(packet_fields){.begin = 100, .domain = (uint16_t)d, .id_begin = d * 10});
        trace_location_event(&t, d, 1);
        trace_location(&t, d, 0, 0, 31, "a.ml", 31, "A.f");
        for (unsigned i = 0; i < EVENTS; i++) {
            trace_short_alloc(&t, 100 + i, 1, i, 1);
            trace_miss(&t, (d * 31 + i * 5413) % FORMAT_BUCKETS, d + i);
        }
        trace_packet_end(&t);
    }
    limit_memory();
    open_with(false);
    for (unsigned i = 0; i < DOMAINS * EVENTS; i++) {
        next_at(100 + i % EVENTS);
        ck_assert_uint_eq(event.domain, i / EVENTS);
        ck_assert_uint_eq(event.n_frames, i % EVENTS + 1);
        ck_assert_uint_eq(memtrace_reader_frame(reader, event.frames[i % EVENTS])->code,
                          i / EVENTS + i % EVENTS);
    }
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_failed_cache_check_makes_backtraces_suspect) {
    begin(3);
    small_packet(100, 1);
    size_t at = t.size;
    trace_packet(&t, &(packet_fields){.begin = 200, .verify = true, .bucket = 7, .code = 1007});
    trace_short_alloc(&t, 200, 1, 0, 1);
    trace_hit(&t, 1, 0);
    trace_short_alloc(&t, 201, 1, 0, 1);
    trace_miss(&t, 1, 1001);
    trace_short_alloc(&t, 202, 1, 0, 1);
    trace_hit(&t, 1, 0);
    trace_short_alloc(&t, 203, 1, 1, 1); /* the bucket is refilled, but not its prediction */
    trace_hit(&t, 1, 1);
    trace_short_alloc(&t, 204, 1, 1, 0);
    trace_packet_end(&t);
    /* The next check finds a bucket that is not trusted anyway, and sets it right. */
    trace_packet(&t, &(packet_fields){.begin = 300, .verify = true, .bucket = 7, .code = 1007});
    trace_short_alloc(&t, 300, 1, 0, 1);
    trace_hit(&t, 7, 0);
    trace_packet_end(&t);
    open_with(false);
    static const bool suspect[] = {true, false, false, true, false};
    next_at(100);
    for (uint64_t i = 0; i < 5; i++) {
        next_at(200 + i);
        ck_assert_msg(event.suspect == suspect[i], "event %d", (int)i);
        frame_is(0, 1001);
    }
    next_at(300);
    ck_assert(!event.suspect);
    frame_is(0, 1007);
    gap_is(100, 200, 0);
    ends_with(MEMTRACE_DEFECT_CACHE_MISMATCH, 1, at);
}
END_TEST

START_TEST(a_bucket_never_filled_betrays_a_loss) {
    begin(2);
    small_packet(100, 1);
    trace_packet(&t, &(packet_fields){.begin = 200});
    size_t at = t.size;
    trace_short_alloc(&t, 200, 1, 0, 2);
    trace_hit(&t, 1, 0);
    trace_hit(&t, 9, 0);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    next_at(200);
    ck_assert(event.suspect);
    frame_is(0, 1001);
    frame_is(1, 0);
    ends_with(MEMTRACE_DEFECT_CACHE_MISMATCH, 1, at);
}
END_TEST

/* Whatever happened in between, the common prefix is that with the last backtrace shown. */
START_TEST(common_prefix_is_true_after_damage) {
    begin(2);
    trace_packet(&t, &(packet_fields){.begin = 100});
    trace_short_alloc(&t, 100, 1, 0, 4);
    for (unsigned i = 1; i < 5; i++)
        trace_miss(&t, i, 1000 + i);
    size_t at = t.size;
    trace_short_alloc(&t, 100, 1, 1, 3); /* two frames are changed before it turns out bad */
    trace_hit(&t, 1, 0);
    trace_hit(&t, 2, 0);
    put(&t, 2, FORMAT_TAG_MISS);
    trace_packet_end(&t);
    trace_packet(&t, &(packet_fields){.begin = 200});
    trace_short_alloc(&t, 200, 1, 4, 1);
    trace_hit(&t, 4, 0);
    trace_short_alloc(&t, 201, 1, 0, 1);
    trace_miss(&t, 6, 6);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    ck_assert_uint_eq(event.n_frames, 4);
    uint32_t frames[4];
    memcpy(frames, event.frames, sizeof frames);
    next_at(200);
    ck_assert(event.suspect);
    ck_assert_uint_eq(event.common_prefix, 1);
    ck_assert_uint_ge(event.n_frames, 1);
    ck_assert_uint_eq(event.frames[0], frames[0]);
    next_at(201);
    ck_assert_uint_eq(event.n_frames, 1);
    ck_assert(!event.suspect);
    ends_with(MEMTRACE_DEFECT_BAD_EVENT, 1, at);
}
END_TEST

/* As many as it takes until the number of the loss, a byte, is what it was before the first. */
START_TEST(hundreds_of_losses_are_told_apart) {
    enum { LOSSES = 256 };
    begin(2);
    small_packet(100, 1);
    size_t first = t.size;
    for (uint64_t i = 0; i < LOSSES; i++) {
        put(&t, 1, 0);
        small_packet(101 + i, 2);
    }
    trace_packet(&t, &(packet_fields){.begin = 900, .id_begin = 900});
    trace_short_alloc(&t, 900, 1, 0, 1);
    trace_hit(&t, 2, 0);
    trace_short_alloc(&t, 901, 1, 0, 1);
    trace_hit(&t, 1, 0);
    trace_packet_end(&t);
    open_with(false);
    next_at(100);
    for (uint64_t i = 0; i < LOSSES; i++) {
        next_at(101 + i);
        ck_assert(!event.suspect);
    }
    next_at(900);
    ck_assert(!event.suspect);
    next_at(901);
    ck_assert(event.suspect);
    ends_with(MEMTRACE_DEFECT_NOT_A_PACKET, LOSSES, first);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("reader_damage");
    TCase *c = tcase_create("damage");
    tcase_add_test(c, time_set_back_between_packets);
    tcase_add_test(c, time_set_back_within_a_packet);
    tcase_add_test(c, a_packet_that_ends_before_it_begins);
    tcase_add_test(c, a_damaged_begin_does_not_stop_the_clock);
    tcase_add_loop_test(c, an_end_that_makes_no_sense_is_not_believed, 0, 6);
    tcase_add_test(c, a_foreign_packet_is_skipped_whole);
    tcase_add_test(c, garbage_between_packets_is_searched_through);
    tcase_add_loop_test(c, garbage_of_any_length_at_the_end, 1, 80);
    tcase_add_test(c, a_packet_within_a_broken_one_is_found);
    tcase_add_loop_test(c, the_rest_of_a_packet_with_a_bad_event_is_skipped, 0, 6);
    tcase_add_test(c, damage_across_packets_is_one_gap);
    tcase_add_test(c, damage_before_another_domain_lasts_until_its_packet_ends);
    tcase_add_test(c, damage_at_the_end_lasts_until_the_end);
    tcase_add_loop_test(c, an_event_beyond_its_packet_is_bad, 0, 5);
    tcase_add_loop_test(c, a_cut_trace_gives_each_whole_event, 1, 4);
    tcase_add_test(c, damage_before_a_cut_is_both);
    tcase_add_test(c, a_name_never_given_is_a_question_mark);
    tcase_add_test(c, names_from_before_a_loss_are_suspect);
    tcase_add_loop_test(c, definitions_from_before_a_loss_are_suspect_one_by_one, 1, 4);
    tcase_add_test(c, domains_of_few_events_are_small);
    tcase_add_test(c, a_failed_cache_check_makes_backtraces_suspect);
    tcase_add_test(c, a_bucket_never_filled_betrays_a_loss);
    tcase_add_test(c, common_prefix_is_true_after_damage);
    tcase_add_test(c, hundreds_of_losses_are_told_apart);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
