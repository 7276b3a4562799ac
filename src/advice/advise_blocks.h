/* advise_blocks.h: what a set of blocks is like, as rules of advice look at it: sizes, number,
 * lifetimes. */
#ifndef ADVICE_ADVISE_BLOCKS_H
#define ADVICE_ADVISE_BLOCKS_H

#include "base/map64.h"
#include "profile/profile.h"
#include "query/estimate.h"

/* Shares are in percent of the samples. */
typedef struct advise_blocks {
    estimate number;
    uint64_t min_words, max_words; /* without header */
    uint64_t words;                /* the commonest size */
    double one_size;               /* its share */
    uint32_t sizes;                /* different ones */
    double young;                  /* died before they were promoted */
    double known_young;            /* the same, of those of which that is known */
    double promoted, brief, alive; /* freed within ADVISE_BRIEF; never freed */
} advise_blocks;

typedef struct advise_size {
    uint64_t words, samples;
} advise_size;

/* Samples, by what is asked about them, but for sizes. Legal when zeroed; they add up. */
typedef struct advise_sums {
    estimate_blocks number;
    uint64_t samples, young, promoted, brief, alive;
} advise_sums;

/* The same, with sizes. Legal when zeroed. */
typedef struct advise_tally {
    map64 index; /* words → index into `sizes` */
    VEC(advise_size) sizes;
    advise_sums sums;
} advise_tally;

/* Adds a row of the table of blocks, with so many words. */
void advise_sums_row(advise_sums *s, const profile *p, const estimate_chances *chances, size_t row,
                     uint64_t words);

/* Adds what is known of blocks; of a size, each time. False when there is no memory. */
void advise_tally_sums(advise_tally *t, const advise_sums *s);
bool advise_tally_sizes(advise_tally *t, const advise_size *sizes, size_t n);
advise_blocks advise_tally_blocks(const advise_tally *t);
void advise_tally_free(advise_tally *t);

#endif
