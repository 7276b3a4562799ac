/* filter.h: what a seccomp filter would do to the recorder. contract/seccomp.h knows the system
 * calls that recording takes; here is what it takes to look at a filter that a program is about to
 * install. */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include <stdbool.h>

struct sock_fprog;

/* May the recorder go on once the calling thread has this filter? A call that merely fails does
 * mostly no harm; one that ends the process, or that a signal or another process would learn of,
 * does. `fd` is the descriptor that is written to. Such a program as the kernel refuses does no
 * harm, either. */
bool filter_spares_recorder(const struct sock_fprog *filter, int fd);

/* And may it ask what threads are called? */
bool filter_spares_names(const struct sock_fprog *filter);

#endif
