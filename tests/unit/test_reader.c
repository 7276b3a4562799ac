/* Tests of the trace reader on sound traces, made byte by byte. Damage is in test_reader_damage.c,
 * sources of bytes in test_reader_input.c. */
#include <stdio.h>

#include "allotrace/memtrace.h"
#include "trace_bytes.h"
#include "unit.h"

static trace_bytes t; /* one process a test: each starts with a zeroed one */
static memtrace_reader *reader;
static memtrace_event event;

static void begin(unsigned version) {
    t.version = version;
    trace_head(&t);
}

static void open_trace(void) {
    memtrace_error error;
    memtrace_status status = memtrace_reader_open_memory(t.bytes, t.size, NULL, &reader, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
}

static void next_is(memtrace_event_kind kind, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_OK);
    ck_assert_int_eq(event.kind, kind);
    ck_assert_uint_eq(event.time, time);
    ck_assert_uint_eq(event.id, id);
}

/* The trace ends here, and nothing was wrong with it. */
static void ends_well(void) {
    size_t n;
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    ck_assert_msg(n == 0, "%s", n ? w->text : "");
    ck_assert_int_eq(memtrace_reader_error(reader)->status, MEMTRACE_OK);
    memtrace_reader_close(reader);
}

/* The event's frames are these codes, of which `common` were in the one before. */
#define frames_are(common, ...)                                                                    \
    codes_are(common, (uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / 8)

static void codes_are(uint32_t common, const uint64_t *codes, size_t n) {
    ck_assert_uint_eq(event.n_frames, n);
    ck_assert_uint_eq(event.common_prefix, common);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(memtrace_reader_frame(reader, event.frames[i])->code, codes[i]);
}

/* ---- head and events --------------------------------------------------------------------- */

START_TEST(head_says_all) {
    begin((unsigned)_i);
    open_trace();
    const memtrace_info *info = memtrace_reader_info(reader);
    ck_assert_uint_eq(info->version, _i);
    ck_assert_uint_eq(info->word_size, 64);
    ck_assert_double_eq(info->sample_rate, 0.01);
    ck_assert_uint_eq(info->start_time, TRACE_START);
    ck_assert_uint_eq(info->pid, TRACE_PID);
    ck_assert_str_eq(info->executable_name, "/bin/program");
    ck_assert_str_eq(info->host_name, "host");
    ck_assert_str_eq(info->runtime_params, "v=0");
    ck_assert_str_eq(info->context, _i == 1 ? "" : "context");
    ends_well();
}
END_TEST

START_TEST(events_have_their_fields) {
    begin((unsigned)_i);
    trace_packet(&t, &(packet_fields){.begin = 10, .id_begin = 500, .domain = 6});
    trace_alloc(&t, 11, 1000, 3, MEMTRACE_EXTERNAL, 0, 0);
    trace_short_alloc(&t, 12, 16, 0, 0);
    trace_fate(&t, FORMAT_PROMOTE, 12, 1);
    trace_fate(&t, FORMAT_COLLECT, 13, -300);
    trace_packet_end(&t);
    open_trace();
    next_is(MEMTRACE_ALLOC, 11, 500);
    ck_assert_uint_eq(event.length, 1000);
    ck_assert_uint_eq(event.samples, 3);
    ck_assert_int_eq(event.source, MEMTRACE_EXTERNAL);
    ck_assert_uint_eq(event.domain, _i == 3 ? 6 : 0);
    ck_assert_uint_eq(event.n_frames, 0);
    const memtrace_packet *packet = memtrace_reader_packet(reader);
    ck_assert_uint_eq(packet->time_begin, TRACE_START + 10);
    ck_assert_uint_eq(packet->id_begin, 500);
    ck_assert_uint_eq(packet->offset + packet->size, t.size);
    next_is(MEMTRACE_ALLOC, 12, 501);
    ck_assert_uint_eq(event.length, 16);
    ck_assert_uint_eq(event.samples, 1);
    ck_assert_int_eq(event.source, MEMTRACE_MINOR);
    next_is(MEMTRACE_PROMOTE, 12, 500);
    next_is(MEMTRACE_COLLECT, 13, 801);
    ends_well();
}
END_TEST

START_TEST(vints_of_every_width) {
    static const int64_t values[] = {0,
                                     1,
                                     252,
                                     253,
                                     255,
                                     256,
                                     65535,
                                     65536,
                                     INT32_MAX,
                                     (int64_t)INT32_MAX + 1,
                                     1000000000000,
                                     INT64_MAX - 1};
    begin(2);
    trace_packet(&t, &(packet_fields){.id_begin = UINT64_C(1) << 63});
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        trace_alloc(&t, 0, values[i], 1, MEMTRACE_MAJOR, 0, 0);
        trace_alloc(&t, 0, values[i], values[i] + 1, MEMTRACE_MAJOR, 0, 0);
        trace_fate(&t, FORMAT_COLLECT, 0, values[i]);
        trace_fate(&t, FORMAT_COLLECT, 0, -values[i]);
    }
    trace_packet_end(&t);
    open_trace();
    uint64_t id = UINT64_C(1) << 63;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        next_is(MEMTRACE_ALLOC, 0, id++);
        ck_assert_uint_eq(event.length, values[i]);
        next_is(MEMTRACE_ALLOC, 0, id++);
        ck_assert_uint_eq(event.samples, values[i] + 1);
        next_is(MEMTRACE_COLLECT, 0, id - 1 - (uint64_t)values[i]);
        next_is(MEMTRACE_COLLECT, 0, id - 1 + (uint64_t)values[i]);
    }
    ends_well();
}
END_TEST

