/* run_go_feed.h: a thread that reads the heap profile of a running Go program again and again into
 * a trace that grows, for those who read the trace meanwhile: receivers of profiles, the viewer,
 * the live table, the keeper of a ring (import/import_go_trace.h).
 *
 * The program is not stopped: each bucket is read until two readings agree (GO_HEAP_RUNS), and
 * whatever one reading misses is in the next one. So neither ptrace nor a particular thread is
 * needed. The trace is locked while it is written, like that of a recorder. */
#ifndef CLI_RUN_RUN_GO_FEED_H
#define CLI_RUN_RUN_GO_FEED_H

#include <stdbool.h>
#include <sys/types.h>

#include "import/import_go_trace.h"

typedef struct run_go_feed run_go_feed;

typedef struct run_go_feed_how {
    const char *path, *program; /* of the trace; the program name stored in it */
    pid_t pid, inner;           /* `inner` is the pid in the process's own namespace; 0: the same */
    uint64_t start_time;        /* of the trace, us since the epoch */
    uint64_t every_us;          /* period at which the trace is read; 0: at any time */
    uint64_t space; /* bytes on the disk: while the trace takes as much, nothing is added; 0: no
                       limit */
    bool from_now;  /* ignore blocks freed before now, and take the first reading at once */
} run_go_feed_how;

/* Starts the thread. Everything is copied except `memory`, which must stay open. The trace file is
 * created when there is something to write. Returns NULL with errno set. */
run_go_feed *run_go_feed_start(const run_go_feed_how *how, const go_program *p, int memory);

/* Stops the thread. The last reading is `last`. If that is NULL, a reading is made now, or, if the
 * program is gone, the latest one is used. */
void run_go_feed_stop(run_go_feed *f, const go_heap *last);

/* Return the resulting trace, and the latest reading, once the thread is stopped. The trace is NULL
 * if none was begun. */
const go_trace *run_go_feed_trace(const run_go_feed *f);
const go_heap *run_go_feed_heap(const run_go_feed *f);

/* Returns why there is no trace, as far as is known: "its profile ...". */
const char *run_go_feed_why_not(const run_go_feed *f);

/* Ends the trace. Returns 0 or an errno. */
int run_go_feed_end(run_go_feed *f);

/* If there is already a trace of this process at `path`, from an earlier program or recording,
 * renames it. */
void run_go_feed_keep_earlier(pid_t pid, const char *path);

void run_go_feed_free(run_go_feed *f); /* NULL is allowed */

#endif
