/* block_index.c: the address index: finds the tracked block at an address. A bitmap, which the host
 * tests inline (memprof_is_tracked), rejects most addresses. The others are looked up in a hash
 * table, which is split into shards with a lock each.
 *
 * An address is hashed with one multiplication. The top bits of the hash select the bit in the
 * bitmap, and the topmost of them the shard. So the bits of a shard form whole words that no other
 * shard changes, and the shard's lock guards them. The bits after the shard's number select the
 * slot in the shard. */
#include <string.h>

#include "memprof/internal.h"

enum {
    SHARD_BITS = 6, /* log2 N_SHARDS */
    FIRST_SLOT_BITS = 4,
    FRESH_BLOCKS = 16, /* blocks allocated at once */
    /* 2 KiB of bitmap and 16 KiB of counters; a short program touches all of it. */
    FIRST_FILTER_BITS = 14,
    LAST_FILTER_BITS = 22, /* 512 KiB */
    BITS_PER_BLOCK = 32,   /* least number of bits per block, before the filter grows */
};

_Static_assert(N_SHARDS == 1 << SHARD_BITS, "a shard's number is the top of a hash");
_Static_assert(FIRST_FILTER_BITS >= SHARD_BITS + 6, "a shard owns whole words of the bitmap");

static uint64_t hash_address(uintptr_t address) {
    return (uint64_t)address * UINT64_C(0x9E3779B97F4A7C15); /* same as in memprof_is_tracked */
}

static shard *shard_of(memprof *engine, uintptr_t address) {
    return &engine->shards[hash_address(address) >> (64 - SHARD_BITS)];
}

/* ---- the filter ---------------------------------------------------------------------------- */

static void word_store(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED); /* other threads read it inline */
}

/* Adds an address. Requires the lock of its shard, like filter_remove. */
static inline void filter_add(filter *f, uintptr_t address) {
    uint64_t bit = hash_address(address) >> (64 - f->bits);
    if (f->counters[bit] == UINT8_MAX)
        return;
    if (f->counters[bit]++ == 0)
        word_store(&f->words[bit / 64], f->words[bit / 64] | UINT64_C(1) << bit % 64);
}

static inline void filter_remove(filter *f, uintptr_t address) {
    uint64_t bit = hash_address(address) >> (64 - f->bits);
    if (f->counters[bit] == UINT8_MAX)
        return;
    if (--f->counters[bit] == 0)
        word_store(&f->words[bit / 64], f->words[bit / 64] & ~(UINT64_C(1) << bit % 64));
}

/* Atomic, since block_index_prefetch reads the fields without a lock. */
static void filter_replace(filter *f, const filter *by) {
    __atomic_store_n(&f->words, by->words, __ATOMIC_RELAXED);
    __atomic_store_n(&f->counters, by->counters, __ATOMIC_RELAXED);
    __atomic_store_n(&f->bits, by->bits, __ATOMIC_RELAXED);
}

static bool filter_make(memprof *engine, filter *f, uint32_t bits) {
    size_t n = (size_t)1 << bits, alignment = sizeof memprof_no_bits;
    char *memory = memory_get(engine, n / 8 + alignment + n);
    if (!memory)
        return false;
    memory += -(uintptr_t)memory % alignment;
    memset(memory, 0, n / 8 + n);
    filter_replace(f, &(filter){.words = (uint64_t *)memory,
                                .counters = (uint8_t *)memory + n / 8,
                                .bits = bits});
    return true;
}

static void filter_publish(memprof *engine) {
    const filter *f = &engine->filter;
    __atomic_store_n(&engine->host.filter->bits, (const char *)f->words + (64 - f->bits),
                     __ATOMIC_RELEASE);
}

/* Replaces the filter by a larger one. Readers may still test the old one, whose memory is kept: a
 * thread that knows the address of a block added later has synchronized with the thread that added
 * the block, and so sees the new filter. */
static void filter_grow(memprof *engine) {
    filter bigger;
    if (!memprof_lock_try(&engine->filter_lock))
        return;
    if (filter_make(engine, &bigger, engine->filter.bits + 2)) {
        for (int i = 0; i < N_SHARDS; i++)
            memprof_lock_take(&engine->shards[i].lock);
        for (int i = 0; i < N_SHARDS; i++)
            for (size_t j = 0; engine->shards[i].slots && j >> engine->shards[i].bits == 0; j++)
                if (engine->shards[i].slots[j].address)
                    filter_add(&bigger, engine->shards[i].slots[j].address);
        filter_replace(&engine->filter, &bigger);
        filter_publish(engine);
        for (int i = 0; i < N_SHARDS; i++)
            memprof_lock_drop(&engine->shards[i].lock);
    }
    memprof_lock_drop(&engine->filter_lock);
}

/* Whether the filter should grow; requires the lock of the shard. The share of set bits is the
 * share of frees of untracked blocks that take the cold path. Each of these costs 12 ns, as much as
 * malloc and free together. */
static bool filter_is_full(const memprof *engine, const shard *s) {
    return engine->filter.bits < LAST_FILTER_BITS &&
           s->count * (uint64_t)BITS_PER_BLOCK >
               (UINT64_C(1) << (engine->filter.bits - SHARD_BITS));
}

