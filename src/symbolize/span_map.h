/* span_map.h: from an address to the innermost of the nested address ranges that contain it.
 *
 * Filled first, then sealed, then asked. Ranges should nest; where they overlap without nesting
 * (identical code folding does that) the one that starts later wins. Single-threaded. */
#ifndef SYMBOLIZE_SPAN_MAP_H
#define SYMBOLIZE_SPAN_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define SPAN_NONE UINT32_MAX /* no value may be this */

typedef struct span {
    uint64_t low, high; /* [low, high), never empty */
    uint32_t value;
    uint32_t order; /* of insertion: of two equal ranges the later one is the inner one */
} span;

/* From `start` up to the next edge's start the innermost range is `value`, or there is none. */
typedef struct span_edge {
    uint64_t start;
    uint32_t value;
} span_edge;

/* Legal when zeroed. */
typedef struct span_map {
    VEC(span) spans;      /* what was added; empty once sealed */
    VEC(span_edge) edges; /* ascending, once sealed */
} span_map;

/* Empty ranges are ignored. False when there is no memory. */
bool span_map_add(span_map *map, uint64_t low, uint64_t high, uint32_t value);

/* Ends the filling. False when there is no memory. */
bool span_map_seal(span_map *map);

/* The value of the innermost range with `address`, or SPAN_NONE. The map is sealed. */
uint32_t span_map_find(const span_map *map, uint64_t address);

void span_map_free(span_map *map);

#endif
