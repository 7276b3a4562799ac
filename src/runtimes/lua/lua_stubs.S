/* lua_stubs.S: the code that patched functions of Lua run first (lua_calls.h). It saves the argument
 * registers, makes a note, and continues with the function's own first instructions. */
#include "runtimes/lua/lua_stubs.h"

        .text

#if defined __x86_64__

.macro begin name
        .globl  lua_stub_\name
        .hidden lua_stub_\name
        .hidden lua_go_on_\name
        .type   lua_stub_\name, @function
        .p2align 4
lua_stub_\name:
        .cfi_startproc
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        .cfi_adjust_cfa_offset 48
        leaq    48(%rsp), %rsi
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
.endm

.macro end name
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -48
.endm

.macro go_on name
        jmp     *lua_go_on_\name(%rip)
        .cfi_endproc
        .size   lua_stub_\name, . - lua_stub_\name
.endm

/* The first argument is the lua_State. The address of the return address becomes the second. */
.macro stub name
        begin   \name
        call    lua_on_call
        end     \name
        go_on   \name
.endm

        .hidden lua_on_call
        .hidden lua_on_newstate

        /* The result replaces the first argument. */
        begin   newstate
        call    lua_on_newstate
        end     newstate
        movq    %rax, %rdi
        go_on   newstate

        .hidden lua_on_close

        begin   close
        call    lua_on_close
        end     close
        go_on   close

        .hidden lua_calls_thread
        .hidden lua_allocators
        .hidden lua_phases_at
        .hidden lua_on_phase

/* For a new block, Lua passes the type instead of the old size, in the third argument. */
.macro allocator n
        .globl  lua_allocator_\n
        .hidden lua_allocator_\n
        .type   lua_allocator_\n, @function
        .p2align 4
lua_allocator_\n:
        .cfi_startproc
        movq    lua_calls_thread@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        testq   %rax, %rax
        je      1f
        xorl    %r10d, %r10d
        testq   %rsi, %rsi
        cmoveq  %rdx, %r10
        movq    %r10, LUA_NOTE_TYPE(%rax)
        leaq    8(%rsp), %r10
        movq    %r10, LUA_NOTE_SP(%rax)
        movq    (%rsp), %r10
        movq    %r10, LUA_NOTE_AT(%rax)
        movq    %rbx, LUA_NOTE_KEPT(%rax)
        movq    %rbp, LUA_NOTE_KEPT+8(%rax)
        movq    %r12, LUA_NOTE_KEPT+16(%rax)
        movq    %r13, LUA_NOTE_KEPT+24(%rax)
        movq    %r14, LUA_NOTE_KEPT+32(%rax)
        movq    %r15, LUA_NOTE_KEPT+40(%rax)
        movq    LUA_CALLS_GLOBAL(%rax), %r10
        cmpq    %rbx, %r10
        je      2f
        cmpq    %rbp, %r10
        je      2f
        cmpq    %r12, %r10
        je      2f
        cmpq    %r13, %r10
        je      2f
        cmpq    %r14, %r10
        je      2f
        cmpq    %r15, %r10
        je      2f
1:      jmp     *lua_allocators+8*\n(%rip)
2:      movq    lua_phases_at(%rip), %r11
        movzbl  (%r10,%r11), %r10d
        cmpb    %r10b, LUA_CALLS_PHASE(%rax)
        je      1b
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 40
        movq    %rax, %rdi
        call    lua_on_phase
        addq    $8, %rsp
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -40
        jmp     1b
        .cfi_endproc
        .size   lua_allocator_\n, . - lua_allocator_\n
.endm

#else

/* Never called: see displace.h. */
.macro stub name
        .globl  lua_stub_\name
        .hidden lua_stub_\name
lua_stub_\name:
.endm
        stub newstate
        stub close

.macro allocator n
        .globl  lua_allocator_\n
        .hidden lua_allocator_\n
lua_allocator_\n:
.endm

#endif

#define STUB(name) stub name;
LUA_CALLS(STUB)
#define ALLOCATOR(n) allocator n;
LUA_ALLOCATORS(ALLOCATOR)

        .section .note.GNU-stack, "", %progbits
