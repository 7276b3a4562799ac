/* run_witness.h: finds out whether a signal was sent to us alone or to our whole process group,
 * which a receiver cannot tell. The witness is a process in our group that blocks all signals, and
 * reports which ones it got. */
#ifndef CLI_RUN_RUN_WITNESS_H
#define CLI_RUN_RUN_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct run_witness {
    pid_t pid;   /* -1: fork failed, so nothing is known */
    int channel; /* the witness ends when it is closed, so also when we are killed */
} run_witness;

/* Starts the witness. To be called by a process without threads, which has blocked the signals to
 * be asked about. The kernel signals the youngest member of a group first. The witness is younger
 * than we are, so it has a group's signal by the time we get it. */
void run_witness_start(run_witness *w);

/* Returns whether the witness got the same signal from the same sender as we did. */
bool run_witness_got(const run_witness *w, const siginfo_t *signal);

void run_witness_end(run_witness *w);

/* Tools like pkill find processes by their command line or name, and would match our helpers, too;
 * then a signal meant for us would look like one to the group. Erases the command line of the
 * calling process, and renames it to `name`. */
void run_witness_hide(const char *name);

#endif
