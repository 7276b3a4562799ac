/* gap.h: the random numbers of the engine: geometric gaps between sampled words, in batches, and
 * binomial counts for large blocks. Each thread has one gap_source; there is no other state, and
 * libm is not used. docs/estimator.md has the derivations. */
#ifndef MEMPROF_GAP_H
#define MEMPROF_GAP_H

#include <stdint.h>

enum {
    GAP_BATCH = 128, /* gaps drawn at once */
    GAP_LANES = 4,   /* independent generators, side by side to fill a vector register */
};

/* The longest gap, so that the sum of a gap and a block size cannot overflow. */
#define GAP_MAX (INT64_C(1) << 61)

typedef struct gap_source {
    uint64_t s[4][GAP_LANES]; /* xoshiro256++; s[word][lane] */
    double rate;              /* 0 < rate < 1 */
    double scale;             /* 1 / log(1 - rate), negative */
    uint32_t left;            /* the last `left` of `gaps` are unused */
    int64_t gaps[GAP_BATCH];  /* unsampled words before each sampled one */
} gap_source;

/* Seeds the generator. The random numbers are a function of these two arguments. Draws no gaps
 * yet. */
void gap_seed(gap_source *source, uint64_t seed, uint64_t stream);

/* Sets the rate, 0 < rate < 1, and discards gaps drawn at another rate. */
void gap_set_rate(gap_source *source, double rate);

void gap_refill(gap_source *source);

/* Returns a single gap, computed from one random number. */
int64_t gap_single(double rate, uint64_t random);

static inline int64_t gap_next(gap_source *source) {
    if (!source->left)
        gap_refill(source);
    return source->gaps[GAP_BATCH - source->left--];
}

/* Returns how many of `n` words are sampled at the source's rate, in O(1) for any n. */
uint64_t gap_binomial(gap_source *source, uint64_t n);

#endif
