/* seccomp.c: an interpreter for seccomp programs (classic BPF), which runs them on each system call
 * that recording makes. It runs in other people's programs: it uses little stack and allocates
 * nothing. */
#include "contract/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/random.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* ---- the system calls of recording --------------------------------------------------------- */

enum { FD = INT16_MIN }; /* stands for the descriptor of the trace */

/* The kernel's PROCMAP_QUERY, which older headers do not have. */
#define ASK_FOR_MAPPING _IOWR('f', 17, char[104])

/* What happens if the call fails. MUST_DO: the call may fail for its usual reasons, but if it
 * always fails, the program is harmed. */
enum failure { MUST_DO, MAY_FAIL };

/* A system call and those of its arguments that are known in advance. It has no pointers, so that
 * the loader does not have to relocate the tables. */
struct taken {
    char name[20];
    long number;
    enum failure failure;
    struct {
        int at; /* number of the argument, from 1; 0: end of the list */
        long value;
    } known[4];
};

#define CALL(name) #name, SYS_##name

static const struct taken recording[] = {
    /* If one of these fails, the recording ends or does not begin. */
    {CALL(write), MAY_FAIL, {{1, FD}}},
    {CALL(fstat), MAY_FAIL, {{0}}},
    {CALL(openat), MAY_FAIL, {{1, AT_FDCWD}, {3, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY}}},
    {CALL(openat),
     MAY_FAIL,
     {{1, AT_FDCWD}, {3, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_CREAT}, {4, 0666}}},
    {CALL(openat), MAY_FAIL, {{1, AT_FDCWD}, {3, O_RDONLY | O_CLOEXEC | O_NOCTTY}}},
    {CALL(renameat2), MAY_FAIL, {{1, AT_FDCWD}, {3, AT_FDCWD}, {5, RENAME_NOREPLACE}}},
    {CALL(ftruncate), MAY_FAIL, {{1, FD}}},
    {CALL(fcntl), MAY_FAIL, {{1, FD}, {2, F_OFD_SETLK}}},
    /* If one of these fails, the trace may not tell how the recording ended. */
    {CALL(fcntl), MAY_FAIL, {{1, FD}, {2, F_SETFL}, {3, 0}}},
    {CALL(fcntl), MAY_FAIL, {{1, FD}, {2, F_SETFL}, {3, O_APPEND}}},
    {CALL(pwrite64), MAY_FAIL, {{1, FD}}},
    {CALL(getcwd), MAY_FAIL, {{0}}},
    {CALL(mmap),
     MAY_FAIL,
     {{3, PROT_READ | PROT_WRITE}, {4, MAP_PRIVATE | MAP_ANONYMOUS}, {5, -1}, {6, 0}}},
    {CALL(mremap), MAY_FAIL, {{4, MREMAP_MAYMOVE}}},
    /* If one of these fails, something stays unknown: a file, a name, a time, gauges, or the outer
     * end of a stack. */
    {CALL(openat), MAY_FAIL, {{1, AT_FDCWD}, {3, O_RDONLY | O_CLOEXEC}}},
    {CALL(openat), MAY_FAIL, {{1, AT_FDCWD}, {3, O_RDWR | O_CLOEXEC}}},
    {CALL(read), MAY_FAIL, {{0}}},
    {CALL(pread64), MAY_FAIL, {{0}}},
    {CALL(write), MAY_FAIL, {{1, STDERR_FILENO}}},
    {CALL(fcntl), MAY_FAIL, {{2, F_GET_SEALS}}},
    {CALL(mmap), MAY_FAIL, {{3, PROT_READ | PROT_WRITE}, {4, MAP_SHARED}}},
    {CALL(newfstatat), MAY_FAIL, {{1, AT_FDCWD}, {4, 0}}},
    {CALL(readlinkat), MAY_FAIL, {{1, AT_FDCWD}}},
    {CALL(uname), MAY_FAIL, {{0}}},
    {CALL(getrandom), MAY_FAIL, {{2, sizeof(uint64_t)}, {3, GRND_NONBLOCK}}},
    {CALL(prlimit64), MAY_FAIL, {{1, 0}, {2, RLIMIT_NOFILE}}},
    {CALL(prlimit64), MAY_FAIL, {{1, 0}, {2, RLIMIT_STACK}}},
    {CALL(clock_gettime), MAY_FAIL, {{1, CLOCK_MONOTONIC}}}, /* if the vDSO cannot answer */
    {CALL(clock_gettime), MAY_FAIL, {{1, CLOCK_PROCESS_CPUTIME_ID}}},
    /* If one of these fails, another way is taken. */
    {CALL(fcntl), MAY_FAIL, {{2, F_DUPFD_CLOEXEC}}},
    {CALL(madvise), MAY_FAIL, {{3, MADV_DONTNEED}}},
    {CALL(munmap), MAY_FAIL, {{0}}},
    {CALL(rt_sigpending), MAY_FAIL, {{0}}},
    {CALL(nanosleep), MAY_FAIL, {{0}}},
    {CALL(sched_yield), MAY_FAIL, {{0}}},
    {CALL(membarrier), MAY_FAIL, {{1, MEMBARRIER_CMD_PRIVATE_EXPEDITED}}},
    /* If one of these fails, threads sleep forever, signals stay blocked or end the program,
     * descriptors run out, or a child process writes into its parent's trace. */
    {CALL(futex), MUST_DO, {{2, FUTEX_WAIT | FUTEX_PRIVATE_FLAG}}},
    {CALL(futex), MUST_DO, {{2, FUTEX_WAKE | FUTEX_PRIVATE_FLAG}, {3, 1}}},
    {CALL(rt_sigprocmask), MUST_DO, {{1, SIG_BLOCK}}},
    {CALL(rt_sigprocmask), MUST_DO, {{1, SIG_SETMASK}}},
    {CALL(futex), MAY_FAIL, {{2, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG}, {3, 0}, {4, 0}}},
    {CALL(futex), MAY_FAIL, {{2, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG}, {3, 0}, {4, 0}}},
    {CALL(rt_sigprocmask), MAY_FAIL, {{1, -1}}}, /* these test whether memory is readable */
    {CALL(sigaltstack), MAY_FAIL, {{1, 0}}},     /* asks how much stack a handler has left */
    {CALL(rt_sigtimedwait), MUST_DO, {{0}}},
    {CALL(close), MUST_DO, {{0}}},
    {CALL(getpid), MUST_DO, {{0}}},
    {CALL(gettid), MUST_DO, {{0}}},
};

