/* blocks_turns.h: bounds of the peak for any order in which the domains of a trace may take turns,
 * while blocks_spread.h asks only for the orders that the clocks of one run allow. */
#ifndef PROFILE_BLOCKS_TURNS_H
#define PROFILE_BLOCKS_TURNS_H

#include "profile/blocks_spread.h"

/* Bounds the peak of all rows of a finished table if each domain allocates and frees the same in
 * the same order, at whatever times. Nothing is assumed of when a domain frees blocks of another.
 * Reads BLOCKS_SPREAD_COLUMNS of the table. False when there is no memory. */
bool blocks_turns(const block_table *b, blocks_spread *spread);

#endif
