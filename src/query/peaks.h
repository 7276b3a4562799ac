/* peaks.h: the moments at which memory was fullest, however often it emptied in between. A pure
 * query on a timeline. */
#ifndef QUERY_PEAKS_H
#define QUERY_PEAKS_H

#include "query/timeline.h"

typedef struct peaks_entry {
    uint64_t time;    /* microseconds since the start */
    uint64_t samples; /* live at that time */
} peaks_entry;

typedef VEC(peaks_entry) peaks_list;

/* Finds at most `most` peaks, largest first: the largest, and those from which memory surely (by
 * 95%) fell by at least `share` of the largest, on both sides, before it was higher. Only the
 * points of the timeline are examined. Fills `*list`, which need not be initialized; false when
 * there is no memory. */
bool peaks_query(const timeline *t, double share, size_t most, peaks_list *list);

#endif
