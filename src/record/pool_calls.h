/* pool_calls.h: the functions of allotrace/pool.h, by which a program tells of the blocks of its
 * own pools, and those of heaptrack's API, which tell the same; calls.h lists them. */
#ifndef RECORD_POOL_CALLS_H
#define RECORD_POOL_CALLS_H

#include <stdbool.h>

/* Is another recorder in the process, whose heaptrack's names are? */
bool pool_calls_are_taken(void);

#endif
