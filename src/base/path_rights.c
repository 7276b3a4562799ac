/* path_rights.c: if every folder on a path so far is ours, nobody else can change it while we look.
 * So each step of the path is checked from the folder before it. */
#include "base/path_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/* How far the path has been followed. */
typedef struct path_walk {
    int folder;
    char rest[2 * PATH_MAX]; /* rest of the path, relative to `folder` */
    unsigned n_links;
    uid_t owner; /* the first owner who is not root */
    bool is_others;
} path_walk;

static bool meets_other(path_walk *w, const struct stat *about) {
    if (about->st_uid == 0 || w->is_others)
        return w->is_others;
    w->owner = about->st_uid;
    return w->is_others = true;
}

/* Returns false if there is no such folder, or its owner is not root. */
static bool enter(path_walk *w, const char *name) {
    struct stat about;
    const int from = w->folder;
    w->folder =
        openat(from < 0 ? AT_FDCWD : from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from >= 0)
        close(from);
    return w->folder >= 0 && fstat(w->folder, &about) == 0 && !meets_other(w, &about);
}

/* Replaces a link by its target, in front of the rest of the path. */
static bool follow(path_walk *w, const char *name) {
    char target[PATH_MAX], rest[sizeof w->rest];
    const ssize_t n = readlinkat(w->folder, name, target, sizeof target - 1);
    if (n <= 0 || ++w->n_links > MOST_LINKS)
        return false;
    target[n] = '\0';
    if (snprintf(rest, sizeof rest, "%s/%s", target, w->rest) >= (int)sizeof rest)
        return false;
    memcpy(w->rest, rest, sizeof rest);
    return *target != '/' || enter(w, "/");
}

/* Takes one step. Returns false at the end of the path, if it leads nowhere, or at something that
 * is another user's. */
static bool step(path_walk *w) {
    char name[NAME_MAX + 1];
    struct stat about;
    const char *at = w->rest + strspn(w->rest, "/");
    const size_t size = strcspn(at, "/");
    if (size == 0 || size > NAME_MAX)
        return false;
    memcpy(name, at, size);
    name[size] = '\0';
    memmove(w->rest, at + size, strlen(at + size) + 1);
    if (fstatat(w->folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (S_ISLNK(about.st_mode))
        return !meets_other(w, &about) && follow(w, name);
    if (S_ISDIR(about.st_mode))
        return enter(w, name);
    struct stat folder; /* with the sticky bit, each file is controlled by its owner */
    if (fstat(w->folder, &folder) == 0 && folder.st_mode & S_ISVTX)
        meets_other(w, &about);
    return false;
}

bool path_is_others(const char *path, rights *theirs) {
    path_walk w = {.folder = -1};
    if (geteuid() != 0 || snprintf(w.rest, sizeof w.rest, "%s", path) >= (int)sizeof w.rest)
        return false;
    if (enter(&w, *path == '/' ? "/" : "."))
        while (step(&w))
            continue;
    if (w.folder >= 0)
        close(w.folder);
    if (w.is_others)
        *theirs = rights_of_user(w.owner);
    return w.is_others;
}

int path_open_once(const char *path, int flags) {
    rights theirs;
    struct stat about;
    const bool is_others = path_is_others(path, &theirs);
    const int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | (is_others ? O_NOFOLLOW : 0));
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
                   (!is_others || (about.st_nlink == 1 &&
                                   (about.st_uid == theirs.uid || about.st_uid == geteuid())))))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}
