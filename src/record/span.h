/* span.h: the span of distributed tracing that a thread is in, as the program's tracing library
 * publishes it for profilers (OpenTelemetry's OTEP 4947): a thread-local variable points to a
 * record with the ids of the trace and of the span.
 *
 * Only the thread itself changes its record, and marks it as invalid meanwhile; it is read in that
 * thread, at a sample, so that nothing can change while it is read. A signal handler or an
 * allocation may come between: then there is no valid record, and no span.
 *
 * What the program says is not believed: a record that is gone would end the process. So the pages
 * that it is in are asked for first, and for as long as the thread's clock stands, which is some
 * microseconds, they are taken to stay. */
#ifndef RECORD_SPAN_H
#define RECORD_SPAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "platform/pages_seen.h"

/* What a domain has of it. Legal when zeroed. */
struct span_state {
    memtrace_span now;      /* that the trace has; zero: none */
    memtrace_span said;     /* see span_remark_list */
    uint64_t at;            /* the thread's clock when `seen` was begun */
    uint64_t glanced;       /* the same when it was looked whether there is more */
    struct pages_seen seen; /* where records are */
};

/* How many variables there are. Others may be found at any moment. */
extern _Atomic uint32_t span_variables __attribute__((visibility("hidden")));
static inline bool span_is_published(void) {
    return __builtin_expect(atomic_load_explicit(&span_variables, memory_order_relaxed) != 0, 0);
}

/* Looks for variables: in all modules, while the loader holds still; or in those that came since
 * the last look, for who must not wait. At the start of a recording, and when modules have gone. */
void span_look(bool anew);

/* The second, if there is something to find; at a glance, which is taken now and then. `now` is the
 * thread's clock. */
#define SPAN_GLANCES 250 /* µs: to the next one */
void span_look_at_more_slow(struct span_state *state, uint64_t now);
static inline void span_look_at_more(struct span_state *state, uint64_t now) {
    if (__builtin_expect(now - state->glanced >= SPAN_GLANCES, 0))
        span_look_at_more_slow(state, now);
}

/* In the child of a fork, while it has one thread. */
void span_after_fork(void);

/* Whether the calling thread is in another span than the trace has; `now` is its clock. It goes to
 * `span`. */
bool span_has_changed(struct span_state *state, uint64_t now, memtrace_span *span);

#endif
