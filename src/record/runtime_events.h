/* runtime_events.h: what the recorder offers a language runtime (runtime.h has the design): the
 * path of an event to the trace. A runtime also uses recorder_enter, when it is armed,
 * recorder_lose_runtime, if its sampling ends before the program, and recorder_mark. These
 * functions are the cost of an event, so they are inline, down to the trace writer. */
#ifndef RECORD_RUNTIME_EVENTS_H
#define RECORD_RUNTIME_EVENTS_H

#include <stdatomic.h>

#include "base/inline.h"
#include "platform/cpu.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "trace/writer_stream.h"

/* The destination of a callback's event. */
struct runtime_place {
    struct session *session;
    struct domain *domain; /* the calling thread's domain, entered; NULL: none */
    bool clock_was_read;   /* so it is time to check for old data */
};

/* A block as the runtime remembers it: its id in the trace, and the session that assigned the id.
 * The child of a fork inherits blocks of its parent, whose ids are meaningless in the child's
 * trace. */
enum { RUNTIME_SESSION_BITS = 14 };
#define RUNTIME_SESSION_MASK ((UINT64_C(1) << RUNTIME_SESSION_BITS) - 1)

static ALWAYS_INLINE uint64_t runtime_block(const struct session *s, uint64_t id) {
    return id << RUNTIME_SESSION_BITS | (s->number & RUNTIME_SESSION_MASK);
}

/* Marks the thread as busy: a signal handler that allocates must not wait for locks that this
 * thread may hold. */
static ALWAYS_INLINE void runtime_set_busy(bool busy) {
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
}

/* If the result has a domain, runtime_leave must follow. */
static ALWAYS_INLINE struct runtime_place runtime_enter(void) {
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

static ALWAYS_INLINE void runtime_leave(struct runtime_place at, memtrace_status status) {
    if (__builtin_expect(at.clock_was_read || status != MEMTRACE_OK, 0)) {
        struct runtime_place noted = at; /* a copy, so that `at` can stay in registers */
        runtime_note(&noted, status);
    }
    domain_leave(at.domain);
    runtime_set_busy(false);
}

/* Returns how many frames a stack certainly has in common with the last one in the trace. */
static ALWAYS_INLINE size_t runtime_in_common(const struct session *s,
                                              const struct runtime_stack *stack) {
    bool is_alone = !s->records_malloc;
    return is_alone ? stack->common : 0; /* otherwise malloc's stacks may have come between */
}

/* Returns whether an allocation with so many samples goes into the trace. `at` is the result of
 * runtime_enter. If not, this counts the loss and leaves. */
static ALWAYS_INLINE bool runtime_takes(struct runtime_place at, uint64_t samples) {
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

/* Writes an allocation for which runtime_takes returned true, and leaves. Returns false if later
 * events of the block must not be recorded. */
static ALWAYS_INLINE bool runtime_alloc(struct runtime_place at, memtrace_source heap,
                                        uint64_t words, uint64_t samples,
                                        const struct runtime_stack *stack, uint64_t *block) {
    uint64_t id;
    struct domain *d = at.domain;
    domain_forget_stack(d); /* malloc's last stack is no longer the last one in the stream */
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

/* Records that a block was promoted (memtrace_stream_promote) or has died
 * (memtrace_stream_collect). */
static ALWAYS_INLINE void runtime_changed(uint64_t block, runtime_change *change) {
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
