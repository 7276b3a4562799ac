/* internal.h: what the files of the engine share. The head of memprof.c describes the design.
 *
 * Locks must be taken in this order: state → filter → shards (ascending) → memory. All are held for
 * a bounded time, and never while a callback or the call-stack hook runs. A thread that holds a
 * lock has set its `busy`, so that its signal handlers never wait for the lock. */
#ifndef MEMPROF_INTERNAL_H
#define MEMPROF_INTERNAL_H

#include <errno.h>
#include <stdatomic.h>

#include "allotrace/memprof.h"
#include "memprof/gap.h"
#include "memprof/lock.h"

enum { N_SHARDS = 64 };

/* The time from a start to the matching stop; immutable. Kept until the engine is destroyed, so
 * that its address identifies it and a late thread may still read it. */
typedef struct session {
    memprof_tracker tracker;
    double rate;
    uint64_t seed;
    size_t callstack_size;
} session;

/* The argument of a postponed allocation callback. */
typedef struct record {
    memprof_allocation info; /* its call stack is in `frames` */
    uint64_t frames[];
} record;

enum {
    BLOCK_QUEUED = 1,   /* in a thread's queue */
    BLOCK_PROMOTED = 2, /* its promotion callback has not run yet */
    BLOCK_DEAD = 4,     /* removed from the index; its deallocation callback has not run yet */
    BLOCK_SURVIVED = 8, /* reported by memprof_survived in the current minor collection */
    BLOCK_FORGOTTEN =
        16 /* removed from the index; no callback runs any more; freed when it leaves its queue */
};

/* A tracked block. In a counting host, it is owned by the index, or by the thread that removed it
 * from there. In a collecting host, the engine's `state` lock guards it, except that the thread
 * whose queue holds it may run its callbacks. */
typedef struct memprof_block {
    uintptr_t address;
    void *metadata;             /* set by the tracker; meaningless while `birth` is set */
    const session *session;     /* the session that tracks it */
    struct memprof_block *next; /* in a queue, a list of deferred deaths, or a pool */
    record *birth;              /* set until the allocation callback has run */
    /* Young blocks of a thread; link NULL: not in the list. */
    struct memprof_block *young_next, **young_link;
    uint8_t heap;  /* a memprof_heap */
    uint8_t flags; /* BLOCK_… flags */
} block;

typedef struct slot {
    uintptr_t address; /* 0: empty */
    block *block;
} slot;

/* A part of the address index: the addresses whose hash begins with the shard's number. Also owns
 * the words of the filter that belong to these hashes. */
typedef struct shard {
    _Alignas(64) memprof_lock lock; /* guards everything here, and the filter's counters */
    slot *slots; /* 2^bits slots with linear probing; NULL before the first block */
    uint32_t bits;
    uint32_t reserved;        /* slots reserved for blocks to be added later */
    _Atomic(uint32_t) count;  /* number of blocks; written under the lock */
    const session *session;   /* session whose blocks are here; NULL: none may be added */
    block *pool;              /* free blocks */
    block *fresh, *fresh_end; /* memory never used for blocks so far */
} shard;

typedef struct filter {
    /* 2^bits bits, aligned to 64; the first 1/N_SHARDS of them belong to shard 0. */
    uint64_t *words;
    uint8_t *counters; /* for each bit, how many tracked addresses set it; 255 is permanent */
    uint32_t bits;
} filter;

/* The engine's state for one thread. Only that thread uses it, except where noted. */
typedef struct memprof_local {
    struct memprof *engine;
    struct memprof_local *next;      /* list of all the engine's locals; never changes */
    struct memprof_local *next_free; /* guarded by `state` */
    memprof_thread *thread;          /* its thread; NULL: free. Guarded by `state` */
    const session *session;          /* session that the thread has noticed; NULL: not sampling */
    /* Session whose callback is running; read by memprof_is_quiet. */
    _Atomic(const session *) running;
    uint64_t number;   /* number of the attachment; seeds the generator */
    int64_t rest;      /* words of the current gap beyond `countdown` */
    int64_t suspended; /* the countdown during a callback */
    uint64_t *frames;  /* buffer for call stacks */
    size_t max_frames;
    block *deferred; /* counting hosts: blocks that died during a callback of this thread */
    /* Collecting hosts, guarded by `state`: the blocks whose callbacks wait here, in order. While
     * `current` is set, the callback of the head is running. */
    block *queue, **queue_end, *current;
    block *young;
    gap_source gaps;
} local;

/* Only the thread that moved the phase to CHANGING may start or stop a session. */
enum { PHASE_INACTIVE, PHASE_CHANGING, PHASE_ACTIVE };

