/* writer_cache.h: the writing half of the cache that shortens backtraces.
 *
 * Both sides of a trace keep the same FORMAT_BUCKETS buckets. A frame whose code stands in a bucket
 * is written as that bucket's number; and where each bucket's prediction, the bucket that followed
 * it last time, is right again, one codeword stands for a whole run of frames. Which bucket a code
 * goes to is the writer's choice: here the less recently used of two. The encoding must never
 * change the cache without the reader being told, so what is encoded must be written. */
#ifndef TRACE_WRITER_CACHE_H
#define TRACE_WRITER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

typedef struct cache_bucket {
    uint64_t code;
    uint32_t date;       /* the cache's clock when it was last used; 0: never (code is 0 then) */
    uint16_t prediction; /* the number of a bucket */
} cache_bucket;

/* Buckets are made ready in groups, so that a stream with few call sites touches little memory. */
enum { CACHE_GROUPS = 64, CACHE_GROUP = FORMAT_BUCKETS / CACHE_GROUPS };

typedef struct writer_cache {
    uint64_t ready; /* bit g: group g is initialised; the others hold anything and count as zero */
    uint32_t clock; /* of lookups, for the dates; wrapping only makes replacement a bit worse */
    cache_bucket buckets[FORMAT_BUCKETS];
} writer_cache;

enum { CACHE_MAX_FRAME = FORMAT_CODEWORD_SIZE + 8 }; /* bytes that a frame takes at most */

typedef struct cache_tally {
    size_t codewords;
    size_t misses;
} cache_tally;

void cache_init(writer_cache *cache);

/* Encodes frames, outermost first, from `p`. Returns the place after the last codeword; or NULL if
 * there may not be room before `end`: the cache has changed then, and must be put back. */
uint8_t *cache_encode(writer_cache *cache, const uint64_t *frames, size_t n, uint8_t *p,
                      const uint8_t *end, cache_tally *tally);

/* The code of the first miss in the encoded bytes at `*p`, which moves past it. There must be one.
 */
uint64_t cache_next_miss(const uint8_t **p);

/* A bucket as both sides know it. */
cache_bucket cache_peek(const writer_cache *cache, unsigned bucket);

#endif
