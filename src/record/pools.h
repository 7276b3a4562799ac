/* pools.h: the pools of a program (allotrace/pool.h): what each is called, and which of its blocks
 * live and are in the trace, by pool and address. Knows nothing of events.
 *
 * Blocks of pools are not among malloc's (ids.h, memprof_keep): a pool's first block has the
 * address of the chunk that it is cut from, a pool may give out blocks of another, and blocks may
 * be closer to each other than any allocator's. Besides, a pool dies as a whole.
 *
 * What a pool is called holds for the process, as pools last longer than a recording; the blocks
 * are a session's. */
#ifndef RECORD_POOLS_H
#define RECORD_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "record/memory.h"

/* ---- names: without a lock; any thread, also in a signal handler --------------------------- */

/* NULL: it has none any more. Where there are too many pools at a time, it has none either. */
void pools_call(const void *pool, const char *name);

/* A number for pools_text; 0: it has no name. */
uint16_t pools_name(const void *pool);
const char *pools_text(uint16_t number);

/* ---- blocks -------------------------------------------------------------------------------- */

enum { POOLS_GROUPS = 1 << 12 };

struct pool_block;
struct pool_group;

/* Lists of blocks, by hash. */
struct pool_table {
    unsigned shift; /* of a hash, to the number of a list */
    _Atomic(struct pool_block *) lists[];
};

/* Legal when zeroed, but for `memory`. Any thread may call, unless it is in the midst of this. */
typedef struct pools {
    memory *memory; /* for tables: somebody may be looking at an old one */
    lock lock;      /* guards changes of all that follows */
    memory blocks;  /* for the rest */
    _Atomic(struct pool_table *) table;
    _Atomic(struct pool_group *) groups[POOLS_GROUPS]; /* pools with blocks, by hash */
    size_t n;                                          /* blocks */
    bool closed;                                       /* there shall be no more */
} pools;

/* A block has come to be, with this id. Gives what stood there: an id + 1, or 0. False if there is
 * no memory. */
bool pools_put(pools *all, const void *pool, const void *block, uint64_t id, uint64_t *before);

/* Forgets a block: its id + 1; 0: it is not known. */
uint64_t pools_take(pools *all, const void *pool, const void *block);

/* How many blocks of a pool are known. The same for that which has been for longest. */
size_t pools_count(pools *all, const void *pool);
uint64_t pools_take_oldest(pools *all, const void *pool, const void **block);

/* Forgets all, and gives back their memory. */
void pools_close(pools *all);

static inline uint64_t pools_hash(const void *pool, const void *block) {
    return hash_u64((uintptr_t)block + hash_u64((uintptr_t)pool));
}

/* At a glance: false if a block, or any of a pool, is surely not known. */
static inline bool pools_may_know(const pools *all, const void *pool, const void *block) {
    struct pool_table *t = atomic_load_explicit(&all->table, memory_order_acquire);
    return t && atomic_load_explicit(&t->lists[pools_hash(pool, block) >> t->shift],
                                     memory_order_relaxed);
}
static inline bool pools_may_know_any(const pools *all, const void *pool) {
    return atomic_load_explicit(&all->groups[hash_u64((uintptr_t)pool) % POOLS_GROUPS],
                                memory_order_relaxed);
}

#endif
