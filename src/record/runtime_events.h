/* runtime_events.h: what the recorder offers a language runtime (see runtime.h for the design): the
 * way of an event to the trace. A runtime also has recorder_enter, when it is armed,
 * recorder_lose_runtime, if its sampling ends before the program, and recorder_mark.
 *
 * What follows is what an event costs: each function is one with its callers, down to the trace
 * writer. */
#ifndef RECORD_RUNTIME_EVENTS_H
#define RECORD_RUNTIME_EVENTS_H

#include <stdatomic.h>

#include "platform/cpu.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "trace/writer_stream.h"

#define RUNTIME_HOT static inline __attribute__((always_inline))

/* Where the event of a callback goes. */
struct runtime_place {
    struct session *session;
    struct domain *domain; /* the calling thread's, entered; NULL: nowhere */
    bool clock_was_read;   /* and so it is time to look what is old */
};

/* A block as the runtime remembers it: its id in the trace, and in which session that was given to
 * it. The child of a fork has the blocks of its parent, whose ids mean nothing in its own trace. */
enum { RUNTIME_SESSION_BITS = 14 };
#define RUNTIME_SESSION_MASK ((UINT64_C(1) << RUNTIME_SESSION_BITS) - 1)

RUNTIME_HOT uint64_t runtime_block(const struct session *s, uint64_t id) {
    return id << RUNTIME_SESSION_BITS | (s->number & RUNTIME_SESSION_MASK);
}

/* A signal handler that allocates must not wait for the locks that this thread may hold. */
RUNTIME_HOT void runtime_set_busy(bool busy) {
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
}

/* If it gives a domain, runtime_leave has to follow. */
RUNTIME_HOT struct runtime_place runtime_enter(void) {
    struct session *s = recorder_enter_again();
    if (__builtin_expect(!s || self.sampler.busy, 0))
        return (struct runtime_place){0};
    runtime_set_busy(true);
    struct domain *d = self.domain;
    if (__builtin_expect(!d, 0) && !(d = session_domain(s))) {
        runtime_set_busy(false);
        return (struct runtime_place){.session = s};
    }
    uint64_t cycles = cpu_cycles();
    bool is_old = session_clock_is_old(d, cycles, CPU_CYCLES_SHORTEST);
    domain_enter(d);
    if (is_old) {
        session_read_clock(s, d, cycles);
        session_look_at_name(s, d);
        span_look_at_more(&d->span, d->now);
    }
    session_look_at_scope(s, d, d->now, 0);
    session_look_at_span(s, d, d->now);
    return (struct runtime_place){.session = s, .domain = d, .clock_was_read = is_old};
}

/* The rest of runtime_leave. */
void runtime_note(const struct runtime_place *at, memtrace_status status);

RUNTIME_HOT void runtime_leave(struct runtime_place at, memtrace_status status) {
    if (__builtin_expect(at.clock_was_read || status != MEMTRACE_OK, 0)) {
        struct runtime_place noted = at; /* so that the other is in registers */
        runtime_note(&noted, status);
    }
    domain_leave(at.domain);
    runtime_set_busy(false);
}

/* How many frames a stack surely has in common with the last one in the trace. */
RUNTIME_HOT size_t runtime_in_common(const struct session *s, const struct runtime_stack *stack) {
    bool is_alone = !s->records_malloc;
    return is_alone ? stack->common : 0; /* else malloc's stacks may have come between */
}

/* Whether an allocation of so many samples, for which runtime_enter gave `at`, goes to the trace.
 * If not it is counted where it is lost, and left. */
RUNTIME_HOT bool runtime_takes(struct runtime_place at, uint64_t samples) {
    if (!at.domain) {
        if (at.session)
            atomic_fetch_add_explicit(&at.session->lost_domain, samples, memory_order_relaxed);
        return false;
    }
    if (recorder_is_stopped()) {
        runtime_leave(at, MEMTRACE_OK);
        return false;
    }
    return true;
}

/* An allocation that runtime_takes; leaves. False if nothing is to be told of the block later. */
RUNTIME_HOT bool runtime_alloc(struct runtime_place at, memtrace_source heap, uint64_t words,
                               uint64_t samples, const struct runtime_stack *stack,
                               uint64_t *block) {
    uint64_t id;
    struct domain *d = at.domain;
    domain_forget_stack(d); /* of malloc's stacks, which this one comes between */
    memtrace_status status =
        memtrace_stream_alloc(d->stream, session_now_nearly(at.session, d), heap, words, samples,
                              stack->codes, stack->n, runtime_in_common(at.session, stack), &id);
    runtime_leave(at, status);
    if (status != MEMTRACE_OK)
        return false;
    *block = runtime_block(at.session, id);
    return true;
}

typedef memtrace_status runtime_change(memtrace_stream *stream, uint64_t time, uint64_t id);

/* A block is promoted (memtrace_stream_promote) or has come to its end (memtrace_stream_collect).
 */
RUNTIME_HOT void runtime_changed(uint64_t block, runtime_change *change) {
    struct runtime_place at = runtime_enter();
    memtrace_status status = MEMTRACE_OK;
    if (!at.domain) {
        if (at.session)
            atomic_fetch_add_explicit(&at.session->lost_event, 1, memory_order_relaxed);
        return;
    }
    if ((block & RUNTIME_SESSION_MASK) == (at.session->number & RUNTIME_SESSION_MASK))
        status = change(at.domain->stream, session_now_nearly(at.session, at.domain),
                        block >> RUNTIME_SESSION_BITS);
    runtime_leave(at, status);
}

#endif
