/* preload_file.c: the library is looked for relative to this program's own file, so that an
 * installation can be moved as a whole; a build has it in the folder beside. */
#include "cli/run/preload_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD_SETTING "ALLOTRACE_PRELOAD" /* environment: another library, for tests */

/* The folder of this program's file, with a slash at its end. */
static bool own_folder(char folder[PATH_MAX]) {
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n <= 0)
        return false;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

/* Finds the recorder's library: in PRELOAD_FOLDER of the installation that this program is part of,
 * which may have been moved as a whole, or in the folder that both were built in. */
bool preload_file_find(char path[PATH_MAX]) {
    static const char *const places[] = {"../" PRELOAD_FOLDER "/", "../record/"};
    const char *set = getenv(PRELOAD_SETTING);
    char folder[PATH_MAX], candidate[2 * PATH_MAX];
    if (set && *set)
        return realpath(set, path) != NULL;
    if (PRELOAD_FOLDER[0] == '/')
        return realpath(PRELOAD_FOLDER "/" PRELOAD_NAME, path) != NULL;
    if (!own_folder(folder))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(candidate, sizeof candidate, "%s%s%s", folder, places[i], PRELOAD_NAME);
        if (realpath(candidate, path))
            return true;
    }
    return false;
}
