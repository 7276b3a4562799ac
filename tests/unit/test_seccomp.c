/* Tests of src/contract/seccomp: filters together, answers that do harm though nobody is killed,
 * and arguments that are not known. What single instructions mean, test_filter asks the kernel. */
#include "contract/seccomp.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "unit.h"

#define COUNT(array)             (sizeof(array) / sizeof *(array))
#define LOAD(field)              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, yes, no)
#define GIVE(action)             BPF_STMT(BPF_RET | BPF_K, action)
#define PROGRAM(...)                                                                               \
    {                                                                                              \
        .len = COUNT(((struct sock_filter[]){__VA_ARGS__})), .filter = (struct sock_filter[]) {    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define ANSWER(call, action)                                                                       \
    PROGRAM(LOAD(nr), IF(BPF_JEQ, call, 0, 1), GIVE(action), GIVE(SECCOMP_RET_ALLOW))

enum { OUR_FD = 960 };

static seccomp_harm harm;

static bool harms(struct sock_fprog filter) {
    return seccomp_harms_recording(&filter, 1, OUR_FD, &harm);
}

static bool harms_unknown(struct sock_fprog filter) {
    return seccomp_harms_recording(&filter, 1, -1, &harm);
}

START_TEST(what_does_harm_is_named) {
    static const struct {
        uint32_t action;
        seccomp_answer answer;
    } all[] = {{SECCOMP_RET_KILL_PROCESS, SECCOMP_ENDS},   {SECCOMP_RET_KILL_THREAD, SECCOMP_ENDS},
               {SECCOMP_RET_TRAP | 5, SECCOMP_SIGNALS},    {SECCOMP_RET_TRACE | 5, SECCOMP_ASKS},
               {SECCOMP_RET_USER_NOTIF, SECCOMP_ASKS},     {0x7abc0000, SECCOMP_ENDS},
               {SECCOMP_RET_ERRNO | EINTR, SECCOMP_FAKES}, {SECCOMP_RET_ERRNO, SECCOMP_FAKES}};
    for (size_t i = 0; i < COUNT(all); i++) {
        ck_assert(harms((struct sock_fprog)ANSWER(SYS_madvise, all[i].action)));
        ck_assert_str_eq(harm.call, "madvise");
        ck_assert_int_eq(harm.answer, all[i].answer);
    }
    ck_assert(!harms((struct sock_fprog)ANSWER(SYS_madvise, SECCOMP_RET_ERRNO | EPERM)));
    ck_assert(!harms((struct sock_fprog)ANSWER(SYS_madvise, SECCOMP_RET_LOG)));
}
END_TEST

/* By these the trace says how the recording ended, when the filter is long in force. */
START_TEST(the_last_words_are_calls_like_others) {
    ck_assert(harms((struct sock_fprog)ANSWER(SYS_pwrite64, SECCOMP_RET_KILL_PROCESS)));
    ck_assert_str_eq(harm.call, "pwrite64");
    ck_assert(!harms((struct sock_fprog)ANSWER(SYS_pwrite64, SECCOMP_RET_ERRNO | EPERM)));
}
END_TEST

START_TEST(some_calls_must_not_even_fail) {
    static const uint32_t calls[] = {SYS_futex, SYS_rt_sigprocmask, SYS_rt_sigtimedwait,
                                     SYS_close, SYS_getpid,         SYS_gettid};
    for (size_t i = 0; i < COUNT(calls); i++) {
        ck_assert(harms((struct sock_fprog)ANSWER(calls[i], SECCOMP_RET_ERRNO | EPERM)));
        ck_assert_int_eq(harm.answer, SECCOMP_FAILS);
        ck_assert(!harms((struct sock_fprog)ANSWER(calls[i], SECCOMP_RET_LOG)));
    }
}
END_TEST

START_TEST(the_strictest_filter_counts) {
    struct sock_fprog fails = ANSWER(SYS_madvise, SECCOMP_RET_ERRNO | EPERM),
                      asks = ANSWER(SYS_madvise, SECCOMP_RET_USER_NOTIF),
                      ends = ANSWER(SYS_madvise, SECCOMP_RET_KILL_PROCESS),
                      allows = PROGRAM(GIVE(SECCOMP_RET_ALLOW)),
                      /* depends on the address, which is not known */
        either = PROGRAM(LOAD(nr), IF(BPF_JEQ, SYS_madvise, 0, 3), LOAD(args[0]),
                         IF(BPF_JGT, 1 << 20, 0, 1), GIVE(SECCOMP_RET_USER_NOTIF),
                         GIVE(SECCOMP_RET_ALLOW));
    struct sock_fprog good[][3] = {{allows, fails, allows},
                                   {asks, fails, allows},
                                   {fails, either, asks}},
                      bad[][3] = {
                          {allows, ends, fails}, {asks, allows, allows}, {allows, either, allows}};
    for (size_t i = 0; i < COUNT(good); i++) {
        ck_assert_msg(!seccomp_harms_recording(good[i], 3, OUR_FD, &harm), "good %zu", i);
        ck_assert_msg(seccomp_harms_recording(bad[i], 3, OUR_FD, &harm), "bad %zu", i);
    }
    ck_assert(!seccomp_harms_recording(NULL, 0, OUR_FD, &harm));
}
END_TEST

START_TEST(what_is_not_known_may_be_anything) {
    struct sock_fprog by_descriptor =
        PROGRAM(LOAD(nr), IF(BPF_JEQ, SYS_write, 0, 3), LOAD(args[0]), IF(BPF_JGE, OUR_FD, 1, 0),
                IF(BPF_JGT, 2, 1, 0), GIVE(SECCOMP_RET_ALLOW), GIVE(SECCOMP_RET_KILL_PROCESS));
    ck_assert(!harms(by_descriptor));
    ck_assert(harms_unknown(by_descriptor));
    struct sock_fprog by_place = PROGRAM(LOAD(instruction_pointer), IF(BPF_JSET, 8, 0, 1),
                                         GIVE(SECCOMP_RET_TRAP), GIVE(SECCOMP_RET_ALLOW));
    ck_assert(harms(by_place));
    struct sock_fprog by_what_nobody_looks_at =
        PROGRAM(LOAD(args[1]), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LDX | BPF_MEM, 3),
                BPF_STMT(BPF_LD | BPF_IMM, 7), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
                BPF_STMT(BPF_LDX | BPF_IMM, 7), IF(BPF_JEQ, 5, 0, 0),
                BPF_STMT(BPF_MISC | BPF_TXA, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0),
                GIVE(SECCOMP_RET_TRAP), GIVE(SECCOMP_RET_ALLOW));
    ck_assert(!harms(by_what_nobody_looks_at));
}
END_TEST

/* The C library and a direct call fill the upper half of an int in different ways. */
START_TEST(a_negative_number_may_be_wide_or_not) {
    struct sock_fprog narrow = PROGRAM(LOAD(nr), IF(BPF_JEQ, SYS_openat, 0, 4), LOAD(args[0]),
                                       IF(BPF_JEQ, (uint32_t)-100, 0, 1), GIVE(SECCOMP_RET_ALLOW),
                                       GIVE(SECCOMP_RET_KILL_PROCESS), GIVE(SECCOMP_RET_ALLOW)),
                      wide = narrow;
    ck_assert(!harms(narrow));
    struct sock_filter program[7];
    memcpy(program, narrow.filter, sizeof program);
    program[2].k += sizeof(uint32_t);
    wide.filter = program;
    ck_assert(harms(wide));
}
END_TEST

/* Each test is of what is not known, and both ways meet again: 2 to the 300 paths. */
START_TEST(an_endless_question_is_answered_with_the_worst) {
    enum { N = 300 };
    static struct sock_filter program[2 * N + 1];
    for (size_t i = 0; i < N; i++) {
        program[2 * i] = (struct sock_filter)LOAD(args[1]);
        program[2 * i + 1] = (struct sock_filter)IF(BPF_JEQ, (uint32_t)i, 0, 0);
    }
    program[2 * N] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
    ck_assert(harms((struct sock_fprog){.len = COUNT(program), .filter = program}));
    ck_assert_int_eq(harm.answer, SECCOMP_ENDS);
}
END_TEST

START_TEST(whether_a_sleep_goes_on) {
    struct sock_fprog forbids = ANSWER(SYS_restart_syscall, SECCOMP_RET_KILL_THREAD),
                      fails = ANSWER(SYS_restart_syscall, SECCOMP_RET_ERRNO | EPERM),
                      other = ANSWER(SYS_madvise, SECCOMP_RET_KILL_PROCESS);
    ck_assert(!seccomp_allows_restart(&forbids, 1));
    ck_assert(!seccomp_allows_restart(&fails, 1));
    ck_assert(seccomp_allows_restart(&other, 1));
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("seccomp");
    TCase *t = tcase_create("seccomp");
    tcase_add_test(t, what_does_harm_is_named);
    tcase_add_test(t, the_last_words_are_calls_like_others);
    tcase_add_test(t, some_calls_must_not_even_fail);
    tcase_add_test(t, the_strictest_filter_counts);
    tcase_add_test(t, what_is_not_known_may_be_anything);
    tcase_add_test(t, a_negative_number_may_be_wide_or_not);
    tcase_add_test(t, an_endless_question_is_answered_with_the_worst);
    tcase_add_test(t, whether_a_sleep_goes_on);
    suite_add_tcase(suite, t);
    return suite;
}

UNIT_MAIN(suite)
