/* memprof.h: statistical memory profiling for any allocator or runtime.
 *
 * Every allocated word, block headers included, is sampled independently with probability `rate`.
 * So a block of `size` words and a header gets k samples, where k is binomial in size + 1 trials. A
 * block with k >= 1 becomes tracked: the callbacks of a tracker are told of its allocation, its
 * promotion to the major heap and its death. docs/estimator.md, in the sources and in
 * PREFIX/share/doc/allotrace, says what can be computed from the samples.
 *
 * The embedder (the *host*) is an allocator or a language runtime of one of two kinds:
 *
 *   counting hosts (malloc) call memprof_count at each allocation, which is one subtraction and one
 *   branch, and memprof_is_tracked at each free, which tests one bit:
 *
 *       void *malloc(size_t n) {
 *           size_t words = words_of(n);                          // without the header
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
 *   the next sample falls (memprof_nursery_enter), so that the common path has no additional
 *   instruction, and report to the engine what their collections did. They set `collects` in
 *   memprof_host.
 *
 * Threads. An engine is shared by all threads of its host. All functions here may be called from
 * several threads at once unless they say otherwise. A memprof_thread belongs to one thread.
 *
 * Nothing here allocates except through memprof_host, uses stdio, changes errno, or holds a lock
 * while a callback or the call-stack hook runs. A signal handler may allocate and free at any
 * moment: events that cannot be recorded then are dropped and counted (memprof_get_stats). */
#ifndef ALLOTRACE_MEMPROF_H
#define ALLOTRACE_MEMPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMPROF_NODISCARD __attribute__((warn_unused_result))
/* To be defined by a host that links libmemprof.a. That library's symbols are never exported by the
 * program or library it is linked into. With this macro, position-independent code also calls the
 * engine directly. */
#ifdef MEMPROF_STATIC
#define MEMPROF_API __attribute__((visibility("hidden")))
#else
#define MEMPROF_API __attribute__((visibility("default")))
#endif

typedef enum memprof_status {
    MEMPROF_OK = 0,
    MEMPROF_ALREADY_ACTIVE = 1, /* start: sampling is already active */
    MEMPROF_NOT_ACTIVE = 2,     /* stop: sampling is not active */
    MEMPROF_BAD_RATE = 3,       /* the rate is not 0 < rate <= 1 */
    MEMPROF_IN_CALLBACK = 4,    /* start or stop was called from a callback or a signal handler */
    MEMPROF_NOMEM = 5,
} memprof_status;

/* Returns a static sentence without full stop. */
MEMPROF_API const char *memprof_status_text(memprof_status status);

typedef struct memprof memprof; /* an engine */

/* The sampler of one thread: a plain value, valid when zeroed (the first allocation then takes the
 * cold path, which attaches the thread to the engine). Only its thread may read and write it. Its
 * address must not change between the first allocation and memprof_thread_exit. Suitable for
 * initial-exec TLS. */
typedef struct memprof_thread {
    int64_t countdown;           /* words left before the cold path is taken */
    struct memprof_local *local; /* the engine's state for this thread; NULL until attached */
    uintptr_t nursery;           /* nursery words are counted up to here; 0 outside a nursery */
    uint32_t busy;      /* whether the engine, or one of its callbacks, is running in this thread */
    uint32_t postponed; /* callbacks are waiting for memprof_run_postponed */
} memprof_thread;

/* ---- the host ---------------------------------------------------------------------------- */

/* A set of addresses, which may contain more than were added, but never fewer. Tested inline,
 * changed only by the engine. A host keeps it where it is cheapest to access (a hidden static
 * variable), and initializes it with MEMPROF_FILTER_INIT. */
typedef struct memprof_filter {
    /* Address of the bitmap (aligned to 64) + the shift that turns a hash into a bit number. */
    const char *bits;
} memprof_filter;
MEMPROF_API extern const char memprof_no_bits[64];
#define MEMPROF_FILTER_INIT                                                                        \
    { memprof_no_bits + 63 }

