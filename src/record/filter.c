/* filter.c: see filter.h. */
#include "record/filter.h"

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
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "platform/syscall.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* ---- what recording takes ------------------------------------------------------------------ */

enum { FD = INT16_MIN }; /* stands for the descriptor that is written to */

/* With the arguments that a filter might look at; what they point to it cannot see. */
static const struct taken {
    long number, arguments[6];
} taken[] = {
    {SYS_write, {FD}},
    {SYS_fstat, {FD}},
    {SYS_pread64, {FD}},
    {SYS_read, {FD}},
    {SYS_close, {FD}},
    {SYS_ftruncate, {FD}},
    {SYS_fcntl, {FD, F_DUPFD_CLOEXEC}},
    {SYS_fcntl, {FD, F_OFD_SETLK}},
    {SYS_fcntl, {FD, F_GET_SEALS}},
    {SYS_openat, {AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, {AT_FDCWD, 0, O_RDWR | O_CLOEXEC}},
    {SYS_openat, {AT_FDCWD, 0, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY}},
    {SYS_openat, {AT_FDCWD, 0, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_CREAT, 0666}},
    {SYS_newfstatat, {AT_FDCWD}},
    {SYS_readlinkat, {AT_FDCWD}},
    {SYS_renameat2, {AT_FDCWD, 0, AT_FDCWD, 0, RENAME_NOREPLACE}},
    {SYS_getcwd, {0}},
    {SYS_uname, {0}},
    {SYS_getrandom, {0, sizeof(uint64_t), GRND_NONBLOCK}},
    {SYS_mmap, {0, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
    {SYS_mmap, {0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, FD}},
    {SYS_munmap, {0}},
    {SYS_mremap, {0, 1, 1, MREMAP_MAYMOVE}},
    {SYS_madvise, {0, 1, MADV_DONTNEED}},
    {SYS_clock_gettime, {CLOCK_MONOTONIC}}, /* where the vDSO does not know the time */
    {SYS_getpid, {0}},
    {SYS_gettid, {0}},
    {SYS_prlimit64, {0, RLIMIT_NOFILE}},
    {SYS_prlimit64, {0, RLIMIT_STACK}},
    {SYS_rt_sigprocmask, {SIG_BLOCK}},
    {SYS_rt_sigprocmask, {SIG_SETMASK}},
    {SYS_rt_sigpending, {0}},
    {SYS_rt_sigtimedwait, {0}},
    {SYS_nanosleep, {0}},
    {SYS_futex, {0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG}},
    {SYS_futex, {0, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1}},
    {SYS_membarrier, {MEMBARRIER_CMD_PRIVATE_EXPEDITED}},
};

static struct seccomp_data data_of(const struct taken *t, int fd) {
    struct seccomp_data data = {.nr = (int)t->number,
                                .arch = ARCHITECTURE,
                                .instruction_pointer = (uintptr_t)filter_spares_recorder};
    for (size_t i = 0; i < sizeof t->arguments / sizeof *t->arguments; i++)
        data.args[i] = (uint64_t)(t->arguments[i] == FD ? fd : t->arguments[i]);
    return data;
}

/* ---- the machine --------------------------------------------------------------------------- */

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
    const struct seccomp_data *data;
};

static uint32_t load(const struct machine *m, const struct sock_filter *i) {
    uint32_t word = sizeof *m->data;
    switch (BPF_MODE(i->code)) {
    case BPF_ABS:
        if (i->k <= sizeof *m->data - sizeof word)
            memcpy(&word, (const char *)m->data + i->k, sizeof word);
        return word;
    case BPF_MEM:
        return m->memory[i->k % BPF_MEMWORDS];
    case BPF_IMM:
        return i->k;
    default:
        return word; /* BPF_LEN */
    }
}

static uint32_t operand(const struct machine *m, const struct sock_filter *i) {
    return BPF_SRC(i->code) == BPF_X ? m->x : i->k;
}

static uint32_t compute(const struct machine *m, const struct sock_filter *i) {
    uint32_t b = operand(m, i);
    switch (BPF_OP(i->code)) {
    case BPF_ADD:
        return m->a + b;
    case BPF_SUB:
        return m->a - b;
    case BPF_MUL:
        return m->a * b;
    case BPF_DIV:
        return b ? m->a / b : 0;
    case BPF_OR:
        return m->a | b;
    case BPF_AND:
        return m->a & b;
    case BPF_XOR:
        return m->a ^ b;
    case BPF_LSH:
        return m->a << (b & 31);
    case BPF_RSH:
        return m->a >> (b & 31);
    default:
        return -m->a; /* BPF_NEG */
    }
}

/* How many instructions to skip. */
static uint32_t jump(const struct machine *m, const struct sock_filter *i) {
    uint32_t b = operand(m, i);
    switch (BPF_OP(i->code)) {
    case BPF_JA:
        return i->k;
    case BPF_JEQ:
        return m->a == b ? i->jt : i->jf;
    case BPF_JGT:
        return m->a > b ? i->jt : i->jf;
    case BPF_JGE:
        return m->a >= b ? i->jt : i->jf;
    default:
        return m->a & b ? i->jt : i->jf; /* BPF_JSET */
    }
}

/* All but jumps and returns. */
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

/* Jumps lead forward, so that it ends. */
static uint32_t verdict_on(const struct sock_fprog *filter, const struct seccomp_data *data) {
    struct machine m = {.data = data};
    for (uint64_t at = 0; at < filter->len; at++) {
        const struct sock_filter *i = &filter->filter[at];
        if (BPF_CLASS(i->code) == BPF_RET)
            return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
        if (BPF_CLASS(i->code) == BPF_JMP)
            at += jump(&m, i);
        else
            step(&m, i);
    }
    return SECCOMP_RET_ALLOW; /* the kernel takes no such program */
}

/* ---- the question -------------------------------------------------------------------------- */

/* The kernel says EFAULT of what is not there, before it looks at the first argument. */
static bool is_readable(const void *address) {
    enum { NO_WAY = -1, SET_SIZE = 8 };
    return address && syscall4(SYS_rt_sigprocmask, NO_WAY, (long)address, 0, SET_SIZE) == -EINVAL;
}

static bool is_there(const struct sock_fprog *filter) {
    if (!is_readable(filter) || !is_readable((const char *)(filter + 1) - sizeof(uint64_t)))
        return false;
    return is_readable(filter->filter) &&
           is_readable(filter->filter + (filter->len ? filter->len - 1 : 0));
}

static bool is_harmless(uint32_t verdict) {
    uint32_t action = verdict & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO;
}

bool filter_spares_recorder(const struct sock_fprog *filter, int fd) {
    if (!is_there(filter))
        return true;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct seccomp_data data = data_of(&taken[i], fd);
        if (!is_harmless(verdict_on(filter, &data)))
            return false;
    }
    return true;
}
