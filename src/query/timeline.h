/* timeline.h: what was live, and how fast was allocated, as time went by. A pure query on the table
 * of blocks: samples in equally long stretches of time. */
#ifndef QUERY_TIMELINE_H
#define QUERY_TIMELINE_H

#include "profile/blocks_spread.h"
#include "query/cost.h"
#include "query/groups.h"

#define TIMELINE_END UINT64_MAX /* the end of the trace */

typedef struct timeline_spec {
    const uint8_t *kept; /* by row of the table; NULL: all */
    uint64_t from, to;   /* microseconds since the start; events at `to` count */
    uint64_t points;     /* at least 1; there are fewer if a stretch would be below 1 µs */
    bool without_peak;   /* leave `peak` 0, which saves a pass or two */
    measure measure;     /* costs by MEASURE_BLOCKS or MEASURE_BYTESECONDS, too; else none */
} timeline_spec;

/* A stretch of time. All are samples. A promoted block is in the minor heap before, and in the
 * major heap from then on. */
typedef struct timeline_point {
    uint64_t begin, end;             /* microseconds; the events at `end` are the next one's */
    uint64_t live[CCT_SOURCES];      /* at its end */
    uint64_t allocated[CCT_SOURCES]; /* within it, by heap, as the next two */
    uint64_t promoted, freed;
} timeline_point;

/* The same in costs. By MEASURE_BLOCKS, of numbers of blocks. By MEASURE_BYTESECONDS, `live` is
 * what is live within the stretch times how long it is there, so that all stretches add up to the
 * whole; the others are of the whole lives of those blocks that are allocated, promoted or freed
 * then. */
typedef struct timeline_costs {
    cost live[CCT_SOURCES], allocated[CCT_SOURCES], promoted, freed;
    cost held; /* by MEASURE_BYTESECONDS, `live` of all heaps: one that moves is not two blocks */
} timeline_costs;

typedef struct timeline {
    VEC(timeline_point) points;
    VEC(timeline_costs) costs; /* by point; none unless asked for */
    blocks_most peak;          /* of what is kept, in the whole trace */
    blocks_spread spread;      /* of the peak, as far as the order is known, at rate 1 */
    uint64_t end_samples;      /* live at the end of the trace */
    cost peak_cost, end_cost;  /* of blocks live at these times; 0 unless asked for */
} timeline;

/* Fills `*t`, which need not be initialised; false when there is no memory. */
bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t);

void timeline_free(timeline *t);

/* What is live of one place, thread or class of life. */
typedef struct timeline_group {
    group of;
    uint32_t index;   /* in the groups that were found */
    uint64_t samples; /* live when most of all was */
    cost cost;        /* of those blocks, or of all by MEASURE_BYTESECONDS: what they hold in the
                         time that the spec names; 0 unless asked for */
    timeline line;
} timeline_group;

typedef VEC(timeline_group) timeline_groups;

/* The `top` groups of which most was live `at` a moment, by the measure of the spec; by
 * MEASURE_BYTESECONDS those that hold most in all its time. Largest first; classes of life from the
 * shortest on. Fills `*list`, which need not be initialised; false when there is no memory. */
bool timeline_of_groups(const lens *l, const timeline_spec *spec, groups_by by, blocks_moment at,
                        uint64_t top, timeline_groups *list);

void timeline_groups_free(timeline_groups *list);

#endif
