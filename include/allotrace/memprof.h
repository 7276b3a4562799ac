/* memprof.h: statistical memory profiling for any allocator or runtime.
 *
 * Every allocated word, block headers included, is sampled independently with probability `rate`.
 * A block of `size` words and its header thus gets k samples, k binomial in size + 1 trials. A
 * block with k >= 1 becomes tracked, once: a tracker's callbacks hear of its allocation, its
 * promotion to the major heap and its death. docs/estimator.md, in
 * the sources and in PREFIX/share/doc/allotrace, says what can be computed from that.
 *
 * The embedder (the *host*) is an allocator or a language runtime of one of two kinds:
 *
 *   counting hosts (malloc) call memprof_count at each allocation, one subtraction and one branch,
 *   and memprof_is_tracked at each free, one test of one bit:
 *
 *       void *malloc(size_t n) {
 *           size_t words = words_of(n);                          // the header is one word more
 *           if (memprof_count(&self, words + 1)) return malloc_cold(n, words);  // tail call
 *           return real_malloc(n);
 *       }
 *       void *malloc_cold(size_t n, size_t words) {
 *           uint64_t k = memprof_sample(engine, &self, words + 1);
 *           void *p = real_malloc(n);
 *           if (k && p) memprof_track(engine, &self, &(memprof_birth){
 *               .address = (uintptr_t)p, .size = words, .n_samples = k, .heap = MEMPROF_MAJOR});
 *           return p;
 *       }
 *       void free(void *p) {
 *           if (memprof_is_tracked(&filter, p)) memprof_freed(engine, &self, (uintptr_t)p);
 *           real_free(p);
 *       }
 *
 *   collecting hosts bump a pointer through a nursery. They lower their allocation limit to where
 *   the next sample falls (memprof_nursery_enter), so that the common path has no extra
 *   instruction, and tell the engine what their collections did. Set `collects` in memprof_host.
 *
 * Threads. An engine is shared by all threads of its host; all functions here may be called from
 * several at once unless they say otherwise. A memprof_thread belongs to one thread.
 *
 * Nothing here allocates except through memprof_host, uses stdio, changes errno, or holds a lock
 * while a callback or the call-stack hook runs. A signal handler may allocate and free at any
 * moment: what cannot be recorded then is dropped and counted (memprof_get_stats).
 */
#ifndef ALLOTRACE_MEMPROF_H
#define ALLOTRACE_MEMPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMPROF_NODISCARD __attribute__((warn_unused_result))
/* For a host into which libmemprof.a is linked. No symbol of that library is exported by what it is
 * linked into, with this or without; with it, what is compiled as position-independent code calls
 * the engine directly. */
#ifdef MEMPROF_STATIC
#define MEMPROF_API __attribute__((visibility("hidden")))
#else
#define MEMPROF_API __attribute__((visibility("default")))
#endif

typedef enum memprof_status {
    MEMPROF_OK = 0,
    MEMPROF_ALREADY_ACTIVE = 1, /* start: sampling is active */
    MEMPROF_NOT_ACTIVE = 2,     /* stop: it is not */
    MEMPROF_BAD_RATE = 3,       /* not 0 < rate <= 1 */
    MEMPROF_IN_CALLBACK = 4,    /* start or stop, called from a callback or a signal handler */
    MEMPROF_NOMEM = 5,
} memprof_status;

/* A sentence without full stop; static. */
MEMPROF_API const char *memprof_status_text(memprof_status status);

typedef struct memprof memprof; /* an engine */

/* The sampler of one thread: a plain value, legal when zeroed (the first allocation then takes the
 * cold path, which attaches it to the engine). Read and written by its thread alone; it must stay
 * at its address from the first allocation to memprof_thread_exit. Fits initial-exec TLS. */
typedef struct memprof_thread {
    int64_t countdown; /* words to pass before the cold path is taken */
    struct memprof_local
        *local;         /* the engine's state for this thread; NULL before it is attached */
    uintptr_t nursery;  /* up to here nursery words are counted; 0 outside a nursery */
    uint32_t busy;      /* is the engine, or one of its callbacks, running here? */
    uint32_t postponed; /* callbacks wait for memprof_run_postponed */
} memprof_thread;

/* ---- the host ---------------------------------------------------------------------------- */

/* A set of addresses that never forgets one: tested inline, changed by the engine alone. A host
 * keeps it where it is cheapest to reach (a hidden static variable), initialised so: */
typedef struct memprof_filter {
    const char *bits; /* the bitmap (aligned to 64) + the shift that makes a hash a bit number */
} memprof_filter;
MEMPROF_API extern const char memprof_no_bits[64];
#define MEMPROF_FILTER_INIT                                                                        \
    { memprof_no_bits + 63 }

