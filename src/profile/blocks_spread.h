/* blocks_spread.h: between which ends the amount is that was live when most was, since the order of
 * events of different domains is known only as well as their clocks tell it. */
#ifndef PROFILE_BLOCKS_SPREAD_H
#define PROFILE_BLOCKS_SPREAD_H

#include "profile/blocks.h"

/* In samples. */
typedef struct blocks_spread {
    uint64_t low, high;
} blocks_spread;

/* Whether more than one domain had events, the order between which hangs on clocks. */
bool blocks_are_of_several(const block_table *b);

/* Of the most that was live of the rows of which `kept` is not 0, or of all if it is NULL: this a
 * finished table looks for once. It looks at BLOCKS_SPREAD_COLUMNS of such a table. False when
 * there is no memory. */
bool blocks_spread_of_most(const block_table *b, const uint8_t *kept, const blocks_most *most,
                           blocks_spread *spread);

/* The same of what is live at a moment, which is `samples` in the table's order. */
bool blocks_spread_at(const block_table *b, const uint8_t *kept, blocks_moment at, uint64_t samples,
                      blocks_spread *spread);

#endif
