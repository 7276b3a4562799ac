/* keepers.h: the process that gives each child process of a run a keeper (keeper.h), where
 * `-o FOLDER/%p` asks for that.
 *
 * Problem. Nobody tells when a program forks, or a child becomes another program, and `run` may be
 * killed. Some children live as long as the server, others for a millisecond.
 *
 * Way. Spools of this run are known by their names, and found in the folder when that has changed.
 * Each, which is a file and not a process, gets a keeper: a process of its own, since a keeper
 * waits in its reader. The keeper ends when nobody records into the spool any more; this process
 * when `run` has ended, or was killed, and so have all that could record. The program's own process
 * has the keeper that it always has, as `run` knows how it ended.
 *
 * What must hold. There are KEEPERS_PLACES keepers at most: spools beyond wait, and grow up to
 * their limit. No spool is kept twice, nor by two runs in one folder: its lock (flock) says so. */
#ifndef CLI_RING_KEEPERS_H
#define CLI_RING_KEEPERS_H

#include "cli/ring/ring_plan.h"

enum { KEEPERS_PLACES = 128 };

typedef struct keepers {
    pid_t pid; /* -1: there are none */
    int fd;    /* both ways; closed when we are gone */
} keepers;

/* What goes on when the program has ended. */
typedef struct keepers_left {
    uint64_t n_recording; /* processes that record */
    uint64_t n_silent;    /* 1: there are some that do not yet */
} keepers_left;

/* Begins, before the program is started, and makes the `run` of the plan. `rescue` is the run's
 * (run_rescue.h), or -1. False after having said why not. */
bool keepers_start(keepers *k, ring_plan *plan, int rescue);

/* The program is process `pid`, whose spools are not for these keepers. 0: it did not start. */
void keepers_leave_out(keepers *k, pid_t pid);

/* The program has ended, and its keeper. Waits until all is in segments but what goes on; false
 * after having said what went wrong. */
bool keepers_finish(keepers *k, const ring_plan *plan, keepers_left *left);

/* Says what goes on, if anything does. */
void keepers_say_left(const keepers_left *left, const ring_plan *plan);

#endif
