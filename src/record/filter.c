/* filter.c: implements filter.h. A program may pass the address of a filter that is not mapped.
 * Memory is tested with a system call that reads it first and then fails, so that nothing
 * faults. */
#include "record/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdint.h>

#include "contract/seccomp.h"
#include "platform/syscall.h"

/* The kernel returns EFAULT for unmapped memory before it checks the first argument. */
static bool is_readable(const void *address) {
    enum { NO_WAY = -1, SET_SIZE = 8 };
    return address && syscall4(SYS_rt_sigprocmask, NO_WAY, (long)address, 0, SET_SIZE) == -EINVAL;
}

static bool is_there(const struct sock_fprog *filter) {
    if (!is_readable(filter) || !is_readable((const char *)(filter + 1) - sizeof(uint64_t)))
        return false;
    return is_readable(filter->filter) &&
           is_readable(filter->filter + (filter->len ? filter->len - 1 : 0));
}

bool filter_spares_recorder(const struct sock_fprog *filter, int fd) {
    seccomp_harm harm;
    return !is_there(filter) || !seccomp_harms_recording(filter, 1, fd, &harm);
}

bool filter_spares_names(const struct sock_fprog *filter) {
    seccomp_harm harm;
    return !is_there(filter) || !seccomp_harms_naming(filter, 1, &harm);
}
