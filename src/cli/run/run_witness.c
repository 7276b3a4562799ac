/* run_witness.c: the witness is a forked process without open files, a current folder or a command
 * line. To ask it, we send a signal's number over a socket; it answers whether sigtimedwait found
 * that signal pending. If there is no answer within 0.3 s, nor within 10 s after SIGCONT, the
 * signal counts as sent to us alone. */
#include "cli/run/run_witness.h"
#include "base/file.h"
#include "base/proc.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The witness has nothing else to do, but may be stopped, or kept waiting by a busy machine. */
enum { ANSWER_MS = 300, LAST_MS = 10000 };

typedef struct question {
    int signal;
    pid_t sender;
} question;

/* ---- the witness ----------------------------------------------------------------------------- */

void run_witness_hide(const char *name) {
    const uint64_t pid = (uint64_t)getpid(), low = proc_stat(pid, PROC_ARG_START),
                   high = proc_stat(pid, PROC_ARG_END);
    if (low > 0 && low < high)
        memset((void *)(uintptr_t)low, 0, high - low);
    prctl(PR_SET_NAME, name);
}

/* Returns whether the signal was pending from that sender, and clears it. */
static bool take(const question *q) {
    siginfo_t info;
    const sigset_t only = signals_only(q->signal);
    bool got = false;
    while (sigtimedwait(&only, &info, &(struct timespec){0}) == q->signal)
        got |= info.si_pid == q->sender;
    return got;
}

/* Old kernels lack close_range, and seccomp filters of containers may forbid it. */
static void close_all_from(int first) {
    enum { MOST = 1024 };
    if (close_range((unsigned)first, ~0U, 0) != 0)
        for (int fd = first; fd < MOST; fd++)
            close(fd);
}

/* Keeps no file open, and no folder busy. */
static _Noreturn void witness(int channel) {
    question q;
    run_witness_hide("run-witness");
    if (dup2(channel, STDIN_FILENO) < 0 || chdir("/") != 0)
        _exit(1);
    close_all_from(STDIN_FILENO + 1);
    while (read(STDIN_FILENO, &q, sizeof q) == (ssize_t)sizeof q) {
        bool got = take(&q);
        if (send(STDIN_FILENO, &got, sizeof got, MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}

/* ---- the asking side ----------------------------------------------------------------------- */

void run_witness_start(run_witness *w) {
    int ends[2];
    *w = (run_witness){.pid = -1, .channel = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        witness(ends[1]);
    }
    close(ends[1]);
    w->channel = ends[0];
}

/* Waits for the answer. Somebody may have stopped the whole group and continued only us, so
 * continues the witness if it does not answer. */
static bool await_answer(const run_witness *w) {
    if (file_is_ready(w->channel, ANSWER_MS))
        return true;
    kill(w->pid, SIGCONT);
    return file_is_ready(w->channel, LAST_MS);
}

/* Removes the answer to an earlier question, which came too late. */
static void drop_answer(const run_witness *w) {
    bool got;
    while (recv(w->channel, &got, sizeof got, MSG_DONTWAIT) == sizeof got)
        continue;
}

bool run_witness_got(const run_witness *w, const siginfo_t *signal) {
    question q = {.signal = signal->si_signo, .sender = signal->si_pid};
    bool got = false;
    if (w->pid < 0)
        return false;
    drop_answer(w);
    if (send(w->channel, &q, sizeof q, MSG_NOSIGNAL) != (ssize_t)sizeof q || !await_answer(w) ||
        recv(w->channel, &got, sizeof got, 0) != sizeof got)
        return false;
    return got;
}

void run_witness_end(run_witness *w) {
    file_close(w->channel);
    if (w->pid < 0)
        return;
    kill(w->pid, SIGKILL);
    TEMP_FAILURE_RETRY(waitpid(w->pid, NULL, 0));
    w->pid = -1;
}
