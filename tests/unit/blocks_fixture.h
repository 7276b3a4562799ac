/* blocks_fixture.h: adds blocks to a table, as from a trace in which only times give the order of
 * events. */
#ifndef BLOCKS_FIXTURE_H
#define BLOCKS_FIXTURE_H

#include "profile/blocks_add.h"

enum { FIXTURE_ENDER = 1000 /* the domain in which blocks die */ };

/* Adds a block. Births must be in the order of time. `died` is BLOCKS_NEVER if the block stays
 * live. */
static inline bool blocks_fixture_add(block_table *b, uint32_t node, const memtrace_event *event,
                                      uint64_t died) {
    bool ok = blocks_enter(b, event->domain) && blocks_add(b, node, event);
    if (died != BLOCKS_NEVER)
        ok = ok && blocks_enter(b, FIXTURE_ENDER) &&
             blocks_add_fate(b, event->id, died, BLOCKS_DIED);
    return ok;
}

#endif
