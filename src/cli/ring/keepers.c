/* keepers.c: a loop that looks for new spools while there are free places, and for keepers that
 * have ended. Spools are identified by their inodes. inotify announces new spools; where that is
 * not available, the folder's modification time does. */
#include "cli/ring/keepers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process.h"
#include "base/file.h"
#include "base/path.h"
#include "base/shell.h"
#include "base/vec.h"
#include "cli/message.h"
#include "cli/ring/keeper.h"
#include "cli/ring/keeper_spool.h"
#include "cli/ring/ring_push.h"
#include "cli/run/run_rescue.h"
#include "contract/trace_name.h"
#include "platform/clock.h"

enum {
    LOOK_MS = 100,     /* between checks of things that nobody announces */
    HURRY_MS = 10,     /* between scans of the folder, if spools arrive quickly */
    TIMES = 10,        /* after a useless scan, the next one waits so many times its duration */
    AGAIN_MS = 2000,   /* between scans of an unchanged folder */
    LINGER_MS = 2000,  /* after the last process has ended: another one may just be in its exec */
    PATIENCE_MS = 200, /* for processes that end together with the program */
};

/* A keeper and its spool. */
typedef struct place {
    pid_t keeper; /* 0: the place is free */
    pid_t pid;    /* the process that records */
    ino_t inode;
    int fd;
} place;

typedef struct watch {
    ring_plan plan;
    int rescue;
    int fd; /* socket to the starter; -1: the starter is gone, or has released us */
    bool finishing;
    pid_t program;       /* its spools have a keeper of their own; 0: none */
    int process;         /* pidfd of `program`; -1: it is gone */
    uint64_t program_ms; /* when the program's end was noticed */

    place places[KEEPERS_PLACES];
    size_t n_places;          /* number of places in use */
    VEC(ino_t) lost;          /* spools whose keeper was killed or failed */
    char name[NAME_MAX + 1];  /* of spools, as a pattern */
    int notify;               /* inotify descriptor; -1: not available */
    bool changed;             /* something has changed, so a scan is worthwhile */
    size_t n_waiting;         /* spools that found no free place in the last scan */
    bool comes;               /* there is a spool that cannot be taken yet */
    struct timespec modified; /* of the folder, at the last check */
    uint64_t looked_ms, look_after_ms, busy_ms;
    uint64_t users_ms; /* when to check the users of processes next; 0: never again */
} watch;

/* ---- spools -------------------------------------------------------------------------------- */

static bool is_known(const watch *w, ino_t inode) {
    for (size_t i = 0; i < KEEPERS_PLACES; i++)
        if (w->places[i].keeper && w->places[i].inode == inode)
            return true;
    for (size_t i = 0; i < w->lost.count; i++)
        if (w->lost.items[i] == inode)
            return true;
    return false;
}

static place *free_place(watch *w) {
    for (size_t i = 0; i < KEEPERS_PLACES; i++)
        if (!w->places[i].keeper)
            return &w->places[i];
    return NULL;
}

static void count_keepers(const watch *w) {
    atomic_store(&w->plan.run->n_keepers, w->n_places + 1);
}

/* Redirects a stream to /dev/null, so that a reader of the program's output does not wait for
 * us. */
static void say_nothing(int to) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, to);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

/* Forks a keeper for a spool. Returns false if fork fails. */
static bool start_keeper(watch *w, place *p, int fd, const char *path, uint64_t pid) {
    const pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        for (size_t i = 0; i < KEEPERS_PLACES; i++)
            if (w->places[i].keeper)
                close(w->places[i].fd);
        file_close(w->fd);
        say_nothing(STDERR_FILENO);
        keeper_of_child(&w->plan, path, fd, (pid_t)pid, w->rescue);
    }
    *p = (place){.keeper = child, .pid = (pid_t)pid, .fd = fd};
    return true;
}

/* Returns whether the file has not changed for a while: a recorder may not have locked a new one
 * yet. */
static bool is_left(const struct stat *st) {
    return clock_now(CLOCK_REALTIME_COARSE).tv_sec - st->st_mtim.tv_sec > LINGER_MS / 1000;
}

/* Starts a keeper for a spool, if there is a free place. */
static void take_in(watch *w, const char *path, uint64_t pid) {
    struct stat st;
    place *p = free_place(w);
    w->n_waiting += !p;
    const int fd = p ? keeper_spool_open(&w->plan, path) : -1;
    if (fd < 0)
        return;
    const bool is_new = fstat(fd, &st) == 0 && !is_known(w, st.st_ino);
    if (is_new && st.st_size > 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        start_keeper(w, p, fd, path, pid)) {
        p->inode = st.st_ino;
        w->n_places++;
        count_keepers(w);
        return;
    }
    if (st.st_size == 0 && is_left(&st) && !file_is_locked(fd))
        unlink(path); /* its process was killed before it wrote anything */
    else
        w->comes = true;
    close(fd);
}

