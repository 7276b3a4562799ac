/* filters.h: reads the seccomp filters of a thread from the kernel, and says what they do to
 * recording. */
#ifndef ATTACH_FILTERS_H
#define ATTACH_FILTERS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "contract/seccomp.h"

typedef VEC(struct sock_fprog) filters; /* oldest first */

/* Returns whether this process may read filters of others: it needs the rights of
 * process_may_see_all, and no filter itself. */
bool filters_may_read(void);

/* Reads the filters of a traced, stopped thread. Returns 0 or an errno; after an error *f is
 * empty. */
int filters_read(pid_t tid, filters *f);

void filters_free(filters *f);

/* Returns what the filter does, as a phrase that the name of the system call follows. */
const char *filters_say(const seccomp_harm *harm);

#endif
