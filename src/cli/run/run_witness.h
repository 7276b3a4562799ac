/* run_witness.h: who else got a signal. A signal to a process group looks to each member like one
 * to it alone. The witness is a process that stands in our group, blocks all signals, and says
 * which ones it got. */
#ifndef CLI_RUN_RUN_WITNESS_H
#define CLI_RUN_RUN_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct run_witness {
    pid_t pid;   /* -1: none could be made, so nothing is known */
    int channel; /* the witness ends when it is closed, thus also when we are killed */
} run_witness;

/* To be called with all signals blocked, by a process without threads. The kernel sends to the
 * youngest member of a group first: what the program and we get, the witness, that is younger than
 * we are, has got by then. */
void run_witness_start(run_witness *w);

/* Whether the signal that we got was sent to the witness as well, by the same process. */
bool run_witness_got(const run_witness *w, const siginfo_t *signal);

void run_witness_end(run_witness *w);

/* Who looks for us by our command line or our name, as pkill does, means us and no process that
 * helps: it would look as if a signal had gone to the group. Takes the words of our command line
 * from this process, and calls it by `name`. */
void run_witness_hide(const char *name);

#endif
