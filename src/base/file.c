/* file.c: the three loops differ only in the system call; one function decides after each call
 * whether another follows. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds what a call transferred to `*done`. Returns 0 if another call may follow, or an errno. */
static int advance(ssize_t n, size_t *done) {
    if (n > 0)
        *done += (size_t)n;
    return n > 0 ? 0 : n == 0 ? EIO : errno == EINTR ? 0 : errno;
}

int file_write_all(int fd, const void *bytes, size_t size) {
    int error = 0;
    for (size_t done = 0; done < size && !error;)
        error = advance(write(fd, (const char *)bytes + done, size - done), &done);
    return error;
}

int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset) {
    int error = 0;
    for (size_t done = 0; done < size && !error;)
        error = advance(pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done)),
                        &done);
    return error;
}

int file_read_at(int fd, void *bytes, size_t size, uint64_t offset) {
    int error = 0;
    for (size_t done = 0; done < size && !error;)
        error =
            advance(pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done)), &done);
    return error;
}

void file_close(int fd) {
    const int before = errno;
    if (fd >= 0)
        close(fd);
    errno = before;
}

bool file_is_ready(int fd, int ms) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return TEMP_FAILURE_RETRY(poll(&one, 1, ms)) == 1;
}

const char *file_path_of(int fd, file_path path) {
    snprintf(path, sizeof(file_path), "/proc/self/fd/%d", fd);
    return path;
}

bool file_is_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void file_allow(size_t n) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= n)
        return;
    limit.rlim_cur = limit.rlim_max < n ? limit.rlim_max : n;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return; /* opening a file will then fail with an error */
}

bool file_is_locked(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

bool file_folder_changed(const char *folder, struct timespec *modified) {
    struct stat st;
    struct timespec now;
    if (stat(folder, &st) != 0)
        return true;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const struct timespec before = *modified;
    *modified = st.st_mtim;
    return before.tv_sec != st.st_mtim.tv_sec || before.tv_nsec != st.st_mtim.tv_nsec ||
           now.tv_sec - st.st_mtim.tv_sec <= 1;
}

const char *file_temporary_folder(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && *chosen == '/' && access(chosen, W_OK | X_OK) == 0 ? chosen : P_tmpdir;
}

/* For file systems without O_TMPFILE. */
static int open_and_unlink(const char *folder, int flags) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/allotrace-XXXXXX", folder) >= (int)sizeof path)
        return errno = ENAMETOOLONG, -1;
    const int fd = mkostemp(path, flags);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int file_temporary(int flags) {
    const char *folder = file_temporary_folder();
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
    return fd >= 0 ? fd : open_and_unlink(folder, O_CLOEXEC | flags);
}
