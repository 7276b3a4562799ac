/* regions.h: which stretches of the address space a program has mapped itself, so that a call which
 * unmaps, moves or replaces any part of them can be told as what it does to each. Keeps them apart
 * and in order; knows nothing of calls and events. */
#ifndef RECORD_REGIONS_H
#define RECORD_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/memory.h"

typedef struct region {
    uintptr_t start, end; /* start < end */
    uint8_t type;         /* enum call_type of the memory */
    bool reserved;        /* address space alone: nobody may touch it yet */
} region;

/* Legal when zeroed, but for `memory`. A treap. Its user sees to it that one thread is at it. */
typedef struct regions {
    memory *memory;
    struct region_node *root;
} regions;

/* The first region that shares a byte with [start, end). */
bool regions_find(const regions *all, uintptr_t start, uintptr_t end, region *found);

/* It must share nothing with another. False: there is no memory. */
bool regions_add(regions *all, region r);

/* The region that starts there, which must be in it. */
void regions_remove(regions *all, uintptr_t start);

#endif
