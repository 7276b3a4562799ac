/* keeper_spool.h: the file between a recorder, which writes it, and a keeper, which reads it: how
 * it is opened, locked and removed. */
#ifndef CLI_RING_KEEPER_SPOOL_H
#define CLI_RING_KEEPER_SPOOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/ring/ring_plan.h"

/* The name of the process that starts keepers (keepers.h). */
#define KEEPERS_NAME "run-keepers"

/* Opens a spool safely: not by way of a link that somebody has put there. Returns -1 with errno
 * set. */
int keeper_spool_open(const ring_plan *plan, const char *path);

/* Returns whether process `pid` has the spool open. */
bool keeper_spool_is_open(pid_t pid, ino_t inode);

/* Returns whether the keeper of the spool that process `pid` records to was killed. In that case
 * this takes two seconds, since a new keeper may not have locked the spool yet. */
bool keeper_has_gone(const ring_plan *plan, uint64_t pid);

/* Removes the file of a spool, which may have been renamed. The caller has it open, and still holds
 * the keeper's lock: otherwise another keeper could take it before it is gone. */
void keeper_spool_remove(const ring_plan *plan, int fd, ino_t inode);

/* Removes spools whose keeper was killed or gave up, and which nobody needs. To be called before a
 * program is started, with `pid` 0, and before and after recording process `pid`, whose own earlier
 * spools are removed, too. */
void keeper_spools_remove_abandoned(const ring_plan *plan, pid_t pid);

#endif
