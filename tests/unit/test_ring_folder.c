/* Tests of which files in the folder of a ring are segments, and of which go first. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ring/ring_folder.h"
#include "unit.h"

enum { SIZE = 64 << 10, START = 1700000000 /* s since the epoch */ };

#define NS UINT64_C(1000000000)

static char folder[] = "/tmp/ring-folder.XXXXXX";

static void begin(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void end(void) {
    ck_assert_int_eq(system("rm -r \"$PWD\""), 0);
    ck_assert_int_eq(chdir("/"), 0);
}

/* A file that was last changed so many seconds after START. */
static void make(const char *name, int seconds) {
    static const char bytes[SIZE];
    const struct timespec changed = {.tv_sec = START + seconds}, times[] = {changed, changed};
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ck_assert_int_eq(write(fd, bytes, sizeof bytes), SIZE);
    ck_assert_int_eq(fsync(fd), 0); /* before that, some file systems give it no blocks */
    ck_assert_int_eq(futimens(fd, times), 0);
    close(fd);
}

static bool is_there(const char *name) {
    return access(name, F_OK) == 0;
}

static int lock(const char *name) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
    return fd;
}

START_TEST(a_name_says_when_what_and_whose) {
    const memtrace_info info = {
        .start_time = START * UINT64_C(1000000), .pid = 47, .executable_name = "/bin/a-b.c"};
    char path[PATH_MAX];
    ck_assert(ring_segment_path("d", &info, 3, path, sizeof path));
    ck_assert_str_eq(path, "d/20231114T221320Z-a-b.c.47-000003.ctf");
    ck_assert_uint_eq(ring_segment_process(path), 47);
    ck_assert(ring_segment_path("d", &info, 1234567, path, sizeof path));
    ck_assert_uint_eq(ring_segment_process(path), 47);
    ck_assert(!ring_segment_path("d", &info, 3, path, 20));
    ck_assert_uint_eq(ring_segment_process("x.ctf"), 0);
    ck_assert_uint_eq(ring_segment_process("20231114T221320Z-x-000003.ctf"), 0);
}
END_TEST

START_TEST(nothing_but_segments_is_listed) {
    static const char *const names[] = {"20231114T221320Z-b.2-000000.ctf",
                                        "20231114T221320Z-a.1-000001.ctf",
                                        "x.ctf",
                                        "y.ctf.zst",
                                        ".1.2.spool",
                                        ".hidden.ctf",
                                        "notes",
                                        "20231114T221320Z-a.1-00001.ctf",
                                        "20231114T221320Z-a.1-000001.ctf.idx"};
    ring_files files;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        make(names[i], 0);
    ck_assert_int_eq(mkdir("20231114T221320Z-c.3-000000.ctf", 0777), 0);
    ck_assert(ring_folder_list(folder, false, &files));
    ck_assert_uint_eq(files.count, 2);
    ck_assert_ptr_nonnull(strstr(files.items[0].path, names[1]));
    ck_assert_ptr_nonnull(strstr(files.items[1].path, names[0]));
    ck_assert_uint_ge(files.items[0].size, SIZE);
    ck_assert_uint_eq(files.items[0].changed, START * NS);
    ring_files_free(&files);
    ck_assert(ring_folder_list(folder, true, &files));
    ck_assert_uint_eq(files.count, 5);
    ring_files_free(&files);
    ck_assert(!ring_folder_list("nowhere", false, &files));
    ring_files_free(&files);
}
END_TEST

/* Whose names come first, but what was written first. */
START_TEST(the_oldest_go_first_with_their_indices) {
    static const char *const names[] = {"1-b.2-000000.ctf", "1-a.1-000000.ctf", "1-a.1-000001.ctf"};
    for (int i = 0; i < 3; i++)
        make(names[i], i);
    make("1-b.2-000000.ctf.idx", 9);
    make("x.ctf", 0);
    ring_folder_trim(folder, "", 3 * SIZE, 0);
    ck_assert(is_there(names[0]));
    ring_folder_trim(folder, "", 2 * SIZE, 0);
    ck_assert(!is_there(names[0]) && !is_there("1-b.2-000000.ctf.idx"));
    ck_assert(is_there(names[1]) && is_there(names[2]) && is_there("x.ctf"));
    ring_folder_trim(folder, "", UINT64_MAX, (START + 2) * NS);
    ck_assert(!is_there(names[1]) && is_there(names[2]));
}
END_TEST

