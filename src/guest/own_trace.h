/* own_trace.h: the trace that the environment asks a launcher to write, if the launcher records by
 * itself. The rules are those of every recorder: %p in the name is the process id, only one process
 * may write a name without %p, and a trace that the process wrote before exec is kept
 * (contract/trace_name.h). */
#ifndef GUEST_OWN_TRACE_H
#define GUEST_OWN_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this process should write a trace. If so, sets `path`, at which there is no earlier trace
 * of this process. If the request is invalid, sets `problem` to a line; otherwise to "". */
bool own_trace_wanted(char *path, size_t size, char *problem, size_t problem_size);

#endif
