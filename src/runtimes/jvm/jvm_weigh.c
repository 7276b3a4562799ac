/* jvm_weigh.c: draws by the sampling engine's generator of gaps alone, which needs no library of
 * mathematics in the program. */
#include "runtimes/jvm/jvm_weigh.h"

#include <stdbool.h>

#include "allotrace/memprof.h"
#include "base/hash.h"

enum { WORD = 8 };

/* The lowest rate that the JVM's intervals can have. Below it, objects are thinned out. */
#define RATE_LEAST ((double)WORD / INT32_MAX)

int32_t jvm_weigh_interval(double rate) {
    if (rate >= JVM_RATE_ALL)
        return 0;
    if (rate <= RATE_LEAST)
        return INT32_MAX;
    /* -1 / ln(1 - r), of which the next term is -r / 12 */
    return (int32_t)(WORD * (1 / rate - 0.5) + 0.5);
}

/* So many words are not sampled before the next one that is. */
static uint64_t gap(double rate, uint64_t *random) {
    return (uint64_t)memprof_first_gap(rate, (*random)++);
}

/* A word of the first `words`, counted from 0, with the probability that it is the first sampled
 * one given that one of them is. Where few are sampled, all are nearly as likely: one is drawn, and
 * taken if none in front of it is sampled. */
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
