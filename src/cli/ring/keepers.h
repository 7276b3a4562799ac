/* keepers.h: the process that gives each child process of a run a keeper (keeper.h), if that is
 * requested by `-o FOLDER/%p`.
 *
 * Problem. Nothing announces that a program forks, or that a child execs another program, and `run`
 * may be killed. Some child processes live as long as the server, others a millisecond.
 *
 * Approach. This process scans the folder for spools of the run, which it recognizes by their
 * names, whenever the folder has changed. Each spool gets a keeper in a process of its own, since a
 * keeper blocks in its reader. A keeper belongs to a spool, not to a process: it ends when nobody
 * records to the spool any more. This process ends when `run` has ended or was killed, and so have
 * all processes that could record. The program's own process keeps its usual keeper, since `run`
 * knows how that process ended.
 *
 * Invariants. There are at most KEEPERS_PLACES keepers; further spools wait, and grow up to their
 * limit. A spool never has two keepers, nor keepers of two runs in one folder: its lock (flock)
 * prevents that. */
#ifndef CLI_RING_KEEPERS_H
#define CLI_RING_KEEPERS_H

#include "cli/ring/ring_plan.h"

enum { KEEPERS_PLACES = 128 };

typedef struct keepers {
    pid_t pid; /* -1: there are none */
    int fd;    /* socket to the process, which notices when it is closed */
} keepers;

/* What is still running when the program has ended. */
typedef struct keepers_left {
    uint64_t n_recording; /* processes that are recording */
    uint64_t n_silent;    /* 1: there are processes that do not record yet */
} keepers_left;

/* Starts the process and makes plan->run. To be called before the program is started. `rescue` is
 * the run's rescue memory (run_rescue.h), or -1. Returns false after reporting why it cannot be
 * started. */
bool keepers_start(keepers *k, ring_plan *plan, int rescue);

/* Tells the process that the program is `pid`, whose spools have a keeper of their own. 0: the
 * program did not start. */
void keepers_leave_out(keepers *k, pid_t pid);

/* To be called when the program and its keeper have ended. Waits until the recordings of all
 * processes that have ended are in segments. Returns false after reporting an error. */
bool keepers_finish(keepers *k, const ring_plan *plan, keepers_left *left);

/* Reports which processes are still running, if any. */
void keepers_say_left(const keepers_left *left, const ring_plan *plan);

#endif
