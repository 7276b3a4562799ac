/* advise_blocks.h: properties of a set of blocks that rules of advice look at: sizes, number,
 * lifetimes. */
#ifndef ADVICE_ADVISE_BLOCKS_H
#define ADVICE_ADVISE_BLOCKS_H

#include "base/map64.h"
#include "profile/profile.h"
#include "query/estimate.h"

/* All shares are percentages of the samples. */
typedef struct advise_blocks {
    estimate number;
    uint64_t min_words, max_words; /* without header */
    uint64_t words;                /* the commonest size */
    double one_size;               /* share of the commonest size */
    uint32_t sizes;                /* number of distinct sizes */
    double young;                  /* share that died before promotion */
    double known_young;            /* share that died before promotion, of those promoted or dead */
    double promoted, brief, alive; /* freed within ADVISE_BRIEF; never freed */
} advise_blocks;

typedef struct advise_size {
    uint64_t words, samples;
} advise_size;

/* Samples by property, except sizes. Legal when zeroed; sums can be added. */
typedef struct advise_sums {
    estimate_blocks number;
    uint64_t samples, young, promoted, brief, alive;
} advise_sums;

/* Sums with sizes. Legal when zeroed. */
typedef struct advise_tally {
    map64 index; /* words → index into `sizes` */
    VEC(advise_size) sizes;
    advise_sums sums;
} advise_tally;

/* Adds a row of the table of blocks, which has so many words. */
void advise_sums_row(advise_sums *s, const profile *p, const estimate_chances *chances, size_t row,
                     uint64_t words);

/* These add the sums and the sizes of blocks. False when there is no memory. */
void advise_tally_sums(advise_tally *t, const advise_sums *s);
bool advise_tally_sizes(advise_tally *t, const advise_size *sizes, size_t n);
advise_blocks advise_tally_blocks(const advise_tally *t);
void advise_tally_free(advise_tally *t);

#endif
