/* view_session.c: reads the traces, then starts the server and the browser. A thread wakes up once
 * a second to send news to the page's event streams. */
#include "cli/view/view_session.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/signals.h"
#include "cli/view/view_downloads.h"
#include "cli/view/view_trace.h"
#include "platform/clock.h"
#include "serve/server.h"

extern char **environ;

struct view_session {
    viewer viewer;
    view_trace *traces;
    server *server;
    pthread_t ticker;
    bool has_ticker;
    pthread_mutex_t opening; /* held while a trace dropped on the page is opened; guards `closed` */
    bool closed;             /* no more traces are opened */
    bool strict;
    pthread_mutex_t lock; /* guards `ending` */
    pthread_cond_t end;
    bool ending;
};

/* ---- the clock --------------------------------------------------------------------------- */

static bool wait_a_second(view_session *s) {
    const struct timespec until = clock_in_ms(1000);
    pthread_mutex_lock(&s->lock);
    if (!s->ending)
        pthread_cond_clockwait(&s->end, &s->lock, CLOCK_MONOTONIC, &until);
    bool going = !s->ending;
    pthread_mutex_unlock(&s->lock);
    return going;
}

static void *tick(void *context) {
    view_session *s = context;
    while (wait_a_second(s))
        server_tick(s->server);
    return NULL;
}

static void stop_ticker(view_session *s) {
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_signal(&s->end);
    pthread_mutex_unlock(&s->lock);
    if (s->has_ticker)
        pthread_join(s->ticker, NULL);
}

/* ---- traces dropped on the page -------------------------------------------------------------- */

/* Checks that a file is a trace. Errors are shown on the page, not in the terminal. */
static bool is_trace(const char *path, char *why, size_t size) {
    memtrace_reader *reader = NULL;
    memtrace_error error = {0};
    const memtrace_status status = memtrace_reader_open(path, NULL, &reader, &error);
    memtrace_reader_close(reader);
    if (status != MEMTRACE_OK)
        snprintf(why, size, "%s", *error.reason ? error.reason : "it cannot be read");
    return status == MEMTRACE_OK;
}

static bool open_dropped(void *context, size_t trace, char *why, size_t size) {
    view_session *s = context;
    view_trace *t = &s->traces[trace];
    if (!is_trace(s->viewer.traces[trace].path, why, size))
        return false;
    pthread_mutex_lock(&s->opening);
    bool ok = !s->closed;
    if (!ok)
        snprintf(why, size, "the viewer is ending");
    else if (view_trace_open(t, &s->viewer, trace, s->strict, false) == STATUS_OK) {
        view_trace_start(t);
    } else {
        ok = false;
        view_trace_stop(t);
        *t = (view_trace){0};
        snprintf(why, size, "it cannot be read: the terminal says why");
    }
    pthread_mutex_unlock(&s->opening);
    return ok;
}

/* ---- the browser ------------------------------------------------------------------------- */

static bool is_set(const char *name) {
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

/* Starts xdg-open if there is a display, without waiting for it. */
static void open_browser(const char *address) {
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

/* ---- starting and stopping --------------------------------------------------------------- */

static int read_traces(view_session *s, const view_session_options *o) {
    int status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < s->viewer.n_traces; i++) {
        status = view_trace_open(&s->traces[i], &s->viewer, i, o->strict, o->wait);
        s->viewer.live |= s->traces[i].growing;
    }
    return status;
}

static int serve(view_session *s, const view_session_options *o) {
    char why[200];
    const server_options where = {.host = o->host, .port = o->port};
    s->server = server_start(&s->viewer, &where, why, sizeof why);
    if (!s->server)
        return message_error("%s", why);
    s->has_ticker = pthread_create(&s->ticker, NULL, tick, s) == 0;
    for (size_t i = 0; i < s->viewer.n_traces; i++)
        view_trace_start(&s->traces[i]);
    if (!o->no_open)
        open_browser(server_address(s->server));
    return STATUS_OK;
}

static view_session *session_new(char *const *paths, size_t n, const view_session_options *o) {
    view_session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->opening, NULL);
    pthread_cond_init(&s->end, NULL);
    s->traces = calloc(n + VIEWER_OPENED, sizeof *s->traces);
    if (!s->traces || !viewer_init(&s->viewer, paths, n)) {
        view_session_stop(s);
        return NULL;
    }
    s->strict = o->strict;
    s->viewer.open = open_dropped;
    s->viewer.open_context = s;
    s->viewer.downloads = view_downloads;
    s->viewer.version = ALLOTRACE_VERSION;
    s->viewer.pid = getpid();
    s->viewer.sources = o->sources ? o->sources : ".";
    return s;
}

view_session *view_session_start(char *const *paths, size_t n, const view_session_options *o,
                                 int *status) {
    view_trace_set_malloc();
    view_session *s = session_new(paths, n, o);
    *status = STATUS_FAILED;
    if (!s) {
        message_no_memory();
        return NULL;
    }
    *status = read_traces(s, o);
    if (*status == STATUS_OK)
        *status = serve(s, o);
    if (*status == STATUS_OK)
        return s;
    view_session_stop(s);
    return NULL;
}

const char *view_session_address(const view_session *s) {
    return server_address(s->server);
}

void view_session_wait(void) {
    const sigset_t ends = signals_of_end();
    int sig;
    while (sigwait(&ends, &sig) != 0)
        ;
}

int view_session_stop(view_session *s) {
    int status = STATUS_OK;
    if (!s)
        return status;
    stop_ticker(s);
    pthread_mutex_lock(&s->opening);
    s->closed = true;
    pthread_mutex_unlock(&s->opening);
    for (size_t i = 0; s->traces && i < s->viewer.most_traces; i++) {
        int of_trace = view_trace_stop(&s->traces[i]);
        status = status == STATUS_OK ? of_trace : status;
    }
    server_stop(s->server);
    viewer_free(&s->viewer);
    free(s->traces);
    pthread_cond_destroy(&s->end);
    pthread_mutex_destroy(&s->opening);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return status;
}