typedef struct memprof_host {
    void *context; /* passed to both hooks */

    /* Provides all memory of the engine: `old` NULL allocates, `size` 0 frees. Returns NULL when
     * out of memory; the engine then drops samples and counts them. Memory must be aligned like
     * malloc's, and need not be zeroed. The function may itself allocate from the profiled heap
     * (which is not sampled then), but must not call the engine, collect, or wait for another
     * thread: it is called with locks of the engine held. */
    void *(*reallocate)(void *context, void *old, size_t old_size, size_t size);

    /* Captures the call stack of the calling thread into `frames`, at most `max` frames, and
     * returns their number. Codes and their order are the host's choice; the engine only passes
     * them on. `site` comes from memprof_birth. If all `max` frames were filled, the hook may be
     * called again with more room. NULL: all stacks are empty. */
    size_t (*callstack)(void *context, memprof_thread *thread, const void *site, uint64_t *frames,
                        size_t max);

    /* Maintained while blocks are tracked. Must outlive the engine. NULL if the host needs none. */
    memprof_filter *filter;

    size_t word_size; /* bytes per word; 0: the size of a pointer. Only used for nurseries */

    /* A collecting host: it may move blocks, and every callback is postponed until
     * memprof_run_postponed. In other hosts, callbacks run at the end of memprof_track and in
     * memprof_freed. */
    bool collects;
} memprof_host;

/* Returns NULL when out of memory. `host` is copied. */
MEMPROF_API memprof *memprof_create(const memprof_host *host);

/* Releases all memory, without calling any callback. No thread may use the engine any more. */
MEMPROF_API void memprof_destroy(memprof *engine);

/* ---- the tracker ------------------------------------------------------------------------- */

typedef enum memprof_source {
    MEMPROF_NORMAL = 0,
    MEMPROF_UNMARSHALLED = 1, /* made from serialized data */
    MEMPROF_CUSTOM = 2,       /* memory outside the heap, owned by a heap block */
} memprof_source;

typedef enum memprof_heap {
    MEMPROF_MINOR = 0, /* the young generation, in a nursery */
    MEMPROF_MAJOR = 1,
} memprof_heap;

typedef struct memprof_allocation {
    uint64_t n_samples; /* sampled words, 1 … size + 1 */
    uint64_t size;      /* words, header excluded */
    memprof_source source;
    size_t callstack_length;
    const uint64_t *callstack; /* from the host's hook; valid during the callback */
} memprof_allocation;

/* The profiler's callbacks. A NULL callback does nothing, like those of memprof_null_tracker. An
 * allocation or promotion callback returns its metadata for the block, or NULL to stop tracking it.
 * For each block, the order is alloc → promote → dealloc. Allocation callbacks run in the
 * allocating thread, the others in the thread whose free or collection caused them. Callbacks of
 * several threads may run in parallel. `thread` is the thread that runs the callback, which is not
 * sampled meanwhile. */
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
    double rate;           /* probability with which a word is sampled, 0 < rate <= 1 */
    size_t callstack_size; /* maximum number of frames captured; 0: the hook is not called */
    uint64_t seed;         /* equal seeds, threads and allocations give equal samples */
} memprof_options;

/* A thread notices a start or a stop within this many of its allocated words (8 MiB on 64 bits).
 * The thread that calls memprof_start or memprof_stop notices at once. */
#define MEMPROF_NOTICE_WORDS (INT64_C(1) << 20)

/* Returns the number of words before a thread's first sample, drawn from `seed` alone. For a host
 * that creates an engine only when a thread has something to sample: it uses this as the countdown
 * until then. */
MEMPROF_API int64_t memprof_first_gap(double rate, uint64_t seed);

/* Attaches the thread to an engine, which continues with the rest of the gap from memprof_first_gap
 * in `countdown`. If that is below 0, memprof_sample returns a sample. */
MEMPROF_API void memprof_resume(memprof *engine, memprof_thread *thread, int64_t countdown);

/* Starts sampling. Both structs are copied. `self` is the calling thread, which must be outside a
 * nursery. Errors: ALREADY_ACTIVE, BAD_RATE, IN_CALLBACK, NOMEM. */
MEMPROF_NODISCARD MEMPROF_API memprof_status memprof_start(memprof *engine, memprof_thread *self,
                                                           const memprof_options *options,
                                                           const memprof_tracker *tracker);

/* Stops sampling: runs postponed callbacks, then forgets every tracked block without calling
 * anything. It runs all callbacks postponed by the calling thread. Of those postponed by other
 * threads, it runs promotions and deaths of blocks whose allocation callback has run. An allocation
 * callback waiting in another thread cannot be run here: its block is forgotten without any
 * callback, and counted. A callback running in another thread continues: see memprof_is_quiet.
 * Errors: NOT_ACTIVE, IN_CALLBACK. */
