/* queue.c: tracked blocks of collecting hosts. Callbacks cannot run during a collection or inside
 * an allocation of the runtime. So events are noted in the block, and the block is added to the
 * queue of the thread in which they happened. memprof_run_postponed then calls the tracker, for
 * each block in the order alloc → promote → dealloc. The engine's `state` lock guards all of
 * this. */
#include <string.h>

#include "memprof/internal.h"

/* ---- lists; require `state` --------------------------------------------------------------- */

static void push(local *l, block *b) {
    if (b->flags & BLOCK_QUEUED)
        return;
    b->flags |= BLOCK_QUEUED;
    b->next = NULL;
    *l->queue_end = b;
    l->queue_end = &b->next;
    l->thread->postponed = 1;
}

static void pop(local *l) {
    block *b = l->queue;
    b->flags &= ~BLOCK_QUEUED;
    if (!(l->queue = b->next))
        l->queue_end = &l->queue;
}

static void set_young(local *l, block *b) {
    b->young_next = l->young;
    b->young_link = &l->young;
    if (b->young_next)
        b->young_next->young_link = &b->young_next;
    l->young = b;
}

void block_unset_young(block *b) {
    if (!b->young_link)
        return;
    *b->young_link = b->young_next;
    if (b->young_next)
        b->young_next->young_link = b->young_link;
    b->young_link = NULL;
}

/* ---- the fates of a block; require `state` ------------------------------------------------ */

static size_t record_size(size_t n_frames) {
    return sizeof(record) + n_frames * sizeof(uint64_t);
}

static void record_free(memprof *engine, record *r) {
    if (r)
        engine->host.reallocate(engine->host.context, r, record_size(r->info.callstack_length), 0);
}

static void dispose(memprof *engine, block *b) {
    record_free(engine, b->birth);
    block_index_release(engine, b);
}

/* Makes sure that no further callback is told of this block, which was removed from the index. */
static void forget(memprof *engine, block *b) {
    block_unset_young(b);
    b->flags |= BLOCK_FORGOTTEN;
    if (!(b->flags & BLOCK_QUEUED))
        dispose(engine, b);
}

/* Notes the death of a block that was removed from the index. */
static void die(local *l, block *b) {
    block_unset_young(b);
    b->flags |= BLOCK_DEAD;
    push(l, b);
}

static void die_unnoticed(local *l, block *stale) {
    if (!stale)
        return;
    memprof_count_one(&l->engine->implied_deaths);
    die(l, stale);
}

static void promote(local *l, block *b) {
    block_unset_young(b);
    b->heap = MEMPROF_MAJOR;
    b->flags |= BLOCK_PROMOTED;
    push(l, b);
}

/* Adds a block that was removed from the index at its new address. */
static void settle(local *l, block *b, uintptr_t address) {
    block *stale;
    b->address = address;
    if (block_index_put(l->engine, b, &stale)) {
        die_unnoticed(l, stale);
    } else {
        memprof_count_one(&l->engine->lost_memory);
        forget(l->engine, b);
    }
}

/* ---- births and deaths -------------------------------------------------------------------- */

static record *record_new(local *l, const memprof_birth *birth, size_t n_frames) {
    const memprof_host *host = &l->engine->host;
    record *r = host->reallocate(host->context, NULL, 0, record_size(n_frames));
    if (!r)
        return NULL;
    r->info = (memprof_allocation){.n_samples = birth->n_samples,
                                   .size = birth->size,
                                   .source = birth->source,
                                   .callstack_length = n_frames,
                                   .callstack = r->frames};
    if (n_frames)
        memcpy(r->frames, l->frames, n_frames * sizeof *r->frames);
    return r;
}

void queue_birth(local *l, const memprof_birth *birth, size_t n_frames) {
    memprof *engine = l->engine;
    record *r = record_new(l, birth, n_frames);
    if (!r) {
        memprof_count_one(&engine->lost_memory);
        return;
    }
    memprof_lock_take(&engine->state);
    block *stale, *b = block_index_reserve(engine, l->session, birth->address, &stale);
    die_unnoticed(l, stale);
    if (b) {
        b->heap = (uint8_t)birth->heap;
        b->birth = r;
        if (birth->heap == MEMPROF_MINOR)
            set_young(l, b);
        push(l, b);
        block_index_commit(engine, b);
    } else {
        record_free(engine, r);
    }
    memprof_lock_drop(&engine->state);
}

void queue_death(local *l, uintptr_t address) {
    memprof_lock_take(&l->engine->state);
    block *b = block_index_remove(l->engine, address);
    if (b)
        die(l, b);
    memprof_lock_drop(&l->engine->state);
}

