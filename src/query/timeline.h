/* timeline.h: what was live, and how much was allocated, over time. A pure query on the table of
 * blocks: samples in points, which are equal intervals of time. */
#ifndef QUERY_TIMELINE_H
#define QUERY_TIMELINE_H

#include "profile/blocks_spread.h"
#include "query/cost.h"
#include "query/groups.h"

#define TIMELINE_END UINT64_MAX /* the end of the trace */

typedef struct timeline_spec {
    const uint8_t *kept; /* by row of the table; NULL: all */
    uint64_t from, to;   /* microseconds since the start; `to` is included */
    uint64_t points;     /* at least 1; fewer if a point would be shorter than 1 µs */
    bool without_peak;   /* leave `peak` 0, which saves a pass or two */
    measure measure;     /* MEASURE_BLOCKS or MEASURE_BYTESECONDS adds costs; others do not */
} timeline_spec;

/* One interval of time; all amounts are in samples. A promoted block is in the minor heap before
 * its promotion, and in the major heap after it. */
typedef struct timeline_point {
    uint64_t begin, end;             /* microseconds; events at `end` belong to the next point */
    uint64_t live[CCT_SOURCES];      /* at its end */
    uint64_t allocated[CCT_SOURCES]; /* within it, by heap, as the next two */
    uint64_t promoted, freed;
} timeline_point;

/* The same as costs. By MEASURE_BLOCKS, these are numbers of blocks. By MEASURE_BYTESECONDS, `live`
 * is what is live within the point times how long it is, so that the points add up to the whole;
 * the others are the whole lives of the blocks that are allocated, promoted or freed then. */
typedef struct timeline_costs {
    cost live[CCT_SOURCES], allocated[CCT_SOURCES], promoted, freed;
    cost held; /* by MEASURE_BYTESECONDS: `live` of all heaps, promoted blocks counted once */
} timeline_costs;

typedef struct timeline {
    VEC(timeline_point) points;
    VEC(timeline_costs) costs; /* by point; empty unless asked for */
    blocks_most peak;          /* of the kept blocks, in the whole trace */
    blocks_spread spread; /* bounds of the peak if the order of events is uncertain, at rate 1 */
    uint64_t end_samples; /* live at the end of the trace */
    cost peak_cost, end_cost; /* live at these times; 0 unless asked for */
} timeline;

/* Fills `*t`, which need not be initialized; false when there is no memory. */
bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t);

void timeline_free(timeline *t);

/* What is live of one place, thread or class of lifetimes. */
typedef struct timeline_group {
    group of;
    uint32_t index;   /* in the groups that were found */
    uint64_t samples; /* live at the moment that was asked for */
    /* Of the blocks in `samples` or, by MEASURE_BYTESECONDS, of all blocks of the group over the
     * time range of the spec; 0 unless asked for. */
    cost cost;
    timeline line;
} timeline_group;

typedef VEC(timeline_group) timeline_groups;

/* Finds the `top` groups of which most was live `at` a moment by the measure of the spec; by
 * MEASURE_BYTESECONDS, those that hold most in its whole time range. Largest first, but classes of
 * lifetimes from the shortest on. Fills `*list`, which need not be initialized; false when there is
 * no memory. */
bool timeline_of_groups(const lens *l, const timeline_spec *spec, groups_by by, blocks_moment at,
                        uint64_t top, timeline_groups *list);

void timeline_groups_free(timeline_groups *list);

#endif
