/* cpu.h: single instructions that C has no word for. */
#ifndef PLATFORM_CPU_H
#define PLATFORM_CPU_H

#include <stdint.h>

/* Says that this is a spin loop. */
static inline void cpu_pause(void) {
#if defined __x86_64__
    __asm__ volatile("pause");
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* The thread's own control block. On glibc it lies at the high end of a thread's stack, but not of
 * the main thread's. */
static inline uintptr_t cpu_thread_pointer(void) {
    uintptr_t pointer;
#if defined __x86_64__
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#elif defined __aarch64__
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
    return pointer;
}

/* A code address without the signature that pointer authentication puts into its high bits. */
static inline uintptr_t cpu_strip_signature(uintptr_t address) {
#if defined __aarch64__
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri; does nothing on a CPU without signatures */
    return x30;
#else
    return address;
#endif
}

#endif