/* ---- running the callbacks ---------------------------------------------------------------- */

typedef enum event { NOTHING, BIRTH, PROMOTION, DEATH } event;

static event next_event(const block *b) {
    if (b->flags & BLOCK_FORGOTTEN)
        return NOTHING;
    if (b->birth)
        return BIRTH;
    if (b->flags & BLOCK_PROMOTED)
        return PROMOTION;
    return b->flags & BLOCK_DEAD ? DEATH : NOTHING;
}

/* Calls a callback, with no lock held. `heap_at_birth` is the minor heap for a block that was
 * promoted before its birth was reported. */
static void *call(local *l, block *b, memprof_heap heap_at_birth, event e, bool stopping) {
    void *metadata = NULL;
    if (!block_callback_enter(l, b->session, stopping))
        return NULL;
    if (e == BIRTH)
        metadata = block_call_alloc(l, b->session, heap_at_birth, &b->birth->info);
    else if (e == PROMOTION)
        metadata = block_call_promote(l, b);
    else
        block_call_dealloc(l, b);
    block_callback_leave(l);
    return metadata;
}

/* Completes an event. Requires `state`; the block is still at the head of the queue. */
static void finish(local *l, block *b, event e, void *metadata) {
    if (e == BIRTH) {
        record_free(l->engine, b->birth);
        b->birth = NULL;
    }
    b->metadata = metadata;
    if (metadata || b->flags & BLOCK_FORGOTTEN)
        return;
    if (!(b->flags & BLOCK_DEAD))
        block_index_remove(l->engine, b->address);
    forget(l->engine, b);
}

static void run_head(local *l, block *b, event e, bool stopping) {
    memprof_heap heap = b->flags & BLOCK_PROMOTED ? MEMPROF_MINOR : (memprof_heap)b->heap;
    if (e == PROMOTION)
        b->flags &= ~BLOCK_PROMOTED;
    l->current = b;
    memprof_lock_drop(&l->engine->state);
    void *metadata = call(l, b, heap, e, stopping);
    memprof_lock_take(&l->engine->state);
    l->current = NULL;
    finish(l, b, e, metadata);
}

void queue_run(local *l, bool stopping) {
    memprof_lock_take(&l->engine->state);
    for (block *b; (b = l->queue);) {
        event e = next_event(b);
        if (e != NOTHING) {
            run_head(l, b, e, stopping);
            continue;
        }
        pop(l);
        if (b->flags & BLOCK_FORGOTTEN)
            dispose(l->engine, b);
    }
    l->thread->postponed = 0;
    memprof_lock_drop(&l->engine->state);
}

void memprof_run_postponed(memprof *engine, memprof_thread *thread) {
    local *l = thread->local;
    if (!thread->postponed || thread->busy || !l || l->engine != engine)
        return;
    int saved_errno = errno;
    memprof_set_busy(thread, IN_ENGINE);
    queue_run(l, false);
    memprof_set_busy(thread, IDLE);
    errno = saved_errno;
}

/* ---- the end of a session ---------------------------------------------------------------- */

static void take_over(local *l, local *from) {
    for (block **link = &from->queue, *b; (b = *link);) {
        if (b == from->current || b->birth || b->flags & BLOCK_FORGOTTEN) {
            link = &b->next;
            continue;
        }
        if (!(*link = b->next))
            from->queue_end = link;
        b->flags &= ~BLOCK_QUEUED;
        push(l, b);
    }
}

void queue_gather(memprof *engine, local *l) {
    memprof_lock_take(&engine->state);
    for (local *other = atomic_load(&engine->locals); other; other = other->next)
        if (other != l)
            take_over(l, other);
    memprof_lock_drop(&engine->state);
}

/* Marks all blocks of the queue as forgotten. They leave it when its thread runs it. */
static void forget_queue(memprof *engine, local *l) {
    l->young = NULL;
    for (block *b = l->queue; b; b = b->next) {
        if (b->birth && b != l->current && !(b->flags & BLOCK_FORGOTTEN))
            memprof_count_one(&engine->lost_at_stop);
        b->flags |= BLOCK_FORGOTTEN;
    }
}

void queue_forget_all(memprof *engine) {
    memprof_lock_take(&engine->state);
    for (local *l = atomic_load(&engine->locals); l; l = l->next)
        forget_queue(engine, l);
    for (unsigned n = 0; n < N_SHARDS; n++)
        for (block *b = block_index_clear(engine, n), *next; b; b = next) {
            next = b->young_next;
            b->young_link = NULL;
            forget(engine, b);
        }
    memprof_lock_drop(&engine->state);
}

