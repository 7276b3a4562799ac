/* internal.h: what the files of the engine share. The design is described at the top of memprof.c.
 *
 * Locks, in the order in which they may be taken: state → filter → shards (ascending) → memory.
 * All are held for a bounded time and never while a callback or the call-stack hook runs; whoever
 * holds one has set its thread's `busy`, so that a signal handler never waits for it. */
#ifndef MEMPROF_INTERNAL_H
#define MEMPROF_INTERNAL_H

#include <errno.h>
#include <stdatomic.h>

#include "allotrace/memprof.h"
#include "memprof/gap.h"
#include "memprof/lock.h"

enum { N_SHARDS = 64 };

/* From one start to the matching stop; immutable. Kept until the engine is destroyed, so that its
 * address identifies it and a thread that is late may still read it. */
typedef struct session {
    memprof_tracker tracker;
    double rate;
    uint64_t seed;
    size_t callstack_size;
} session;

/* A postponed allocation callback's argument. */
typedef struct record {
    memprof_allocation info; /* its call stack is `frames` */
    uint64_t frames[];
} record;

enum {
    BLOCK_QUEUED = 1,   /* in the queue of some thread */
    BLOCK_PROMOTED = 2, /* its promotion callback has not run yet */
    BLOCK_DEAD = 4,     /* out of the index; its deallocation callback has not run yet */
    BLOCK_SURVIVED = 8, /* reported by memprof_survived in the running minor collection */
    BLOCK_FORGOTTEN =
        16 /* out of the index; no callback will run; freed when it leaves its queue */
};

/* A tracked block. In a counting host it is owned by the index, or by the thread that took it out.
 * In a collecting host all of it is guarded by the engine's `state` lock, except that the thread
 * in whose queue it is may run its callbacks. */
typedef struct memprof_block {
    uintptr_t address;
    void *metadata;             /* of the tracker; meaningless while `birth` is set */
    const session *session;     /* that tracks it */
    struct memprof_block *next; /* in a queue, in a list of deferred deaths, or in a pool */
    record *birth;              /* the allocation callback has not run yet; else NULL */
    struct memprof_block *young_next, **young_link; /* young blocks of a thread; link NULL: none */
    uint8_t heap;                                   /* a memprof_heap */
    uint8_t flags;                                  /* BLOCK_… */
} block;

typedef struct slot {
    uintptr_t address; /* 0: empty */
    block *block;
} slot;

/* A part of the address index: the addresses whose hash begins with its number. Owns the words of
 * the filter whose number begins so, too. */
typedef struct shard {
    _Alignas(64) lock lock; /* guards everything here, and the filter's counters */
    slot *slots;            /* linear probing; 2^bits of them; NULL before the first */
    uint32_t bits;
    uint32_t reserved;        /* slots promised to blocks that are still to be put */
    _Atomic(uint32_t) count;  /* written under the lock */
    const session *session;   /* whose blocks are here; NULL: none may be put */
    block *pool;              /* free blocks */
    block *fresh, *fresh_end; /* memory never used for blocks yet */
} shard;

typedef struct filter {
    uint64_t *words;   /* 2^bits bits, aligned to 64; the first N_SHARDS'th of them is shard 0's */
    uint8_t *counters; /* of each bit, how many tracked addresses set it; 255 is for ever */
    uint32_t bits;
} filter;

/* The engine's state for one thread; its own except where noted. */
typedef struct memprof_local {
    struct memprof *engine;
    struct memprof_local *next;       /* all of the engine's; never changes */
    struct memprof_local *next_free;  /* under `state` */
    memprof_thread *thread;           /* whose it is; NULL: free. Under `state` */
    const session *session;           /* that the thread has noticed; NULL: sampling is inactive */
    _Atomic(const session *) running; /* whose callback runs here; read by memprof_is_quiet */
    uint64_t number;                  /* seeds the generator; counts attachments */
    int64_t rest;                     /* words of the present gap beyond `countdown` */
    int64_t suspended;                /* the countdown, while a callback runs */
    uint64_t *frames;                 /* room for call stacks */
    size_t max_frames;
    block *deferred; /* counting hosts: died during a callback of this thread */
    /* Collecting hosts, under `state`: callbacks that wait here, in order; the head is the one that
     * runs while `current` is set. */
    block *queue, **queue_end, *current;
    block *young;
    gap_source gaps;
} local;

/* Only who moves an engine to CHANGING may start or stop a session. */
enum { PHASE_INACTIVE, PHASE_CHANGING, PHASE_ACTIVE };

