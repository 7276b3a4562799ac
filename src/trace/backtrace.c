/* backtrace.c: see backtrace.h. */
#include "trace/backtrace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/bytes.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Indices of frames stay below 2^31, so that one bit of their union tells whether FRAME_NONE is
 * among them. */

enum { NO_PAGE, NO_SLOT = 0, SLOT_OF_BUCKET_0, FIRST_CAPACITY = 32 /* frames */ };

/* ---- buckets ----------------------------------------------------------------------------- */

static inline uint32_t slot_find(const backtrace *b, uint32_t bucket) {
    return b->slot_of.items[b->page[bucket / BACKTRACE_PAGE] + bucket % BACKTRACE_PAGE];
}

static bool page_add(backtrace *b, uint16_t *page) {
    if (!vec_reserve(&b->slot_of, BACKTRACE_PAGE))
        return false;
    *page = (uint16_t)b->slot_of.count;
    memset(b->slot_of.items + *page, 0, BACKTRACE_PAGE * sizeof *b->slot_of.items);
    b->slot_of.count += BACKTRACE_PAGE;
    return true;
}

/* The slot of a bucket that has none yet, or NO_SLOT if there is no memory. */
static __attribute__((cold, noinline)) uint32_t slot_add(backtrace *b, uint32_t bucket) {
    const backtrace_slot unset = {.frame = FRAME_NONE, .prediction = SLOT_OF_BUCKET_0};
    uint16_t *page = &b->page[bucket / BACKTRACE_PAGE];
    if ((*page == NO_PAGE && !page_add(b, page)) || !vec_push(&b->slots, unset))
        return NO_SLOT;
    uint32_t slot = (uint32_t)b->slots.count - 1;
    b->slot_of.items[*page + bucket % BACKTRACE_PAGE] = (uint16_t)slot;
    return slot;
}

static uint32_t slot_of(backtrace *b, uint32_t bucket) {
    uint32_t slot = slot_find(b, bucket);
    return slot != NO_SLOT ? slot : slot_add(b, bucket);
}

static __attribute__((cold)) bool backtrace_start(backtrace *b) {
    uint16_t nobody;
    return (b->slot_of.count > 0 || page_add(b, &nobody)) &&
           (b->slots.count > 0 || vec_push(&b->slots, (backtrace_slot){0})) &&
           slot_add(b, 0) == SLOT_OF_BUCKET_0;
}

/* Whether the cache can be used. */
static bool backtrace_ready(backtrace *b) {
    return b->slots.count > SLOT_OF_BUCKET_0 || backtrace_start(b);
}

/* ---- codewords --------------------------------------------------------------------------- */

/* Makes room for `more` frames behind the first `used`. */
static __attribute__((cold, noinline)) backtrace_result backtrace_grow(backtrace *b, size_t used,
                                                                       uint32_t more) {
    if (used > BACKTRACE_MAX)
        return BACKTRACE_TOO_DEEP;
    uint32_t capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
    while (capacity - used < more)
        capacity *= 2;
    uint32_t *frames = realloc(b->frames, capacity * sizeof *frames);
    if (!frames)
        return BACKTRACE_NOMEM;
    b->frames = frames;
    b->capacity = capacity;
    return BACKTRACE_GOOD;
}

/* What is decoded, and where to. */
typedef struct decoder {
    backtrace *b;
    frame_table *table;
    const uint8_t *p, *end;
    uint32_t n_frames;    /* in b->frames, decoded ones included */
    uint32_t first_stale; /* of the decoded frames, the first that a loss may have spoilt */
} decoder;

/* Makes sure that `more` frames fit behind the first `used`. */
static inline backtrace_result backtrace_reserve(backtrace *b, size_t used, uint32_t more) {
    return b->capacity - used < more ? backtrace_grow(b, used, more) : BACKTRACE_GOOD;
}

static void note_stale(decoder *d, uint8_t written, const uint32_t *out) {
    if (written != d->b->loss && d->first_stale == UINT32_MAX)
        d->first_stale = (uint32_t)(out - d->b->frames);
}

/* Decodes `n` codewords. After a loss (`check`) it also keeps account of what is stale. Whatever
 * changes at each step is in locals, so that it is kept in registers.
 *
 * At the head of the loop there are always two bytes left for each codeword to come, and room for
 * two frames: the commonest codewords, of one frame or two, need neither look for an end nor branch
 * by their length. */
