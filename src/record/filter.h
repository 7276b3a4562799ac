/* filter.h: what a seccomp filter would do to the recorder. contract/seccomp.h has the system calls
 * of recording; this file safely reads a filter that a program is about to install. */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include <stdbool.h>

struct sock_fprog;

/* Returns whether the recorder may continue once the calling thread has this filter. A call that
 * merely fails is mostly harmless. A call is harmful if it ends the process, or if a signal or
 * another process would learn of it. `fd` is the descriptor of the trace. A filter that the kernel
 * will reject is harmless, too. */
bool filter_spares_recorder(const struct sock_fprog *filter, int fd);

/* Returns whether the recorder may ask for thread names and mappings under this filter. */
bool filter_allows_asking(const struct sock_fprog *filter);

#endif
