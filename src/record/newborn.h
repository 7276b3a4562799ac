/* newborn.h: a block whose birth is not in the trace yet. A language runtime allocates an object,
 * and then makes it one of some type, so a hook in its allocator comes too early to tell which. The
 * birth waits in the thread's domain for the thread's next event, when the runtime is asked what
 * the block is, and is written in front of that event, at the time and with the id that it had.
 * Whoever else wants all to be written gets it without that, as the program may be at the block.
 *
 * A thread has one such block at most: until it is written, nothing else is allocated in its
 * stream, so that the id is known before. The codes of its stack are those that the runtime's state
 * holds, until it is asked for the next stack. If the process is killed, the block is lost. */
#ifndef RECORD_NEWBORN_H
#define RECORD_NEWBORN_H

#include "record/runtime.h"
#include "record/session.h"

/* Whether blocks of this allocating function (of code_with_type) wait. */
static inline bool newborn_waits(const struct session *s, unsigned type) {
    return type > N_CALL_TYPES && type <= N_CALL_TYPES + s->n_object_types;
}

/* Keeps a birth, whose id is given. There is none in the domain, which the calling thread is in. */
uint64_t newborn_hold(struct domain *d, uint64_t now, void *block, uint64_t words,
                      uint64_t n_samples, const struct runtime_stack *stack);

/* Writes the birth that waits in a domain, if there is one. The calling thread is in the domain; if
 * it is its own, the block gets its type. `dying`: the block that is about to be freed, or NULL. */
void newborn_settle_now(struct session *s, struct domain *d, const void *dying);
static inline void newborn_settle(struct session *s, struct domain *d, const void *dying) {
    if (__builtin_expect(atomic_load_explicit(&d->newborn.waits, memory_order_relaxed), 0))
        newborn_settle_now(s, d, dying);
}

#endif
