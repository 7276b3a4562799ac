/* relabel.h: changes the names of places in a trace without decoding its events.
 *
 * In traces of our recorder, a packet holds either locations or other events. All names of such a
 * trace can be read and rewritten for the cost of copying the rest, since a code means the same
 * everywhere. If the new names fit into the room that the trace reserves for them (room.h), nothing
 * is copied. The new trace has all names before the first event. A copy is of version 2 if only one
 * domain was recorded. Single-threaded. */
#ifndef TRACE_RELABEL_H
#define TRACE_RELABEL_H

#include <stdio.h>

#include "allotrace/memtrace.h"

typedef struct relabel relabel;

/* Opens a trace. MEMTRACE_USAGE: the trace is compressed, damaged, or not of that kind; use
 * rewrite.h instead. On success, the caller must close `*r`. */
MEMTRACE_NODISCARD memtrace_status relabel_open(relabel **r, const char *path,
                                                memtrace_error *error);
void relabel_close(relabel *r); /* NULL is allowed */

/* Returns a reader of the trace's head and names, without events. It is closed with `r`. */
memtrace_reader *relabel_names(relabel *r);

/* Returns the number of allocations in the trace. */
uint64_t relabel_n_allocations(const relabel *r);

/* Whether the trace is of version 3 without needing it, so that a copy is of version 2, the only
 * one that memtrace 0.2.3 can read. */
bool relabel_lowers_version(const relabel *r);
/* Returns the trace's statement of its end. If that is open, its time means nothing. */
const memtrace_end *relabel_end(const relabel *r);

/* Whether much of the trace is room for names that will stay empty, so that it is worth copying
 * even if no name changes. */
bool relabel_wastes_room(const relabel *r);

/* Gives the locations of a frame, like the hook of memtrace_writer_options. */
typedef size_t relabel_locate(void *user, uint64_t code, const memtrace_frame *frame,
                              memtrace_location *locations, size_t max);

/* Writes the trace with new names to `path`, which is replaced as a whole or not at all. `path` may
 * be the trace being read: then the names are replaced in place, if they fit its room. Whenever
 * this is interrupted, each place has its old or its new name. */
MEMTRACE_NODISCARD memtrace_status relabel_write(relabel *r, relabel_locate *locate, void *user,
                                                 const char *path, memtrace_error *error);

#endif
