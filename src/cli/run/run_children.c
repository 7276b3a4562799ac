/* run_children.c: the process is a listener, which forks a follower for each request. Followers
 * send it two kinds of message through a socket: words, which announce their next step, and lines,
 * which are to be printed. Their standard error leads there. */
#include "cli/run/run_children.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/arrive.h"
#include "attach/enter.h"
#include "attach/follow.h"
#include "attach/tree.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/vec.h"
#include "cli/message.h"
#include "cli/run/preload_file.h"
#include "cli/run/run_check.h"
#include "cli/run/run_go.h"
#include "cli/run/run_witness.h"
#include "cli/signals.h"
#include "contract/trace_name.h"
#include "platform/clock.h"

enum {
    MOST_FOLLOWERS = 1024,
    MOST_LINES = 64,     /* different lines that are printed */
    REQUEST_MS = 1000,   /* until a connected process has sent its request */
    OTHERS_MS = 50,      /* until the other threads of an exiting process are gone */
    ARRIVAL_MS = 5000,   /* between the end of the handshake and the exec */
    PATIENCE_MS = 100,   /* for processes that end together with the program */
    DECISION_MS = 3000,  /* for followers that have not yet decided, when the program has ended */
    LINE = 3 * PATH_MAX, /* bytes */
};

/* What a follower announces. The values are below those of letters, with which lines begin. */
enum word { WORD_FOLLOWS = 1, WORD_READS, WORD_DONE, WORD_LATE, WORD_BESIDE };

typedef struct told {
    char word;
    pid_t follower;
} told;

typedef struct follower {
    pid_t pid;
    bool has_decided; /* it has announced what it does; a follower that only injects the recorder
                         just ends */
    uint32_t n_followed, n_read; /* numbers of Go programs that are running, and of those that have
                                    ended but whose profile is not written yet */
} follower;

typedef struct listener {
    run_children_how how;
    int socket, run, run_process, ends; /* `run_process` is a pidfd of `run`, `ends` a signalfd for
                                           SIGCHLD */
    int words[2];                       /* socket pair for followers' messages: [0] is the
                                           listener's end */
    pid_t program;
    bool is_told; /* `program` is known */
    follower followers[MOST_FOLLOWERS];
    size_t n_followers;
    uint64_t said[MOST_LINES]; /* hashes of the lines */
    size_t n_said;
    uint64_t finishing_ms; /* when the program ended; 0: it is still running */
    run_children_left left;
} listener;

/* ---- the follower: one program ------------------------------------------------------------- */

static void tell(const listener *l, enum word word) {
    const told t = {.word = (char)word, .follower = getpid()};
    send(l->words[1], &t, sizeof t, MSG_NOSIGNAL);
}

/* Finds the file of the process's program: by its own name, unless that now names another file. */
static void name_program(pid_t pid, char path[PATH_MAX]) {
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    proc_link((uint64_t)pid, "exe", target, sizeof target);
    snprintf(path, PATH_MAX, "%s", file_is_same(link, target) ? target : link);
}

/* A program that has stopped at its exec or is followed, and how it is recorded. */
typedef struct stopped_program {
    const listener *l;
    pid_t pid;
    bool is_first;     /* it is the process that `run` has started */
    uint64_t until_ms; /* deadline until which it stays stopped at its exit, for its other threads;
                          0: it is running */
    char path[PATH_MAX], trace[PATH_MAX];
    run_check check;
    run_go go;
    run_go_case go_case;
} stopped_program;

static void enter_static(const stopped_program *s) {
    remote_reason outcome;
    const bool is_entered = enter_program(s->pid, s->l->how.library, &outcome);
    if (!is_entered || (s->is_first && !s->l->how.quiet))
        run_check_say_entered(s->path, is_entered, outcome.text);
}

/* Follows a Go program. Returns whether its heap profile will be read. A program without C has no
 * recorder to announce its child processes, so it is followed as a tree. */