struct memprof {
    memprof_host host;
    memprof_filter own_filter;        /* for a host that has none */
    _Atomic(const session *) session; /* NULL: inactive */
    _Atomic(int) phase;               /* PHASE_… */
    _Atomic(local *) locals;
    _Atomic(uint64_t) lost_busy, lost_memory, implied_deaths, lost_at_stop;

    memprof_lock state;
    local *free_locals;  /* guarded by `state` */
    uint64_t n_attached; /* guarded by `state` */

    memprof_lock filter_lock; /* held while the filter grows, together with all shard locks */
    filter filter;            /* fields change only under all shard locks */

    memprof_lock memory; /* guards the fields below */
    struct chunk *chunks;
    char *bump, *bump_end;

    shard shards[N_SHARDS];
};

/* The values of memprof_thread.busy. */
enum {
    IDLE = 0,
    IN_ENGINE = 1,   /* may hold a lock: a signal handler can do nothing */
    IN_CALLBACK = 2, /* holds no lock: not sampled, but deaths are recorded */
};

/* Sets `busy`, so that a signal handler of this thread sees it before any later effect. */
static inline void memprof_set_busy(memprof_thread *thread, uint32_t busy) {
    atomic_signal_fence(memory_order_seq_cst);
    thread->busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void memprof_count_one(_Atomic(uint64_t) *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- memory.c ---- */

/* Allocates memory of the engine, aligned to 16, not zeroed. NULL when out of memory. Small pieces
 * are kept until memory_free_all; memory_put releases large ones. */
void *memory_get(memprof *engine, size_t size);
void memory_put(memprof *engine, void *p, size_t size);
void memory_free_all(memprof *engine);

/* ---- block_index.c ---- */

/* Prefetches everything that the index has about an address, so that the misses overlap with the
 * caller's work. Takes no lock. */
void block_index_prefetch(memprof *engine, uintptr_t address);

bool block_index_start(memprof *engine, const session *started); /* false: out of memory */

/* Reserves room for a block at `address`. NULL if the session is over or when out of memory. A
 * block already at that address, whose free was missed, is removed into `*stale`. */
block *block_index_reserve(memprof *engine, const session *of, uintptr_t address, block **stale);
/* Adds it; releases it if the session is over. */
void block_index_commit(memprof *engine, block *b);
void block_index_cancel(memprof *engine, block *b); /* gives up the reservation */

/* Adds a block that was removed or has moved. Returns false, and changes nothing, when out of
 * memory or if its session is over. `*stale`: see block_index_reserve. */
bool block_index_put(memprof *engine, block *b, block **stale);
block *block_index_remove(memprof *engine, uintptr_t address); /* NULL: not tracked */
block *block_index_find(memprof *engine, uintptr_t address);
/* Returns a block that is not in the index to the pool. */
void block_index_release(memprof *engine, block *b);

/* Removes all blocks of a shard. Returns a list of them, linked by `young_next`. */
block *block_index_clear(memprof *engine, unsigned shard_number);
/* Iterates over all blocks; NULL at the end. The index must not change meanwhile. */
typedef struct index_cursor {
    size_t shard, slot;
} index_cursor;
block *block_index_next(memprof *engine, index_cursor *cursor);

/* ---- thread.c ---- */

/* Returns the thread's state, attaching the thread first if necessary. NULL when out of memory. */
local *thread_attach(memprof *engine, memprof_thread *thread);
static inline local *local_of(memprof *engine, memprof_thread *thread) {
    local *l = thread->local;
    return __builtin_expect(l && l->engine == engine, 1) ? l : thread_attach(engine, thread);
}

/* Attaches the thread if necessary, and lets it notice a start or stop of sampling. */
void thread_notice(memprof *engine, memprof_thread *thread);

/* ---- block.c ---- */

/* Enclose a call of the tracker or of the call-stack hook: no lock is held, and the thread is not
 * sampled. Enter returns false if the session is over, unless `stopping` says that this is
 * expected; then leave must not be called. */
bool block_callback_enter(local *l, const session *s, bool stopping);
void block_callback_leave(local *l);

/* Call the callbacks, between enter and leave. */
void *block_call_alloc(local *l, const session *s, memprof_heap heap,
                       const memprof_allocation *info);
void *block_call_promote(local *l, const block *b);
void block_call_dealloc(local *l, const block *b);

/* ---- queue.c, for collecting hosts ---- */

/* Adds a new block to the index, and its allocation callback to the thread's queue. */
void queue_birth(local *l, const memprof_birth *birth, size_t n_frames);
void queue_death(local *l, uintptr_t address);
void queue_run(local *l, bool stopping);
/* Moves callbacks that other threads postponed to the queue of `l`, if they can run there. */
void queue_gather(memprof *engine, local *l);
/* Forgets all blocks; for a session that is over. */
void queue_forget_all(memprof *engine);
void queue_free_records(memprof *engine); /* for memprof_destroy */
void block_unset_young(block *b);         /* requires `state` */

#endif
