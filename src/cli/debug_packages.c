/* debug_packages.c: dpkg-query finds the package of a file, from which the name of its debug
 * package is derived. */
#include "cli/debug_packages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"

extern char **environ;

/* ---- dpkg-query -------------------------------------------------------------------------- */

/* Each file is asked for by two names: Debian's /lib is a link to /usr/lib, and a package contains
 * only one of the names. */
typedef struct question_to_dpkg {
    char other[DEBUG_PACKAGES_FILES][PATH_MAX];
    const char *words[3 + 2 * DEBUG_PACKAGES_FILES];
    size_t n;
} question_to_dpkg;

/* dpkg interprets paths as patterns. */
static bool is_plain(const char *path) {
    return path[0] == '/' && !strpbrk(path, "*?[\\\n") && access(path, F_OK) == 0;
}

static void add_file(question_to_dpkg *q, size_t i, const char *path) {
    const bool merged = strncmp(path, "/usr/", 5) == 0;
    const int n = snprintf(q->other[i], sizeof q->other[i], "%s%s", merged ? "" : "/usr",
                           merged ? path + 4 : path);
    q->words[q->n++] = path;
    if (n > 0 && n < (int)sizeof q->other[i])
        q->words[q->n++] = q->other[i];
}

/* Builds the command line. Returns false if there is nothing to ask. */
static bool begin(question_to_dpkg *q, const char *const *paths, size_t n) {
    *q = (question_to_dpkg){.words = {"dpkg-query", "-S"}, .n = 2};
    for (size_t i = 0; i < n && i < DEBUG_PACKAGES_FILES; i++)
        if (is_plain(paths[i]))
            add_file(q, i, paths[i]);
    return q->n > 2;
}

static int spawn(const char *const *words, int out, pid_t *child) {
    posix_spawn_file_actions_t files;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    failed = posix_spawnp(child, words[0], &files, NULL, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Starts a program, and returns a stream with its output. Returns NULL if it cannot be started. */
static FILE *start(const char *const *words, pid_t *child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    const int failed = spawn(words, ends[1], child);
    close(ends[1]);
    FILE *answer = failed ? NULL : fdopen(ends[0], "r");
    if (!answer)
        close(ends[0]);
    return answer;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Cuts a line like "libz1:amd64: /lib/libz.so.1" or "a, b: /path" after its first package name.
 * Returns false if the line has another form. */
static bool package_of_line(char *line) {
    const size_t size = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789.+-");
    const bool is_name = size > 1 && size < 64 && (line[size] == ':' || line[size] == ',');
    line[size] = '\0';
    return is_name;
}

/* Some packages still have the older suffix. */
static const char *suffix_of(const char *package) {
    return strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym";
}

static bool has_word(const char *text, const char *word, size_t size) {
    for (const char *at = text; (at = strstr(at, word)); at += size)
        if ((at == text || at[-1] == ' ') && (at[size] == ' ' || !at[size]))
            return true;
    return false;
}

static void add_package(debug_packages names, const char *package) {
    char word[80];
    const size_t used = strlen(names);
    const int n = snprintf(word, sizeof word, "%s%s", package, suffix_of(package));
    if (!has_word(names, word, (size_t)n) && used + (size_t)n + 2 < sizeof(debug_packages))
        snprintf(names + used, sizeof(debug_packages) - used, "%s%s", used ? " " : "", word);
}

void debug_packages_of(const char *const *paths, size_t n, debug_packages names) {
    question_to_dpkg *q = malloc(sizeof *q);
    pid_t child;
    char line[2 * PATH_MAX];
    names[0] = '\0';
    FILE *answer = q && begin(q, paths, n) ? start(q->words, &child) : NULL;
    if (answer) {
        while (fgets(line, sizeof line, answer))
            if (package_of_line(line))
                add_package(names, line);
        fclose(answer);
        TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
    }
    free(q);
}

/* ---- the hint ---------------------------------------------------------------------------- */

void debug_packages_hint(const char *const *paths, size_t n, const char *trace) {
    debug_packages names;
    debug_packages_of(paths, n, names);
    if (*names)
        message_hint("places shown as module+0x… are addresses without symbols; install %s, then "
                     "run: allotrace symbolize %s",
                     names, trace);
    else
        message_hint("places shown as module+0x… are addresses without symbols; a debuginfod "
                     "server may have them%s: allotrace symbolize --debuginfod %s",
                     getenv("DEBUGINFOD_URLS")
                         ? ""
                         : ", if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org",
                     trace);
}
