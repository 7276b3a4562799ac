/* lifemap.h: blocks by size and lifetime, in classes that are fine enough for a picture. A pure
 * query on the table of blocks. */
#ifndef QUERY_LIFEMAP_H
#define QUERY_LIFEMAP_H

#include "query/cost.h"

enum {
    LIFEMAP_LIVES = 40, /* 0 µs, then two per decade: from 1, 3, 10, 30, … µs on */
    LIFEMAP_SIZES = 64, /* 0 bytes, then one per power of two: from 1, 2, 4, … bytes on */
    LIFEMAP_ALIVE = LIFEMAP_LIVES, /* blocks that were never freed, of any age */
};

/* Return the least of a class; UINT64_MAX for the number after the last class. */
uint64_t lifemap_life(unsigned class);
uint64_t lifemap_size(unsigned class);

typedef struct lifemap_cell {
    uint8_t size, life; /* classes */
    cost cost;
} lifemap_cell;

typedef struct lifemap {
    VEC(lifemap_cell) cells; /* those that are not empty, sorted by size and lifetime */
    cost lives[LIFEMAP_LIVES + 1];
} lifemap;

/* Adds up the rows for which `kept` is not 0; NULL: all rows. `m` tells what costs count:
 * MEASURE_ALLOCATED or MEASURE_BLOCKS. Fills `*result`, which need not be initialized; false when
 * there is no memory. */
bool lifemap_query(const profile *p, const uint8_t *kept, measure m, lifemap *result);

void lifemap_free(lifemap *l);

#endif
