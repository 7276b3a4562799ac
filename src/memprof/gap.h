/* gap.h: the randomness of the engine: geometric gaps between sampled words, in batches, and
 * binomial counts for large blocks. One gap_source a thread; no libm, no state elsewhere. The
 * derivations stand in docs/estimator.md. */
#ifndef MEMPROF_GAP_H
#define MEMPROF_GAP_H

#include <stdint.h>

enum {
    GAP_BATCH = 128, /* gaps drawn at once */
    GAP_LANES = 4,   /* independent generators, side by side so that they fill a vector */
};

/* No gap is longer, so that sums of a gap and a block size cannot overflow. */
#define GAP_MAX (INT64_C(1) << 61)

typedef struct gap_source {
    uint64_t s[4][GAP_LANES]; /* xoshiro256++; s[word][lane] */
    double rate;              /* 0 < rate < 1 */
    double scale;             /* 1 / log(1 - rate), negative */
    uint32_t left;            /* the last `left` of `gaps` were not used yet */
    int64_t gaps[GAP_BATCH];  /* words that are not sampled, before one that is */
} gap_source;

/* The stream of random numbers is a function of these two. No gaps are drawn yet. */
void gap_seed(gap_source *source, uint64_t seed, uint64_t stream);

/* Sets the rate, 0 < rate < 1, and throws away gaps drawn at another one. */
void gap_set_rate(gap_source *source, double rate);

void gap_refill(gap_source *source);

/* A single gap, from one random number. */
int64_t gap_single(double rate, uint64_t random);

static inline int64_t gap_next(gap_source *source) {
    if (!source->left)
        gap_refill(source);
    return source->gaps[GAP_BATCH - source->left--];
}

/* How many of `n` words are sampled at the source's rate: in O(1) for any n. */
uint64_t gap_binomial(gap_source *source, uint64_t n);

#endif
