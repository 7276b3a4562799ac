/* follow.h: follows a process until it is about to end, so that its memory can be read then; or
 * halts a running process for as long as reading takes.
 * Following traces only the first thread of the process. The signals of that thread pass through
 * here. It stops once more when the process ends in any way, while its memory is still there.
 * Independent of the CPU. One thread must make all calls. */
#ifndef ATTACH_FOLLOW_H
#define ATTACH_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"

typedef enum follow_event {
    FOLLOW_NONE,    /* it continues */
    FOLLOW_STOPPED, /* a stop signal has stopped it until it is continued */
    FOLLOW_ENDS,    /* it is about to end, and waits for follow_let_go */
    FOLLOW_BECAME,  /* it runs another program and is no longer followed */
} follow_event;

/* Starts and follows a process that stands at its exec (enter_await_exec, enter_program). Returns
 * false if it is gone. */
bool follow_begin(pid_t pid);

/* Handles a stop that waitpid has reported. Releases the process at another exec, and leaves it
 * there at its end. */
follow_event follow_take(pid_t pid, int status);

/* Lets the process end, untraced. */
void follow_let_go(pid_t pid);

/* Returns whether no thread but the first is still running. */
bool follow_is_alone(pid_t pid);

/* Waits a little until all threads of an ending process but the followed one have ended. */
void follow_await_others(pid_t pid);

/* ---- halting a running process ------------------------------------------------------------- */

typedef struct follow_halt {
    pid_t pid, but;
    pid_t *threads; /* threads that were asked to stop */
    int *signals;   /* signal that each was about to get; 0: none */
    size_t n, room;
    size_t n_standing; /* how many of `threads`, from the first on, are known to have stopped */
} follow_halt;

/* Stops all threads except `but`, which the caller has stopped already (0: none). Waits for up to a
 * second while another process traces a thread. Returns false on failure, with the reason in *why;
 * then none of these threads is stopped. */
bool follow_stop(follow_halt *h, pid_t pid, pid_t but, remote_reason *why);

void follow_resume(follow_halt *h);

#endif
