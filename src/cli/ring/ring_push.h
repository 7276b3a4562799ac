/* ring_push.h: passes the spools of a run that records child processes to the pusher
 * (push/family.h).
 *
 * Problem. Spools come and go within milliseconds, and keepers free and remove what they have read,
 * while a receiver may be down for a day.
 *
 * Approach. A keeper sends its spool to the pusher as an open file, together with a place in the
 * run's shared memory where both state how far they have read. So nobody has to search for spools,
 * and a spool can be read after its name is gone. What was not pushed when the keeper has read all
 * of it stays on the disk as long as there is room.
 *
 * Invariants. Keepers never wait for the pusher. The size of what stays is bounded by the space for
 * spools, and the number of files in transit by the kernel's limit for one socket. */
#ifndef CLI_RING_RING_PUSH_H
#define CLI_RING_RING_PUSH_H

#include "cli/ring/ring_plan.h"
#include "push/family.h"

/* Opens the sockets. To be called before the keepers' process is started. Returns false with errno
 * set if nothing can be pushed. */
bool ring_push_begin(ring_plan *plan);

/* To be called in a process of keepers, which only sends. */
void ring_push_be_sender(ring_plan *plan);

/* Ends pushing, which keepers notice. */
void ring_push_end(ring_plan *plan);

/* Returns whether somebody pushes the spools. */
bool ring_push_is_on(const ring_plan *plan);

/* Sends the spool that is open as `fd`. Returns NULL if too many are waiting; then it can be tried
 * again. */
ring_pushed *ring_push_offer(const ring_plan *plan, int fd, pid_t pid);

/* To be called when the keeper has read the whole spool, which takes `size` bytes on the disk. */
void ring_push_done(const ring_plan *plan, ring_pushed *p, int fd, uint64_t size);

/* Returns whether spools take so much space that nothing is kept for receivers any more. */
bool ring_push_is_tight(const ring_plan *plan);

/* Returns the spools that were sent as a source for a family. The source refers to the plan. */
family_source ring_push_source(ring_plan *plan);

#endif