void queue_free_records(memprof *engine) {
    for (local *l = atomic_load(&engine->locals); l; l = l->next)
        for (block *b = l->queue; b; b = b->next)
            if (b->flags & BLOCK_FORGOTTEN)
                record_free(engine, b->birth);
}

/* ---- reports of collections -------------------------------------------------------------- */

/* Enters the engine from a collection, which a callback may have caused. */
static local *enter(memprof *engine, memprof_thread *thread, uint32_t *was_busy) {
    *was_busy = thread->busy;
    if (*was_busy == IN_ENGINE || !atomic_load_explicit(&engine->session, memory_order_acquire))
        return NULL;
    memprof_set_busy(thread, IN_ENGINE);
    local *l = local_of(engine, thread);
    if (l) {
        memprof_lock_take(&engine->state);
        return l;
    }
    memprof_count_one(&engine->lost_memory);
    memprof_set_busy(thread, *was_busy);
    return NULL;
}

static void leave(local *l, uint32_t was_busy) {
    memprof_lock_drop(&l->engine->state);
    memprof_set_busy(l->thread, was_busy);
}

void memprof_survived(memprof *engine, memprof_thread *thread, uintptr_t from, uintptr_t to,
                      memprof_heap heap) {
    if (!memprof_is_tracked(engine->host.filter, (const void *)from))
        return;
    uint32_t was_busy;
    local *l = enter(engine, thread, &was_busy);
    if (!l)
        return;
    block *b = block_index_find(engine, from);
    if (b && b->heap == MEMPROF_MINOR && heap == MEMPROF_MAJOR)
        promote(l, b);
    else if (b && b->heap == MEMPROF_MINOR)
        b->flags |= BLOCK_SURVIVED;
    if (b && from != to) {
        block_index_remove(engine, from);
        settle(l, b, to);
    }
    leave(l, was_busy);
}

/* Handles a young block that memprof_survived did not report. */
static void locate_young(local *l, block *b, memprof_locate_fn *locate, void *context) {
    uintptr_t to = locate ? locate(context, b->address) : 0;
    if (to != b->address)
        block_index_remove(l->engine, b->address);
    if (!to) {
        die(l, b);
        return;
    }
    promote(l, b);
    if (to != b->address)
        settle(l, b, to);
}

void memprof_minor_ended(memprof *engine, memprof_thread *thread, memprof_thread *owner,
                         memprof_locate_fn *locate, void *context) {
    uint32_t was_busy;
    local *l = enter(engine, thread, &was_busy);
    if (!l)
        return;
    block *next = owner->local && owner->local->engine == engine ? owner->local->young : NULL;
    for (block *b; (b = next);) {
        next = b->young_next;
        if (b->flags & BLOCK_SURVIVED)
            b->flags &= ~BLOCK_SURVIVED;
        else
            locate_young(l, b, locate, context);
    }
    leave(l, was_busy);
}

/* A block may move to the address of another one, so all blocks that move are removed before the
 * first is added again. Major blocks are not in the list of young ones, so `young_next` can link
 * them here. */
static block *take_moved(local *l, block *majors, memprof_locate_fn *locate, void *context) {
    block *moved = NULL;
    for (block *b = majors, *next; b; b = next) {
        next = b->young_next;
        uintptr_t to = locate(context, b->address);
        if (to == b->address)
            continue;
        block_index_remove(l->engine, b->address);
        if (!to) {
            die(l, b);
            continue;
        }
        b->address = to;
        b->young_next = moved;
        moved = b;
    }
    return moved;
}

void memprof_major_ended(memprof *engine, memprof_thread *thread, memprof_locate_fn *locate,
                         void *context) {
    uint32_t was_busy;
    local *l = enter(engine, thread, &was_busy);
    if (!l)
        return;
    block *majors = NULL;
    index_cursor cursor = {0};
    for (block *b; (b = block_index_next(engine, &cursor));)
        if (b->heap == MEMPROF_MAJOR) {
            b->young_next = majors;
            majors = b;
        }
    for (block *b = take_moved(l, majors, locate, context), *next; b; b = next) {
        next = b->young_next;
        settle(l, b, b->address);
    }
    leave(l, was_busy);
}

void memprof_visit_metadata(memprof *engine, memprof_visit_fn *visit, void *context) {
    index_cursor cursor = {0};
    for (block *b; (b = block_index_next(engine, &cursor));)
        if (!b->birth)
            visit(context, &b->metadata);
    for (local *l = atomic_load(&engine->locals); l; l = l->next)
        for (block *b = l->queue; b; b = b->next)
            if (b->flags & BLOCK_DEAD && !b->birth && !(b->flags & BLOCK_FORGOTTEN))
                visit(context, &b->metadata);
}
