/* Tests of giving a trace other names without reading its events. */
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include "trace/compressor.h"
#include "trace/input.h"
#include "trace/relabel.h"
#include "trace/rewrite.h"
#include "trace_fixture.h"

static char path[] = "/tmp/allotrace-relabel-XXXXXX";

static void make_file(void) {
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void) {
    unlink(path);
}

/* The trace of a random walk in each of `n` domains, one after the other, into `path`. */
static void make_trace(uint16_t n) {
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events s;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    for (uint16_t i = 0; i < n; i++) {
        open_events(&s, &f, (uint16_t)(i * 7));
        random_walk(&s, 5 + i, 3000, 5000);
        ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
        fclose(s.expected.out);
        free(s.expected.text);
        vec_free(&s.expected.previous);
    }
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    write_file(path, f.bytes.items, f.bytes.count);
    fixture_free(&f);
}

static size_t same_names(void *user, uint64_t code, const memtrace_frame *frame,
                         memtrace_location *locations, size_t max) {
    ck_assert_uint_eq(frame->code, code);
    ++*(size_t *)user;
    return rewrite_frame_locations(frame, locations, max);
}

static size_t lines_in(const char *text) {
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in the order of the alphabet. */
static char *sorted(char *text) {
    size_t n = 0, size = strlen(text) + 1;
    char **lines = malloc(lines_in(text) * sizeof *lines), *out = malloc(size), *next = out;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        lines[n++] = line;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++)
        next += snprintf(next, (size_t)(out + size - next), "%s\n", lines[i]);
    free(lines);
    free(text);
    return out;
}

static relabel *open_relabel(void) {
    relabel *r;
    memtrace_error error;
    memtrace_status status = relabel_open(&r, path, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    return r;
}

/* Reading names takes reading to the end. */
static void read_names(relabel *r) {
    memtrace_event event;
    ck_assert_int_eq(memtrace_reader_next(relabel_names(r), &event), MEMTRACE_END);
}

START_TEST(equal_names_change_nothing) {
    size_t located = 0;
    make_trace(_i ? 3 : 1);
    char *before = sorted(decode_file(path, "--changed"));
    relabel *r = open_relabel();
    read_names(r);
    ck_assert_int_eq(relabel_write(r, same_names, &located, path, NULL), MEMTRACE_OK);
    ck_assert_uint_eq(located, memtrace_reader_n_frames(relabel_names(r)));
    ck_assert_uint_eq(relabel_n_allocations(r), _i ? 9000 : 3000);
    relabel_close(r);
    char *after = sorted(decode_file(path, "--changed"));
    assert_same_text(after, before);
    free(before);
    free(after);
}
END_TEST

/* A packet without events at the end, by which the trace lasts, stays there. */
START_TEST(the_end_stays) {
    fixture f = {.hooks.locate = fixture_locate};
    memtrace_stream *s;
    size_t located = 0;
    uint64_t id;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    ck_assert_int_eq(
        memtrace_stream_alloc(s, 5, MEMTRACE_MAJOR, 1, 1, (uint64_t[]){1, 2}, 2, 0, &id),
        MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_close_at(s, 50000000), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    write_file(path, f.bytes.items, f.bytes.count);
    fixture_free(&f);
    relabel *r = open_relabel();
    read_names(r);
    ck_assert_int_eq(relabel_write(r, same_names, &located, path, NULL), MEMTRACE_OK);
    relabel_close(r);
    memtrace_reader *reader;
    memtrace_event event;
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    ck_assert_uint_eq(memtrace_reader_duration(reader), 50000000);
    memtrace_reader_close(reader);
}
END_TEST

static size_t one_name(void *user, uint64_t code, const memtrace_frame *frame,
                       memtrace_location *locations, size_t max) {
    (void)user, (void)code, (void)frame, (void)max;
    locations[0] = (memtrace_location){.file = "new.c", .function = "new", .line = 7};
    return 1;
}

START_TEST(names_are_those_given) {
    memtrace_reader *reader;
    memtrace_event event;
    make_trace(2);
    relabel *r = open_relabel();
    read_names(r);
    ck_assert_int_eq(relabel_write(r, one_name, NULL, path, NULL), MEMTRACE_OK);
    relabel_close(r);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    ck_assert_uint_gt(memtrace_reader_n_frames(reader), 1000);
    for (uint32_t i = 0; i < memtrace_reader_n_frames(reader); i++) {
        const memtrace_frame *frame = memtrace_reader_frame(reader, i);
        if (frame->n_locations) { /* some of the fixture have none */
            ck_assert_uint_eq(frame->n_locations, 1);
            ck_assert_str_eq(frame->locations[0].function, "new");
        }
    }
    memtrace_reader_close(reader);
}
END_TEST

static void assert_refused(void) {
    relabel *r;
    memtrace_error error;
    ck_assert_int_eq(relabel_open(&r, path, &error), MEMTRACE_USAGE);
    ck_assert_ptr_null(r);
}

START_TEST(damage_is_left_to_others) {
    struct stat st;
    make_trace(1);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(truncate(path, st.st_size - 1), 0);
    assert_refused();
    ck_assert_int_eq(truncate(path, st.st_size + 100), 0);
    assert_refused();
    ck_assert_int_eq(truncate(path, 10), 0);
    assert_refused();
}
END_TEST

/* ---- compressed by name ------------------------------------------------------------------ */

static const char *const endings[] = {"", ".gz", ".zst"};
static const uint8_t magics[][4] = {
    {0xC1, 0x1F, 0xFC, 0xC1}, {0x1F, 0x8B, 8, 0}, {0x28, 0xB5, 0x2F, 0xFD}};
enum { N_ENDINGS = sizeof endings / sizeof *endings };

static void assert_stored_as(const char *name, size_t ending) {
    uint8_t bytes[4];
    int fd = open(name, O_RDONLY);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), sizeof bytes);
    ck_assert_mem_eq(bytes, magics[ending], sizeof bytes);
    close(fd);
}

