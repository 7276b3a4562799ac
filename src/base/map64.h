/* map64.h: a hash map from 64-bit keys to 32-bit values, for numbering things densely.
 *
 * Open addressing with linear probing, at most three quarters full. No removal. Single-threaded. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP64_NONE UINT32_MAX /* not allowed as a value */

typedef struct map64_slot {
    uint64_t key;
    uint32_t value; /* MAP64_NONE: the slot is empty */
} map64_slot;

/* Valid when zeroed. */
typedef struct map64 {
    map64_slot *slots;
    uint32_t mask; /* number of slots - 1; undefined while slots is NULL */
    uint32_t count;
} map64;

/* Returns the value of `key`, or MAP64_NONE. */
uint32_t map64_get(const map64 *map, uint64_t key);

/* Returns the address of the value of `key`. It is MAP64_NONE if the key is new; the caller must
 * then set it before the next call. Returns NULL when there is no memory. */
uint32_t *map64_put(map64 *map, uint64_t key);

/* Prefetches the slot of `key`. With many keys, the cache misses then overlap. */
void map64_expect(const map64 *map, uint64_t key);

/* Sets the number of `key`. New keys get 0, 1, 2 …, if the map holds nothing else. Returns false
 * when there is no memory. */
bool map64_number(map64 *map, uint64_t key, uint32_t *n);

void map64_free(map64 *map);

#endif
