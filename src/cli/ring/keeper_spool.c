/* keeper_spool.c: a spool has two locks: the recorder's (OFD) says that it is being recorded to,
 * the keeper's (flock) that it has a keeper. */
#include "cli/ring/keeper_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path_rights.h"
#include "base/proc.h"
#include "cli/run/symbolize_file.h"
#include "platform/clock.h"

/* A spool in a container's file system must be a regular file of our own user, with a single
 * link. */
int keeper_spool_open(const ring_plan *plan, const char *path) {
    struct stat st;
    if (!plan->spool_folder)
        return path_open_once(path, O_RDWR);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 ||
        (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}

/* symbolize_file_is_recording looks at the recorder's lock, which is of another kind than the
 * keeper's. */
bool keeper_has_gone(const ring_plan *plan, uint64_t pid) {
    enum { LOOKS = 20 };
    const struct timespec pause = {.tv_nsec = 100000000};
    char path[PATH_MAX];
    bool is_free = true;
    for (int i = 0; is_free && i < LOOKS; i++) {
        const int fd =
            ring_spool_path(plan, pid, path, sizeof path) ? keeper_spool_open(plan, path) : -1;
        is_free = fd >= 0 && symbolize_file_is_recording(path) && flock(fd, LOCK_EX | LOCK_NB) == 0;
        file_close(fd);
        nanosleep(&pause, NULL);
    }
    return is_free;
}

bool keeper_spool_is_open(pid_t pid, ino_t inode) {
    char path[64];
    struct stat st;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !has && (e = readdir(d));)
        has = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_ino == inode;
    if (d)
        closedir(d);
    return has;
}

/* Takes the recorder's lock, which also protects the file's name. A process that has exec'ed, or a
 * child that has inherited the lock and does not run yet, may hold it. */
static void take_recorder_lock(int fd) {
    enum { NAPS = 2000 };
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int i = 0; i < NAPS; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
            return;
        nanosleep(&nap, NULL);
    }
}

void keeper_spool_remove(const ring_plan *plan, int fd, ino_t inode) {
    char room[PATH_MAX];
    take_recorder_lock(fd);
    DIR *d = opendir(ring_spool_folder(plan, room));
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_ino == inode)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

/* Returns whether a keeper holds the spool, or, in a run with child processes, will take it. */
static bool is_kept(const char *path, const char *name) {
    char who[32];
    const unsigned long long run = strtoull(name + 1, NULL, 10);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    proc_read(run, "comm", who, sizeof who);
    const bool kept =
        strcmp(who, KEEPERS_NAME "\n") == 0 || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0);
    file_close(fd);
    return kept;
}

/* Reads from a spool's name which process it belongs to. Returns false if the file is not a
 * spool. */
static bool spool_owner(const char *name, pid_t *pid) {
    const char *const end = strstr(name, ".spool"), *number = end;
    if (name[0] != '.' || !end ||
        strspn(end + strlen(".spool"), ".0123456789") != strlen(end + strlen(".spool")))
        return false;
    while (number > name && number[-1] != '.')
        number--;
    *pid = (pid_t)strtol(number, NULL, 10);
    return true;
}

/* Returns whether nobody records to the spool. A recorder may be delayed between creating a spool
 * and locking it, so a new spool is not abandoned while its process lives. */
static bool is_abandoned(const char *path, pid_t owner) {
    enum { LONG_AGO = 10 }; /* seconds */
    struct stat st;
    const bool is_old =
        stat(path, &st) == 0 && (uint64_t)st.st_mtim.tv_sec + LONG_AGO < clock_wall_us() / 1000000;
    const bool is_gone = kill(owner, 0) != 0 && errno == ESRCH;
    return (is_old || is_gone) && !symbolize_file_is_recording(path);
}

void keeper_spools_remove_abandoned(const ring_plan *plan, pid_t pid) {
    char path[PATH_MAX], room[PATH_MAX];
    const char *folder = ring_spool_folder(plan, room);
    pid_t owner;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (spool_owner(e->d_name, &owner) &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path &&
            (owner == pid ? !symbolize_file_is_recording(path) : is_abandoned(path, owner)) &&
            !is_kept(path, e->d_name))
            unlink(path);
    if (d)
        closedir(d);
}
