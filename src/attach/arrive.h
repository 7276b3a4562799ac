/* arrive.h: follows a thread that has asked for it (contract/handover.h) to the exec of a program,
 * either in the thread's own process or in a process that it starts. The program is then traced and
 * stands before its first instruction, as after enter_await_exec. Independent of the CPU.
 * If the thread starts a process (posix_spawn), the kernel traces the new process, too. The thread
 * is then released at the stop that the start itself causes, so no system call that it waits in is
 * interrupted. If this process ends, all traced threads go on unharmed. */
#ifndef ATTACH_ARRIVE_H
#define ATTACH_ARRIVE_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct arrival {
    pid_t thread; /* the thread that asked; 0: it is no longer traced */
    bool spawns;
    pid_t child; /* process that the thread has started; 0: none yet */
} arrival;

typedef enum arrive_event {
    ARRIVE_NONE, /* not there yet */
    ARRIVE_HERE, /* the program stands at its exec */
    ARRIVE_GONE, /* there is nothing left to wait for */
} arrive_event;

/* Begins to trace `thread`. Returns 0 or an errno. */
int arrive_follow(arrival *a, pid_t thread, bool spawns);

/* Handles a stop or an end that waitpid has reported. With ARRIVE_HERE, `pid` is the program's
 * process. */
arrive_event arrive_take(arrival *a, pid_t pid, int status);

/* Ends tracing when there will be no exec. */
void arrive_let_go(arrival *a);

#endif
