/* gauges.h: quantities that the recorder measured beside the heap, such as the memory that the
 * system sees, by name and in the order of time. A pure query on the marks of a profile. */
#ifndef PROFILE_GAUGES_H
#define PROFILE_GAUGES_H

#include "profile/profile.h"

typedef struct gauge_reading {
    uint64_t time;  /* microseconds since the start */
    uint64_t bytes; /* where the quantity is memory, as all are that this project records */
} gauge_reading;

/* At least one reading. */
typedef struct gauge {
    const char *name;
    VEC(gauge_reading) readings; /* by time */
} gauge;

typedef VEC(gauge) gauge_list;

/* Every quantity, in the order in which they first stand in the trace. Fills `*list`, which need
 * not be initialised; false when there is no memory. */
bool gauges_find(const profile *p, gauge_list *list);

void gauges_free(gauge_list *list);

/* Who said all that: "the system", of the process, or also the language runtime, of its heap. */
const char *gauges_source(const gauge_list *list);

/* The last reading up to a moment, that included; NULL: it was not read yet. */
const gauge_reading *gauge_at(const gauge *g, uint64_t time);

/* The highest reading in [begin, end), or the last one before if there is none; NULL: neither. */
const gauge_reading *gauge_most(const gauge *g, uint64_t begin, uint64_t end);

static inline const gauge_reading *gauge_last(const gauge *g) {
    return &g->readings.items[g->readings.count - 1];
}

#endif
