/* message.h: what a command says to its user besides its result: one line on standard error each,
 * `allotrace: what: where: what to do`. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "cli/command.h"

__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_hint(const char *format, ...);

/* Says what is wrong with the command line and where the help is; `cmd` may be NULL. Returns
 * STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int message_usage(const command *cmd, const char *format,
                                                        ...);

#endif
