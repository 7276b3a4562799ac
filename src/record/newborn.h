/* newborn.h: a block whose birth is not in the trace yet. A language runtime first allocates an
 * object and then sets its type, so a hook in its allocator runs too early to see the type. The
 * birth is held in the thread's domain until the thread's next event. Then the runtime is asked for
 * the type, and the birth is written before that event, with its original time and id. If another
 * thread wants everything written, the birth is written without the type, because the program may
 * be changing the block.
 * A thread holds one such block at most. Until it is written, no other allocation is written to the
 * thread's stream, so its id is known in advance. The codes of its stack are owned by the runtime's
 * state, and are valid until the runtime is asked for the next stack. If the process is killed, the
 * block is lost. */
#ifndef RECORD_NEWBORN_H
#define RECORD_NEWBORN_H

#include "record/runtime.h"
#include "record/session.h"

/* Returns whether births with this allocating function (of code_with_type) are held. */
static inline bool newborn_waits(const struct session *s, unsigned type) {
    return type > N_CALL_TYPES && type <= N_CALL_TYPES + s->n_object_types;
}

/* Holds a birth and returns its id. The calling thread must have entered the domain, and the domain
 * must hold no birth. */
uint64_t newborn_hold(struct domain *d, uint64_t now, void *block, uint64_t words,
                      uint64_t n_samples, const struct runtime_stack *stack);

/* Writes the birth that a domain holds, if any. The calling thread must have entered the domain. If
 * the domain is its own, the block gets its type. `dying` is the block that is about to be freed,
 * or NULL. */
void newborn_settle_now(struct session *s, struct domain *d, const void *dying);
static inline void newborn_settle(struct session *s, struct domain *d, const void *dying) {
    if (__builtin_expect(atomic_load_explicit(&d->newborn.waits, memory_order_relaxed), 0))
        newborn_settle_now(s, d, dying);
}

#endif
