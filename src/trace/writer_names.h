/* writer_names.h: names without events, for those who copy the events from elsewhere. */
#ifndef TRACE_WRITER_NAMES_H
#define TRACE_WRITER_NAMES_H

#include <stdint.h>

#include "allotrace/memtrace.h"

/* What a `locate` hook may return: the trace says elsewhere where the code is. */
#define WRITER_NAMED_ELSEWHERE SIZE_MAX

/* Writes where a code is, as an allocation that uses it for the first time would. */
MEMTRACE_NODISCARD memtrace_status writer_announce(memtrace_stream *stream, uint64_t code);

/* Writes a head, and behind it where `n` codes are, which all differ, in the name of a domain: asks
 * for each in turn. */
MEMTRACE_NODISCARD memtrace_status writer_put_names(const memtrace_info *info,
                                                    const memtrace_writer_options *hooks,
                                                    uint16_t domain, const uint64_t *codes,
                                                    size_t n);

#endif
