/* attach_command.h: what other commands need of `attach`: a live table of a process, its options,
 * and what it says. */
#ifndef CLI_ATTACH_ATTACH_COMMAND_H
#define CLI_ATTACH_ATTACH_COMMAND_H

#include <sys/types.h>

#include "cli/top/top.h"

/* How the line begins by which `attach` says that the recording has begun, for whoever reads its
 * messages. */
#define ATTACH_NOTE_BEGUN "recording process "

/* Shows the recording of a process until the user leaves the table; one that is not recorded is
 * attached to for as long. Returns the exit status. */
int attach_live(pid_t pid, const top_options *how);

/* Judges options of `attach` that were parsed, as far as that does not take a process. A status,
 * after having said what is wrong. */
int attach_check_options(const void *options);

#endif
