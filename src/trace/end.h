/* end.h: the statements of how a recording ended, and of where events are missing.
 *
 * A recorder that is stopped by a full disk, or killed, cannot say so at the end of its file. So it
 * keeps a packet of fixed size for that behind the head of the trace, written when there is room,
 * and replaces it when it knows more. The packet is of another process than the trace, so that
 * readers that know nothing of it skip it. The last one of a trace counts.
 *
 * What is made of a damaged trace has no damage itself. So it says in packets of the same kind, one
 * a gap, where events of it are missing. No malloc, no stdio. */
#ifndef TRACE_END_H
#define TRACE_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum { END_PACKET = 256 /* bytes */ };

/* What it must know of the trace. */
typedef struct end_trace {
    unsigned version;
    uint64_t start; /* us since the epoch */
    uint64_t pid;
} end_trace;

void end_put(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_end *end);

/* Whether `n` bytes are such a statement, of a trace of whatever version. */
bool end_parse(const uint8_t *packet, size_t n, const end_trace *of, memtrace_end *end);

/* The same of a gap. */
void end_put_gap(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_gap *gap);
bool end_parse_gap(const uint8_t *packet, size_t n, const end_trace *of, memtrace_gap *gap);

/* Whether the end of the trace is known to be missing. */
static inline bool end_is_missing(const memtrace_end *end) {
    return end->how == MEMTRACE_END_OPEN || end->how == MEMTRACE_END_EARLY;
}

/* Why the trace ends where it does, in words: for readers (reader_end.c). */
void end_explain(const memtrace_end *end, char *text, size_t size);

/* A statement of this kind; `reason` may be cut. */
memtrace_end end_of(memtrace_ending how, uint64_t time, int os_error, const char *reason);

#endif
