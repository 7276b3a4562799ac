/* time_paths.h: call paths over time, for flames whose x is time: time is cut into columns, and
 * each shows the one stack in which most was allocated then, from the outermost caller inward as
 * long as what goes on is more than what ends. Neighbours with the same calls are one box. */
#ifndef PATHS_TIME_PATHS_H
#define PATHS_TIME_PATHS_H

#include "paths/callpaths.h"

typedef struct time_paths_spec {
    const uint8_t *kept;  /* by row of the table; NULL: all */
    uint64_t from, to;    /* microseconds, the latter not included, and later */
    uint32_t columns;     /* at most; fewer, where there are few blocks */
    uint32_t rows;        /* of boxes below the root */
    bool (*stop)(void *); /* asked now and then whether nobody waits any more; NULL: not asked */
    void *context;
} time_paths_spec;

typedef struct time_paths_box {
    uint32_t place;      /* number of a location of the tree; PATH_NOWHERE: the root */
    uint32_t parent;     /* smaller than the box's own index; PATH_NOWHERE: of the root */
    uint32_t first, end; /* columns */
    cost total;          /* allocated in these with these calls */
} time_paths_box;

typedef struct time_paths {
    VEC(time_paths_box) boxes; /* in preorder, siblings by time; the first is the root */
    uint32_t columns;
} time_paths;

/* Fills `*result`, which need not be initialised; false when there is no memory, or it was stopped.
 * `v` is of whole stacks inward, with recursion as it is. */
bool time_paths_query(const callpaths *v, const time_paths_spec *spec, time_paths *result);

/* When a column begins. */
uint64_t time_paths_begin(const time_paths_spec *spec, const time_paths *t, uint32_t column);

void time_paths_free(time_paths *t);

#endif