START_TEST(time_wraps_within_a_packet) {
    begin(2);
    const uint64_t begin_low = (1 << 25) - TRACE_START % (1 << 25) - 5; /* 5 us before the wrap */
    trace_packet(&t, &(packet_fields){.begin = begin_low});
    trace_fate(&t, FORMAT_COLLECT, begin_low + 4, -1);
    trace_fate(&t, FORMAT_COLLECT, begin_low + 5, -1);
    trace_fate(&t, FORMAT_COLLECT, begin_low + 29000000, -1);
    trace_packet_end(&t);
    open_trace();
    next_is(MEMTRACE_COLLECT, begin_low + 4, 0);
    next_is(MEMTRACE_COLLECT, begin_low + 5, 0);
    next_is(MEMTRACE_COLLECT, begin_low + 29000000, 0);
    ends_well();
}
END_TEST

/* A packet, even without events, says until when nothing happened; so does one of another domain.
 */
START_TEST(a_trace_lasts_to_the_end_of_its_packets) {
    begin(3);
    trace_packet(&t, &(packet_fields){.begin = 10, .end = 900});
    trace_fate(&t, FORMAT_COLLECT, 10, 0);
    t.end = 900;
    trace_packet_end(&t);
    trace_packet(&t, &(packet_fields){.begin = 5000, .domain = 3});
    trace_packet_end(&t);
    trace_packet(&t, &(packet_fields){.begin = 4000});
    trace_fate(&t, FORMAT_COLLECT, 4000, 0);
    trace_packet_end(&t);
    open_trace();
    ck_assert_uint_eq(memtrace_reader_duration(reader), 0);
    next_is(MEMTRACE_COLLECT, 10, UINT64_MAX);
    ck_assert_uint_eq(memtrace_reader_duration(reader), 10);
    next_is(MEMTRACE_COLLECT, 4000, UINT64_MAX);
    ck_assert_uint_eq(memtrace_reader_duration(reader), 5000);
    ends_well();
}
END_TEST

/* ---- backtraces -------------------------------------------------------------------------- */