/* Recording does without what these tell: a thread's name; where its stack begins, which is
 * otherwise read from the list of all mappings. */
static const struct taken asking[] = {
    {CALL(prctl), MAY_FAIL, {{1, PR_GET_NAME}}},
    {CALL(ioctl), MAY_FAIL, {{2, ASK_FOR_MAPPING}}},
};

/* If one of these fails, dlopen reports an error and undoes what it has done. Other calls that
 * dlopen may make, such as those of malloc, are checked when they are made. */
static const struct taken loading[] = {
    {CALL(openat), MAY_FAIL, {{1, AT_FDCWD}, {3, O_RDONLY | O_CLOEXEC}}},
    {CALL(read), MAY_FAIL, {{0}}},
    {CALL(fstat), MAY_FAIL, {{0}}}, /* glibc uses this or the next one */
    {CALL(newfstatat), MAY_FAIL, {{4, AT_EMPTY_PATH}}},
    {CALL(mmap), MAY_FAIL, {{3, PROT_READ | PROT_EXEC}, {4, MAP_PRIVATE | MAP_DENYWRITE}}},
    {CALL(mmap), MAY_FAIL, {{3, PROT_READ}, {4, MAP_PRIVATE | MAP_DENYWRITE}}},
    {CALL(mmap),
     MAY_FAIL,
     {{3, PROT_READ | PROT_EXEC}, {4, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE}}},
    {CALL(mmap), MAY_FAIL, {{3, PROT_READ}, {4, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE}}},
    {CALL(mmap),
     MAY_FAIL,
     {{3, PROT_READ | PROT_WRITE}, {4, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE}}},
    {CALL(mmap),
     MAY_FAIL,
     {{3, PROT_READ | PROT_WRITE}, {4, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS}, {5, -1}}},
    {CALL(mprotect), MAY_FAIL, {{3, PROT_READ}}},
    {CALL(mprotect), MAY_FAIL, {{3, PROT_READ | PROT_WRITE}}}, /* for writing entries of tables that
                                                                * the loader has sealed */
    {CALL(close), MAY_FAIL, {{0}}},
    {CALL(munmap), MAY_FAIL, {{0}}},
};

/* ---- the interpreter ----------------------------------------------------------------------- */

/* The data that a filter sees, as 32-bit words. Bit i of `known` says whether word i is known. */
struct call {
    uint32_t words[sizeof(struct seccomp_data) / sizeof(uint32_t)];
    uint32_t known;
};

struct value {
    uint32_t bits;
    bool known;
};

struct machine {
    struct value a, x, memory[BPF_MEMWORDS];
    const struct call *call;
};

