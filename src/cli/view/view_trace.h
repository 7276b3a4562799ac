/* view_trace.h: reads the traces of a viewer: first until there is something to show, then in a
 * thread to the end, and further when they grow or are replaced. */
#ifndef CLI_VIEW_VIEW_TRACE_H
#define CLI_VIEW_VIEW_TRACE_H

#include <pthread.h>
#include <stdatomic.h>

#include "answers/viewer.h"
#include "cli/trace_file.h"

typedef struct view_trace {
    viewer *viewer;
    size_t index; /* in viewer->traces */
    bool strict;
    bool growing;   /* it is being written */
    bool follow;    /* the thread reads it from its start */
    uint64_t after; /* microseconds since the epoch: traces that began before belong to earlier
                       runs */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;  /* guards the `first_*` fields, except first_thread and first */
    pthread_cond_t change; /* signaled when these or `stopping` change */
    atomic_bool stopping;
    atomic_bool has_whole; /* a complete reading is published, without warnings */

    /* The first pass over a large trace, without blocks. */
    pthread_t first_thread;
    trace_file first; /* used only by first_thread */
    bool has_first;
    bool first_shown, first_over; /* the beginning is shown; the pass has ended, perhaps by an
                                     error */
    int first_status;

    int fd; /* the file that the thread follows, which may have been removed; -1: none */
    /* State of the file when it was last read. */
    uint64_t device, inode;
    uint64_t size, changed; /* in bytes; modification time in nanoseconds */
} view_trace;

/* Has the process return the memory of large arrays when they are freed. Otherwise the C library
 * would keep it, in an arena per thread, while a growing trace is read again and again. */
void view_trace_set_malloc(void);

/* Reads the trace until there is something to show, and publishes it. Returns STATUS_OK, or another
 * status after reporting why it failed. With `wait`, the file may not exist yet. The caller must
 * call view_trace_stop in any case. */
int view_trace_open(view_trace *t, viewer *v, size_t index, bool strict, bool wait);

/* Continues reading in a thread. */
void view_trace_start(view_trace *t);

/* Stops reading, and waits for the threads. Returns the exit status, which tells whether the trace
 * could be read. */
int view_trace_stop(view_trace *t);

#endif
