/* follow.h: stands by until a process is about to end, and lets its memory be read then; or stops a
 * process that runs for as long as that takes.
 *
 * To stand by is to trace the first thread of the process, and no other: its signals pass through
 * here, and it stops once more when the process ends, in whatever way, while its memory is still
 * there. Needs nothing of the CPU. All calls come from one thread. */
#ifndef ATTACH_FOLLOW_H
#define ATTACH_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"

typedef enum follow_event {
    FOLLOW_NONE,    /* it goes on */
    FOLLOW_STOPPED, /* by a signal for that, until somebody continues it */
    FOLLOW_ENDS,    /* it waits for follow_let_go */
    FOLLOW_BECAME,  /* it runs another program, and is not followed any more */
} follow_event;

/* A process at its exec (enter_await_exec) begins, and is followed. False: it has gone. */
bool follow_begin(pid_t pid);

/* A process of ours that runs is followed. 0 or an errno. */
int follow_running(pid_t pid);

/* Whether a stop of one that is followed, which waitpid has told of, is one at another exec, or at
 * its end. follow_take then lets it go, or leaves it there. */
bool follow_stands(int status);
bool follow_ends(int status);

/* What a stop means that waitpid has told of. */
follow_event follow_take(pid_t pid, int status);

/* It ends, untraced. */
void follow_let_go(pid_t pid);

/* Whether no thread of it runs any more but the first. */
bool follow_is_alone(pid_t pid);

/* Waits a little until no thread of a process that ends runs any more but the one followed. */
void follow_await_others(pid_t pid);

/* ---- a process that runs ------------------------------------------------------------------- */

typedef struct follow_halt {
    pid_t pid, but;
    pid_t *threads; /* that were asked to stand */
    int *signals;   /* which each was about to get; 0: none */
    size_t n, room;
    size_t n_standing; /* of the first ones it is known that they stand */
} follow_halt;

/* Stops all threads but one, which the caller has stopped already; 0: all. Waits for a second while
 * another process traces one. False: *why, and none of these is stopped. */
bool follow_stop(follow_halt *h, pid_t pid, pid_t but, remote_reason *why);

void follow_resume(follow_halt *h);

#endif
