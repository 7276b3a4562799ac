/* backtrace.c: see backtrace.h. */
#include "trace/backtrace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/bytes.h"

enum { MOST_FRAMES_A_CODEWORD = 1 + FORMAT_MAX_RUN };

static bool backtrace_grow(backtrace *b) {
    uint32_t capacity = b->capacity ? b->capacity * 2 : 2 * MOST_FRAMES_A_CODEWORD;
    uint32_t *frames = realloc(b->frames, capacity * sizeof *frames);
    if (!frames)
        return false;
    b->frames = frames;
    b->capacity = capacity;
    return true;
}

static bool backtrace_ready(backtrace *b) {
    if (!b->buckets)
        b->buckets = calloc(FORMAT_BUCKETS, sizeof *b->buckets);
    return b->buckets != NULL;
}

/* Decodes behind `at` frames, and says in `*n_out` how many there are then. With `check`, notes in
 * `*first_stale` the first of them that a loss may have made wrong. */
static inline __attribute__((always_inline)) backtrace_result
decode(backtrace *b, frame_table *table, const uint8_t **cursor, const uint8_t *end, uint32_t n,
       uint32_t at, uint32_t *n_out, bool check, uint32_t *first_stale) {
    backtrace_bucket *buckets = b->buckets;
    const uint8_t *p = *cursor;
    uint32_t *out = b->frames + at, *out_limit = b->frames + b->capacity - MOST_FRAMES_A_CODEWORD;
    uint32_t pred = 0, unset = 0;
    const uint8_t loss = b->loss;

    if (b->capacity == 0)
        out_limit = NULL;
    for (; n > 0; n--) {
        if (__builtin_expect(out_limit == NULL || out > out_limit, 0)) {
            uint32_t used = b->frames ? (uint32_t)(out - b->frames) : 0;
            if (used > BACKTRACE_MAX)
                return BACKTRACE_TOO_DEEP;
            if (!backtrace_grow(b))
                return BACKTRACE_NOMEM;
            out = b->frames + used;
            out_limit = b->frames + b->capacity - MOST_FRAMES_A_CODEWORD;
        }
        uint32_t word = load_u16(p), bucket = word >> FORMAT_TAG_BITS,
                 tag = word & ((1u << FORMAT_TAG_BITS) - 1);
        p += FORMAT_CODEWORD_SIZE;
        buckets[pred].prediction = (uint16_t)bucket;
        if (check)
            buckets[pred].prediction_loss = loss;
        pred = bucket;
        if (__builtin_expect(tag == FORMAT_TAG_MISS, 0)) {
            uint64_t code = load_u64(p);
            p += sizeof code;
            if (p > end)
                return BACKTRACE_OVERRUN;
            uint32_t frame = frame_table_index(table, code);
            if (frame == FRAME_NONE)
                return BACKTRACE_NOMEM;
            buckets[bucket].frame = frame + 1;
            if (check)
                buckets[bucket].frame_loss = loss;
            *out++ = frame;
            continue;
        }
        uint32_t run = tag == FORMAT_TAG_HIT_N ? *p++ : tag;
        if (__builtin_expect(p > end, 0))
            return BACKTRACE_OVERRUN;
        for (;;) {
            const backtrace_bucket *hit = &buckets[pred];
            if (check && hit->frame_loss != loss && *first_stale == UINT32_MAX)
                *first_stale = (uint32_t)(out - b->frames);
            unset |= hit->frame == 0;
            *out++ = hit->frame - 1;
            if (run-- == 0)
                break;
            if (check && hit->prediction_loss != loss && *first_stale == UINT32_MAX)
                *first_stale = (uint32_t)(out - b->frames);
            pred = hit->prediction;
        }
    }
    *cursor = p;
    *n_out = b->frames ? (uint32_t)(out - b->frames) : 0;
    if (__builtin_expect(unset, 0)) {
        uint32_t zero = frame_table_index(table, 0);
        if (zero == FRAME_NONE)
            return BACKTRACE_NOMEM;
        for (uint32_t i = at; i < *n_out; i++)
            if (b->frames[i] == UINT32_MAX)
                b->frames[i] = zero;
    }
    return BACKTRACE_GOOD;
}

static void backtrace_shorten(backtrace *b, uint32_t n) {
    b->n_frames = n;
    if (b->kept > n)
        b->kept = n;
}

backtrace_result backtrace_decode(backtrace *b, frame_table *frames, const uint8_t **p,
                                  const uint8_t *end, uint32_t n, uint64_t prefix) {
    if (!backtrace_ready(b))
        return BACKTRACE_NOMEM;
    bool was_cut = prefix > b->n_frames;
    uint32_t at = was_cut ? b->n_frames : (uint32_t)prefix, n_out = at, stale = UINT32_MAX;
    backtrace_result result = b->loss ? decode(b, frames, p, end, n, at, &n_out, true, &stale)
                                      : decode(b, frames, p, end, n, at, &n_out, false, &stale);
    if (was_cut)
        return result;
    backtrace_shorten(b, at);
    if (result != BACKTRACE_GOOD)
        return result;
    b->n_frames = n_out;
    if (at <= b->trusted)
        b->trusted = stale;
    return BACKTRACE_GOOD;
}

const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n) {
    static const uint8_t size[] = {[FORMAT_TAG_HIT] = 0,
                                   [FORMAT_TAG_HIT_1] = 0,
                                   [FORMAT_TAG_HIT_N] = 1,
                                   [FORMAT_TAG_MISS] = 8};
    for (; n > 0 && p <= end; n--)
        p += FORMAT_CODEWORD_SIZE + size[load_u16(p) & ((1u << FORMAT_TAG_BITS) - 1)];
    return p <= end ? p : NULL;
}

void backtrace_lose(backtrace *b) {
    b->trusted = 0;
    if (b->loss == UINT8_MAX) { /* the number wraps: all that there is becomes stale number 0 */
        for (uint32_t i = 0; b->buckets && i < FORMAT_BUCKETS; i++)
            b->buckets[i].frame_loss = b->buckets[i].prediction_loss = 0;
        b->loss = 0;
    }
    b->loss++;
}

bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code) {
    if (bucket >= FORMAT_BUCKETS || !backtrace_ready(b))
        return true;
    backtrace_bucket *k = &b->buckets[bucket];
    uint64_t have = k->frame ? frames->frames.items[k->frame - 1].code : 0;
    if (have == code && k->prediction == prediction) {
        k->frame_loss = k->prediction_loss = b->loss;
        return true;
    }
    if (k->frame_loss == b->loss && k->prediction_loss == b->loss)
        return false;
    uint32_t frame = code ? frame_table_index(frames, code) : FRAME_NONE;
    *k = (backtrace_bucket){.frame = frame + 1,
                            .prediction = prediction,
                            .frame_loss = b->loss,
                            .prediction_loss = b->loss};
    return true;
}

void backtrace_free(backtrace *b) {
    free(b->buckets);
    free(b->frames);
}