MEMPROF_NODISCARD MEMPROF_API memprof_status memprof_stop(memprof *engine, memprof_thread *self);

/* After memprof_stop: whether all threads have left the callbacks of the stopped tracker. Once this
 * is true, the tracker's context can be freed. */
MEMPROF_API bool memprof_is_quiet(memprof *engine);

/* Counts a block of `words` words, header included (>= 1). Returns true if it may hold a sample. */
static inline bool memprof_count(memprof_thread *thread, uint64_t words) {
    return __builtin_expect((thread->countdown -= (int64_t)words) < 0, 0);
}

/* The cold path, to be called when memprof_count was true. Returns the number of samples in the
 * block, which is the last `words` words counted. 0 is possible: the thread was just attached,
 * sampling is not active, or the thread is in a callback. Draws the gap to the next sample. */
MEMPROF_API uint64_t memprof_sample(memprof *engine, memprof_thread *thread, uint64_t words);

typedef struct memprof_birth {
    uintptr_t address;  /* address as later passed to memprof_freed and collections */
    uint64_t size;      /* words, header excluded */
    uint64_t n_samples; /* from memprof_sample or memprof_nursery_sample; 0: nothing is done */
    memprof_source source;
    memprof_heap heap;
    const void *site; /* passed to the call-stack hook, such as registers saved at entry */
} memprof_birth;

/* Starts to track a new block. Must be called before any other thread can know its address. */
MEMPROF_API void memprof_track(memprof *engine, memprof_thread *thread, const memprof_birth *birth);

/* Whether this address may be tracked. Never false for a tracked one. */
static inline bool memprof_is_tracked(const memprof_filter *filter, const void *address) {
    uintptr_t tagged = (uintptr_t)__atomic_load_n(&filter->bits, __ATOMIC_ACQUIRE);
    uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t bit = hash >> (tagged & 63);
    const uint64_t *words = (const uint64_t *)(tagged & ~(uintptr_t)63);
    return __builtin_expect((__atomic_load_n(&words[bit / 64], __ATOMIC_RELAXED) >> bit % 64) & 1,
                            0);
}

/* The block at this address dies. Must be called BEFORE its memory can be reused; any thread may
 * call. Does nothing if the block is not tracked. In a collecting host: for major and external
 * blocks. */
MEMPROF_API void memprof_freed(memprof *engine, memprof_thread *thread, uintptr_t address);

/* For realloc, where the old block may die or not. Call memprof_take before the real realloc. If it
 * returns true, afterwards call exactly one of memprof_bury (realloc succeeded: the old block is
 * dead) and memprof_untake (it failed: the block lives on). False: the address is not tracked. Only
 * for hosts that do not collect. */
typedef struct memprof_taken {
    struct memprof_block *block;
} memprof_taken;
MEMPROF_API bool memprof_take(memprof *engine, memprof_thread *thread, uintptr_t address,
                              memprof_taken *taken);
MEMPROF_API void memprof_bury(memprof *engine, memprof_thread *thread, memprof_taken *taken);
MEMPROF_API void memprof_untake(memprof *engine, memprof_thread *thread, memprof_taken *taken);

/* memprof_keep and memprof_drop are for a host that is its own tracker, and has its metadata for a
 * block before the block is in the index. It calls memprof_sample, writes its record, and lets the
 * engine store the metadata, without memprof_track and callbacks. Both functions take a lock for a
 * short time, and do not touch the thread. A signal handler must not enter the engine meanwhile, so
 * the caller sets memprof_thread.busy to 1.
 *
 * memprof_keep stores non-NULL metadata for the block at an address. `*before` receives the
 * metadata of an earlier block there, whose free was missed, or NULL. Returns false when out of
 * memory or if sampling has stopped. Only for hosts that do not collect. */
MEMPROF_NODISCARD MEMPROF_API bool memprof_keep(memprof *engine, uintptr_t address, void *metadata,
                                                void **before);

/* Removes the block at an address and returns its metadata, or NULL if there is none. Must be
 * called BEFORE the memory can be reused. */
MEMPROF_API void *memprof_drop(memprof *engine, uintptr_t address);

/* Ends the thread: runs its postponed callbacks and releases its state. `*thread` is zeroed, so
 * that a late allocation would merely attach it again. */
