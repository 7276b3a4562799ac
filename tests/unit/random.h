/* random.h: repeatable random numbers for simulations: SplitMix64, and distributions made from
 * it. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <math.h>
#include <stdint.h>

typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t test_random_u64(test_random *r) {
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Returns a number between 0 and 1, both excluded. */
static inline double test_random_unit(test_random *r) {
    return ((double)(test_random_u64(r) >> 11) + 0.5) * 0x1p-53;
}

/* Returns a number from the exponential distribution with mean 1. */
static inline double test_random_exponential(test_random *r) {
    return -log(test_random_unit(r));
}

/* Returns how many words are skipped before the next sampled word. */
static inline uint64_t test_random_gap(test_random *r, double rate) {
    return rate >= 1 ? 0 : (uint64_t)(log(test_random_unit(r)) / log1p(-rate));
}

#endif
