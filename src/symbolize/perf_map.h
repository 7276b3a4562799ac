/* perf_map.h: the names of code that a program made at run time, as just-in-time compilers write
 * them for perf: /tmp/perf-PID.map, a line `START SIZE NAME` for each function, in hexadecimal.
 * Where ranges overlap, the later line is right: the code before it is gone. */
#ifndef SYMBOLIZE_PERF_MAP_H
#define SYMBOLIZE_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "symbolize/span_map.h"

typedef struct perf_map_entry {
    uint64_t start, end;
    uint32_t line;               /* of the source; 0: not known */
    const char *function, *file; /* in `text` */
} perf_map_entry;

/* Legal when zeroed: knows nothing. */
typedef struct perf_map {
    char *text;
    VEC(perf_map_entry) entries;
    span_map ranges; /* of entries, without overlap */
} perf_map;

/* Reads what the process left, if it belongs to this user (or root) and is not older than
 * `recorded_at` (microseconds since the epoch): process ids come again. Only text that makes sense
 * is used. False when there is no memory. */
bool perf_map_read(perf_map *map, uint64_t pid, uint64_t recorded_at);

/* The function that an address is in; false: not known. The strings live as long as the map. */
bool perf_map_find(const perf_map *map, uint64_t address, memtrace_location *location);

void perf_map_free(perf_map *map);

#endif
