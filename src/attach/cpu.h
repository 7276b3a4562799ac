/* cpu.h: the CPU-specific part of calling a function in a stopped thread: registers, the
 * instruction that enters the kernel, and system call numbers. remote.c has the protocol. Support
 * for another CPU is added here and in handlers.c. On a CPU without support, CPU_ATTACHES is 0 and
 * nothing else here is called. */
#ifndef ATTACH_CPU_H
#define ATTACH_CPU_H

#include <elf.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>

#ifdef __x86_64__

enum {
    CPU_ATTACHES = 1,
    CPU_ARCHITECTURE = (int)AUDIT_ARCH_X86_64, /* the value that seccomp filters see */
    CPU_VECTORS = NT_X86_XSTATE,               /* register set of the vector registers */
    CPU_ENTER_SIZE = 2,                        /* bytes of the instruction to enter the kernel */
    CPU_RED_ZONE = 128,                        /* bytes below sp that a leaf function may use */
};

typedef struct user_regs_struct cpu_registers;

static inline bool cpu_enters(const unsigned char *code) {
    return code[0] == 0x0f && code[1] == 0x05;
}

static inline bool cpu_get(pid_t tid, cpu_registers *at) {
    return ptrace(PTRACE_GETREGS, tid, 0, at) == 0;
}
static inline void cpu_set(pid_t tid, const cpu_registers *at) {
    ptrace(PTRACE_SETREGS, tid, 0, at);
}

static inline uint64_t cpu_pc(const cpu_registers *at) {
    return at->rip;
}
static inline uint64_t cpu_sp(const cpu_registers *at) {
    return at->rsp;
}

/* Returns the number of the system call that the thread is in or was stopped in; -1: none. At the
 * gate's system call, which has no meaning, the number is the value that the called function has
 * returned. */
static inline int64_t cpu_number(const cpu_registers *at) {
    return (int64_t)at->orig_rax;
}
static inline void cpu_set_number(cpu_registers *at, long number) {
    at->orig_rax = (uint64_t)number;
}
static inline int64_t cpu_result(const cpu_registers *at) {
    return (int64_t)at->rax;
}
static inline void cpu_set_result(cpu_registers *at, int64_t result) {
    at->rax = (uint64_t)result;
}
static inline void cpu_arguments(const cpu_registers *at, uint64_t arguments[6]) {
    const uint64_t all[6] = {at->rdi, at->rsi, at->rdx, at->r10, at->r8, at->r9};
    memcpy(arguments, all, sizeof all);
}

/* Sets the registers so that the thread makes a system call when it continues. `gate` is the
 * address of an instruction that enters the kernel. */
static inline void cpu_set_call(cpu_registers *at, uint64_t gate, long number,
                                const uint64_t arguments[6]) {
    at->rip = gate;
    at->rax = (uint64_t)number;
    at->orig_rax = (uint64_t)-1;
    at->rdi = arguments[0];
    at->rsi = arguments[1];
    at->rdx = arguments[2];
    at->r10 = arguments[3];
    at->r8 = arguments[4];
    at->r9 = arguments[5];
}

static inline void cpu_set_thread_pointer(cpu_registers *at, uint64_t pointer) {
    at->fs_base = pointer;
}

static const unsigned char cpu_enter[CPU_ENTER_SIZE] = {0x0f, 0x05};

/* Returns the address where the return address must be written, for a call that uses that stack. */
static inline uint64_t cpu_stack_for(uint64_t stack) {
    return (stack & ~UINT64_C(15)) - sizeof(uint64_t); /* aligned as right after a call */
}

/* Sets the registers for a call of a function whose return address is at `stack`. The thread is
 * then in no system call. */
