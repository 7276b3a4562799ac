/* filters.h: the seccomp filters of a thread, as the kernel has them, and whether recording gets
 * along with them. */
#ifndef ATTACH_FILTERS_H
#define ATTACH_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "contract/seccomp.h"

typedef struct filters {
    struct sock_fprog *items; /* the oldest first */
    size_t n;
} filters;

/* Whether we may read those of others: see process_may_see_all; and we must have none. */
bool filters_may_read(void);

/* Reads those of a thread that we trace, and that is stopped. 0 or an errno; then there are none in
 * *f. */
int filters_read(pid_t tid, filters *f);

void filters_free(filters *f);

/* What the filter does, to be followed by the name of the call. */
const char *filters_say(const seccomp_harm *harm);

#endif
