/* stack.h: reads words of a stack that may be damaged, or elsewhere than expected. A view is a
 * window in which every word is known to be mapped: either the thread's stack from the innermost
 * frame outwards, or one page that the kernel has reported as readable. */
#ifndef PLATFORM_STACK_H
#define PLATFORM_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions that read stack memory outside the compiler's objects. */
#define STACK_UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

struct stack_view {
    uintptr_t low;  /* the window contains the words at low ≤ address < low + span */
    uintptr_t span; /* the window's size minus (the size of a word - 1), or 0 */
};

static inline void stack_view_set(struct stack_view *view, uintptr_t low, uintptr_t high) {
    view->low = low;
    view->span = high - low < sizeof(uintptr_t) ? 0 : high - low - (sizeof(uintptr_t) - 1);
}

/* [low, high) is the thread's stack. If `sp`, the innermost live address, lies in it, then all
 * memory from `sp` to `high` is mapped. */
static inline void stack_view_init(struct stack_view *view, uintptr_t sp, uintptr_t low,
                                   uintptr_t high) {
    if (sp >= low && sp < high)
        stack_view_set(view, sp, high);
    else
        stack_view_set(view, 0, 0);
}

/* Moves the window to `address`, if it is aligned and readable. */
bool stack_view_move(struct stack_view *view, uintptr_t address);

static inline bool stack_view_admits(struct stack_view *view, uintptr_t address) {
    return __builtin_expect(address - view->low < view->span, 1) || stack_view_move(view, address);
}

/* Returns how many bytes are left below `sp` on the alternate stack on which a signal handler is
 * running. Returns SIZE_MAX if the kernel knows of no such handler. One system call. */
size_t stack_alternate_room(uintptr_t sp);

STACK_UNCHECKED static inline uintptr_t stack_word(uintptr_t address) {
    uintptr_t word;
    __builtin_memcpy(&word, (const void *)address, sizeof word);
    return word;
}

STACK_UNCHECKED static inline bool stack_read(struct stack_view *view, uintptr_t address,
                                              uintptr_t *word) {
    if (!stack_view_admits(view, address))
        return false;
    *word = stack_word(address);
    return true;
}

#endif
