/* Tests of where the reader's bytes come from: files, pipes and memory, compressed or not; and of
 * the errors when there is no trace in them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "allotrace/memtrace.h"
#include "base/hash.h"
#include "base/vec.h"
#include "unit.h"

typedef VEC(uint8_t) bytes;

static void bytes_free(bytes *b) {
    vec_free(b);
}

#define OWNED __attribute__((cleanup(bytes_free)))

static bytes read_file(const char *path) {
    bytes b = {0};
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
    for (int c; (c = getc(f)) != EOF;)
        vec_push(&b, (uint8_t)c);
    fclose(f);
    return b;
}

static char *data_path(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("TEST_DATA"), name);
    return path;
}

static bytes real_trace(void) {
    return read_file(data_path("traces/irmin-replay.ctf"));
}

/* What a trace holds, as one number, and how its reading ended. */
typedef struct summary {
    uint64_t hash, n_events;
    memtrace_status status;
    size_t n_warnings;
    memtrace_defect defect; /* the first */
} summary;

static summary read_all(memtrace_reader *r) {
    summary s = {0};
    memtrace_event e;
    while ((s.status = memtrace_reader_next(r, &e)) == MEMTRACE_OK) {
        uint64_t fields[] = {s.hash, e.kind, e.time, e.id, e.length, e.samples, e.common_prefix};
        s.hash = hash_bytes(fields, sizeof fields);
        for (uint32_t i = e.common_prefix; i < e.n_frames; i++)
            s.hash = hash_u64(s.hash ^ memtrace_reader_frame(r, e.frames[i])->code);
        s.n_events++;
    }
    const memtrace_warning *w = memtrace_reader_warnings(r, &s.n_warnings);
    s.defect = s.n_warnings ? w->defect : MEMTRACE_N_DEFECTS;
    memtrace_reader_close(r);
    return s;
}

