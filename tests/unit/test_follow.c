/* Tests of src/attach/follow: a process is stopped as a whole or not at all, also where another one
 * traces it at the same time. */
#include "attach/follow.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process.h"
#include "unit.h"

enum { THREADS = 4, MOST_THREADS = 16 };

/* What the threads of a process count as long as they run. */
static _Atomic unsigned long *counts;

static void *count(void *which) {
    for (;;) {
        atomic_fetch_add((_Atomic unsigned long *)which, 1);
        usleep(100);
    }
    return NULL;
}

static pid_t fork_for_us(void) {
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

static bool all_go_on(void) {
    enum { PATIENCE = 5000, AHEAD = 10 };
    unsigned long before[THREADS];
    int behind = THREADS;
    for (int i = 0; i < THREADS; i++)
        before[i] = counts[i];
    for (int tries = 0; tries < PATIENCE && behind; tries++) {
        usleep(1000);
        behind = 0;
        for (int i = 0; i < THREADS; i++)
            behind += counts[i] < before[i] + AHEAD;
    }
    return behind == 0;
}

static pid_t start_counting(void) {
    counts = mmap(NULL, THREADS * sizeof *counts, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(counts != MAP_FAILED);
    const pid_t pid = fork_for_us();
    if (pid == 0) {
        pthread_t threads[THREADS];
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        for (int i = 1; i < THREADS; i++)
            pthread_create(&threads[i], NULL, count, (void *)&counts[i]);
        count((void *)&counts[0]);
    }
    ck_assert(all_go_on());
    return pid;
}

/* Another process traces the last thread of it, for so long or until it is killed; 0: it cannot. */
static pid_t trace_last(pid_t pid, useconds_t us) {
    int ready[2];
    char is_traced = 0;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t tracer = fork_for_us();
    if (tracer == 0) {
        pid_t threads[MOST_THREADS];
        const size_t n = process_threads(pid, threads, MOST_THREADS);
        is_traced = n == THREADS && ptrace(PTRACE_SEIZE, threads[n - 1], 0, 0) == 0;
        if (write(ready[1], &is_traced, 1) == 1)
            us ? usleep(us) : pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &is_traced, 1), 1);
    ck_assert(is_traced);
    return tracer;
}

START_TEST(all_threads_stand_and_go_on) {
    const pid_t pid = start_counting();
    for (int i = 0; i < 20; i++) {
        follow_halt halt;
        remote_reason why = {""};
        unsigned long before[THREADS];
        ck_assert_msg(follow_stop(&halt, pid, 0, &why), "%s", why.text);
        ck_assert_uint_eq(halt.n, THREADS);
        memcpy(before, (void *)counts, sizeof before);
        usleep(5000);
        ck_assert_mem_eq(before, (void *)counts, sizeof before);
        follow_resume(&halt);
        ck_assert(all_go_on());
    }
}
END_TEST

START_TEST(where_another_traces_a_thread_none_is_left_standing) {
    const pid_t pid = start_counting(), tracer = trace_last(pid, 0);
    follow_halt halt;
    remote_reason why = {""};
    char expected[128];
    snprintf(expected, sizeof expected, "process %d is being traced by process %d", pid, tracer);
    ck_assert(!follow_stop(&halt, pid, 0, &why));
    ck_assert(all_go_on());
    ck_assert_str_eq(why.text, expected);
    kill(tracer, SIGKILL);
    waitpid(tracer, NULL, 0);
    ck_assert_msg(follow_stop(&halt, pid, 0, &why), "%s", why.text);
    follow_resume(&halt);
    ck_assert(all_go_on());
}
END_TEST

START_TEST(another_that_traces_for_a_moment_is_waited_for) {
    const pid_t pid = start_counting();
    trace_last(pid, 100000);
    follow_halt halt;
    remote_reason why = {""};
    ck_assert_msg(follow_stop(&halt, pid, 0, &why), "%s", why.text);
    ck_assert_uint_eq(halt.n, THREADS);
    follow_resume(&halt);
    ck_assert(all_go_on());
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("follow");
    TCase *c = tcase_create("follow");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, all_threads_stand_and_go_on);
    tcase_add_test(c, where_another_traces_a_thread_none_is_left_standing);
    tcase_add_test(c, another_that_traces_for_a_moment_is_waited_for);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
