/* family.h: pushes what the processes of one run record. Each process is a series of its own, as
 * the process id is one of its labels.
 *
 * Problem. A run may have thousands of processes. Most live shorter than the time between two
 * pushes, some as long as the run. Nothing announces that one begins.
 *
 * Way. Traces are found in their folder by the pattern of their names, or come from a source that
 * knows them, such as a ring, whose traces do not stay in the folder. Each trace gets a session
 * (push.h) while a place is free, so memory follows the number of places, not of processes. A trace
 * that must wait loses nothing, since it is on disk. A session ends when its process has ended and
 * the receivers have everything, so a receiver that is down occupies places, not memory. All
 * sessions find names through one symbolizer, so what forks share is looked up once.
 *
 * Why not otherwise. A single session that reads all traces in turn would have to leave each at its
 * end and return later, which readers cannot do. If recorders called us, they would have to know
 * about pushing.
 *
 * What must hold. A process that ends before its first push is pushed at its end, once. */
#ifndef PUSH_FAMILY_H
#define PUSH_FAMILY_H

#include <time.h>

#include "push/push.h"

enum { FAMILY_PLACES = 129 }; /* a program, and as many children as a ring follows */

/* A trace to push. */
typedef struct family_trace {
    int fd; /* closed by the family; -1: it could not be opened */
    uint64_t pid;
    uint64_t number;         /* for use by the source */
    push_position *position; /* kept up to date; NULL: not needed */
} family_trace;

/* A source of traces, used instead of searching the folder. Its functions are called from the
 * thread. */
typedef struct family_source {
    bool (*next)(void *context, family_trace *t); /* sets a new trace; false: there is none */
    bool (*is_over)(void *context, const family_trace *t); /* nothing more will be written */
    void (*end)(void *context, const family_trace *t);     /* the trace is no longer needed */
    uint64_t (*n_missed)(void *context); /* traces that were gone before they could be returned */
    void *context;
} family_source;

typedef struct family_options {
    push_options push;
    family_source source; /* all zero: search by `pattern` */
    const char
        *pattern; /* of the traces' names (contract/trace_name.h), with %p in the last component */

    /* Called from the thread when a process has ended: completes its trace with what it had not
     * written. */
    void (*complete)(void *context, uint64_t pid);
    void *context;
} family_options;

typedef struct push_family push_family;

/* Starts pushing. What `o` refers to must outlive the family. Errors are as in push_start. */
__attribute__((nonnull)) push_family *family_start(const family_options *o, char *error,
                                                   size_t size);

/* Ends pushing when the run has ended: sends the rest, which takes PUSH_END_MS at most. Of
 * processes that go on, what they have written by then is sent. Reports the result, and frees. NULL
 * is allowed. `enough` is as in push_finish. */
void family_finish(push_family *f, bool (*enough)(void *context), void *context);

#endif
