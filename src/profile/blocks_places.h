/* blocks_places.h: the order of births and deaths, found once the whole trace has been read. */
#ifndef PROFILE_BLOCKS_PLACES_H
#define PROFILE_BLOCKS_PLACES_H

#include "profile/blocks.h"

/* Gives allocations and deaths their places, once rows and times are final. `before` is indexed by
 * the numbers that rows had while reading, with one more entry at the end: how many rows before
 * this one were kept; NULL: all were. False when there is no memory. */
bool blocks_settle(block_table *b, const uint32_t *before);

#endif
