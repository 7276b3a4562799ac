/* Tests of the room for names behind the head of a trace, and of filling it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "trace/relabel.h"
#include "trace/rewrite.h"
#include "trace/room.h"
#include "trace_fixture.h"

/* Names are written by pwrite, and by nothing else: a process can be made to end before any. */
static int writes_left = -1; /* -1: never */

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    if (writes_left == 0)
        _exit(0);
    writes_left -= writes_left > 0;
    return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

static char path[] = "/tmp/allotrace-room-XXXXXX";

static void make_file(void) {
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void) {
    unlink(path);
}

/* ---- traces ---------------------------------------------------------------------------------- */

enum { N_SITES = 3000, ROOM_SIZE = 16 * ROOM_SLOT, ENOUGH = WORTH_ROOM * ROOM_SIZE };

static size_t old_name(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    (void)context, (void)code, (void)max;
    locations[0] = (memtrace_location){.file = "a.c", .function = "old", .line = 1};
    return 1;
}

#define ROOM                                                                                       \
    { .sink_spread = fixture_sink_spread, .room = ROOM_SIZE - 1 }

/* A stream of stacks with `n_sites` call sites of its own, as large as `size`. Half of the sites
 * are met early, the others throughout. */
static void write_stream(fixture *f, uint16_t domain, uint64_t n_sites, size_t size) {
    enum { DEPTH = 200 }; /* makes a large trace of few events */
    memtrace_stream *s;
    uint64_t seed = domain, id, time = 0, frames[DEPTH];
    const size_t begin = f->bytes.count;
    ck_assert_int_eq(memtrace_stream_open(f->writer, domain, &s), MEMTRACE_OK);
    for (size_t done = 0; done < size; done = f->bytes.count - begin) {
        const uint64_t known = n_sites / 2 + n_sites / 2 * done / size;
        for (size_t i = 0; i < DEPTH; i++)
            frames[i] = n_sites * domain + next_random(&seed) % known + 1;
        time += 50;
        ck_assert_int_eq(
            memtrace_stream_alloc(s, time, MEMTRACE_EXTERNAL, seed % 40, 1, frames, DEPTH, 0, &id),
            MEMTRACE_OK);
        ck_assert_int_eq(memtrace_stream_collect(s, time, id), MEMTRACE_OK);
    }
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
}

/* Writes a trace with room to the file. */
static void make_trace(uint16_t n_domains, uint64_t n_sites, size_t size) {
    fixture f = {.hooks = ROOM};
    f.hooks.locate = old_name;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    for (uint16_t i = 0; i < n_domains; i++)
        write_stream(&f, i, n_sites, size / n_domains);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    write_file(path, f.bytes.items, f.bytes.count);
    fixture_free(&f);
}

/* What a trace says. */
typedef struct contents {
    uint64_t events; /* a hash of them all in any order, whatever places are called */
    size_t n_events, n_old, n_new;
} contents;

static uint64_t mixed(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x100000001B3);
}

static contents read_trace(void) {
    contents c = {0};
    memtrace_reader *reader;
    memtrace_event e;
    memtrace_status status;
    size_t n_warnings;
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    for (; (status = memtrace_reader_next(reader, &e)) == MEMTRACE_OK; c.n_events++) {
        uint64_t hash = mixed(mixed(mixed(0, e.time), e.id), e.kind);
        for (size_t i = 0; e.kind == MEMTRACE_ALLOC && i < e.n_frames; i++)
            hash = mixed(hash, memtrace_reader_frame(reader, e.frames[i])->code);
        c.events += hash;
    }
    ck_assert_int_eq(status, MEMTRACE_END);
    const memtrace_warning *warnings = memtrace_reader_warnings(reader, &n_warnings);
    ck_assert_msg(n_warnings == 0, "defect %d at byte %" PRIu64, (int)warnings[0].defect,
                  warnings[0].first_offset);
    for (uint32_t i = 0; i < memtrace_reader_n_frames(reader); i++) {
        const memtrace_frame *frame = memtrace_reader_frame(reader, i);
        ck_assert_uint_eq(frame->n_locations, 1);
        c.n_old += strcmp(frame->locations[0].function, "old") == 0;
        c.n_new += strncmp(frame->locations[0].function, "new", 3) == 0;
    }
    ck_assert_uint_eq(c.n_old + c.n_new, memtrace_reader_n_frames(reader));
    memtrace_reader_close(reader);
    return c;
}

static void assert_same_events(const contents *a, const contents *b) {
    ck_assert_uint_eq(a->n_events, b->n_events);
    ck_assert_uint_eq(a->events, b->events);
}

/* ---- giving names ---------------------------------------------------------------------------- */

static size_t new_name(void *user, uint64_t code, const memtrace_frame *frame,
                       memtrace_location *locations, size_t max) {
    static char names[2 * N_SITES + 1][320]; /* they stay valid */
    const int *length = user;                /* of a name, at least */
    (void)frame, (void)max;
    ck_assert_uint_le(code, 2 * N_SITES);
    snprintf(names[code], sizeof names[code], "new%0*" PRIu64, *length, code);
    locations[0] = (memtrace_location){.file = "b.c", .function = names[code], .line = 2};
    return 1;
}

