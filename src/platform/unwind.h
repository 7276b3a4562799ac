/* unwind.h: the call stack of the running thread, from the .eh_frame tables of the loaded modules.
 *
 * Made for the inside of an interposed malloc: no malloc, no stdio, no locks (where the loader
 * offers lock-free lookup, see module.h), errno kept, and no input makes it crash: stack memory is
 * read only inside the bounds of the thread's stack, or after asking the kernel; tables only
 * inside the segments of their module.
 *
 *     struct unwind_start start;
 *     unwind_here(&start);
 *     n = unwind_stack(cache, &start, stack.low, stack.high, pcs, max, &flags);
 *
 * A pc is a *return address*: the call is at pc - 1. A frame that a signal interrupted has no
 * return address; for it the interrupted address + 1 is stored, so that pc - 1 is the instruction
 * that matters in every frame. Subtract 1 before any lookup and nothing else needs to be known.
 *
 * Why not others. Frame pointers are missing in most libraries. glibc's backtrace takes locks, may
 * allocate, and is twenty times slower; libunwind is slower as well, and copies what it finds
 * (CONTRIBUTING.md has the measurements). The hardware's list of branches is short, and not to be
 * had in containers. What is ours is one cached row a frame (unwind.c), and above it trails, which
 * take a stack by what differs from the one before (unwind_trail.h). */
#ifndef PLATFORM_UNWIND_H
#define PLATFORM_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "platform/unwind_cpu.h"

/* Remembers, for return addresses seen before, how to find the caller. One for each thread; it must
 * not be in use twice at a time, so a signal handler that may have interrupted its owner must take
 * another or none. The memory is the caller's: unwind_cache_size() bytes aligned as pages are, all
 * zero at first (pages_alloc). Only a small part of it is touched in small programs. */
typedef struct unwind_cache unwind_cache;
size_t unwind_cache_size(void);

/* Forgets everything. unwind_stack does so itself when a module has been unloaded. */
void unwind_cache_flush(unwind_cache *cache);

/* Forgets everything if a module that it knows has been unloaded. */
void unwind_cache_check(unwind_cache *cache);

/* Marks a return address, for whatever purpose, if there is a place for that: unwind_trail_walk.h
 * tells whether all frames are marked that are new in a stack. A mark may vanish at any time, and
 * does with all else when its module has been unloaded. */
void unwind_cache_mark(unwind_cache *cache, uintptr_t return_address);

/* The registers of a frame, indexed by their DWARF numbers. */
struct unwind_start {
    uintptr_t pc;   /* the very instruction, no return address */
    uint64_t known; /* bit i: reg[i] is valid; always so for UNWIND_SP, _BP */
    uintptr_t reg[UNWIND_REGISTERS];
};

/* Fills in the registers of the calling function. That function must not return, nor tail-call
 * unwind_stack, before the stack is taken (passing the address of its own `start` prevents it). */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_start *start) {
    unwind_cpu_registers(&start->pc, start->reg);
    start->known = UNWIND_KEPT_REGISTERS;
}

/* The registers of the code that a signal interrupted. */
void unwind_start_from_context(struct unwind_start *start, const ucontext_t *context);

enum unwind_flag {
    UNWIND_CUT = 1,     /* there are more than `max` frames: the outermost are missing */
    UNWIND_FAILED = 2,  /* no way to find the next caller: the outermost are missing */
    UNWIND_GUESSED = 4, /* a function without tables was crossed by its frame pointer */
    UNWIND_SIGNAL = 8   /* a signal handler is on the stack */
};

/* Writes the callers of the start's function, innermost first, and gives their number: pcs[0] is
 * the return address of the function that called unwind_here; its own pc is not among them.
 * [stack_low, stack_high) is what unwind_stack_bounds gave to this thread; 0, 0 is allowed and
 * costs a system call for each page of stack that is read, as do frames that lie elsewhere
 * (alternate signal stacks, coroutines). `flags` may be NULL. */
size_t unwind_stack(unwind_cache *cache, const struct unwind_start *start, uintptr_t stack_low,
                    uintptr_t stack_high, uintptr_t *pcs, size_t max, unsigned *flags);

/* The calling thread's stack; once for each thread is enough, also on an alternate stack. After a
 * fork, ask again. False, and 0, 0, if it can't be told: unwinding still works then, more slowly.
 * Reads /proc/self/maps with raw system calls and a small buffer. */
bool unwind_stack_bounds(uintptr_t *stack_low, uintptr_t *stack_high);

#endif
