/* filter.c: implements filter.h. A program may pass the address of a filter that is not mapped.
 * Memory is tested with a system call that reads it first and then fails, so that nothing
 * faults. */
#include "record/filter.h"

#include <linux/filter.h>
#include <stdint.h>

#include "contract/seccomp.h"
#include "platform/maps.h"

static bool is_readable(const void *address) {
    return address && maps_readable((uintptr_t)address);
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

bool filter_allows_asking(const struct sock_fprog *filter) {
    seccomp_harm harm;
    return !is_there(filter) || !seccomp_harms_asking(filter, 1, &harm);
}