static inline void cpu_call(cpu_registers *at, uint64_t function, uint64_t stack,
                            const uint64_t arguments[6]) {
    enum { DIRECTION = 0x400 };
    at->rip = function;
    at->rsp = stack;
    at->rbp = 0;
    at->rdi = arguments[0];
    at->rsi = arguments[1];
    at->rdx = arguments[2];
    at->rcx = arguments[3];
    at->r8 = arguments[4];
    at->r9 = arguments[5];
    at->rax = 0;
    at->orig_rax = (uint64_t)-1;
    at->eflags &= ~(unsigned long)DIRECTION; /* string instructions go up */
}

/* System calls that fail with EINTR when a thread is stopped and continued, as by SIGSTOP and
 * SIGCONT. They have then done nothing. Those on sockets do so if the socket has a timeout. */
static const int cpu_cut_short[] = {
    SYS_epoll_wait,    SYS_epoll_pwait,   SYS_epoll_pwait2, SYS_rt_sigtimedwait, SYS_semop,
    SYS_semtimedop,    SYS_read,          SYS_readv,        SYS_recvfrom,        SYS_recvmsg,
    SYS_recvmmsg,      SYS_accept,        SYS_accept4,      SYS_connect,         SYS_write,
    SYS_writev,        SYS_sendto,        SYS_sendmsg,      SYS_sendmmsg,        SYS_io_getevents,
    SYS_io_pgetevents, SYS_io_uring_enter};

/* System calls that an allocator makes with its locks held, or that may fork with them held. */
static const int cpu_locking[] = {SYS_brk,    SYS_mmap, SYS_munmap,    SYS_mremap, SYS_mprotect,
                                  SYS_clone,  SYS_fork, SYS_vfork,     SYS_clone3, SYS_madvise,
                                  SYS_execve, SYS_exit, SYS_exit_group};

#else /* other CPUs are not supported yet */

enum {
    CPU_ATTACHES = 0,
    CPU_ARCHITECTURE = 0,
    CPU_VECTORS = 0,
    CPU_ENTER_SIZE = 1,
    CPU_RED_ZONE = 0
};

typedef struct cpu_registers {
    char none;
} cpu_registers;

static inline bool cpu_enters(const unsigned char *code) {
    return (void)code, false;
}
static inline bool cpu_get(pid_t tid, cpu_registers *at) {
    return (void)tid, (void)at, false;
}
static inline void cpu_set(pid_t tid, const cpu_registers *at) {
    (void)tid, (void)at;
}
static inline uint64_t cpu_pc(const cpu_registers *at) {
    return (void)at, 0;
}
static inline uint64_t cpu_sp(const cpu_registers *at) {
    return (void)at, 0;
}
static inline int64_t cpu_number(const cpu_registers *at) {
    return (void)at, -1;
}
static inline void cpu_set_number(cpu_registers *at, long number) {
    (void)at, (void)number;
}
static inline int64_t cpu_result(const cpu_registers *at) {
    return (void)at, 0;
}
static inline void cpu_set_result(cpu_registers *at, int64_t result) {
    (void)at, (void)result;
}
static inline void cpu_arguments(const cpu_registers *at, uint64_t arguments[6]) {
    (void)at, (void)arguments;
}
static inline void cpu_set_call(cpu_registers *at, uint64_t gate, long number,
                                const uint64_t arguments[6]) {
    (void)at, (void)gate, (void)number, (void)arguments;
}
static inline void cpu_set_thread_pointer(cpu_registers *at, uint64_t pointer) {
    (void)at, (void)pointer;
}
static const unsigned char cpu_enter[CPU_ENTER_SIZE] = {0};
static inline uint64_t cpu_stack_for(uint64_t stack) {
    return stack;
}
static inline void cpu_call(cpu_registers *at, uint64_t function, uint64_t stack,
                            const uint64_t arguments[6]) {
    (void)at, (void)function, (void)stack, (void)arguments;
}
static const int cpu_cut_short[] = {-1}, cpu_locking[] = {-1};

#endif

static inline bool cpu_is_among(int64_t number, const int *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (number == numbers[i])
            return true;
    return false;
}

#endif