typedef struct memprof_host {
    void *context; /* handed to both hooks */

    /* All memory of the engine comes from here: `old` NULL to allocate, `size` 0 to free. Returns
     * NULL when there is none (the engine then drops samples, and counts them). Aligned like
     * malloc's; need not be zeroed. May itself allocate from the profiled heap (unsampled then),
     * but must neither call the engine, nor collect, nor wait for another thread: it is called with
     * locks of the engine held. */
    void *(*reallocate)(void *context, void *old, size_t old_size, size_t size);

    /* Captures the call stack of the calling thread into `frames`, at most `max`, and returns how
     * many: codes of the host's choice in the order of its choice; the engine only carries them.
     * `site` is what the host gave in memprof_birth. If it filled all, it may be called again with
     * more room. NULL: stacks are empty. */
    size_t (*callstack)(void *context, memprof_thread *thread, const void *site, uint64_t *frames,
                        size_t max);

    /* Set while blocks are tracked; NULL if the host does not want one. Must outlive the engine. */
    memprof_filter *filter;

    size_t word_size; /* bytes in a word; 0: those of a pointer. For nurseries only */

    /* A collecting host: it may move blocks, and every callback is postponed until
     * memprof_run_postponed. Otherwise callbacks run at once: at the end of memprof_track, and in
     * memprof_freed. */
    bool collects;
} memprof_host;

/* NULL when there is no memory. `host` is copied. */
MEMPROF_API memprof *memprof_create(const memprof_host *host);

/* Gives all memory back. No thread may use the engine any more; calls no callback. */
MEMPROF_API void memprof_destroy(memprof *engine);

/* ---- the tracker ------------------------------------------------------------------------- */

typedef enum memprof_source {
    MEMPROF_NORMAL = 0,
    MEMPROF_UNMARSHALLED = 1, /* made from serialised data */
    MEMPROF_CUSTOM = 2,       /* memory outside the heap that a heap block owns */
} memprof_source;

typedef enum memprof_heap {
    MEMPROF_MINOR = 0, /* young: in a nursery */
    MEMPROF_MAJOR = 1,
} memprof_heap;

typedef struct memprof_allocation {
    uint64_t n_samples; /* sampled words, 1 … size + 1 */
    uint64_t size;      /* words, header excluded */
    memprof_source source;
    size_t callstack_length;
    const uint64_t *callstack; /* as the host's hook gave it; valid during the callback */
} memprof_allocation;

/* The profiler's callbacks; a NULL one does what memprof_null_tracker does: nothing. An allocation
 * or promotion callback returns its metadata for the block, NULL to track it no longer. For each
 * block the order is alloc → promote → dealloc. Allocation callbacks run in the thread that
 * allocated; the others in the thread whose free or collection caused them. Callbacks of several
 * threads run in parallel. `thread` is the one that runs the callback; it is not sampled
 * meanwhile. */
typedef struct memprof_tracker {
    void *context;
    void *(*alloc_minor)(void *context, memprof_thread *thread, const memprof_allocation *info);
    void *(*alloc_major)(void *context, memprof_thread *thread, const memprof_allocation *info);
    void *(*promote)(void *context, memprof_thread *thread, void *metadata);
    void (*dealloc_minor)(void *context, memprof_thread *thread, void *metadata);
    void (*dealloc_major)(void *context, memprof_thread *thread, void *metadata);
} memprof_tracker;

MEMPROF_API extern const memprof_tracker memprof_null_tracker;

/* ---- sampling ---------------------------------------------------------------------------- */

typedef struct memprof_options {
    double rate;           /* a word's probability to be sampled, 0 < rate <= 1 */
    size_t callstack_size; /* frames captured at most; 0: the hook is not called */
    uint64_t seed;         /* same seed, same threads, same allocations: same samples */
} memprof_options;

/* A thread notices a start or a stop within this many of its allocated words (8 MiB on 64 bits);
 * the thread that starts or stops notices at once. */
#define MEMPROF_NOTICE_WORDS (INT64_C(1) << 20)

/* For a host that makes an engine only when a thread has something to sample: the words before the
 * first sample of a thread, which is drawn from `seed` alone, to be its countdown until then. */
MEMPROF_API int64_t memprof_first_gap(double rate, uint64_t seed);

/* Attaches the thread to an engine, and has it go on there with what is left of such a gap in its
 * countdown; below 0, memprof_sample has a sample for it. */
MEMPROF_API void memprof_resume(memprof *engine, memprof_thread *thread, int64_t countdown);

/* Starts sampling. Both structs are copied. `self` is the calling thread, outside a nursery.
 * Errors: ALREADY_ACTIVE, BAD_RATE, IN_CALLBACK, NOMEM. */
