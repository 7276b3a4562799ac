/* top.c: a thread draws the table from a trace that view_trace reads. The caller waits for the
 * program or a signal, and then stops the thread. */
#include "cli/top/top.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/message.h"
#include "cli/signals.h"
#include "cli/top/top_screen.h"
#include "cli/view/view_trace.h"

enum { LOOK_NS = 100000000 };

struct top_session {
    char *paths[1];
    viewer viewer;
    view_trace trace;
    top_options options;
    top_output *held;
    pthread_t thread;
    atomic_bool stopping, over, ended; /* `ended`: the program has */
};

int top_check(const char *what) {
    const char *why;
    if (top_screen_usable(&why))
        return STATUS_OK;
    return message_error("%s needs a terminal%s", what, why);
}

void top_path(char *to, size_t size, pid_t pid, int files, const char *path) {
    if (files >= 0)
        snprintf(to, size, "/proc/%d/root%s", (int)pid, path);
    else
        snprintf(to, size, "%s", path);
}

/* ---- the thread that draws ------------------------------------------------------------------- */

static void pause_a_moment(void) {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static void show_table(top_session *s) {
    top_view *view = top_view_new(&s->viewer, &s->options);
    if (view && top_screen_open(s->options.color)) {
        while (!atomic_load(&s->stopping) && top_view_step(view))
            ;
        top_screen_close();
    }
    top_view_free(view);
}

/* Shows the table. When the user has left it, passes on the program's held output, and whatever it
 * writes later, until the session ends. */
static void *run(void *context) {
    top_session *s = context;
    show_table(s);
    top_output_restore(s->held);
    atomic_store(&s->over, true);
    if (s->options.on_leave && !atomic_load(&s->ended))
        message_note("%s", s->options.on_leave);
    while (!atomic_load(&s->stopping)) {
        top_output_show(s->held);
        pause_a_moment();
    }
    top_output_show(s->held);
    return NULL;
}

/* ---- beginning and end ------------------------------------------------------------------- */

static void session_free(top_session *s) {
    view_trace_stop(&s->trace);
    viewer_free(&s->viewer);
    free(s);
}

static int start(top_session *s, bool wait) {
    if (!viewer_init(&s->viewer, s->paths, 1))
        return message_no_memory();
    const int status = view_trace_open(&s->trace, &s->viewer, 0, false, wait);
    if (status != STATUS_OK)
        return status;
    s->viewer.live = s->trace.growing;
    view_trace_start(&s->trace);
    if (pthread_create(&s->thread, NULL, run, s) == 0)
        return STATUS_OK;
    return message_no_memory();
}

top_session *top_start(char *path, bool wait, const top_options *options, top_output *held,
                       int *status) {
    view_trace_set_malloc();
    top_session *s = calloc(1, sizeof *s);
    *status = STATUS_FAILED;
    if (!s) {
        message_no_memory();
        return NULL;
    }
    s->paths[0] = path;
    s->options = *options;
    s->held = held;
    *status = start(s, wait);
    if (*status == STATUS_OK)
        return s;
    session_free(s);
    return NULL;
}

bool top_is_over(top_session *s) {
    return atomic_load(&s->over);
}

void top_program_ended(top_session *s) {
    atomic_store(&s->ended, true);
}

void top_wait(top_session *s) {
    const struct timespec moment = {.tv_nsec = LOOK_NS};
    const sigset_t ends = signals_of_end();
    while (!top_is_over(s) && sigtimedwait(&ends, NULL, &moment) < 0)
        ;
}

void top_stop(top_session *s) {
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    pthread_join(s->thread, NULL);
    session_free(s);
}

int top_show(char *path, const top_options *options) {
    const sigset_t ends = signals_of_end();
    top_output held;
    int status;
    if (!top_output_begin(&held, false))
        return message_error("cannot create a temporary file for output written meanwhile");
    sigprocmask(SIG_BLOCK, &ends, NULL);
    top_session *s = top_start(path, false, options, &held, &status);
    if (s)
        top_wait(s);
    top_stop(s);
    top_output_end(&held);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    return status;
}
