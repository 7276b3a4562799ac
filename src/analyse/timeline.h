/* timeline.h: what was live, and how fast was allocated, as time went by. A pure query on the table
 * of blocks: samples in equally long stretches of time. */
#ifndef ANALYSE_TIMELINE_H
#define ANALYSE_TIMELINE_H

#include "analyse/cost.h"
#include "analyse/sites.h"

#define TIMELINE_END UINT64_MAX /* the end of the trace */

typedef struct timeline_spec {
    const uint8_t *kept; /* by row of the table; NULL: all */
    uint64_t from, to;   /* microseconds since the start; events at `to` count */
    uint64_t points;     /* at least 1; there are fewer if a stretch would be below 1 µs */
    bool without_peak;   /* leave `peak_time` and `peak_samples` 0, which saves a pass or two */
    bool numbers;        /* numbers of blocks, too */
} timeline_spec;

/* A stretch of time. All are samples. A promoted block is in the minor heap before, and in the
 * major heap from then on. */
typedef struct timeline_point {
    uint64_t begin, end;             /* microseconds; the events at `end` are the next one's */
    uint64_t live[CCT_SOURCES];      /* at its end */
    uint64_t allocated[CCT_SOURCES]; /* within it, by heap, as the next two */
    uint64_t promoted, freed;
} timeline_point;

/* The same in numbers of blocks: costs by MEASURE_BLOCKS. */
typedef struct timeline_numbers {
    cost live[CCT_SOURCES], allocated[CCT_SOURCES], promoted, freed;
} timeline_numbers;

typedef struct timeline {
    VEC(timeline_point) points;
    VEC(timeline_numbers) numbers;    /* by point; none unless asked for */
    uint64_t peak_time, peak_samples; /* of what is kept, in the whole trace */
    uint64_t end_samples;             /* live at the end of the trace */
    cost peak_number, end_number;     /* blocks live at these times; 0 unless asked for */
} timeline;

/* Fills `*t`, which need not be initialised; false when there is no memory. */
bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t);

void timeline_free(timeline *t);

/* What is live of one place. */
typedef struct timeline_site {
    const profile_location *place; /* NULL: without backtrace */
    uint64_t samples;              /* live when most of all sites was */
    cost number;                   /* the same in blocks; 0 unless asked for */
    timeline line;
} timeline_site;

typedef VEC(timeline_site) timeline_sites;

/* The `top` sites of which most was live at `time`, in blocks if the spec asks for these, largest
 * first. Fills `*list`, which need not be
 * initialised; false when there is no memory. */
bool timeline_of_sites(const lens *l, const timeline_spec *spec, bool by_function, uint64_t time,
                       uint64_t top, timeline_sites *list);

void timeline_sites_free(timeline_sites *list);

#endif
