/* jvm_weigh.c: draws only with the sampling engine's generator of gaps, so that the program needs
 * no math library. */
#include "runtimes/jvm/jvm_weigh.h"

#include <stdbool.h>

#include "allotrace/memprof.h"
#include "base/hash.h"

enum { WORD = 8 };

/* The lowest rate that the JVM's intervals allow. Below it, picked objects are thinned out. */
#define RATE_LEAST ((double)WORD / INT32_MAX)

int32_t jvm_weigh_interval(double rate) {
    if (rate >= JVM_RATE_ALL)
        return 0;
    if (rate <= RATE_LEAST)
        return INT32_MAX;
    /* -1 / ln(1 - r) = 1 / r - 1 / 2 - r / 12 - ... */
    return (int32_t)(WORD * (1 / rate - 0.5) + 0.5);
}

/* Returns how many words are skipped before the next sampled word. */
static uint64_t gap(double rate, uint64_t *random) {
    return (uint64_t)memprof_first_gap(rate, (*random)++);
}

/* Returns the index of the first sampled word, distributed under the condition that one of the
 * `words` is sampled. If few are sampled, all indices are nearly as likely: one is drawn uniformly,
 * and accepted if no word before it is sampled. */
static uint64_t first_sampled(double rate, uint64_t words, uint64_t *random) {
    const bool are_few = (double)words * rate < 0.5;
    for (;;) {
        const uint64_t g = gap(rate, random);
        const uint64_t drawn = are_few ? hash_u64((*random)++) % words : g;
        if (drawn < words && g >= drawn)
            return drawn;
    }
}

uint64_t jvm_weigh(double rate, uint64_t words, uint64_t *random) {
    if (rate == 1)
        return words;
    if (rate < RATE_LEAST && gap(rate / RATE_LEAST, random) != 0)
        return 0;
    uint64_t at = rate >= JVM_RATE_ALL ? gap(rate, random) : first_sampled(rate, words, random);
    uint64_t samples = 0;
    for (; at < words; at += 1 + gap(rate, random))
        samples++;
    return samples;
}
