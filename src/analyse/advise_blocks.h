/* advise_blocks.h: what a set of blocks is like, as rules of advice look at it: sizes, number,
 * lifetimes. */
#ifndef ANALYSE_ADVISE_BLOCKS_H
#define ANALYSE_ADVISE_BLOCKS_H

#include "analyse/estimate.h"
#include "analyse/profile.h"
#include "base/map64.h"

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

/* Samples, by what is asked about them. Legal when zeroed. */
typedef struct advise_tally {
    map64 index; /* words → index into `sizes` */
    VEC(advise_size) sizes;
    estimate_blocks number;
    uint64_t samples, young, promoted, brief, alive;
} advise_tally;

/* Adds a row of the table of blocks; false when there is no memory. */
bool advise_tally_row(advise_tally *t, const profile *p, size_t row);
advise_blocks advise_tally_blocks(const advise_tally *t);
void advise_tally_free(advise_tally *t);

#endif
