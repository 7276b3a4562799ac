/* blocks_places.h: the order of births and deaths, found once the whole trace has been read. */
#ifndef PROFILE_BLOCKS_PLACES_H
#define PROFILE_BLOCKS_PLACES_H

#include "profile/blocks.h"

/* Gives allocations and deaths their places, once rows and times are final. `before` says, by the
 * number that a row had while reading, and one after the last, how many rows before it were kept;
 * NULL: all. False when there is no memory. */
bool blocks_settle(block_table *b, const uint32_t *before);

#endif
