/* writer_cache.c: the rare cases: the start, the first use of a group, and choosing a bucket. The
 * rest is inline in the header. */
#include "trace/writer_cache.h"

#include <string.h>

static void make_ready(writer_cache *cache, unsigned bucket) {
    unsigned group = bucket / CACHE_GROUP;
    memset(&cache->buckets[group * CACHE_GROUP], 0, CACHE_GROUP * sizeof(cache_bucket));
    cache->ready |= UINT64_C(1) << group;
}

/* Bucket 0 is initialized at the start, because it is the first prediction of every bucket. So
 * every bucket that a prediction can reach is initialized. */
void cache_init(writer_cache *cache) {
    cache->ready = 0;
    cache->clock = cache->replaced = 0;
    cache->shift = 64 - CACHE_FIRST_BITS;
    make_ready(cache, 0);
}

static cache_bucket *bucket_ready(writer_cache *cache, unsigned number) {
    if (__builtin_expect(!cache_is_ready(cache, number), 0))
        make_ready(cache, number);
    return &cache->buckets[number];
}

/* Counts a code that is to be replaced, and uses more buckets after many. Codes whose buckets
 * change by that are written again, once. */
static void note_replaced(writer_cache *cache) {
    enum { TIMES_MORE_LOG2 = 3 };
    const unsigned bits = 64 - cache->shift;
    if (++cache->replaced >> (bits - 1) && bits < CACHE_ALL_BITS) {
        cache->replaced = 0;
        cache->shift -= TIMES_MORE_LOG2;
    }
}

/* A group that is not initialized holds no code, and need not be initialized to find that out. */
unsigned cache_choose_again(writer_cache *cache, uint64_t code) {
    const unsigned first = cache_first_choice(cache, code);
    const unsigned second = cache_second_choice(cache, code);
    if (!cache_is_ready(cache, second) && bucket_ready(cache, first)->date == 0)
        return first;
    const cache_bucket *a = bucket_ready(cache, first), *b = bucket_ready(cache, second);
    if (cache_holds(b, code))
        return second;
    if (a->date && b->date)
        note_replaced(cache);
    return a->date <= b->date ? first : second;
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
    return cache_is_ready(cache, bucket) ? cache->buckets[bucket] : (cache_bucket){0};
}
