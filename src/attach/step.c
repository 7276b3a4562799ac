/* step.c: implements step.h. A thread can wait only in a system call. It is watched there, and
 * asked to stop when that takes long. */
#include "attach/step.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/cpu.h"
#include "attach/stop.h"
#include "platform/clock.h"

enum { MOST_MS = 200 };

static bool enters(int memory, uint64_t pc) {
    unsigned char code[CPU_ENTER_SIZE];
    return pread(memory, code, sizeof code, (off_t)pc) == sizeof code && cpu_enters(code);
}

/* Waits for the next stop. Returns false if the thread has ended. */
static bool await(pid_t tid, int *status) {
    return TEMP_FAILURE_RETRY(waitpid(tid, status, __WALL)) == tid && WIFSTOPPED(*status);
}

/* Waits for a thread in a system call, which may be its last one: the end of a first thread is not
 * reported while other threads run. Returns false if the thread has ended. */
static bool await_call(pid_t tid, uint64_t deadline, int *status) {
    enum { LAST_MS = 1000 };
    bool is_asked = false;
    pid_t got;
    while ((got = waitpid(tid, status, __WALL | WNOHANG)) == 0) {
        const uint64_t now = clock_monotonic_ms();
        if (now > deadline + LAST_MS)
            return false;
        if (now > deadline && !is_asked)
            is_asked = ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return got == tid && WIFSTOPPED(*status);
}

/* Returns the signal that the thread is about to get, unless our stepping caused it; 0: none. */
static int signal_of(pid_t tid, int status) {
    siginfo_t about = {0};
    const int number = WSTOPSIG(status);
    if (number == SIGTRAP && ptrace(PTRACE_GETSIGINFO, tid, 0, &about) == 0 &&
        (about.si_code == TRAP_TRACE || about.si_code == TRAP_BRKPT))
        return 0;
    return number;
}

/* Continues to a stop at our own request, which takes effect before another instruction runs. */
static step_end stand(pid_t tid, int deliver) {
    int status;
    ptrace(PTRACE_INTERRUPT, tid, 0, 0);
    if (ptrace(PTRACE_CONT, tid, 0, deliver) != 0 || !await(tid, &status))
        return STEP_GONE;
    return stop_event(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP ? STEP_THERE
                                                                                  : STEP_LEFT;
}

step_end step_until(pid_t tid, int memory, step_test *is_wanted, void *context) {
    const uint64_t deadline = clock_monotonic_ms() + MOST_MS;
    cpu_registers at;
    int deliver = 0;
    for (int status = 0; clock_monotonic_ms() < deadline; deliver = signal_of(tid, status)) {
        if (!cpu_get(tid, &at))
            return STEP_GONE;
        if (!deliver && is_wanted(context, cpu_pc(&at)))
            return stand(tid, 0);
        const bool calls = enters(memory, cpu_pc(&at));
        if (ptrace(PTRACE_SINGLESTEP, tid, 0, deliver) != 0)
            return STEP_GONE;
        deliver = 0;
        if (!(calls ? await_call(tid, deadline, &status) : await(tid, &status)))
            return STEP_GONE;
        if (stop_event(status))
            return STEP_LEFT;
    }
    return deliver && stand(tid, deliver) == STEP_GONE ? STEP_GONE : STEP_LEFT;
}
