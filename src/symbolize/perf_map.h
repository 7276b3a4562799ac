/* perf_map.h: the names of code generated at run time, which just-in-time compilers write for perf:
 * /tmp/perf-PID.map has a line `START SIZE NAME` for each function, in hexadecimal. If ranges
 * overlap, the later line is valid: the earlier code is gone. */
#ifndef SYMBOLIZE_PERF_MAP_H
#define SYMBOLIZE_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "symbolize/span_map.h"

typedef struct perf_map_entry {
    uint64_t start, end;
    uint32_t line;               /* source line; 0: unknown */
    const char *function, *file; /* in `text` */
} perf_map_entry;

/* Valid when zeroed: an empty map. */
typedef struct perf_map {
    char *text;
    VEC(perf_map_entry) entries;
    span_map ranges; /* indices of `entries`, without overlaps */
} perf_map;

/* Reads the map that a process left, if it belongs to this user (or root) and is not older than
 * `recorded_at` (microseconds since the epoch), since process ids are reused. Lines that make no
 * sense are ignored. Returns false when out of memory. */
bool perf_map_read(perf_map *map, uint64_t pid, uint64_t recorded_at);

/* Finds the function at an address; false if unknown. The strings are valid until the map is
 * freed. */
bool perf_map_find(const perf_map *map, uint64_t address, memtrace_location *location);

void perf_map_free(perf_map *map);

#endif
