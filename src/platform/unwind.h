/* unwind.h: takes the call stack of the running thread, from the .eh_frame tables of the loaded
 * modules. It is made to run inside an interposed malloc: no malloc, no stdio, no locks (where the
 * loader offers lock-free lookup, see module.h), errno kept. No input makes it crash: stack memory
 * is read only inside the bounds of the thread's stack or after asking the kernel, and tables only
 * inside the segments of their module.
 *     struct unwind_start start;
 *     unwind_here(&start);
 *     n = unwind_stack(cache, &start, stack.low, stack.high, pcs, max, &flags);
 * A pc is a *return address*: the call is at pc - 1. A frame that a signal interrupted has no
 * return address. For it, the interrupted address + 1 is stored, so that pc - 1 is the right
 * instruction in every frame. A caller only has to subtract 1 before any lookup.
 * Why not use something else? Frame pointers are missing in most libraries. glibc's backtrace takes
 * locks, may allocate, and is twenty times slower. libunwind is slower, too, and copies what it
 * finds (CONTRIBUTING.md has the measurements). The hardware's branch records are short and not
 * available in containers. This code uses one cached row for each frame (unwind.c). The
 * recorder uses trails, which build on it and take a stack by its difference from the previous one
 * (unwind_trail.h). */
#ifndef PLATFORM_UNWIND_H
#define PLATFORM_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/inline.h"
#include "platform/unwind_cpu.h"

/* Remembers how to find the caller for return addresses seen before. Each thread has its own. A
 * cache must not be used twice at the same time: a signal handler that may have interrupted its
 * owner must use another one or none. The caller provides the memory: unwind_cache_size() bytes,
 * page-aligned and zeroed (pages_alloc). A small program touches only a small part of it. */
typedef struct unwind_cache unwind_cache;
size_t unwind_cache_size(void);

/* Forgets everything. unwind_stack does this itself when a module has been unloaded. */
void unwind_cache_flush(unwind_cache *cache);

/* Forgets everything if a module in the cache has been unloaded. */
void unwind_cache_check(unwind_cache *cache);

/* Marks a return address, for any purpose of the caller's, if the cache has an entry for it.
 * trail_take_fast (unwind_trail_walk.h) tells whether all new frames of a stack are marked. A mark
 * may vanish at any time, and does so with everything else when its module is unloaded. */
void unwind_cache_mark(unwind_cache *cache, uintptr_t return_address);

/* The registers of a frame, indexed by DWARF number. */
struct unwind_start {
    uintptr_t pc;   /* the instruction itself, not a return address */
    uint64_t known; /* bit i: reg[i] is valid; always set for UNWIND_SP and UNWIND_BP */
    uintptr_t reg[UNWIND_REGISTERS];
};

/* Fills in the registers of the calling function. That function must neither return nor tail-call
 * unwind_stack before the stack is taken. Passing the address of its own `start` prevents the tail
 * call. */
static ALWAYS_INLINE void unwind_here(struct unwind_start *start) {
    unwind_cpu_registers(&start->pc, start->reg);
    start->known = UNWIND_KEPT_REGISTERS;
}

/* Fills in the registers of the code that a signal interrupted. */
void unwind_start_from_context(struct unwind_start *start, const ucontext_t *context);

enum unwind_flag {
    UNWIND_CUT = 1,     /* more than `max` frames: the outermost are missing */
    UNWIND_FAILED = 2,  /* a caller could not be found: the outermost are missing */
    UNWIND_GUESSED = 4, /* a function without tables was crossed by its frame pointer */
    UNWIND_SIGNAL = 8   /* a signal handler is on the stack */
};

/* Writes the callers of the start's function, innermost first, and returns their number. pcs[0] is
 * the return address of the function that called unwind_here; that function's own pc is not
 * included. [stack_low, stack_high) is the thread's stack as unwind_stack_bounds gave it. Passing
 * 0, 0 is allowed, but costs a system call for each page of stack that is read; so do frames on
 * other stacks (alternate signal stacks, coroutines). `flags` may be NULL. */
size_t unwind_stack(unwind_cache *cache, const struct unwind_start *start, uintptr_t stack_low,
                    uintptr_t stack_high, uintptr_t *pcs, size_t max, unsigned *flags);

/* Finds the calling thread's stack. One call for each thread is enough, also on an alternate stack;
 * after a fork, call it again. If the stack can't be found, returns false and sets both to 0;
 * unwinding still works then, but is slower. Reads /proc/self/maps with raw system calls and a
 * small buffer. */
bool unwind_stack_bounds(uintptr_t *stack_low, uintptr_t *stack_high);

#endif
