/* replacement.c: signal handlers know the name of the temporary file for as long as it exists
 * (replacement_interrupted removes it). Owner and mode of the old file are kept. The mode is set
 * last, so that nobody temporarily gets more access than before. */
#include "trace/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/failure.h"

enum {
    ANY_NEW_FILE = 0666, /* permissions, which the umask restricts */
    UNFINISHED = 0600    /* permissions: the old file may be private */
};

/* ---- files beside others ------------------------------------------------------------------- */

/* The name of the temporary file, for a signal handler to remove. */
static _Atomic(const char *) half_written;

/* Blocks signals, so that none arrives between creating a file and recording its name. */
static int make_file(const char *name, unsigned mode) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0)
        half_written = name;
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return fd;
}

int replacement_open_beside(const char *path, unsigned mode, char **name) {
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (asprintf(name, "%s.%ld-%u.tmp", path, (long)getpid(), attempt) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        const int fd = make_file(*name, mode);
        if (fd >= 0)
            return fd;
        free(*name);
        *name = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

void replacement_close_beside(char *name) {
    const char *known = name;
    atomic_compare_exchange_strong(&half_written, &known, NULL);
    free(name);
}

void replacement_interrupted(void) {
    const char *name = half_written;
    if (name)
        unlink(name);
}

/* ---- replacements -------------------------------------------------------------------------- */

static void forget(replacement *r) {
    free(r->path);
    replacement_close_beside(r->temporary);
    *r = (replacement){.fd = -1};
}

static bool is_special(const char *path) {
    struct stat old;
    return stat(path, &old) == 0 && !S_ISREG(old.st_mode);
}

/* Only root can keep the owner. The mode is set last, so that nobody gets more access than
 * before. */
static int copy_mode(const replacement *r) {
    struct stat old;
    if (lstat(r->path, &old) != 0 || !S_ISREG(old.st_mode))
        return 0;
    const int kept = fchown(r->fd, old.st_uid, old.st_gid);
    (void)kept;
    return fchmod(r->fd, old.st_mode & 07777) != 0 ? errno : 0;
}

static int open_temporary(replacement *r) {
    struct stat old;
    return replacement_open_beside(r->path, lstat(r->path, &old) == 0 ? UNFINISHED : ANY_NEW_FILE,
                                   &r->temporary);
}

memtrace_status replacement_begin(replacement *r, const char *path, memtrace_error *error) {
    *r = (replacement){.fd = -1, .path = realpath(path, NULL)};
    if (!r->path && errno == ENOENT)
        r->path = strdup(path);
    if (r->path)
        r->fd = is_special(r->path) ? open(r->path, O_WRONLY | O_CLOEXEC) : open_temporary(r);
    if (r->fd >= 0)
        return MEMTRACE_OK;
    const int reason = errno;
    forget(r);
    return failure(error, MEMTRACE_IO, reason, "the file cannot be written");
}

memtrace_status replacement_commit(replacement *r, memtrace_error *error) {
    int failed = r->temporary ? copy_mode(r) : 0;
    if (close(r->fd) != 0 && !failed)
        failed = errno;
    if (r->temporary && !failed && rename(r->temporary, r->path) != 0)
        failed = errno;
    if (r->temporary && failed)
        unlink(r->temporary);
    forget(r);
    return failed ? failure(error, MEMTRACE_IO, failed, "the file cannot be replaced")
                  : MEMTRACE_OK;
}

void replacement_abort(replacement *r) {
    close(r->fd);
    if (r->temporary)
        unlink(r->temporary);
    forget(r);
}
