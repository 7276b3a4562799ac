/* open_in.c: openat2(2), which can confine path resolution to a folder. */
#include "base/open_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int find_in(int root, const char *path, int flags, uint64_t resolve) {
    const struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve};
    return root > 0 ? (int)syscall(SYS_openat2, root, path, &how, sizeof how)
                    : open(path, O_PATH | O_CLOEXEC | flags);
}

int open_in(int root, const char *path) {
    struct stat about;
    char again[32];
    const int found = find_in(root, path, 0, 0);
    if (found < 0)
        return -1;
    const bool is_file = fstat(found, &about) == 0 && S_ISREG(about.st_mode);
    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    const int fd = is_file ? open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1,
              error = is_file ? errno : ENOEXEC;
    close(found);
    errno = error;
    return fd;
}

int open_folder_in(int root, const char *path) {
    return find_in(root, path, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
}