/* ---- slots; everything here requires the lock of the shard -------------------------------- */

static size_t home_in(uint32_t bits, uintptr_t address) {
    return (hash_address(address) << SHARD_BITS) >> (64 - bits);
}

static size_t slot_home(const shard *s, uintptr_t address) {
    return home_in(s->bits, address);
}

/* Returns the slot that holds `address`, or the empty slot where it belongs. The table must have an
 * empty slot. */
static size_t slot_search(const shard *s, uintptr_t address) {
    size_t i = slot_home(s, address);
    while (s->slots[i].address && s->slots[i].address != address)
        i = (i + 1) & (((size_t)1 << s->bits) - 1);
    return i;
}

/* Empties slot `i`, and moves up the later slots that could not be found any more. */
static void slot_empty(shard *s, size_t i) {
    size_t mask = ((size_t)1 << s->bits) - 1;
    for (size_t j = (i + 1) & mask; s->slots[j].address; j = (j + 1) & mask)
        if (((j - slot_home(s, s->slots[j].address)) & mask) >= ((j - i) & mask)) {
            s->slots[i] = s->slots[j];
            i = j;
        }
    s->slots[i] = (slot){0};
}

static bool slots_resize(memprof *engine, shard *s, uint32_t bits) {
    size_t size = sizeof(slot) << bits, old_n = s->slots ? (size_t)1 << s->bits : 0;
    slot *old = s->slots, *grown = memory_get(engine, size);
    if (!grown)
        return false;
    memset(grown, 0, size);
    /* In the order that block_index_prefetch expects. */
    __atomic_store_n(&s->bits, bits, __ATOMIC_RELAXED);
    __atomic_store_n(&s->slots, grown, __ATOMIC_RELEASE);
    for (size_t i = 0; i < old_n; i++)
        if (old[i].address)
            s->slots[slot_search(s, old[i].address)] = old[i];
    memory_put(engine, old, old_n * sizeof(slot));
    return true;
}

/* Makes sure that there is room for one more block besides the reserved ones. */
static inline bool slots_have_room(memprof *engine, shard *s) {
    if (!s->slots)
        return slots_resize(engine, s, FIRST_SLOT_BITS);
    size_t n = (size_t)s->count + s->reserved + 1, capacity = (size_t)1 << s->bits;
    return n <= capacity / 4 * 3 || slots_resize(engine, s, s->bits + 1);
}

static inline block *take_out(memprof *engine, shard *s, uintptr_t address) {
    if (!s->slots)
        return NULL;
    size_t i = slot_search(s, address);
    block *b = s->slots[i].block;
    if (!s->slots[i].address)
        return NULL;
    __builtin_prefetch(b); /* the caller will read it */
    slot_empty(s, i);
    atomic_store_explicit(&s->count, s->count - 1, memory_order_relaxed);
    filter_remove(&engine->filter, address);
    return b;
}

static inline void put_in(memprof *engine, shard *s, block *b) {
    s->slots[slot_search(s, b->address)] = (slot){.address = b->address, .block = b};
    atomic_store_explicit(&s->count, s->count + 1, memory_order_relaxed);
    filter_add(&engine->filter, b->address);
}

/* ---- the pool of blocks ------------------------------------------------------------------- */

static block *pool_get(memprof *engine, shard *s) {
    block *b = s->pool;
    if (b) {
        s->pool = b->next;
        return b;
    }
    if (s->fresh == s->fresh_end) {
        if (!(s->fresh = memory_get(engine, FRESH_BLOCKS * sizeof(block))))
            return s->fresh_end = NULL;
        s->fresh_end = s->fresh + FRESH_BLOCKS;
    }
    return s->fresh++;
}

static void pool_put(shard *s, block *b) {
    b->next = s->pool;
    s->pool = b;
}

/* ---- the interface to the rest of the engine ---------------------------------------------- */

/* Fields that change during the reads may yield a wrong address, which is harmless to prefetch. */
void block_index_prefetch(memprof *engine, uintptr_t address) {
    const shard *s = shard_of(engine, address);
    const slot *slots = __atomic_load_n(&s->slots, __ATOMIC_ACQUIRE);
    uint32_t bits = __atomic_load_n(&s->bits, __ATOMIC_RELAXED);
    if (!slots)
        return;
    uint64_t hash = hash_address(address);
    uint64_t bit = hash >> (64 - __atomic_load_n(&engine->filter.bits, __ATOMIC_RELAXED));
    const uint8_t *counters = __atomic_load_n(&engine->filter.counters, __ATOMIC_RELAXED);
    const uint64_t *words = __atomic_load_n(&engine->filter.words, __ATOMIC_RELAXED);
    __builtin_prefetch(&slots[home_in(bits, address)], 1);
    __builtin_prefetch(&counters[bit], 1);
    __builtin_prefetch(&words[bit / 64], 1);
}

