/* tick.h: how finely a trace tells times. */
#ifndef PROFILE_TICK_H
#define PROFILE_TICK_H

#include "profile/blocks.h"

/* For how long the clock of a finished table's trace stands still where many blocks come to be, µs:
 * the median over these blocks. A recorder that reads the clock now and then, since that is dear,
 * gives all of them the same time, and lives that are shorter are not told apart. 0: no such blocks
 * matter. */
uint64_t tick_of(const block_table *b);

#endif
