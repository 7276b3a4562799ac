/* temporary.h: blocks that were there for a moment only, as a buffer that a loop makes anew each
 * time: freed before the next recorded allocation with the same call stack, and soon after their
 * own. */
#ifndef QUERY_TEMPORARY_H
#define QUERY_TEMPORARY_H

#include "profile/profile.h"

/* Microseconds: who lives longer is not temporary, however rare allocations there are. In a sample,
 * it is this that mostly decides, since the next allocation need not have been recorded. */
enum { TEMPORARY_LIFE = 1000 };

/* The columns of the table that it looks at: a set of BLOCKS_HAS. */
#define TEMPORARY_COLUMNS                                                                          \
    (BLOCKS_HAS(node) | BLOCKS_HAS(born) | BLOCKS_HAS(died) | BLOCKS_HAS(place) | BLOCKS_HAS(after))

/* By row, 1 or 0; to be freed. NULL when there is no memory. */
uint8_t *temporary_rows(const profile *p);

#endif
