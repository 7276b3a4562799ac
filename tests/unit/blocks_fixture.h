/* blocks_fixture.h: blocks for a table, as if from a trace in which times alone order what happens.
 */
#ifndef BLOCKS_FIXTURE_H
#define BLOCKS_FIXTURE_H

#include "profile/blocks_add.h"

enum { FIXTURE_ENDER = 1000 /* the domain in which they die */ };

/* Births do not go back in time. BLOCKS_NEVER: it does not die. */
static inline bool blocks_fixture_add(block_table *b, uint32_t node, const memtrace_event *event,
                                      uint64_t died) {
    bool ok = blocks_enter(b, event->domain) && blocks_add(b, node, event);
    if (died != BLOCKS_NEVER)
        ok = ok && blocks_enter(b, FIXTURE_ENDER) &&
             blocks_add_fate(b, event->id, died, BLOCKS_DIED);
    return ok;
}

#endif
