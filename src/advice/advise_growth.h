/* advise_growth.h: whether blocks grow into each other, as with realloc: one dies, and a larger one
 * is born at the same moment. */
#ifndef ADVICE_ADVISE_GROWTH_H
#define ADVICE_ADVISE_GROWTH_H

#include "profile/profile.h"

typedef struct advise_growth {
    double share; /* percentage of the samples in blocks that grew into another sampled block */
    double ratio; /* median factor of the growth; 1: no block grew */
    double step;  /* median step of the growth, in words */
} advise_growth;

/* Finds the growth of these rows of the table, and reorders `rows`. False when there is no
 * memory. */
bool advise_growth_of(const profile *p, uint32_t *rows, size_t n, advise_growth *g);

#endif
