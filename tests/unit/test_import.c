/* Tests of src/import: traces of sums, and Go's profile in the memory of a process, sound, busy or
 * damaged. */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import_go.h"
#include "import/import_go_trace.h"
#include "random.h"
#include "unit.h"

static int open_file(void) {
    char path[] = "/tmp/test-import.XXXXXX";
    const int fd = mkstemp(path);
    ck_assert(fd >= 0);
    unlink(path);
    return fd;
}

/* ---- traces -------------------------------------------------------------------------------- */

/* A block of a word cannot have two samples, whatever the sums have left over. */
START_TEST(blocks_of_a_word_have_at_most_one_sample) {
    for (uint64_t blocks = 1; blocks < 200; blocks++) {
import from = {.format = "a test", .missing = "times", .period = 1000 };
        double rate;
        memtrace_error error;
        const uint32_t place = import_add_place(&from);
        import_add_location(&from, "f", "f.c", 1);
        for (uint64_t i = 0; i < 40; i++) {
            const uint64_t size = i % 3 == 0 ? 8 : 16 + 8 * (i % 5);
            ck_assert(vec_push(&from.frames, place));
            import_add_record(&from, (import_record){.first = from.frames.count - 1,
                                                     .blocks = blocks * (1 + i % 7),
                                                     .bytes = blocks * (1 + i % 7) * size,
                                                     .live = i % 2 ? blocks : 0,
                                                     .live_bytes = i % 2 ? blocks * size : 0});
        }
        const int fd = open_file();
        ck_assert_int_eq(import_write(&from, fd, COMPRESSION_NONE, &rate, &error), MEMTRACE_OK);
        ck_assert_double_eq_tol(rate, 0.008, 1e-9);
        close(fd);
        import_free(&from);
    }
}
END_TEST

/* ---- Go ------------------------------------------------------------------------------------ */

/* A memory: variables, the module's data, tables of two functions, and buckets. */
enum {
    VARIABLES = 0x100,
    MODULE = 0x200,
    HEADER = 0x400,
    NAMES = 0x500,
    UNITS = 0x600,
    FILES = 0x700,
    VALUES = 0x800,
    FUNCTIONS = 0x900,
    INDEX = 0xa00,
    CALLS = 0xb00,
    BUCKETS = 0x1000,
    BUCKET = 0x200, /* bytes from one to the next */
    MEMORY = 0x3000,
    TEXT = 0x100000,
};

static const go_layout layout = {.first = 20,
                                 .last = 26,
                                 .magic = 0xFFFFFFF1,
                                 .function = 44,
                                 .call = 16,
                                 .call_name = 4,
                                 .call_site = 8,
                                 .inlined = 40};

static const go_program program = {.version = "1.24.1",
                                   .layout = &layout,
                                   .at = {[GO_BUCKETS] = VARIABLES,
                                          [GO_CYCLE] = VARIABLES + 8,
                                          [GO_RATE] = VARIABLES + 16,
                                          [GO_DISABLED] = VARIABLES + 24,
                                          [GO_FUTURE_LOCKS] = VARIABLES + 40,
                                          [GO_MODULE] = MODULE}};

static unsigned char memory[MEMORY];

static void put_word(size_t at, uint64_t word) {
    memcpy(memory + at, &word, sizeof word);
}

static void put_half(size_t at, uint32_t half) {
    memcpy(memory + at, &half, sizeof half);
}

static void put_table(size_t word, uint64_t start, uint64_t n) {
    put_word(MODULE + word * 8, start);
    put_word(MODULE + word * 8 + 8, n);
}

/* From the function's start on: the file 0; line 7, and from byte 0x10 on line 9, of what is
 * inlined there by the call 0. */
