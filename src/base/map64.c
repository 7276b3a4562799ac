/* map64.c: the value MAP64_NONE marks an empty slot, so any key is allowed, including 0. The table
 * grows by doubling. */
#include "base/map64.h"

#include <stdlib.h>

#include "base/hash.h"

static map64_slot *find(map64_slot *slots, uint32_t mask, uint64_t key) {
    uint32_t i = (uint32_t)hash_u64(key) & mask;
    while (slots[i].value != MAP64_NONE && slots[i].key != key)
        i = (i + 1) & mask;
    return &slots[i];
}

static int grow(map64 *map) {
    size_t old = map->slots ? (size_t)map->mask + 1 : 0;
    size_t size = old ? old * 2 : 64;
    if (size > UINT32_MAX)
        return -1;
    map64_slot *slots = malloc(size * sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < size; i++)
        slots[i].value = MAP64_NONE;
    for (size_t i = 0; i < old; i++)
        if (map->slots[i].value != MAP64_NONE)
            *find(slots, (uint32_t)(size - 1), map->slots[i].key) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->mask = (uint32_t)(size - 1);
    return 0;
}

uint32_t map64_get(const map64 *map, uint64_t key) {
    return map->slots ? find(map->slots, map->mask, key)->value : MAP64_NONE;
}

uint32_t *map64_put(map64 *map, uint64_t key) {
    if ((!map->slots || map->count >= (map->mask / 4) * 3) && grow(map) != 0)
        return NULL;
    map64_slot *slot = find(map->slots, map->mask, key);
    if (slot->value == MAP64_NONE) {
        slot->key = key;
        map->count++;
    }
    return &slot->value;
}

void map64_expect(const map64 *map, uint64_t key) {
    if (map->slots)
        __builtin_prefetch(&map->slots[(uint32_t)hash_u64(key) & map->mask], 1);
}

bool map64_number(map64 *map, uint64_t key, uint32_t *n) {
    uint32_t *value = map64_put(map, key);
    if (!value)
        return false;
    if (*value == MAP64_NONE)
        *value = map->count - 1;
    *n = *value;
    return true;
}

void map64_free(map64 *map) {
    free(map->slots);
    *map = (map64){0};
}
