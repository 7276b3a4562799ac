/* test_progress.c: the line that says what a command is at, as a terminal gets it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "unit.h"

enum { LONG_ENOUGH_MS = 20000 };

static int terminal = -1; /* its other end */
static char seen[1 << 16];
static size_t n_seen;

/* From now on, standard error is a terminal. */
static void watch(unsigned short columns) {
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const int fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_row = 25, .ws_col = columns};
    ck_assert(fd >= 0 && ioctl(fd, TIOCSWINSZ, &size) == 0);
    unsetenv("COLUMNS");
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
}

/* Adds what there is to `seen`, for which it waits so long. */
static bool hear(int ms) {
    struct pollfd one = {.fd = terminal, .events = POLLIN};
    if (poll(&one, 1, ms) <= 0)
        return false;
    const ssize_t n = read(terminal, seen + n_seen, sizeof seen - 1 - n_seen);
    n_seen += n > 0 ? (size_t)n : 0;
    seen[n_seen] = '\0';
    return n > 0;
}

static void await(const char *text) {
    while (!strstr(seen, text))
        ck_assert_msg(hear(LONG_ENOUGH_MS), "no %s", text);
}

/* What comes at once. */
static const char *heard(void) {
    n_seen = 0;
    seen[0] = '\0';
    while (hear(0))
        ;
    return seen;
}

START_TEST(what_takes_long_is_shown_and_removed) {
    watch(80);
    progress_say("%s: %d%%", "a.ctf", 7);
    await("\ra.ctf: 7%");
    progress_end();
    await("\r\033[K");
    ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(what_is_over_at_once_is_not_shown) {
    watch(80);
    progress_say("soon over");
    progress_end();
    progress_say("a.ctf: later");
    await("later");
    ck_assert_ptr_null(strstr(seen, "soon"));
    ck_assert_ptr_null(strstr(seen, "\033"));
    progress_end();
}
END_TEST

/* None of them takes long: together they do. */
START_TEST(one_thing_after_the_other_is_shown) {
    watch(80);
    for (int i = 0; i < 20 && !strstr(seen, "a.ctf: part"); i++) {
        progress_say("a.ctf: part %d", i);
        hear(400);
        progress_end();
    }
    ck_assert_ptr_nonnull(strstr(seen, "a.ctf: part"));
}
END_TEST

START_TEST(the_last_word_stands_alone) {
    watch(80);
    progress_say("a.ctf: what is first and long");
    await("long");
    progress_say("a.ctf: short");
    await("\ra.ctf: short\033[K");
    progress_end();
}
END_TEST

START_TEST(a_message_comes_between) {
    watch(80);
    progress_say("a.ctf: at it");
    await("at it");
    progress_wipe();
    ck_assert_int_eq(write(STDERR_FILENO, "said", 4), 4);
    await("\r\033[Ksaid");
    await("said\ra.ctf: at it");
    progress_end();
}
END_TEST

/* A line that wraps could not be taken back; what may be obeyed is no name. */
START_TEST(a_long_or_strange_name_stays_a_line) {
    watch(20);
    progress_say("/a/long/folder/\033[2Jname/of.ctf: 99%%");
    await("99%");
    ck_assert_ptr_null(strchr(seen, '\033'));
    ck_assert_ptr_nonnull(strstr(seen, "\r[2Jname/of.ctf: 99%"));
    progress_end();
}
END_TEST

static void stop(int sig) {
    progress_interrupted();
    raise(sig);
}

START_TEST(nothing_is_left_when_interrupted) {
    watch(80);
    const pid_t child = fork();
    if (child == 0) {
        const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
        sigaction(SIGINT, &action, NULL);
        progress_say("a.ctf: at it");
        for (;;)
            pause();
    }
    await("at it");
    kill(child, SIGINT);
    int status;
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    while (hear(0))
        ;
    ck_assert_str_eq(seen + n_seen - 4, "\r\033[K");
}
END_TEST

START_TEST(nothing_goes_into_a_file) {
    char name[] = "/tmp/progress-XXXXXX";
    const int fd = mkstemp(name);
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    progress_say("a.ctf: at it");
    sleep(2);
    progress_end();
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), 0);
    unlink(name);
    close(fd);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("progress");
    TCase *t = tcase_create("progress");
    tcase_add_test(t, what_takes_long_is_shown_and_removed);
    tcase_add_test(t, what_is_over_at_once_is_not_shown);
    tcase_add_test(t, one_thing_after_the_other_is_shown);
    tcase_add_test(t, the_last_word_stands_alone);
    tcase_add_test(t, a_message_comes_between);
    tcase_add_test(t, a_long_or_strange_name_stays_a_line);
    tcase_add_test(t, nothing_is_left_when_interrupted);
    tcase_add_test(t, nothing_goes_into_a_file);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