/* Returns whether a file is a spool of this run, and the process it belongs to. The spool of a
 * program before an exec has a number after its name. */
static bool is_spool(const watch *w, const char *name, uint64_t *pid) {
    char stem[NAME_MAX + 1];
    const char *end = strstr(name, ".spool");
    if (!end)
        return false;
    end += strlen(".spool");
    snprintf(stem, sizeof stem, "%.*s", (int)(end - name), name);
    return trace_name_matches(w->name, stem, pid) &&
           (!*end || (*end == '.' && strspn(end + 1, "0123456789") == strlen(end + 1)));
}

static void look_at_folder(watch *w) {
    char path[PATH_MAX];
    const uint64_t began = clock_monotonic_ms();
    const size_t n_before = w->n_places;
    w->n_waiting = 0;
    w->comes = w->changed = false;
    DIR *folder = opendir(w->plan.folder);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        uint64_t pid = 0;
        if (e->d_name[0] == '.' && is_spool(w, e->d_name, &pid) && (pid_t)pid != w->program &&
            !is_known(w, e->d_ino) &&
            snprintf(path, sizeof path, "%s/%s", w->plan.folder, e->d_name) < (int)sizeof path)
            take_in(w, path, pid);
    }
    if (folder)
        closedir(folder);
    w->looked_ms = clock_monotonic_ms();
    w->look_after_ms = w->looked_ms + HURRY_MS;
    if (w->n_places == n_before)
        w->look_after_ms += TIMES * (w->looked_ms - began);
}

/* Returns whether to scan the folder now. */
static bool is_due(watch *w) {
    const uint64_t now = clock_monotonic_ms();
    return now >= w->look_after_ms &&
           (w->changed || w->comes || now - w->looked_ms >= AGAIN_MS ||
            (w->notify < 0 && file_folder_changed(w->plan.folder, &w->modified)));
}

/* Reads which files are new. After an overflow, any file may be. */
static void hear_of_files(watch *w) {
    char room[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    uint64_t pid;
    const ssize_t n = read(w->notify, room, sizeof room);
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const struct inotify_event *)(room + at);
        w->changed |= e->len == 0 || is_spool(w, e->name, &pid);
        at += (ssize_t)(sizeof *e + e->len);
    }
}

static int notify_of(const char *folder) {
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0 && inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO) >= 0)
        return fd;
    file_close(fd);
    return -1;
}

/* ---- keepers ------------------------------------------------------------------------------- */

static void note_ended(watch *w, place *p, int status) {
    if (!WIFEXITED(status))
        ring_run_failed(w->plan.run, 0);
    if ((!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) &&
        !vec_push(&w->lost, p->inode))
        return; /* no memory: the place stays in use */
    close(p->fd);
    p->keeper = 0;
    w->n_places--;
    w->changed = true; /* a waiting spool can have the place; a new file may reuse the inode */
    count_keepers(w);
}

static void look_at_keepers(watch *w) {
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        for (size_t i = 0; i < KEEPERS_PLACES; i++)
            if (w->places[i].keeper == ended)
                note_ended(w, &w->places[i], status);
}

static bool is_alive(pid_t pid) {
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    const bool alive = process >= 0 && !file_is_ready(process, 0);
    file_close(process);
    return alive;
}

/* Counts processes that are still recording. A process may have closed its spool, and open it again
 * when there is something to write. */
static uint64_t count_recording(const watch *w) {
    uint64_t n = 0;
    for (size_t i = 0; i < KEEPERS_PLACES; i++) {
        const place *p = &w->places[i];
        n += p->keeper && (file_is_locked(p->fd) || is_alive(p->pid));
    }
    return n;
}

/* ---- users ---------------------------------------------------------------------------------- */

/* Returns whether a user may write to the folder. Supplementary groups are not checked: a folder
 * that its group may write to was set up that way on purpose. */
static bool may_write(const struct stat *folder, long user) {
    return user <= 0 || folder->st_mode & (S_IWOTH | S_IWGRP) || (long)folder->st_uid == user;
}

