/* thread.c: the sampler of one thread: attaching the thread, noticing starts and stops, the
 * countdown, the number of samples in a block, and the limits of nurseries. */
#include "base/hash.h"
#include "base/hot.h"
#include "memprof/internal.h"

/* ---- attaching ---------------------------------------------------------------------------- */

static local *local_new(memprof *engine) {
    local *l = memory_get(engine, sizeof *l);
    if (!l)
        return NULL;
    *l = (local){.engine = engine, .next = atomic_load(&engine->locals)};
    while (!atomic_compare_exchange_weak(&engine->locals, &l->next, l))
        ;
    return l;
}

local *thread_attach(memprof *engine, memprof_thread *thread) {
    memprof_lock_take(&engine->state);
    local *l = engine->free_locals;
    if (l)
        engine->free_locals = l->next_free;
    else
        l = local_new(engine);
    if (l) {
        l->thread = thread;
        l->number = engine->n_attached++;
        l->session = NULL;
        l->rest = 0;
        l->queue = l->current = l->young = l->deferred = NULL;
        l->queue_end = &l->queue;
    }
    memprof_lock_drop(&engine->state);
    thread->local = l;
    return l;
}

void memprof_thread_exit(memprof *engine, memprof_thread *thread) {
    local *l = thread->local;
    if (!l || l->engine != engine || thread->busy)
        return;
    memprof_run_postponed(engine, thread);
    memprof_set_busy(thread, IN_ENGINE);
    memprof_lock_take(&engine->state);
    while (l->young) /* they remain in the index */
        block_unset_young(l->young);
    l->thread = NULL;
    l->next_free = engine->free_locals;
    engine->free_locals = l;
    memprof_lock_drop(&engine->state);
    *thread = (memprof_thread){0};
}

/* ---- the countdown ------------------------------------------------------------------------ */

/* Puts at most MEMPROF_NOTICE_WORDS of a gap into the countdown, and keeps the rest. */
static void set_gap(local *l, int64_t words) {
    int64_t shown = words < MEMPROF_NOTICE_WORDS ? words : MEMPROF_NOTICE_WORDS;
    l->rest = words - shown;
    l->thread->countdown = shown;
}

/* At rate 1, there are no gaps. */
static int64_t next_gap(local *l) {
    return l->session->rate < 1 ? gap_next(&l->gaps) : 0;
}

static void refresh(local *l) {
    const session *s = atomic_load_explicit(&l->engine->session, memory_order_acquire);
    if (s != l->session) {
        l->session = s;
        if (s) {
            gap_seed(&l->gaps, s->seed, l->number);
            if (s->rate < 1)
                gap_set_rate(&l->gaps, s->rate);
        }
    }
    /* A gap counts the words before a sampled one, so the first gap starts with its length. */
    set_gap(l, s ? next_gap(l) : MEMPROF_NOTICE_WORDS);
}

void thread_notice(memprof *engine, memprof_thread *thread) {
    local *l = thread->local;
    if (thread->busy ||
        (l && l->engine == engine &&
         l->session == atomic_load_explicit(&engine->session, memory_order_acquire)))
        return;
    int saved_errno = errno;
    memprof_set_busy(thread, IN_ENGINE);
    if ((l = local_of(engine, thread)))
        refresh(l);
    memprof_set_busy(thread, IDLE);
    errno = saved_errno;
}

HOT_CODE int64_t memprof_first_gap(double rate, uint64_t seed) {
    return gap_single(rate, hash_u64(seed));
}

void memprof_resume(memprof *engine, memprof_thread *thread, int64_t countdown) {
    thread_notice(engine, thread);
    if (thread->busy || !thread->local || !thread->local->session)
        return;
    set_gap(thread->local, countdown);
}

/* Drawing gaps one by one would be slow for huge blocks. Above this expected number, the count of
 * samples is drawn instead. */
enum { FEW_SAMPLES = 64 };

