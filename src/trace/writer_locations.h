/* writer_locations.h: location events: which codes a stream has announced, and the move-to-front
 * tables that shorten their names.
 *
 * Neither fetches locations nor writes packets; memory comes from the caller's `reallocate`. */
#ifndef TRACE_WRITER_LOCATIONS_H
#define TRACE_WRITER_LOCATIONS_H

#include "allotrace/memtrace.h"
#include "trace/format.h"

/* A set of codes: open addressing, at most half full. Legal when zeroed. */
typedef struct code_set {
    uint64_t *slots; /* 0: empty */
    size_t n_slots;  /* 0, or a power of two */
    size_t count;    /* of slots in use */
    bool has_zero;   /* the code that slots cannot hold */
} code_set;

typedef struct name {
    const char *bytes; /* NULL: the entry is empty */
    size_t size;       /* of the whole name, which may stand shortened in the trace */
} name;

/* Names stay in their slots; a name's code is its position in `order`. */
typedef struct name_table {
    uint8_t order[FORMAT_NAMES]; /* slots, most recently used first */
    name slots[FORMAT_NAMES];
} name_table;

typedef struct location_names {
    name_table files;
    name_table functions[FORMAT_NAMES]; /* one a slot of `files`; ready once that is in use */
} location_names;

typedef void *code_set_reallocate(void *context, void *old, size_t old_size, size_t size);

/* Adds a code; `*added` says whether it is new. False when there is no memory. */
bool code_set_add(code_set *set, uint64_t code, code_set_reallocate *reallocate, void *context,
                  bool *added);
void code_set_free(code_set *set, code_set_reallocate *reallocate, void *context);

void location_names_init(location_names *names);

/* How an event fits. */
typedef struct location_plan {
    size_t n;    /* locations that are left */
    size_t name; /* the most bytes that a name keeps */
    size_t size; /* the most that the event takes, without its header */
} location_plan;

/* Shortens names, and if that does not do drops outer locations, but not a type, until the event
 * fits `room` bytes, which must be enough for two locations. */
location_plan location_fit(memtrace_location *locations, size_t n, size_t room);

/* Writes the event, without its header, and returns the place after it. */
uint8_t *location_put(location_names *names, uint8_t *p, uint64_t code,
                      const memtrace_location *locations, const location_plan *plan);

#endif