MEMPROF_NODISCARD MEMPROF_API memprof_status memprof_start(memprof *engine, memprof_thread *self,
                                                           const memprof_options *options,
                                                           const memprof_tracker *tracker);

/* Stops sampling: runs callbacks postponed so far, then forgets every tracked block without
 * calling anything. What runs here: all callbacks postponed by the calling thread and, of those
 * postponed by other threads, promotions and deaths of blocks whose allocation callback has run.
 * An allocation callback that waits in another thread can not be run here: its block is forgotten,
 * unannounced, and counted. A callback that is running in another thread goes on: see
 * memprof_is_quiet. Errors: NOT_ACTIVE, IN_CALLBACK. */
MEMPROF_NODISCARD MEMPROF_API memprof_status memprof_stop(memprof *engine, memprof_thread *self);

/* After memprof_stop: have all threads left the callbacks of the stopped tracker? Once true, the
 * tracker's context can be freed. */
MEMPROF_API bool memprof_is_quiet(memprof *engine);

/* Accounts for a block of `words` words, header included (>= 1); true if it may hold a sample. */
static inline bool memprof_count(memprof_thread *thread, uint64_t words) {
    return __builtin_expect((thread->countdown -= (int64_t)words) < 0, 0);
}

/* The cold path, when memprof_count was true: the number of samples in that block, which is the
 * `words` words counted last. 0 is possible: the thread is being attached, sampling is not active,
 * or the thread is in a callback. Draws the gap to the next sample. */
MEMPROF_API uint64_t memprof_sample(memprof *engine, memprof_thread *thread, uint64_t words);

typedef struct memprof_birth {
    uintptr_t address;  /* of the block as it will be reported to memprof_freed and collections */
    uint64_t size;      /* words, header excluded */
    uint64_t n_samples; /* from memprof_sample or memprof_nursery_sample; nothing is done for 0 */
    memprof_source source;
    memprof_heap heap;
    const void *site; /* handed to the call-stack hook: for instance registers saved at entry */
} memprof_birth;

/* Makes a new block tracked, before any other thread can know its address. */
MEMPROF_API void memprof_track(memprof *engine, memprof_thread *thread, const memprof_birth *birth);

/* May this address be tracked? Never false for one that is. */
static inline bool memprof_is_tracked(const memprof_filter *filter, const void *address) {
    uintptr_t tagged = (uintptr_t)__atomic_load_n(&filter->bits, __ATOMIC_ACQUIRE);
    uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t bit = hash >> (tagged & 63);
    const uint64_t *words = (const uint64_t *)(tagged & ~(uintptr_t)63);
    return __builtin_expect((__atomic_load_n(&words[bit / 64], __ATOMIC_RELAXED) >> bit % 64) & 1,
                            0);
}

/* The block at this address dies: to be called BEFORE its memory can be reused, from any thread.
 * Nothing happens if it is not tracked. In a collecting host: a major or external block. */
MEMPROF_API void memprof_freed(memprof *engine, memprof_thread *thread, uintptr_t address);

/* For realloc, where the old block may die or not. Take it out before the real call; then call
 * exactly one of memprof_bury (it succeeded: the old block is dead) and memprof_untake (it failed:
 * the block lives on). False, and nothing to do, if the address is not tracked. For hosts that do
 * not collect. */
typedef struct memprof_taken {
    struct memprof_block *block;
} memprof_taken;
MEMPROF_API bool memprof_take(memprof *engine, memprof_thread *thread, uintptr_t address,
                              memprof_taken *taken);
MEMPROF_API void memprof_bury(memprof *engine, memprof_thread *thread, memprof_taken *taken);
MEMPROF_API void memprof_untake(memprof *engine, memprof_thread *thread, memprof_taken *taken);

/* For a host that is its own tracker, and knows what a block is called before the table has to: it
 * asks memprof_sample, writes, and has the engine remember the block, without memprof_track and
 * callbacks. Both take a lock for a short time, and touch nothing of the thread: a signal handler
 * must not come to the engine meanwhile, which memprof_thread.busy, set to 1, sees to.
 *
 * Remembers the block at an address, by metadata that are not NULL. *before: those of an earlier
 * one there, whose free was missed, or NULL. False: there is no memory, or sampling has stopped.
 * For hosts that do not collect. */
MEMPROF_NODISCARD MEMPROF_API bool memprof_keep(memprof *engine, uintptr_t address, void *metadata,
                                                void **before);

/* Forgets the block at an address, BEFORE its memory can be reused, and gives its metadata; NULL:
 * it is not known. */
MEMPROF_API void *memprof_drop(memprof *engine, uintptr_t address);

