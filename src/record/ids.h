/* ids.h: the ids of live blocks by address, where every block has one: at a place that follows from
 * the address alone, so that neither hashing nor a lock is needed. Whoever allocates or frees a
 * block is alone with its address, so any thread may call. Costs a quarter of the heap at most, an
 * eighth where the allocator is known to be glibc's. */
#ifndef RECORD_IDS_H
#define RECORD_IDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/cpu.h"
#include "record/memory.h"

/* A block's place: by its address's bits from the top, entry of `nodes`, entry of a node, and entry
 * of a leaf, where every 32 bytes of memory have one, since hardly any block is smaller. Blocks
 * that start elsewhere in them have leaves of their own: a run of small blocks, whose starts mostly
 * are that far apart, touches half the memory that it would by entries for every 16. If no two
 * starts are closer, all can share a leaf, but for those that are no multiples of 16. */
enum {
    IDS_GRAIN_BITS = 5,
    IDS_START_BITS = 2, /* blocks start at every 8 bytes of a grain at most */
    IDS_STARTS = 1 << IDS_START_BITS,
    IDS_LEAF_BITS = 16, /* entries */
    IDS_NODE_BITS = 13,
    IDS_TOP_BITS = 13,
    IDS_LEAF_AT = IDS_GRAIN_BITS + IDS_LEAF_BITS,
    IDS_NODE_AT = IDS_LEAF_AT + IDS_NODE_BITS,
    IDS_ADDRESS_BITS = IDS_NODE_AT + IDS_TOP_BITS
};

/* The low 32 bits of ids + 1; 0: no block. */
struct ids_leaf {
    uint32_t low[1 << IDS_LEAF_BITS];
};

/* The 8 bits above them, which few recordings need. */
struct ids_high {
    uint8_t high[1 << IDS_LEAF_BITS];
};

struct ids_node {
    _Atomic(struct ids_leaf *) leaves[IDS_STARTS][1 << IDS_NODE_BITS]; /* by the start in a grain */
    _Atomic(struct ids_high *) highs[IDS_STARTS][1 << IDS_NODE_BITS];
};

#define IDS_MAX ((UINT64_C(1) << 40) - 2)

typedef struct ids {
    memory *memory;
    size_t starts; /* a mask: of the places in a grain, in steps of 8 bytes, which are told apart */
    _Atomic bool wide; /* some id has more than 32 bits */
    _Atomic(struct ids_node *) nodes[1 << IDS_TOP_BITS];
} ids;

/* Forgets all ids, and gives back the memory that they took. Others may be at it. */
void ids_forget(ids *table);

/* Puts an id, or 0, where that takes memory, or more than 32 bits. */
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

/* Where the low bits of what stands at an address are; NULL if there is no place yet. */
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

/* Takes away what stands at an address: an id + 1; 0 if there is none. */
static inline uint64_t ids_take(ids *table, uintptr_t address) {
    uint32_t *place = ids_place(table, address);
    if (!place)
        return 0;
    if (__builtin_expect(atomic_load_explicit(&table->wide, memory_order_relaxed), 0))
        return ids_take_wide(table, address);
    const uint64_t found = *place;
    if (found) /* else what is not written to need not be written back */
        *place = 0;
    return found;
}

/* Puts an id at an address, whose place is that of ids_place some time ago. Gives what stood there:
 * an id + 1, or 0. False if there is no room. */
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
