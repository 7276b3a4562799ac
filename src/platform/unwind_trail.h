/* unwind_trail.h: takes call stacks of one thread in close succession, each by its difference from
 * the previous one. It is made for recording every allocation, where a full walk is the greatest
 * cost.
 * A step from a frame to its caller is a function of the frame's address, sp and bp and of a few
 * words of the stack. A trail keeps all of these. The next walk goes from the innermost frame
 * outwards only until it reaches a frame of the trail from which outwards no word has changed. All
 * frames further out must then be the same. So the result is exact, and no return address is ever
 * patched.
 *     previous stack:   main > run > parse > read
 *     next stack:       main > run > parse > write   (1 frame is walked, 3 are kept) */
#ifndef PLATFORM_UNWIND_TRAIL_H
#define PLATFORM_UNWIND_TRAIL_H

#include "base/inline.h"
#include "platform/unwind.h"

/* Belongs to one thread, like the row cache that it is used with. The caller provides the memory:
 * unwind_trail_size(max) bytes, zeroed, for stacks of at most `max` frames. */
typedef struct unwind_trail unwind_trail;
size_t unwind_trail_size(size_t max);
void unwind_trail_init(unwind_trail *trail, unwind_cache *cache, size_t max);

/* Sets the bounds of the thread's stack, as unwind_stack_bounds gives them. Must be called before
 * the first stack is taken, and when another thread takes over the trail. */
void unwind_trail_set_stack(unwind_trail *trail, uintptr_t stack_low, uintptr_t stack_high);

/* The frame that called a function: the registers that nearly all walks need to start there. */
struct unwind_site {
    uintptr_t return_address, sp, bp;
};

/* Fills in the caller of the function in which this is called. */
static ALWAYS_INLINE void unwind_site_here(struct unwind_site *site) {
    site->return_address = (uintptr_t)__builtin_return_address(0);
    site->sp = (uintptr_t)__builtin_dwarf_cfa();
    site->bp = *(const uintptr_t *)__builtin_frame_address(0);
}

/* A stack of `n` frames. Its `kept` outermost frames are those of the stack taken before. */
struct unwind_taken {
    size_t n, kept;
};

/* Takes the thread's stack, from the return address at `site` outwards. unwind_trail_flags
 * describes the result. If the walk needs all registers, the functions between the site and this
 * one are included. Only unwind_cache_check notices that modules were unloaded. */
struct unwind_taken unwind_trail_take(unwind_trail *trail, const struct unwind_site *site);

/* A frame. Its key is the return address into it, or the interrupted address + 1. */
struct unwind_frame {
    uintptr_t key, sp, bp;
};

/* A frame of the last stack. */
struct unwind_point {
    uintptr_t key, sp;
};

struct unwind_trail {
    struct unwind_point *points; /* outermost first */
    size_t n_points;             /* 0: there are none that the next walk could reach */
    unwind_cache *cache;
    uintptr_t stack_low, stack_high;
    size_t max;
    unsigned flags;
    uint32_t flushes; /* cache->flushes at the last walk, whose rows are valid while it is equal */
    bool needs; /* some step depends on words or a bp in `point_data`; if false, `needs` there is
                 * not kept up to date */
    bool by_bp; /* the last walk needed the innermost frame's bp, so the next one may, too */
    bool fast;  /* trail_take_fast may be tried next: no flags were set, no bp was needed */
    struct point_data *point_data; /* further data of each point */
    struct word *words;  /* words that steps depended on, except points' keys, outermost first */
    struct fresh *fresh; /* frames of the walk under way, innermost first */
    char memory[];
};

/* Returns whether an address lies in that stack, rather than in that of a signal handler or a
 * coroutine. */
static inline bool unwind_trail_is_in_stack(const unwind_trail *trail, uintptr_t sp) {
    return sp - trail->stack_low < trail->stack_high - trail->stack_low;
}

/* Returns the return address (as unwind_stack gives it) of frame `i` of the stack taken last. Frame
 * 0 is the outermost. */
static inline uintptr_t unwind_trail_pc(const unwind_trail *trail, size_t i) {
    return trail->points[i].key;
}

/* Returns the flags of the stack taken last: those of enum unwind_flag, and UNWIND_TOOK_ALL if the
 * walk used all registers. */
enum { UNWIND_TOOK_ALL = 16 };
static inline unsigned unwind_trail_flags(const unwind_trail *trail) {
    return trail->flags;
}

#endif
