/* keeper_spool.h: the file that a recorder writes and a keeper reads: who has it, and who may. */
#ifndef CLI_RING_KEEPER_SPOOL_H
#define CLI_RING_KEEPER_SPOOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/ring/ring_plan.h"

/* What the process is called that starts keepers (keepers.h). */
#define KEEPERS_NAME "run-keepers"

/* Opens a spool, if it is one that nobody has led elsewhere. -1: errno. */
int keeper_spool_open(const ring_plan *plan, const char *path);

/* Whether process `pid` has a spool open. */
bool keeper_spool_is_open(pid_t pid, ino_t inode);

/* Of a spool into which process `pid` records: has its keeper been killed? It takes two seconds,
 * if so: one that has just been started has opened the spool by then. */
bool keeper_has_gone(const ring_plan *plan, uint64_t pid);

/* Removes the file of a spool, which may have got another name. It is open, and still kept: else
 * others might keep it again before it is gone. */
void keeper_spool_remove(const ring_plan *plan, int fd, ino_t inode);

/* Removes spools whose keeper was killed or gave up, which are of no use to anybody: before a
 * program is started (`pid` is 0), and before and after process `pid` records: what it recorded
 * before is none of that. */
void keeper_spools_remove_abandoned(const ring_plan *plan, pid_t pid);

#endif
