/* own_trace.h: which trace the environment asks of a launcher that records by itself. The rules are
 * those of every recorder: %p in the name, the one process that may write a name without it, and
 * what a process has written before it became another program stays (contract/trace_name.h). */
#ifndef GUEST_OWN_TRACE_H
#define GUEST_OWN_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/* Is this process to write a trace? If so, `path` is where to, and nothing of its own is there. Of
 * a request that makes no sense, `problem` is a line; otherwise it is empty. */
bool own_trace_wanted(char *path, size_t size, char *problem, size_t problem_size);

#endif
