/* follow.c: handles the stops of a followed process, and halts a process for a moment; follow.h has
 * the design. All uses of ptrace here affect threads as a whole: nothing depends on the CPU. */
#include "attach/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/process.h"
#include "attach/stop.h"
#include "base/proc.h"

enum { MOST_THREADS = 16384 };

static void wait_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* ---- until the end ------------------------------------------------------------------------- */

/* without PTRACE_O_EXITKILL: the process outlives us */
static const long following = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC;

bool follow_begin(pid_t pid) {
    return ptrace(PTRACE_SETOPTIONS, pid, 0, following) == 0 && ptrace(PTRACE_CONT, pid, 0, 0) == 0;
}

follow_event follow_take(pid_t pid, int status) {
    const int sig = WSTOPSIG(status);
    switch (stop_event(status)) {
    case PTRACE_EVENT_EXIT:
        return FOLLOW_ENDS;
    case PTRACE_EVENT_EXEC:
        ptrace(PTRACE_DETACH, pid, 0, 0);
        return FOLLOW_BECAME;
    case PTRACE_EVENT_STOP:
        if (sig == SIGTRAP) /* it was continued */
            break;
        ptrace(PTRACE_LISTEN, pid, 0, 0);
        return FOLLOW_STOPPED;
    case 0:
        ptrace(PTRACE_CONT, pid, 0, sig);
        return FOLLOW_NONE;
    default:
        break;
    }
    ptrace(PTRACE_CONT, pid, 0, 0);
    return FOLLOW_NONE;
}

