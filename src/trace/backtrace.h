/* backtrace.h: one domain's cache of codes and its last backtrace.
 *
 * Owns the decoding of codewords and, after packets were lost, the knowledge of what can no longer
 * be trusted: each bucket remembers after which loss its parts were written. Frames are dense
 * indices of the frame table, so that a hit costs no look-up. */
#ifndef TRACE_BACKTRACE_H
#define TRACE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"
#include "trace/frames.h"

/* The deepest backtrace that is believed: four million frames. Damage could claim more, and each
 * event could claim all frames of the one before it and add to them. */
#define BACKTRACE_MAX (UINT32_C(1) << 22)

/* The cache, all zero at first. Predictions stand by themselves so that following them, where each
 * load waits for the one before it, stays in the first-level cache. */
typedef struct backtrace_cache {
    uint16_t prediction[FORMAT_BUCKETS];
    uint32_t frame[FORMAT_BUCKETS]; /* its index; FRAME_NONE: never written, so code 0 */
    /* The number of the loss after which each was written; of use once there was a loss. */
    uint8_t prediction_loss[FORMAT_BUCKETS];
    uint8_t frame_loss[FORMAT_BUCKETS];
} backtrace_cache;

/* Legal when zeroed. */
typedef struct backtrace {
    backtrace_cache *cache; /* NULL until the first backtrace */
    uint32_t *frames;       /* the last backtrace, outermost first; NULL if it is empty */
    uint32_t n_frames;
    uint32_t capacity;
    uint32_t kept;    /* leading frames unchanged since backtrace_take */
    uint32_t trusted; /* leading frames that no loss can have made wrong */
    uint8_t loss;     /* losses so far; what carries another number is stale. 0: nothing is */
} backtrace;

typedef enum backtrace_result {
    BACKTRACE_GOOD,
    BACKTRACE_UNSET,   /* good, but frames come from buckets that were never filled: code 0 */
    BACKTRACE_OVERRUN, /* the codewords go beyond `end` */
    BACKTRACE_TOO_DEEP,
    BACKTRACE_NOMEM,
} backtrace_result;

/* Decodes `n` codewords at `*p`, and moves it behind them, into the domain's last backtrace, whose
 * first `prefix` frames stay. If it has fewer, it was cut short by the writer and stays as it is.
 * After a failure the frames beyond `prefix` are gone. */
backtrace_result backtrace_decode(backtrace *b, frame_table *frames, const uint8_t **p,
                                  const uint8_t *end, uint32_t n, uint64_t prefix);

/* Where the codewords at `p` end, or NULL if that is beyond `end`. */
const uint8_t *backtrace_skip(const uint8_t *p, const uint8_t *end, uint32_t n);

/* How many leading frames the last backtrace shares with the one at the last call of this. */
static inline uint32_t backtrace_take(backtrace *b) {
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
 * one that was not trusted is set right. */
bool backtrace_verify(backtrace *b, frame_table *frames, uint16_t bucket, uint16_t prediction,
                      uint64_t code);

void backtrace_free(backtrace *b);

#endif