/* The first two are dated by a clock that was then set back by an hour. */
START_TEST(a_clock_set_back_does_not_make_older_segments_newer) {
    make("1-a.1-000000.ctf", 3600);
    make("1-a.1-000001.ctf", 3601);
    make("1-a.1-000002.ctf", 2);
    make("1-b.2-000000.ctf", 5);
    ring_folder_trim(folder, "", 2 * SIZE, 0);
    ck_assert(!is_there("1-a.1-000000.ctf") && !is_there("1-a.1-000001.ctf"));
    ck_assert(is_there("1-a.1-000002.ctf") && is_there("1-b.2-000000.ctf"));
}
END_TEST

START_TEST(a_clock_set_forward_makes_nothing_older) {
    enum { KEEP = 600, YEAR = 31536000 };
    const uint64_t s = 1000000, boot = 50 * s, wall = START * s;
    ring_clock c = {0};
    ck_assert_uint_eq(ring_clock_limit(&c, KEEP * s, wall, boot), wall - KEEP * s);
    ck_assert_uint_eq(ring_clock_limit(&c, KEEP * s, wall + 10 * s, boot + 9 * s + s / 2),
                      wall + 10 * s - KEEP * s);
    for (uint64_t i = 20; i < 20 + KEEP; i += 10) /* set to a year later after 20 s */
        ck_assert_uint_eq(ring_clock_limit(&c, KEEP * s, wall + (YEAR + i) * s, boot + i * s),
                          wall + i * s - KEEP * s + s / 2);
    ck_assert_uint_eq(
        ring_clock_limit(&c, KEEP * s, wall + (YEAR + 20 + KEEP) * s, boot + (20 + KEEP) * s),
        wall + (YEAR + 20) * s);
    ck_assert_uint_eq(ring_clock_limit(&c, KEEP * s, wall, boot + (30 + KEEP) * s),
                      wall - KEEP * s); /* set back */
}
END_TEST

START_TEST(what_is_being_written_stays) {
    char current[PATH_MAX];
    make("1-a.1-000000.ctf", 0);
    make("1-b.2-000000.ctf", 1);
    make("1-c.3-000000.ctf", 2);
    snprintf(current, sizeof current, "%s/1-a.1-000000.ctf", folder);
    const int fd = lock("1-b.2-000000.ctf");
    ring_folder_trim(folder, current, 0, 0);
    ck_assert(is_there("1-a.1-000000.ctf") && is_there("1-b.2-000000.ctf"));
    ck_assert(!is_there("1-c.3-000000.ctf"));
    close(fd);
    ring_folder_trim(folder, "", 0, 0);
    ck_assert(!is_there("1-a.1-000000.ctf") && !is_there("1-b.2-000000.ctf"));
}
END_TEST

START_TEST(a_segment_goes_on_while_it_is_written_or_followed) {
    make("1-a.1-000000.ctf", 0);
    ck_assert(!ring_segment_goes_on("1-a.1-000000.ctf"));
    const int fd = lock("1-a.1-000000.ctf");
    ck_assert(ring_segment_goes_on("1-a.1-000000.ctf"));
    close(fd);
    make("1-a.1-000001.ctf", 0);
    ck_assert(ring_segment_goes_on("1-a.1-000000.ctf"));
    ck_assert(!ring_segment_goes_on("1-a.1-000001.ctf"));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("ring_folder");
    TCase *c = tcase_create("ring_folder");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_test(c, a_name_says_when_what_and_whose);
    tcase_add_test(c, nothing_but_segments_is_listed);
    tcase_add_test(c, the_oldest_go_first_with_their_indices);
    tcase_add_test(c, a_clock_set_back_does_not_make_older_segments_newer);
    tcase_add_test(c, a_clock_set_forward_makes_nothing_older);
    tcase_add_test(c, what_is_being_written_stays);
    tcase_add_test(c, a_segment_goes_on_while_it_is_written_or_followed);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
