/* failure.h: says why a trace could not be made. */
#ifndef TRACE_FAILURE_H
#define TRACE_FAILURE_H

#include <stdio.h>

#include "allotrace/memtrace.h"

/* Fills `*error`, unless it is NULL, and returns its status. `os_error` is an errno, or 0. */
MEMTRACE_NODISCARD static inline memtrace_status
failure(memtrace_error *error, memtrace_status status, int os_error, const char *reason) {
    if (error) {
        *error = (memtrace_error){.status = status, .os_error = os_error};
        snprintf(error->reason, sizeof error->reason, "%s", reason);
    }
    return status;
}

#endif