static bool follow_go(stopped_program *s, bool enters) {
    const bool prepared = run_go_prepare(&s->go, s->pid);
    if (enters)
        enter_static(s);
    const bool alone = s->l->how.has_each && !s->go_case.with_malloc;
    const bool follows = prepared && (alone ? tree_begin(s->pid) : run_go_follow(&s->go, s->pid));
    run_go_say_followed(&s->go, follows, s->l->how.go_period, &s->go_case);
    if (follows &&
        (s->l->how.is_watched || (s->l->how.is_shown && s->is_first && !s->go_case.with_malloc)))
        run_go_begin_watch(&s->go, s->pid, s->trace, s->l->how.every_us, &s->go_case);
    if (!follows)
        follow_let_go(s->pid);
    return follows;
}

/* Starts to record the program in the way that suits it. Returns false if it need not be
 * followed. */
static bool begin(stopped_program *s) {
    const run_children_how *how = &s->l->how;
    name_program(s->pid, s->path);
    run_check_command(&s->check, s->path);
    const bool enters = s->check.is_static && s->check.recordable && how->library;
    s->go = (run_go){.program = s->check.go, .memory = -1, .period = how->go_period};
    s->go_case = (run_go_case){.command = s->path,
                               .with_malloc = s->check.recordable,
                               .quiet = how->quiet || !s->is_first,
                               .is_shown = how->is_shown && s->is_first,
                               .space = how->space};
    if (s->check.is_go && !(how->space && s->check.recordable))
        return follow_go(s, enters);
    if (s->check.is_go)
        run_go_say_ring(&s->go_case);
    else
        run_check_say(&s->check);
    if (s->check.is_static && s->check.recordable && !how->library)
        message_warning("%s is missing from the folder where it was installed, so static programs "
                        "are not recorded",
                        STATIC_NAME);
    if (enters)
        enter_static(s);
    follow_let_go(s->pid);
    return false;
}

/* ---- the follower: a tree of programs ------------------------------------------------------ */

typedef struct watch {
    const listener *l;
    VEC(stopped_program *) all; /* the programs that are followed */
    tree tree;
    bool ends; /* one of them is stopped at its exit */
} watch;

static stopped_program *find(const watch *w, pid_t pid) {
    for (size_t i = 0; i < w->all.count; i++)
        if (w->all.items[i]->pid == pid)
            return w->all.items[i];
    return NULL;
}

/* Writes the profile of a program that has ended, and removes the program from the list. */
static void finish(watch *w, stopped_program *s) {
    size_t i = 0;
    while (w->all.items[i] != s)
        i++;
    w->all.items[i] = w->all.items[--w->all.count];
    if (s->go.is_read && s->go_case.with_malloc && !s->is_first)
        tell(w->l, WORD_BESIDE);
    run_go_finish(&s->go, w->l->how.command, s->pid, s->trace, &s->go_case);
    tell(w->l, WORD_DONE);
    free(s);
}

/* A program has stopped at its exec. */
static void take_exec(watch *w, pid_t pid) {
    const listener *l = w->l;
    stopped_program *s = calloc(1, sizeof *s);
    if (s)
        *s = (stopped_program){.l = l, .pid = pid, .is_first = pid == l->program};
    if (!s || !l->how.name(l->how.context, l->program, pid, s->trace)) {
        follow_let_go(pid);
    } else if (begin(s)) {
        tell(l, WORD_FOLLOWS);
        if (vec_push(&w->all, s))
            return;
        follow_let_go(pid);
    }
    free(s);
}

/* A process, which may have been followed, has exec'ed another program. */
static void take_reexec(watch *w, pid_t pid) {
    stopped_program *s = find(w, pid);
    if (s) {
        s->go.has_become = true;
        run_go_close(&s->go);
        tell(w->l, WORD_READS);
        finish(w, s);
    }
    take_exec(w, pid);
}

/* Returns whether the process is about to exec a Go program, or a static one that can be
 * recorded. */
static bool is_wanted(pid_t pid) {
    char path[PATH_MAX];
    run_check *check = tree_path(pid, path) ? malloc(sizeof *check) : NULL;
    if (!check)
        return false;
    run_check_command(check, path);
    const bool wanted = check->is_go || (check->is_static && check->recordable);
    free(check);
    return wanted;
}

/* A process that is about to exec a program that is not recorded must not be traced any more: the
 * program may be setuid, and tracing would take away its rights. */
