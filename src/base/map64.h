/* map64.h: a hash map from 64-bit keys to 32-bit values, for dense numbering of things.
 *
 * Open addressing, linear probing, at most three quarters full. Single-threaded. No removal. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP64_NONE UINT32_MAX /* no value may be this */

typedef struct map64_slot {
    uint64_t key;
    uint32_t value; /* MAP64_NONE: the slot is empty */
} map64_slot;

/* Legal when zeroed. */
typedef struct map64 {
    map64_slot *slots;
    uint32_t mask; /* number of slots - 1; meaningless while slots is NULL */
    uint32_t count;
} map64;

/* The value of `key`, or MAP64_NONE. */
uint32_t map64_get(const map64 *map, uint64_t key);

/* The place of the value of `key`, which is MAP64_NONE if the key is new: the caller must then
 * store one before the next call. NULL when there is no memory. */
uint32_t *map64_put(map64 *map, uint64_t key);

/* It will be asked for soon: of many keys, the slots are waited for at the same time. */
void map64_expect(const map64 *map, uint64_t key);

/* The number of `key`: new keys of a map that holds nothing else get 0, 1, 2 … False when there is
 * no memory. */
bool map64_number(map64 *map, uint64_t key, uint32_t *n);

void map64_free(map64 *map);

#endif
