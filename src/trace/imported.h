/* imported.h: what the context in the head of a trace says if it was made from another tool's
 * data. Commands that make a trace from others keep that, since numbers depend on it. */
#ifndef TRACE_IMPORTED_H
#define TRACE_IMPORTED_H

#include <stdbool.h>
#include <string.h>

#include "allotrace/memtrace.h"

static inline bool imported_is(const char *context) {
    return strncmp(context, MEMTRACE_IMPORTED, strlen(MEMTRACE_IMPORTED)) == 0;
}

static inline bool imported_has_times(const char *context) {
    return !imported_is(context) || !strstr(context, MEMTRACE_NO_TIMES);
}

#endif
