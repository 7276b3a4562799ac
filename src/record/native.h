/* native.h: records the births and deaths of malloc's blocks in the trace.
 * Problem. A program calls malloc some million times a second. Between few and all of these blocks
 * must be in the trace, each with its stack. A recording of all of them can afford nothing but the
 * event itself. On the other hand, a separate path for rare events would be one more place for
 * errors.
 * Approach. There is one path at every rate, and each step is done once, in this order:
 *     preload.c         counts words down; continues here when the countdown or the filter says so
 *     native_born       checks whether there is a session (recorder.h), and how many samples the
 *                       block has (memprof_sample draws)
 *     native_record     enters the thread's domain, where nobody else may be; takes the time
 *     backtrace_take    takes the stack by its difference from the previous one
 *                       (platform/unwind_trail.h); its codes stay in the domain
 *     writer            encodes the new codes from there into the packet (stream_alloc_block)
 *     native_keep       stores the block's id in the trace by the block's address
 *     session_sweep     now and then: writes out old data, reads gauges
 * A death takes the same path without a stack: the table returns and forgets the id, and the writer
 * writes it. The engine only draws samples and calls nothing back. Its tracker's callbacks would
 * cross between engine and recorder five times for each event, and would copy data that is already
 * at hand.
 * There are two tables, because the best one depends on how many blocks are known. From
 * SESSION_IDS_RATE on, each address has a place (ids.h): no lock, no hash, a few bytes for every 32
 * bytes of heap, and a filter that contains all addresses. At lower rates, memory must be
 * proportional to the samples: the engine's hash table is used, behind a bitmap (memprof_keep,
 * memprof_drop), so that `free` of any other block costs one test. At rate 1 the engine is not used
 * at all.
 * There are two speeds. The functions called _fast are for threads that already have events in the
 * session, where nothing is special and `ids` is the table. They are inline down to the packet.
 * Where something is special (an old clock, a full packet, a visitor to the domain), they do
 * nothing and call the general functions, which have the same effect.
 * Alternatives. A queue of events for another thread would have to keep the stacks, and its content
 * would be lost with the process. An id inside the block is unsafe, because a block may be freed
 * unseen. An address as the id is ambiguous, because addresses are reused.
 * Invariants. `busy` is set from before the first access to a domain or table until after the last
 * one. So a signal handler never waits: its event is dropped and counted. The old block of a
 * realloc is removed from the table before the real call, because another thread may get its
 * address at once. A birth that cannot be written leaves nothing in the table. The trail's last
 * stack is that of the last allocation in the stream; otherwise the domain is told to forget it. */
#ifndef RECORD_NATIVE_H
#define RECORD_NATIVE_H

#include "record/session.h"

/* Gives a session a table in which each address has a place. `filter` then contains every address.
 * Returns false if there is no memory. */
bool native_start(struct session *s, memprof_filter *filter);

/* Counts a new block that was not counted yet, and records it if it is sampled. `site` is in the
 * calling function. The type is an enum call_type, or a language runtime's. */
void native_born(void *block, size_t bytes, unsigned type, const struct unwind_site *site);

/* Records the death of a block that may be tracked and is about to be freed. */
void native_died(void *block);

/* Record a birth and a death in a thread that already has events in its session, `self.owner`,
 * which must have `ids`. Nearly all events are of this kind. The block has as many samples as
 * words. */
void native_born_fast(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp);
void native_died_fast(void *block);

/* Record a death in two steps, for realloc, whose old block may die or not. native_take removes the
 * block before the real call. native_settle is called after it, and `dead` says whether the block
 * died. If native_take returns 0, the block is not known and native_settle must not be called. */
uint64_t native_take(void *block);
void native_settle(void *block, uint64_t taken, bool dead);

/* Record births and deaths in a pool of the program's own. The blocks are counted and sampled like
 * malloc's, and remembered by pools.h. Their type is the name of the pool. native_died_with_pool
 * records the death of all blocks in the pool. */
void native_born_in_pool(const void *pool, void *block, size_t bytes,
                         const struct unwind_site *site);
void native_died_in_pool(const void *pool, void *block);
void native_died_with_pool(const void *pool);

#endif
