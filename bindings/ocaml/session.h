/* session.h: the trace that this process is writing about its own heap: the file, a stream of
 * events for each domain, and when they are handed to the file. Knows no OCaml values.
 *
 * There is one session at a time. It has a number by which late events of an earlier one are told
 * apart. Any domain may call any function; none waits for the collector, and none is held up by
 * more than another domain's write. */
#ifndef MEMTRACE_SESSION_H
#define MEMTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

/* How OCaml's domains are numbered while they live: from 0, and below this. */
#define SESSION_DOMAINS 4096

typedef struct session_plan {
    int fd;             /* open for writing; the session's to close once it has begun */
    size_t depth;       /* frames kept of a stack */
    memtrace_info info; /* but for its start time and process id */
    size_t (*locate)(void *context, uint64_t code, memtrace_location *locations, size_t max);
} session_plan;

/* Begins a session and gives its number, above 0; 0 and an errno if it cannot be, EAGAIN if
 * something else is writing to the file, EBUSY if there is a session. */
uint64_t session_begin(const session_plan *plan, int *error);

/* Ends a session: what is buffered is written. False if it was over. */
bool session_end(uint64_t number);

/* The session that is on; 0: none. */
uint64_t session_number(void);
double session_rate(void);
size_t session_depth(void);

/* Why the last session ended by itself: an errno; 0 if it did not. */
int session_failure(void);

/* The room in which the calling domain puts a stack, depth + 1 codes; NULL: the session is over, or
 * there is no memory. Anything but NULL must be followed by session_alloc, soon. */
uint64_t *session_stack(uint64_t number, unsigned domain);

typedef struct session_block {
    memtrace_source source;
    uint64_t length, samples; /* as in memtrace_stream_alloc */
} session_block;

/* Writes an allocation with the first `n` codes of the room. False if it could not be written. */
bool session_alloc(unsigned domain, const session_block *block, size_t n, uint64_t *id);

/* Write that a block was promoted or collected; nothing if the session is over. */
void session_promote(uint64_t number, unsigned domain, uint64_t id);
void session_collect(uint64_t number, unsigned domain, uint64_t id);

#endif