START_TEST(misses_hits_and_predictions) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_short_alloc(&t, 0, 1, 0, 4);
    trace_miss(&t, 10, 100);
    trace_miss(&t, 11, 101);
    trace_miss(&t, 12, 102);
    trace_miss(&t, 16383, 103);
    trace_short_alloc(&t, 0, 1, 0, 1); /* 10 predicts 11 predicts 12 predicts 16383 */
    trace_hit(&t, 10, 3);
    trace_short_alloc(&t, 0, 1, 2, 2);
    trace_hit(&t, 16383, 0);
    trace_hit(&t, 11, 1);
    trace_packet_end(&t);
    trace_packet(&t, &(packet_fields){.verify = true, .bucket = 10, .prediction = 11, .code = 100});
    trace_short_alloc(&t, 0, 1, 3, 0);
    trace_packet_end(&t);
    open_trace();
    next_is(MEMTRACE_ALLOC, 0, 0);
    frames_are(0, 100, 101, 102, 103);
    next_is(MEMTRACE_ALLOC, 0, 1);
    frames_are(0, 100, 101, 102, 103);
    next_is(MEMTRACE_ALLOC, 0, 2);
    frames_are(2, 100, 101, 103, 101, 102);
    next_is(MEMTRACE_ALLOC, 0, 0);
    frames_are(3, 100, 101, 103);
    ck_assert_uint_eq(memtrace_reader_n_frames(reader), 4);
    ends_well();
}
END_TEST

START_TEST(a_run_follows_255_predictions) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_alloc(&t, 0, 1, 1, 0, 0, 300);
    for (unsigned i = 0; i < 300; i++)
        trace_miss(&t, i + 1, i);
    trace_alloc(&t, 0, 1, 1, 0, 0, 2);
    trace_hit(&t, 1, 255);
    trace_hit(&t, 257, 43);
    trace_packet_end(&t);
    open_trace();
    for (uint64_t id = 0; id < 2; id++) {
        next_is(MEMTRACE_ALLOC, 0, id);
        ck_assert_uint_eq(event.n_frames, 300);
        for (uint32_t i = 0; i < 300; i++)
            ck_assert_uint_eq(memtrace_reader_frame(reader, event.frames[i])->code, i);
    }
    ends_well();
}
END_TEST

START_TEST(a_prefix_of_a_cut_backtrace_leaves_it_as_it_is) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_short_alloc(&t, 0, 1, 0, 2);
    trace_miss(&t, 1, 11);
    trace_miss(&t, 2, 12);
    trace_short_alloc(&t, 0, 1, 5, 2); /* beyond the two frames: for the cache alone */
    trace_miss(&t, 3, 13);
    trace_hit(&t, 1, 0);
    trace_short_alloc(&t, 0, 1, 1, 1);
    trace_hit(&t, 3, 1);
    trace_packet_end(&t);
    open_trace();
    next_is(MEMTRACE_ALLOC, 0, 0);
    frames_are(0, 11, 12);
    next_is(MEMTRACE_ALLOC, 0, 1);
    frames_are(2, 11, 12);
    next_is(MEMTRACE_ALLOC, 0, 2);
    frames_are(1, 11, 13, 11);
    ends_well();
}
END_TEST

START_TEST(stacks_of_a_hundred_thousand_frames) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_short_alloc(&t, 0, 1, 0, 2);
    trace_miss(&t, 1, 7);
    trace_hit(&t, 1, 0); /* 1 predicts itself */
    for (uint64_t depth = 2; depth < 100000; depth += 256) {
        trace_short_alloc(&t, 0, 1, depth, 1);
        trace_hit(&t, 1, 255);
    }
    trace_packet_end(&t);
    open_trace();
    uint32_t depth = 0;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK) {
        ck_assert_uint_eq(event.common_prefix, depth);
        depth = event.n_frames;
    }
    ck_assert_uint_ge(depth, 100000);
    ck_assert_uint_eq(event.frames[0], event.frames[99999]);
    ends_well();
}
END_TEST

START_TEST(domains_have_caches_and_clocks_of_their_own) {
    begin(3);
    for (uint16_t d = 0; d < 2; d++) {
        trace_packet(&t,
                     &(packet_fields){.domain = d, .begin = 100u - 50u * d, .id_begin = d * 10});
        trace_short_alloc(&t, 100 - 50u * d, 1, 0, 2);
        trace_miss(&t, 5, 500 + d);
        trace_miss(&t, 6, 600 + d);
        trace_packet_end(&t);
    }
    for (uint16_t d = 0; d < 2; d++) {
        trace_packet(&t, &(packet_fields){.domain = d, .begin = 100, .id_begin = d * 10 + 1});
        trace_short_alloc(&t, 100, 1, 1, 1);
        trace_hit(&t, 5, 1);
        trace_packet_end(&t);
    }
    open_trace();
    next_is(MEMTRACE_ALLOC, 100, 0);
    frames_are(0, 500, 600);
    next_is(MEMTRACE_ALLOC, 50, 10);
    frames_are(0, 501, 601);
    ck_assert_uint_eq(event.domain, 1);
    next_is(MEMTRACE_ALLOC, 100, 1);
    frames_are(1, 500, 500, 600);
    ck_assert_uint_eq(event.domain, 0);
    next_is(MEMTRACE_ALLOC, 100, 11);
    frames_are(1, 501, 501, 601);
    ends_well();
}
END_TEST

