/* peaks.h: the moments around which memory was at its fullest, however often it emptied between. A
 * pure query on a timeline. */
#ifndef QUERY_PEAKS_H
#define QUERY_PEAKS_H

#include "query/timeline.h"

typedef struct peaks_entry {
    uint64_t time;    /* microseconds since the start */
    uint64_t samples; /* live then */
    uint64_t fall;    /* samples by which it fell on both sides before it was higher; of the largest
                       * peak, all */
} peaks_entry;

typedef VEC(peaks_entry) peaks_list;

/* At most `most` peaks, largest first: the largest, and those from which memory fell by at least
 * `share` of the largest, surely (by 95%), on both sides, before it was higher. Between the points
 * of the timeline nothing is looked for. Fills `*list`, which need not be initialised; false when
 * there is no memory.
 */
bool peaks_query(const timeline *t, double share, size_t most, peaks_list *list);

#endif