static void take_exec_start(watch *w, pid_t pid) {
    if (is_wanted(pid))
        tree_go_on(&w->tree, pid);
    else
        tree_let_go(&w->tree, pid);
}

static void take_exit(watch *w, pid_t thread) {
    stopped_program *s = find(w, thread);
    if (!s) {
        tree_go_on(&w->tree, thread);
        return;
    }
    s->until_ms = clock_monotonic_ms() + OTHERS_MS;
    w->ends = true;
    tell(w->l, WORD_READS);
}

static void take_stop(watch *w, pid_t thread, int status) {
    stopped_program *s = find(w, thread);
    switch (tree_take(&w->tree, thread, status, s)) {
    case TREE_STARTS:
        take_exec_start(w, thread);
        break;
    case TREE_STANDS:
        take_reexec(w, thread);
        break;
    case TREE_EXITS:
        take_exit(w, thread);
        break;
    case TREE_GONE:
        if (s) { /* it was killed before it could be stopped at its exit */
            if (!s->until_ms)
                tell(w->l, WORD_READS);
            finish(w, s);
        }
        break;
    case TREE_NONE:
        break;
    }
}

/* Reads the profiles of programs at their exit whose other threads are gone, or have not gone in
 * time. */
static void take_ends_of(watch *w) {
    w->ends = false;
    for (size_t i = 0; i < w->all.count; i++) {
        stopped_program *s = w->all.items[i];
        if (!s->until_ms)
            continue;
        if (!follow_is_alone(s->pid) && clock_monotonic_ms() < s->until_ms) {
            w->ends = true;
            continue;
        }
        run_go_end(&s->go, s->pid);
        finish(w, s);
        i--;
    }
}

/* Follows a process from its exec to its end, with all processes that are followed because of
 * it. */
static void accompany(const listener *l, pid_t pid) {
    watch w = {.l = l};
    int status;
    take_exec(&w, pid);
    while (w.all.count > 0) {
        const pid_t thread = waitpid(-1, &status, __WALL | (w.ends ? WNOHANG : 0));
        if (thread < 0 && errno != EINTR)
            break;
        if (thread > 0)
            take_stop(&w, thread, status);
        else if (thread == 0)
            poll(NULL, 0, 1);
        if (w.ends)
            take_ends_of(&w);
    }
    vec_free(&w.all);
    tree_free(&w.tree);
}

/* ---- the follower: the request ------------------------------------------------------------- */

/* Returns the requesting thread; 0: the request is not trusted. The kernel vouches for the process
 * of the peer, but not for its thread. */
static pid_t thread_of(const struct handover_request *request, const struct ucred *peer) {
    char path[64];
    if (request->thread == request->process)
        return peer->pid;
    snprintf(path, sizeof path, "/proc/%d/task/%lld", (int)peer->pid, (long long)request->thread);
    return request->process == peer->pid && access(path, F_OK) == 0 ? (pid_t)request->thread : 0;
}

static bool answer(int fd, enum handover_kind kind) {
    const struct handover_answer a = {.kind = (uint32_t)kind, .tracer = getpid()};
    return send(fd, &a, sizeof a, MSG_NOSIGNAL) == sizeof a;
}

/* Returns whether the requesting process has closed its socket, because it waited too long or has
 * ended. */
