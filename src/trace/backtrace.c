/* backtrace.c: the slow paths that the inline one in the header leaves out: a cache that is new or
 * had losses, codewords near the end of the bytes, and buckets used for the first time. */
#include "trace/backtrace.h"

#include <stdlib.h>
#include <string.h>

#include "trace/bytes.h"

/* Frame indices stay below 2^31, so one bit of their union tells whether FRAME_NONE is among
 * them. */

enum {
    NO_PAGE,
    NO_SLOT = BACKTRACE_NO_SLOT,
    SLOT_OF_BUCKET_0 = BACKTRACE_SLOT_OF_BUCKET_0,
    FIRST_CAPACITY = 32 /* frames */
};

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

/* Adds a slot for a bucket that has none. Returns NO_SLOT when out of memory. */
static __attribute__((cold, noinline)) uint32_t slot_add(backtrace *b, uint32_t bucket) {
    const backtrace_slot unset = {.frame = FRAME_NONE, .prediction = SLOT_OF_BUCKET_0};
    uint16_t *page = &b->page[bucket / BACKTRACE_PAGE];
    if ((*page == NO_PAGE && !page_add(b, page)) || !vec_push(&b->slots, unset))
        return NO_SLOT;
    uint32_t slot = (uint32_t)b->slots.count - 1;
    b->slot_of.items[*page + bucket % BACKTRACE_PAGE] = (uint16_t)slot;
    if (b->flat)
        b->flat[bucket] = (uint16_t)slot;
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

/* Makes the cache usable; false when out of memory. */
static bool backtrace_ready(backtrace *b) {
    return b->slots.count > SLOT_OF_BUCKET_0 || backtrace_start(b);
}

/* Makes `flat` once `more` codewords reach the threshold. Without memory, decoding goes on without
 * it. */
static void flatten(backtrace *b, uint32_t more) {
    if (b->flat || (b->n_words += more) < FORMAT_BUCKETS ||
        !(b->flat = malloc(FORMAT_BUCKETS * sizeof *b->flat)))
        return;
    for (uint32_t i = 0; i < FORMAT_BUCKETS; i++)
        b->flat[i] = (uint16_t)slot_find(b, i);
    b->room = b->loss == 0 ? b->capacity : 0;
}

/* ---- frames ------------------------------------------------------------------------------ */

/* Makes room for `more` frames after the first `used`. */
static backtrace_result backtrace_grow(backtrace *b, size_t used, uint32_t more) {
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
    b->room = b->flat && b->loss == 0 ? capacity : 0;
    return BACKTRACE_GOOD;
}

/* Makes sure that `more` frames fit after the first `used`. */
static backtrace_result backtrace_reserve(backtrace *b, size_t used, uint32_t more) {
    return b->capacity - used < more ? backtrace_grow(b, used, more) : BACKTRACE_GOOD;
}

/* ---- codewords --------------------------------------------------------------------------- */

/* The bytes that follow a codeword, by its tag. */
static const uint8_t size_after[] = {[FORMAT_TAG_HIT] = 0,
                                     [FORMAT_TAG_HIT_1] = 0,
                                     [FORMAT_TAG_HIT_N] = 1,
                                     [FORMAT_TAG_MISS] = sizeof(uint64_t)};

static void note_stale(const backtrace *b, backtrace_decoder *d, uint8_t written) {
    if (written != b->loss && d->first_stale == UINT32_MAX)
        d->first_stale = d->n_frames;
}

/* Appends the frame at `d->at` and those of `run` predictions. */
static void append_run(backtrace *b, backtrace_decoder *d, uint32_t run) {
    const backtrace_slot *slots = b->slots.items;
    for (;; d->at = slots[d->at].prediction) {
        note_stale(b, d, slots[d->at].frame_loss);
        d->any |= slots[d->at].frame;
        b->frames[d->n_frames++] = slots[d->at].frame;
        if (run-- == 0)
            return;
        note_stale(b, d, slots[d->at].prediction_loss);
    }
}

static backtrace_result slot_fill(backtrace *b, frame_table *table, uint32_t slot, uint64_t code) {
    uint32_t frame = frame_table_index(table, code);
    b->slots.items[slot].frame = frame;
    b->slots.items[slot].frame_loss = b->loss;
    return frame == FRAME_NONE ? BACKTRACE_NOMEM : BACKTRACE_GOOD;
}

static backtrace_result decode_codeword(backtrace *b, frame_table *table, backtrace_decoder *d) {
    uint32_t word = bytes_u16(d->p), tag = word & ((1u << FORMAT_TAG_BITS) - 1);
    const uint8_t *more = d->p + FORMAT_CODEWORD_SIZE;
    uint32_t slot = slot_of(b, word >> FORMAT_TAG_BITS);
    if (slot == NO_SLOT)
        return BACKTRACE_NOMEM;
    b->slots.items[d->at].prediction = (uint16_t)slot;
    b->slots.items[d->at].prediction_loss = b->loss;
    d->at = slot;
    d->p = more + size_after[tag];
    d->n--;
    if (d->end - d->p < (ptrdiff_t)(d->n * FORMAT_CODEWORD_SIZE))
        return BACKTRACE_OVERRUN;
    uint32_t run = tag == FORMAT_TAG_HIT_N ? *more : tag == FORMAT_TAG_HIT_1;
    backtrace_result result = backtrace_reserve(b, d->n_frames, 1 + run + 2 * d->n);
    if (result == BACKTRACE_GOOD && tag == FORMAT_TAG_MISS)
        result = slot_fill(b, table, slot, bytes_u64(more));
    if (result == BACKTRACE_GOOD)
        append_run(b, d, run);
    return result;
}

static backtrace_result decode_codewords(backtrace *b, frame_table *table, backtrace_decoder *d) {
    backtrace_result result = BACKTRACE_GOOD;
    while (d->n > 0 && result == BACKTRACE_GOOD)
        result = decode_codeword(b, table, d);
    return result;
}

/* ---- backtraces -------------------------------------------------------------------------- */

/* Replaces FRAME_NONE, which came from buckets that were never written, by the index of code 0. */
static __attribute__((cold)) backtrace_result fill_unset(backtrace *b, frame_table *table,
                                                         uint32_t at, uint32_t end) {
    uint32_t zero = frame_table_index(table, 0);
    for (uint32_t i = at; i < end; i++)
        if (b->frames[i] == FRAME_NONE)
            b->frames[i] = zero;
    return zero == FRAME_NONE ? BACKTRACE_NOMEM : BACKTRACE_UNSET;
}

/* Checks everything that a decoder relies on. */
static backtrace_result decoder_check(backtrace *b, const backtrace_decoder *d) {
    if (!backtrace_ready(b))
        return BACKTRACE_NOMEM;
    if (d->end - d->p < (ptrdiff_t)(d->n * FORMAT_CODEWORD_SIZE))
        return BACKTRACE_OVERRUN;
    return backtrace_reserve(b, d->n_frames, 2 * d->n + 1); /* so that b->frames is never NULL */
}

/* Ends a backtrace, good or not, whose first `at` frames are those of the previous one. */
static const uint8_t *decoder_end(backtrace *b, const backtrace_decoder *d, uint32_t at,
                                  bool was_cut, backtrace_result result) {
    b->result = result;
    if (!was_cut)
        backtrace_shorten(b, at);
    if (result > BACKTRACE_UNSET)
        return NULL;
    if (!was_cut) {
        b->n_frames = d->n_frames;
        b->trusted = at <= b->trusted ? d->first_stale : b->trusted;
    }
    return d->p;
}

static const uint8_t *decoder_run(backtrace *b, frame_table *table, backtrace_decoder *d,
                                  uint32_t at, bool was_cut) {
    backtrace_result result = decode_codewords(b, table, d);
    if (result == BACKTRACE_GOOD && d->any >> 31)
        result = fill_unset(b, table, at, d->n_frames);
    return decoder_end(b, d, at, was_cut, result);
}

/* Decodes without the preconditions of the fast path. */
const uint8_t *backtrace_decode_slow(backtrace *b, frame_table *frames, const uint8_t *p,
                                     const uint8_t *end, uint32_t n, uint64_t prefix) {
    bool was_cut = prefix > b->n_frames;
    uint32_t at = was_cut ? b->n_frames : (uint32_t)prefix;
    backtrace_decoder d = {.p = p,
                           .end = end,
                           .n = n,
                           .n_frames = at,
                           .at = SLOT_OF_BUCKET_0,
                           .first_stale = UINT32_MAX};
    backtrace_result result = decoder_check(b, &d);
    if (result != BACKTRACE_GOOD)
        return decoder_end(b, &d, at, was_cut, result);
    flatten(b, n);
    return decoder_run(b, frames, &d, at, was_cut);
}

const uint8_t *backtrace_decode_rest_slow(backtrace *b, frame_table *frames, backtrace_decoder *d,
                                          uint32_t prefix) {
    return decoder_run(b, frames, d, prefix, false);
}

const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n) {
    for (; n > 0 && p <= end; n--)
        p += FORMAT_CODEWORD_SIZE + size_after[bytes_u16(p) & ((1u << FORMAT_TAG_BITS) - 1)];
    return p <= end ? p : NULL;
}

/* ---- losses ------------------------------------------------------------------------------ */

void backtrace_lose(backtrace *b) {
    b->trusted = 0;
    b->room = 0;
    /* The number wraps around: everything becomes stale, with number 0. */
    if (b->loss == UINT8_MAX) {
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
    free(b->flat);
    free(b->frames);
}