static struct value constant(uint32_t bits) {
    return (struct value){.bits = bits, .known = true};
}

static struct value load(const struct machine *m, const struct sock_filter *i) {
    uint32_t word = i->k / sizeof(uint32_t);
    switch (BPF_MODE(i->code)) {
    case BPF_ABS:
        if (i->k % sizeof(uint32_t) || i->k >= sizeof m->call->words)
            return (struct value){.known = false};
        return (struct value){m->call->words[word], m->call->known >> word & 1};
    case BPF_MEM:
        return m->memory[i->k % BPF_MEMWORDS];
    case BPF_IMM:
        return constant(i->k);
    default:
        return constant(sizeof m->call->words); /* BPF_LEN */
    }
}

static struct value operand(const struct machine *m, const struct sock_filter *i) {
    return BPF_SRC(i->code) == BPF_X ? m->x : constant(i->k);
}

static uint32_t compute_bits(uint16_t code, uint32_t a, uint32_t b) {
    switch (BPF_OP(code)) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        return b ? a / b : 0;
    case BPF_OR:
        return a | b;
    case BPF_AND:
        return a & b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    default:
        return -a; /* BPF_NEG */
    }
}

static struct value compute(const struct machine *m, const struct sock_filter *i) {
    struct value b = operand(m, i);
    return (struct value){compute_bits(i->code, m->a.bits, b.bits), m->a.known && b.known};
}

static bool is_met(uint16_t code, uint32_t a, uint32_t b) {
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return a & b; /* BPF_JSET */
    }
}

