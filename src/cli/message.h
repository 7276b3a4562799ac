/* message.h: what a command tells the user apart from its result: single lines on standard error,
 * of the form `allotrace: what: where: what to do`. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "cli/command.h"

/* Prints prepared lines, and frees them. Like all messages, they are folded at the terminal's
 * width, except for commands at their ends. */
struct output;
void message_lines(struct output *text);

/* Prints a line: its kind, such as "hint: ", and the text. Control characters, which file names and
 * names in traces may contain, are left out as by output_shown; only newlines of the text remain.
 */
__attribute__((format(printf, 2, 3))) void message_say(const char *kind, const char *format, ...);
#define message_note(...)    message_say("", __VA_ARGS__)
#define message_warning(...) message_say("warning: ", __VA_ARGS__)
#define message_hint(...)    message_say("hint: ", __VA_ARGS__)

/* Reports why a command fails. Returns STATUS_FAILED. */
__attribute__((format(printf, 1, 2))) int message_error(const char *format, ...);

/* Says which line of a file errors are about, such as "agent.toml:6", where the file stands for a
 * command line. NULL, as at first: they are about the command line. Empty: they are not printed,
 * and only their status counts. */
void message_set_place(const char *place);

/* Reports that there is not enough memory. Returns STATUS_FAILED. */
int message_no_memory(void);

/* Reports an error in the command line, and where to find help; `cmd` may be NULL. Returns
 * STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int message_usage(const command *cmd, const char *format,
                                                        ...);

/* Reports that writing to standard output failed, unless its reader has gone (EPIPE). `error` is an
 * errno, or 0 for success. Returns the exit status. */
int message_written(int error);

#endif
