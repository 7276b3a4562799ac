/* message.h: what a command says to its user besides its result: one line on standard error each,
 * `allotrace: what: where: what to do`. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "cli/command.h"

/* Lines that were put together in memory, which is freed. As all that is said here, they are folded
 * at the width of a terminal, but for commands at their ends. */
struct output;
void message_lines(struct output *text);

/* Names of files, and those in traces, may hold what a terminal obeys: it is left out, as by
 * output_shown. Lines end where the text says. */
__attribute__((format(printf, 1, 2))) void message_note(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_hint(const char *format, ...);

/* Says that there was not enough memory. Returns STATUS_FAILED. */
int message_no_memory(void);

/* Says what is wrong with the command line and where the help is; `cmd` may be NULL. Returns
 * STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int message_usage(const command *cmd, const char *format,
                                                        ...);

/* Says that writing to standard output failed, unless its reader went away. Returns the exit
 * status. `error` is an errno, 0 for none. */
int message_written(int error);

#endif