static bool check_process(const char *folder, const struct stat *about, pid_t pid) {
    const long uid = process_status(pid, "Uid", -1);
    if (may_write(about, uid))
        return false;
    const struct passwd *user = getpwuid((uid_t)uid);
    char number[32], *word = shell_word(folder);
    snprintf(number, sizeof number, "user %ld", uid);
    message_warning("process %d runs as %s, who may not write to %s, so it may not be recorded; "
                    "restart it after: chmod 1777 %s",
                    (int)pid, user ? user->pw_name : number, folder, word ? word : folder);
    free(word);
    return true;
}

/* Checks, if we are root, whether the process or one of its children runs as a user who cannot
 * write to the folder. Workers of a server that root starts often change user; they open their
 * spools with their own rights, and often nobody reads their standard error. Returns true after
 * warning about one. The user is in a process's status, since root may own its files in /proc. */
static bool check_users(const char *folder, pid_t program) {
    struct stat about;
    char path[64];
    int child;
    if (geteuid() != 0 || stat(folder, &about) != 0)
        return false;
    bool said = check_process(folder, &about, program);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)program, (int)program);
    FILE *children = said ? NULL : fopen(path, "re");
    while (!said && children && fscanf(children, "%d", &child) == 1)
        said = check_process(folder, &about, child);
    if (children)
        fclose(children);
    return said;
}

/* ---- the starter --------------------------------------------------------------------------- */

static void leave(watch *w) {
    close(w->fd);
    w->fd = -1;
    w->users_ms = 0;
    say_nothing(STDERR_FILENO);
}

/* The starter first sends which process is the program, later 0 when the program has ended. */
static void hear(watch *w) {
    uint64_t word;
    if (read(w->fd, &word, sizeof word) != sizeof word) {
        leave(w); /* the starter was killed: keep going */
    } else if (word) {
        w->program = (pid_t)word;
        w->process = (int)syscall(SYS_pidfd_open, w->program, 0);
    } else {
        w->program = 0;
        w->finishing = true;
    }
}

static int pause_ms(const watch *w) {
    const uint64_t now = clock_monotonic_ms();
    if (w->changed || w->comes)
        return w->look_after_ms > now ? (int)(w->look_after_ms - now) : 0;
    return w->n_waiting ? LOOK_MS / 2 : w->n_places || w->notify < 0 ? LOOK_MS : AGAIN_MS;
}

/* Waits for an event, or until the next check. */
static void wait_a_moment(watch *w) {
    struct pollfd looked[] = {{.fd = w->fd, .events = POLLIN},
                              {.fd = w->process, .events = POLLIN},
                              {.fd = w->notify, .events = POLLIN}};
    if (poll(looked, 3, pause_ms(w)) <= 0)
        return;
    if (looked[0].revents)
        hear(w);
    if (looked[1].revents) {
        close(w->process);
        w->process = -1;
        w->program_ms = clock_monotonic_ms();
    }
    if (looked[2].revents)
        hear_of_files(w);
}

/* Some time after the program has ended, its keeper has all of its spools. From then on, another
 * process may have its id. */
static void forget_program(watch *w) {
    if (w->program && w->process < 0 && clock_monotonic_ms() - w->program_ms >= LINGER_MS)
        w->program = 0;
}

static void look_at_users(watch *w) {
    const uint64_t now = clock_monotonic_ms();
    if (w->users_ms && w->program && now >= w->users_ms)
        w->users_ms = check_users(w->plan.folder, w->program) ? 0 : now + AGAIN_MS;
}

/* Returns whether no spool is left, and no process that could record. */
static bool is_over(watch *w) {
    const uint64_t now = clock_monotonic_ms();
    if (w->fd >= 0 || w->program || w->n_places || w->n_waiting || w->comes || w->process >= 0)
        w->busy_ms = now;
    return now - w->busy_ms >= LINGER_MS && !run_rescue_is_in_use(w->rescue);
}

/* Returns whether the recordings of all processes that have ended are in segments. */
static bool is_settled(watch *w, uint64_t began, uint64_t *n_recording) {
    const bool is_late = clock_monotonic_ms() - began >= PATIENCE_MS;
    look_at_folder(w);
    look_at_keepers(w);
    *n_recording = count_recording(w);
    return w->n_places == *n_recording && !w->changed && (is_late || !(w->comes || *n_recording));
}

