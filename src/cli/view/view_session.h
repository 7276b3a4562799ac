/* view_session.h: a viewer that is up: its traces, their readers, its server, for the commands that
 * show one. */
#ifndef CLI_VIEW_VIEW_SESSION_H
#define CLI_VIEW_VIEW_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct view_session view_session;

typedef struct view_session_options {
    const char *host, *sources; /* NULL: the loopback interface; the current folder */
    uint16_t port;              /* 0: the first free one */
    bool no_open;               /* no browser */
    bool strict;
    bool wait; /* the traces are only being written, and may not be there yet */
} view_session_options;

/* Reads the traces and serves them. All signals that the caller waits for must be blocked. On
 * failure, NULL after having said why, and `*status` is the exit status. `paths` must outlive the
 * session. */
view_session *view_session_start(char *const *paths, size_t n, const view_session_options *o,
                                 int *status);
const char *view_session_address(const view_session *s);

/* Returns when somebody asks to end: SIGINT, SIGTERM or SIGHUP; or a trace cannot be read on. */
void view_session_wait(void);

/* The exit status: whether all traces could be read to their ends. NULL is allowed. */
int view_session_stop(view_session *s);

#endif
