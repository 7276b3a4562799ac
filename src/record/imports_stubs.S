/* imports_stubs.S: the stubs that replace an allocator's functions in global offset tables. Each
 * jumps to the hook of its entry in `imports_calls`, with that entry as the fifth argument, and
 * changes nothing else. So no code is made at run time, which some programs are not allowed. */
#include "record/imports_stubs.h"

        .text
        .globl  imports_stubs
        .hidden imports_stubs
        .hidden imports_calls
        .p2align 4

#if defined __x86_64__

        .type   imports_stubs, @function
imports_stubs:
        .cfi_startproc
        .set    call, 0
        .rept   IMPORTS_STUBS
        .p2align 4
        endbr64
        leaq    imports_calls + call(%rip), %r8
        jmp     *IMPORTS_CALL_HOOK(%r8)
        .set    call, call + IMPORTS_CALL_SIZE
        .endr
        .p2align 4
        .cfi_endproc

#elif defined __aarch64__

        .type   imports_stubs, %function
imports_stubs:
        .cfi_startproc
        .set    call, 0
        .rept   IMPORTS_STUBS
        adrp    x4, imports_calls + call
        add     x4, x4, :lo12:imports_calls + call
        ldr     x16, [x4, IMPORTS_CALL_HOOK]
        br      x16
        .set    call, call + IMPORTS_CALL_SIZE
        .endr
        .cfi_endproc

#else
#error "this CPU is not supported yet: add its stubs"
#endif

        .size   imports_stubs, . - imports_stubs
        .section .note.GNU-stack, "", %progbits