/* Runs any instruction but a jump or a return. */
static void step(struct machine *m, const struct sock_filter *i) {
    switch (BPF_CLASS(i->code)) {
    case BPF_LD:
        m->a = load(m, i);
        break;
    case BPF_LDX:
        m->x = load(m, i);
        break;
    case BPF_ST:
        m->memory[i->k % BPF_MEMWORDS] = m->a;
        break;
    case BPF_STX:
        m->memory[i->k % BPF_MEMWORDS] = m->x;
        break;
    case BPF_ALU:
        m->a = compute(m, i);
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(i->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
    }
}

/* ---- answers, as sets of the possible ones ------------------------------------------------- */

#define ONLY(answer) (1U << (answer))

/* EINTR is not harmless: the interrupted call would be repeated forever. */
static bool is_plain_error(uint32_t error) {
    return error != 0 && error != EINTR;
}

static unsigned answer_of(uint32_t verdict) {
    switch (verdict & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
        return ONLY(SECCOMP_ALLOWS);
    case SECCOMP_RET_LOG:
        return ONLY(SECCOMP_LOGS);
    case SECCOMP_RET_ERRNO:
        return ONLY(is_plain_error(verdict & SECCOMP_RET_DATA) ? SECCOMP_FAILS : SECCOMP_FAKES);
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:
        return ONLY(SECCOMP_ASKS);
    case SECCOMP_RET_TRAP:
        return ONLY(SECCOMP_SIGNALS);
    default:
        return ONLY(SECCOMP_ENDS);
    }
}

/* If a test depends on an unknown value, both branches are followed, up to MAX_DEPTH nested tests
 * and MAX_STEPS instructions in all. Beyond these limits, the worst answer is assumed. */
enum { MAX_DEPTH = 24, MAX_STEPS = 100000 };

/* Runs a filter from instruction `at` and returns the possible answers. It terminates because jumps
 * only lead forward. */
static unsigned run(const struct sock_fprog *filter, uint64_t at, struct machine m, int depth,
                    int *steps) {
    unsigned answers = 0;
    for (; at < filter->len; at++) {
        const struct sock_filter *i = &filter->filter[at];
        struct value b = operand(&m, i);
        if (depth > MAX_DEPTH || ++*steps > MAX_STEPS)
            return ONLY(SECCOMP_ENDS);
        if (BPF_CLASS(i->code) == BPF_RET && BPF_RVAL(i->code) == BPF_A)
            return answers | (m.a.known ? answer_of(m.a.bits) : ONLY(SECCOMP_ENDS));
        if (BPF_CLASS(i->code) == BPF_RET)
            return answers | answer_of(i->k);
        if (BPF_CLASS(i->code) != BPF_JMP) {
            step(&m, i);
        } else if (BPF_OP(i->code) == BPF_JA) {
            at += i->k;
        } else if (m.a.known && b.known) {
            at += is_met(i->code, m.a.bits, b.bits) ? i->jt : i->jf;
        } else {
            answers |= run(filter, at + 1 + i->jt, m, depth + 1, steps);
            at += i->jf;
        }
    }
    return answers | ONLY(SECCOMP_ALLOWS); /* the kernel rejects a program that runs off its end */
}

/* Returns the possible answers of all filters together. The kernel takes the strictest one. So an
 * answer of one filter is impossible if it is milder than the mildest answer of another filter. */
static unsigned answers_to(const struct sock_fprog *filters, size_t n, const struct call *call) {
    unsigned any = ONLY(SECCOMP_ALLOWS), limit = SECCOMP_ALLOWS;
    for (size_t i = 0; i < n; i++) {
        struct machine m = {.a = constant(0), .x = constant(0), .call = call};
        int steps = 0;
        unsigned answers = run(&filters[i], 0, m, 0, &steps), mildest = SECCOMP_ALLOWS;
        while (!(answers & ONLY(mildest)))
            mildest--;
        limit = mildest < limit ? mildest : limit;
        any |= answers;
    }
    return any & (ONLY(limit + 1) - 1);
}

/* ---- entry points -------------------------------------------------------------------------- */

#define WORD(field) (offsetof(struct seccomp_data, field) / sizeof(uint32_t))

/* The instruction pointer of the call is not known. */
static struct call call_of(long number) {
    struct call c = {.known = ONLY(WORD(nr)) | ONLY(WORD(arch))};
    c.words[WORD(nr)] = (uint32_t)number;
    c.words[WORD(arch)] = ARCHITECTURE;
    return c;
}

/* For a negative int, the upper half of the register may or may not be sign-extended, depending on
 * the caller, so it is unknown. */
static void set_argument(struct call *c, int at, long value) {
    size_t low = WORD(args) + 2 * ((size_t)at - 1);
    c->words[low] = (uint32_t)value;
    c->known |= ONLY(low) | (value < 0 ? 0 : ONLY(low + 1));
}

static struct call call_to(const struct taken *t, int fd) {
    struct call c = call_of(t->number);
    for (size_t i = 0; i < sizeof t->known / sizeof *t->known && t->known[i].at; i++)
        if (t->known[i].value != FD)
            set_argument(&c, t->known[i].at, t->known[i].value);
        else if (fd >= 0)
            set_argument(&c, t->known[i].at, fd);
    return c;
}

static bool does_harm(const struct taken *t, unsigned answers, seccomp_harm *harm) {
    unsigned harmless = ONLY(SECCOMP_ALLOWS) | ONLY(SECCOMP_LOGS);
    if (t->failure == MAY_FAIL)
        harmless |= ONLY(SECCOMP_FAILS);
    if (!(answers & ~harmless))
        return false;
    harm->call = t->name;
    harm->answer = SECCOMP_ENDS;
    while (!(answers & ~harmless & ONLY(harm->answer)))
        harm->answer++;
    return true;
}

static bool any_does_harm(const struct taken *calls, size_t n_calls,
                          const struct sock_fprog *filters, size_t n, int fd, seccomp_harm *harm) {
    for (size_t i = 0; i < n_calls; i++) {
        struct call call = call_to(&calls[i], fd);
        if (does_harm(&calls[i], answers_to(filters, n, &call), harm))
            return true;
    }
    return false;
}

bool seccomp_harms_recording(const struct sock_fprog *filters, size_t n, int fd,
                             seccomp_harm *harm) {
    return any_does_harm(recording, sizeof recording / sizeof *recording, filters, n, fd, harm);
}

bool seccomp_harms_asking(const struct sock_fprog *filters, size_t n, seccomp_harm *harm) {
    return any_does_harm(asking, sizeof asking / sizeof *asking, filters, n, -1, harm);
}

bool seccomp_harms_loading(const struct sock_fprog *filters, size_t n, seccomp_harm *harm) {
    return any_does_harm(loading, sizeof loading / sizeof *loading, filters, n, -1, harm);
}

bool seccomp_harms_call(const struct sock_fprog *filters, size_t n,
                        const struct seccomp_data *data) {
    const struct taken any = {.failure = MAY_FAIL};
    struct call call = {.known = ONLY(sizeof call.words / sizeof *call.words) - 1};
    seccomp_harm harm;
    memcpy(call.words, data, sizeof call.words);
    return does_harm(&any, answers_to(filters, n, &call), &harm);
}

bool seccomp_allows_restart(const struct sock_fprog *filters, size_t n) {
    struct call call = call_of(SYS_restart_syscall);
    return !(answers_to(filters, n, &call) & ~(ONLY(SECCOMP_ALLOWS) | ONLY(SECCOMP_LOGS)));
}
