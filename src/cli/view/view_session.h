/* view_session.h: a running viewer: its traces, the threads that read them, and its server. */
#ifndef CLI_VIEW_VIEW_SESSION_H
#define CLI_VIEW_VIEW_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct view_session view_session;

typedef struct view_session_options {
    const char *host, *sources; /* NULL: the loopback interface, and the current folder */
    uint16_t port;              /* 0: the first free one from 8080 */
    bool no_open;               /* do not open a browser */
    bool strict;
    bool wait; /* the traces are being written, and may not exist yet */
} view_session_options;

/* Reads the traces and serves them. The caller must have blocked the signals that view_session_wait
 * waits for. On failure, reports why, sets `*status` to the exit status, and returns NULL. `paths`
 * must outlive the session. */
view_session *view_session_start(char *const *paths, size_t n, const view_session_options *o,
                                 int *status);
const char *view_session_address(const view_session *s);

/* Waits for SIGINT, SIGTERM or SIGHUP. The session sends SIGTERM itself if it cannot read a trace
 * to its end. */
void view_session_wait(void);

/* Ends the session. Returns the exit status, which tells whether all traces could be read to their
 * ends. NULL is allowed. */
int view_session_stop(view_session *s);

#endif
