/* tree.c: handles the stops of threads, and of processes on their way to an exec; tree.h has the
 * design. */
#include "attach/tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process.h"
#include "attach/stop.h"
#include "base/file.h"
#include "base/proc.h"

/* without PTRACE_O_EXITKILL: followed processes outlive us */
static const long following = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
                              PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD;

bool tree_begin(pid_t pid) {
    return ptrace(PTRACE_SETOPTIONS, pid, 0, following) == 0 && ptrace(PTRACE_CONT, pid, 0, 0) == 0;
}

static size_t place_of(const tree *t, pid_t pid) {
    size_t i = 0;
    while (i < t->starting.count && t->starting.items[i] != pid)
        i++;
    return i;
}

static bool is_starting(const tree *t, pid_t pid) {
    return place_of(t, pid) < t->starting.count;
}

static void forget(tree *t, pid_t pid) {
    const size_t i = place_of(t, pid);
    if (i < t->starting.count)
        t->starting.items[i] = t->starting.items[--t->starting.count];
}

static void restart(const tree *t, pid_t thread, int sig) {
    ptrace(is_starting(t, thread) ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, sig);
}

void tree_go_on(const tree *t, pid_t thread) {
    restart(t, thread, 0);
}

void tree_let_go(tree *t, pid_t pid) {
    forget(t, pid);
    ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* Handles a stop of a thread or process that is new or was continued. */
static void take_beginning(tree *t, pid_t thread, bool is_process) {
    const bool is_new_process =
        !is_process && !is_starting(t, thread) && process_status(thread, "Tgid", 0) == thread;
    if (is_new_process && !vec_push(&t->starting, thread))
        ptrace(PTRACE_DETACH, thread, 0, 0);
    else
        restart(t, thread, 0);
}

/* ---- a process that is about to exec --------------------------------------------------------- */

static bool about_to_exec(pid_t pid, uint64_t *path, int64_t *folder) {
    struct __ptrace_syscall_info call;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call) <= 0 ||
        call.op != PTRACE_SYSCALL_INFO_ENTRY)
        return false;
    const bool is_at = call.entry.nr == SYS_execveat;
    *path = call.entry.args[is_at];
    *folder = is_at ? (int)call.entry.args[0] : AT_FDCWD;
    return is_at || call.entry.nr == SYS_execve;
}

static bool read_text(pid_t pid, uint64_t at, char text[PATH_MAX]) {
    const int memory = proc_open((uint64_t)pid, "mem", O_RDONLY);
    size_t n = 0;
    while (memory >= 0 && n < PATH_MAX && pread(memory, text + n, 1, (off_t)(at + n)) == 1 &&
           text[n])
        n++;
    file_close(memory);
    return n > 0 && n < PATH_MAX && !text[n];
}

bool tree_path(pid_t pid, char path[PATH_MAX]) {
    char text[PATH_MAX];
    uint64_t at;
    int64_t folder;
    text[0] = '\0';
    if (!about_to_exec(pid, &at, &folder) || (!read_text(pid, at, text) && folder < 0))
        return false;
    const int n = text[0] == '/'       ? snprintf(path, PATH_MAX, "/proc/%d/root%s", (int)pid, text)
                  : folder == AT_FDCWD ? snprintf(path, PATH_MAX, "/proc/%d/cwd/%s", (int)pid, text)
                                       : snprintf(path, PATH_MAX, "/proc/%d/fd/%d%s%s", (int)pid,
                                                  (int)folder, *text ? "/" : "", text);
    return n < PATH_MAX;
}

/* ---- stops ----------------------------------------------------------------------------------- */

static tree_event take_syscall(tree *t, pid_t pid) {
    uint64_t path;
    int64_t folder;
    if (about_to_exec(pid, &path, &folder))
        return TREE_STARTS;
    restart(t, pid, 0);
    return TREE_NONE;
}

tree_event tree_take(tree *t, pid_t thread, int status, bool is_process) {
    if (!WIFSTOPPED(status)) {
        forget(t, thread);
        return TREE_GONE;
    }
    const int sig = WSTOPSIG(status);
    switch (stop_event(status)) {
    case PTRACE_EVENT_EXIT:
        return TREE_EXITS;
    case PTRACE_EVENT_EXEC:
        forget(t, thread);
        return TREE_STANDS;
    case PTRACE_EVENT_STOP:
        if (sig == SIGTRAP)
            take_beginning(t, thread, is_process);
        else
            ptrace(PTRACE_LISTEN, thread, 0, 0); /* until it is continued */
        return TREE_NONE;
    case 0:
        if (sig == STOP_SYSCALL)
            return take_syscall(t, thread);
        restart(t, thread, sig);
        return TREE_NONE;
    default:
        restart(t, thread, 0);
        return TREE_NONE;
    }
}

void tree_free(tree *t) {
    vec_free(&t->starting);
}