bool block_index_start(memprof *engine, const session *started) {
    if (!engine->filter.words && !filter_make(engine, &engine->filter, FIRST_FILTER_BITS))
        return false;
    filter_publish(engine);
    for (int i = 0; i < N_SHARDS; i++) {
        memprof_lock_take(&engine->shards[i].lock);
        engine->shards[i].session = started;
        memprof_lock_drop(&engine->shards[i].lock);
    }
    return true;
}

block *block_index_reserve(memprof *engine, const session *of, uintptr_t address, block **stale) {
    shard *s = shard_of(engine, address);
    block *b = NULL;
    *stale = NULL;
    memprof_lock_take(&s->lock);
    if (s->session == of) {
        *stale = take_out(engine, s, address);
        if (slots_have_room(engine, s) && (b = pool_get(engine, s)))
            s->reserved++;
        else
            memprof_count_one(&engine->lost_memory);
    }
    memprof_lock_drop(&s->lock);
    if (b)
        *b = (block){.address = address, .session = of};
    return b;
}

void block_index_commit(memprof *engine, block *b) {
    shard *s = shard_of(engine, b->address);
    memprof_lock_take(&s->lock);
    s->reserved--;
    if (s->session == b->session)
        put_in(engine, s, b);
    else
        pool_put(s, b);
    bool full = filter_is_full(engine, s);
    memprof_lock_drop(&s->lock);
    if (full)
        filter_grow(engine);
}

void block_index_cancel(memprof *engine, block *b) {
    shard *s = shard_of(engine, b->address);
    memprof_lock_take(&s->lock);
    s->reserved--;
    pool_put(s, b);
    memprof_lock_drop(&s->lock);
}

bool block_index_put(memprof *engine, block *b, block **stale) {
    shard *s = shard_of(engine, b->address);
    memprof_lock_take(&s->lock);
    *stale = NULL;
    bool ok = s->session == b->session && slots_have_room(engine, s);
    if (ok) {
        *stale = take_out(engine, s, b->address);
        put_in(engine, s, b);
    }
    memprof_lock_drop(&s->lock);
    return ok;
}

block *block_index_remove(memprof *engine, uintptr_t address) {
    shard *s = shard_of(engine, address);
    memprof_lock_take(&s->lock);
    block *b = take_out(engine, s, address);
    memprof_lock_drop(&s->lock);
    return b;
}

block *block_index_find(memprof *engine, uintptr_t address) {
    shard *s = shard_of(engine, address);
    memprof_lock_take(&s->lock);
    block *b = s->slots ? s->slots[slot_search(s, address)].block : NULL;
    memprof_lock_drop(&s->lock);
    return b;
}

void block_index_release(memprof *engine, block *b) {
    shard *s = shard_of(engine, b->address);
    memprof_lock_take(&s->lock);
    pool_put(s, b);
    memprof_lock_drop(&s->lock);
}

/* ---- blocks tracked without callbacks ----------------------------------------------------- */

/* A block that is replaced gives its memory to the new one. */
bool memprof_keep(memprof *engine, uintptr_t address, void *metadata, void **before) {
    shard *s = shard_of(engine, address);
    block_index_prefetch(engine, address);
    memprof_lock_take(&s->lock);
    block *b = take_out(engine, s, address);
    *before = b ? b->metadata : NULL;
    const bool room = s->session && slots_have_room(engine, s);
    if (!b && room)
        b = pool_get(engine, s);
    const bool kept = room && b;
    if (kept) {
        *b = (block){
            .address = address, .metadata = metadata, .session = s->session, .heap = MEMPROF_MAJOR};
        put_in(engine, s, b);
    } else if (b) {
        pool_put(s, b);
    }
    const bool full = kept && filter_is_full(engine, s);
    memprof_lock_drop(&s->lock);
    if (full)
        filter_grow(engine);
    return kept;
}

void *memprof_drop(memprof *engine, uintptr_t address) {
    shard *s = shard_of(engine, address);
    block_index_prefetch(engine, address);
    memprof_lock_take(&s->lock);
    block *b = take_out(engine, s, address);
    void *metadata = b ? b->metadata : NULL;
    if (b)
        pool_put(s, b);
    memprof_lock_drop(&s->lock);
    return metadata;
}

block *block_index_clear(memprof *engine, unsigned shard_number) {
    shard *s = &engine->shards[shard_number];
    block *list = NULL;
    memprof_lock_take(&s->lock);
    for (size_t i = 0; s->slots && i >> s->bits == 0; i++) {
        block *b = s->slots[i].block;
        if (!b)
            continue;
        filter_remove(&engine->filter, s->slots[i].address);
        s->slots[i] = (slot){0};
        b->young_next = list;
        list = b;
    }
    atomic_store_explicit(&s->count, 0, memory_order_relaxed);
    s->session = NULL;
    memprof_lock_drop(&s->lock);
    return list;
}

block *block_index_next(memprof *engine, index_cursor *cursor) {
    for (; cursor->shard < N_SHARDS; cursor->shard++, cursor->slot = 0) {
        const shard *s = &engine->shards[cursor->shard];
        while (s->slots && cursor->slot >> s->bits == 0) {
            block *b = s->slots[cursor->slot++].block;
            if (b)
                return b;
        }
    }
    return NULL;
}
