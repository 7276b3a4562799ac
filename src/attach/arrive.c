/* arrive.c: the stops of a thread on its way to an exec; arrive.h has the design. */
#include "attach/arrive.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attach/stop.h"

static const long to_exec = PTRACE_O_TRACEEXEC;
static const long to_child = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE;

int arrive_follow(arrival *a, pid_t thread, bool spawns) {
    *a = (arrival){.thread = thread, .spawns = spawns};
    return ptrace(PTRACE_SEIZE, thread, 0, to_exec | (spawns ? to_child : 0)) == 0 ? 0 : errno;
}

static arrive_event take_started(arrival *a) {
    unsigned long child = 0;
    ptrace(PTRACE_GETEVENTMSG, a->thread, 0, &child);
    ptrace(PTRACE_DETACH, a->thread, 0, 0);
    a->thread = 0;
    a->child = (pid_t)child;
    return child ? ARRIVE_NONE : ARRIVE_GONE;
}

/* Lets the starter go on. waitpid may report the exec of a new process before it reports that the
 * process was started; the starter then still stands at that stop. */
static void let_starter_go(arrival *a) {
    int status;
    while (a->spawns && a->thread) {
        if (TEMP_FAILURE_RETRY(waitpid(a->thread, &status, __WALL)) == a->thread)
            arrive_take(a, a->thread, status);
        else
            a->thread = 0;
    }
}

arrive_event arrive_take(arrival *a, pid_t pid, int status) {
    if (!WIFSTOPPED(status)) {
        if (pid == a->thread)
            a->thread = 0;
        /* waitpid may report the end of a started process before its start. */
        return a->thread && pid != a->child ? ARRIVE_NONE : ARRIVE_GONE;
    }
    const int sig = WSTOPSIG(status);
    switch (stop_event(status)) {
    case PTRACE_EVENT_EXEC:
        let_starter_go(a);
        return ARRIVE_HERE;
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_CLONE:
        if (pid == a->thread)
            return take_started(a);
        break;
    case PTRACE_EVENT_STOP:
        if (sig == SIGTRAP) /* it starts, or was continued */
            break;
        ptrace(PTRACE_LISTEN, pid, 0, 0);
        return ARRIVE_NONE;
    case 0:
        ptrace(PTRACE_CONT, pid, 0, sig);
        return ARRIVE_NONE;
    default:
        break;
    }
    ptrace(PTRACE_CONT, pid, 0, 0);
    return ARRIVE_NONE;
}

void arrive_let_go(arrival *a) {
    int status;
    const pid_t thread = a->thread;
    if (!thread || ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 ||
        TEMP_FAILURE_RETRY(waitpid(thread, &status, __WALL)) < 0)
        return;
    if (WIFSTOPPED(status))
        ptrace(PTRACE_DETACH, thread, 0, stop_signal(status));
    a->thread = 0;
}
