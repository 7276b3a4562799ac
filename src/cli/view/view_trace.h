/* view_trace.h: reads the traces that a viewer shows, first so far that it can show something, then
 * in a thread the rest, and on as they grow or are replaced. */
#ifndef CLI_VIEW_VIEW_TRACE_H
#define CLI_VIEW_VIEW_TRACE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/trace_file.h"
#include "serve/viewer.h"

typedef struct view_trace {
    viewer *viewer;
    size_t index; /* of the viewer's traces */
    bool strict;
    bool growing;   /* it is being written */
    bool follow;    /* the thread reads it from its beginning */
    uint64_t after; /* microseconds since the epoch: traces that began before are others */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;  /* guards `first_*` but for the thread and the file */
    pthread_cond_t change; /* of these and of `stopping` */
    atomic_bool stopping;
    atomic_bool has_whole; /* all of it is shown, and nothing is to be said of it */

    /* The pass without blocks over a large trace. */
    pthread_t first_thread;
    trace_file first; /* is the thread's */
    bool has_first;
    bool first_shown, first_over; /* its beginning is shown; it is through, or failed */
    int first_status;

    /* Of the file as it was last read. */
    uint64_t device, inode;
    uint64_t size, changed; /* bytes; nanoseconds */
} view_trace;

/* Reads the trace and publishes it, so that the tree of its beginning at least is there. Returns
 * STATUS_OK, or another status after having said why. With `wait`, the file may not be there yet.
 * `*t` is to be stopped in any case. */
int view_trace_open(view_trace *t, viewer *v, size_t index, bool strict, bool wait);

/* Reads on in a thread of its own. */
void view_trace_start(view_trace *t);

/* Ends reading, and waits for that. The exit status: whether the trace could be read. */
int view_trace_stop(view_trace *t);

#endif
