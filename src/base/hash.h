/* hash.h: the two hash functions for tables. Neither resists an attacker who chooses the keys;
 * tables with keys from a file then stay correct, but become slow. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A bijection of 64 bits in which every output bit depends on every input bit. The multipliers are
 * those of Stafford's variant 13 of the MurmurHash3 finalizer. */
static inline uint64_t hash_u64(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size) {
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t h = UINT64_C(0xCBF29CE484222325) ^ size; /* FNV-1a's basis and prime */
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001B3);
    return hash_u64(h);
}

#endif
