/* backtrace.h: a domain's cache of codes and its last backtrace.
 *
 * Decodes codewords and, after packets were lost, tracks what can no longer be trusted: each bucket
 * stores the number of the loss after which its parts were written. Frames are dense indices into
 * the frame table, so that a hit needs no look-up.
 *
 * A cache has many buckets, of which most domains use few. The used ones are stored contiguously,
 * so that they fit the processor's cache and a domain with few events stays small. */
#ifndef TRACE_BACKTRACE_H
#define TRACE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/frames.h"

/* The deepest backtrace that is accepted: four million frames. Damaged data could claim more, and
 * each event could claim all frames of the previous event and add to them. */
#define BACKTRACE_MAX (UINT32_C(1) << 22)

enum {
    BACKTRACE_PAGE = 64, /* buckets */
    BACKTRACE_PAGES = FORMAT_BUCKETS / BACKTRACE_PAGE,
    BACKTRACE_NO_SLOT = 0,
    BACKTRACE_SLOT_OF_BUCKET_0 = 1,
    BACKTRACE_MAX_HIT = FORMAT_CODEWORD_SIZE + 1, /* bytes */
};

typedef enum backtrace_result {
    BACKTRACE_GOOD,
    /* Good, but some frames come from buckets that were never filled: their code is 0. */
    BACKTRACE_UNSET,
    BACKTRACE_OVERRUN, /* the codewords go beyond `end` */
    BACKTRACE_TOO_DEEP,
    BACKTRACE_NOMEM,
} backtrace_result;

/* A bucket that has been used. */
typedef struct backtrace_slot {
    /* Index of the bucket's code; FRAME_NONE: never written, so the code is 0. */
    uint32_t frame;
    uint16_t prediction; /* the slot of the bucket expected to follow */
    /* The number of the loss after which each field was written; only relevant after a loss. */
    uint8_t frame_loss, prediction_loss;
} backtrace_slot;

/* Valid when zeroed. */
typedef struct backtrace {
    /* The slot of each bucket, or 0 if it has none, in pages of adjacent buckets. The first page is
     * shared by all buckets without a page and stays 0. */
    VEC(uint16_t) slot_of;          /* empty until the first backtrace */
    uint16_t page[BACKTRACE_PAGES]; /* start in slot_of of each page of buckets */
    VEC(backtrace_slot) slots;      /* in order of first use; 0 is no slot, 1 is bucket 0's */

    /* A flat copy of slot_of, for speed: the slot of each bucket, or 0. A domain gets it after so
     * many codewords that the table takes no more memory than the codewords did; NULL before. */
    uint16_t *flat;
    uint32_t n_words; /* codewords decoded without `flat` */

    uint32_t *frames; /* the last backtrace, outermost first; NULL if there was none */
    uint32_t n_frames;
    uint32_t capacity;
    uint32_t kept;    /* leading frames unchanged since backtrace_take_kept */
    uint32_t trusted; /* leading frames that no loss can have made wrong */
    uint8_t loss;     /* losses so far; a slot with another number is stale. 0: nothing was lost */
    /* The capacity, for the fast path, which uses `flat` and does not check for losses. 0 before
     * `flat` exists, and after a loss. */
    uint32_t room;
    backtrace_result result; /* of the last backtrace_decode */
} backtrace;

/* The state of decoding, between two codewords. */
typedef struct backtrace_decoder {
    const uint8_t *p, *end;
    uint32_t n; /* codewords to come; at least two bytes for each are left before the end */
    /* Used in b->frames; has room for two per codeword left. */
    uint32_t n_frames;
    uint32_t at;          /* the slot whose prediction is next */
    uint32_t any;         /* bitwise OR of the decoded frames */
    uint32_t first_stale; /* first decoded frame that a loss may have made wrong */
} backtrace_decoder;

/* The slow paths of backtrace_decode: from the first codeword, and from a later one. */
const uint8_t *backtrace_decode_slow(backtrace *b, frame_table *frames, const uint8_t *p,
                                     const uint8_t *end, uint32_t n, uint64_t prefix);
const uint8_t *backtrace_decode_rest_slow(backtrace *b, frame_table *frames, backtrace_decoder *d,
                                          uint32_t prefix);

