/* agent_targets.c: child processes are identified by their pids, recorded processes by pid and
 * start time. */
#include "cli/agent/agent_targets.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/process.h"
#include "base/file.h"
#include "base/rights.h"
#include "cli/agent/agent_rights.h"
#include "cli/attach/attach_command.h"
#include "cli/message.h"
#include "cli/run/preload_file.h"
#include "platform/clock.h"

enum { TOKEN_MAX = 4096 };

#define FIRST_RETRY_US UINT64_C(1000000)
#define LAST_RETRY_US  UINT64_C(600000000)

const char *const target_state_names[N_TARGET_STATES] = {
#define TARGET_STATE_NAME(id, name) [TARGET_##id] = (name),
    TARGET_STATES(TARGET_STATE_NAME)
#undef TARGET_STATE_NAME
};

static void enter(target_process *p, target_state state) {
    p->state = state;
    p->since = clock_monotonic_us();
}

static void fail_for_now(targets *t, target_process *p) {
    uint64_t pause = FIRST_RETRY_US;
    for (unsigned i = 0; i < p->n_failures && pause < LAST_RETRY_US; i++)
        pause *= 2;
    p->n_failures++;
    t->n_failed++;
    enter(p, TARGET_FAILED);
    p->retry = p->since + (pause < LAST_RETRY_US ? pause : LAST_RETRY_US);
}

/* ---- folders ----------------------------------------------------------------------------- */

/* Makes the folder RULE.USER in the agent's folder; it belongs to that user alone. Nobody else can
 * have put anything there, since only we can write to the agent's folder. */
static int make_folder(const agent_config *c, target_process *p, const rights *whose) {
    struct stat about;
    const struct passwd *user = getpwuid(p->process.uid);
    char number[32];
    snprintf(number, sizeof number, "%lu", (unsigned long)p->process.uid);
    const int n = snprintf(p->folder, sizeof p->folder, "%s/%s.%s", c->folder,
                           p->process.rule->name, user ? user->pw_name : number);
    if (n >= (int)sizeof p->folder)
        return ENAMETOOLONG;
    if (mkdir(p->folder, 0700) != 0 && errno != EEXIST)
        return errno;
    const int fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const bool ok = fstat(fd, &about) == 0 &&
                    (about.st_uid == whose->uid || fchown(fd, whose->uid, whose->gid) == 0);
    const int error = ok ? 0 : errno;
    close(fd);
    return error;
}

/* ---- children ---------------------------------------------------------------------------- */

/* Passes the token to the child in its environment, which only the child's user and root can
 * read. */
static bool set_token(const char *path) {
    char text[TOKEN_MAX];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (n < 0)
        message_error("%s: %s", path, strerror(errno));
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return n >= 0 && setenv("ALLOTRACE_PUSH_TOKEN", text, 1) == 0;
}

/* Runs in the child process: executes `attach`. It gets SIGTERM when the agent ends, however that
 * happens. */