START_TEST(skipped_backtraces_change_nothing_else) {
    begin(3);
    trace_packet(&t, &(packet_fields){.verify = true}); /* never checked: nothing is decoded */
    trace_short_alloc(&t, 7, 1, 0, 3);
    trace_miss(&t, 5, 500);
    trace_hit(&t, 5, 9);
    trace_hit(&t, 5, 1);
    trace_fate(&t, FORMAT_COLLECT, 8, 0);
    trace_packet_end(&t);
    const memtrace_reader_options options = {.skip_backtraces = true};
    ck_assert_int_eq(memtrace_reader_open_memory(t.bytes, t.size, &options, &reader, NULL),
                     MEMTRACE_OK);
    next_is(MEMTRACE_ALLOC, 7, 0);
    ck_assert_uint_eq(event.n_frames, 0);
    ck_assert_uint_eq(event.common_prefix, 0);
    next_is(MEMTRACE_COLLECT, 8, 0);
    ends_well();
}
END_TEST

/* ---- locations --------------------------------------------------------------------------- */

static const memtrace_frame *frame_of(uint64_t code) {
    for (uint32_t i = 0; i < memtrace_reader_n_frames(reader); i++)
        if (memtrace_reader_frame(reader, i)->code == code)
            return memtrace_reader_frame(reader, i);
    ck_abort_msg("no frame has code %llu", (unsigned long long)code);
}

static void location_is(uint64_t code, uint32_t i, const char *file, const char *function,
                        uint32_t line) {
    const memtrace_frame *f = frame_of(code);
    ck_assert_uint_lt(i, f->n_locations);
    ck_assert_str_eq(f->locations[i].file, file);
    ck_assert_str_eq(f->locations[i].function, function);
    ck_assert_uint_eq(f->locations[i].line, line);
}

START_TEST(names_move_to_the_front) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_location_event(&t, 1, 2); /* inlined: outermost first */
    trace_location(&t, 1048575, 255, 1023, 31, "a.ml", 31, "A.f");
    trace_location(&t, 2, 3, 4, 31, "b.ml", 31, "B.f");
    trace_location_event(&t, 2, 1);
    trace_location(&t, 3, 0, 0, 1, NULL, 31, "A.g"); /* files: a b */
    trace_location_event(&t, 3, 1);
    trace_location(&t, 4, 0, 0, 0, NULL, 1, NULL); /* definitions of a: f g */
    trace_location_event(&t, 4, 1);
    trace_location(&t, 5, 0, 0, 1, NULL, 0, NULL);
    trace_location_event(&t, 5, 0);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_uint_eq(frame_of(1)->n_locations, 2);
    location_is(1, 0, "a.ml", "A.f", 1048575);
    ck_assert_uint_eq(frame_of(1)->locations[0].start_char, 255);
    ck_assert_uint_eq(frame_of(1)->locations[0].end_char, 1023);
    location_is(1, 1, "b.ml", "B.f", 2);
    ck_assert_uint_eq(frame_of(1)->locations[1].start_char, 3);
    ck_assert_uint_eq(frame_of(1)->locations[1].end_char, 4);
    location_is(2, 0, "a.ml", "A.g", 3);
    location_is(3, 0, "a.ml", "A.f", 4);
    location_is(4, 0, "b.ml", "B.f", 5);
    ck_assert_uint_eq(frame_of(5)->n_locations, 0);
    ck_assert_ptr_eq(frame_of(2)->locations[0].file, frame_of(1)->locations[0].file);
    ck_assert_ptr_null(frame_of(1)->type);
    ends_well();
}
END_TEST