/* The gap ended `-c` words before the end of the last block, which has at least that many words.
 * The first of them is sampled. Draws the others and returns the number of samples. */
static uint64_t count_samples(local *l, int64_t c) {
    uint64_t others = (uint64_t)-c - 1;
    uint64_t k = 1;
    if (l->session->rate == 1) {
        k += others;
        c = 0;
    } else if ((double)others * l->session->rate > FEW_SAMPLES) {
        k += gap_binomial(&l->gaps, others);
        c = gap_next(&l->gaps);
    } else {
        for (c += 1 + gap_next(&l->gaps); c < 0; c += 1 + gap_next(&l->gaps))
            k++;
    }
    set_gap(l, c);
    return k;
}

/* Handles a negative countdown. The last `words` counted are one block. */
static uint64_t sample(memprof *engine, memprof_thread *thread, uint64_t words) {
    local *l = local_of(engine, thread);
    if (!l) {
        thread->countdown = MEMPROF_NOTICE_WORDS;
        if (atomic_load_explicit(&engine->session, memory_order_relaxed))
            memprof_count_one(&engine->lost_memory);
        return 0;
    }
    int64_t c = thread->countdown + l->rest;
    if (l->session != atomic_load_explicit(&engine->session, memory_order_acquire) || !l->session) {
        refresh(l);
        if (!l->session)
            return 0;
        c = thread->countdown + l->rest - (int64_t)words; /* this block is the session's first */
    }
    /* The gap ended in words that a signal handler dropped: they are no trials. */
    if (c < -(int64_t)words)
        c = next_gap(l) - (int64_t)words;
    if (c >= 0) {
        set_gap(l, c);
        return 0;
    }
    return count_samples(l, c);
}

uint64_t memprof_sample(memprof *engine, memprof_thread *thread, uint64_t words) {
    if (thread->busy) {
        if (thread->busy ==
            IN_ENGINE) /* do not touch the countdown, which the interrupted code sets */
            memprof_count_one(&engine->lost_busy);
        else
            thread->countdown = MEMPROF_NOTICE_WORDS;
        return 0;
    }
    if (thread->countdown >= 0) /* a signal handler has sampled since memprof_count */
        return 0;
    int saved_errno = errno;
    memprof_set_busy(thread, IN_ENGINE);
    uint64_t k = sample(engine, thread, words);
    memprof_set_busy(thread, IDLE);
    errno = saved_errno;
    return k;
}

/* ---- nurseries --------------------------------------------------------------------------- */

static size_t word_size(const memprof *engine) {
    return engine->host.word_size ? engine->host.word_size : sizeof(void *);
}

uintptr_t memprof_nursery_enter(memprof *engine, memprof_thread *thread, uintptr_t next,
                                uintptr_t end) {
    memprof_nursery_leave(engine, thread, next);
    thread_notice(engine, thread);
    if (thread->countdown < 0) /* a signal handler has dropped words */
        memprof_sample(engine, thread, 0);
    thread->nursery = next;
    uint64_t room = (end >= next ? end - next : next - end) / word_size(engine);
    if (thread->countdown < 0 || (uint64_t)thread->countdown >= room)
        return end;
    uintptr_t bytes = (uintptr_t)thread->countdown * word_size(engine);
    return end >= next ? next + bytes : next - bytes;
}

void memprof_nursery_leave(memprof *engine, memprof_thread *thread, uintptr_t next) {
    uintptr_t base = thread->nursery;
    if (!base)
        return;
    uintptr_t bytes = next >= base ? next - base : base - next;
    thread->countdown -= (int64_t)(bytes / word_size(engine));
    thread->nursery = 0;
}

uint64_t memprof_nursery_sample(memprof *engine, memprof_thread *thread, uintptr_t next,
                                uint64_t words) {
    memprof_nursery_leave(engine, thread, next);
    return memprof_count(thread, words) ? memprof_sample(engine, thread, words) : 0;
}