/* The thread ends: runs its postponed callbacks and gives its state back. The value is zero again
 * after it, so that a late allocation would merely attach it anew. */
MEMPROF_API void memprof_thread_exit(memprof *engine, memprof_thread *thread);

/* In the child after fork, or wherever an engine must never be entered again: locks that other
 * threads held at the fork stay held for ever, so the child leaves the engine's memory alone (it
 * must not call memprof_destroy) and forgets it. Touches nothing but these two values; the thread
 * may be used with a new engine at once. */
static inline void memprof_disown(memprof_thread *thread, memprof_filter *filter) {
    thread->countdown = 0;
    thread->local = NULL;
    thread->nursery = 0;
    thread->busy = 0;
    thread->postponed = 0;
    if (filter)
        filter->bits = memprof_no_bits + 63;
}

/* ---- nurseries and collections (hosts with `collects`) ------------------------------------- */

/* The runtime bumps from `next` towards `end`: upwards if end >= next, else downwards. Returns the
 * limit it must use: `end`, or nearer. A block that does not fit before it takes the slow path:
 *
 *     if (next + size > end) collect();       // leaves the nursery, empties it
 *     address = next, next += size;           // downwards: next -= size, address = next
 *     k = memprof_nursery_sample(engine, thread, previous value of next, words);
 *     limit = memprof_nursery_enter(engine, thread, next, end);
 *     if (k) memprof_track(…);
 */
MEMPROF_API uintptr_t memprof_nursery_enter(memprof *engine, memprof_thread *thread, uintptr_t next,
                                            uintptr_t end);

/* Counts what was bumped since the nursery was entered, and leaves it: before `next` jumps, and
 * before memprof_count is used by the same thread (for a large block outside the nursery). */
MEMPROF_API void memprof_nursery_leave(memprof *engine, memprof_thread *thread, uintptr_t next);

/* Leaves the nursery at `next` and counts a block of `words` words there; returns its samples. */
MEMPROF_API uint64_t memprof_nursery_sample(memprof *engine, memprof_thread *thread, uintptr_t next,
                                            uint64_t words);

/* During a collection: the block at `from` survived and is now at `to` (which may equal `from`),
 * in `heap`: for a young block MEMPROF_MAJOR means that it was promoted. No tracked block that was
 * not reported yet may be at `to`. `thread` is the one that collects. */
MEMPROF_API void memprof_survived(memprof *engine, memprof_thread *thread, uintptr_t from,
                                  uintptr_t to, memprof_heap heap);

/* Where is the block that was at `address`? 0: it is dead. Must not call the engine. */
typedef uintptr_t memprof_locate_fn(void *context, uintptr_t address);

/* The minor collection of `owner`'s nursery has ended. Each young block of that thread that was
 * not reported by memprof_survived since the last one is asked for with `locate`: promoted if it
 * has an address, else dead. NULL: all of them are dead. `thread` is the one that collects, mostly
 * `owner` itself; other threads must not be running in that nursery. */
MEMPROF_API void memprof_minor_ended(memprof *engine, memprof_thread *thread, memprof_thread *owner,
                                     memprof_locate_fn *locate, void *context);

/* A major collection or a compaction has ended: each tracked major block is asked for. */
MEMPROF_API void memprof_major_ended(memprof *engine, memprof_thread *thread,
                                     memprof_locate_fn *locate, void *context);

/* Metadata may be pointers into the heap that is collected: visits every one, so that a collector
 * can mark, and change, it. No callback may be running and no other thread may use the engine. */
typedef void memprof_visit_fn(void *context, void **metadata);
MEMPROF_API void memprof_visit_metadata(memprof *engine, memprof_visit_fn *visit, void *context);

/* Runs the callbacks that wait for this thread, which must be outside its nursery: to be called
 * where the host says that it is safe, soon after memprof_has_postponed. They may allocate, enter
 * and leave the nursery, and collect. */
static inline bool memprof_has_postponed(const memprof_thread *thread) {
    return __builtin_expect(thread->postponed != 0, 0);
}
MEMPROF_API void memprof_run_postponed(memprof *engine, memprof_thread *thread);

/* ---- what was lost ------------------------------------------------------------------------ */

typedef struct memprof_stats {
    uint64_t tracked;        /* blocks tracked now */
    uint64_t lost_busy;      /* allocations and frees met by a signal handler inside the engine */
    uint64_t lost_memory;    /* samples dropped, and stacks cut, because reallocate gave none */
    uint64_t implied_deaths; /* blocks whose free was missed: their address was allocated again */
    uint64_t lost_at_stop;   /* blocks whose postponed allocation callback never ran */
} memprof_stats;

MEMPROF_API void memprof_get_stats(memprof *engine, memprof_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