static inline __attribute__((always_inline)) backtrace_result decoder_run(decoder *d, uint32_t n,
                                                                          bool check) {
    backtrace *b = d->b;
    backtrace_slot *slots = b->slots.items;
    const uint8_t *p = d->p;
    uint32_t *out = b->frames + d->n_frames;
    uint32_t at = SLOT_OF_BUCKET_0, any = 0;
    while (n-- > 0) {
        uint32_t word = load_u16(p), tag = word & ((1u << FORMAT_TAG_BITS) - 1);
        p += FORMAT_CODEWORD_SIZE;
        uint32_t slot = slot_find(b, word >> FORMAT_TAG_BITS);
        if (unlikely(slot == NO_SLOT)) {
            if ((slot = slot_add(b, word >> FORMAT_TAG_BITS)) == NO_SLOT)
                return BACKTRACE_NOMEM;
            slots = b->slots.items;
        }
        slots[at].prediction = (uint16_t)slot;
        if (check)
            slots[at].prediction_loss = b->loss;
        at = slot;
        if (!check && tag <= FORMAT_TAG_HIT_1) {
            uint32_t next = slots[at].prediction;
            out[0] = slots[at].frame;
            out[1] = slots[next].frame;
            any |= out[0] | (out[1] & (0 - tag));
            at = tag == FORMAT_TAG_HIT_1 ? next : at;
            out += 1 + tag;
            continue;
        }
        uint32_t run = tag;
        if (tag > FORMAT_TAG_HIT_1) {
            run = tag == FORMAT_TAG_HIT_N ? *p : 0;
            p += tag == FORMAT_TAG_HIT_N ? 1 : sizeof(uint64_t);
            if (d->end - p < (ptrdiff_t)(n * FORMAT_CODEWORD_SIZE))
                return BACKTRACE_OVERRUN;
            d->n_frames = (uint32_t)(out - b->frames);
            backtrace_result result = backtrace_reserve(b, d->n_frames, 1 + run + 2 * n);
            if (unlikely(result != BACKTRACE_GOOD))
                return result;
            out = b->frames + d->n_frames;
        }
        if (unlikely(tag == FORMAT_TAG_MISS)) {
            slots[at].frame = frame_table_index(d->table, load_u64(p - sizeof(uint64_t)));
            slots[at].frame_loss = b->loss;
            if (slots[at].frame == FRAME_NONE)
                return BACKTRACE_NOMEM;
        }
        for (;; at = slots[at].prediction) {
            uint32_t frame = slots[at].frame;
            if (check)
                note_stale(d, slots[at].frame_loss, out);
            any |= frame;
            *out++ = frame;
            if (run-- == 0)
                break;
            if (check)
                note_stale(d, slots[at].prediction_loss, out);
        }
    }
    d->p = p;
    d->n_frames = (uint32_t)(out - b->frames);
    return any >> 31 ? BACKTRACE_UNSET : BACKTRACE_GOOD;
}

/* Gives the frames behind `at` that came from buckets never written the index of code 0. */
static __attribute__((cold)) backtrace_result decoder_fill_unset(decoder *d, uint32_t at) {
    uint32_t zero = frame_table_index(d->table, 0);
    for (uint32_t i = at; i < d->n_frames; i++)
        if (d->b->frames[i] == FRAME_NONE)
            d->b->frames[i] = zero;
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
    decoder d = {
        .b = b, .table = frames, .p = *p, .end = end, .n_frames = at, .first_stale = UINT32_MAX};
    backtrace_result result = BACKTRACE_OVERRUN;
    if (end - d.p >= (ptrdiff_t)(n * FORMAT_CODEWORD_SIZE))
        result = backtrace_reserve(b, at, 2 * n + 1); /* one more, so that it is never NULL */
    if (result == BACKTRACE_GOOD)
        result = b->loss ? decoder_run(&d, n, true) : decoder_run(&d, n, false);
    if (unlikely(result == BACKTRACE_UNSET))
        result = decoder_fill_unset(&d, at);
    *p = d.p;
    if (was_cut)
        return result;
    backtrace_shorten(b, at);
    if (result > BACKTRACE_UNSET)
        return result;
    b->n_frames = d.n_frames;
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

/* ---- losses ------------------------------------------------------------------------------ */

void backtrace_lose(backtrace *b) {
    b->trusted = 0;
    if (b->loss == UINT8_MAX) { /* the number wraps: all that there is becomes stale number 0 */
        for (size_t i = 0; i < b->slots.count; i++)
            b->slots.items[i].frame_loss = b->slots.items[i].prediction_loss = 0;
        b->loss = 0;
    }
    b->loss++;
}

static uint64_t slot_code(const backtrace_slot *s, const frame_table *frames) {
    return s->frame != FRAME_NONE ? frames->frames.items[s->frame].code : 0;
}

bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code) {
    if (bucket >= FORMAT_BUCKETS || !backtrace_ready(b))
        return true;
    uint32_t slot = slot_of(b, bucket), predicted = slot_of(b, prediction % FORMAT_BUCKETS);
    if (slot == NO_SLOT || predicted == NO_SLOT)
        return true;
    backtrace_slot *s = &b->slots.items[slot];
    bool good =
        slot_code(s, frames) == code && s->prediction == predicted && prediction < FORMAT_BUCKETS;
    if (!good && s->frame_loss == b->loss && s->prediction_loss == b->loss)
        return false;
    if (!good) {
        s->frame = code ? frame_table_index(frames, code) : FRAME_NONE;
        s->prediction = (uint16_t)predicted;
    }
    s->frame_loss = s->prediction_loss = b->loss;
    return true;
}

void backtrace_free(backtrace *b) {
    vec_free(&b->slot_of);
    vec_free(&b->slots);
    free(b->frames);
}
