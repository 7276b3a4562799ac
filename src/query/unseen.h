/* unseen.h: whether a process held much more memory than the recorded blocks can have taken, such
 * as one that maps memory and divides it up itself. A pure query on a profile. */
#ifndef QUERY_UNSEEN_H
#define QUERY_UNSEEN_H

#include "profile/profile.h"

/* In bytes. */
typedef struct unseen {
    double held; /* largest reading of anonymous memory */
    /* The most that can have been live, with a confidence of 95%; if the profile has no table of
     * blocks, the most that can have been allocated. */
    double recorded;
} unseen;

/* Returns true if most of the memory was not held by recorded blocks, and by more than the overhead
 * of blocks, stacks of threads and data of libraries explain. The trace must be of a process from
 * start to end. False for traces with a collected heap, whose slack would look the same, for
 * recordings that were stopped for a while, and when there is no memory. */
bool unseen_find(const profile *p, unseen *found);

#endif
