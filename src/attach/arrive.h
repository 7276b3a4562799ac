/* arrive.h: follows a thread that has asked for it (contract/handover.h) up to where the program
 * stands that it execs, or that a process execs which it starts: traced, before its first
 * instruction, as after enter_await_exec. Needs nothing of the CPU.
 *
 * Of a thread that starts a process (posix_spawn), the kernel traces what it starts as well; then
 * it is let go, at that stop, which is one of its own: nothing that it waits in is interrupted. If
 * this process ends, whoever is traced goes on, unharmed. */
#ifndef ATTACH_ARRIVE_H
#define ATTACH_ARRIVE_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct arrival {
    pid_t thread; /* that asked; 0: it is traced no more */
    bool spawns;
    pid_t child; /* that it started; 0: none yet */
} arrival;

typedef enum arrive_event {
    ARRIVE_NONE, /* not yet */
    ARRIVE_HERE, /* the program stands */
    ARRIVE_GONE, /* there is nothing to wait for any more */
} arrive_event;

/* 0, or an errno. */
int arrive_follow(arrival *a, pid_t thread, bool spawns);

/* What a stop or an end means that waitpid has told of. At ARRIVE_HERE, `pid` is the program's
 * process. */
arrive_event arrive_take(arrival *a, pid_t pid, int status);

/* There will be no exec: it is traced no more. */
void arrive_let_go(arrival *a);

#endif
