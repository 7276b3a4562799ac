/* session.h: the trace that this process writes about its own heap: the file, a stream of events
 * for each domain, and the times at which they are written to the file. It knows nothing of OCaml
 * values.
 *
 * There is one session at a time. Its number distinguishes it from earlier sessions, whose events
 * may come late. Any domain may call any function. No function waits for the garbage collector, and
 * none waits longer than another domain's write takes. */
#ifndef MEMTRACE_SESSION_H
#define MEMTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

/* OCaml numbers its live domains from 0, below this. */
#define SESSION_DOMAINS 4096

typedef struct session_plan {
    int fd;             /* open for writing; owned by the session once it has begun */
    size_t depth;       /* frames kept of a stack */
    memtrace_info info; /* without start time and process id */
    size_t (*locate)(void *context, uint64_t code, memtrace_location *locations, size_t max);
} session_plan;

/* Begins a session. Returns its number, which is above 0, or 0 with an errno: EAGAIN if something
 * else is writing to the file, EBUSY if there is a session. */
uint64_t session_begin(const session_plan *plan, int *error);

/* Ends a session and writes what is buffered. Returns false if the session was over already. */
bool session_end(uint64_t number);

/* Returns the number of the current session; 0 if there is none. */
uint64_t session_number(void);
double session_rate(void);
size_t session_depth(void);

/* Returns the errno that ended the last session; 0 if it did not end by itself. */
int session_failure(void);

/* Returns the calling domain's room for a stack, depth + 1 codes; NULL if the session is over or
 * there is no memory. If it is not NULL, session_alloc must follow soon: the domain is locked until
 * then. */
uint64_t *session_stack(uint64_t number, unsigned domain);

typedef struct session_block {
    memtrace_source source;
    uint64_t length, samples; /* as for memtrace_stream_alloc */
} session_block;

/* Writes an allocation with the first `n` codes of the room. Returns false if it could not be
 * written. */
bool session_alloc(unsigned domain, const session_block *block, size_t n, uint64_t *id);

/* Write that a block was promoted or collected; do nothing if the session is over. */
void session_promote(uint64_t number, unsigned domain, uint64_t id);
void session_collect(uint64_t number, unsigned domain, uint64_t id);

#endif