/* The 32nd file takes the place of the first; version 1 lets it inherit the definitions. */
START_TEST(a_new_file_replaces_the_last) {
    char name[16];
    begin((unsigned)_i);
    trace_packet(&t, &(packet_fields){0});
    for (unsigned i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "%u.ml", i);
        trace_location_event(&t, i, 1);
        trace_location(&t, i, 0, 0, 31, name, i == 31 && _i == 1 ? 0 : 31,
                       i == 31 && _i == 1 ? NULL : name + (i < 10));
    }
    trace_location_event(&t, 100, 1);
    trace_location(&t, 0, 0, 0, 30, NULL, 0, NULL);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    location_is(31, 0, "31.ml", _i == 1 ? ".ml" : "31.ml", 31);
    location_is(100, 0, "1.ml", ".ml", 0);
    ends_well();
}
END_TEST

START_TEST(a_type_is_taken_out_of_the_locations) {
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    trace_location_event(&t, 1, 3);
    trace_location(&t, 0, 0, 0, 31, MEMTRACE_TYPE_FILE, 31, "LoxArray");
    trace_location(&t, 8, 0, 0, 31, "vm.c", 31, "outer");
    trace_location(&t, 9, 0, 0, 0, NULL, 31, "inner");
    trace_location_event(&t, 2, 1);
    trace_location(&t, 0, 0, 0, 1, NULL, 0, NULL);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    ck_assert_str_eq(frame_of(1)->type, "LoxArray");
    ck_assert_uint_eq(frame_of(1)->n_locations, 2);
    location_is(1, 0, "vm.c", "outer", 8);
    location_is(1, 1, "vm.c", "inner", 9);
    ck_assert_ptr_eq(frame_of(2)->type, frame_of(1)->type);
    ck_assert_uint_eq(frame_of(2)->n_locations, 0);
    ends_well();
}
END_TEST

START_TEST(a_code_announced_again_keeps_its_index) {
    begin(3);
    for (uint16_t d = 0; d < 2; d++) {
        trace_packet(&t, &(packet_fields){.domain = d});
        trace_location_event(&t, 40, 1);
        trace_location(&t, 8, 0, 0, 31, "vm.c", 31, "f");
        trace_short_alloc(&t, 0, 1, 0, 2);
        trace_miss(&t, 1, 41u); /* never announced */
        trace_miss(&t, 2, 40);
        trace_packet_end(&t);
    }
    open_trace();
    for (int d = 0; d < 2; d++) {
        next_is(MEMTRACE_ALLOC, 0, 0);
        frames_are(0, 41, 40);
        ck_assert_uint_eq(event.frames[1], 0);
        ck_assert_uint_eq(event.frames[0], 1);
    }
    location_is(40, 0, "vm.c", "f", 8);
    ck_assert_uint_eq(frame_of(41)->n_locations, 0);
    ends_well();
}
END_TEST

/* Each domain names two functions of two files, and refers to them when the others were read. */
START_TEST(domains_have_names_of_their_own) {
    enum { DOMAINS = 40 };
    char names[DOMAINS][4][16];
    begin(3);
    for (uint16_t d = 0; d < DOMAINS; d++) {
        for (int i = 0; i < 4; i++)
            snprintf(names[d][i], sizeof names[d][i], "%d of %d", i, d);
        trace_packet(&t, &(packet_fields){.domain = d});
        trace_location_event(&t, 1000 + d, 2);
        trace_location(&t, 1, 0, 0, 31, names[d][0], 31, names[d][1]);
        trace_location(&t, 2, 0, 0, 31, names[d][2], 31, names[d][3]);
        trace_packet_end(&t);
    }
    for (uint16_t d = DOMAINS; d-- > 0;) {
        trace_packet(&t, &(packet_fields){.domain = d});
        trace_location_event(&t, 2000 + d, 2);
        trace_location(&t, 3, 0, 0, 1, NULL, 0, NULL);
        trace_location(&t, 4, 0, 0, 1, NULL, 0, NULL);
        trace_packet_end(&t);
    }
    open_trace();
    ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_END);
    for (int d = 0; d < DOMAINS; d++) {
        location_is(1000 + d, 0, names[d][0], names[d][1], 1);
        location_is(1000 + d, 1, names[d][2], names[d][3], 2);
        location_is(2000 + d, 0, names[d][0], names[d][1], 3);
        location_is(2000 + d, 1, names[d][2], names[d][3], 4);
    }
    ends_well();
}
END_TEST

