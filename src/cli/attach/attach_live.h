/* attach_live.h: a live table of a process. */
#ifndef CLI_ATTACH_ATTACH_LIVE_H
#define CLI_ATTACH_ATTACH_LIVE_H

#include <sys/types.h>

#include "cli/top/top.h"

/* Shows the recording of a process until the user leaves the table; one that is not recorded is
 * attached to for as long. Returns the exit status. */
int attach_live(pid_t pid, const top_options *how);

#endif