static inline void backtrace_shorten(backtrace *b, uint32_t n) {
    b->n_frames = n;
    b->kept = b->kept < n ? b->kept : n;
}

/* Decodes `n` codewords at `p` into the domain's last backtrace, of which the first `prefix` frames
 * are kept. If it has fewer frames, the writer cut it short and it stays as it is. Returns the end
 * of the codewords. On failure, returns NULL and sets `b->result`; the frames beyond `prefix` are
 * lost.
 *
 * The inline part handles the common case, for speed: hits of known buckets, with no losses, far
 * from the end of the packet (a hit has at most three bytes). Room for two frames per codeword is
 * checked once, before the loop. Everything that changes at each step is a local variable, to be
 * kept in a register. */
static inline const uint8_t *backtrace_decode(backtrace *b, frame_table *frames, const uint8_t *p,
                                              const uint8_t *end, uint32_t n, uint64_t prefix) {
    if (__builtin_expect(prefix > b->n_frames || prefix + 2 * n >= b->room ||
                             end - p < (ptrdiff_t)(n * BACKTRACE_MAX_HIT),
                         0))
        return backtrace_decode_slow(b, frames, p, end, n, prefix);
    const uint16_t *flat = b->flat;
    backtrace_slot *slots = b->slots.items;
    uint32_t *out = b->frames + prefix, at = BACKTRACE_SLOT_OF_BUCKET_0, any = 0;
    for (; n > 0; n--) {
        const uint64_t word = bytes_u16(p), tag = word & ((1u << FORMAT_TAG_BITS) - 1);
        const uint32_t slot = flat[word >> FORMAT_TAG_BITS];
        if (__builtin_expect(slot == BACKTRACE_NO_SLOT, 0))
            break;
        if (tag <= FORMAT_TAG_HIT_1) {
            p += FORMAT_CODEWORD_SIZE;
            slots[at].prediction = (uint16_t)slot;
            at = slot;
            any |= *out++ = slots[at].frame;
            if (tag == FORMAT_TAG_HIT_1) {
                at = slots[at].prediction;
                any |= *out++ = slots[at].frame;
            }
            continue;
        }
        uint32_t run = p[FORMAT_CODEWORD_SIZE];
        if (tag == FORMAT_TAG_MISS || b->frames + b->room - out < (ptrdiff_t)(1 + run + 2 * n))
            break;
        p += FORMAT_CODEWORD_SIZE + 1;
        slots[at].prediction = (uint16_t)slot;
        for (at = slot; run > 0; run--) {
            any |= *out++ = slots[at].frame;
            at = slots[at].prediction;
        }
        any |= *out++ = slots[at].frame;
    }
    const uint32_t n_frames = (uint32_t)(out - b->frames);
    if (__builtin_expect(n > 0 || any >> 31, 0))
        return backtrace_decode_rest_slow(b, frames,
                                          &(backtrace_decoder){.p = p,
                                                               .end = end,
                                                               .n = n,
                                                               .n_frames = n_frames,
                                                               .at = at,
                                                               .any = any,
                                                               .first_stale = UINT32_MAX},
                                          (uint32_t)prefix);
    backtrace_shorten(b, (uint32_t)prefix);
    b->n_frames = n_frames;
    b->result = BACKTRACE_GOOD;
    return p;
}

/* Returns the end of the `n` codewords at `p`, or NULL if it is beyond `end`. */
const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n);

/* Returns how many leading frames the last backtrace shares with that of the previous call. */
static inline uint32_t backtrace_take_kept(backtrace *b) {
    uint32_t kept = b->kept;
    b->kept = b->n_frames;
    return kept;
}

static inline bool backtrace_is_suspect(const backtrace *b) {
    return b->loss != 0 && b->trusted < (b->n_frames ? b->n_frames : 1);
}

/* To be called when packets were lost: nothing is trusted until it is written again. */
void backtrace_lose(backtrace *b);

/* Compares a bucket with the contents that a packet header states. Returns false if the bucket was
 * trusted and differs; an untrusted bucket is set to the stated contents. Returns true when out of
 * memory: the next backtrace will fail anyway. */
bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code);

void backtrace_free(backtrace *b);

#endif
