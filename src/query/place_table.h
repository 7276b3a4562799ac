/* place_table.h: numbers for locations: what shall count as one place has one number, so that
 * nobody who sums up by place has to compare names. */
#ifndef QUERY_PLACE_TABLE_H
#define QUERY_PLACE_TABLE_H

#include "profile/profile.h"

/* What tells places apart. */
typedef enum place_by {
    PLACE_BY_NAME,     /* the function's name alone */
    PLACE_BY_FUNCTION, /* that, and its file */
    PLACE_BY_LINE,     /* these, and the line */
} place_by;

/* Legal when zeroed. */
typedef struct place_table {
    uint32_t *of_location;   /* by location: its place */
    VEC(uint32_t) locations; /* by place: the first location that is in it */
} place_table;

/* Places are numbered from 0, in the order of their first locations. Strings of these are equal if
 * their pointers are. False when there is no memory. */
bool place_table_make(place_table *p, const profile_location *locations, size_t n, place_by by);

void place_table_free(place_table *p);

#endif
