/* ring_push.h: hands the spools of a run whose child processes are recorded, too, to whoever pushes
 * them (push/family.h).
 *
 * Problem. Spools come and go within milliseconds, and their keepers free and remove what they have
 * read, while a receiver may be down for a day.
 *
 * Way. A keeper sends its spool, as an open file, with a place in the memory of the run, where both
 * say how far they are. So nobody looks for spools, and one that has lost its name is still read.
 * What was not pushed when its keeper has read it stays on the disk as long as there is room.
 *
 * What must hold. Keepers wait for nobody: what the run's spools may take bounds what stays, and
 * files that wait to be taken are as many as the kernel keeps for one socket. */
#ifndef CLI_RING_RING_PUSH_H
#define CLI_RING_RING_PUSH_H

#include "cli/ring/ring_plan.h"
#include "push/family.h"

/* Before the keepers' process is started. False, with errno: nothing can be pushed. */
bool ring_push_begin(ring_plan *plan);

/* In a process of keepers, which send. */
void ring_push_be_sender(ring_plan *plan);

/* Nothing is pushed from now on, which keepers see. */
void ring_push_end(ring_plan *plan);

/* Whether somebody pushes what keepers send. */
bool ring_push_is_on(const ring_plan *plan);

/* Sends a spool that is open as `fd`. NULL: too many wait; it can be tried again. */
ring_pushed *ring_push_offer(const ring_plan *plan, int fd, pid_t pid);

/* The keeper has read all of it, which takes `size` bytes on the disk. */
void ring_push_done(const ring_plan *plan, ring_pushed *p, int fd, uint64_t size);

/* Whether a run's spools take so much that nothing of them is kept for receivers. */
bool ring_push_is_tight(const ring_plan *plan);

/* What was sent, for the family; refers to the plan. */
family_source ring_push_source(ring_plan *plan);

#endif
