/* end.h: the statement of how a recording ended.
 *
 * A recorder that is stopped by a full disk, or killed, cannot say so at the end of its file. So it
 * keeps a packet of fixed size for that behind the head of the trace, written when there is room,
 * and replaces it when it knows more. The packet is one of nobody (FORMAT_NOBODY), which readers
 * that know nothing of it skip. The last one of a trace counts. No malloc, no stdio. */
#ifndef TRACE_END_H
#define TRACE_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum { END_PACKET = 256 /* bytes */ };

/* `start` is that of the trace, us since the epoch. */
void end_put(uint8_t packet[END_PACKET], unsigned version, uint64_t start, const memtrace_end *end);

/* Whether `n` bytes, which begin with a good packet header of nobody's, are such a statement. */
bool end_parse(const uint8_t *packet, size_t n, uint64_t start, memtrace_end *end);

/* Whether the end of the trace is known to be missing. */
static inline bool end_is_missing(const memtrace_end *end) {
    return end->how == MEMTRACE_END_OPEN || end->how == MEMTRACE_END_EARLY;
}

/* Why the trace ends where it does, in words: for readers (reader_end.c). */
void end_explain(const memtrace_end *end, char *text, size_t size);

/* A statement of this kind; `reason` may be cut. */
memtrace_end end_of(memtrace_ending how, uint64_t time, int os_error, const char *reason);

#endif
