/* backtrace.h: one domain's cache of codes and its last backtrace.
 *
 * Owns the decoding of codewords and, after packets were lost, the knowledge of what can no longer
 * be trusted: each bucket remembers after which loss its parts were written. Frames are dense
 * indices of the frame table, so that a hit costs no look-up.
 *
 * A cache has many buckets, of which most domains use few. Those used stand side by side, so that
 * they fit the processor's cache and a domain of few events stays small. */
#ifndef TRACE_BACKTRACE_H
#define TRACE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/frames.h"

/* The deepest backtrace that is believed: four million frames. Damage could claim more, and each
 * event could claim all frames of the one before it and add to them. */
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
    BACKTRACE_UNSET,   /* good, but frames come from buckets that were never filled: code 0 */
    BACKTRACE_OVERRUN, /* the codewords go beyond `end` */
    BACKTRACE_TOO_DEEP,
    BACKTRACE_NOMEM,
} backtrace_result;

/* A bucket that was used. */
typedef struct backtrace_slot {
    uint32_t frame;      /* index of its code; FRAME_NONE: never written, so code 0 */
    uint16_t prediction; /* the slot of the bucket expected to follow */
    /* The number of the loss after which each was written; of use once there was a loss. */
    uint8_t frame_loss, prediction_loss;
} backtrace_slot;

/* Legal when zeroed. */
typedef struct backtrace {
    /* The slot of each bucket, in pages of neighbouring ones; 0: it has none. The first page is
     * that of all buckets without a page, and stays 0. */
    VEC(uint16_t) slot_of;          /* empty until the first backtrace */
    uint16_t page[BACKTRACE_PAGES]; /* where in slot_of the page of a bucket begins */
    VEC(backtrace_slot) slots;      /* in order of first use; 0 is no slot, 1 is bucket 0's */

    /* The same in one piece, for speed: the slot of each bucket, or 0. A domain gets it when it has
     * had so many codewords that it takes no more memory than these; NULL before. */
    uint16_t *flat;
    uint32_t n_words; /* codewords decoded without it */

    uint32_t *frames; /* the last backtrace, outermost first; NULL if there was none */
    uint32_t n_frames;
    uint32_t capacity;
    uint32_t kept;    /* leading frames unchanged since backtrace_take_kept */
    uint32_t trusted; /* leading frames that no loss can have made wrong */
    uint8_t loss;     /* losses so far; what carries another number is stale. 0: nothing is */
    /* The capacity for whoever uses `flat` and looks after no losses: 0 before it is made, and
     * after a loss. */
    uint32_t room;
    backtrace_result result; /* of the last backtrace_decode */
} backtrace;

/* What is being decoded, between two codewords. */
typedef struct backtrace_decoder {
    const uint8_t *p, *end;
    uint32_t n;        /* codewords to come; there are two bytes for each before the end */
    uint32_t n_frames; /* in b->frames, decoded ones included; there is room for two a codeword */
    uint32_t at;       /* the slot whose prediction is next */
    uint32_t any;      /* union of the decoded frames */
    uint32_t first_stale; /* of the decoded frames, the first that a loss may have spoilt */
} backtrace_decoder;

/* The two ways on from backtrace_decode: from the first codeword, and from a later one. */
const uint8_t *backtrace_decode_slow(backtrace *b, frame_table *frames, const uint8_t *p,
                                     const uint8_t *end, uint32_t n, uint64_t prefix);
const uint8_t *backtrace_decode_rest_slow(backtrace *b, frame_table *frames, backtrace_decoder *d,
                                          uint32_t prefix);

static inline void backtrace_shorten(backtrace *b, uint32_t n) {
    b->n_frames = n;
    b->kept = b->kept < n ? b->kept : n;
}

/* Decodes `n` codewords at `p` into the domain's last backtrace, whose first `prefix` frames stay.
 * If it has fewer, it was cut short by the writer and stays as it is. Returns where the codewords
 * end, or NULL after a failure, when the frames beyond `prefix` are gone; `b->result` says which.
 *
 * In line, for speed, is what nearly all codewords take: hits of buckets that are known, when
 * nothing was lost and the end of the packet is far: a hit has three bytes at most. Room for two
 * frames a codeword is seen to beforehand. Whatever changes at each step is in locals, so that it
 * is kept in registers. */
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

/* Where the codewords at `p` end, or NULL if that is beyond `end`. */
const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n);

/* How many leading frames the last backtrace shares with the one at the last call of this. */
static inline uint32_t backtrace_take_kept(backtrace *b) {
    uint32_t kept = b->kept;
    b->kept = b->n_frames;
    return kept;
}

static inline bool backtrace_is_suspect(const backtrace *b) {
    return b->loss != 0 && b->trusted < (b->n_frames ? b->n_frames : 1);
}

/* Packets were lost: nothing here is to be trusted until it is written again. */
void backtrace_lose(backtrace *b);

/* Compares a bucket with what a packet header says it holds. False if it was trusted and differs;
 * one that was not trusted is set right. Without memory to tell it is true: the next backtrace will
 * fail anyhow. */
bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code);

void backtrace_free(backtrace *b);

#endif
