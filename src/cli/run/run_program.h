/* run_program.h: runs a program as if nobody stood between it and its caller: its standard streams,
 * its place in the terminal's job control and its signals are its own. */
#ifndef CLI_RUN_RUN_PROGRAM_H
#define CLI_RUN_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"
#include "cli/run/run_go.h"
#include "cli/run/run_witness.h"

typedef struct run_program {
    pid_t pid;                     /* of the program; -1: none could be made */
    int exec_error;                /* the errno for which it did not start; 0: it did */
    int status;                    /* as from waitpid, once it has ended */
    bool has_ended;                /* it did before it could begin: somebody has killed it */
    sigset_t mask;                 /* the caller's */
    struct sigaction child_action; /* likewise, for SIGCHLD */
    run_go *go;                    /* a program of Go's, which is followed; NULL: it is none */
    run_witness witness;
} run_program;

/* What is done before it begins: the recorder is put into it (attach/enter.h), or it is followed
 * (run_go.h). */
typedef struct run_entry {
    const char *library; /* NULL: into none */
    run_go *go;          /* NULL: it is no such program */
    bool is_entered;     /* once the program has started; `said` is what is recorded, or why not */
    remote_reason said;
} run_entry;

/* Starts a program, from a process without threads; `prepare` runs in the new process before it
 * becomes the program. False after a failure, which `exec_error` tells. From here to
 * run_program_end all signals that can be are blocked: run_program_wait takes them, after it they
 * stay pending. */
bool run_program_start(run_program *p, char **words, void (*prepare)(void *context), void *context,
                       run_entry *entry);

/* Waits for the end of the program. Signals that somebody sent to this process are passed on; those
 * of the terminal, or to the whole process group, have reached the program already. Stops when the
 * program stops. */
void run_program_wait(run_program *p);

/* Whether a signal has come since that asks this process to end. */
bool run_program_interrupted(const run_program *p);

/* Unblocks signals: a pending one takes effect. Then does as the program did: dies by the signal
 * that it died by, or returns its exit status. */
int run_program_end(run_program *p);

#endif
