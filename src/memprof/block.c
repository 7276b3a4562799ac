/* block.c: tracked blocks of counting hosts, from birth to death, and how callbacks are called in
 * all hosts. Callbacks that collecting hosts postpone are in queue.c. */
#include "memprof/internal.h"

/* ---- callbacks ----------------------------------------------------------------------------- */

/* `running` is set before the session is checked, and memprof_stop ends the session before
 * memprof_is_quiet checks `running`. So at least one of the two sees the other. */
bool block_callback_enter(local *l, const session *s, bool stopping) {
    atomic_store(&l->running, s);
    if (!stopping && atomic_load(&l->engine->session) != s) {
        atomic_store(&l->running, NULL);
        return false;
    }
    l->suspended = l->thread->countdown;
    l->thread->countdown = MEMPROF_NOTICE_WORDS;
    memprof_set_busy(l->thread, IN_CALLBACK);
    return true;
}

void block_callback_leave(local *l) {
    memprof_set_busy(l->thread, IN_ENGINE);
    l->thread->countdown = l->suspended;
    atomic_store_explicit(&l->running, NULL,
                          memory_order_release); /* orders the callback before this */
}

void *block_call_alloc(local *l, const session *s, memprof_heap heap,
                       const memprof_allocation *info) {
    const memprof_tracker *t = &s->tracker;
    void *(*fn)(void *, memprof_thread *, const memprof_allocation *) =
        heap == MEMPROF_MINOR ? t->alloc_minor : t->alloc_major;
    return fn ? fn(t->context, l->thread, info) : NULL;
}

void *block_call_promote(local *l, const block *b) {
    const memprof_tracker *t = &b->session->tracker;
    return t->promote ? t->promote(t->context, l->thread, b->metadata) : NULL;
}

void block_call_dealloc(local *l, const block *b) {
    const memprof_tracker *t = &b->session->tracker;
    void (*fn)(void *, memprof_thread *, void *) =
        b->heap == MEMPROF_MINOR ? t->dealloc_minor : t->dealloc_major;
    if (fn)
        fn(t->context, l->thread, b->metadata);
}

/* ---- call stacks ----------------------------------------------------------------------------- */

static bool grow_frames(local *l, size_t n) {
    const memprof_host *host = &l->engine->host;
    uint64_t *grown = host->reallocate(host->context, l->frames, l->max_frames * sizeof *grown,
                                       n * sizeof *grown);
    if (!grown) {
        memprof_count_one(&l->engine->lost_memory);
        return false;
    }
    l->frames = grown;
    l->max_frames = n;
    return true;
}

/* Captures the call stack into `l->frames`, which is doubled until the stack fits. */
static size_t capture(local *l, const session *s, const void *site) {
    enum { FIRST_FRAMES = 256 };
    const memprof_host *host = &l->engine->host;
    if (!host->callstack || !s->callstack_size)
        return 0;
    if (!l->max_frames && !grow_frames(l, FIRST_FRAMES))
        return 0;
    for (;;) {
        size_t max = l->max_frames < s->callstack_size ? l->max_frames : s->callstack_size;
        if (!block_callback_enter(l, s, false))
            return 0;
        size_t n = host->callstack(host->context, l->thread, site, l->frames, max);
        block_callback_leave(l);
        if (n < max || max == s->callstack_size || !grow_frames(l, max * 2))
            return n < max ? n : max;
    }
}

/* ---- deaths ---------------------------------------------------------------------------------- */

/* Reports the death of a block that was removed from the index, and releases the block. */
static void die(local *l, block *b) {
    if (block_callback_enter(l, b->session, false)) {
        block_call_dealloc(l, b);
        block_callback_leave(l);
    }
    block_index_release(l->engine, b);
}

/* Callbacks do not nest: the death of a block during a callback is reported after it. */
static void die_later(local *l, block *b) {
    b->next = l->deferred;
    l->deferred = b;
}

static void report_deferred(local *l) {
    for (block *b; (b = l->deferred);) {
        l->deferred = b->next;
        die(l, b);
    }
}

/* ---- births ------------------------------------------------------------------------------- */

