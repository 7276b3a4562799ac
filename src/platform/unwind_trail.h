/* unwind_trail.h: call stacks of one thread taken in close succession, each by what differs from
 * the one before. Made for recording every allocation, where a full walk is the greatest cost.
 *
 * A step from a frame to its caller is a function of the frame's address, sp and bp and of a few
 * words of the stack. A trail keeps all these. The next walk goes from the innermost frame outwards
 * only until it comes to a frame of the trail from which on no word has changed since: all that
 * lies beyond must be as it was, so this is exact, and no return address is ever patched. */
#ifndef PLATFORM_UNWIND_TRAIL_H
#define PLATFORM_UNWIND_TRAIL_H

#include "platform/unwind.h"

/* Belongs to one thread, like the row cache that it is used with. The memory is the caller's:
 * unwind_trail_size(max) bytes, all zero, for stacks of `max` frames at most. */
typedef struct unwind_trail unwind_trail;
size_t unwind_trail_size(size_t max);
void unwind_trail_init(unwind_trail *trail, unwind_cache *cache, size_t max);

/* Where the stack of the thread is, as unwind_stack_bounds says; to be called before the first one
 * is taken, and when another thread takes the trail over. */
void unwind_trail_set_stack(unwind_trail *trail, uintptr_t stack_low, uintptr_t stack_high);

/* The frame that called a function: what nearly all walks need to know to begin there. */
struct unwind_site {
    uintptr_t return_address, sp, bp;
};

/* The caller of the function in which this stands. */
static inline __attribute__((always_inline)) void unwind_site_here(struct unwind_site *site) {
    site->return_address = (uintptr_t)__builtin_return_address(0);
    site->sp = (uintptr_t)__builtin_dwarf_cfa();
    site->bp = *(const uintptr_t *)__builtin_frame_address(0);
}

/* A stack: so many frames, of which the `kept` outermost are those of the stack taken before. */
struct unwind_taken {
    size_t n, kept;
};

/* Takes the stack of the thread from the return address at `site` on; unwind_trail_flags says what
 * there is to be said of it. Where this takes all registers, functions between the site and this
 * one are among the result. That modules have been unloaded is noticed by unwind_cache_check alone.
 */
struct unwind_taken unwind_trail_take(unwind_trail *trail, const struct unwind_site *site);

/* A frame: its key is the return address into it, or the interrupted address + 1. */
struct unwind_frame {
    uintptr_t key, sp, bp;
};

/* A frame of the last stack. */
struct unwind_point {
    uintptr_t key, sp;
};

struct unwind_trail {
    struct unwind_point *points; /* outermost first */
    size_t n_points;             /* 0: none that the next walk could meet */
    unwind_cache *cache;
    uintptr_t stack_low, stack_high;
    size_t max;
    unsigned flags;
    uint32_t flushes; /* of the row cache: its rows are those by which this was walked */
    bool needs;       /* some step needs what `rests` says; else that is not kept up to date */
    bool by_bp;       /* the last walk needed the innermost frame's bp: so may the next */
    bool fast; /* unwind_trail_walk.h may be tried for the next one: none of that, no flags */
    struct rest *rests;  /* what else is known of each point */
    struct word *words;  /* that steps depended on beside the keys of points, outermost first */
    struct fresh *fresh; /* of the walk under way, innermost first */
    char memory[];
};

/* Whether an address lies in that stack, rather than in one of a signal handler or a coroutine. */
static inline bool unwind_trail_is_in_stack(const unwind_trail *trail, uintptr_t sp) {
    return sp - trail->stack_low < trail->stack_high - trail->stack_low;
}

/* The return address (as unwind_stack gives it) of a frame of the stack taken last; 0 is the
 * outermost. */
static inline uintptr_t unwind_trail_pc(const unwind_trail *trail, size_t i) {
    return trail->points[i].key;
}

/* Of the stack taken last: flags of enum unwind_flag, and whether it took all registers. */
enum { UNWIND_TOOK_ALL = 16 };
static inline unsigned unwind_trail_flags(const unwind_trail *trail) {
    return trail->flags;
}

#endif
