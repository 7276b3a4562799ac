/* backtrace.c: see backtrace.h. */
#include "trace/backtrace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/bytes.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Indices stay below 2^31, so that one bit of their union tells whether FRAME_NONE is among them.
 */

enum { MOST_FRAMES_A_CODEWORD = 1 + FORMAT_MAX_RUN };

/* Where decoded frames go: always with room for what one codeword can add. */
typedef struct decoder {
    backtrace *b;
    frame_table *table;
    const uint8_t *p, *end;
    uint32_t *out, *out_limit; /* beyond the limit there may be too little room */
    uint32_t first_stale;      /* of the decoded frames, the first that a loss may have spoilt */
} decoder;

static void decoder_place(decoder *d, uint32_t used) {
    d->out = d->b->frames + used;
    d->out_limit = d->b->frames + d->b->capacity - MOST_FRAMES_A_CODEWORD;
}

static __attribute__((cold)) backtrace_result decoder_grow(decoder *d) {
    backtrace *b = d->b;
    uint32_t used = (uint32_t)(d->out - b->frames);
    if (used > BACKTRACE_MAX)
        return BACKTRACE_TOO_DEEP;
    uint32_t *frames = realloc(b->frames, 2 * b->capacity * sizeof *frames);
    if (!frames)
        return BACKTRACE_NOMEM;
    b->frames = frames;
    b->capacity *= 2;
    decoder_place(d, used);
    return BACKTRACE_GOOD;
}

static bool backtrace_ready(backtrace *b) {
    if (b->cache)
        return true;
    uint32_t capacity = 2 * MOST_FRAMES_A_CODEWORD;
    b->cache = calloc(1, sizeof *b->cache);
    if (b->cache)
        memset(b->cache->frame, 0xFF, sizeof b->cache->frame); /* FRAME_NONE */
    b->frames = malloc(capacity * sizeof *b->frames);
    b->capacity = capacity;
    return b->cache && b->frames;
}

static void note_stale(decoder *d, uint8_t written, const uint32_t *out) {
    if (written != d->b->loss && d->first_stale == UINT32_MAX)
        d->first_stale = (uint32_t)(out - d->b->frames);
}

static __attribute__((cold, noinline)) bool decoder_miss(decoder *d, uint32_t bucket,
                                                         uint64_t code) {
    uint32_t frame = frame_table_index(d->table, code);
    d->b->cache->frame[bucket] = frame;
    d->b->cache->frame_loss[bucket] = d->b->loss;
    *d->out++ = frame;
    return frame != FRAME_NONE;
}

/* Decodes `n` codewords. After a loss (`check`) it also keeps account of what is stale. */
static inline __attribute__((always_inline)) backtrace_result decoder_run(decoder *d, uint32_t n,
                                                                          bool check) {
    backtrace_cache *cache = d->b->cache;
    const uint8_t *p = d->p, *const end = d->end;
    uint32_t pred = 0, any = 0;
    for (; n > 0; n--) {
        uint32_t word = load_u16(p), bucket = word >> FORMAT_TAG_BITS, run = word & 3;
        p += FORMAT_CODEWORD_SIZE;
        if (unlikely(d->out > d->out_limit)) {
            backtrace_result result = decoder_grow(d);
            if (result != BACKTRACE_GOOD)
                return result;
        }
        cache->prediction[pred] = (uint16_t)bucket;
        if (check)
            cache->prediction_loss[pred] = d->b->loss;
        pred = bucket;
        if (run >= FORMAT_TAG_HIT_N) {
            if (unlikely(run == FORMAT_TAG_MISS)) {
                p += sizeof(uint64_t);
                if (p > end)
                    return BACKTRACE_OVERRUN;
                if (!decoder_miss(d, bucket, load_u64(p - sizeof(uint64_t))))
                    return BACKTRACE_NOMEM;
                continue;
            }
            run = *p++;
        }
        if (unlikely(p > end))
            return BACKTRACE_OVERRUN;
        uint32_t *out = d->out;
        d->out += 1 + run;
        for (;; pred = cache->prediction[pred]) {
            uint32_t frame = cache->frame[pred];
            if (check)
                note_stale(d, cache->frame_loss[pred], out);
            any |= frame;
            *out++ = frame;
            if (run-- == 0)
                break;
            if (check)
                note_stale(d, cache->prediction_loss[pred], out);
        }
    }
    d->p = p;
    return any >> 31 ? BACKTRACE_UNSET : BACKTRACE_GOOD;
}

