/* frames.h: the frame table: a dense index for each code of the trace, with the code's locations.
 *
 * Owns the locations. Strings are interned by the caller and outlive the table. */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/arena.h"
#include "base/map64.h"
#include "base/vec.h"

#define FRAME_NONE MAP64_NONE /* no index: out of memory */

/* Valid when zeroed. */
typedef struct frame_table {
    VEC(memtrace_frame) frames;
    map64 by_code;
    arena locations;
} frame_table;

/* Returns the index of `code`, which is added if it is new. FRAME_NONE when out of memory. */
uint32_t frame_table_index(frame_table *t, uint64_t code);

/* Sets the locations of `code`: outermost first, preceded by a type (see MEMTRACE_TYPE_FILE) if
 * there is one. `suspect`: the names may be wrong. Earlier locations of the same code are kept,
 * unless some of their names were missing or suspect. Returns false when out of memory. */
bool frame_table_announce(frame_table *t, uint64_t code, const memtrace_location *locations,
                          uint32_t n, bool suspect);

/* Whether `code` has locations. */
bool frame_table_knows(const frame_table *t, uint64_t code);

void frame_table_free(frame_table *t);

#endif
