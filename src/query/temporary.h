/* temporary.h: finds blocks that existed only for a moment, such as a buffer that a loop allocates
 * anew each time: freed before the next recorded allocation with the same call stack in the same
 * domain, and soon after their own. Threads that run the same code could each keep a buffer. */
#ifndef QUERY_TEMPORARY_H
#define QUERY_TEMPORARY_H

#include "profile/profile.h"

/* Microseconds: blocks that live longer are not temporary, however rare allocations are. In a
 * sample, this mostly decides, because the next allocation may not have been recorded. */
enum { TEMPORARY_LIFE = 1000 };

/* The columns of the table that temporary_rows reads, a set of BLOCKS_HAS. */
#define TEMPORARY_COLUMNS                                                                          \
    (BLOCKS_HAS(node) | BLOCKS_HAS(domain) | BLOCKS_HAS(born) | BLOCKS_HAS(died) |                 \
     BLOCKS_HAS(place) | BLOCKS_HAS(after))

/* Returns 1 or 0 by row; the caller frees it. NULL when there is no memory. */
uint8_t *temporary_rows(const profile *p);

#endif
