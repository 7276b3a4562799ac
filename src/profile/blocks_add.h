/* blocks_add.h: adds the events of a trace to the table of blocks, inline because every event comes
 * here. Events may come in any order. Each allocation becomes a row. If several have the same id,
 * which does not happen in a whole trace, the first one gets the promotion and the death. Functions
 * return false when there is no memory. */
#ifndef PROFILE_BLOCKS_ADD_H
#define PROFILE_BLOCKS_ADD_H

#include "base/inline.h"
#include "profile/blocks.h"

/* Notes the order of events, if it is kept. */
static inline bool blocks_note(block_table *b, uint32_t row, blocks_event kind) {
    return !b->keep_order || vec_push(&b->order, (uint64_t)row << 2 | kind);
}

/* Adds an allocation whatever its numbers are. */
bool blocks_add_slow(block_table *b, uint32_t node, const memtrace_event *event);

/* Adds an allocation. In the common case the next id gets the next row. */
static ALWAYS_INLINE bool blocks_add(block_table *b, uint32_t node, const memtrace_event *event) {
    const size_t row = b->count;
    if (__builtin_expect(row == b->ready || event->length >= BLOCKS_LARGE ||
                             event->samples >= BLOCKS_MANY ||
                             (event->time >= BLOCKS_SHORT && !blocks_are_long(b)) ||
                             !row_index_append(&b->rows, event->id, (uint32_t)row),
                         0)) {
        const memtrace_event copy = *event;
        return blocks_add_slow(b, node, &copy);
    }
    b->count = row + 1;
    b->node[row] = node;
    b->length[row] = (uint32_t)event->length;
    b->samples[row] = (uint16_t)event->samples;
    b->domain[row] = event->domain;
    b->source[row] = (uint8_t)event->source;
    blocks_set_time(b, BLOCKS_BORN, row, event->time);
    return blocks_note(b, (uint32_t)row, BLOCKS_BORN);
}

/* Writes what blocks_add_fate has gathered; false when there is no memory. */
bool blocks_write_fates(block_table *b);

/* Returns the number of rows and runs so far. Events with the same value are of one domain. */
static inline uint32_t blocks_now(const block_table *b) {
    return (uint32_t)(b->count + b->runs.count);
}

/* Adds a promotion or a death. It is written later, or at once if the order of events is kept. */
static ALWAYS_INLINE bool blocks_add_fate(block_table *b, uint64_t id, uint64_t time,
                                          blocks_event kind) {
    b->fates[b->n_fates++] =
        (blocks_fate){.id = id, .time = time, .after = blocks_now(b), .kind = kind};
    return (b->n_fates < BLOCKS_FATES && !b->keep_order) || blocks_write_fates(b);
}

#endif
