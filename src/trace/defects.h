/* defects.h: the defects that the reader found and stepped over: one warning for each kind, with a
 * count and the first offset.
 *
 * Owns the list, the observer and the rule of strict reading, in which the first defect is an
 * error. */
#ifndef TRACE_DEFECTS_H
#define TRACE_DEFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

/* Valid when zeroed. */
typedef struct defect_log {
    memtrace_warning warnings[MEMTRACE_N_DEFECTS]; /* sorted by first offset */
    size_t n;
    memtrace_defect_fn *observer; /* may be NULL */
    void *observer_context;
    bool strict;
} defect_log;

/* Whether any of these defects lost events, other than those at the end of the trace. */
bool defects_cost_events(const memtrace_warning *warnings, size_t n);

/* Adds a defect. In strict reading, fills `*error` instead and returns its status. */
MEMTRACE_NODISCARD __attribute__((format(printf, 5, 6))) memtrace_status
defect_met(defect_log *log, memtrace_error *error, memtrace_defect defect, uint64_t offset,
           const char *format, ...);

#endif
