/* frames.h: the frame table: one dense index for each code of the trace, and what stands behind it.
 *
 * Owns the locations; strings are interned by the caller and outlive the table. */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/arena.h"
#include "base/map64.h"
#include "base/vec.h"

#define FRAME_NONE MAP64_NONE /* no index: out of memory */

/* Legal when zeroed. */
typedef struct frame_table {
    VEC(memtrace_frame) frames;
    map64 by_code;
    arena locations;
} frame_table;

/* The index of `code`, which is a new one if the code is. */
uint32_t frame_table_index(frame_table *t, uint64_t code);

/* Says where `code` is: outermost location first, a type (see MEMTRACE_TYPE_FILE) before them;
 * `suspect` if the names may be others. What was said earlier about the same code stays, unless
 * names were missing or suspect in it. False when there is no memory. */
bool frame_table_announce(frame_table *t, uint64_t code, const memtrace_location *locations,
                          uint32_t n, bool suspect);

/* Whether it was said where `code` is. */
bool frame_table_knows(const frame_table *t, uint64_t code);

void frame_table_free(frame_table *t);

#endif
