/* writer_cache.h: the writer's side of the cache that shortens backtraces.
 *
 * Writer and reader keep the same FORMAT_BUCKETS buckets. A frame whose code is in a bucket is
 * written as the bucket's number. Each bucket also predicts the bucket that will follow, namely the
 * one that followed it last time. While predictions are right, a single codeword stands for a whole
 * run of frames.
 *
 * The writer chooses the bucket of a code: the less recently used of two candidates, among the
 * first buckets as long as these suffice, so that a stream with few call sites touches little
 * memory. The cache must not change without the reader knowing, so whatever was encoded must be
 * written. */
#ifndef TRACE_WRITER_CACHE_H
#define TRACE_WRITER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inline.h"
#include "trace/format.h"
#include "trace/writer_put.h"

typedef struct cache_bucket {
    uint64_t code;
    uint32_t date;       /* the cache's clock at the last use; 0: never (the code is then 0) */
    uint16_t prediction; /* number of a bucket */
} cache_bucket;

/* Buckets are initialized in groups. */
enum {
    CACHE_GROUPS = 64,
    CACHE_GROUP = FORMAT_BUCKETS / CACHE_GROUPS,
    CACHE_FIRST_BITS = 11, /* log2 of the number used at first */
    CACHE_ALL_BITS = 14,
};
_Static_assert(1 << CACHE_ALL_BITS == FORMAT_BUCKETS, "all buckets");

typedef struct writer_cache {
    /* Bit g: group g is initialized; other groups have undefined content and count as zero. */
    uint64_t ready;
    uint32_t clock;    /* counts lookups, for the dates; a wrap only worsens replacement a bit */
    uint32_t replaced; /* codes replaced since the number of buckets grew */
    unsigned shift;    /* 64 - log2 of the number of buckets in use */
    cache_bucket buckets[FORMAT_BUCKETS];
} writer_cache;

enum { CACHE_MAX_FRAME = FORMAT_CODEWORD_SIZE + 8 }; /* the largest size of a frame, bytes */

typedef struct cache_tally {
    size_t codewords;
    size_t misses;
} cache_tally;

void cache_init(writer_cache *cache);

/* Returns the code of the first miss in the encoded bytes at `*p`, and moves past it. There must be
 * one. */
uint64_t cache_next_miss(const uint8_t **p);

/* Returns a bucket as both sides know it. */
cache_bucket cache_peek(const writer_cache *cache, unsigned bucket);

/* ---- inline: on the path of every allocation ----------------------------------------------- */

static inline bool cache_is_ready(const writer_cache *cache, unsigned bucket) {
    return cache->ready >> (bucket / CACHE_GROUP) & 1;
}

static inline bool cache_holds(const cache_bucket *bucket, uint64_t code) {
    return bucket->code == code && bucket->date != 0;
}

/* Like cache_holds. `nonzero`: the code is known not to be 0. */
static ALWAYS_INLINE bool cache_holds_this(const cache_bucket *bucket, uint64_t code,
                                           bool nonzero) {
    return nonzero ? bucket->code == code : cache_holds(bucket, code);
}

static inline uint64_t cache_hash(uint64_t code) {
    return code * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
}

static inline unsigned cache_first_choice(const writer_cache *cache, uint64_t code) {
    return (unsigned)(cache_hash(code) >> cache->shift);
}

static inline unsigned cache_second_choice(const writer_cache *cache, uint64_t code) {
    return (unsigned)(cache_hash(code) << CACHE_ALL_BITS >> cache->shift);
}

/* Returns the bucket for a code that is not in its first choice: the one that holds it, or the one
 * to be replaced. */
unsigned cache_choose_again(writer_cache *cache, uint64_t code);

static inline uint8_t *cache_put_hit(uint8_t *p, unsigned bucket, size_t run) {
    const bool many = run >= FORMAT_TAG_HIT_N;
    const unsigned tag = many ? FORMAT_TAG_HIT_N : (unsigned)run;
    p = put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | tag));
    *p = (uint8_t)run; /* only counts if there are many */
    return p + many;
}

static inline uint8_t *cache_put_miss(uint8_t *p, unsigned bucket, uint64_t code) {
    return put_u64(put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | FORMAT_TAG_MISS)), code);
}

/* Follows the predictions for as long as they match the frames. Returns the first frame that does
 * not match. `nonzero`: no code is 0. */
