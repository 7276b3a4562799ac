/* pool_calls.h: the functions of allotrace/pool.h, by which a program reports the blocks of its own
 * pools, and the functions of heaptrack's API, which report the same; calls.h lists them. */
#ifndef RECORD_POOL_CALLS_H
#define RECORD_POOL_CALLS_H

#include <stdbool.h>

/* Returns whether heaptrack itself is in the process. heaptrack's names then belong to it. */
bool pool_calls_are_taken(void);

#endif
