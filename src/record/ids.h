/* ids.h: the ids of live blocks by address, for recordings in which every block has an id. The
 * place of an id follows from the address alone, so neither hashing nor a lock is needed. The
 * thread that allocates or frees a block is the only one that uses its address, so any thread may
 * call. The table takes at most a quarter of the heap's size, or an eighth where the allocator is
 * known to be glibc's. */
#ifndef RECORD_IDS_H
#define RECORD_IDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/cpu.h"
#include "record/memory.h"

/* The place of a block's id is found by the bits of its address, from the top: an entry of `nodes`,
 * an entry of a node, an entry of a leaf. A leaf has one entry for every 32 bytes of memory (a
 * grain), since hardly any block is smaller. Blocks that start at different offsets in their grains
 * have separate leaves. Small blocks in a row mostly start 32 bytes apart, so such a row touches
 * half as much memory as with an entry for every 16 bytes. If starts at multiples of 16 are never
 * closer than 32 bytes, they share a leaf; other starts have another leaf. */
enum {
    IDS_GRAIN_BITS = 5,
    IDS_START_BITS = 2, /* starts in a grain are told apart in steps of 8 bytes */
    IDS_STARTS = 1 << IDS_START_BITS,
    IDS_LEAF_BITS = 16, /* number of entries (log2) */
    IDS_NODE_BITS = 13,
    IDS_TOP_BITS = 13,
    IDS_LEAF_AT = IDS_GRAIN_BITS + IDS_LEAF_BITS,
    IDS_NODE_AT = IDS_LEAF_AT + IDS_NODE_BITS,
    IDS_ADDRESS_BITS = IDS_NODE_AT + IDS_TOP_BITS
};

/* The low 32 bits of id + 1; 0: no block. */
struct ids_leaf {
    uint32_t low[1 << IDS_LEAF_BITS];
};

/* The next 8 bits, which few recordings need. */
struct ids_high {
    uint8_t high[1 << IDS_LEAF_BITS];
};

struct ids_node {
    _Atomic(struct ids_leaf *) leaves[IDS_STARTS][1 << IDS_NODE_BITS]; /* by start in the grain */
    _Atomic(struct ids_high *) highs[IDS_STARTS][1 << IDS_NODE_BITS];
};

#define IDS_MAX ((UINT64_C(1) << 40) - 2)

typedef struct ids {
    memory *memory;
    size_t starts; /* mask of the bits, in units of 8 bytes, that distinguish starts in a grain */
    _Atomic bool wide; /* some id + 1 needs more than 32 bits */
    _Atomic(struct ids_node *) nodes[1 << IDS_TOP_BITS];
} ids;

/* Forgets all ids and gives their memory back. Other threads may be using the table. */
void ids_forget(ids *table);

/* Puts an id where that takes a new table or more than 32 bits. ids_take_wide is ids_take for wide
 * ids. */
bool ids_put_slow(ids *table, uintptr_t address, uint64_t id, uint64_t *before);
uint64_t ids_take_wide(ids *table, uintptr_t address);

/* `sparse`: blocks that start at multiples of 16 are at least 32 bytes apart. */
static inline void ids_init(ids *table, memory *from, bool sparse) {
    memset(table, 0, sizeof *table);
    table->memory = from;
    table->starts = sparse ? 1 : IDS_STARTS - 1;
}

static inline size_t ids_start(const ids *table, uintptr_t address) {
    return address >> (IDS_GRAIN_BITS - IDS_START_BITS) & table->starts;
}

/* Returns the place of an address's low bits; NULL: there is no table for it yet. */
static inline uint32_t *ids_place(const ids *table, uintptr_t address) {
    const uintptr_t top = address >> IDS_NODE_AT;
    if (__builtin_expect(top >= 1 << IDS_TOP_BITS, 0))
        return NULL;
    const struct ids_node *node = atomic_load_explicit(&table->nodes[top], memory_order_acquire);
    if (__builtin_expect(!node, 0))
        return NULL;
    struct ids_leaf *leaf =
        atomic_load_explicit(&node->leaves[ids_start(table, address)]
                                          [address >> IDS_LEAF_AT & ((1 << IDS_NODE_BITS) - 1)],
                             memory_order_acquire);
    if (__builtin_expect(!leaf, 0))
        return NULL;
    return &leaf->low[address >> IDS_GRAIN_BITS & ((1 << IDS_LEAF_BITS) - 1)];
}

/* Removes the entry of an address and returns it: an id + 1, or 0 if there was none. */
static inline uint64_t ids_take(ids *table, uintptr_t address) {
    uint32_t *place = ids_place(table, address);
    if (!place)
        return 0;
    if (__builtin_expect(atomic_load_explicit(&table->wide, memory_order_relaxed), 0))
        return ids_take_wide(table, address);
    const uint64_t found = *place;
    if (found) /* an entry that is not written to need not be written back to memory */
        *place = 0;
    return found;
}

/* Puts an id at an address. `place` is an earlier result of ids_place for that address. Sets
 * *before to the replaced entry: an id + 1, or 0. Returns false if there is no memory. */
static inline bool ids_put_at(ids *table, uint32_t *place, uintptr_t address, uint64_t id,
                              uint64_t *before) {
    if (__builtin_expect(!place || id >= UINT32_MAX ||
                             atomic_load_explicit(&table->wide, memory_order_relaxed),
                         0))
        return ids_put_slow(table, address, id, before);
    cpu_touch_to_write(place);
    *before = *place;
    *place = (uint32_t)(id + 1);
    return true;
}

#endif
