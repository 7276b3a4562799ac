/* end.h: the statements of how a recording ended, and of where events are missing.
 *
 * A recorder that is killed, or stopped by a full disk, cannot write this at the end of its file.
 * So it writes a packet of fixed size right after the head of the trace, while there is room, and
 * replaces it when it knows more. The packet claims to be of another process, so that readers that
 * do not know it skip it. The last such packet of a trace counts.
 *
 * A trace made from a damaged one has no damage itself. Packets of the same kind, one per gap,
 * state where its events are missing. No malloc, no stdio. */
#ifndef TRACE_END_H
#define TRACE_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum { END_PACKET = 256 /* bytes */ };

/* The properties of the trace that the packet depends on. */
typedef struct end_trace {
    unsigned version;
    uint64_t start; /* us since the epoch */
    uint64_t pid;
} end_trace;

void end_put(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_end *end);

/* Whether `n` bytes are such a statement, of a trace of any version; stores it in `*end`. */
bool end_parse(const uint8_t *packet, size_t n, const end_trace *of, memtrace_end *end);

/* Like end_put and end_parse, for gaps. */
void end_put_gap(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_gap *gap);
bool end_parse_gap(const uint8_t *packet, size_t n, const end_trace *of, memtrace_gap *gap);

/* Whether the trace's end is known to be missing. */
static inline bool end_is_missing(const memtrace_end *end) {
    return end->how == MEMTRACE_END_OPEN || end->how == MEMTRACE_END_EARLY;
}

/* Says in words why the trace ends where it does. Only in readers (reader_end.c). */
void end_explain(const memtrace_end *end, char *text, size_t size);

/* Returns a statement with these fields; `reason` may be truncated. */
memtrace_end end_make(memtrace_ending how, uint64_t time, int os_error, const char *reason);

#endif
