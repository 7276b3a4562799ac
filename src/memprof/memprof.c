/* memprof.c: engines and their sessions: create, start, stop. This comment describes the whole
 * design.
 *
 * Sampling -------- Imagine all the words that a program ever allocates, headers included, as one
 * long sequence, and a coin toss for each: with probability `rate` the word is a sample. A block
 * with k >= 1 samples is tracked, with weight k. That is the whole model, and it has useful
 * consequences:
 *
 * - All words are equal, whichever block they are in. So k / rate, summed over the blocks of a call
 *   site, is an unbiased estimate of the words allocated there. Its accuracy depends only on that
 *   sum, not on how the words were divided into blocks.
 * - Big blocks are nearly always seen and small ones rarely, each in proportion to what it costs.
 * - No regular pattern of sizes in the program can synchronize with the sampler.
 *
 * Tossing that many coins would be too slow. The number of misses between two hits is geometrically
 * distributed, so the engine draws that number, the *gap*, and counts words down. An allocation
 * that does not reach the end of the gap costs one subtraction and one branch (memprof_count). In a
 * runtime that bumps a pointer, even that is free: it compares the pointer with a limit anyway, and
 * the limit can be set where the gap ends (memprof_nursery_enter).
 *
 * Two details are needed for the distribution to be exact. First, a gap counts the misses *before*
 * a hit. So a thread starts with the length of its first gap, while each later gap begins one word
 * after a hit and adds its length + 1. Second, the geometric distribution has no memory: the words
 * still to come are independent of everything before. So a countdown may be discarded and drawn
 * anew at any moment that does not depend on its value (a thread is attached, sampling was
 * suspended). And one countdown may serve several blocks, or a block larger than many gaps: then
 * the number of hits in the rest of the block is drawn at once, from the binomial distribution
 * (gap.c).
 *
 * Threads ------- Each thread has its own countdown, generator and batch of gaps, so the hot path
 * shares nothing. Since the samplers of threads are independent, so are the samples of the
 * program's words. The part that a host must keep within reach of the hot path is the small
 * memprof_thread. The engine's own part (struct memprof_local) is attached to it, and created when
 * a zeroed memprof_thread first takes the cold path.
 *
 * Changing another thread's countdown would be a race. Instead, a thread keeps at most
 * MEMPROF_NOTICE_WORDS of its gap in the countdown, and the rest aside. So every thread takes the
 * cold path once in that many words, also while sampling is inactive, and compares the session that
 * it knows with the engine's current one. A *session* lasts from a start to a stop. It is immutable
 * and not freed before the engine, so that a late thread can still tell that its own session is
 * over.
 *
 * Tracked blocks -------------- A sampled block gets no mark in its memory: it is an ordinary block
 * of its allocator, and if a host's free() is bypassed somewhere, the engine merely misses a death.
 * The price is that each free() must find out whether its block is tracked. A bitmap, tested
 * inline, rejects nearly all blocks that are not; the others are looked up in a hash table
 * (block_index.c). If a tracked address is allocated and sampled again, then a free was missed, and
 * the old block's death is reported first.
 *
 * Where blocks move, the collector reports which blocks survived and where they are now, and that a
 * collection has ended. The engine can then ask about the blocks that were not reported.
 *
 * Callbacks --------- A tracker is foreign code: it may take locks, allocate, free, even cause a
 * collection. So no lock of the engine is held while it runs. Its thread is not sampled meanwhile:
 * the countdown is put aside, so the hot path needs no test for that. Callbacks never nest: if a
 * block dies during one, its death is reported afterwards.
 *
 * In a counting host, allocation callbacks run at the end of memprof_track, the others at the end
 * of memprof_freed. In a collecting host, nothing may run in the middle of an allocation or of a
 * collection. There, events are noted in the block (BLOCK_PROMOTED, BLOCK_DEAD), and the block
 * waits in the thread's queue until the host says that it is safe (queue.c). The call stack is
 * captured at once. Whatever has happened to the block by then, the tracker is told of its
 * allocation, promotion and death in this order, because a block stays in the queue of the thread
 * that allocated it until all its events have been reported.
 *
 * A host that is its own tracker needs none of this: it draws (memprof_sample), writes its record,
 * and has the index store its metadata for the block (memprof_keep, memprof_drop). There are no
 * callbacks.
 *
 * Signal handlers --------------- A handler may interrupt a thread inside the engine, even while it
 * holds a lock, and allocate. memprof_thread.busy detects this. IN_ENGINE means that the event can
 * only be dropped and counted. During a callback (IN_CALLBACK) no lock is held, and frees are
 * handled as usual.
 *
 * Memory ------ All memory comes from the host's hook. Blocks, slots and the state of threads are
 * pooled, and released by memprof_destroy. Errors are never fatal: without memory, samples are
 * dropped and counted. */
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

/* ---- engines ------------------------------------------------------------------------------ */

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

/* ---- sessions ----------------------------------------------------------------------------- */

static bool change_phase(memprof *engine, int from, int to) {
    return atomic_compare_exchange_strong(&engine->phase, &from, to);
}

/* Creates a session that the index knows, but no thread yet. */
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
    if (!(options->rate > 0 && options->rate <= 1)) /* false for NaN */
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
