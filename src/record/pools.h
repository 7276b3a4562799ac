/* pools.h: the pools of a program (allotrace/pool.h): their names, and the live blocks that are in
 * the trace, by pool and address. Knows nothing of events.
 * Blocks of pools are kept apart from malloc's (ids.h, memprof_keep), for three reasons. A pool's
 * first block has the address of the chunk that it is cut from. A pool may hand out blocks from
 * another pool. And blocks may be closer to each other than those of any allocator. Besides, a pool
 * dies as a whole.
 * Names belong to the process, because pools outlive recordings. Blocks belong to a session. */
#ifndef RECORD_POOLS_H
#define RECORD_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "record/memory.h"

/* ---- names: no lock; any thread may call, also in a signal handler ------------------------- */

/* Names a pool. With NULL, removes its name. If there are too many pools at a time, the pool stays
 * unnamed. */
void pools_call(const void *pool, const char *name);

/* Returns the number of a pool's name, for pools_text; 0: it has none. */
uint16_t pools_name(const void *pool);
const char *pools_text(uint16_t number);

/* ---- blocks -------------------------------------------------------------------------------- */

enum { POOLS_GROUPS = 1 << 12 };

struct pool_block;
struct pool_group;

/* A hash table of lists of blocks. */
struct pool_table {
    unsigned shift; /* right shift that turns a hash into the index of a list */
    _Atomic(struct pool_block *) lists[];
};

/* Valid when zeroed, except for `memory`. Any thread may call, unless it is inside one of these
 * functions. */
typedef struct pools {
    memory *memory; /* for tables, which are never freed: a thread may be reading an old one */
    lock lock;      /* guards changes of all fields below */
    memory blocks;  /* for blocks and groups */
    _Atomic(struct pool_table *) table;
    _Atomic(struct pool_group *) groups[POOLS_GROUPS]; /* hash table of pools with blocks */
    size_t n;                                          /* number of blocks */
    bool closed;                                       /* no more blocks may be added */
} pools;

/* Adds a block with this id. Sets *before to the replaced entry: an id + 1, or 0. Returns false if
 * there is no memory. */
bool pools_put(pools *all, const void *pool, const void *block, uint64_t id, uint64_t *before);

/* Removes a block. Returns its id + 1; 0: it is not known. */
uint64_t pools_take(pools *all, const void *pool, const void *block);

/* pools_count returns how many blocks of a pool are known. pools_take_oldest removes the one that
 * was added first, and sets *block to it; the result is that of pools_take. */
size_t pools_count(pools *all, const void *pool);
uint64_t pools_take_oldest(pools *all, const void *pool, const void **block);

/* Forgets all blocks and frees their memory. */
void pools_close(pools *all);

static inline uint64_t pools_hash(const void *pool, const void *block) {
    return hash_u64((uintptr_t)block + hash_u64((uintptr_t)pool));
}

/* Return false if a block, or any block of a pool, is certainly not known. Cheap. */
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
