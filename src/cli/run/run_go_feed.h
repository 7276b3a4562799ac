/* run_go_feed.h: reads the profile of a Go program again and again while it runs, by a thread, into
 * a trace that grows, for those who follow one: receivers of profiles, the viewer, the live table,
 * the keeper of a ring (import/import_go_trace.h).
 *
 * The program is not stopped for it: each bucket is read until it holds still
 * (GO_HEAP_RUNS), and the next reading gets what this one leaves out. So nothing here needs ptrace,
 * nor a particular thread. The trace is locked while it is written, as that of a recorder. */
#ifndef CLI_RUN_RUN_GO_FEED_H
#define CLI_RUN_RUN_GO_FEED_H

#include <stdbool.h>
#include <sys/types.h>

#include "import/import_go_trace.h"

typedef struct run_go_feed run_go_feed;

typedef struct run_go_feed_how {
    const char *path, *program; /* of the trace; what it says it is of */
    pid_t pid, inner;           /* as the process itself has it; 0: the same */
    uint64_t start_time;        /* of the trace, us since the epoch */
    uint64_t every_us;          /* how often somebody looks; 0: at any time */
    uint64_t space; /* on the disk: while the trace takes as much, nothing is added; 0: any */
    bool from_now;  /* what was freed before does not count; and it begins at once */
} run_go_feed_how;

/* Begins. All is copied but `memory`, which must stay open. The trace is there when there is
 * something to say. NULL: errno. */
run_go_feed *run_go_feed_start(const run_go_feed_how *how, const go_program *p, int memory);

/* The last reading is `last`, or, if that is NULL, one that is made now; if the program is gone,
 * the latest one was. */
void run_go_feed_stop(run_go_feed *f, const go_heap *last);

/* What has come of it, once it is stopped. NULL: no trace was begun. */
const go_trace *run_go_feed_trace(const run_go_feed *f);
const go_heap *run_go_feed_heap(const run_go_feed *f);

/* Why there is none, as far as that is known: "its profile ...". */
const char *run_go_feed_why_not(const run_go_feed *f);

/* Ends the trace. 0 or an errno. */
int run_go_feed_end(run_go_feed *f);

/* A trace of this process that is there, of what it was or did earlier, gets another name. */
void run_go_feed_keep_earlier(pid_t pid, const char *path);

void run_go_feed_free(run_go_feed *f); /* NULL is allowed */

#endif
