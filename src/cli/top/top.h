/* top.h: a live table in the terminal. It is drawn by a thread of its own, so that the caller can
 * look after a program.
 *
 * The trace is read as in the viewer (cli/view/view_trace.h), and each picture is a document of
 * src/reports, like the output of any command (top_view.h). What the program writes to the terminal
 * meanwhile is held in a file (top_output.h). The screen uses ncurses (top_screen.h), or reports
 * that a build lacks it (top_screen_none.c).
 *
 * Invariants. Unless this process is killed by SIGKILL, it leaves the terminal as it was, with the
 * program's output on it. */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/command.h"
#include "cli/top/top_output.h"
#include "cli/top/top_view.h"

typedef struct top_session top_session;

/* Checks that there is a terminal for a table. Returns STATUS_OK, or another status after reporting
 * why not; `what` names the command or option that needs one. */
int top_check(const char *what);

/* Makes the path by which we see a file of a process. `files` comes from attach_open_files. */
void top_path(char *to, size_t size, pid_t pid, int files, const char *path);

/* Shows a trace until the user leaves the table. Returns the exit status. */
int top_show(char *path, const top_options *options);

/* Shows a trace. With `wait`, it is being written and may not exist yet. The caller must have
 * blocked the signals that it waits for. `held` holds back what else is written to the terminal. On
 * failure, reports why, sets `*status` to the exit status, and returns NULL. */
top_session *top_start(char *path, bool wait, const top_options *options, top_output *held,
                       int *status);

/* Returns whether the user has left the table. From then on, held output is shown as it arrives. */
bool top_is_over(top_session *s);

/* Tells that the program has ended, so that no message says that it continues when the user
 * leaves. */
void top_program_ended(top_session *s);

/* Waits until the user leaves the table, or for SIGINT, SIGTERM or SIGHUP. */
void top_wait(top_session *s);

/* Closes the table if the user has not, and frees the session. NULL is allowed. */
void top_stop(top_session *s);

#endif
