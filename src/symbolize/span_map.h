/* span_map.h: finds the innermost of the nested address ranges that contain an address.
 *
 * Ranges are added first, then the map is sealed, then it answers look-ups. Ranges should nest. If
 * they overlap without nesting (identical code folding does that), the one that starts later wins.
 * Single-threaded. */
#ifndef SYMBOLIZE_SPAN_MAP_H
#define SYMBOLIZE_SPAN_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define SPAN_NONE UINT32_MAX /* not allowed as a value */

typedef struct span {
    uint64_t low, high; /* [low, high), never empty */
    uint32_t value;
    uint32_t order; /* order of insertion: of two equal ranges, the later one is the inner one */
} span;

/* From `start` to the next edge, the innermost range has `value`, or SPAN_NONE if there is none. */
typedef struct span_edge {
    uint64_t start;
    uint32_t value;
} span_edge;

/* Valid when zeroed. */
typedef struct span_map {
    VEC(span) spans;      /* added ranges; empty once sealed */
    VEC(span_edge) edges; /* ascending; filled by sealing */
} span_map;

/* Adds a range; empty ranges are ignored. Returns false when out of memory. */
bool span_map_add(span_map *map, uint64_t low, uint64_t high, uint32_t value);

/* Ends the adding of ranges. Returns false when out of memory. */
bool span_map_seal(span_map *map);

/* Returns the value of the innermost range around `address`, or SPAN_NONE. The map must be
 * sealed. */
uint32_t span_map_find(const span_map *map, uint64_t address);

void span_map_free(span_map *map);

#endif
