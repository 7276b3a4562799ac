/* writer_cache.c: see writer_cache.h. This is the hot path of writing an allocation. */
#include "trace/writer_cache.h"

#include <string.h>

#include "trace/writer_put.h"

static bool is_ready(const writer_cache *cache, unsigned bucket) {
    return cache->ready >> (bucket / CACHE_GROUP) & 1;
}

static void make_ready(writer_cache *cache, unsigned bucket) {
    unsigned group = bucket / CACHE_GROUP;
    memset(&cache->buckets[group * CACHE_GROUP], 0, CACHE_GROUP * sizeof(cache_bucket));
    cache->ready |= UINT64_C(1) << group;
}

/* Bucket 0 is ready from the start, because it is every bucket's first prediction: thus all
 * buckets that predictions can reach are ready. */
void cache_init(writer_cache *cache) {
    cache->ready = 0;
    cache->clock = 0;
    make_ready(cache, 0);
}

static bool holds(const cache_bucket *bucket, uint64_t code) {
    return bucket->code == code && bucket->date != 0;
}

static cache_bucket *bucket_ready(writer_cache *cache, unsigned number) {
    if (__builtin_expect(!is_ready(cache, number), 0))
        make_ready(cache, number);
    return &cache->buckets[number];
}

static uint64_t code_hash(uint64_t code) {
    return code * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
}

static unsigned first_choice(uint64_t code) {
    return (unsigned)(code_hash(code) >> 50);
}

/* The number of the bucket for a code that its first choice does not hold: the one that does, or
 * the one to be replaced. */
static __attribute__((noinline)) unsigned choose_again(writer_cache *cache, uint64_t code) {
    const unsigned first = first_choice(code);
    const unsigned second = (unsigned)(code_hash(code) >> 36) % FORMAT_BUCKETS;
    const cache_bucket *a = bucket_ready(cache, first), *b = bucket_ready(cache, second);
    return !holds(b, code) && a->date <= b->date ? first : second;
}

static uint8_t *put_hit(uint8_t *p, unsigned bucket, size_t run) {
    const bool many = run >= FORMAT_TAG_HIT_N;
    const unsigned tag = many ? FORMAT_TAG_HIT_N : (unsigned)run;
    p = put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | tag));
    *p = (uint8_t)run; /* counts only if they are many */
    return p + many;
}

static uint8_t *put_miss(uint8_t *p, unsigned bucket, uint64_t code) {
    return put_u64(put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | FORMAT_TAG_MISS)), code);
}

uint8_t *cache_encode(writer_cache *cache, const uint64_t *frames, size_t n, uint8_t *p,
                      const uint8_t *end, cache_tally *tally) {
    cache_bucket *const buckets = cache->buckets, *last = buckets;
    const uint64_t *const stop = n ? frames + n : frames; /* NULL may not be added to */
    const bool fits = (size_t)(end - p) >= n * CACHE_MAX_FRAME;
    uint32_t clock = cache->clock;
    cache_tally t = {0};
    for (; frames < stop; t.codewords++) {
        if (__builtin_expect(!fits, 0) && end - p < CACHE_MAX_FRAME) {
            p = NULL;
            break;
        }
        const uint64_t code = *frames++;
        unsigned number = first_choice(code);
        cache_bucket *bucket = &buckets[number];
        bool hit = is_ready(cache, number) && holds(bucket, code);
        if (__builtin_expect(!hit, 0)) {
            number = choose_again(cache, code);
            bucket = &buckets[number];
            hit = holds(bucket, code);
        }
        last->prediction = (uint16_t)number;
        last = bucket;
        bucket->date = ++clock;
        if (__builtin_expect(!hit, 0)) {
            bucket->code = code;
            p = put_miss(p, number, code);
            t.misses++;
            continue;
        }
        /* As many of the frames as the predictions foresee. */
        const uint64_t *const first = frames;
        const uint64_t *const most = stop - first < FORMAT_MAX_RUN ? stop : first + FORMAT_MAX_RUN;
        for (; frames < most; frames++) {
            cache_bucket *next = &buckets[last->prediction];
            if (!holds(next, *frames))
                break;
            next->date = clock;
            last = next;
        }
        p = put_hit(p, number, (size_t)(frames - first));
    }
    cache->clock = clock;
    *tally = t;
    return p;
}

static unsigned get_u16(const uint8_t *p) {
    return p[0] | (unsigned)p[1] << 8;
}

uint64_t cache_next_miss(const uint8_t **p) {
    for (;;) {
        const unsigned tag = get_u16(*p) & ((1u << FORMAT_TAG_BITS) - 1);
        *p += FORMAT_CODEWORD_SIZE;
        if (tag == FORMAT_TAG_HIT_N)
            *p += 1;
        if (tag != FORMAT_TAG_MISS)
            continue;
        uint64_t code = 0;
        for (unsigned i = 0; i < 8; i++)
            code |= (uint64_t) * (*p)++ << (8 * i);
        return code;
    }
}

cache_bucket cache_peek(const writer_cache *cache, unsigned bucket) {
    return is_ready(cache, bucket) ? cache->buckets[bucket] : (cache_bucket){0};
}