void follow_let_go(pid_t pid) {
    ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* Returns whether a thread has not ended yet. The kernel reports no memory for one that has. */
static bool is_alive(pid_t pid, pid_t thread) {
    char name[32], text[128];
    snprintf(name, sizeof name, "task/%d/statm", (int)thread);
    proc_read((uint64_t)pid, name, text, sizeof text);
    return strtoul(text, NULL, 10) > 0;
}

bool follow_is_alone(pid_t pid) {
    pid_t *threads = calloc(MOST_THREADS, sizeof *threads);
    const size_t n = threads ? process_threads(pid, threads, MOST_THREADS) : 0;
    size_t alive = 0;
    for (size_t k = 0; k < n; k++)
        alive += threads[k] != pid && is_alive(pid, threads[k]);
    free(threads);
    return alive == 0;
}

void follow_await_others(pid_t pid) {
    enum { PATIENCE = 200 };
    for (int i = 0; i < PATIENCE && !follow_is_alone(pid); i++)
        wait_ms(1);
}

/* ---- halting a running process ------------------------------------------------------------- */

static bool has_stopped(const follow_halt *h, pid_t thread) {
    size_t i = 0;
    while (i < h->n && h->threads[i] != thread)
        i++;
    return i < h->n || thread == h->but;
}

/* Waits at most `ms` milliseconds for the thread to stop. Returns false if it has ended or did not
 * stop. */
static bool await_stop(pid_t thread, int *signal, int ms) {
    enum { PAUSE = 100000 /* ns */, A_MS = 10 };
    int status;
    pid_t got = 0;
    for (int i = 0; i < ms * A_MS && (got == 0 || (got < 0 && errno == EINTR)); i++) {
        got = waitpid(thread, &status, __WALL | WNOHANG);
        if (got == 0)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
    if (got != thread || !WIFSTOPPED(status))
        return false;
    *signal = stop_signal(status);
    return true;
}

/* Asks a thread to stop. Returns 0 or an errno. A thread that has ended meanwhile is ignored. */
static int ask_thread(follow_halt *h, pid_t thread) {
    if (h->n == h->room)
        return E2BIG;
    const int error = ptrace(PTRACE_SEIZE, thread, 0, 0) == 0 ? 0 : errno;
    if (error == ESRCH || (error == EPERM && !is_alive(h->pid, thread)))
        return 0;
    if (error && process_status(thread, "TracerPid", 0) != gettid()) /* if it is ours: it had not
                                                                      * stopped before, so it could
                                                                      * not be let go */
        return error;
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0)
        h->threads[h->n++] = thread;
    return 0;
}

/* Returns whether all listed threads have stopped. A first thread that ended before the others is
 * ignored. */
static bool all_have_stopped(const follow_halt *h, const pid_t *ids, size_t n) {
    size_t i = 0;
    while (i < n && (has_stopped(h, ids[i]) || (ids[i] == h->pid && !is_alive(h->pid, ids[i]))))
        i++;
    return i == n;
}

/* Stops all threads. It asks all of them before it waits for any, so that all stand for about the
 * same short time. Threads may start meanwhile, and when one ends, the kernel may leave others out
 * of its list. So this repeats until the list has only stopped threads. */
static int stop_all(follow_halt *h, pid_t *ids) {
    enum { LONG_MS = 2000 };
    for (;;) {
        const size_t n = process_threads(h->pid, ids, h->room);
        if (all_have_stopped(h, ids, n))
            return n > 0 && (h->n > 0 || h->but) ? 0 : ESRCH;
        for (size_t i = 0; i < n; i++) {
            const int error = has_stopped(h, ids[i]) ? 0 : ask_thread(h, ids[i]);
            if (error)
                return error;
        }
        for (; h->n_standing < h->n; h->n_standing++)
            if (!await_stop(h->threads[h->n_standing], &h->signals[h->n_standing], LONG_MS) &&
                process_exists(h->threads[h->n_standing]))
                return ETIMEDOUT;
    }
}

/* Lets all threads go on. Only a stopped thread can be detached. */
static void let_all_go(follow_halt *h) {
    enum { SHORT_MS = 200 };
    for (size_t i = 0; i < h->n; i++)
        if (i < h->n_standing || await_stop(h->threads[i], &h->signals[i], SHORT_MS))
            ptrace(PTRACE_DETACH, h->threads[i], 0, h->signals[i]);
    h->n = h->n_standing = 0;
}

/* Returns another process that traces one of the threads; 0: none. */
static pid_t other_tracer(const follow_halt *h, pid_t *ids) {
    const size_t n = process_threads(h->pid, ids, h->room);
    pid_t tracer = 0;
    for (size_t i = 0; i < n && !tracer; i++) {
        tracer = (pid_t)process_status(ids[i], "TracerPid", 0);
        tracer = tracer == gettid() ? 0 : tracer;
    }
    return tracer;
}

/* Stops all threads, and waits if another process has stopped them for a moment, as we do. The
 * pauses vary, because the other process may be waiting for us in the same way. The other tracer
 * may be gone before we find out who it was. */
static int stop_after_others(follow_halt *h, pid_t *ids, pid_t *tracer) {
    enum { PATIENCE = 50, UNSEEN = 3, PAUSE_MS = 10, SPREAD_MS = 20 };
    int error = stop_all(h, ids);
    for (int i = 0; error == EPERM && i < PATIENCE; i++) {
        *tracer = other_tracer(h, ids);
        if (!*tracer && i >= UNSEEN)
            break;
        let_all_go(h);
        wait_ms(PAUSE_MS + (getpid() + i * i) % SPREAD_MS);
        error = stop_all(h, ids);
    }
    return error;
}

bool follow_stop(follow_halt *h, pid_t pid, pid_t but, remote_reason *why) {
    *h = (follow_halt){.pid = pid, .but = but, .room = MOST_THREADS};
    pid_t *ids = calloc(h->room, sizeof *ids);
    h->threads = calloc(h->room, sizeof *h->threads);
    h->signals = calloc(h->room, sizeof *h->signals);
    pid_t tracer = 0;
    const int error = ids && h->threads && h->signals ? stop_after_others(h, ids, &tracer) : ENOMEM;
    free(ids);
    if (!error)
        return true;
    if (error == EPERM && tracer)
        remote_refuse(why, "process %d is being traced by process %d", (int)pid, (int)tracer);
    else
        remote_refuse(why, "process %d cannot be stopped: %s", (int)pid, strerror(error));
    follow_resume(h);
    return false;
}

void follow_resume(follow_halt *h) {
    let_all_go(h);
    free(h->threads);
    free(h->signals);
    *h = (follow_halt){.pid = h->pid};
}