/* ---- columns that overflow, as memtrace 0.2.3 writes them --------------------------------- */

static const uint64_t unknown = 0xFFF; /* a column of -1, limited to 12 bits */

static memtrace_defect only_defect(uint64_t *count) {
    size_t n;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    if (n == 0)
        return MEMTRACE_N_DEFECTS;
    ck_assert_uint_eq(n, 1);
    *count = w->count;
    return w->defect;
}

/* Four files, so that the codes 0 … 3 are all in use; d.ml is in front. */
static void four_files(void) {
    static const char *const files[] = {"a.ml", "b.ml", "c.ml", "d.ml"}, *const functions[] = {
                                                                             "A.f", "B.f", "C.f",
                                                                             "D.f"};
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    for (unsigned i = 0; i < 4; i++) {
        trace_location_event(&t, 10 + i, 1);
        trace_location(&t, i, 1, 2, 31, files[i], 31, functions[i]);
    }
}

START_TEST(an_overflow_is_undone_where_one_code_is_possible) {
    uint64_t count = 0;
    four_files();
    /* Code 1, c.ml, spoilt into 3, a.ml. C alone has two definitions by now. */
    trace_location_event(&t, 20, 1);
    trace_location(&t, 5, 0, 0, 1, NULL, 31, "C.g");
    trace_location_event(&t, 21, 1);
    trace_location(&t, 6, 0, 0, 1, NULL, 0, NULL); /* d.ml */
    trace_location_event(&t, 22, 1);
    trace_location(&t, 7, unknown, unknown, 1, NULL, 1, NULL); /* c.ml, C.f */
    trace_location_event(&t, 23, 1);
    trace_location(&t, 8, 0, 0, 0, NULL, 1, NULL); /* c.ml, C.g */
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_DEFECT_COLUMN_OVERFLOW);
    ck_assert_uint_eq(count, 1);
    location_is(22, 0, "c.ml", "C.f", 7);
    location_is(23, 0, "c.ml", "C.g", 8);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(an_overflow_shows_in_what_follows) {
    uint64_t count = 0;
    four_files();
    /* Files: d c b a. Any of them could be meant here, as the definition is a new one. */
    trace_location_event(&t, 20, 1);
    trace_location(&t, 5, unknown, unknown, 2, NULL, 31, "B.g");
    /* "B.f" would be announced again in b.ml if d.ml or c.ml had been moved to the front … */
    trace_location_event(&t, 21, 1);
    trace_location(&t, 6, 0, 0, 2, NULL, 31, "B.f");
    /* … or here if a.ml had. */
    trace_location_event(&t, 22, 1);
    trace_location(&t, 7, 0, 0, 3, NULL, 31, "B.f");
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_DEFECT_COLUMN_OVERFLOW);
    ck_assert_uint_eq(count, 1);
    location_is(20, 0, "b.ml", "B.g", 5);
    location_is(21, 0, "c.ml", "B.f", 6);
    location_is(22, 0, "a.ml", "B.f", 7);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_spoilt_announcement_is_told_from_a_sound_one) {
    /* Code 28 … 30 become 31, which says that a file name follows. Here 28 is meant, and the only
     * string is the definition's. */
    uint64_t count = 0;
    char name[16];
    begin(2);
    trace_packet(&t, &(packet_fields){0});
    for (unsigned i = 0; i < 29; i++) {
        snprintf(name, sizeof name, "%u.ml", i);
        trace_location_event(&t, i, 1);
        trace_location(&t, i, 0, 0, 31, name, 31, "f");
    }
    trace_location_event(&t, 50, 1);
    trace_location(&t, 50, unknown, unknown, 28, NULL, 31, "g");
    trace_location_event(&t, 51, 1);
    trace_location(&t, 51, 0, 0, 0, NULL, 0, NULL);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_DEFECT_COLUMN_OVERFLOW);
    location_is(50, 0, "0.ml", "g", 50);
    location_is(51, 0, "0.ml", "g", 51);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_column_beyond_1023_spoils_one_bit) {
    uint64_t count = 0;
    four_files();
    trace_location_event(&t, 20, 1); /* 4 is empty yet; 0 + overflow of 1 is code 1: undetected */
    trace_location(&t, 5, 0, 0, 31, "e.ml", 31, "E.f");
    trace_location_event(&t, 21, 1);
    trace_location(&t, 6, 4, 1024 + 200, 4, NULL, 0, NULL); /* 4 | 1 = 5, an empty entry */
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_DEFECT_COLUMN_OVERFLOW);
    location_is(21, 0, "a.ml", "A.f", 6);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(an_ambiguous_overflow_is_said_to_be) {
    uint64_t count = 0;
    four_files();
    trace_location_event(&t, 20, 1);
    trace_location(&t, 5, unknown, unknown, 0, NULL, 0, NULL);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_DEFECT_COLUMN_AMBIGUOUS);
    ck_assert_uint_eq(count, 1);
    location_is(20, 0, "d.ml", "D.f", 5);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_new_name_with_unknown_columns_is_no_overflow) {
    uint64_t count = 0;
    four_files();
    trace_location_event(&t, 20, 1);
    trace_location(&t, 0, unknown, unknown, 31, "_none_", 31, "main");
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_N_DEFECTS);
    location_is(20, 0, "_none_", "main", 0);
    memtrace_reader_close(reader);
}
END_TEST

