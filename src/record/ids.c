/* ids.c: the rare cases: tables that are made when an address is first used, by whichever thread
 * comes first; ids of more than 32 bits, whose high parts are in separate tables; and forgetting
 * all ids. */
#include "record/ids.h"

#include "platform/pages.h"

/* Memory of this size is a mapping of its own, and so is zeroed. */
enum { LEAST_MAPPING = (1 << MEMORY_MAX_SHIFT) + 1 };

static void *ids_new(ids *table, size_t size) {
    return memory_alloc(table->memory, size < LEAST_MAPPING ? LEAST_MAPPING : size);
}

static void ids_drop(ids *table, void *made, size_t size) {
    memory_free(table->memory, made, size < LEAST_MAPPING ? LEAST_MAPPING : size);
}

/* Returns the table at `place`, and makes it if there is none. Several threads may do this at
 * once. */
#define IDS_MADE(table, place)                                                                     \
    ({                                                                                             \
        __typeof__(atomic_load(place)) there_ = atomic_load_explicit(place, memory_order_acquire); \
        __typeof__(there_) made_ = there_ ? NULL : ids_new(table, sizeof *made_);                  \
        if (!there_ && made_ && !atomic_compare_exchange_strong(place, &there_, made_))            \
            ids_drop(table, made_, sizeof *made_);                                                 \
        else if (!there_)                                                                          \
            there_ = made_;                                                                        \
        there_;                                                                                    \
    })

static size_t leaf_index(uintptr_t address) {
    return address >> IDS_LEAF_AT & ((1 << IDS_NODE_BITS) - 1);
}

static size_t entry_index(uintptr_t address) {
    return address >> IDS_GRAIN_BITS & ((1 << IDS_LEAF_BITS) - 1);
}

uint64_t ids_take_wide(ids *table, uintptr_t address) {
    struct ids_node *node = atomic_load(&table->nodes[address >> IDS_NODE_AT]);
    struct ids_high *high =
        atomic_load(&node->highs[ids_start(table, address)][leaf_index(address)]);
    uint32_t *low = ids_place(table, address);
    uint64_t found = *low;
    *low = 0;
    if (high) {
        found |= (uint64_t)high->high[entry_index(address)] << 32;
        high->high[entry_index(address)] = 0;
    }
    return found;
}

bool ids_put_slow(ids *table, uintptr_t address, uint64_t id, uint64_t *before) {
    struct ids_node *node;
    struct ids_high *high = NULL;
    struct ids_leaf *leaf;
    *before = 0;
    if (address >> IDS_ADDRESS_BITS || id > IDS_MAX ||
        !(node = IDS_MADE(table, &table->nodes[address >> IDS_NODE_AT])) ||
        !(leaf = IDS_MADE(table, &node->leaves[ids_start(table, address)][leaf_index(address)])))
        return false;
    if (id >= UINT32_MAX) {
        if (!(high = IDS_MADE(table, &node->highs[ids_start(table, address)][leaf_index(address)])))
            return false;
        atomic_store(&table->wide, true);
    }
    *before = ids_take(table, address);
    leaf->low[entry_index(address)] = (uint32_t)(id + 1);
    if (high)
        high->high[entry_index(address)] = (uint8_t)((id + 1) >> 32);
    return true;
}

/* Clears the whole pages of a table, which are nearly all of it. */
static void clear(void *piece, size_t size) {
    const uintptr_t unit = pages_unit(), end = ((uintptr_t)piece + size) & -unit;
    const uintptr_t begin = ((uintptr_t)piece + unit - 1) & -unit;
    if (piece && begin < end)
        pages_clear((void *)begin, end - begin);
}

static void forget_node(struct ids_node *node) {
    for (size_t start = 0; start < IDS_STARTS; start++)
        for (size_t i = 0; i < 1 << IDS_NODE_BITS; i++) {
            clear(atomic_load(&node->leaves[start][i]), sizeof(struct ids_leaf));
            clear(atomic_load(&node->highs[start][i]), sizeof(struct ids_high));
        }
}

void ids_forget(ids *table) {
    for (size_t i = 0; i < 1 << IDS_TOP_BITS; i++) {
        struct ids_node *node = atomic_load(&table->nodes[i]);
        if (node)
            forget_node(node);
    }
}
