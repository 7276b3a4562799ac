/* unwind_context.c: starts unwinding from the registers in a signal context. */
#include "platform/unwind.h"

#include <string.h>

#if defined __x86_64__

void unwind_start_from_context(struct unwind_start *start, const ucontext_t *context) {
    static const uint8_t in_dwarf_order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const greg_t *reg = context->uc_mcontext.gregs;
    for (int i = 0; i < UNWIND_REGISTERS; i++)
        start->reg[i] = (uintptr_t)reg[in_dwarf_order[i]];
    start->pc = (uintptr_t)reg[REG_RIP];
    start->known = UNWIND_BIT(UNWIND_REGISTERS) - 1;
}

#elif defined __aarch64__

void unwind_start_from_context(struct unwind_start *start, const ucontext_t *context) {
    memcpy(start->reg, context->uc_mcontext.regs, UNWIND_SP * sizeof start->reg[0]);
    start->reg[UNWIND_SP] = context->uc_mcontext.sp;
    start->pc = context->uc_mcontext.pc;
    start->known = UNWIND_BIT(UNWIND_REGISTERS) - 1;
}

#endif
