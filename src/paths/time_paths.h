/* time_paths.h: call paths over time, for a flame graph whose x axis is time. Time is cut into
 * columns. Each column shows one path: from the outermost caller inward, each step goes to the
 * callee with the most memory allocated in that time, and the path ends where the function itself
 * allocated more than that callee. Adjacent columns with the same calls share a box. */
#ifndef PATHS_TIME_PATHS_H
#define PATHS_TIME_PATHS_H

#include "paths/callpaths.h"

typedef struct time_paths_spec {
    const uint8_t *kept;  /* by row of the table; NULL: all rows */
    uint64_t from, to;    /* microseconds; `to` is later than `from` and not included */
    uint32_t columns;     /* at most; fewer if there are few blocks */
    uint32_t rows;        /* of boxes below the root */
    bool (*stop)(void *); /* asked now and then whether to stop; NULL: not asked */
    void *context;
} time_paths_spec;

typedef struct time_paths_box {
    uint32_t place;      /* number of a location of the tree; PATH_NOWHERE: the root */
    uint32_t parent;     /* less than the box's own index; PATH_NOWHERE: of the root */
    uint32_t first, end; /* columns */
    cost total;          /* allocated in these columns with these calls */
} time_paths_box;

typedef struct time_paths {
    VEC(time_paths_box) boxes; /* in preorder, siblings by time; the root is first */
    uint32_t columns;
} time_paths;

/* Fills `*result`, which need not be initialized; false when there is no memory or it was stopped.
 * `v` must be a view of whole stacks inward, without collapsed recursion. */
bool time_paths_query(const callpaths *v, const time_paths_spec *spec, time_paths *result);

/* Returns when a column begins. */
uint64_t time_paths_begin(const time_paths_spec *spec, const time_paths *t, uint32_t column);

void time_paths_free(time_paths *t);

#endif
