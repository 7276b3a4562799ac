/* A program that makes its calls with a stack that is not aligned to 16 bytes, as hand-written
 * assembler does and the C library's allocator bears. For each line that it reads it does so once
 * more; then it becomes `echo`. Only for x86-64. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

long call_misaligned(void *function, long a, long b, long c, long d, long e, long f);

/* Behind the two pushes, a call finds the stack where it must not be. */
__asm__(".text\n"
        ".type call_misaligned, @function\n"
        "call_misaligned:\n"
        "       .cfi_startproc\n"
        "       pushq %rbp\n"
        "       .cfi_def_cfa_offset 16\n"
        "       .cfi_offset rbp, -16\n"
        "       movq %rsp, %rbp\n"
        "       .cfi_def_cfa_register rbp\n"
        "       pushq %rdi\n"
        "       movq %rdi, %rax\n"
        "       movq %rsi, %rdi\n"
        "       movq %rdx, %rsi\n"
        "       movq %rcx, %rdx\n"
        "       movq %r8, %rcx\n"
        "       movq %r9, %r8\n"
        "       movq 16(%rbp), %r9\n"
        "       call *%rax\n"
        "       leave\n"
        "       .cfi_def_cfa rsp, 8\n"
        "       ret\n"
        "       .cfi_endproc\n"
        "       .size call_misaligned, . - call_misaligned\n");

#define CALL_(f, a, b, c, d, e, g, ...)                                                            \
    (void *)call_misaligned((void *)(f), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e),    \
                            (long)(g))
#define CALL(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static void *slot;

static void allocate(void) {
    CALL(free, CALL(realloc, CALL(malloc, 12000), 15000));
    CALL(free, CALL(calloc, 10, 1300));
    CALL(posix_memalign, &slot, 64, 14000);
    CALL(malloc_usable_size, slot);
    CALL(free, slot);
    CALL(free, CALL(memalign, 64, 100));
    CALL(free, CALL(aligned_alloc, 64, 128));
    CALL(free, CALL(valloc, 128));
    CALL(free, CALL(pvalloc, 128));
    CALL(free, CALL(reallocarray, NULL, 128, 3));
}

static void map(void) {
    char *at = CALL(mmap, NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at = CALL(mremap, at, 1 << 16, 1 << 17, MREMAP_MAYMOVE);
    CALL(mprotect, at, 1 << 12, PROT_NONE);
    CALL(munmap, at, 1 << 17);
    CALL(brk, CALL(sbrk, 1 << 12));
}

int main(void) {
    char line[80];
    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0; i < 100; i++) {
            allocate();
            map();
        }
        puts("0");
        fflush(stdout);
    }
    CALL(execl, "/bin/echo", "echo", "done", NULL);
    return 1;
}
