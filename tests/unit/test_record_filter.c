/* Tests of src/record/filter: seccomp filters of all kinds, judged by it and by the kernel. */
#include "record/filter.h"

#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define DATA(field)  (uint32_t) offsetof(struct seccomp_data, field)
#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(field))
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)

enum { OUR_FD = 960 };

static bool spares(struct sock_filter *program, size_t n) {
    struct sock_fprog filter = {.len = (unsigned short)n, .filter = program};
    return filter_spares_recorder(&filter, OUR_FD);
}

/* One call is answered in a way, all others are allowed. */
static bool spares_if(uint32_t number, uint32_t action) {
    struct sock_filter program[] = {LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                    GIVE(action), GIVE(SECCOMP_RET_ALLOW)};
    return spares(program, COUNT(program));
}

START_TEST(what_ends_the_process_or_is_heard_of_is_no_place_to_stay) {
    static const uint32_t harmless[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_LOG, SECCOMP_RET_ERRNO | 1},
                          harmful[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
                                       SECCOMP_RET_TRAP, SECCOMP_RET_TRACE | 5,
                                       SECCOMP_RET_USER_NOTIF};
    static const uint32_t ours[] = {SYS_write, SYS_mmap, SYS_membarrier, SYS_openat};
    for (size_t i = 0; i < COUNT(ours); i++) {
        for (size_t j = 0; j < COUNT(harmless); j++)
            ck_assert(spares_if(ours[i], harmless[j]));
        for (size_t j = 0; j < COUNT(harmful); j++)
            ck_assert(!spares_if(ours[i], harmful[j]));
    }
    ck_assert(spares_if(SYS_ptrace, SECCOMP_RET_KILL_PROCESS));
    ck_assert(spares_if(SYS_execve, SECCOMP_RET_TRAP));
}
END_TEST

START_TEST(arguments_are_looked_at) {
    struct sock_filter standard_streams_alone[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1),
        GIVE(SECCOMP_RET_KILL_PROCESS),
        GIVE(SECCOMP_RET_ALLOW)};
    ck_assert(!spares(standard_streams_alone, COUNT(standard_streams_alone)));
    standard_streams_alone[3].k = OUR_FD;
    ck_assert(spares(standard_streams_alone, COUNT(standard_streams_alone)));
    struct sock_filter no_code[] = {LOAD(nr),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
                                    LOAD(args[2]),
                                    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1), /* PROT_EXEC */
                                    GIVE(SECCOMP_RET_KILL_PROCESS),
                                    GIVE(SECCOMP_RET_ALLOW)};
    ck_assert(spares(no_code, COUNT(no_code)));
    no_code[3].k = 2; /* PROT_WRITE */
    ck_assert(!spares(no_code, COUNT(no_code)));
}
END_TEST

START_TEST(what_the_kernel_will_refuse_does_no_harm) {
    struct sock_fprog nowhere = {.len = 1, .filter = (struct sock_filter *)8}, empty = {.len = 0};
    ck_assert(filter_spares_recorder(NULL, OUR_FD));
    ck_assert(filter_spares_recorder((const void *)16, OUR_FD));
    ck_assert(filter_spares_recorder(&nowhere, OUR_FD));
    ck_assert(filter_spares_recorder(&empty, OUR_FD));
    struct sock_filter endless[] = {LOAD(nr)};
    ck_assert(spares(endless, COUNT(endless)));
}
END_TEST

/* ---- against the kernel -------------------------------------------------------------------- */

static struct sock_filter any_load(test_random *r) {
    static const uint16_t codes[] = {BPF_LD | BPF_W | BPF_ABS,
                                     BPF_LD | BPF_W | BPF_LEN,
                                     BPF_LD | BPF_IMM,
                                     BPF_LDX | BPF_IMM,
                                     BPF_LDX | BPF_W | BPF_LEN,
                                     BPF_MISC | BPF_TAX,
                                     BPF_MISC | BPF_TXA,
                                     BPF_LD | BPF_MEM,
                                     BPF_LDX | BPF_MEM,
                                     BPF_ST,
                                     BPF_STX};
    uint16_t code = codes[test_random_u64(r) % COUNT(codes)];
    uint32_t k = (uint32_t)test_random_u64(r) >> test_random_u64(r) % 32;
    if (code == (BPF_LD | BPF_W | BPF_ABS))
        k = test_random_u64(r) % 2 ? DATA(arch) : DATA(args[0]);
    else if (BPF_MODE(code) == BPF_MEM || BPF_CLASS(code) == BPF_ST || BPF_CLASS(code) == BPF_STX)
        k %= 4; /* written to before */
    return (struct sock_filter)BPF_STMT(code, k);
}

