/* stack.c: finds the bounds of a thread's stack, also for the unwinder (unwind_stack_bounds). */
#include "platform/stack.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "platform/cpu.h"
#include "platform/maps.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "platform/unwind.h"

bool stack_view_move(struct stack_view *view, uintptr_t address) {
    if (address % sizeof(uintptr_t))
        return false;
    uintptr_t page = address & ~(uintptr_t)(pages_unit() - 1);
    if (!maps_readable(address))
        return false;
    stack_view_set(view, page, page + pages_unit());
    return true;
}

/* The main thread's stack grows down to its limit or to the next mapping below. Without a limit,
 * others may map memory just below it, so then no room to grow is assumed. */
static uintptr_t main_stack_low(const struct mapping *stack) {
    struct rlimit limit;
    enum { THIS_PROCESS = 0 };
    long result = syscall4(SYS_prlimit64, THIS_PROCESS, RLIMIT_STACK, 0, (long)&limit);
    uintptr_t size = stack->high - stack->low, room = stack->high - stack->below;
    if (syscall_failed(result) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur < size)
        return stack->low;
    return stack->high - (limit.rlim_cur < room ? limit.rlim_cur : room);
}

struct stack_range {
    uintptr_t low, high;
};

/* AT_RANDOM points to bytes that the kernel puts at the outer end of the main thread's stack. */
static struct stack_range main_stack(void) {
    struct mapping mapping;
    char path[sizeof "[stack]"];
    if (!maps_find(getauxval(AT_RANDOM), &mapping, path, sizeof path))
        return (struct stack_range){0};
    bool grows = strcmp(path, "[stack]") == 0;
    return (struct stack_range){.low = grows ? main_stack_low(&mapping) : mapping.low,
                                .high = mapping.high};
}

/* The C library puts a thread's control block at the outer end of its stack. */
static struct stack_range thread_stack(void) {
    const uintptr_t control_block = cpu_thread_pointer(), low = maps_low(control_block);
    return (struct stack_range){.low = low, .high = low ? control_block : 0};
}

size_t stack_alternate_room(uintptr_t sp) {
    stack_t at;
    const long result = syscall4(SYS_sigaltstack, 0, (long)&at, 0, 0);
    if (syscall_failed(result) || !(at.ss_flags & SS_ONSTACK))
        return SIZE_MAX;
    return sp - (uintptr_t)at.ss_sp;
}

bool unwind_stack_bounds(uintptr_t *stack_low, uintptr_t *stack_high) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_main = syscall4(SYS_gettid, 0, 0, 0, 0) == syscall4(SYS_getpid, 0, 0, 0, 0);
    struct stack_range range = is_main ? main_stack() : thread_stack();
    if (is_main && (here < range.low || here >= range.high)) {
        /* After a fork in a thread, that thread's stack is the main one. */
        struct stack_range other = thread_stack();
        if (here >= other.low && here < other.high)
            range = other;
    }
    *stack_low = range.low;
    *stack_high = range.high;
    return range.high != 0;
}
