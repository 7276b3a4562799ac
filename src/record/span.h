/* span.h: the span of distributed tracing that a thread is in, as the program's tracing library
 * publishes it for profilers (OpenTelemetry's OTEP 4947): a thread-local variable points to a
 * record with the ids of the trace and of the span.
 * Only the thread itself changes its record, and marks it as invalid meanwhile. The record is read
 * in that thread, at a sample, so it cannot change while it is read. A signal handler or an
 * allocation may interrupt a change: then there is no valid record, and no span.
 * The pointer is not trusted, because reading an unmapped record would end the process. So the
 * kernel is first asked whether its pages are readable. The answer is reused until the thread reads
 * its clock again, which is some microseconds. */
#ifndef RECORD_SPAN_H
#define RECORD_SPAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "platform/pages_seen.h"

/* A domain's state for spans. Valid when zeroed. */
struct span_state {
    memtrace_span now;      /* span in the trace; zero: none */
    memtrace_span said;     /* see span_remark_list */
    uint64_t at;            /* the thread's clock when `seen` was started */
    uint64_t glanced;       /* the thread's clock when it last checked for new variables */
    struct pages_seen seen; /* readable pages of records */
};

/* Number of variables. More may be found at any moment. */
extern _Atomic uint32_t span_variables __attribute__((visibility("hidden")));
static inline bool span_is_published(void) {
    return __builtin_expect(atomic_load_explicit(&span_variables, memory_order_relaxed) != 0, 0);
}

/* Looks for variables. With `anew`, searches all modules, with the loader's lock held. Otherwise
 * searches those that were loaded since, for callers that must not wait. Called at the start of a
 * recording, and after modules were unloaded. */
void span_look(bool anew);

/* Looks for variables in new modules if there may be some; a cheap check, made now and then. `now`
 * is the thread's clock. */
#define SPAN_GLANCES 250 /* µs between checks */
void span_look_at_more_slow(struct span_state *state, uint64_t now);
static inline void span_look_at_more(struct span_state *state, uint64_t now) {
    if (__builtin_expect(now - state->glanced >= SPAN_GLANCES, 0))
        span_look_at_more_slow(state, now);
}

/* Called in the child of a fork, while it has one thread. */
void span_after_fork(void);

/* Returns whether the calling thread's span differs from the one in the trace, and writes it to
 * *span. `now` is the thread's clock. */
bool span_has_changed(struct span_state *state, uint64_t now, memtrace_span *span);

#endif
