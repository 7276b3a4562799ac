/* tally.h: the amount of allocation: exact numbers, or what is needed to estimate them from
 * samples. */
#ifndef GUEST_TALLY_H
#define GUEST_TALLY_H

#include "query/estimate.h"

enum { GUEST_WORD = sizeof(uint64_t) }; /* bytes that one sample stands for at rate 1 */

/* Valid when zeroed. */
typedef struct tally {
    uint64_t count;   /* of all allocations, or of those sampled */
    uint64_t samples; /* sampled words; 0 if counting is exact */
    uint64_t bytes; /* of those counted. Not adjacent to `count`: gcc would then load and store both
                       as a vector at each allocation, which is slower than two words */
    estimate_blocks blocks;
} tally;

static inline void tally_add(tally *to, const tally *from) {
    to->count += from->count;
    to->bytes += from->bytes;
    to->samples += from->samples;
    to->blocks.count += from->blocks.count;
    to->blocks.variance += from->blocks.variance;
    to->blocks.tracked += from->blocks.tracked;
    if (to->blocks.heaviest < from->blocks.heaviest)
        to->blocks.heaviest = from->blocks.heaviest;
}

static inline estimate tally_exact(uint64_t n) {
    return (estimate){.value = (double)n, .low = (double)n, .high = (double)n};
}

static inline estimate tally_count(const tally *t, double rate) {
    return rate < 1 ? estimate_blocks_number(&t->blocks, 0, rate) : tally_exact(t->count);
}

static inline estimate tally_bytes(const tally *t, double rate) {
    if (rate >= 1)
        return tally_exact(t->bytes);
    estimate words = estimate_words(t->samples, rate);
    return (estimate){words.value * GUEST_WORD, words.low * GUEST_WORD, words.high * GUEST_WORD};
}

#endif
