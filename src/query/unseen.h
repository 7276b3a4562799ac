/* unseen.h: whether a process held much more memory than the recorded blocks can have taken, as one
 * does that maps memory and divides it by itself. A pure query on a profile. */
#ifndef QUERY_UNSEEN_H
#define QUERY_UNSEEN_H

#include "profile/profile.h"

/* Bytes. */
typedef struct unseen {
    double held;     /* anonymous memory, at most: what the recorder read of it */
    double recorded; /* the most that can have been live, by 95%; where the profile has no table of
                        blocks, that can have been allocated */
} unseen;

/* True if most was held by something else than the recorded blocks: more than what they need for
 * themselves, stacks of threads and data of libraries explain. Of a trace from a process's start
 * to its end. The slack of a collected heap is not held by something else: of traces with one it is
 * false, as of a recording that was stopped for a while, and without memory to tell. */
bool unseen_find(const profile *p, unseen *found);

#endif
