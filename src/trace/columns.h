/* columns.h: find the file name of a location whose columns overflowed.
 *
 * The most used version of the OCaml library (0.2.3) limits columns to 12 bits but gives them 8 and
 * 10: the high bits of start_char are OR-ed into the low ones of end_char, and those of end_char
 * into the two low bits of the file name's code. A column that is unknown is written as all ones.
 * Such a word may have been written with any code that has some of these two bits cleared. Which
 * one it was shows in what follows: a code must point at an entry that exists, a name that is
 * announced must be a new one, and the packet must end where its last event ends.
 *
 * Sound packets are recognised in one quick walk over their locations. */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/mtf.h"

/* Legal when zeroed. */
typedef struct columns {
    uint64_t packet;     /* offset + 1 of the packet that was examined last */
    bool suspicious;     /* something in that packet makes no sense as it stands */
    bool writer_sound;   /* unknown columns were met that did not overflow: nothing to repair */
    bool lenient;        /* the search may suppose overflow where the columns don't suggest it */
    unsigned steps_left; /* of the search in this packet: damage must not make it endless */
} columns;

/* What stands behind a location's 48 bits. */
typedef struct columns_place {
    const uint8_t *p, *end; /* the rest of the packet, from this location's strings on */
    unsigned n_left;        /* locations that its event still holds */
    unsigned version;
} columns_place;

typedef enum columns_verdict {
    COLUMNS_SOUND,     /* the code is what was written */
    COLUMNS_RECOVERED, /* the code was changed to the only one that is consistent */
    COLUMNS_AMBIGUOUS, /* several are; the code is the likeliest */
} columns_verdict;

/* Looks at a packet as its first location event is met: `place` is behind that event's header, code
 * and number of locations. */
void columns_examine(columns *c, const names *n, uint64_t packet, columns_place place);

/* Decides on the file code of `*word`, given the tables before it. */
columns_verdict columns_choose(columns *c, const names *n, columns_place place,
                               location_word *word);

#endif
