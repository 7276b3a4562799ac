/* blocks_places.h: the order of what happened to blocks, once all of a trace is read. */
#ifndef PROFILE_BLOCKS_PLACES_H
#define PROFILE_BLOCKS_PLACES_H

#include "profile/blocks.h"

/* Gives allocations and deaths their places; rows and times are final. `before` says by the number
 * that a row had while reading, and by how many there were, how many of those before it are left;
 * NULL: all. False when there is no memory. */
bool blocks_settle(block_table *b, const uint32_t *before);

#endif