MEMPROF_API void memprof_thread_exit(memprof *engine, memprof_thread *thread);

/* For the child after fork, or wherever an engine must never be entered again. Locks that other
 * threads held at the fork stay locked forever, so the child abandons the engine with its memory,
 * and must not call memprof_destroy. Touches only these two values; the thread may be used with a
 * new engine at once. */
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

/* The runtime bumps from `next` towards `end`: upwards if end >= next, otherwise downwards. Returns
 * the limit that it must use: `end`, or nearer. A block that does not fit before the limit takes
 * the slow path:
 *
 *     if (next + size > end) collect();       // leaves the nursery, empties it
 *     address = next, next += size;           // downwards: next -= size, address = next
 *     k = memprof_nursery_sample(engine, thread, previous value of next, words);
 *     limit = memprof_nursery_enter(engine, thread, next, end);
 *     if (k) memprof_track(…); */
MEMPROF_API uintptr_t memprof_nursery_enter(memprof *engine, memprof_thread *thread, uintptr_t next,
                                            uintptr_t end);

/* Leaves the nursery, and counts the words bumped since it was entered. Must be called before
 * `next` jumps, and before the same thread uses memprof_count (for a large block outside the
 * nursery). */
MEMPROF_API void memprof_nursery_leave(memprof *engine, memprof_thread *thread, uintptr_t next);

/* Leaves the nursery at `next`, and counts a block of `words` words there. Returns its samples. */
MEMPROF_API uint64_t memprof_nursery_sample(memprof *engine, memprof_thread *thread, uintptr_t next,
                                            uint64_t words);

/* During a collection: the block at `from` survived and is now at `to` (which may equal `from`), in
 * `heap`. For a young block, MEMPROF_MAJOR means that it was promoted. No tracked block that has
 * not been reported yet may be at `to`. `thread` is the collecting thread. */
MEMPROF_API void memprof_survived(memprof *engine, memprof_thread *thread, uintptr_t from,
                                  uintptr_t to, memprof_heap heap);

/* Returns the new address of the block that was at `address`, or 0 if it is dead. Must not call the
 * engine. */
typedef uintptr_t memprof_locate_fn(void *context, uintptr_t address);

/* The minor collection of `owner`'s nursery has ended. `locate` is called for each young block of
 * that thread that memprof_survived has not reported since the last minor collection: a block with
 * an address was promoted, the others are dead. With NULL, all of them are dead. `thread` is the
 * collecting thread, usually `owner` itself. No other thread may be running in that nursery. */
MEMPROF_API void memprof_minor_ended(memprof *engine, memprof_thread *thread, memprof_thread *owner,
                                     memprof_locate_fn *locate, void *context);

/* A major collection or a compaction has ended. `locate` is called for each tracked major block. */
MEMPROF_API void memprof_major_ended(memprof *engine, memprof_thread *thread,
                                     memprof_locate_fn *locate, void *context);

/* Metadata may be pointers into the collected heap. Calls `visit` for each of them, so that a
 * collector can mark and change it. No callback may be running, and no other thread may use the
 * engine. */
typedef void memprof_visit_fn(void *context, void **metadata);
MEMPROF_API void memprof_visit_metadata(memprof *engine, memprof_visit_fn *visit, void *context);

/* Runs the postponed callbacks of this thread, which must be outside its nursery. To be called at a
 * safe point of the host, soon after memprof_has_postponed. Callbacks may allocate, enter and leave
 * the nursery, and collect. */
static inline bool memprof_has_postponed(const memprof_thread *thread) {
    return __builtin_expect(thread->postponed != 0, 0);
}
MEMPROF_API void memprof_run_postponed(memprof *engine, memprof_thread *thread);

/* ---- statistics --------------------------------------------------------------------------- */

typedef struct memprof_stats {
    uint64_t tracked;     /* blocks currently tracked */
    uint64_t lost_busy;   /* allocations and frees by a signal handler inside the engine */
    uint64_t lost_memory; /* samples dropped and stacks cut because reallocate failed */
    /* Blocks whose free was missed, as their address was allocated again. */
    uint64_t implied_deaths;
    uint64_t lost_at_stop; /* blocks whose postponed allocation callback never ran */
} memprof_stats;

MEMPROF_API void memprof_get_stats(memprof *engine, memprof_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