/* Tells the starter what is still being recorded, and continues with that. */
static void finish(watch *w) {
    const uint64_t began = clock_monotonic_ms();
    keepers_left left;
    while (!is_settled(w, began, &left.n_recording))
        poll(NULL, 0, HURRY_MS);
    left.n_silent = !left.n_recording && run_rescue_is_in_use(w->rescue);
    if (send(w->fd, &left, sizeof left, MSG_NOSIGNAL) != sizeof left)
        left.n_recording++; /* the starter was killed */
    leave(w);
    w->finishing = false;
    if (!left.n_recording && !left.n_silent)
        _exit(EXIT_SUCCESS);
}

static _Noreturn void be_keepers(watch *w) {
    keeper_become(KEEPERS_NAME);
    signal(SIGCHLD, SIG_DFL);
    say_nothing(STDIN_FILENO);
    say_nothing(STDOUT_FILENO);
    w->busy_ms = w->users_ms = clock_monotonic_ms();
    w->notify = notify_of(w->plan.folder);
    while (w->fd >= 0 && !w->program) /* otherwise, its spools would be taken for a child's */
        hear(w);
    while (!is_over(w)) {
        look_at_keepers(w);
        if (is_due(w))
            look_at_folder(w);
        wait_a_moment(w);
        look_at_users(w);
        forget_program(w);
        if (w->finishing)
            finish(w);
    }
    _exit(EXIT_SUCCESS);
}

bool keepers_start(keepers *k, ring_plan *plan, int rescue) {
    static watch own;
    char pattern[PATH_MAX];
    int ends[2];
    *k = (keepers){.pid = -1, .fd = -1};
    plan->run = ring_run_new();
    if (!plan->run || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        (k->pid = fork()) < 0) {
        message_error("the segments cannot be written: %s", strerror(errno));
        return false;
    }
    if (k->pid == 0) {
        close(ends[1]);
        plan->run->id = (uint64_t)getpid();
        ring_push_be_sender(plan);
        own = (watch){.plan = *plan, .rescue = rescue, .fd = ends[0], .process = -1, .notify = -1};
        if (!ring_spool_pattern(plan, pattern, sizeof pattern))
            _exit(EXIT_FAILURE);
        snprintf(own.name, sizeof own.name, "%.*s", NAME_MAX, path_base(pattern));
        be_keepers(&own);
    }
    close(ends[0]);
    plan->run->id = (uint64_t)k->pid;
    k->fd = ends[1];
    return true;
}

void keepers_leave_out(keepers *k, pid_t pid) {
    const uint64_t word = (uint64_t)pid;
    if (pid && send(k->fd, &word, sizeof word, MSG_NOSIGNAL) == sizeof word)
        return;
    kill(k->pid, SIGKILL);
    waitpid(k->pid, NULL, 0);
    k->pid = -1;
    close(k->fd);
}

static bool say_failed(const ring_run *run) {
    const uint64_t n = atomic_load(&run->n_failed);
    const int error = atomic_load(&run->error);
    if (n && error)
        message_error(
            "the segments of %llu process%s could not be written: %s; what came after that "
            "is missing",
            (unsigned long long)n, n == 1 ? "" : "es", strerror(error));
    else if (n)
        message_warning("%llu process%s that wrote segments %s killed; what came after that is "
                        "missing",
                        (unsigned long long)n, n == 1 ? "" : "es", n == 1 ? "was" : "were");
    return n > 0;
}

bool keepers_finish(keepers *k, const ring_plan *plan, keepers_left *left) {
    const uint64_t end = 0;
    *left = (keepers_left){0};
    if (k->pid < 0)
        return false;
    const bool told = send(k->fd, &end, sizeof end, MSG_NOSIGNAL) == sizeof end &&
                      recv(k->fd, left, sizeof *left, MSG_WAITALL) == sizeof *left;
    close(k->fd);
    if (told && !left->n_recording && !left->n_silent)
        waitpid(k->pid, NULL, 0);
    k->pid = -1;
    if (!told)
        message_warning("the process that looks for child processes was killed; those that began "
                        "after that are missing");
    return !say_failed(plan->run) && told;
}

void keepers_say_left(const keepers_left *left, const ring_plan *plan) {
    char *word = shell_word(plan->folder);
    const char *folder = word ? word : plan->folder;
    if (left->n_recording)
        message_warning("%llu process%s of this run %s still recording; later, for the names in "
                        "their segments: allotrace symbolize %s/",
                        (unsigned long long)left->n_recording, left->n_recording == 1 ? "" : "es",
                        left->n_recording == 1 ? "is" : "are", folder);
    else if (left->n_silent)
        message_warning("processes of this run go on, and are recorded when they allocate; later, "
                        "for the names in their segments: allotrace symbolize %s/",
                        folder);
    free(word);
}