/* Gives the frames behind `at` that came from buckets never written the index of code 0. */
static __attribute__((cold)) backtrace_result decoder_fill_unset(decoder *d, uint32_t at) {
    uint32_t zero = frame_table_index(d->table, 0);
    for (uint32_t *f = d->b->frames + at; f < d->out; f++)
        if (*f == FRAME_NONE)
            *f = zero;
    return zero == FRAME_NONE ? BACKTRACE_NOMEM : BACKTRACE_UNSET;
}

static void backtrace_shorten(backtrace *b, uint32_t n) {
    b->n_frames = n;
    if (b->kept > n)
        b->kept = n;
}

backtrace_result backtrace_decode(backtrace *b, frame_table *frames, const uint8_t **p,
                                  const uint8_t *end, uint32_t n, uint64_t prefix) {
    if (unlikely(!backtrace_ready(b)))
        return BACKTRACE_NOMEM;
    bool was_cut = prefix > b->n_frames;
    uint32_t at = was_cut ? b->n_frames : (uint32_t)prefix;
    decoder d = {.b = b, .table = frames, .p = *p, .end = end, .first_stale = UINT32_MAX};
    decoder_place(&d, at);
    backtrace_result result = b->loss ? decoder_run(&d, n, true) : decoder_run(&d, n, false);
    if (unlikely(result == BACKTRACE_UNSET))
        result = decoder_fill_unset(&d, at);
    *p = d.p;
    if (was_cut)
        return result;
    backtrace_shorten(b, at);
    if (result > BACKTRACE_UNSET)
        return result;
    b->n_frames = (uint32_t)(d.out - b->frames);
    if (at <= b->trusted)
        b->trusted = d.first_stale;
    return result;
}

const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n) {
    static const uint8_t size[] = {[FORMAT_TAG_HIT] = 0,
                                   [FORMAT_TAG_HIT_1] = 0,
                                   [FORMAT_TAG_HIT_N] = 1,
                                   [FORMAT_TAG_MISS] = sizeof(uint64_t)};
    for (; n > 0 && p <= end; n--)
        p += FORMAT_CODEWORD_SIZE + size[load_u16(p) & ((1u << FORMAT_TAG_BITS) - 1)];
    return p <= end ? p : NULL;
}

void backtrace_lose(backtrace *b) {
    b->trusted = 0;
    if (b->loss == UINT8_MAX) { /* the number wraps: all that there is becomes stale number 0 */
        if (b->cache) {
            memset(b->cache->frame_loss, 0, sizeof b->cache->frame_loss);
            memset(b->cache->prediction_loss, 0, sizeof b->cache->prediction_loss);
        }
        b->loss = 0;
    }
    b->loss++;
}

bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code) {
    if (bucket >= FORMAT_BUCKETS || !backtrace_ready(b))
        return true;
    backtrace_cache *c = b->cache;
    uint64_t have =
        c->frame[bucket] != FRAME_NONE ? frames->frames.items[c->frame[bucket]].code : 0;
    bool good = have == code && c->prediction[bucket] == prediction;
    if (!good && c->frame_loss[bucket] == b->loss && c->prediction_loss[bucket] == b->loss)
        return false;
    if (!good) {
        c->frame[bucket] = code ? frame_table_index(frames, code) : FRAME_NONE;
        c->prediction[bucket] = prediction % FORMAT_BUCKETS;
    }
    c->frame_loss[bucket] = c->prediction_loss[bucket] = b->loss;
    return true;
}

void backtrace_free(backtrace *b) {
    free(b->cache);
    free(b->frames);
}
