/* own_trace.c: if this process has written a trace as another program, before exec, that trace is
 * renamed. */
#include "guest/own_trace.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "guest/options.h"

static const char *setting(enum setting which) {
    const char *value = secure_getenv(setting_infos[which].name);
    return value && *value ? value : NULL;
}

static bool refuse(enum setting which, char *problem, size_t size) {
    snprintf(problem, size, "%s is not %s: %s", setting_infos[which].name,
             setting_infos[which].valid, setting(which));
    return false;
}

static bool is_of_this_process(const char *path) {
    uint8_t bytes[MEMTRACE_FRONT_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        close(fd);
    return n > 0 && memtrace_is_of_process(bytes, (size_t)n, (uint64_t)getpid());
}

/* Renames the trace that this process wrote before exec. If no name is free, the trace will be
 * replaced. */
static void keep_earlier(const char *path) {
    char name[PATH_MAX];
    for (unsigned n = 1; n <= TRACE_NAME_EARLIER_MAX; n++)
        if (!trace_name_earlier(path, n, name, sizeof name) ||
            renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
            return;
}

bool own_trace_wanted(char *path, size_t size, char *problem, size_t problem_size) {
    const char *pattern = setting(SETTING_FILE), *process = setting(SETTING_PROCESS);
    uint64_t chosen = (uint64_t)getpid();
    *problem = '\0';
    if (!pattern)
        return false;
    if (!trace_name_is_pattern(pattern) || !trace_name_for(pattern, (uint64_t)getpid(), path, size))
        return refuse(SETTING_FILE, problem, problem_size);
    if (process && !options_parse_whole(process, &chosen))
        return refuse(SETTING_PROCESS, problem, problem_size);
    if (!trace_name_is_per_process(pattern) && chosen != (uint64_t)getpid())
        return false;
    if (is_of_this_process(path))
        keep_earlier(path);
    return true;
}
