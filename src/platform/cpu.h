/* cpu.h: single instructions that C cannot express. */
#ifndef PLATFORM_CPU_H
#define PLATFORM_CPU_H

#include <stdint.h>
#include <string.h>

#if !defined __x86_64__ && !defined __aarch64__
#error "each #else below means one of these two: a new CPU needs its own"
#endif

/* Tells the CPU that this is a spin loop. */
static inline void cpu_pause(void) {
#if defined __x86_64__
    __asm__ volatile("pause");
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* Reads a counter that runs at a constant rate, from some ten million (arm64) to some billion ticks
 * a second. It is cheap to read, but converting ticks to time takes a clock. */
static inline uint64_t cpu_cycles(void) {
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

/* Ticks of cpu_cycles: CPU_CYCLES_SHORT is about a tenth of a millisecond, the other two are some
 * microseconds. */
#if defined __aarch64__
enum { CPU_CYCLES_SHORT = 1 << 11, CPU_CYCLES_SHORTEST = 1 << 6, CPU_CYCLES_PAUSE = 1 << 7 };
#else
enum { CPU_CYCLES_SHORT = 1 << 18, CPU_CYCLES_SHORTEST = 1 << 13, CPU_CYCLES_PAUSE = 1 << 14 };
#endif

/* Prefetches the cache lines around an address. Does nothing where no memory is mapped, and does
 * not wait for the memory. */
static inline void cpu_prefetch_around(const void *at) {
    enum { LINE = 64 };
    __builtin_prefetch((const void *)((uintptr_t)at + LINE));
    __builtin_prefetch((const void *)((uintptr_t)at - LINE));
    __builtin_prefetch((const void *)((uintptr_t)at + 2 * LINE));
    __builtin_prefetch((const void *)((uintptr_t)at - 2 * LINE));
}

/* To be called before a word is read and then written. If its page was never touched, this takes
 * one page fault. Reading first would map the shared zero page, and the write would take a second
 * fault that costs as much. */
static inline void cpu_touch_to_write(uint32_t *word) {
#if defined __x86_64__
    __asm__ volatile("orl $0, %0" : "+m"(*word));
#else
    (void)word;
#endif
}

/* Returns the thread's control block. With glibc it lies at the high end of a thread's stack,
 * except for the main thread. */
static inline uintptr_t cpu_thread_pointer(void) {
    uintptr_t pointer;
#if defined __x86_64__
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#elif defined __aarch64__
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
    return pointer;
}

/* Returns a code address without the signature that pointer authentication puts into its high
 * bits. */
static inline uintptr_t cpu_strip_signature(uintptr_t address) {
#if defined __aarch64__
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri; does nothing on a CPU without signatures */
    return x30;
#else
    return address;
#endif
}

/* Interprets the code bytes at `at` as the part of an instruction that refers to an address
 * relative to itself, and returns that address. If they are something else, the result is any
 * address or 0. The code is scanned in steps of CPU_REFERENCE_STEP bytes; CPU_REFERENCE_SIZE bytes
 * are read. */
#if defined __aarch64__
enum { CPU_REFERENCE_STEP = 4, CPU_REFERENCE_SIZE = 8 };
#else
enum { CPU_REFERENCE_STEP = 1, CPU_REFERENCE_SIZE = 5 };
#endif
static inline uintptr_t cpu_reference(uintptr_t at) {
#if defined __aarch64__
    uint32_t code[2];
    memcpy(code, (const void *)at, sizeof code);
    if ((code[0] & 0x7C000000) == 0x14000000) /* b, bl */
        return at + (uintptr_t)((int64_t)((uint64_t)code[0] << 38) >> 36);
    if ((code[0] & 0x9F000000) != 0x90000000 || (code[1] & 0xFFC00000) != 0x91000000)
        return 0;
    /* adrp, add */
    uint64_t pages = (uint64_t)(code[0] >> 5 & 0x7FFFF) << 2 | (code[0] >> 29 & 3);
    return (at & ~(uintptr_t)0xFFF) + (uintptr_t)((int64_t)(pages << 43) >> 31) +
           (code[1] >> 10 & 0xFFF);
#else
    const uint8_t *code = (const uint8_t *)at;
    int32_t displacement;
    if ((code[0] & 0xFE) != 0xE8 && (code[0] & 0xC7) != 0x05) /* call, jmp; rip-relative operand */
        return 0;
    memcpy(&displacement, code + 1, sizeof displacement);
    return at + CPU_REFERENCE_SIZE + (uintptr_t)(intptr_t)displacement;
#endif
}

/* Writes code that jumps to any address and changes no register that a caller or an argument
 * uses. */
#if defined __aarch64__
enum { CPU_JUMP_SIZE = 16 };
#else
enum { CPU_JUMP_SIZE = 14 };
#endif
static inline void cpu_jump(uint8_t code[CPU_JUMP_SIZE], uintptr_t target) {
#if defined __aarch64__
    static const uint32_t jump[] = {0x58000051, 0xD61F0220}; /* ldr x17, .+8; br x17 */
#else
    static const uint8_t jump[] = {0xFF, 0x25, 0, 0, 0, 0}; /* jmp *(%rip) */
#endif
    memcpy(code, jump, sizeof jump);
    memcpy(code + sizeof jump, &target, sizeof target);
}

/* Relocation types of the entries through which a module calls functions of other modules, and of
 * variables that hold addresses of such functions. */
#if defined __aarch64__
enum { CPU_RELOCATION_GLOBAL = 1025, CPU_RELOCATION_SLOT = 1026, CPU_RELOCATION_ADDRESS = 257 };
#else
enum { CPU_RELOCATION_GLOBAL = 6, CPU_RELOCATION_SLOT = 7, CPU_RELOCATION_ADDRESS = 1 };
#endif

/* For functions that the program calls and that do more than jump elsewhere. The program's stack
 * may not be aligned: the C library's allocator does not need that, but compilers assume it. */
#ifdef __x86_64__
#define CPU_ALIGN_STACK __attribute__((force_align_arg_pointer))
#else
#define CPU_ALIGN_STACK
#endif

#endif
