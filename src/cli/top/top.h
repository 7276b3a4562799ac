/* top.h: a live table in the terminal: the trace that it reads, and the screen, which belongs to a
 * thread of its own, so that the caller can look after a program.
 *
 * The trace is read as the viewer does it (cli/view/view_trace.h), and each picture is a document
 * of src/reports like that of any command (top_view.h). What the program writes to the terminal
 * meanwhile waits in a file (top_output.h). The screen is ncurses' (top_screen.h; where that is
 * missing, top_screen_none.c says so).
 *
 * What must hold. Unless this process is killed outright, the terminal is as it was when it has
 * ended, and what the program has written stands there. */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/command.h"
#include "cli/top/top_output.h"
#include "cli/top/top_view.h"

typedef struct top_session top_session;

/* Whether there is a terminal to show a table in. Returns STATUS_OK, or another status after having
 * said why not; `what` needs one. */
int top_check(const char *what);

/* The name by which we see a file of a process; `files` as of attach_open_files. */
void top_path(char *to, size_t size, pid_t pid, int files, const char *path);

/* Shows a trace until the user has seen enough. Returns the exit status. */
int top_show(char *path, const top_options *options);

/* Shows the trace, which with `wait` is only being written and may not be there yet. All signals
 * that the caller waits for must be blocked, and `held` holds back what else is written to the
 * terminal. On failure, NULL after having said why, and `*status` is the exit status. */
top_session *top_start(char *path, bool wait, const top_options *options, top_output *held,
                       int *status);

/* Whether the user has left the table: what is held back is shown from then on as it comes. */
bool top_is_over(top_session *s);

/* The program has ended: when the user leaves, it does not go on. */
void top_program_ended(top_session *s);

/* Waits until the user has left, or for a signal that asks to end: SIGINT, SIGTERM or SIGHUP. */
void top_wait(top_session *s);

/* Ends it, if the user has not. NULL is allowed. */
void top_stop(top_session *s);

#endif
