/* family.h: pushes what the processes of one run record, each by itself: each is a series of its
 * own, as its labels have its process id.
 *
 * Problem. A run may have thousands of processes. Most live shorter than the time between two
 * pushes, some as long as the run; nobody tells when one begins.
 *
 * Way. Traces are found in their folder, by the pattern of their names, or given by a source that
 * knows them, as that of a ring, whose traces do not stay there. Each gets a session
 * (push.h) while a place is free: memory follows the number of places, not that of processes. Those
 * that have to wait lose nothing, as their traces are on the disk. A session ends when its process
 * has ended and the receivers have all; so a receiver that is down holds places, not memory. Names
 * are found by one symbolizer: what forks share is looked up once.
 *
 * Why not otherwise. A session that reads all traces in turn had to leave each at its end and come
 * back, which readers cannot. Recorders that call here would have to know us.
 *
 * What must hold. A process that ends before its first push is pushed at its end, once. */
#ifndef PUSH_FAMILY_H
#define PUSH_FAMILY_H

#include <time.h>

#include "push/push.h"

enum { FAMILY_PLACES = 129 }; /* a program, and as many children as a ring follows */

/* A trace that is to be pushed. */
typedef struct family_trace {
    int fd; /* the family's to close; -1: it could not be had */
    uint64_t pid;
    uint64_t number;         /* the source's own */
    push_position *position; /* is kept up to date; NULL: nobody asks */
} family_trace;

/* Who knows the traces, where they are not to be looked for. Called from the thread. */
typedef struct family_source {
    bool (*next)(void *context, family_trace *t);          /* one that is new; false: none is */
    bool (*is_over)(void *context, const family_trace *t); /* nothing more comes */
    void (*end)(void *context, const family_trace *t);     /* it is not needed any more */
    uint64_t (*n_missed)(void *context); /* how many were gone before they could be given */
    void *context;
} family_source;

typedef struct family_options {
    push_options push;
    family_source source; /* zeroed: the pattern tells */
    const char
        *pattern; /* of the traces' names (contract/trace_name.h), with %p in its last part */

    /* A process has ended: adds to its trace what it had not written. Called from the thread. */
    void (*complete)(void *context, uint64_t pid);
    void *context;
} family_options;

typedef struct push_family push_family;

/* Begins; what `o` refers to must outlive it. The rest is as of push_start. */
__attribute__((nonnull)) push_family *family_start(const family_options *o, char *error,
                                                   size_t size);

/* The run has ended: sends the rest, which takes PUSH_END_MS at most, of processes that go on what
 * there is; tells what became of all, and frees. NULL is allowed. */
void family_finish(push_family *f);

#endif
