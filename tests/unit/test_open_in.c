/* Tests of opening files of processes that see other ones: no link leads out of their root. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_in.h"
#include "unit.h"

static char folder[64];
static int root;

static void write_file(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A root with a file, a folder, and links that mean to lead out of it; beside it another file. */
static void setup(void) {
    snprintf(folder, sizeof folder, "/tmp/allotrace-open.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    write_file("outside", "outside");
    ck_assert_int_eq(mkdir("root", 0755) | mkdir("root/tmp", 0755), 0);
    write_file("root/outside", "inside");
    ck_assert_int_eq(symlink("/outside", "root/absolute"), 0);
    ck_assert_int_eq(symlink("../../../outside", "root/upwards"), 0);
    ck_assert_int_eq(symlink("/tmp", "root/linked"), 0);
    ck_assert_int_eq(symlink("/proc/self/fd/0", "root/magic"), 0);
    ck_assert_int_eq(mkfifo("root/pipe", 0644), 0);
    root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(root, 0);
}

static void teardown(void) {
    static const char *const all[] = {"root/outside", "root/absolute", "root/upwards",
                                      "root/linked",  "root/magic",    "root/pipe",
                                      "outside"};
    close(root);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unlink(all[i]);
    rmdir("root/tmp");
    rmdir("root");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void check_text(const char *path, const char *expected) {
    char text[16] = "";
    const int fd = open_in(root, path);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_ge(read(fd, text, sizeof text - 1), 0);
    ck_assert_str_eq(text, expected);
    close(fd);
}

START_TEST(links_end_in_the_root) {
    check_text("/outside", "inside");
    check_text("/absolute", "inside");
    check_text("/upwards", "inside");
    check_text("/../outside", "inside");
}
END_TEST

static void check_refused(const char *path, int error) {
    ck_assert_int_eq(open_in(root, path), -1);
    ck_assert_msg(errno == error, "%s: %s", path, strerror(errno));
}

START_TEST(only_files_are_opened) {
    check_refused("/missing", ENOENT);
    check_refused("/tmp", ENOEXEC);
    check_refused("/pipe", ENOEXEC); /* at once: nobody writes to it */
    ck_assert_int_eq(open_in(root, "/magic"), -1);
}
END_TEST

START_TEST(a_folder_is_no_link) {
    const int fd = open_folder_in(root, "/tmp");
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(open_folder_in(root, "/linked"), -1);
    ck_assert_int_eq(open_folder_in(root, "/outside"), -1);
}
END_TEST

START_TEST(without_a_root_paths_are_ours) {
    char text[8] = "";
    const int fd = open_in(0, "outside");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, text, 7), 7);
    ck_assert_str_eq(text, "outside");
    close(fd);
    ck_assert_int_eq(open_in(0, "/dev/null"), -1);
    ck_assert_int_eq(errno, ENOEXEC);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("open_in");
    TCase *t = tcase_create("open_in");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, links_end_in_the_root);
    tcase_add_test(t, only_files_are_opened);
    tcase_add_test(t, a_folder_is_no_link);
    tcase_add_test(t, without_a_root_paths_are_ours);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
