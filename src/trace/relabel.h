/* relabel.h: gives the places of a trace other names without reading its events.
 *
 * In a trace whose packets hold either locations or other events, as those of our recorder do, all
 * names can be read, and written anew, for the cost of copying the rest: codes mean the same
 * everywhere. Where the names fit into room that the trace has for them (room.h), nothing is
 * copied. The new trace has all names in front of the first event, and a copy is of version 2 where
 * one domain was recorded. Single-threaded. */
#ifndef TRACE_RELABEL_H
#define TRACE_RELABEL_H

#include <stdio.h>

#include "allotrace/memtrace.h"

typedef struct relabel relabel;

/* Opens a trace. MEMTRACE_USAGE: it is compressed, damaged, or not of that kind; rewrite.h can do
 * more. On success `*r` is the caller's to close. */
MEMTRACE_NODISCARD memtrace_status relabel_open(relabel **r, const char *path,
                                                memtrace_error *error);
void relabel_close(relabel *r); /* NULL is allowed */

/* Reads the head and the names of the trace, and no events. It is closed with `r`. */
memtrace_reader *relabel_names(relabel *r);

/* Allocations in the trace. */
uint64_t relabel_n_allocations(const relabel *r);

/* Whether the trace is of version 3 without needing it, and a copy is of version 2: memtrace 0.2.3
 * reads no other. */
bool relabel_lowers_version(const relabel *r);
/* What the trace says of its end; one that is open is nowhere in particular. */
const memtrace_end *relabel_end(const relabel *r);

/* Whether much of the trace is room for names, which none will go into: worth writing it anew even
 * with the names that it has. */
bool relabel_wastes_room(const relabel *r);

/* Says where a frame is, as the hook of memtrace_writer_options does. */
typedef size_t relabel_locate(void *user, uint64_t code, const memtrace_frame *frame,
                              memtrace_location *locations, size_t max);

/* Writes the trace with other names to `path`, which is replaced as a whole or not at all; it may
 * be the one that is read. That one gets them in place if it has room for them: at whatever moment
 * this ends, each place has its old name or its new one. */
MEMTRACE_NODISCARD memtrace_status relabel_write(relabel *r, relabel_locate *locate, void *user,
                                                 const char *path, memtrace_error *error);

#endif
