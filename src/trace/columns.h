/* columns.h: finds the file name of a location whose columns overflowed.
 *
 * The most widely used version of the OCaml library (0.2.3) clamps columns to 12 bits but stores
 * them in fields of 8 and 10 bits. The high bits of start_char are OR-ed into the low bits of
 * end_char, and those of end_char into the two low bits of the file name's code. An unknown column
 * is written as all ones. If both of these bits are set in the code of such a location, the
 * original code may have had one or both of them clear. Later data tells which code was written: a
 * code must point at an existing entry, an announced name must be new, and the packet must end
 * where its last event ends.
 *
 * Sound packets are recognized in one quick walk over their locations. */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/mtf.h"

/* Valid when zeroed. */
typedef struct columns {
    uint64_t packet; /* offset + 1 of the packet that was examined last */
    bool suspicious; /* something in that packet makes no sense */
    /* Unknown columns were seen that had not overflowed, so there is nothing to repair. */
    bool writer_sound;
    /* The search may assume overflow even where the columns do not suggest it. */
    bool lenient;
    /* Search steps left in this packet, so that damaged data cannot make the search endless. */
    unsigned steps_left;
} columns;

/* The data that follows a location's 48 bits. */
typedef struct columns_place {
    const uint8_t *p, *end; /* the rest of the packet, starting at this location's strings */
    unsigned n_left;        /* locations left in the same event */
    unsigned version;
} columns_place;

typedef enum columns_verdict {
    COLUMNS_SOUND,     /* the code is what was written */
    COLUMNS_RECOVERED, /* the code was changed to the only consistent one */
    COLUMNS_AMBIGUOUS, /* several codes are consistent; this one is the likeliest */
} columns_verdict;

/* Examines a packet when its first location event is reached. `place` starts after that event's
 * header, code and number of locations. */
void columns_examine(columns *c, const names *n, uint64_t packet, columns_place place);

/* Decides on the file code of `*word`, given the tables as they are before it. */
columns_verdict columns_choose(columns *c, const names *n, columns_place place,
                               location_word *word);

#endif
