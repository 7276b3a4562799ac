/* ring_users.h: warns about processes that cannot open their spools. Workers of a server that root
 * starts often change user; they open their spools with their own rights, and often nobody reads
 * their standard error. */
#ifndef CLI_RING_RING_USERS_H
#define CLI_RING_RING_USERS_H

#include <stdbool.h>
#include <sys/types.h>

/* Checks, if we are root, whether the process or one of its children runs as a user who cannot
 * write to the folder. Returns true after warning about one. */
bool ring_users_check(const char *folder, pid_t program);

#endif
