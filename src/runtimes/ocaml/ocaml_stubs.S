/* ocaml_stubs.S: OCaml closures that call C. The OCaml runtime calls ocaml_stub_NAME by the calling
 * convention of OCaml functions. The stub calls ocaml_on_NAME(argument) through the runtime's
 * caml_c_call, as compiled OCaml code does.
 *
 * No frame table describes the return addresses in here, so the runtime must never look for them:
 * the C functions do not allocate in OCaml's heap, raise, or release the runtime's lock. */
#include "runtimes/ocaml/ocaml.h"

        .text

#if defined __x86_64__

/* The argument and the result are in rax, in which caml_c_call expects the function. */
.macro stub name
        .globl  ocaml_stub_\name
        .hidden ocaml_stub_\name
        .hidden ocaml_on_\name
        .type   ocaml_stub_\name, @function
        .p2align 4
ocaml_stub_\name:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rax, %rdi
        leaq    ocaml_on_\name(%rip), %rax
        call    *ocaml_c_call(%rip)
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   ocaml_stub_\name, . - ocaml_stub_\name
.endm

#elif defined __aarch64__

/* The argument is in x0. caml_c_call expects the function in x8, in 4.11 in x15. */
.macro stub name
        .globl  ocaml_stub_\name
        .hidden ocaml_stub_\name
        .hidden ocaml_on_\name
        .type   ocaml_stub_\name, %function
        .p2align 4
ocaml_stub_\name:
        .cfi_startproc
        stp     x29, x30, [sp, -16]!
        .cfi_adjust_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        adrp    x8, ocaml_on_\name
        add     x8, x8, :lo12:ocaml_on_\name
        mov     x15, x8
        adrp    x16, ocaml_c_call
        ldr     x16, [x16, :lo12:ocaml_c_call]
        blr     x16
        ldp     x29, x30, [sp], 16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_adjust_cfa_offset -16
        ret
        .cfi_endproc
        .size   ocaml_stub_\name, . - ocaml_stub_\name
.endm

#else
#error "this CPU is not supported yet: add its stub"
#endif

        .hidden ocaml_c_call
#define STUB(name) stub name;
OCAML_CALLBACKS(STUB)

        .section .note.GNU-stack, "", %progbits
