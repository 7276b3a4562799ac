/* ring_users.h: a server that root starts has its workers change user, and these open their spools
 * with their own rights, in silence where nobody hears their standard error. */
#ifndef CLI_RING_RING_USERS_H
#define CLI_RING_RING_USERS_H

#include <stdbool.h>
#include <sys/types.h>

/* Looks, as root, at the process and its children: whether one runs as a user who cannot write to
 * the folder. True after having said so. */
bool ring_users_check(const char *folder, pid_t program);

#endif
