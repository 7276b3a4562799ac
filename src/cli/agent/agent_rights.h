/* agent_rights.h: what the agent may do. As root it gives up at its start what it does not need for
 * finding processes, making folders for their users and becoming these; whatever is done for a
 * process is done by a process that has the rights of its user and may look into it, no more. */
#ifndef CLI_AGENT_AGENT_RIGHTS_H
#define CLI_AGENT_AGENT_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/rights.h"

/* Gives up the rest for good, also for programs that are run later; does nothing for others than
 * root. `sys_admin`: CAP_SYS_ADMIN stays, and is handed on. 0 or an errno. */
int agent_rights_reduce(bool sys_admin);

/* Becomes a user in a new process, which is about to run `attach` for a process with these rights.
 * 0 or an errno. */
int agent_rights_become(const rights *whose, bool sys_admin);

#endif