static _Noreturn void become(const targets *t, const target_process *p, const rights *whose,
                             int said, pid_t agent) {
    char pid[16];
    VEC(char *) words = {0};
    sigset_t none;
    const agent_rule *rule = p->process.rule;
    const int in = open("/dev/null", O_RDONLY);
    if (in < 0 || dup2(in, 0) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
        _exit(STATUS_FAILED);
    bool ok = !rule->token_file || set_token(rule->token_file);
    snprintf(pid, sizeof pid, "%d", (int)p->process.pid);
    ok = ok && vec_push(&words, (char *)"allotrace") && vec_push(&words, (char *)"attach");
    for (size_t i = 0; ok && i < rule->words.count; i++)
        ok = vec_push(&words, (char *)rule->words.items[i]);
    ok = ok && vec_push(&words, (char *)"--output") && vec_push(&words, (char *)p->folder) &&
         vec_push(&words, pid) && vec_push(&words, NULL);
    const int error = ok ? agent_rights_become(whose, t->config->sys_admin) : 0;
    if (error)
        message_error("the rights of user %lu cannot be assumed: %s", (unsigned long)whose->uid,
                      strerror(error));
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (ok && !error && getppid() == agent)
        execv("/proc/self/exe", words.items);
    _exit(STATUS_FAILED);
}

static bool start_child(targets *t, target_process *p, const rights *whose) {
    int ends[2];
    const pid_t agent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(t, p, whose, ends[1], agent);
    file_close(ends[1]);
    if (child < 0) {
        file_close(ends[0]);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->child = child;
    p->said = ends[0];
    return true;
}

static void note_problem(target_process *p, const char *problem) {
    snprintf(p->problem, sizeof p->problem, "%s", problem);
    message_warning("%s %d: %s", p->process.rule->name, (int)p->process.pid, problem);
}

static void begin(targets *t, target_process *p) {
    rights whose;
    p->problem[0] = '\0';
    t->n_started++;
    if (!rights_of_thread(p->process.pid, p->process.pid, &whose)) {
        p->is_there = false; /* the process has just ended */
        enter(p, TARGET_ENDING);
        return;
    }
    const int error = make_folder(t->config, p, &whose);
    if (error || !start_child(t, p, &whose)) {
        char problem[TARGET_LINE];
        snprintf(problem, sizeof problem, "%.500s: %s", error ? p->folder : "a process for it",
                 strerror(error ? error : errno));
        note_problem(p, problem);
        fail_for_now(t, p);
        return;
    }
    enter(p, TARGET_STARTING);
}

/* ---- scanning -------------------------------------------------------------------------------- */

static target_process *find(targets *t, const found_process *f) {
    for (size_t i = 0; i < t->items.count; i++)
        if (t->items.items[i].process.pid == f->pid && t->items.items[i].process.start == f->start)
            return &t->items.items[i];
    return NULL;
}

/* Forgets a process that has ended once its child has, and retries one that failed. */
static void look_after(targets *t, size_t i) {
    target_process *p = &t->items.items[i];
    if (p->child)
        return;
    if (!p->is_there)
        t->items.items[i] = t->items.items[--t->items.count];
    else if (p->state == TARGET_FAILED && clock_monotonic_us() >= p->retry)
        begin(t, p);
}

bool targets_scan(targets *t) {
    found_processes found = {0};
    bool ok = agent_find(t->config, &found);
    for (size_t i = 0; ok && i < t->items.count; i++)
        t->items.items[i].is_there = false;
    t->n_left_out = 0;
    for (size_t i = 0; ok && i < found.count; i++) {
        target_process *known = find(t, &found.items[i]);
        if (known) {
            known->is_there = true;
            continue;
        }
        if (t->items.count >= t->config->max_processes) {
            t->n_left_out++;
            continue;
        }
        ok = vec_push(&t->items,
                      ((target_process){.process = found.items[i], .is_there = true, .said = -1}));
        if (ok)
            begin(t, &t->items.items[t->items.count - 1]);
    }
    for (size_t i = t->items.count; ok && i > 0; i--)
        look_after(t, i - 1);
    vec_free(&found);
    return ok;
}

/* ---- messages of children -------------------------------------------------------------------- */

bool targets_poll(const targets *t, pollfds *polled) {
    for (size_t i = 0; i < t->items.count; i++)
        if (t->items.items[i].said >= 0 &&
            !vec_push(polled, ((struct pollfd){.fd = t->items.items[i].said, .events = POLLIN})))
            return false;
    return true;
}

/* Handles a line from the child, after removing the leading program name. */
static void take_line(target_process *p, const char *line) {
    static const char ours[] = "allotrace: ", problem[] = "warning: ", hint[] = "look closer: ";
    const bool is_message = strncmp(line, ours, sizeof ours - 1) == 0;
    line += is_message ? sizeof ours - 1 : 0;
    if (strncmp(line, hint, sizeof hint - 1) == 0)
        return;
    if (strncmp(line, ATTACH_NOTE_BEGUN, sizeof ATTACH_NOTE_BEGUN - 1) == 0) {
        enter(p, TARGET_RECORDING);
        p->n_failures = 0;
        message_note("%s %d: recording user %lu's %s into %s/", p->process.rule->name,
                     (int)p->process.pid, (unsigned long)p->process.uid, p->process.program,
                     p->folder);
        return;
    }
    if (p->state == TARGET_STARTING || strncmp(line, problem, sizeof problem - 1) == 0) {
        line += strncmp(line, problem, sizeof problem - 1) == 0 ? sizeof problem - 1 : 0;
        note_problem(p, line);
    } else
        message_note("%s %d: %s", p->process.rule->name, (int)p->process.pid, line);
}

static void take_text(target_process *p, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n' && p->n_line < sizeof p->line - 1) {
            p->line[p->n_line++] = text[i];
            continue;
        }
        if (text[i] != '\n')
            continue;
        p->line[p->n_line] = '\0';
        p->n_line = 0;
        if (*p->line)
            take_line(p, p->line);
    }
}

static void hear(target_process *p) {
    char text[4096];
    ssize_t n;
    while ((n = read(p->said, text, sizeof text)) > 0)
        take_text(p, text, (size_t)n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(p->said);
    p->said = -1;
}

void targets_hear(targets *t) {
    for (size_t i = 0; i < t->items.count; i++)
        if (t->items.items[i].said >= 0)
            hear(&t->items.items[i]);
}

/* ---- ends -------------------------------------------------------------------------------- */

/* Returns whether the recorder is still in the process: a detached process keeps it, one that has
 * exec'ed another program does not. */
static bool has_recorder(pid_t pid) {
    process_module recorder;
    return process_find_module(pid, PRELOAD_NAME, &recorder);
}

/* Handles the end of a child. If the process still lives, and the child ended without an error,
 * then somebody has detached it, or it has exec'ed another program. */
static void take_end(targets *t, target_process *p, bool well) {
    const target_state before = p->state;
    if (p->said >= 0)
        hear(p);
    if (p->said >= 0) /* another process, such as the ring's keeper, still has the pipe open */
        close(p->said);
    p->said = -1;
    p->child = 0;
    p->is_there &= agent_find_start(p->process.pid) == p->process.start;
    t->n_ended += before != TARGET_STARTING;
    if (!p->is_there || before == TARGET_ENDING)
        enter(p, TARGET_ENDING);
    else if (!well || before != TARGET_RECORDING)
        fail_for_now(t, p);
    else if (has_recorder(p->process.pid))
        enter(p, TARGET_DETACHED);
    else
        begin(t, p);
}

void targets_reap(targets *t) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < t->items.count; i++)
            if (t->items.items[i].child == pid)
                take_end(t, &t->items.items[i],
                         WIFEXITED(status) && WEXITSTATUS(status) == STATUS_OK);
}

void targets_end(targets *t) {
    for (size_t i = 0; i < t->items.count; i++) {
        target_process *p = &t->items.items[i];
        if (p->child && p->state != TARGET_ENDING) {
            kill(p->child, SIGTERM);
            enter(p, TARGET_ENDING);
        }
    }
}

size_t targets_n_active(const targets *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->items.count; i++)
        n += t->items.items[i].child > 0;
    return n;
}

void targets_free(targets *t) {
    for (size_t i = 0; i < t->items.count; i++)
        file_close(t->items.items[i].said);
    vec_free(&t->items);
}
