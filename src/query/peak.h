/* peak.h: the moment when most was live, how surely that was the moment, and what was live then. A
 * pure query on the table of blocks. */
#ifndef QUERY_PEAK_H
#define QUERY_PEAK_H

#include "profile/blocks_spread.h"
#include "profile/profile.h"
#include "query/classes.h"

#define PEAK_AGES                                                                                  \
    (LIFETIME_LONG + 1) /* classes of lifetimes but that of blocks alive at the end                \
                         */

typedef struct peak {
    blocks_moment at; /* of the whole trace, whatever is kept */
    uint64_t samples; /* of what is kept, live then, as the next ones */
    uint64_t blocks;
    uint64_t heaps[CCT_SOURCES]; /* the heap in which it was then */
    uint64_t ages[PEAK_AGES];    /* by how long it had lived */
    uint64_t later;              /* of it, freed after the peak */
    uint64_t end_samples;        /* live at the end */

    /* The first and the last moment at which so much was live that, by 95%, most may have been
     * live then instead. To within a thousandth of the trace. */
    uint64_t low, high;

    blocks_most own;          /* when most of what is kept was live */
    blocks_spread own_spread; /* of it, as far as the order of events is known, at rate 1 */
} peak;

/* `kept` is by row of the table; NULL: all. False when there is no memory. */
bool peak_query(const profile *p, const uint8_t *kept, peak *result);

#endif
