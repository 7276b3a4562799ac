/* test_result_room.c: what there is no room for is not begun. Messages are looked at in a pipe. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/result_room.h"
#include "unit.h"

static int said = -1; /* what stands on standard error comes here */

static void listen(void) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    said = ends[0];
}

static const char *heard(void) {
    static char text[1000];
    close(STDERR_FILENO);
    const ssize_t n = read(said, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static int new_file(void) {
    char path[] = "/tmp/room-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

START_TEST(what_no_disk_holds_is_refused) {
    listen();
    ck_assert(!result_room_suffices(new_file(), "x.csv", UINT64_MAX / 4));
    const char *text = heard();
    ck_assert_ptr_nonnull(strstr(text, "x.csv: the output would take about 4.0 EB, and only"));
    ck_assert_ptr_nonnull(strstr(text, "--filter"));
}
END_TEST

START_TEST(a_pipe_takes_anything) {
    listen();
    ck_assert(result_room_suffices(said, "x.csv", UINT64_MAX / 4));
    ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(limits_of_the_process_count) {
    const int fd = new_file();
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, RLIM_INFINITY}), 0);
    ck_assert_uint_eq(result_room(fd), 1000);
    ck_assert_int_eq(write(fd, "12345", 5), 5);
    ck_assert_uint_eq(result_room(fd), 995);
}
END_TEST

/* A file system with less room than that refuses. */
START_TEST(what_is_large_is_said) {
    const int fd = new_file();
    const uint64_t bytes = RESULT_LARGE + (uint64_t)_i;
    listen();
    const bool fits = result_room(fd) >= 2 * RESULT_LARGE;
    ck_assert(result_room_suffices(fd, "x.csv", bytes) || !fits);
    const char *text = heard();
    if (fits && _i < 0)
        ck_assert_str_eq(text, "");
    else if (fits)
        ck_assert_ptr_nonnull(strstr(text, "warning: x.csv: the output will take about 1.0 GB"));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("result_room");
    TCase *t = tcase_create("result_room");
    tcase_add_test(t, what_no_disk_holds_is_refused);
    tcase_add_test(t, a_pipe_takes_anything);
    tcase_add_test(t, limits_of_the_process_count);
    tcase_add_loop_test(t, what_is_large_is_said, -1, 1);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
