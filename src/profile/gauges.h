/* gauges.h: quantities that the recorder measured beside the heap, such as the memory that the
 * system sees, by name and sorted by time. A pure query on the marks of a profile. */
#ifndef PROFILE_GAUGES_H
#define PROFILE_GAUGES_H

#include "profile/profile.h"

typedef struct gauge_reading {
    uint64_t time;  /* microseconds since the start */
    uint64_t bytes; /* all gauges that this project records are memory */
} gauge_reading;

/* Has at least one reading. */
typedef struct gauge {
    const char *name;
    VEC(gauge_reading) readings; /* sorted by time */
} gauge;

typedef VEC(gauge) gauge_list;

/* Finds all gauges, in the order of their first readings in the trace. Fills `*list`, which need
 * not be initialized; false when there is no memory. */
bool gauges_find(const profile *p, gauge_list *list);

void gauges_free(gauge_list *list);

/* Names the sources of the gauges for a sentence: "the system" reports on the process, the language
 * runtime on its heap. */
const char *gauges_source(const gauge_list *list);

/* Returns the last reading at or before a moment; NULL: there is none. */
const gauge_reading *gauge_at(const gauge *g, uint64_t time);

/* Returns the highest reading in [begin, end), or the last one before if there is none; NULL:
 * neither. */
const gauge_reading *gauge_most(const gauge *g, uint64_t begin, uint64_t end);

static inline const gauge_reading *gauge_last(const gauge *g) {
    return &g->readings.items[g->readings.count - 1];
}

#endif