static void put_values(void) {
    static const unsigned char values[] = {0,                              /* no table is here */
                                           2,  0x80, 2, 0,                 /* at 1 */
                                           16, 0x10, 4, 0x80 | 0x70, 1, 0, /* at 5 */
                                           0,  0x10, 2, 0x80 | 0x70, 1, 0 /* at 11 */};
    memcpy(memory + VALUES, values, sizeof values);
}

static void put_function(size_t at, uint32_t entry, uint32_t name, bool inlines) {
    put_half(at, entry);
    put_half(at + 4, name);
    put_half(at + 20, 1);
    put_half(at + 24, 5);
    put_half(at + 28, 3);
    memory[at + 43] = 4;
    put_half(at + 44 + 2 * 4, inlines ? 11 : 0);
    for (size_t i = 0; i < 4; i++)
        put_half(at + 44 + (3 + i) * 4, i == 3 && inlines ? 0 : UINT32_MAX);
}

static void put_tables(void) {
    put_word(MODULE, HEADER);
    put_table(1, NAMES, 0x40);
    put_table(4, UNITS, 1);
    put_table(7, FILES, 0x20);
    put_table(10, VALUES, 0x40);
    put_table(13, FUNCTIONS, 0x100);
    put_table(16, INDEX, 3);
    put_word(MODULE + 22 * 8, TEXT);
    put_word(MODULE + 23 * 8, TEXT + 0x200);
    put_word(MODULE + 40 * 8, CALLS);
    put_half(HEADER, 0xFFFFFFF1);
    memory[HEADER + 6] = 1;
    memory[HEADER + 7] = 8;
    memcpy(memory + NAMES, "\0main.outer\0runtime.g\0main.inner", 33);
    memcpy(memory + FILES, "main.go", 8);
    put_values();
    put_function(FUNCTIONS, 0, 1, true);
    put_function(FUNCTIONS + 0x80, 0x100, 12, false);
    for (size_t i = 0; i < 3; i++) {
        put_half(INDEX + i * 8, (uint32_t)i * 0x100);
        put_half(INDEX + i * 8 + 4, (uint32_t)i * 0x80);
    }
    put_half(CALLS + 4, 22);
    put_half(CALLS + 8, 4);
}

/* Counts of a bucket: what is published, then three cycles. */
static void put_bucket(size_t i, uint64_t size, const uint64_t allocated[4],
                       const uint64_t freed[4]) {
    const size_t at = BUCKETS + i * BUCKET;
    put_word(at + 8, i > 0 ? at - BUCKET : 0);
    put_word(at + 16, 1);
    put_word(at + 32, size);
    put_word(at + 40, 3);
    put_word(at + 48, TEXT + 0x120); /* of the runtime */
    put_word(at + 56, TEXT + 0x21 - 1);
    put_word(at + 64, TEXT + 5);
    for (size_t k = 0; k < 4; k++) {
        put_word(at + 72 + k * 32, allocated[k]);
        put_word(at + 80 + k * 32, freed[k]);
        put_word(at + 88 + k * 32, allocated[k] * size);
        put_word(at + 96 + k * 32, freed[k] * size);
    }
}

static void put_memory(uint64_t period) {
    memset(memory, 0, sizeof memory);
    put_tables();
    put_bucket(0, 1024, (uint64_t[]){10, 5, 3, 1}, (uint64_t[]){4, 2, 1, 0});
    put_bucket(1, 64, (uint64_t[]){0, 0, 2, 0}, (uint64_t[4]){0});
    put_word(VARIABLES, BUCKETS + BUCKET);
    put_word(VARIABLES + 8, 6 << 1); /* the sixth cycle: its counts are due, which are the first */
    put_word(VARIABLES + 16, period);
}

static int write_memory(void) {
    const int fd = open_file();
    ck_assert_int_eq(write(fd, memory, sizeof memory), sizeof memory);
    return fd;
}

