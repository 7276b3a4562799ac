/* memprof.c: engines and their sessions: create, start, stop. Before that, how all of it works.
 *
 * Sampling
 * --------
 * Think of all the words that a program ever allocates, headers included, as one long row, and of
 * a coin thrown for each: with probability `rate` the word is a sample. A block that holds k >= 1
 * of them is tracked, with weight k. That is the whole model, and it has pleasant consequences:
 *
 *   - a word is a word, whichever block it is in, so that k / rate, summed over the blocks of a
 *     call site, is an unbiased estimate of the words allocated there, and how exact it is depends
 *     on that sum alone, not on how the words were divided into blocks;
 *   - big blocks are nearly always seen and small ones rarely, each in proportion to what it costs;
 *   - nothing the program does, no regular pattern of sizes, can fall in step with the sampler.
 *
 * Nobody throws that many coins. The number of misses between two hits has a geometric
 * distribution, so one draws that number, the *gap*, and counts words down: an allocation that
 * does not reach the end of the gap costs one subtraction and one branch (memprof_count). A
 * runtime that bumps a pointer has even that for free: it compares the pointer with a limit
 * anyway, and the limit can be set where the gap ends (memprof_nursery_enter).
 *
 * Two details decide whether the law is exact. A gap counts the misses *before* a hit. So a thread
 * starts with the length of its first gap, and each later gap begins one word after a hit: it adds
 * its length + 1. And the geometric law has no memory: whatever happened, the words that are still
 * to come do not know it. This is why a countdown may be thrown away and drawn anew at any moment
 * that does not depend on its value (a thread is attached, sampling was suspended), and why one
 * countdown may serve several blocks, or a block that is larger than many gaps: then the number of
 * hits in the rest of the block is drawn at once, from the binomial law (gap.c).
 *
 * Threads
 * -------
 * Each thread has its countdown, its generator and its batch of gaps, so that the hot path shares
 * nothing; threads whose samplers are independent make up a program whose words are independent.
 * What a host must keep where the hot path can reach it is the small memprof_thread; the engine's
 * own part (struct memprof_local) hangs off it and is made when a zeroed one first meets the cold
 * path.
 *
 * Nobody can change another thread's countdown without a race. Instead, no thread shows more than
 * MEMPROF_NOTICE_WORDS of its gap there; what is left over is kept aside. So every thread comes by
 * once in that many words, also while sampling is inactive, and compares the session that it knows
 * with the engine's present one. A *session* lasts from a start to a stop. It is immutable and
 * never freed before the engine is, so that a late thread can still tell that its own is over.
 *
 * Tracked blocks
 * --------------
 * A sampled block gets no mark in its memory: it is an ordinary block of its allocator, and a host
 * whose free() is bypassed somewhere only makes the engine miss a death. The price is that each
 * free() must find out whether its block is one of the tracked few. A bitmap, tested inline, says
 * no to nearly all others; what remains goes to a hash table (block_index.c). If an address that is
 * tracked is allocated and sampled again, then a free was missed: the old block's death is
 * reported first.
 *
 * Where blocks move, the collector reports it: what survived and where it is now, and that a
 * collection has ended, upon which the engine can ask for those that were not reported.
 *
 * Callbacks
 * ---------
 * A tracker is foreign code: it may take locks, allocate, free, even cause a collection. So no
 * lock of the engine is held while it runs; its thread is not sampled meanwhile (its countdown is
 * put aside, the hot path needs no test for that); callbacks never nest: a block that dies during
 * one is reported when it has returned.
 *
 * In a counting host, allocation callbacks run at the end of memprof_track, the others at the end
 * of memprof_freed. In a collecting host nothing may run in the middle of an allocation or of a
 * collection. There, what happened is noted in the block (BLOCK_PROMOTED, BLOCK_DEAD), and the
 * block waits in the queue of the thread until the host says that it is safe (queue.c). The call
 * stack is captured at once. Whatever has happened to the block by then, the tracker hears of its
 * allocation, promotion and death in this order, because a block keeps its place in the queue of
 * the thread that allocated it until all that is known about it was told.
 *
 * A host that is its own tracker needs none of that: it draws (memprof_sample), writes, and has the
 * index keep what it calls the block (memprof_keep, memprof_drop). Nothing is called back.
 *
 * Signal handlers
 * ---------------
 * A handler may interrupt a thread inside the engine, even while it holds a lock, and allocate.
 * memprof_thread.busy tells: IN_ENGINE means that nothing can be done but to drop and count;
 * during a callback (IN_CALLBACK) no lock is held, and frees are treated as usual.
 *
 * Memory
 * ------
 * All of it comes from the host's hook. Blocks, slots and threads' states are pooled and given
 * back by memprof_destroy. Nothing is ever fatal: without memory samples are dropped and counted.
 */
#include <string.h>

#include "memprof/internal.h"

_Alignas(64) const char memprof_no_bits[64] = {0};
const memprof_tracker memprof_null_tracker = {0};

