/* cpu.h: single instructions that C has no word for. */
#ifndef PLATFORM_CPU_H
#define PLATFORM_CPU_H

#include <stdint.h>
#include <string.h>

#if !defined __x86_64__ && !defined __aarch64__
#error "each #else below means one of these two: a new CPU needs its own"
#endif

/* Says that this is a spin loop. */
static inline void cpu_pause(void) {
#if defined __x86_64__
    __asm__ volatile("pause");
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* A counter that runs at a constant speed of some hundred million to some billion a second; cheap
 * to read, but it takes a clock to say what it means. */
static inline uint64_t cpu_cycles(void) {
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

/* So many of them are about a tenth of a millisecond, and some microseconds. */
#if defined __aarch64__
enum { CPU_CYCLES_SHORT = 1 << 11, CPU_CYCLES_SHORTEST = 1 << 6, CPU_CYCLES_PAUSE = 1 << 7 };
#else
enum { CPU_CYCLES_SHORT = 1 << 18, CPU_CYCLES_SHORTEST = 1 << 13, CPU_CYCLES_PAUSE = 1 << 14 };
#endif

/* Asks for the memory near an address to be brought into the cache. Does nothing where there is
 * none, nor waits for it. */
static inline void cpu_prefetch_around(const void *at) {
    enum { LINE = 64 };
    __builtin_prefetch((const void *)((uintptr_t)at + LINE));
    __builtin_prefetch((const void *)((uintptr_t)at - LINE));
    __builtin_prefetch((const void *)((uintptr_t)at + 2 * LINE));
    __builtin_prefetch((const void *)((uintptr_t)at - 2 * LINE));
}

/* Before a word is read and then written: if its page was never touched, one fault makes it. Read
 * first, it would be the page of zeros that all share, and the write a second fault, as dear. */
static inline void cpu_touch_to_write(uint32_t *word) {
#if defined __x86_64__
    __asm__ volatile("orl $0, %0" : "+m"(*word));
#else
    (void)word;
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

/* What the code bytes at `at` would refer to relative to themselves, if they are the part of an
 * instruction that does; any address or 0 if not. Code is looked at in steps, of so many bytes. */
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
    if ((code[0] & 0xFE) != 0xE8 && (code[0] & 0xC7) != 0x05) /* call, jmp; an operand at rip */
        return 0;
    memcpy(&displacement, code + 1, sizeof displacement);
    return at + CPU_REFERENCE_SIZE + (uintptr_t)(intptr_t)displacement;
#endif
}

/* Code that goes on at any address, and changes no register of a caller's or an argument's. */
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

/* Relocations of entries through which functions of other modules are called, and of variables that
 * hold their addresses. */
#if defined __aarch64__
enum { CPU_RELOCATION_GLOBAL = 1025, CPU_RELOCATION_SLOT = 1026, CPU_RELOCATION_ADDRESS = 257 };
#else
enum { CPU_RELOCATION_GLOBAL = 6, CPU_RELOCATION_SLOT = 7, CPU_RELOCATION_ADDRESS = 1 };
#endif

/* Of functions that a program calls and that do more than jump on. Its stack may not be aligned, as
 * the C library's allocator needs none of that, while compilers take it for granted. */
#ifdef __x86_64__
#define CPU_ALIGN_STACK __attribute__((force_align_arg_pointer))
#else
#define CPU_ALIGN_STACK
#endif

#endif