static const memtrace_location *location(const import *from, size_t record, size_t frame,
                                         size_t i) {
    const import_record *r = &from->records.items[record];
    ck_assert_uint_lt(frame, r->n);
    const import_place *place = &from->places.items[from->frames.items[r->first + frame]];
    ck_assert_uint_lt(i, place->n);
    return &from->locations.items[place->first + i];
}

static void check_record(const import_record *r, uint64_t blocks, uint64_t live, uint64_t size) {
    ck_assert_uint_eq(r->blocks, blocks);
    ck_assert_uint_eq(r->bytes, blocks * size);
    ck_assert_uint_eq(r->live, live);
    ck_assert_uint_eq(r->live_bytes, live * size);
}

START_TEST(go_counts_are_those_of_the_last_collection_and_all_since) {
import to = {0 };
    go_heap h = {0};
    import_error error;
    put_memory(1);
    const int fd = write_memory();
    ck_assert_int_eq(go_heap_read(&h, &program, fd, false, &error), GO_HEAP_READ);
    ck_assert(h.is_collected);
    ck_assert(go_heap_import(&to, &h, &program, fd, &error));
    ck_assert_uint_eq(to.records.count, 2);
    check_record(&to.records.items[0], 2, 0, 64);
    check_record(&to.records.items[1], 19, 9, 1024);
    ck_assert_double_eq(h.since, 4 * 1024 + 2 * 64);
    ck_assert_uint_eq(to.records.items[1].n, 1); /* a frame of two functions; none of the runtime */
    ck_assert_str_eq(location(&to, 1, 0, 0)->function, "main.outer");
    ck_assert_uint_eq(location(&to, 1, 0, 0)->line, 7);
    ck_assert_str_eq(location(&to, 1, 0, 1)->function, "main.inner");
    ck_assert_uint_eq(location(&to, 1, 0, 1)->line, 9);
    ck_assert_str_eq(location(&to, 1, 0, 1)->file, "main.go");
    import_free(&to);
    go_heap_free(&h);
    close(fd);
}
END_TEST

START_TEST(go_without_a_collection_has_all_alive) {
import to = {0 };
    go_heap h = {0};
    import_error error;
    put_memory(1);
    put_bucket(0, 1024, (uint64_t[]){0, 0, 3, 1}, (uint64_t[4]){0});
    const int fd = write_memory();
    ck_assert_int_eq(go_heap_read(&h, &program, fd, false, &error), GO_HEAP_READ);
    ck_assert(!h.is_collected);
    ck_assert(go_heap_import(&to, &h, &program, fd, &error));
    check_record(&to.records.items[1], 4, 4, 1024);
    import_free(&to);
    go_heap_free(&h);
    close(fd);
}
END_TEST

/* Each bucket has one block of 2^50 bytes, and another offset by which it is rounded. */
START_TEST(go_traces_weigh_whole_words_exactly) {
    enum { BUCKETS_N = 200 };
    go_heap h = {0};
    go_trace t = {.fd = -1};
    import_error error;
    put_memory(1);
    const int fd = write_memory(), out = open_file();
    ck_assert_int_eq(go_heap_read(&h, &program, fd, false, &error), GO_HEAP_READ);
    go_bucket big = h.buckets.items[0];
    big.size = UINT64_C(1) << 50;
    big.allocated = big.live = 1;
    big.since = 0;
    vec_clear(&h.buckets);
    for (size_t i = 0; i < BUCKETS_N; i++, big.at++)
        ck_assert(vec_push(&h.buckets, big));
    const go_reading reading = {.heap = &h, .time = 1};
    ck_assert(go_trace_add(&t, out, &reading, &program, fd, &error));
    ck_assert_uint_eq(t.buckets.count, BUCKETS_N);
    for (size_t i = 0; i < BUCKETS_N; i++) {
        ck_assert_uint_eq(t.buckets.items[i].samples, big.size / 8);
        ck_assert_uint_eq(t.buckets.items[i].live, big.size / 8);
    }
    ck_assert_int_eq(go_trace_end(&t, 2), 0);
    go_trace_free(&t);
    go_heap_free(&h);
    close(fd);
    close(out);
}
END_TEST

