/* unwind_cpu.h: what unwinding needs to know of the CPU: DWARF register numbers, which registers a
 * call preserves, and how to read them. Part of unwind.h. */
#ifndef PLATFORM_UNWIND_CPU_H
#define PLATFORM_UNWIND_CPU_H

#include <stdint.h>

#include "base/inline.h"

/* UNWIND_RA is the column of the return address. Where calls leave the return address in a
 * register, the column is that register. Elsewhere the column is no register, and expressions use
 * it for the pc. */
#define UNWIND_BIT(reg) (UINT64_C(1) << (reg))

#if defined __x86_64__

enum { UNWIND_BP = 6, UNWIND_SP = 7, UNWIND_RA = 16, UNWIND_REGISTERS = 17 };

enum { UNWIND_RA_IS_REGISTER = 0 };

/* rbx, rbp, rsp, r12 to r15. */
#define UNWIND_KEPT_REGISTERS (UNWIND_BIT(3) | UNWIND_BIT(6) | UNWIND_BIT(7) | UINT64_C(0xF000))

static ALWAYS_INLINE void unwind_cpu_registers(uintptr_t *pc, uintptr_t *reg) {
    __asm__ volatile("leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, (%0)\n\t"
                     "movq %%rbx, 24(%1)\n\t"
                     "movq %%rbp, 48(%1)\n\t"
                     "movq %%rsp, 56(%1)\n\t"
                     "movq %%r12, 96(%1)\n\t"
                     "movq %%r13, 104(%1)\n\t"
                     "movq %%r14, 112(%1)\n\t"
                     "movq %%r15, 120(%1)"
                     :
                     : "r"(pc), "r"(reg)
                     : "rax", "memory");
}

#elif defined __aarch64__

enum { UNWIND_BP = 29, UNWIND_RA = 30, UNWIND_SP = 31, UNWIND_REGISTERS = 32 };

enum { UNWIND_RA_IS_REGISTER = 1 };

/* x19 to x29, x30 and sp. */
#define UNWIND_KEPT_REGISTERS UINT64_C(0xFFF80000)

static ALWAYS_INLINE void unwind_cpu_registers(uintptr_t *pc, uintptr_t *reg) {
    __asm__ volatile("adr x9, .\n\t"
                     "str x9, [%0]\n\t"
                     "str x19, [%1, 152]\n\t"
                     "stp x20, x21, [%1, 160]\n\t"
                     "stp x22, x23, [%1, 176]\n\t"
                     "stp x24, x25, [%1, 192]\n\t"
                     "stp x26, x27, [%1, 208]\n\t"
                     "stp x28, x29, [%1, 224]\n\t"
                     "mov x9, sp\n\t"
                     "stp x30, x9, [%1, 240]"
                     :
                     : "r"(pc), "r"(reg)
                     : "x9", "memory");
}

#else
#error "this CPU is not supported yet: add its registers"
#endif

#endif
