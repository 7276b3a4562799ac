/* exact.h: recording at rate 1, where every block is known: without the engine's drawing, queueing
 * and table, with call stacks taken by what differs from the one before. Each function is an event
 * of the calling thread; one that comes from a signal handler inside another is dropped, and
 * counted. */
#ifndef RECORD_EXACT_H
#define RECORD_EXACT_H

#include "record/session.h"

/* Prepares a session; false if there is no memory. `filter` then holds every address. */
bool exact_start(struct session *s, memprof_filter *filter);

/* A block of that many words, header included, has come to be. */
void exact_born(struct session *s, void *block, uint64_t words, unsigned type,
                const struct unwind_site *site);

/* A block is about to be freed. */
void exact_died(struct session *s, void *block);

/* The same in a thread that has events in its session, `self.owner`, already: what nearly all are.
 */
void exact_born_again(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp);
void exact_died_again(void *block);

/* The same in two steps: what is taken is an id + 1, or 0 if the block is not known. */
uint64_t exact_take(struct session *s, void *block);
void exact_bury(struct session *s, uint64_t taken);
void exact_untake(struct session *s, void *block, uint64_t taken);

#endif
