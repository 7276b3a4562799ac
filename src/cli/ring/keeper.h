/* keeper.h: the process that makes a ring of a recording (`run --keep`, `attach --keep`).
 *
 * The recorder writes one trace as always, the spool. The keeper reads it as it grows, writes what
 * it says into segments (trace/cutter.h), removes the oldest ones, and frees the spool's bytes on
 * the disk behind it. Nothing of that happens in the program, which does not wait for it and does
 * not know of it. It is a process of its own, in no terminal's job, so that it outlives whoever
 * started it; where it dies itself, the spool can grow no further than to its limit
 * (MEMTRACE_SPACE), where the recorder ends the recording, unless somebody sees by its lock (flock)
 * that it is gone, and ends it before. */
#ifndef CLI_RING_KEEPER_H
#define CLI_RING_KEEPER_H

#include "cli/ring/ring_plan.h"
#include "push/push.h"

typedef struct keeper {
    pid_t pid; /* -1: there is none */
    int fd;    /* on which it hears from us; closed when we are gone */

    /* If the spool is pushed, too: how far, for the options of that. The keeper frees no more than
     * was read by both, unless the spool is about to be full. */
    push_position *position;
} keeper;

/* Begins to keep what process `pid` records, which is also `pushed` or not. `rescue` is the run's
 * (run_rescue.h), or -1. False after having said why it cannot. */
bool keeper_start(keeper *k, const ring_plan *plan, pid_t pid, int rescue, bool pushed);

/* In a process of its own, and to its end: keeps one spool that child process `pid` records into,
 * as long as it is locked. The spool is open as `fd`, and flocked. */
_Noreturn void keeper_of_child(const ring_plan *plan, const char *path, int fd, pid_t pid,
                               int rescue);

/* Makes the calling process one that keeps: of no terminal, and deaf to signals. */
void keeper_become(const char *name);

/* The process has ended at `end` (us since the epoch), or its recording has, and whoever pushes the
 * spool has read it. Waits until all is in segments; false after having said that something went
 * wrong. */
bool keeper_finish(keeper *k, uint64_t end);

#endif
