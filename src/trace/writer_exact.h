/* writer_exact.h: adds allocations to a trace of every block, for a caller that knows more about
 * them than one of memtrace_stream_alloc. */
#ifndef TRACE_WRITER_EXACT_H
#define TRACE_WRITER_EXACT_H

#include "allotrace/memtrace.h"

/* A block of `words`, header included, each of which is a sample. At least the first `common` of
 * the `n` frames must be those of the backtrace before, which must have come by this function. */
memtrace_status writer_alloc_external(memtrace_stream *s, uint64_t time, uint64_t words,
                                      const uint64_t *frames, size_t n, size_t common,
                                      uint64_t *id);

#endif
