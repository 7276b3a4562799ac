/* pools.c: implements pools.h. Lists change only under a lock; whether anything is known at all can
 * be read without it. A table that has become too small is left as it was, so a thread that still
 * reads it finds the blocks that it looks for. */
#include "record/pools.h"

#include <stddef.h>

#include "record/names.h"

/* ---- names ------------------------------------------------------------------------------- */

/* A pool is stored within a few places of its hash, so that places can be taken and freed
 * independently of others. */
enum { PLACES_LOG2 = 14, PLACES = 1 << PLACES_LOG2, NEAR = 32 };

static given_names texts;
static _Atomic uintptr_t handles[PLACES + NEAR]; /* 0: free */
static _Atomic uint16_t numbers[PLACES + NEAR];

/* NULL is a valid pool, too. */
static uintptr_t handle_of(const void *pool) {
    return pool ? (uintptr_t)pool : UINTPTR_MAX;
}

static size_t place_of(uintptr_t handle) {
    return hash_u64(handle) >> (64 - PLACES_LOG2);
}

/* Returns the place of the pool; PLACES + NEAR: none. */
static size_t find_place(uintptr_t handle) {
    const size_t first = place_of(handle);
    for (size_t i = first; i < first + NEAR; i++)
        if (atomic_load_explicit(&handles[i], memory_order_acquire) == handle)
            return i;
    return PLACES + NEAR;
}

static void take_place(uintptr_t handle, uint16_t number) {
    const size_t first = place_of(handle);
    for (size_t i = first; i < first + NEAR; i++) {
        uintptr_t free = 0;
        if (!atomic_compare_exchange_strong(&handles[i], &free, handle))
            continue;
        atomic_store_explicit(&numbers[i], number, memory_order_relaxed);
        return;
    }
}

void pools_call(const void *pool, const char *name) {
    const uintptr_t handle = handle_of(pool);
    const uint16_t number = name ? names_number(&texts, name, NAMES_MOST - 1) : 0;
    const size_t place = find_place(handle);
    if (place == PLACES + NEAR && number)
        take_place(handle, number);
    if (place == PLACES + NEAR)
        return;
    atomic_store_explicit(&numbers[place], number, memory_order_relaxed);
    if (!number)
        atomic_store_explicit(&handles[place], 0, memory_order_release);
}

uint16_t pools_name(const void *pool) {
    const size_t place = find_place(handle_of(pool));
    return place == PLACES + NEAR ? 0 : atomic_load_explicit(&numbers[place], memory_order_relaxed);
}

const char *pools_text(uint16_t number) {
    return number ? names_text(&texts, number, "(other pools)") : "(unnamed pool)";
}

/* ---- blocks ------------------------------------------------------------------------------ */

struct pool_block {
    struct pool_group *group;
    const void *address;
    uint64_t id;
    struct pool_block *next;          /* in a list of the table */
    struct pool_block *older, *newer; /* in its pool */
};

/* A pool with blocks. */
struct pool_group {
    const void *pool;
    struct pool_group *next;
    struct pool_block *oldest, *newest;
    size_t n;
};

typedef struct pool_table table;
typedef struct pool_block block;
typedef struct pool_group group;

static _Atomic(block *) *list_of(table *t, const void *pool, const void *address) {
    return &t->lists[pools_hash(pool, address) >> t->shift];
}

static _Atomic(group *) *groups_of(pools *all, const void *pool) {
    return &all->groups[hash_u64((uintptr_t)pool) % POOLS_GROUPS];
}

static void push(_Atomic(block *) *list, block *b) {
    b->next = atomic_load_explicit(list, memory_order_relaxed);
    atomic_store_explicit(list, b, memory_order_relaxed);
}

/* Makes a table. It is so large that its memory is a mapping of its own, and so is zeroed. */
static table *table_new(pools *all, unsigned log2) {
    table *t = memory_alloc(all->memory, sizeof *t + (sizeof *t->lists << log2));
    if (t)
        t->shift = 64 - log2;
    return t;
}

static void fill_table(pools *all, table *t) {
    for (size_t i = 0; i < POOLS_GROUPS; i++)
        for (group *g = atomic_load(&all->groups[i]); g; g = g->next)
            for (block *b = g->oldest; b; b = b->newer)
                push(list_of(t, g->pool, b->address), b);
}

/* Returns a table with room for one more block. If there is no memory, returns the current
 * table. */
static table *table_for_more(pools *all) {
    enum { FIRST_LOG2 = MEMORY_MAX_SHIFT - 3, LAST_LOG2 = 32 };
    table *t = atomic_load_explicit(&all->table, memory_order_relaxed);
    const unsigned log2 = t ? 64 - t->shift : FIRST_LOG2 - 1;
    if ((t && all->n >> log2 == 0) || log2 == LAST_LOG2)
        return t;
    table *larger = table_new(all, log2 + 1);
    if (!larger)
        return t;
    fill_table(all, larger);
    atomic_store_explicit(&all->table, larger, memory_order_release);
    return larger;
}

