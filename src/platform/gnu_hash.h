/* gnu_hash.h: the hash function of DT_GNU_HASH (Bernstein's, times 33). */
#ifndef PLATFORM_GNU_HASH_H
#define PLATFORM_GNU_HASH_H

#include <stdint.h>

static inline uint32_t gnu_hash(const char *name) {
    enum { FIRST = 5381, FACTOR = 33 };
    uint32_t hash = FIRST;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        hash = hash * FACTOR + *at;
    return hash;
}

#endif
