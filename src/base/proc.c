/* proc.c: files in /proc have no size, so they are read until the end or until the buffer is
 * full. */
#include "base/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef char proc_path[96];

static const char *path_of(uint64_t pid, const char *name, proc_path path) {
    snprintf(path, sizeof(proc_path), "/proc/%" PRIu64 "/%s", pid, name);
    return path;
}

int proc_open(uint64_t pid, const char *name, int flags) {
    proc_path path;
    return open(path_of(pid, name, path), flags | O_CLOEXEC);
}

bool proc_link(uint64_t pid, const char *name, char *path, size_t size) {
    proc_path link;
    const ssize_t n = readlink(path_of(pid, name, link), path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

size_t proc_read(uint64_t pid, const char *name, char *text, size_t size) {
    size_t used = 0;
    const int fd = proc_open(pid, name, O_RDONLY);
    for (ssize_t n; fd >= 0 && (n = read(fd, text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[used] = '\0';
    return used;
}

/* The second field, the name in parentheses, may contain anything, so fields are counted from its
 * end. */
uint64_t proc_stat(uint64_t pid, unsigned field) {
    char text[1024];
    proc_read(pid, "stat", text, sizeof text);
    const char *at = strrchr(text, ')');
    for (unsigned i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t proc_stat_us(uint64_t pid, unsigned field) {
    return proc_stat(pid, field) * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}
