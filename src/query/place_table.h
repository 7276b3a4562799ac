/* place_table.h: numbers locations so that what counts as one place has one number. Code that sums
 * up by place need not compare names. */
#ifndef QUERY_PLACE_TABLE_H
#define QUERY_PLACE_TABLE_H

#include "profile/profile.h"

/* What distinguishes places. */
typedef enum place_by {
    PLACE_BY_NAME,     /* the name of the function alone */
    PLACE_BY_FUNCTION, /* the function and its file */
    PLACE_BY_LINE,     /* function, file and line */
} place_by;

/* Legal when zeroed. */
typedef struct place_table {
    uint32_t *of_location;   /* by location: its place */
    VEC(uint32_t) locations; /* by place: its first location */
} place_table;

/* Numbers places from 0, in the order of their first locations. Equal strings must have equal
 * pointers. False when there is no memory. */
bool place_table_make(place_table *p, const profile_location *locations, size_t n, place_by by);

void place_table_free(place_table *p);

#endif
