/* regions.h: the address ranges that a program has mapped itself. A call that unmaps, moves or
 * replaces any part of them can then be described by its effect on each range. The ranges are
 * ordered and do not overlap. Knows nothing of calls and events. */
#ifndef RECORD_REGIONS_H
#define RECORD_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/memory.h"

typedef struct region {
    uintptr_t start, end; /* start < end */
    uint8_t type;         /* enum call_type of the call that mapped it */
    bool reserved;        /* address space only: it may not be accessed yet */
} region;

/* Valid when zeroed, except for `memory`. A treap. The caller must ensure that one thread at a time
 * uses it. */
typedef struct regions {
    memory *memory;
    struct region_node *root;
} regions;

/* Finds the first region that overlaps [start, end). */
bool regions_find(const regions *all, uintptr_t start, uintptr_t end, region *found);

/* Adds a region, which must not overlap another one. Returns false if there is no memory. */
bool regions_add(regions *all, region r);

/* Removes the region that starts at `start`, which must exist. */
void regions_remove(regions *all, uintptr_t start);

#endif
