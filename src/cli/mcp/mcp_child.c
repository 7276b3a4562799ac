/* mcp_child.c: the child has a process group of its own, so that everything it starts can be killed
 * with it. Both of its output streams go to one pipe. Output beyond the limit is read and
 * discarded. */
#include "cli/mcp/mcp_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* Runs in the child. The process group allows killing programs that the command records. */
static void become(int out, char *const *words) {
    const int in = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    signal(SIGPIPE, SIG_DFL);
    execv("/proc/self/exe", words);
    _exit(127);
}

static void reap(mcp_child *c) {
    close(c->out);
    close(c->end);
    c->out = c->end = -1;
    TEMP_FAILURE_RETRY(waitpid(c->pid, &c->status, 0));
}

/* Kills the child and its process group. */
static void kill_child(mcp_child *c) {
    if (c->out < 0)
        return;
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL);
    reap(c);
}

bool mcp_child_start(mcp_child *c, char *const *words) {
    int ends[2];
    *c = (mcp_child){.out = -1, .end = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    c->pid = fork();
    if (c->pid == 0)
        become(ends[1], words);
    close(ends[1]);
    if (c->pid < 0) {
        close(ends[0]);
        return false;
    }
    setpgid(c->pid, c->pid);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    c->out = ends[0];
    c->end = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->end < 0)
        kill_child(c);
    return c->end >= 0;
}

static void keep(mcp_child *c, const char *bytes, size_t n) {
    const size_t left = MCP_CHILD_MOST - c->text.count;
    c->cut |= n > left;
    n = n < left ? n : left;
    if (!vec_reserve(&c->text, n + 1)) {
        c->cut = true;
        return;
    }
    memcpy(c->text.items + c->text.count, bytes, n);
    c->text.count += n;
    c->text.items[c->text.count] = '\0';
}

/* Checks for the end before reading, so that the last output is read from the pipe after the child
 * has ended. */
bool mcp_child_read(mcp_child *c) {
    char bytes[16384];
    const bool over = file_is_ready(c->end, 0);
    ssize_t n;
    while ((n = read(c->out, bytes, sizeof bytes)) > 0)
        keep(c, bytes, (size_t)n);
    if (!over)
        return true;
    reap(c);
    return false;
}

void mcp_child_free(mcp_child *c) {
    kill_child(c);
    vec_free(&c->text);
    *c = (mcp_child){.out = -1, .end = -1};
}