static ALWAYS_INLINE const uint64_t *cache_follow(cache_bucket *buckets, cache_bucket **last,
                                                  uint32_t clock, const uint64_t *frames,
                                                  const uint64_t *stop, bool nonzero) {
    for (; frames < stop; frames++) {
        cache_bucket *bucket = &buckets[(*last)->prediction];
        if (!cache_holds_this(bucket, *frames, nonzero))
            break;
        bucket->date = clock;
        *last = bucket;
    }
    return frames;
}

/* Encodes frames, outermost first, at `p`; `last` is the bucket of the frame before. Returns the
 * position after the last codeword, or NULL if `end` may be too close: the cache has changed then
 * and must be restored. Without `end`, there is room for everything. */
static ALWAYS_INLINE uint8_t *cache_encode(writer_cache *cache, cache_bucket *last,
                                           const uint64_t *frames, size_t n, uint8_t *p,
                                           const uint8_t *end, cache_tally *tally) {
    cache_bucket *const buckets = cache->buckets;
    const uint64_t *const stop = n ? frames + n : frames; /* adding to NULL is undefined */
    const bool fits = !end || (size_t)(end - p) >= n * CACHE_MAX_FRAME;
    uint32_t clock = cache->clock;
    cache_tally t = {0};
    for (; frames < stop; t.codewords++) {
        if (__builtin_expect(!fits, 0) && end - p < CACHE_MAX_FRAME) {
            p = NULL;
            break;
        }
        const uint64_t code = *frames++;
        unsigned number = cache_first_choice(cache, code);
        cache_bucket *bucket = &buckets[number];
        bool hit = cache_is_ready(cache, number) && cache_holds(bucket, code);
        if (__builtin_expect(!hit, 0)) {
            number = cache_choose_again(cache, code);
            bucket = &buckets[number];
            hit = cache_holds(bucket, code);
        }
        last->prediction = (uint16_t)number;
        last = bucket;
        bucket->date = ++clock;
        if (__builtin_expect(!hit, 0)) {
            bucket->code = code;
            p = cache_put_miss(p, number, code);
            t.misses++;
            continue;
        }
        const uint64_t *const first = frames;
        const uint64_t *const most = stop - first < FORMAT_MAX_RUN ? stop : first + FORMAT_MAX_RUN;
        frames = cache_follow(buckets, &last, clock, first, most, false);
        p = cache_put_hit(p, number, (size_t)(frames - first));
    }
    cache->clock = clock;
    *tally = t;
    return p;
}

/* Prefetches the buckets of all frames, since following predictions waits for one at a time. */
static inline void cache_prefetch(const writer_cache *cache, const uint64_t *frames,
                                  const uint64_t *stop) {
    for (; frames < stop; frames++)
        __builtin_prefetch(&cache->buckets[cache_first_choice(cache, *frames)]);
}

/* The state of an encoding in progress. */
typedef struct cache_cursor {
    const uint64_t *frames, *stop; /* frames left */
    cache_bucket *last;            /* bucket of the frame before */
    uint8_t *p;                    /* has room for all frames left */
    size_t codewords;
} cache_cursor;

/* Encodes at most FORMAT_MAX_RUN frames, up to the first that the cache does not hold. Calls no
 * functions, so that the common case runs in registers. */
static ALWAYS_INLINE cache_cursor cache_encode_held(writer_cache *cache, cache_cursor c,
                                                    bool nonzero) {
    cache_bucket *const buckets = cache->buckets;
    uint32_t clock = cache->clock;
    for (; c.frames < c.stop; c.codewords++) {
        const uint64_t code = *c.frames;
        unsigned number = cache_first_choice(cache, code);
        cache_bucket *bucket = &buckets[number];
        if (__builtin_expect(
                !cache_is_ready(cache, number) || !cache_holds_this(bucket, code, nonzero), 0)) {
            number = cache_second_choice(cache, code);
            bucket = &buckets[number];
            if (!cache_is_ready(cache, number) || !cache_holds(bucket, code))
                break;
        }
        c.last->prediction = (uint16_t)number;
        c.last = bucket;
        bucket->date = ++clock;
        const uint64_t *const first = c.frames + 1;
        c.frames = cache_follow(buckets, &c.last, clock, first, c.stop, nonzero);
        c.p = cache_put_hit(c.p, number, (size_t)(c.frames - first));
    }
    cache->clock = clock;
    return c;
}

#endif