/* What is in a file, decompressed. */
static uint8_t *contents(const char *name, size_t *size) {
    input in;
    memtrace_error error;
    VEC(uint8_t) all = {0};
    ck_assert_int_eq(input_open(&in, open(name, O_RDONLY), NULL, 0, &error), MEMTRACE_OK);
    for (size_t n; (n = input_peek(&in, 1)) > 0; input_skip(&in, n)) {
        ck_assert(vec_reserve(&all, n));
        memcpy(all.items + all.count, in.next, n);
        all.count += n;
    }
    ck_assert_int_eq(in.status, MEMTRACE_OK);
    input_close(&in);
    *size = all.count;
    return all.items;
}

static void assert_same_contents(const char *a, const char *b) {
    size_t n_a, n_b;
    uint8_t *in_a = contents(a, &n_a), *in_b = contents(b, &n_b);
    ck_assert_uint_eq(n_a, n_b);
    ck_assert_mem_eq(in_a, in_b, n_a);
    free(in_a);
    free(in_b);
}

START_TEST(names_are_written_compressed) {
    char plain[sizeof path + 8], to[sizeof path + 8];
    size_t located = 0;
    make_trace(2);
    snprintf(plain, sizeof plain, "%s.plain", path);
    snprintf(to, sizeof to, "%s%s", path, endings[_i]);
    relabel *r = open_relabel();
    read_names(r);
    ck_assert_int_eq(relabel_write(r, same_names, &located, plain, NULL), MEMTRACE_OK);
    ck_assert_int_eq(relabel_write(r, same_names, &located, to, NULL), MEMTRACE_OK);
    relabel_close(r);
    assert_stored_as(to, (size_t)_i);
    assert_same_contents(to, plain);
    unlink(plain);
    unlink(to);
}
END_TEST

START_TEST(files_are_compressed_by_name) {
    char to[sizeof path + 8];
    memtrace_error error;
    struct stat once, again;
    make_trace(2);
    snprintf(to, sizeof to, "%s%s", path, endings[_i]);
    size_t size;
    uint8_t *bytes = contents(path, &size);
    write_file(to, bytes, size);
    ck_assert_int_eq(compressor_by_name(to, &error), MEMTRACE_OK);
    assert_stored_as(to, (size_t)_i);
    assert_same_contents(to, path);
    ck_assert_int_eq(stat(to, &once), 0);
    ck_assert_int_eq(compressor_by_name(to, &error), MEMTRACE_OK);
    ck_assert_int_eq(stat(to, &again), 0);
    ck_assert_uint_eq(once.st_ino, again.st_ino);
    free(bytes);
    unlink(to);
}
END_TEST

START_TEST(what_cannot_be_written_is_said) {
    compressor c;
    int error = 0, fd = open("/dev/full", O_WRONLY);
    static const uint8_t bytes[1 << 20];
    ck_assert_int_eq(compressor_open(&c, fd, (compression)_i), 0);
    for (int i = 0; i < 64 && !error; i++)
        error = compressor_write(&c, bytes, sizeof bytes);
    ck_assert_int_eq(compressor_close(&c, error), ENOSPC);
    close(fd);
}
END_TEST

/* What reads a compressed trace, and what writes it, stays in a core's own cache: the decoder is
 * given room for 256 KB of what was before, and no more. */
START_TEST(a_small_window_is_enough) {
    static uint8_t bytes[1 << 20], out[1 << 16];
    static uint8_t stored[2 << 20];
    compressor c;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 11);
    int fd = open(path, O_RDWR);
    ck_assert_int_eq(compressor_open(&c, fd, COMPRESSION_ZSTD), 0);
    ck_assert_int_eq(compressor_close(&c, compressor_write(&c, bytes, sizeof bytes)), 0);
    ssize_t size = pread(fd, stored, sizeof stored, 0);
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 18);
    ZSTD_inBuffer from = {.src = stored, .size = (size_t)size};
    size_t left = 1, total = 0;
    while (left) {
        ZSTD_outBuffer to = {.dst = out, .size = sizeof out};
        left = ZSTD_decompressStream(decoder, &to, &from);
        ck_assert_msg(!ZSTD_isError(left), "%s", ZSTD_getErrorName(left));
        ck_assert_mem_eq(out, bytes + total, to.pos);
        total += to.pos;
    }
    ck_assert_uint_eq(total, sizeof bytes);
    ZSTD_freeDCtx(decoder);
    close(fd);
}
END_TEST

static Suite *relabel_suite(void) {
    Suite *s = suite_create("relabel");
    TCase *t = tcase_create("relabel");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, make_file, remove_file);
    tcase_add_loop_test(t, equal_names_change_nothing, 0, 2);
    tcase_add_test(t, the_end_stays);
    tcase_add_test(t, names_are_those_given);
    tcase_add_test(t, damage_is_left_to_others);
    tcase_add_loop_test(t, names_are_written_compressed, 0, N_ENDINGS);
    tcase_add_loop_test(t, files_are_compressed_by_name, 0, N_ENDINGS);
    tcase_add_loop_test(t, what_cannot_be_written_is_said, 0, N_ENDINGS);
    tcase_add_test(t, a_small_window_is_enough);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(relabel_suite)
