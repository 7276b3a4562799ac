/* tick.h: how finely a trace tells times. */
#ifndef PROFILE_TICK_H
#define PROFILE_TICK_H

#include "profile/blocks.h"

/* Returns the tick of a finished table: for how many microseconds its clock stands still while many
 * blocks are born, as the median over these blocks. A recorder reads the clock only now and then,
 * because reading is expensive. All blocks born in between get the same time, so shorter lifetimes
 * cannot be told apart. 0: few blocks share a time. */
uint64_t tick_of(const block_table *b);

#endif