static struct sock_filter any_computation(test_random *r) {
    static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR,
                                          BPF_AND, BPF_XOR, BPF_NEG};
    uint16_t operation = operations[test_random_u64(r) % COUNT(operations)];
    uint16_t source = operation != BPF_NEG && test_random_u64(r) % 2 ? BPF_X : BPF_K;
    return (struct sock_filter)BPF_STMT(BPF_ALU | operation | source, (uint32_t)test_random_u64(r));
}

static struct sock_filter any_small_computation(test_random *r) {
    static const uint16_t operations[] = {BPF_DIV, BPF_LSH, BPF_RSH};
    return (struct sock_filter)BPF_STMT(BPF_ALU | operations[test_random_u64(r) % 3] | BPF_K,
                                        (uint32_t)(1 + test_random_u64(r) % 31));
}

static struct sock_filter any_jump(test_random *r) {
    static const uint16_t tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint16_t source = test_random_u64(r) % 2 ? BPF_X : BPF_K;
    return (struct sock_filter)BPF_JUMP(BPF_JMP | tests[test_random_u64(r) % 4] | source,
                                        (uint32_t)test_random_u64(r) >> test_random_u64(r) % 32,
                                        (uint8_t)(test_random_u64(r) % 3),
                                        (uint8_t)(test_random_u64(r) % 3));
}

enum { HEAD = 8, BODY = 40, TAIL = 5, SIZE = HEAD + BODY + TAIL };

/* Computes something of membarrier, which it traps or allows by one bit of that. */
static void make_filter(struct sock_filter program[SIZE], test_random *r) {
    static struct sock_filter (*const any[])(test_random *) = {any_load, any_load, any_computation,
                                                               any_small_computation, any_jump};
    const struct sock_filter head[HEAD] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
        GIVE(SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LDX | BPF_IMM, 77),
        BPF_STMT(BPF_ST, 0),
        BPF_STMT(BPF_ST, 1),
        BPF_STMT(BPF_STX, 2),
        BPF_STMT(BPF_STX, 3)};
    const struct sock_filter tail[TAIL] = {BPF_STMT(BPF_JMP | BPF_JA, 0),
                                           BPF_STMT(BPF_MISC | BPF_TAX, 0),
                                           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1 << 4, 0, 1),
                                           GIVE(SECCOMP_RET_TRAP), GIVE(SECCOMP_RET_ALLOW)};
    for (size_t i = 0; i < SIZE; i++)
        program[i] = i < HEAD          ? head[i]
                     : i < HEAD + BODY ? any[test_random_u64(r) % COUNT(any)](r)
                                       : tail[i - HEAD - BODY];
}

/* In a child: 0: it may; SIGSYS: it may not; 99: there are no filters here, or not this one. */
static int kernel_says(const struct sock_fprog *filter) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        signal(SIGSYS, SIG_DFL);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) != 0)
            _exit(99);
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(filters_mean_what_they_mean_to_the_kernel) {
    struct sock_filter program[SIZE], none[] = {GIVE(SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = 1, .filter = none};
    test_random r = {.state = 20};
    int n_allowed = 0, n_trapped = 0;
    if (kernel_says(&filter) == 99)
        return; /* an emulator, or a kernel without them */
    filter = (struct sock_fprog){.len = SIZE, .filter = program};
    for (int i = 0; i < 300; i++) {
        make_filter(program, &r);
        int said = kernel_says(&filter);
        ck_assert_msg(said == 0 || said == SIGSYS, "filter %d: %d", i, said);
        ck_assert_msg(filter_spares_recorder(&filter, OUR_FD) == (said == 0), "filter %d: %d", i,
                      said);
        said == 0 ? n_allowed++ : n_trapped++;
    }
    ck_assert(n_allowed > 50 && n_trapped > 50);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("filter");
    TCase *t = tcase_create("filter");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_ends_the_process_or_is_heard_of_is_no_place_to_stay);
    tcase_add_test(t, arguments_are_looked_at);
    tcase_add_test(t, what_the_kernel_will_refuse_does_no_harm);
    tcase_add_test(t, filters_mean_what_they_mean_to_the_kernel);
    suite_add_tcase(suite, t);
    return suite;
}

UNIT_MAIN(suite)