const char *memprof_status_text(memprof_status status) {
    switch (status) {
    case MEMPROF_OK:
        return "success";
    case MEMPROF_ALREADY_ACTIVE:
        return "sampling is active already";
    case MEMPROF_NOT_ACTIVE:
        return "sampling is not active";
    case MEMPROF_BAD_RATE:
        return "the sampling rate must be above 0 and at most 1";
    case MEMPROF_IN_CALLBACK:
        return "not possible inside a callback";
    case MEMPROF_NOMEM:
        return "out of memory";
    }
    return "unknown status";
}

/* ---- engines
 * ------------------------------------------------------------------------------------- */

memprof *memprof_create(const memprof_host *host) {
    memprof *engine = host->reallocate(host->context, NULL, 0, sizeof *engine);
    if (!engine)
        return NULL;
    memset(engine, 0, sizeof *engine);
    engine->host = *host;
    engine->own_filter = (memprof_filter)MEMPROF_FILTER_INIT;
    if (!host->filter)
        engine->host.filter = &engine->own_filter;
    return engine;
}

void memprof_destroy(memprof *engine) {
    memprof_host host = engine->host;
    __atomic_store_n(&host.filter->bits, memprof_no_bits + 63, __ATOMIC_RELEASE);
    queue_forget_all(engine);
    queue_free_records(engine);
    for (local *l = atomic_load(&engine->locals); l; l = l->next)
        if (l->frames)
            host.reallocate(host.context, l->frames, l->max_frames * sizeof *l->frames, 0);
    memory_free_all(engine);
    host.reallocate(host.context, engine, sizeof *engine, 0);
}

void memprof_get_stats(memprof *engine, memprof_stats *stats) {
    *stats = (memprof_stats){.lost_busy = atomic_load(&engine->lost_busy),
                             .lost_memory = atomic_load(&engine->lost_memory),
                             .implied_deaths = atomic_load(&engine->implied_deaths),
                             .lost_at_stop = atomic_load(&engine->lost_at_stop)};
    for (int i = 0; i < N_SHARDS; i++)
        stats->tracked += atomic_load_explicit(&engine->shards[i].count, memory_order_relaxed);
}

/* ---- sessions
 * ------------------------------------------------------------------------------------ */

static bool change_phase(memprof *engine, int from, int to) {
    return atomic_compare_exchange_strong(&engine->phase, &from, to);
}

/* A new session, known to the index but to no thread yet. */
static session *open_session(memprof *engine, const memprof_options *options,
                             const memprof_tracker *tracker) {
    session *s = memory_get(engine, sizeof *s);
    if (!s)
        return NULL;
    *s = (session){.tracker = *tracker,
                   .rate = options->rate,
                   .seed = options->seed,
                   .callstack_size = options->callstack_size};
    return block_index_start(engine, s) ? s : NULL;
}

memprof_status memprof_start(memprof *engine, memprof_thread *self, const memprof_options *options,
                             const memprof_tracker *tracker) {
    if (self->busy)
        return MEMPROF_IN_CALLBACK;
    if (!(options->rate > 0 && options->rate <= 1)) /* written so that NaN fails */
        return MEMPROF_BAD_RATE;
    if (!change_phase(engine, PHASE_INACTIVE, PHASE_CHANGING))
        return MEMPROF_ALREADY_ACTIVE;
    int saved_errno = errno;
    memprof_set_busy(self, IN_ENGINE);
    session *s = open_session(engine, options, tracker);
    atomic_store(&engine->session, s);
    atomic_store(&engine->phase, s ? PHASE_ACTIVE : PHASE_INACTIVE);
    memprof_set_busy(self, IDLE);
    thread_notice(engine, self);
    errno = saved_errno;
    return s ? MEMPROF_OK : MEMPROF_NOMEM;
}

memprof_status memprof_stop(memprof *engine, memprof_thread *self) {
    if (self->busy)
        return MEMPROF_IN_CALLBACK;
    if (!change_phase(engine, PHASE_ACTIVE, PHASE_CHANGING))
        return MEMPROF_NOT_ACTIVE;
    int saved_errno = errno;
    memprof_set_busy(self, IN_ENGINE);
    atomic_store(&engine->session, NULL);
    local *l = engine->host.collects ? local_of(engine, self) : NULL;
    if (l) {
        queue_gather(engine, l);
        queue_run(l, true);
    }
    queue_forget_all(engine);
    atomic_store(&engine->phase, PHASE_INACTIVE);
    memprof_set_busy(self, IDLE);
    thread_notice(engine, self);
    errno = saved_errno;
    return MEMPROF_OK;
}

bool memprof_is_quiet(memprof *engine) {
    const session *s = atomic_load(&engine->session);
    for (local *l = atomic_load(&engine->locals); l; l = l->next) {
        const session *running = atomic_load(&l->running);
        if (running && running != s)
            return false;
    }
    return true;
}
