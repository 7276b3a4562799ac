/* blocks_spread.h: bounds of the live amount at a moment in a trace of several domains. Their
 * clocks tell the order of events of different domains only roughly, so the amount lies between a
 * low and a high end. */
#ifndef PROFILE_BLOCKS_SPREAD_H
#define PROFILE_BLOCKS_SPREAD_H

#include "profile/blocks.h"

/* The bounds of an amount, in samples. */
typedef struct blocks_spread {
    uint64_t low, high;
} blocks_spread;

/* Whether events came from more than one domain, so that their order depends on clocks. */
bool blocks_are_of_several(const block_table *b);

/* Bounds the most that was live of the rows for which `kept` is not 0; NULL: of all rows, which is
 * computed once for a finished table. Reads BLOCKS_SPREAD_COLUMNS of the table. False when there is
 * no memory. */
bool blocks_spread_of_most(const block_table *b, const uint8_t *kept, const blocks_most *most,
                           blocks_spread *spread);

/* Bounds what is live at the moment `at`, which is `samples` in the order of the table. Reads the
 * same columns. False when there is no memory. */
bool blocks_spread_at(const block_table *b, const uint8_t *kept, blocks_moment at, uint64_t samples,
                      blocks_spread *spread);

#endif
