/* writer_locations.h: writes location events: the set of codes that a stream has announced, and the
 * move-to-front tables that shorten their names.
 *
 * Neither looks up locations nor writes packets. Memory comes from the caller's `reallocate`. */
#ifndef TRACE_WRITER_LOCATIONS_H
#define TRACE_WRITER_LOCATIONS_H

#include "allotrace/memtrace.h"
#include "trace/format.h"

/* A set of codes: open addressing, at most half full. Valid when zeroed. */
typedef struct code_set {
    uint64_t *slots; /* 0: empty */
    size_t n_slots;  /* 0, or a power of two */
    size_t count;    /* number of slots in use */
    bool has_zero;   /* whether 0 is in the set, which slots cannot hold */
} code_set;

typedef struct name {
    const char *bytes; /* NULL: the entry is empty */
    size_t size;       /* of the whole name, even if the trace has it shortened */
} name;

/* Names stay in their slots. The code of a name is its position in `order`. */
typedef struct name_table {
    uint8_t order[FORMAT_NAMES]; /* slots, most recently used first */
    name slots[FORMAT_NAMES];
} name_table;

typedef struct location_names {
    name_table files;
    /* One for each slot of `files`; initialized when the slot is first used. */
    name_table functions[FORMAT_NAMES];
} location_names;

typedef void *code_set_reallocate(void *context, void *old, size_t old_size, size_t size);

/* Adds a code. `*added`: it is new. Returns false when out of memory. */
bool code_set_add(code_set *set, uint64_t code, code_set_reallocate *reallocate, void *context,
                  bool *added);
void code_set_free(code_set *set, code_set_reallocate *reallocate, void *context);

void location_names_init(location_names *names);

/* How an event is made to fit. */
typedef struct location_plan {
    size_t n;    /* locations that are kept */
    size_t name; /* most bytes of a name */
    size_t size; /* upper bound of the event's size, without its header */
} location_plan;

/* Makes an event fit `room` bytes, which must be enough for two locations: shortens names, and if
 * that is not enough, drops outer locations, but never a type. */
location_plan location_fit(memtrace_location *locations, size_t n, size_t room);

/* Writes the event without its header, and returns the position after it. */
uint8_t *location_put(location_names *names, uint8_t *p, uint64_t code,
                      const memtrace_location *locations, const location_plan *plan);

#endif
