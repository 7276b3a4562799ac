/* sandbox_stubs.S: `syscall`, which first reports two kinds of calls to sandbox.c. It then jumps to
 * the original function with all registers and the stack unchanged: some calls return on another
 * stack or twice, and the word that a C function would read as its seventh argument may be the
 * caller's. */
#include <sys/syscall.h>

        .text
        .globl  syscall
        .hidden sandbox_before_syscall
        .hidden next
        .p2align 4

#if defined __x86_64__

        .type   syscall, @function
syscall:
        .cfi_startproc
        endbr64
        cmpq    $SYS_seccomp, %rdi
        je      1f
        cmpq    $SYS_prctl, %rdi
        je      1f
        jmp     *next(%rip)
1:
        .irp    register, rdi, rsi, rdx, rcx, r8, r9, rax
        pushq   %\register
        .cfi_adjust_cfa_offset 8
        .endr
        call    sandbox_before_syscall
        .irp    register, rax, r9, r8, rcx, rdx, rsi, rdi
        popq    %\register
        .cfi_adjust_cfa_offset -8
        .endr
        jmp     *next(%rip)
        .cfi_endproc

#elif defined __aarch64__

        .type   syscall, %function
syscall:
        .cfi_startproc
        cmp     x0, SYS_seccomp
        b.eq    1f
        cmp     x0, SYS_prctl
        b.eq    1f
0:
        adrp    x16, next
        ldr     x16, [x16, :lo12:next]
        br      x16
1:
        stp     x29, x30, [sp, -80]!
        .cfi_adjust_cfa_offset 80
        .cfi_offset x29, -80
        .cfi_offset x30, -72
        stp     x0, x1, [sp, 16]
        stp     x2, x3, [sp, 32]
        stp     x4, x5, [sp, 48]
        str     x6, [sp, 64]
        bl      sandbox_before_syscall
        ldp     x0, x1, [sp, 16]
        ldp     x2, x3, [sp, 32]
        ldp     x4, x5, [sp, 48]
        ldr     x6, [sp, 64]
        ldp     x29, x30, [sp], 80
        .cfi_restore x29
        .cfi_restore x30
        .cfi_adjust_cfa_offset -80
        b       0b
        .cfi_endproc

#else
#error "this CPU is not supported yet: add its stub"
#endif

        .size   syscall, . - syscall
        .section .note.GNU-stack, "", %progbits
