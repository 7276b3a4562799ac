/* tick.h: how finely a trace tells times. */
#ifndef ANALYSE_TICK_H
#define ANALYSE_TICK_H

#include "analyse/blocks.h"

/* For how long the clock of a finished table's trace stands still where many blocks come to be, µs:
 * the median over these blocks. A recorder that reads the clock now and then, since that is dear,
 * gives all of them the same time, and lives that are shorter are not told apart. 0: no such blocks
 * matter. */
uint64_t tick_of(const block_table *b);

#endif
