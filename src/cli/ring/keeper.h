/* keeper.h: the process that turns a recording into a ring of segments (`run --keep`, `attach
 * --keep`).
 *
 * Problem. A recording that goes on for months must not fill the disk, and a trace can only be read
 * from its start.
 *
 * Approach. The recorder writes a single trace as usual, the spool (keeper_spool.h). The keeper
 * reads the spool as it grows, writes its events into segments (trace/cutter.h), removes the oldest
 * segments (ring_folder.h), frees the part of the spool that it has read, and has the recorder
 * sample less if that costs too much (keeper_pace.h).
 *
 * Alternatives. A recorder that begins new files itself would have to write all live blocks into
 * each, in the middle of the program.
 *
 * Invariants. The program neither waits for the keeper nor knows of it. The keeper is a process of
 * its own and in no terminal's job, so that it outlives its starter. If the keeper itself dies, the
 * spool grows at most to its limit (MEMTRACE_SPACE), where the recorder ends the recording. Whoever
 * sees by the spool's lock (flock) that the keeper is gone may end it earlier. */
#ifndef CLI_RING_KEEPER_H
#define CLI_RING_KEEPER_H

#include "cli/ring/ring_plan.h"
#include "push/push.h"

typedef struct keeper {
    pid_t pid; /* -1: there is none */
    int fd;    /* pipe to the keeper, which notices when it is closed */

    /* How far the spool was pushed, for push_options; NULL: it is not pushed. The keeper frees only
     * what both have read, unless the spool is about to be full. */
    push_position *position;
} keeper;

/* Starts a keeper for what process `pid` records. `pushed`: the spool is pushed as well. `rescue`
 * is the run's rescue memory (run_rescue.h), or -1. Returns false after reporting why it cannot be
 * started. */
bool keeper_start(keeper *k, const ring_plan *plan, pid_t pid, int rescue, bool pushed);

/* To be called in a process of its own, which ends with it. Keeps the spool of child process `pid`
 * as long as that is locked. The spool is open as `fd`, with a flock. */
_Noreturn void keeper_of_child(const ring_plan *plan, const char *path, int fd, pid_t pid,
                               int rescue);

/* Makes the calling process a keeper: detached from the terminal, with all signals blocked. */
void keeper_become(const char *name);

/* Tells the keeper that the process or its recording has ended, at `end` (us since the epoch), and
 * that the pusher has read the spool. Waits until everything is in segments. Returns false after
 * reporting an error. */
bool keeper_finish(keeper *k, uint64_t end);

#endif
