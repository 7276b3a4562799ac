/* writer_names.h: writes names without events, for code that copies the events from elsewhere. */
#ifndef TRACE_WRITER_NAMES_H
#define TRACE_WRITER_NAMES_H

#include <stdint.h>

#include "allotrace/memtrace.h"

/* May be returned by a `locate` hook: the locations of the code are written elsewhere in the
 * trace. */
#define WRITER_NAMED_ELSEWHERE SIZE_MAX

/* Writes the locations of a code, as the first allocation that uses it would. */
MEMTRACE_NODISCARD memtrace_status writer_announce(memtrace_stream *stream, uint64_t code);

/* Writes a head, followed by the locations of `n` distinct codes, as part of `domain`. Calls the
 * `locate` hook for each code in turn. */
MEMTRACE_NODISCARD memtrace_status writer_put_names(const memtrace_info *info,
                                                    const memtrace_writer_options *hooks,
                                                    uint16_t domain, const uint64_t *codes,
                                                    size_t n);

#endif