/* Other writers limit both columns to their fields: code 3 is code 3. */
START_TEST(clamped_columns_are_no_overflow) {
    uint64_t count = 0;
    four_files();
    trace_location_event(&t, 20, 1);
    trace_location(&t, 5, 255, 1023, 1, NULL, 0, NULL); /* c.ml: this writer is sound */
    trace_location_event(&t, 21, 1);
    trace_location(&t, 6, 255, 1023, 3, NULL, 0, NULL);
    trace_location_event(&t, 22, 1);
    trace_location(&t, 7, 18, 1023, 3, NULL, 0, NULL);
    trace_packet_end(&t);
    open_trace();
    ck_assert_int_eq(only_defect(&count), MEMTRACE_N_DEFECTS);
    location_is(20, 0, "c.ml", "C.f", 5);
    location_is(21, 0, "a.ml", "A.f", 6);
    location_is(22, 0, "b.ml", "B.f", 7);
    memtrace_reader_close(reader);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("reader");
    TCase *c = tcase_create("reader");
    tcase_add_loop_test(c, head_says_all, 1, 4);
    tcase_add_loop_test(c, events_have_their_fields, 1, 4);
    tcase_add_test(c, vints_of_every_width);
    tcase_add_test(c, time_wraps_within_a_packet);
    tcase_add_test(c, a_trace_lasts_to_the_end_of_its_packets);
    tcase_add_test(c, misses_hits_and_predictions);
    tcase_add_test(c, a_run_follows_255_predictions);
    tcase_add_test(c, a_prefix_of_a_cut_backtrace_leaves_it_as_it_is);
    tcase_add_test(c, stacks_of_a_hundred_thousand_frames);
    tcase_add_test(c, domains_have_caches_and_clocks_of_their_own);
    tcase_add_test(c, domains_have_names_of_their_own);
    tcase_add_test(c, skipped_backtraces_change_nothing_else);
    tcase_add_test(c, names_move_to_the_front);
    tcase_add_loop_test(c, a_new_file_replaces_the_last, 1, 4);
    tcase_add_test(c, a_type_is_taken_out_of_the_locations);
    tcase_add_test(c, a_code_announced_again_keeps_its_index);
    tcase_add_test(c, an_overflow_is_undone_where_one_code_is_possible);
    tcase_add_test(c, an_overflow_shows_in_what_follows);
    tcase_add_test(c, a_spoilt_announcement_is_told_from_a_sound_one);
    tcase_add_test(c, a_column_beyond_1023_spoils_one_bit);
    tcase_add_test(c, an_ambiguous_overflow_is_said_to_be);
    tcase_add_test(c, a_new_name_with_unknown_columns_is_no_overflow);
    tcase_add_test(c, clamped_columns_are_no_overflow);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
