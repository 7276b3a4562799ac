/* unwind_signal.h: where the kernel saves the registers of code that a signal interrupted. Part of
 * unwind.c. A signal handler returns to a trampoline; in the trampoline's frame, sp points to the
 * kernel's signal frame. */
#ifndef PLATFORM_UNWIND_SIGNAL_H
#define PLATFORM_UNWIND_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define UNWIND_SIGNAL_REG(member) offsetof(ucontext_t, uc_mcontext.member)

#if defined __x86_64__

enum { /* offsets from the trampoline's sp to the ucontext, and from there to registers */
       UNWIND_SIGNAL_CONTEXT = 0,
       UNWIND_SIGNAL_PC = UNWIND_SIGNAL_REG(gregs[REG_RIP]),
       UNWIND_SIGNAL_SP = UNWIND_SIGNAL_REG(gregs[REG_RSP]),
       UNWIND_SIGNAL_BP = UNWIND_SIGNAL_REG(gregs[REG_RBP]),
       UNWIND_SIGNAL_SIZE = UNWIND_SIGNAL_REG(gregs) + sizeof(gregset_t) /* of the part we read */
};

/* mov $__NR_rt_sigreturn, %rax; syscall */
static const uint8_t unwind_signal_code[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05};

#elif defined __aarch64__

enum {
    UNWIND_SIGNAL_CONTEXT = sizeof(siginfo_t),
    UNWIND_SIGNAL_PC = UNWIND_SIGNAL_REG(pc),
    UNWIND_SIGNAL_SP = UNWIND_SIGNAL_REG(sp),
    UNWIND_SIGNAL_BP = UNWIND_SIGNAL_REG(regs[29]),
    UNWIND_SIGNAL_SIZE = UNWIND_SIGNAL_REG(pc) + sizeof(uint64_t) /* of the part we read */
};

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t unwind_signal_code[] = {0x68, 0x11, 0x80, 0xD2, 0x01, 0x00, 0x00, 0xD4};

#endif

enum { UNWIND_SIGNAL_CODE_SIZE = sizeof unwind_signal_code };

/* Returns whether the code at `address` is the trampoline to which signal handlers return.
 * `address` must be in a readable segment that ends at `high`. */
static inline bool unwind_signal_returns_at(uintptr_t address, uintptr_t high) {
    return high - address >= sizeof unwind_signal_code &&
           memcmp((const void *)address, unwind_signal_code, sizeof unwind_signal_code) == 0;
}

#endif
