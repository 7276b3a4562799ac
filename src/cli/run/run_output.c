/* run_output.c: the recorder writes the trace from within the program, where a missing folder can
 * only be reported on standard error. Before the program starts, the command can be refused
 * instead. */
#include "cli/run/run_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "contract/trace_name.h"

static int writable(const char *path, int how) {
    return faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0 ? 0 : errno;
}

static int check_folder(char path[PATH_MAX]) {
    struct stat st;
    const size_t size = (size_t)(path_base(path) - path);
    if (lstat(path, &st) == 0) /* a link to a file that does not exist yet */
        return 0;
    path[size] = '\0';
    if (stat(size ? path : ".", &st) != 0)
        return errno;
    return S_ISDIR(st.st_mode) ? writable(size ? path : ".", W_OK | X_OK) : ENOTDIR;
}

int run_output_check(const char *pattern, pid_t pid) {
    char path[PATH_MAX];
    struct stat st;
    if (!trace_name_for(pattern, (uint64_t)pid, path, sizeof path))
        return ENAMETOOLONG;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? EISDIR : writable(path, W_OK);
    return errno == ENOENT ? check_folder(path) : errno;
}

uint64_t run_output_replaces(const char *pattern) {
    char path[PATH_MAX];
    struct stat st;
    if (trace_name_is_per_process(pattern) || !trace_name_for(pattern, 0, path, sizeof path) ||
        stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    return (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
}
