/* writer_names.h: names without events, for those who copy the events from elsewhere. */
#ifndef TRACE_WRITER_NAMES_H
#define TRACE_WRITER_NAMES_H

#include "allotrace/memtrace.h"

/* Writes where a code is, as an allocation that uses it for the first time would. */
MEMTRACE_NODISCARD memtrace_status writer_announce(memtrace_stream *stream, uint64_t code);

#endif
