/* run_program.c: starts the program, waits for it, and passes on signals.
 *
 * The program stays in our process group, so that the terminal treats both as one job: Ctrl-C and
 * Ctrl-Z reach it directly. Only signals sent to us alone have to be passed on. si_code shows
 * whether a signal came from the terminal, and the witness whether it was sent to the whole group.
 * There are no signal handlers: signals are blocked and fetched. */
#include "cli/run/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/enter.h"
#include "attach/follow.h"
#include "base/file.h"
#include "cli/signals.h"

/* These signals keep their effect on us: faults are our own, and the others request nothing. */
static const int not_fetched[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,   SIGTRAP,
                                  SIGSYS,  SIGABRT, SIGPIPE, SIGTTIN,  SIGTTOU,
                                  SIGXCPU, SIGXFSZ, SIGPROF, SIGWINCH, SIGURG};

static const int asks_to_end[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The signals that run_program_wait fetches; SIGCHLD is one of them. */
static sigset_t fetched_signals(void) {
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < COUNT(not_fetched); i++)
        sigdelset(&set, not_fetched[i]);
    return set;
}

/* ---- starting ---------------------------------------------------------------------------- */

/* Makes a pipe that avoids the numbers of closed standard streams, which the program may expect to
 * find closed. */
static bool make_pipe(int ends[2]) {
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(raw[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

/* Runs in the new process. If `go` is open, first waits until somebody traces the process. */
static _Noreturn void become(const run_program *p, char **words, int report, int go) {
    char ignored;
    if (go >= 0 && read(go, &ignored, sizeof ignored) != 0)
        _exit(EXIT_FAILURE);
    sigaction(SIGCHLD, &p->child_action, NULL);
    sigprocmask(SIG_SETMASK, &p->mask, NULL);
    execvp(words[0], words);
    int error = errno;
    if (write(report, &error, sizeof error) != sizeof error)
        _exit(EXIT_FAILURE);
    _exit(EXIT_SUCCESS);
}

/* Waits until the program has started, or reads why it has not. */
static void await_start(run_program *p, int report) {
    ssize_t n;
    do
        n = read(report, &p->exec_error, sizeof p->exec_error);
    while (n < 0 && errno == EINTR);
    if (n != sizeof p->exec_error)
        p->exec_error = 0;
    else if (!p->has_ended)
        waitpid(p->pid, &p->status, 0);
}

/* Traces the process to the first instruction of the program, injects the recorder or follows a Go
 * program, and otherwise lets it go. */
static void enter(run_program *p, run_entry *entry, int go) {
    const int error = enter_follow(p->pid);
    close(go);
    if (error) {
        remote_refuse(&entry->outcome, "it cannot be traced (ptrace: %s)", strerror(error));
        if (entry->go)
            entry->go->why = entry->outcome;
    } else if (!enter_await_exec(p->pid, &p->status)) {
        p->has_ended = true;
    } else {
        const bool follows = entry->go && run_go_prepare(entry->go, p->pid);
        if (entry->library)
            entry->is_entered = enter_program(p->pid, entry->library, &entry->outcome);
        if (follows && run_go_follow(entry->go, p->pid))
            p->go = entry->go;
        else
            follow_let_go(p->pid);
    }
}

static void restore_signals(const run_program *p) {
    sigaction(SIGCHLD, &p->child_action, NULL);
    sigprocmask(SIG_SETMASK, &p->mask, NULL);
}

bool run_program_start(run_program *p, char **words, void (*prepare)(void *context), void *context,
                       run_entry *entry) {
    int report[2], go[2] = {-1, -1};
    sigset_t fetched = fetched_signals();
    const bool waits = entry->library || entry->go;
    *p = (run_program){.pid = -1};
    if (!make_pipe(report) || (waits && !make_pipe(go))) {
        p->exec_error = errno;
        return false;
    }
    /* If our caller ignores SIGCHLD, the kernel would not keep the exit status for us. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &p->child_action);
    sigprocmask(SIG_BLOCK, &fetched, &p->mask);
    p->pid = fork();
    if (p->pid == 0) {
        prepare(context);
        file_close(go[1]);
        become(p, words, report[1], go[0]);
    }
    p->exec_error = p->pid < 0 ? errno : 0;
    close(report[1]);
    file_close(go[0]);
    if (p->pid > 0 && waits)
        enter(p, entry, go[1]);
    if (p->pid > 0)
        await_start(p, report[0]);
    close(report[0]);
    if (p->exec_error)
        restore_signals(p);
    else
        run_witness_start(&p->witness);
    return !p->exec_error;
}

/* ---- while it runs ----------------------------------------------------------------------- */

/* Returns whether a shell waits for us to stop, to take back the terminal. Otherwise somebody has
 * stopped the program alone, and will continue it alone. */
static bool holds_terminal(void) {
    int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0)
        return false;
    bool ours = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return ours;
}

static bool is_pending(int sig) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, sig) == 1;
}

/* Stops this process like the program. When it is continued, continues the program: a shell
 * continues the whole job, but others may continue this process alone. */
static void stop_likewise(const run_program *p, int sig) {
    const sigset_t only = signals_only(sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &only, NULL); /* stops here */
    sigset_t fetched = fetched_signals();
    sigprocmask(SIG_BLOCK, &fetched, NULL);
    if (!is_pending(SIGCONT)) /* a pending SIGCONT is passed on like other signals */
        kill(p->pid, SIGCONT);
}

/* Handles changes of the program's state. Returns true when it has ended. */
static bool take_status(run_program *p) {
    for (;;) {
        pid_t pid = waitpid(p->pid, &p->status, WNOHANG | WUNTRACED);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid != p->pid)
            return pid < 0;
        if (!WIFSTOPPED(p->status))
            return true;
        if (p->go && !p->go->has_become && !run_go_take(p->go, pid, p->status))
            continue;
        if (WSTOPSIG(p->status) != SIGSTOP || holds_terminal())
            stop_likewise(p, WSTOPSIG(p->status));
    }
}

