/* run_program.h: runs a program transparently: it keeps the standard streams, the place in the
 * terminal's job control and the signals that it would have without us. */
#ifndef CLI_RUN_RUN_PROGRAM_H
#define CLI_RUN_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"
#include "cli/run/run_go.h"
#include "cli/run/run_witness.h"

typedef struct run_program {
    pid_t pid;                     /* of the program; -1: fork failed */
    int exec_error;                /* errno if it did not start; 0: it did */
    int status;                    /* as from waitpid, once it has ended */
    bool has_ended;                /* it was killed before it could begin */
    sigset_t mask;                 /* the caller's signal mask */
    struct sigaction child_action; /* the caller's action for SIGCHLD */
    run_go *go;                    /* the Go program that is followed; NULL: none */
    run_witness witness;
} run_program;

/* What to do before the program's first instruction: inject the recorder (attach/enter.h), or
 * follow a Go program (run_go.h). */
typedef struct run_entry {
    const char *library; /* to be injected; NULL: none */
    run_go *go;          /* NULL: not a followed Go program */
    bool is_entered; /* valid once the program has started; `outcome` is what is recorded, or why
                        nothing is */
    remote_reason outcome;
} run_entry;

/* Starts a program, from a process without threads. `prepare` runs in the new process before its
 * exec. Returns false after a failure, with the reason in `exec_error`. From here to
 * run_program_end, all signals but faults and some that request nothing are blocked:
 * run_program_wait fetches them, and later ones stay pending. */
bool run_program_start(run_program *p, char **words, void (*prepare)(void *context), void *context,
                       run_entry *entry);

/* Waits for the end of the program. Passes on signals that were sent to this process alone; those
 * from the terminal, or to the whole process group, have already reached the program. Stops this
 * process when the program stops. */
void run_program_wait(run_program *p);

/* Returns whether a signal that asks this process to end has come since. */
bool run_program_interrupted(const run_program *p);

/* Unblocks signals, so that a pending one takes effect. Then ends like the program: dies by the
 * same signal, or returns its exit status. */
int run_program_end(run_program *p);

#endif