static bool has_given_up(int fd) {
    char byte;
    return recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Reads the request and attaches to the thread, after asking it for permission if necessary.
 * Returns false if nothing is traced. */
static bool take_request(const listener *l, int fd, arrival *a) {
    struct handover_request request;
    struct ucred peer;
    socklen_t size = sizeof peer;
    char byte;
    if (!file_is_ready(fd, REQUEST_MS) || recv(fd, &request, sizeof request, 0) != sizeof request ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    const bool is_ours = request.version == HANDOVER_VERSION && peer.uid == geteuid();
    const pid_t thread = is_ours ? thread_of(&request, &peer) : 0;
    int error = thread ? arrive_follow(a, thread, request.spawns) : ESRCH;
    if (error == EPERM && answer(fd, HANDOVER_PERMIT) && file_is_ready(fd, HANDOVER_MOST_MS) &&
        recv(fd, &byte, sizeof byte, 0) == sizeof byte)
        error = arrive_follow(a, thread, request.spawns);
    const bool is_late = error && is_ours && has_given_up(fd);
    if (error == EPERM && !is_late)
        message_warning("a static or Go program runs without being recorded: it cannot be traced "
                        "(ptrace: %s)",
                        strerror(error));
    if (!error && answer(fd, HANDOVER_FOLLOWS))
        return true;
    if (!error || is_late)
        tell(l, WORD_LATE); /* if it is traced, our exit detaches it without stopping it */
    else
        answer(fd, HANDOVER_REFUSED);
    return false;
}

/* Handles the stops and ends of traced threads. */
static arrive_event take_stops(arrival *a, pid_t *stands) {
    arrive_event event = ARRIVE_NONE;
    int status;
    pid_t pid;
    while (event == ARRIVE_NONE && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
        event = arrive_take(a, pid, status);
        *stands = pid;
    }
    return pid < 0 && event == ARRIVE_NONE ? ARRIVE_GONE : event;
}

static void drop_signals(int fd) {
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == sizeof info)
        ;
}

/* Waits for the exec. Returns 0 if there will be none, or it did not come in time. */
static pid_t await_arrival(arrival *a, int fd, int ends) {
    struct pollfd looked[] = {{.fd = ends, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    uint64_t until = UINT64_MAX;
    for (;;) {
        pid_t stands = 0;
        char byte;
        const arrive_event event = take_stops(a, &stands);
        const uint64_t now = clock_monotonic_ms();
        if (event != ARRIVE_NONE)
            return event == ARRIVE_HERE ? stands : 0;
        if (now >= until)
            return 0;
        poll(looked, 2, until == UINT64_MAX ? -1 : (int)(until - now));
        if (looked[0].revents)
            drop_signals(ends);
        if (looked[1].fd < 0 || !looked[1].revents)
            continue;
        if (recv(fd, &byte, sizeof byte, MSG_DONTWAIT) == sizeof byte) {
            arrive_let_go(a);
            send(fd, &byte, sizeof byte, MSG_NOSIGNAL);
            return 0;
        }
        looked[1].fd = -1; /* closed by the exec, or later */
        until = now + ARRIVAL_MS;
    }
}

static _Noreturn void be_follower(listener *l, int fd) {
    arrival a;
    close(l->socket);
    close(l->run);
    close(l->words[0]);
    dup2(l->words[1], STDERR_FILENO);
    if (take_request(l, fd, &a)) {
        const pid_t pid = await_arrival(&a, fd, l->ends);
        close(fd);
        if (pid)
            accompany(l, pid);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the listener -------------------------------------------------------------------------- */

static void take_connection(listener *l) {
    const int fd = accept4(l->socket, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    const pid_t pid = l->n_followers < MOST_FOLLOWERS ? fork() : -1;
    if (pid == 0)
        be_follower(l, fd);
    if (pid > 0)
        l->followers[l->n_followers++] = (follower){.pid = pid};
    else
        l->left.n_late++;
    close(fd);
}

static void take_ends(listener *l) {
    int status;
    drop_signals(l->ends);
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (size_t i = 0; i < l->n_followers; i++)
            if (l->followers[i].pid == pid)
                l->followers[i--] = l->followers[--l->n_followers];
}

/* Prints a line, unless it was printed before for the same program. */
static void say_once(listener *l, const char *line, size_t size) {
    const uint64_t hash = hash_bytes(line, size);
    for (size_t i = 0; i < l->n_said; i++)
        if (l->said[i] == hash)
            return;
    if (l->n_said == MOST_LINES)
        return;
    l->said[l->n_said++] = hash;
    fwrite(line, 1, size, stderr);
}

static void take_word(listener *l, const told *t) {
    l->left.n_late += t->word == WORD_LATE;
    l->left.n_beside += t->word == WORD_BESIDE;
    for (size_t i = 0; i < l->n_followers; i++)
        if (l->followers[i].pid == t->follower) {
            l->followers[i].has_decided = true;
            l->followers[i].n_followed += t->word == WORD_FOLLOWS;
            l->followers[i].n_followed -= t->word == WORD_READS;
            l->followers[i].n_read += t->word == WORD_READS;
            l->followers[i].n_read -= t->word == WORD_DONE;
        }
}

static void take_words(listener *l) {
    char bytes[LINE] __attribute__((aligned(__alignof__(told))));
    ssize_t n;
    while ((n = recv(l->words[0], bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        if (n == sizeof(told) && bytes[0] < ' ')
            take_word(l, (const told *)(const void *)bytes);
        else
            say_once(l, bytes, (size_t)n);
}

/* `run` first sends which process is the program, later 0 when the program has ended. */
static void hear_run(listener *l) {
    uint64_t word;
    if (recv(l->run, &word, sizeof word, 0) != sizeof word)
        _exit(EXIT_SUCCESS); /* `run` was killed: followers continue without us */
    if (word) {
        l->program = (pid_t)word;
        l->is_told = true;
    } else {
        l->finishing_ms = clock_monotonic_ms();
    }
}

/* Returns whether everything that has ended is written or counted. Waits a little for processes
 * that are just ending. */
static bool is_settled(listener *l) {
    const uint64_t waited = clock_monotonic_ms() - l->finishing_ms;
    uint32_t n_reading = 0, n_undecided = 0;
    l->left.n_following = 0;
    for (size_t i = 0; i < l->n_followers; i++) {
        n_undecided += !l->followers[i].has_decided;
        n_reading += l->followers[i].n_read;
        l->left.n_following += l->followers[i].n_followed;
    }
    return n_reading == 0 && (!n_undecided || waited >= DECISION_MS) &&
           (!l->left.n_following || waited >= PATIENCE_MS);
}

static int compare_numbers(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Closes all inherited files. Otherwise, a process that reads a pipe to its end, or waits for a
 * lock, would also wait for us. */
static void keep_own_files(listener *l) {
    int own[] = {STDERR_FILENO, l->socket, l->run, l->run_process, l->words[0], l->words[1]};
    const size_t n = sizeof own / sizeof *own;
    qsort(own, n, sizeof *own, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (own[i] < INT_MAX && (i + 1 == n || own[i + 1] > own[i] + 1))
            close_range((unsigned)own[i] + 1, i + 1 < n ? (unsigned)own[i + 1] - 1 : UINT_MAX, 0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close(nothing);
}

static _Noreturn void be_listener(listener *l) {
    sigset_t all;
    keep_own_files(l);
    setsid();
    run_witness_hide("run-follows");
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signal(SIGCHLD, SIG_DFL);
    const sigset_t child = signals_only(SIGCHLD);
    l->ends = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        struct pollfd looked[] = {{.fd = l->run, .events = POLLIN},
                                  {.fd = l->run_process, .events = POLLIN},
                                  {.fd = l->ends, .events = POLLIN},
                                  {.fd = l->words[0], .events = POLLIN},
                                  {.fd = l->is_told ? l->socket : -1, .events = POLLIN}};
        enum { LOOK_MS = 10 };
        poll(looked, 5, l->finishing_ms ? LOOK_MS : -1);
        if (looked[3].revents)
            take_words(l);
        if (looked[2].revents)
            take_ends(l);
        if (looked[0].revents)
            hear_run(l);
        if (looked[1].revents)
            _exit(EXIT_SUCCESS);
        if (looked[4].revents)
            take_connection(l);
        if (l->finishing_ms) {
            take_words(l);
            if (!looked[4].revents && is_settled(l)) { /* no further request is waiting */
                send(l->run, &l->left, sizeof l->left, MSG_NOSIGNAL);
                _exit(EXIT_SUCCESS);
            }
        }
    }
}

/* ---- for `run` ----------------------------------------------------------------------------- */

/* Makes an address in the abstract namespace. */
static socklen_t address_of(const char *name, struct sockaddr_un *at) {
    const size_t n = strlen(name);
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

/* Makes a listening socket with a name that no other run has. */
static int listen_at(char name[HANDOVER_NAME]) {
    struct sockaddr_un at;
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -1;
    snprintf(name, HANDOVER_NAME, "allotrace-%016llx", (unsigned long long)random);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const socklen_t size = address_of(name, &at);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    file_close(fd);
    return -1;
}

void run_children_start(run_children *c, const run_children_how *how) {
    static listener own;
    int ends[2] = {-1, -1};
    own = (listener){.how = *how, .socket = listen_at(c->name), .words = {-1, -1}};
    own.run_process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    c->pid = -1;
    if (own.socket >= 0 && own.run_process >= 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, own.words) == 0)
        c->pid = fork();
    if (c->pid == 0) {
        close(ends[1]);
        own.run = ends[0];
        be_listener(&own);
    }
    const int ours[] = {own.socket, own.run_process, own.words[0], own.words[1], ends[0]};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        file_close(ours[i]);
    c->fd = ends[1];
    if (c->pid < 0)
        c->name[0] = '\0';
}

void run_children_tell(run_children *c, pid_t pid) {
    const uint64_t word = (uint64_t)pid;
    if (c->pid > 0 && pid)
        send(c->fd, &word, sizeof word, MSG_NOSIGNAL);
    else if (c->pid > 0)
        close(c->fd);
}

static bool has_answer(int fd, struct handover_answer *got) {
    return file_is_ready(fd, ARRIVAL_MS) && recv(fd, got, sizeof *got, 0) == sizeof *got;
}

static bool is_followed(int fd) {
    const struct handover_request request = {
        .version = HANDOVER_VERSION, .process = getpid(), .thread = getpid()};
    struct handover_answer got;
    if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != sizeof request || !has_answer(fd, &got))
        return false;
    if (got.kind == HANDOVER_PERMIT) {
        prctl(PR_SET_PTRACER, got.tracer, 0, 0, 0);
        if (send(fd, "", 1, MSG_NOSIGNAL) != 1 || !has_answer(fd, &got))
            return false;
    }
    return got.kind == HANDOVER_FOLLOWS;
}

bool run_children_ask(const run_children *c) {
    struct sockaddr_un at;
    const socklen_t size = address_of(c->name, &at);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const uint64_t word = (uint64_t)getpid();
    return fd >= 0 && send(c->fd, &word, sizeof word, MSG_NOSIGNAL) == sizeof word &&
           connect(fd, (const struct sockaddr *)&at, size) == 0 && is_followed(fd);
}

void run_children_finish(run_children *c, run_children_left *left) {
    const uint64_t end = 0;
    *left = (run_children_left){0};
    if (c->pid < 0)
        return;
    if (send(c->fd, &end, sizeof end, MSG_NOSIGNAL) == sizeof end &&
        recv(c->fd, left, sizeof *left, 0) == sizeof *left)
        waitpid(c->pid, NULL, 0);
    else
        left->is_lost = 1;
    close(c->fd);
    c->pid = -1;
}

/* Names the traces: for x.%p.ctf, says x.PID.go.ctf. */
static void say_beside(uint32_t n, const char *pattern) {
    char name[PATH_MAX], beside[PATH_MAX];
    if (!trace_name_with(pattern, "PID", name, sizeof name) ||
        !trace_name_beside(name, beside, sizeof beside))
        return;
    message_note("Go's own profile%s of %u program%s with C %s beside: %s", n == 1 ? "" : "s", n,
                 n == 1 ? "" : "s", n == 1 ? "stands" : "stand", beside);
}

void run_children_say(const run_children_left *left, const char *pattern, bool quiet) {
    if (left->n_beside && !quiet)
        say_beside(left->n_beside, pattern);
    if (left->n_late)
        message_warning("%u static or Go program%s ran without being recorded, because %s not "
                        "followed within %d s",
                        left->n_late, left->n_late == 1 ? "" : "s",
                        left->n_late == 1 ? "it was" : "they were", HANDOVER_MOST_MS / 1000);
    if (left->is_lost)
        message_warning("the process that follows static and Go programs was killed; those that "
                        "began after that are missing");
    if (left->n_following)
        message_warning("%u Go program%s of this run %s still running; the profile of each is "
                        "written when it ends",
                        left->n_following, left->n_following == 1 ? "" : "s",
                        left->n_following == 1 ? "is" : "are");
}