static summary read_memory(const void *p, size_t size) {
    memtrace_reader *r;
    memtrace_error error;
    memtrace_status status = memtrace_reader_open_memory(p, size, NULL, &r, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    return read_all(r);
}

static void same_events(summary a, summary b) {
    ck_assert_uint_eq(a.n_events, b.n_events);
    ck_assert_uint_eq(a.hash, b.hash);
    ck_assert_int_eq(a.status, MEMTRACE_END);
    ck_assert_uint_eq(a.n_warnings, 0);
}

/* ---- pipes ------------------------------------------------------------------------------- */

typedef struct feed {
    const bytes *content;
    size_t piece;
    int fd;
} feed;

static void *feed_pipe(void *argument) {
    const feed *f = argument;
    for (size_t at = 0; at < f->content->count; at += f->piece) {
        size_t left = f->content->count - at, n = left < f->piece ? left : f->piece;
        if (write(f->fd, f->content->items + at, n) != (ssize_t)n)
            break;
    }
    close(f->fd);
    return NULL;
}

/* Reads `content` from a pipe that gives `piece` bytes at a time. */
static summary read_pipe(const bytes *content, size_t piece) {
    int fd[2];
    pthread_t thread;
    memtrace_reader *r;
    memtrace_error error;
    ck_assert_int_eq(pipe(fd), 0);
    feed f = {.content = content, .piece = piece, .fd = fd[1]};
    pthread_create(&thread, NULL, feed_pipe, &f);
    memtrace_status status = memtrace_reader_open_fd(fd[0], NULL, &r, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    summary s = read_all(r);
    pthread_join(thread, NULL);
    return s;
}

static bytes gzip(const bytes *b) {
    bytes out = {0};
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert(vec_reserve(&out, deflateBound(&z, b->count)));
    z.next_in = b->items;
    z.avail_in = (uInt)b->count;
    z.next_out = out.items;
    z.avail_out = (uInt)out.capacity;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.count = z.total_out;
    deflateEnd(&z);
    return out;
}

static bytes zstd(const bytes *b) {
    bytes out = {0};
    ck_assert(vec_reserve(&out, ZSTD_compressBound(b->count)));
    out.count = ZSTD_compress(out.items, out.capacity, b->items, b->count, 3);
    ck_assert(!ZSTD_isError(out.count));
    return out;
}

typedef bytes compressor(const bytes *);
static compressor *const compressors[] = {gzip, zstd};

START_TEST(a_file_a_pipe_and_memory_are_the_same) {
    OWNED bytes b = real_trace();
    summary memory = read_memory(b.items, b.count);
    ck_assert_uint_eq(memory.n_events, 21940);
    memtrace_reader *r;
    ck_assert_int_eq(memtrace_reader_open(data_path("traces/irmin-replay.ctf"), NULL, &r, NULL),
                     MEMTRACE_OK);
    same_events(read_all(r), memory);
    same_events(read_pipe(&b, 1), memory);
    same_events(read_pipe(&b, 4097), memory);
}
END_TEST

START_TEST(compressed_traces_are_the_same) {
    OWNED bytes b = real_trace(), packed = compressors[_i](&b);
    ck_assert_uint_lt(packed.count, b.count);
    summary plain = read_memory(b.items, b.count);
    same_events(read_memory(packed.items, packed.count), plain);
    same_events(read_pipe(&packed, 1), plain);
    same_events(read_pipe(&packed, 5000), plain);
}
END_TEST

/* As `cat a.gz b.gz` makes them: a trace in two members. */
START_TEST(members_follow_each_other) {
    OWNED bytes b = real_trace();
    bytes first = b, second = b;
    first.count = 100000;
    second.items += 100000;
    second.count -= 100000;
    OWNED bytes packed = compressors[_i](&first), tail = compressors[_i](&second);
    for (size_t i = 0; i < tail.count; i++)
        vec_push(&packed, tail.items[i]);
    same_events(read_memory(packed.items, packed.count), read_memory(b.items, b.count));
    same_events(read_pipe(&packed, 1000), read_memory(b.items, b.count));
}
END_TEST

/* All that was compressed before the cut is read, and the cut is said. */
START_TEST(a_compressed_trace_may_be_cut) {
    OWNED bytes b = real_trace(), packed = compressors[_i](&b);
    summary cut = read_memory(packed.items, packed.count / 2);
    ck_assert_uint_gt(cut.n_events, 2000);
    ck_assert_int_eq(cut.status, MEMTRACE_END);
    ck_assert_uint_eq(cut.n_warnings, 1);
    ck_assert_int_eq(cut.defect, MEMTRACE_DEFECT_CUT_SHORT);
    cut = read_memory(packed.items, packed.count - 1); /* only the checksum is incomplete */
    ck_assert_int_eq(cut.defect, _i == 0 ? MEMTRACE_DEFECT_CUT_SHORT : cut.defect);
    ck_assert_int_eq(cut.status, MEMTRACE_END);
}
END_TEST

START_TEST(a_compressed_trace_may_be_damaged) {
    OWNED bytes b = real_trace(), packed = compressors[_i](&b);
    for (size_t i = packed.count / 2; i < packed.count / 2 + 50; i++)
        packed.items[i] ^= 0xFF;
    summary s = read_memory(packed.items, packed.count);
    ck_assert_int_eq(s.status, MEMTRACE_END);
    ck_assert_uint_ge(s.n_warnings, 1);
}
END_TEST

static void append(bytes *to, const bytes *more) {
    ck_assert(vec_reserve(to, more->count));
    memcpy(to->items + to->count, more->items, more->count);
    to->count += more->count;
}

static void count_call(void *context, const memtrace_reader *reader) {
    (void)reader;
    ++*(unsigned *)context;
}

/* The two halves of a trace, compressed, with so many megabytes of zeros between them. */
static summary read_around_nothing(compressor *compress, unsigned megabytes, unsigned *n_calls) {
    OWNED bytes b = real_trace();
    OWNED bytes zeros = {.items = calloc(1 << 20, 1), .count = 1 << 20, .capacity = 1 << 20};
    bytes first = b, second = b;
    first.count = b.count / 2;
    second.items += first.count;
    second.count -= first.count;
    OWNED bytes packed = compress(&first), nothing = compress(&zeros), tail = compress(&second);
    memtrace_reader *r;
    for (unsigned i = 0; i < megabytes; i++)
        append(&packed, &nothing);
    append(&packed, &tail);
    ck_assert_int_eq(memtrace_reader_open_memory(packed.items, packed.count, NULL, &r, NULL),
                     MEMTRACE_OK);
    memtrace_reader_on_packet(r, count_call, n_calls);
    return read_all(r);
}

START_TEST(little_that_holds_nothing_takes_little_time) {
    unsigned n_few = 0, n_many = 0;
    const summary few = read_around_nothing(compressors[_i], 100, &n_few);
    const summary many = read_around_nothing(compressors[_i], 300, &n_many);
    ck_assert_uint_gt(few.n_events, 19000);
    ck_assert_uint_gt(many.n_events, 8000);
    ck_assert_uint_lt(many.n_events, 13000); /* no more is read */
    ck_assert_uint_gt(n_few, 100);           /* whoever waits for it sees that it goes on */
}
END_TEST

START_TEST(progress_counts_stored_bytes) {
    memtrace_reader *r;
    memtrace_event event;
    uint64_t done, total, before = 0;
    OWNED bytes b = real_trace();
    ck_assert_int_eq(memtrace_reader_open(data_path("traces/irmin-replay.ctf"), NULL, &r, NULL),
                     MEMTRACE_OK);
    do {
        memtrace_reader_progress(r, &done, &total);
        ck_assert_uint_ge(done, before);
        before = done;
        ck_assert_uint_eq(total, b.count);
    } while (memtrace_reader_next(r, &event) == MEMTRACE_OK);
    memtrace_reader_progress(r, &done, &total);
    ck_assert_uint_eq(done, total);
    memtrace_reader_close(r);
    OWNED bytes packed = gzip(&b);
    ck_assert_int_eq(memtrace_reader_open_memory(packed.items, packed.count, NULL, &r, NULL),
                     MEMTRACE_OK);
    while (memtrace_reader_next(r, &event) == MEMTRACE_OK)
        ;
    memtrace_reader_progress(r, &done, &total);
    ck_assert_uint_eq(done, packed.count);
    ck_assert_uint_eq(total, packed.count);
    memtrace_reader_close(r);
}
END_TEST

/* ---- a file that changes while it is read ------------------------------------------------ */

START_TEST(a_file_truncated_while_it_is_read_is_cut_short) {
    char path[] = "/tmp/test-reader-XXXXXX";
    OWNED bytes b = real_trace();
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, b.items, b.count), (ssize_t)b.count);
    memtrace_reader *r;
    memtrace_event event;
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &r, NULL), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_reader_next(r, &event), MEMTRACE_OK);
    ck_assert_int_eq(ftruncate(fd, 1000), 0);
    summary s = read_all(r);
    close(fd);
    unlink(path);
    ck_assert_int_eq(s.status, MEMTRACE_END);
    ck_assert_int_eq(s.defect, MEMTRACE_DEFECT_CUT_SHORT);
}
END_TEST

