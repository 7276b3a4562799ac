/* stack.c: see stack.h, and unwind_stack_bounds of unwind.h. */
#include "platform/stack.h"

#include <string.h>
#include <sys/resource.h>

#include "platform/cpu.h"
#include "platform/maps.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "platform/unwind.h"

static void stack_view_set(struct stack_view *view, uintptr_t low, uintptr_t high) {
    view->low = low;
    view->span = high - low < sizeof(uintptr_t) ? 0 : high - low - (sizeof(uintptr_t) - 1);
}

void stack_view_init(struct stack_view *view, uintptr_t sp, uintptr_t low, uintptr_t high) {
    if (sp >= low && sp < high)
        stack_view_set(view, sp, high);
    else
        stack_view_set(view, 0, 0);
}

bool stack_view_move(struct stack_view *view, uintptr_t address) {
    if (address % sizeof(uintptr_t))
        return false;
    uintptr_t page = address & ~(uintptr_t)(pages_unit() - 1);
    if (!maps_readable(address))
        return false;
    stack_view_set(view, page, page + pages_unit());
    return true;
}

/* The main thread's stack grows, as far down as its limit and its neighbour allow. Without a limit
 * nobody keeps others from mapping memory just below it, so no room to grow is assumed then. */
static uintptr_t main_stack_low(const struct mapping *stack) {
    struct rlimit limit;
    enum { THIS_PROCESS = 0 };
    long result = syscall4(SYS_prlimit64, THIS_PROCESS, RLIMIT_STACK, 0, (long)&limit);
    uintptr_t size = stack->high - stack->low, room = stack->high - stack->below;
    if (syscall_failed(result) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur < size)
        return stack->low;
    return stack->high - (limit.rlim_cur < room ? limit.rlim_cur : room);
}

bool unwind_stack_bounds(uintptr_t *stack_low, uintptr_t *stack_high) {
    struct mapping mapping;
    char path[sizeof "[stack]"];
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), control_block = cpu_thread_pointer();
    *stack_low = *stack_high = 0;
    if (!maps_find(here, &mapping, path, sizeof path))
        return false;
    bool in_main_stack = strcmp(path, "[stack]") == 0;
    bool ends_in_control_block = control_block > here && control_block < mapping.high;
    *stack_low = in_main_stack ? main_stack_low(&mapping) : mapping.low;
    *stack_high = ends_in_control_block ? control_block : mapping.high;
    return true;
}
