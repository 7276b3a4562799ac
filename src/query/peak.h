/* peak.h: the moment when most was live, how certain that moment is, and what was live then. A pure
 * query on the table of blocks. */
#ifndef QUERY_PEAK_H
#define QUERY_PEAK_H

#include "profile/blocks_spread.h"
#include "profile/profile.h"
#include "query/classes.h"

/* The number of lifetime classes, without that of blocks alive at the end. */
#define PEAK_AGES (LIFETIME_LONG + 1)

typedef struct peak {
    blocks_moment at; /* the peak of all blocks, whichever are kept */
    uint64_t samples; /* of kept blocks that are live at the peak, as in the next fields */
    uint64_t blocks;
    uint64_t heaps[CCT_SOURCES]; /* by the heap in which the block was at the peak */
    uint64_t ages[PEAK_AGES];    /* by how long the block had lived */
    uint64_t later;              /* freed after the peak */
    uint64_t end_samples;        /* live at the end */

    /* The first and the last moment that may have been the true peak, with a confidence of 95%, to
     * within a thousandth of the trace. */
    uint64_t low, high;

    blocks_most own;          /* the peak of the kept blocks alone */
    blocks_spread own_spread; /* bounds of `own` if the order of events is uncertain, at rate 1 */
} peak;

/* `kept` is by row of the table; NULL: all rows. False when there is no memory. */
bool peak_query(const profile *p, const uint8_t *kept, peak *result);

#endif
