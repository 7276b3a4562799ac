/* view_browser.c: starts xdg-open if there is a display, without waiting for it. */
#include "cli/view/view_browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

extern char **environ;

static int is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

/* The browser gets default signal handling, and a process group of its own, so that Ctrl-C ends
 * only the viewer. */
static void set_attributes(posix_spawnattr_t *a) {
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(a, &none);
    posix_spawnattr_setsigdefault(a, &defaults);
    posix_spawnattr_setpgroup(a, 0);
    posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                    POSIX_SPAWN_SETPGROUP);
}

void view_browser_open(const char *address) {
    char program[] = "xdg-open", where[512];
    char *words[] = {program, where, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid;
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        return;
    snprintf(where, sizeof where, "%s", address);
    signal(SIGCHLD, SIG_IGN); /* no zombie remains, since nobody waits for it */
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attributes) == 0) {
        set_attributes(&attributes);
        for (int fd = 0; fd <= 2; fd++)
            posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
        posix_spawnp(&pid, words[0], &files, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
}