static group *find_group(pools *all, const void *pool) {
    group *g = atomic_load_explicit(groups_of(all, pool), memory_order_relaxed);
    while (g && g->pool != pool)
        g = g->next;
    return g;
}

static group *add_group(pools *all, const void *pool) {
    _Atomic(group *) *groups = groups_of(all, pool);
    group *g = memory_alloc(&all->blocks, sizeof *g);
    if (!g)
        return NULL;
    *g = (group){.pool = pool, .next = atomic_load_explicit(groups, memory_order_relaxed)};
    atomic_store_explicit(groups, g, memory_order_relaxed);
    return g;
}

static void remove_group(pools *all, group *gone) {
    _Atomic(group *) *groups = groups_of(all, gone->pool);
    group *g = atomic_load_explicit(groups, memory_order_relaxed);
    if (g == gone) {
        atomic_store_explicit(groups, gone->next, memory_order_relaxed);
    } else {
        while (g->next != gone)
            g = g->next;
        g->next = gone->next;
    }
    memory_free(&all->blocks, gone, sizeof *gone);
}

static block *find_block(table *t, const void *pool, const void *address) {
    block *b = atomic_load_explicit(list_of(t, pool, address), memory_order_relaxed);
    while (b && (b->address != address || b->group->pool != pool))
        b = b->next;
    return b;
}

static bool add_block(pools *all, table *t, const void *pool, const void *address, uint64_t id) {
    block *b = memory_alloc(&all->blocks, sizeof *b);
    group *g = find_group(all, pool);
    if (b && !g)
        g = add_group(all, pool);
    if (!b || !g) {
        memory_free(&all->blocks, b, sizeof *b);
        return false;
    }
    *b = (block){.group = g, .address = address, .id = id, .older = g->newest};
    *(g->newest ? &g->newest->newer : &g->oldest) = b;
    g->newest = b;
    g->n++;
    all->n++;
    push(list_of(t, pool, address), b);
    return true;
}

static void unlist(_Atomic(block *) *list, block *gone) {
    block *b = atomic_load_explicit(list, memory_order_relaxed);
    if (b == gone) {
        atomic_store_explicit(list, gone->next, memory_order_relaxed);
        return;
    }
    while (b->next != gone)
        b = b->next;
    b->next = gone->next;
}

/* Removes the block and returns its id + 1. */
static uint64_t remove_block(pools *all, table *t, block *b) {
    group *g = b->group;
    const uint64_t taken = b->id + 1;
    unlist(list_of(t, g->pool, b->address), b);
    *(b->older ? &b->older->newer : &g->oldest) = b->newer;
    *(b->newer ? &b->newer->older : &g->newest) = b->older;
    all->n--;
    if (--g->n == 0)
        remove_group(all, g);
    memory_free(&all->blocks, b, sizeof *b);
    return taken;
}

static bool put_locked(pools *all, const void *pool, const void *address, uint64_t id,
                       uint64_t *before) {
    table *t = table_for_more(all);
    block *b = t ? find_block(t, pool, address) : NULL;
    if (!b)
        return t && add_block(all, t, pool, address, id);
    *before = b->id + 1;
    b->id = id;
    return true;
}

bool pools_put(pools *all, const void *pool, const void *address, uint64_t id, uint64_t *before) {
    *before = 0;
    lock_acquire(&all->lock);
    const bool put = all->closed || put_locked(all, pool, address, id, before);
    lock_release(&all->lock);
    return put;
}

uint64_t pools_take(pools *all, const void *pool, const void *address) {
    lock_acquire(&all->lock);
    table *t = atomic_load_explicit(&all->table, memory_order_relaxed);
    block *b = t && !all->closed ? find_block(t, pool, address) : NULL;
    const uint64_t taken = b ? remove_block(all, t, b) : 0;
    lock_release(&all->lock);
    return taken;
}

size_t pools_count(pools *all, const void *pool) {
    lock_acquire(&all->lock);
    const group *g = all->closed ? NULL : find_group(all, pool);
    const size_t n = g ? g->n : 0;
    lock_release(&all->lock);
    return n;
}

uint64_t pools_take_oldest(pools *all, const void *pool, const void **address) {
    lock_acquire(&all->lock);
    table *t = atomic_load_explicit(&all->table, memory_order_relaxed);
    const group *g = all->closed ? NULL : find_group(all, pool);
    uint64_t taken = 0;
    if (g) {
        *address = g->oldest->address;
        taken = remove_block(all, t, g->oldest);
    }
    lock_release(&all->lock);
    return taken;
}

void pools_close(pools *all) {
    lock_acquire(&all->lock);
    all->closed = true;
    memory_release(&all->blocks);
    lock_release(&all->lock);
}