static void give_names(int length, const char *to) {
    relabel *r;
    memtrace_event event;
    ck_assert_int_eq(relabel_open(&r, path, NULL), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_reader_next(relabel_names(r), &event), MEMTRACE_END);
    ck_assert_int_eq(relabel_write(r, new_name, &length, to, NULL), MEMTRACE_OK);
    relabel_close(r);
}

static struct stat about(const char *file) {
    struct stat st;
    ck_assert_int_eq(stat(file, &st), 0);
    return st;
}

/* Gives names of such a length; whether the file is the same one afterwards. */
static bool names_are_given_in_place(int length) {
    const contents before = read_trace();
    const struct stat old = about(path);
    give_names(length, path);
    const struct stat new = about(path);
    const contents after = read_trace();
    assert_same_events(&after, &before);
    ck_assert_uint_eq(after.n_old, 0);
    const bool same = old.st_ino == new.st_ino;
    ck_assert(same == (old.st_size == new.st_size));
    return same;
}

START_TEST(names_go_into_the_room) {
    make_trace(1, N_SITES, ENOUGH);
    ck_assert(names_are_given_in_place(20));
    ck_assert_uint_gt(read_trace().n_new, N_SITES / 2);
    ck_assert(!names_are_given_in_place(30)); /* it is not empty any more */
}
END_TEST

START_TEST(names_go_elsewhere_without_a_copy_of_the_room) {
    char to[sizeof path + 8];
    make_trace(1, N_SITES, ENOUGH);
    snprintf(to, sizeof to, "%s.other", path);
    give_names(20, to);
    ck_assert_uint_eq(read_trace().n_new, 0);
    ck_assert_int_lt(about(to).st_size, about(path).st_size - ROOM_SIZE / 2);
    ck_assert_int_eq(rename(to, path), 0);
    ck_assert_uint_gt(read_trace().n_new, N_SITES / 2);
}
END_TEST

START_TEST(a_copy_is_made_where_the_room_does_not_do) {
    make_trace(1, N_SITES, ENOUGH);
    ck_assert(!names_are_given_in_place(300)); /* too many bytes */
    make_trace(2, N_SITES, ENOUGH);
    ck_assert(!names_are_given_in_place(20)); /* the packets are out of order */
    make_trace(1, 10, ENOUGH / 8);
    ck_assert(!names_are_given_in_place(20)); /* the room is a large part of the trace */
}
END_TEST

START_TEST(a_trace_is_whole_whenever_it_ends) {
    size_t n_both = 0;
    bool ended = false;
    make_trace(1, N_SITES, ENOUGH);
    const contents before = read_trace();
    char saved[sizeof path + 8];
    snprintf(saved, sizeof saved, "%s.saved", path);
    ck_assert_int_eq(rename(path, saved), 0);
    for (int n = 0; !ended; n += n < 10 ? 1 : 31) { /* there are some 300 */
        char copy[256];
        snprintf(copy, sizeof copy, "cp %s %s", saved, path);
        ck_assert_int_eq(system(copy), 0);
        const pid_t child = fork();
        if (child == 0) {
            writes_left = n;
            give_names(20, path);
            _exit(1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ended = WEXITSTATUS(status) == 1;
        const contents c = read_trace();
        assert_same_events(&c, &before);
        n_both += c.n_old > 0 && c.n_new > 0;
        if (!ended) {
            ck_assert(n != 0 || c.n_new == 0);
            give_names(20, path);
        }
        const contents completed = read_trace();
        assert_same_events(&completed, &before);
        ck_assert_uint_eq(completed.n_old, 0);
    }
    ck_assert_uint_ge(n_both, 3);
    unlink(saved);
}
END_TEST

/* ---- writing it ------------------------------------------------------------------------------ */

START_TEST(readers_skip_room) {
    fixture f = {.hooks = ROOM};
    source_of_events s;
    ck_assert_int_eq(fixture_open(&f, _i ? 3 : 2), MEMTRACE_OK);
    ck_assert(_i == (f.bytes.count > ROOM_SIZE)); /* older traces cannot have it */
    open_events(&s, &f, 0);
    random_walk(&s, 5, 1000, 500);
    ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    assert_decodes_to(&f, &s.expected);
    fixture_free(&f);
}
END_TEST

START_TEST(a_writer_without_space_for_the_room_does_not_open) {
    fixture f = {.hooks = ROOM, .fail_sink_at = _i};
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_IO);
    ck_assert_ptr_null(f.writer);
    fixture_free(&f);
}
END_TEST

static Suite *room_suite(void) {
    Suite *s = suite_create("room");
    TCase *t = tcase_create("room");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, make_file, remove_file);
    tcase_add_test(t, names_go_into_the_room);
    tcase_add_test(t, names_go_elsewhere_without_a_copy_of_the_room);
    tcase_add_test(t, a_copy_is_made_where_the_room_does_not_do);
    tcase_add_test(t, a_trace_is_whole_whenever_it_ends);
    tcase_add_loop_test(t, readers_skip_room, 0, 2);
    tcase_add_loop_test(t, a_writer_without_space_for_the_room_does_not_open, 1, 5);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(room_suite)
