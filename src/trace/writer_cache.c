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

/* The number of the bucket for a code: the one that holds it, or the one to be replaced. */
static unsigned choose(writer_cache *cache, uint64_t code, bool *hit) {
    const uint64_t hash = code * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
    const unsigned first = (unsigned)(hash >> 50);
    const cache_bucket *a = bucket_ready(cache, first);
    if ((*hit = holds(a, code)))
        return first;
    const unsigned second = (unsigned)(hash >> 36) % FORMAT_BUCKETS;
    const cache_bucket *b = bucket_ready(cache, second);
    if ((*hit = holds(b, code)))
        return second;
    return a->date <= b->date ? first : second;
}

/* How many of the frames the predictions foresee, starting from bucket `*last`, which becomes the
 * last one followed. */
static size_t follow(writer_cache *cache, const uint64_t *frames, size_t n, unsigned *last) {
    size_t run = 0;
    const size_t max = n < FORMAT_MAX_RUN ? n : FORMAT_MAX_RUN;
    for (; run < max; run++) {
        const unsigned next = cache->buckets[*last].prediction;
        if (!holds(&cache->buckets[next], frames[run]))
            break;
        cache->buckets[next].date = cache->clock;
        *last = next;
    }
    return run;
}

static uint8_t *put_hit(uint8_t *p, unsigned bucket, size_t run) {
    const unsigned tag = run >= FORMAT_TAG_HIT_N ? FORMAT_TAG_HIT_N : (unsigned)run;
    p = put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | tag));
    return tag == FORMAT_TAG_HIT_N ? put_u8(p, (uint8_t)run) : p;
}

static uint8_t *put_miss(uint8_t *p, unsigned bucket, uint64_t code) {
    return put_u64(put_u16(p, (uint16_t)(bucket << FORMAT_TAG_BITS | FORMAT_TAG_MISS)), code);
}

uint8_t *cache_encode(writer_cache *cache, const uint64_t *frames, size_t n, uint8_t *p,
                      const uint8_t *end, cache_tally *tally) {
    *tally = (cache_tally){0};
    unsigned last = 0;
    for (size_t i = 0; i < n; tally->codewords++) {
        if (end - p < CACHE_MAX_FRAME)
            return NULL;
        bool hit;
        const uint64_t code = frames[i++];
        const unsigned bucket = choose(cache, code, &hit);
        cache->buckets[last].prediction = (uint16_t)bucket;
        cache->buckets[bucket].date = ++cache->clock;
        last = bucket;
        if (hit) {
            const size_t run = follow(cache, frames + i, n - i, &last);
            p = put_hit(p, bucket, run);
            i += run;
        } else {
            cache->buckets[bucket].code = code;
            p = put_miss(p, bucket, code);
            tally->misses++;
        }
    }
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
