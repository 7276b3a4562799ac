/* stop.h: what waitpid's status says of the stop of a traced thread. */
#ifndef ATTACH_STOP_H
#define ATTACH_STOP_H

#include <signal.h>
#include <sys/wait.h>

/* The signal of a stop at a system call (PTRACE_O_TRACESYSGOOD). */
enum { STOP_SYSCALL = SIGTRAP | 0x80 };

/* Returns the PTRACE_EVENT_... of the stop; 0: it is at a signal or a system call. */
static inline int stop_event(int status) {
    return status >> 16;
}

/* Returns the signal that the thread is about to get; 0: none. */
static inline int stop_signal(int status) {
    return stop_event(status) == 0 ? WSTOPSIG(status) : 0;
}

#endif
