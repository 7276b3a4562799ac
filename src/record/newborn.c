/* newborn.c: implements newborn.h: asks the runtime for the type of the block, and writes its
 * birth. */
#include "record/newborn.h"

#include "record/ids.h"
#include "record/runtime.h"
#include "trace/writer_stream.h"

uint64_t newborn_hold(struct domain *d, uint64_t now, void *block, uint64_t words,
                      uint64_t n_samples, const struct runtime_stack *stack) {
    d->newborn.block = block;
    d->newborn.id = stream_next_id(d->stream);
    d->newborn.time = now;
    d->newborn.words = words;
    d->newborn.n_samples = n_samples;
    d->newborn.codes = stack->codes;
    d->newborn.n = stack->n;
    d->newborn.common = stack->common;
    atomic_store_explicit(&d->newborn.waits, true, memory_order_relaxed);
    return d->newborn.id;
}

/* Returns whether the block is still in the table of all known blocks. It can't be freed during
 * this check: the runtime looks at a block (may_look) only where nobody else can free it. */
static bool newborn_lives(struct session *s, const struct newborn *b) {
    const uintptr_t at = (uintptr_t)b->block;
    const uint64_t taken = s->ids ? ids_take(s->ids, at) : (uintptr_t)memprof_drop(s->engine, at);
    void *before;
    uint64_t old;
    if (!taken)
        return false;
    const bool kept = s->ids ? ids_put_at(s->ids, ids_place(s->ids, at), at, taken - 1, &old)
                             : memprof_keep(s->engine, at, (void *)(uintptr_t)taken, &before);
    if (!kept)
        atomic_fetch_add_explicit(&s->lost_id, 1, memory_order_relaxed);
    return taken == b->id + 1;
}

static void newborn_name(struct session *s, struct domain *d, bool is_dying) {
    struct newborn *b = &d->newborn;
    const struct runtime_object object = {.block = b->block,
                                          .bytes = (b->words - 1) * sizeof(uint64_t),
                                          .is_dying = is_dying,
                                          .codes = &s->codes};
    if (b->n == 0 || !s->runtime->may_look() || !newborn_lives(s, b))
        return;
    if (s->runtime->name_object(d->runtime, &b->codes[b->n - 1], &object) && b->common == b->n)
        b->common--;
}

static void newborn_write(struct session *s, struct domain *d) {
    struct newborn *b = &d->newborn;
    uint64_t id;
    const memtrace_status status = stream_alloc_block(d->stream, b->time, b->words, b->n_samples,
                                                      b->codes, b->n, b->common, &id);
    if (__builtin_expect(status == MEMTRACE_OK, 1))
        return;
    session_note(s, status);
    domain_forget_stack(d);
    s->runtime->domain_forget(d->runtime);
}

void newborn_settle_now(struct session *s, struct domain *d, const void *dying) {
    const unsigned busy = self.sampler.busy;
    self.sampler.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&d->newborn.waits, false, memory_order_relaxed);
    if (d == self.domain)
        newborn_name(s, d, dying && dying == d->newborn.block);
    newborn_write(s, d);
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = busy;
}
