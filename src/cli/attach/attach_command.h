/* attach_command.h: the parts of `attach` that other commands use: the live table of a process, the
 * check of options and process ids, and the form of a message. */
#ifndef CLI_ATTACH_ATTACH_COMMAND_H
#define CLI_ATTACH_ATTACH_COMMAND_H

#include <limits.h>
#include <sys/types.h>

#include "base/number.h"
#include "cli/top/top.h"

/* The beginning of the message by which `attach` announces that the recording has begun, for
 * commands that parse its messages. */
#define ATTACH_NOTE_BEGUN "recording process "

/* Shows the recording of a process until the user leaves the table. If the process is not being
 * recorded, attaches to it for that time. Returns an exit status. */
int attach_live(pid_t pid, const top_options *how);

/* Checks parsed options of `attach`, as far as no process is needed for that. Returns an exit
 * status, after reporting what is wrong. */
int attach_check_options(const void *options);

/* Parses a process id that is given as an operand. */
static inline bool attach_parse_pid(const char *text, pid_t *pid) {
    uint64_t number;
    if (number_parse_whole(text, &number) != NUMBER_WHOLE || number == 0 || number > INT_MAX)
        return false;
    *pid = (pid_t)number;
    return true;
}

#endif
