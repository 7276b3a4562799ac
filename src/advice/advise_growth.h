/* advise_growth.h: whether blocks grow out of each other, as under realloc: one dies, and a larger
 * one is born at the same moment. */
#ifndef ADVICE_ADVISE_GROWTH_H
#define ADVICE_ADVISE_GROWTH_H

#include "profile/profile.h"

typedef struct advise_growth {
    double share; /* of the samples, in percent: in blocks that grew into another sampled one */
    double ratio; /* by which they did, the median; 1: none did */
    double step;  /* the same, in words */
} advise_growth;

/* Of these rows of the table, which are put into another order; false when there is no memory. */
bool advise_growth_of(const profile *p, uint32_t *rows, size_t n, advise_growth *g);

#endif
