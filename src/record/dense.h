/* dense.h: recording where a large part of all blocks is known, or every one: without the engine's
 * queueing and table, with call stacks taken by what differs from the one before. Below rate 1, the
 * engine draws the samples. Each function is an event of the calling thread; one that comes from a
 * signal handler inside another is dropped, and counted. */
#ifndef RECORD_DENSE_H
#define RECORD_DENSE_H

#include "record/session.h"

/* Prepares a session; false if there is no memory. `filter` then holds every address. */
bool dense_start(struct session *s, memprof_filter *filter);

/* A block of that many words, header included, has come to be, and holds so many samples. */
void dense_born(struct session *s, void *block, uint64_t words, uint64_t n_samples, unsigned type,
                const struct unwind_site *site);

/* A block is about to be freed. */
void dense_died(struct session *s, void *block);

/* The same in a thread that has events in its session, `self.owner`, already: what nearly all are.
 */
void dense_born_again(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp);
void dense_died_again(void *block);

/* The same as dense_born_again for a block that holds so many samples. */
void dense_sampled_again(void *block, uint64_t words, uint64_t n_samples, unsigned type,
                         const struct unwind_site *site);

/* The same in two steps: what is taken is an id + 1, or 0 if the block is not known. */
uint64_t dense_take(struct session *s, void *block);
void dense_bury(struct session *s, uint64_t taken);
void dense_untake(struct session *s, void *block, uint64_t taken);

#endif
