/* preload_file.c: the library is looked for relative to this program's own file, so that a whole
 * installation can be moved. In a build tree, it is in the folder next to this program's. */
#include "cli/run/preload_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/path.h"

#define PRELOAD_SETTING "ALLOTRACE_PRELOAD" /* environment: another library, for tests */

/* Finds the folder of this program's file, with a slash at its end. */
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

/* Looks in PRELOAD_FOLDER of the installation, which may have been moved as a whole, and in the
 * build tree. */
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

bool preload_file_find_static(const char *preload, char path[PATH_MAX]) {
    char real[PATH_MAX], beside[2 * PATH_MAX];
    if (!realpath(preload, real))
        return false;
    snprintf(beside, sizeof beside, "%.*s%s", (int)(path_base(real) - real), real, STATIC_NAME);
    return realpath(beside, path);
}

/* ---- a name for LD_PRELOAD --------------------------------------------------------------- */

enum { MOST_BASE = PATH_MAX / 2 };

static bool is_nameable(const char *path) {
    return !path[strcspn(path, ": \t\n$")];
}

/* Returns NULL if the variable does not name a usable folder. */
static const char *base_folder(const char *variable) {
    const char *base = getenv(variable);
    return base && base[0] == '/' && is_nameable(base) && strlen(base) < MOST_BASE ? base : NULL;
}

/* Makes a folder that only we can write to: nobody else may decide what a program loads. */
static bool make_folder(const char *folder) {
    struct stat s;
    if ((mkdir(folder, 0755) != 0 && errno != EEXIST) || lstat(folder, &s) != 0)
        return false;
    errno = EPERM;
    return S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
}

static bool leads_to(const char *link, const char *library) {
    char target[PATH_MAX];
    const ssize_t n = readlink(link, target, sizeof target);
    return n > 0 && (size_t)n == strlen(library) && memcmp(target, library, (size_t)n) == 0;
}

/* Makes the link atomically, since other runs may be using it. */
static bool make_link(const char *link, const char *library) {
    char fresh[PATH_MAX + 16];
    if (leads_to(link, library))
        return true;
    snprintf(fresh, sizeof fresh, "%s.%d", link, (int)getpid());
    if (symlink(library, fresh) != 0)
        return false;
    const bool done = rename(fresh, link) == 0;
    if (!done)
        unlink(fresh);
    return done;
}

/* The link keeps the library's name, by which the recorder recognizes itself in LD_PRELOAD. */
bool preload_file_make_nameable(char path[PATH_MAX]) {
    const char *base = base_folder("XDG_RUNTIME_DIR");
    char folder[MOST_BASE + 64], link[PATH_MAX];
    if (is_nameable(path))
        return true;
    base = base ? base : base_folder("TMPDIR");
    base = base ? base : "/tmp";
    const int n = snprintf(folder, sizeof folder, "%s/allotrace-%u", base, (unsigned)geteuid());
    if (!make_folder(folder))
        return false;
    snprintf(folder + n, sizeof folder - (size_t)n, "/%016" PRIx64, hash_bytes(path, strlen(path)));
    if (!make_folder(folder))
        return false;
    snprintf(link, sizeof link, "%s/%s", folder, PRELOAD_NAME);
    if (!make_link(link, path))
        return false;
    snprintf(path, PATH_MAX, "%s", link);
    return true;
}
