/* agent_rights.h: limits the rights of the agent. As root, the agent starts by giving up whatever
 * it does not need for finding processes, making folders for their users, and becoming these users.
 * All work for a process is done by a child process with the rights of its user, and the right to
 * inspect the process. */
#ifndef CLI_AGENT_AGENT_RIGHTS_H
#define CLI_AGENT_AGENT_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/rights.h"

/* Gives up all other rights for good, also for programs executed later. Does nothing if we are not
 * root. `sys_admin`: keeps CAP_SYS_ADMIN, and passes it on. Returns 0 or an errno. */
int agent_rights_reduce(bool sys_admin);

/* Assumes the rights `whose`, in a new process that is about to run `attach` for a process with
 * these rights. Returns 0 or an errno. */
int agent_rights_become(const rights *whose, bool sys_admin);

#endif