/* ---- no trace ---------------------------------------------------------------------------- */

START_TEST(a_missing_file_is_a_system_error) {
    memtrace_reader *r = (memtrace_reader *)&r;
    memtrace_error error;
    ck_assert_int_eq(memtrace_reader_open("/nonexistent/x.ctf", NULL, &r, &error), MEMTRACE_IO);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(error.os_error, ENOENT);
    ck_assert_str_eq(error.reason, "cannot open: No such file or directory");
    ck_assert_int_eq(memtrace_reader_open("/", NULL, &r, &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, EISDIR);
    ck_assert_str_eq(error.reason, "cannot read: Is a directory");
}
END_TEST

START_TEST(what_is_no_descriptor_is_a_system_error) {
    memtrace_reader *r;
    memtrace_error error;
    ck_assert_int_eq(memtrace_reader_open_fd(-1, NULL, &r, &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, EBADF);
    ck_assert_ptr_null(r);
}
END_TEST

START_TEST(an_open_that_fails_closes_its_file) {
    int fd = open("/dev/null", O_RDONLY);
    memtrace_reader *r;
    memtrace_error error;
    ck_assert_int_eq(memtrace_reader_open_fd(fd, NULL, &r, &error), MEMTRACE_FORMAT);
    ck_assert_str_eq(error.reason, "empty file");
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

/* Each file of golden/ is no trace; NAME.expected says at which byte and why. */
START_TEST(each_bad_file_has_its_message) {
    unsigned n = 0;
    DIR *dir = opendir(data_path("golden"));
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[300], expected[512] = "", got[512];
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".expected"))
            continue;
        snprintf(name, sizeof name, "golden/%s.expected", entry->d_name);
        OWNED bytes text = read_file(data_path(name));
        memcpy(expected, text.items, text.count - 1); /* without the newline */
        snprintf(name, sizeof name, "golden/%s", entry->d_name);
        memtrace_reader *r;
        memtrace_error error;
        memtrace_status status = memtrace_reader_open(data_path(name), NULL, &r, &error);
        snprintf(got, sizeof got, "%llu: %s", (unsigned long long)error.offset, error.reason);
        ck_assert_msg(status == MEMTRACE_FORMAT && strcmp(got, expected) == 0,
                      "%s\n  expected: %s\n  got:      %s", name, expected, got);
        n++;
    }
    closedir(dir);
    ck_assert_uint_ge(n, 10);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("reader_input");
    TCase *c = tcase_create("input");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_file_a_pipe_and_memory_are_the_same);
    tcase_add_loop_test(c, compressed_traces_are_the_same, 0, 2);
    tcase_add_loop_test(c, members_follow_each_other, 0, 2);
    tcase_add_loop_test(c, a_compressed_trace_may_be_cut, 0, 2);
    tcase_add_loop_test(c, a_compressed_trace_may_be_damaged, 0, 2);
    tcase_add_loop_test(c, little_that_holds_nothing_takes_little_time, 0, 2);
    tcase_add_test(c, progress_counts_stored_bytes);
    tcase_add_test(c, a_file_truncated_while_it_is_read_is_cut_short);
    tcase_add_test(c, a_missing_file_is_a_system_error);
    tcase_add_test(c, what_is_no_descriptor_is_a_system_error);
    tcase_add_test(c, an_open_that_fails_closes_its_file);
    tcase_add_test(c, each_bad_file_has_its_message);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
