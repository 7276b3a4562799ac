/* filter.h: what a seccomp filter would do to the recorder. Knows the system calls that recording
 * takes, and runs the filter on each of them, as the kernel would. */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include <stdbool.h>

struct sock_fprog;

/* May the recorder go on once the calling thread has this filter? A call that merely fails does no
 * harm; one that ends the process, or that a signal or another process would learn of, does. `fd`
 * is the descriptor that is written to. Such a program as the kernel refuses does no harm, either.
 */
bool filter_spares_recorder(const struct sock_fprog *filter, int fd);

#endif
