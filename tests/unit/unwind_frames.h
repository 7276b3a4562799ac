/* unwind_frames.h: functions whose frames are hard to unwind. Each calls the next, and the last one
 * calls `innermost`. */
#ifndef UNWIND_FRAMES_H
#define UNWIND_FRAMES_H

#include <alloca.h>
#include <stdint.h>

#ifdef __clang__ /* clang makes no clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
/* Prevents a tail call. */
#define NOT_THE_END() __asm__ volatile("" ::: "memory")

typedef int innermost_function(void);

static NOINLINE int with_alloca(int n, innermost_function *innermost) {
    volatile char *p = alloca((size_t)n);
    p[0] = p[n - 1] = 1;
    int result = innermost() + p[0];
    NOT_THE_END();
    return result;
}

static NOINLINE int with_many_registers(int a, int b, int c, int d, int e,
                                        innermost_function *innermost) {
    int result = with_alloca(a + b + 100, innermost);
    return result + a * b + c * d - e * a + a * c;
}

static NOINLINE int with_large_frame(innermost_function *innermost) {
    volatile char large[100000];
    large[5] = 7;
    int result = with_many_registers(1, 2, 3, 4, 5, innermost) + large[5];
    NOT_THE_END();
    return result;
}

static NOINLINE int with_aligned_locals(innermost_function *innermost) {
    _Alignas(64) volatile char aligned[256];
    aligned[3] = 1;
    int result = with_large_frame(innermost) + aligned[3];
    NOT_THE_END();
    return result;
}

static NOINLINE int with_aligned_alloca(int n, innermost_function *innermost) {
    _Alignas(128) volatile char aligned[256];
    volatile char *p = alloca((size_t)n);
    aligned[3] = p[1] = 1;
    int result = with_aligned_locals(innermost) + aligned[3] + p[1];
    NOT_THE_END();
    return result;
}

/* The CFA of this function is in memory, because it realigns its stack and has a stack argument. */
#if defined __x86_64__
__attribute__((force_align_arg_pointer))
#endif
static NOINLINE int
with_realigned_stack(int a, int b, int c, int d, int e, innermost_function *innermost,
                     int on_stack) {
    _Alignas(32) volatile int aligned[8] = {a, b, c, d, e, on_stack};
    int result = with_aligned_alloca(aligned[5] + 50, innermost) + aligned[2];
    NOT_THE_END();
    return result;
}

static NOINLINE int many_kinds_of_frames(int n, innermost_function *innermost) {
    int result = with_realigned_stack(1, 2, 3, 4, 5, innermost, n);
    NOT_THE_END();
    return result;
}

#endif