static void track_now(local *l, const session *s, const memprof_birth *birth, size_t n_frames) {
    memprof *engine = l->engine;
    block *stale, *b = block_index_reserve(engine, s, birth->address, &stale);
    if (stale) {
        memprof_count_one(&engine->implied_deaths);
        die(l, stale);
    }
    if (!b)
        return;
    const memprof_allocation info = {.n_samples = birth->n_samples,
                                     .size = birth->size,
                                     .source = birth->source,
                                     .callstack_length = n_frames,
                                     .callstack = l->frames};
    b->heap = (uint8_t)birth->heap;
    if (block_callback_enter(l, s, false)) {
        b->metadata = block_call_alloc(l, s, birth->heap, &info);
        block_callback_leave(l);
    }
    if (b->metadata)
        block_index_commit(engine, b);
    else
        block_index_cancel(engine, b);
}

void memprof_track(memprof *engine, memprof_thread *thread, const memprof_birth *birth) {
    local *l = thread->local;
    if (!birth->n_samples || !l || l->engine != engine)
        return;
    if (thread->busy) {
        memprof_count_one(&engine->lost_busy);
        return;
    }
    const session *s = l->session;
    if (!s || s != atomic_load_explicit(&engine->session, memory_order_acquire))
        return;
    int saved_errno = errno;
    memprof_set_busy(thread, IN_ENGINE);
    block_index_prefetch(engine, birth->address);
    size_t n_frames = capture(l, s, birth->site);
    if (engine->host.collects)
        queue_birth(l, birth, n_frames);
    else
        track_now(l, s, birth, n_frames);
    report_deferred(l);
    memprof_set_busy(thread, IDLE);
    errno = saved_errno;
}

/* ---- frees -------------------------------------------------------------------------------- */

/* Enters the engine from a free, which may happen during a callback. Returns NULL if that is not
 * possible. */
static local *enter(memprof *engine, memprof_thread *thread, uint32_t *was_busy) {
    *was_busy = thread->busy;
    if (*was_busy == IN_ENGINE) {
        memprof_count_one(&engine->lost_busy);
        return NULL;
    }
    memprof_set_busy(thread, IN_ENGINE);
    local *l = local_of(engine, thread);
    if (!l) {
        memprof_count_one(&engine->lost_memory);
        memprof_set_busy(thread, *was_busy);
    }
    return l;
}

static void leave(local *l, uint32_t was_busy) {
    if (was_busy == IDLE)
        report_deferred(l);
    memprof_set_busy(l->thread, was_busy);
}

void memprof_freed(memprof *engine, memprof_thread *thread, uintptr_t address) {
    if (engine->host.collects) {
        uint32_t was_busy;
        int saved_errno = errno;
        local *l = enter(engine, thread, &was_busy);
        if (l) {
            queue_death(l, address);
            leave(l, was_busy);
        }
        errno = saved_errno;
        return;
    }
    memprof_taken taken;
    if (memprof_take(engine, thread, address, &taken))
        memprof_bury(engine, thread, &taken);
}

bool memprof_take(memprof *engine, memprof_thread *thread, uintptr_t address,
                  memprof_taken *taken) {
    uint32_t was_busy;
    int saved_errno = errno;
    taken->block = NULL;
    block_index_prefetch(engine, address);
    local *l = enter(engine, thread, &was_busy);
    if (l) {
        taken->block = block_index_remove(engine, address);
        leave(l, was_busy);
    }
    errno = saved_errno;
    return taken->block != NULL;
}

void memprof_bury(memprof *engine, memprof_thread *thread, memprof_taken *taken) {
    uint32_t was_busy;
    int saved_errno = errno;
    local *l = enter(engine, thread, &was_busy);
    if (l) {
        die_later(l, taken->block);
        leave(l, was_busy);
    }
    errno = saved_errno;
}

void memprof_untake(memprof *engine, memprof_thread *thread, memprof_taken *taken) {
    uint32_t was_busy;
    int saved_errno = errno;
    local *l = enter(engine, thread, &was_busy);
    if (l) {
        block *stale, *b = taken->block;
        if (!block_index_put(engine, b, &stale)) {
            memprof_count_one(&engine->lost_memory);
            block_index_release(engine, b);
        } else if (stale) {
            die_later(l, stale);
        }
        leave(l, was_busy);
    }
    errno = saved_errno;
}