static void drop_signal(int sig) {
    const sigset_t only = signals_only(sig);
    while (sigtimedwait(&only, NULL, &(struct timespec){0}) == sig)
        ;
}

/* A single request to end or to continue often comes as several signals: timeout(1) sends one to us
 * and one to the group, systemd one to each process. Waits for the others, and drops them. */
static void await_others(int sig) {
    enum { OTHERS_MS = 10 };
    bool asks = sig == SIGCONT;
    for (size_t i = 0; i < COUNT(asks_to_end); i++)
        asks |= sig == asks_to_end[i];
    if (!asks)
        return;
    nanosleep(&(struct timespec){.tv_nsec = OTHERS_MS * 1000000L}, NULL);
    drop_signal(sig);
}

/* Passes on a signal unless the program has it already. */
static void pass_on(const run_program *p, const siginfo_t *info) {
    bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    if (!sent || info->si_pid == p->pid)
        return;
    await_others(info->si_signo);
    if (!run_witness_got(&p->witness, info) || getpgid(p->pid) != getpgrp())
        kill(p->pid, info->si_signo);
}

void run_program_wait(run_program *p) {
    sigset_t fetched = fetched_signals();
    while (!p->has_ended && !take_status(p)) {
        siginfo_t info;
        int sig = sigwaitinfo(&fetched, &info);
        if (sig > 0 && sig != SIGCHLD)
            pass_on(p, &info);
    }
    run_witness_end(&p->witness);
    if (WIFSIGNALED(p->status))
        drop_signal(WTERMSIG(p->status)); /* a signal to the whole job that came as it ended */
}

/* ---- afterwards -------------------------------------------------------------------------- */

bool run_program_interrupted(const run_program *p) {
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < COUNT(asks_to_end); i++)
        if (sigismember(&pending, asks_to_end[i]) && !sigismember(&p->mask, asks_to_end[i]))
            return true;
    return false;
}

/* Dies without a core file, which would be one of the wrong program. */
static void die_by(int sig) {
    const sigset_t only = signals_only(sig);
    prctl(PR_SET_DUMPABLE, 0);
    signal(sig, SIG_DFL);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

int run_program_end(run_program *p) {
    restore_signals(p);
    if (WIFEXITED(p->status))
        return WEXITSTATUS(p->status);
    int sig = WTERMSIG(p->status);
    die_by(sig);
    enum { SHELL_SIGNAL_BASE = 128 }; /* as shells report it */
    return SHELL_SIGNAL_BASE + sig;
}