/* By Go's own formula: a block of 1,024 bytes is seen with a chance of 1 - 1/e where a sample is
 * taken every 1,024 bytes. */
START_TEST(go_samples_stand_for_more) {
import to = {0 };
    go_heap h = {0};
    import_error error;
    put_memory(1024);
    const int fd = write_memory();
    ck_assert_int_eq(go_heap_read(&h, &program, fd, false, &error), GO_HEAP_READ);
    ck_assert(go_heap_import(&to, &h, &program, fd, &error));
    ck_assert_uint_eq(to.records.items[1].blocks, 30); /* 19 / 0.63212 */
    ck_assert_uint_eq(to.records.items[1].bytes, 30778);
    import_free(&to);
    go_heap_free(&h);
    close(fd);
}
END_TEST

START_TEST(go_is_busy_while_a_lock_is_held) {
    go_heap h = {0};
    import_error error;
    for (size_t i = 0; i < 3; i++) {
        put_memory(1);
        put_word(VARIABLES + 40 + i * 8, 1);
        const int fd = write_memory();
        ck_assert_int_eq(go_heap_read(&h, &program, fd, false, &error), GO_HEAP_BUSY);
        ck_assert_int_eq(go_heap_read(&h, &program, fd, true, &error), GO_HEAP_READ);
        close(fd);
    }
    go_heap_free(&h);
}
END_TEST

START_TEST(go_sampling_is_switched_on) {
    import_error error;
    uint64_t bytes = 0;
    put_memory(512 * 1024);
    memory[VARIABLES + 24] = 1;
    const int fd = write_memory();
    ck_assert(go_program_enable(&program, fd, &bytes, &error));
    ck_assert_uint_eq(bytes, 512 * 1024);
    bytes = 100;
    ck_assert(go_program_enable(&program, fd, &bytes, &error));
    ck_assert_int_eq(pread(fd, memory, sizeof memory, 0), sizeof memory);
    memcpy(&bytes, memory + VARIABLES + 16, sizeof bytes);
    ck_assert_uint_eq(bytes, 100);
    ck_assert_uint_eq(memory[VARIABLES + 24], 0);
    close(fd);
}
END_TEST

/* Whatever stands there, it ends, and reads nothing outside. */
START_TEST(go_memory_may_be_damaged) {
    test_random random = {.state = 1};
    for (int i = 0; i < 4000; i++) {
import to = {0 };
        go_heap h = {0};
        import_error error;
        put_memory(1024);
        for (int k = 0; k < 1 + i % 3; k++)
            memory[VARIABLES + test_random_u64(&random) % (BUCKETS + 2 * BUCKET - VARIABLES)] =
                (unsigned char)test_random_u64(&random);
        const uint64_t first = BUCKETS + BUCKET;
        if (memcmp(memory + BUCKETS + 8, &first, sizeof first) == 0)
            continue; /* a list without an end takes long */
        const int fd = write_memory();
        if (go_heap_read(&h, &program, fd, i % 2, &error) == GO_HEAP_READ)
            (void)go_heap_import(&to, &h, &program, fd, &error);
        import_free(&to);
        go_heap_free(&h);
        close(fd);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("import");
    TCase *c = tcase_create("import");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, blocks_of_a_word_have_at_most_one_sample);
    tcase_add_test(c, go_counts_are_those_of_the_last_collection_and_all_since);
    tcase_add_test(c, go_without_a_collection_has_all_alive);
    tcase_add_test(c, go_traces_weigh_whole_words_exactly);
    tcase_add_test(c, go_samples_stand_for_more);
    tcase_add_test(c, go_is_busy_while_a_lock_is_held);
    tcase_add_test(c, go_sampling_is_switched_on);
    tcase_add_test(c, go_memory_may_be_damaged);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