struct memprof {
    memprof_host host;
    memprof_filter own_filter;        /* for a host without one */
    _Atomic(const session *) session; /* NULL: inactive */
    _Atomic(int) phase;               /* PHASE_… */
    _Atomic(local *) locals;
    _Atomic(uint64_t) lost_busy, lost_memory, implied_deaths, lost_at_stop;

    lock state;
    local *free_locals;  /* under `state` */
    uint64_t n_attached; /* under `state` */

    lock filter_lock; /* held by who grows the filter, with all shard locks */
    filter filter;    /* `words` and `counters` change under all shard locks */

    lock memory; /* guards what follows */
    struct chunk *chunks;
    char *bump, *bump_end;

    shard shards[N_SHARDS];
};

/* The states of memprof_thread.busy. */
enum {
    IDLE = 0,
    IN_ENGINE = 1,   /* may hold a lock: nothing can be done for a signal handler */
    IN_CALLBACK = 2, /* holds none: not sampled, but deaths are noticed */
};

/* Sets `busy` so that a signal handler of this thread sees it before anything that follows. */
static inline void memprof_set_busy(memprof_thread *thread, uint32_t busy) {
    atomic_signal_fence(memory_order_seq_cst);
    thread->busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void memprof_count_one(_Atomic(uint64_t) *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- memory.c ---- */

/* Memory of the engine, aligned to 16, not zeroed; NULL when there is none. What is small stays
 * until memory_free_all; memory_put gives back the large. */
void *memory_get(memprof *engine, size_t size);
void memory_put(memprof *engine, void *p, size_t size);
void memory_free_all(memprof *engine);

/* ---- block_index.c ---- */

/* Fetches what the index has of an address, which is about to be used, into the cache: all of it at
 * once, while the caller does something else. Takes no lock. */
void block_index_prefetch(memprof *engine, uintptr_t address);

bool block_index_start(memprof *engine, const session *started); /* false: out of memory */

/* Promises room for a block at `address`. NULL if the session is over or there is no memory. A
 * block found at that address (its free was missed) is taken out, into `*stale`. */
block *block_index_reserve(memprof *engine, const session *of, uintptr_t address, block **stale);
void block_index_commit(memprof *engine, block *b); /* fulfils it; pooled if the session is over */
void block_index_cancel(memprof *engine, block *b); /* or not */

/* Puts a block that was taken out, or moved; false, and nothing changes, without memory or if its
 * session is over. `*stale` as above. */
bool block_index_put(memprof *engine, block *b, block **stale);
block *block_index_remove(memprof *engine, uintptr_t address); /* NULL: it is not tracked */
block *block_index_find(memprof *engine, uintptr_t address);
void block_index_release(memprof *engine, block *b); /* to the pool; it is out of the index */

/* Takes everything out of a shard: a list linked by `young_next`. */
block *block_index_clear(memprof *engine, unsigned shard_number);
/* One block after the other, NULL at the end; while nobody changes the index. */
typedef struct index_cursor {
    size_t shard, slot;
} index_cursor;
block *block_index_next(memprof *engine, index_cursor *cursor);

/* ---- thread.c ---- */

/* The thread's state, attaching it first if need be; NULL if there is no memory for it. */
local *thread_attach(memprof *engine, memprof_thread *thread);
static inline local *local_of(memprof *engine, memprof_thread *thread) {
    local *l = thread->local;
    return __builtin_expect(l && l->engine == engine, 1) ? l : thread_attach(engine, thread);
}

/* Attaches the thread if need be, and makes it notice that sampling was started or stopped. */
void thread_notice(memprof *engine, memprof_thread *thread);

/* ---- block.c ---- */

/* Brackets a call of the tracker or of the call-stack hook: no lock is held, the thread is not
 * sampled. False, with nothing to leave, if the session is over (`stopping`: that is expected). */
bool block_callback_enter(local *l, const session *s, bool stopping);
void block_callback_leave(local *l);

/* The callbacks themselves, between enter and leave. */
void *block_call_alloc(local *l, const session *s, memprof_heap heap,
                       const memprof_allocation *info);
void *block_call_promote(local *l, const block *b);
void block_call_dealloc(local *l, const block *b);

/* ---- queue.c, for collecting hosts ---- */

/* Puts a new block into the index and its allocation callback into the thread's queue. */
void queue_birth(local *l, const memprof_birth *birth, size_t n_frames);
void queue_death(local *l, uintptr_t address);
void queue_run(local *l, bool stopping);
/* Moves what other threads have postponed, as far as it can run here, to the queue of `l`. */
void queue_gather(memprof *engine, local *l);
/* Forgets every block of a session that is over. */
void queue_forget_all(memprof *engine);
void queue_free_records(memprof *engine); /* before the engine is destroyed */
void block_unset_young(block *b);         /* under `state` */

#endif
