/* native.h: what malloc's blocks are to the trace: they are born, and they die.
 *
 * Problem. A program calls malloc some million times a second, and from few to all of these blocks
 * are to stand in the trace, each with its stack. Whoever records them all can afford nothing but
 * the event itself; and a way that only the rare event takes is one more way to get wrong.
 *
 * Way. One way at every rate, of steps that are done once each, in this order:
 *
 *     preload.c         counts words down; goes on here when the countdown, or the filter, says so
 *     native_born       is there a session (recorder.h), and how many samples has the block?
 *                       (memprof_sample draws)
 *     native_record     enters the thread's domain, which nobody else may be at; takes the time
 *     backtrace_take    takes the stack by what differs from the one before
 *                       (platform/unwind_trail.h); its codes stay in the domain
 *     writer            encodes the codes that are new, from there, into the packet
 *                       (stream_alloc_block)
 *     native_keep       remembers by the block's address the id that it has in the trace
 *     session_sweep     now and then: writes out what is old, reads gauges
 *
 * A death is the same without stack: the table gives the id and forgets it, the writer takes it.
 * The engine is asked to draw, and calls nothing back: its tracker's callbacks would cross between
 * engine and recorder five times an event, and hand over copies of what is at hand.
 *
 * Two tables, as what is cheap depends on how many blocks are known. From SESSION_IDS_RATE on each
 * address has a place (ids.h): no lock, no hash, a few bytes for every 32 of the heap, and a filter
 * that holds all addresses. Below it, memory must follow the samples: the engine's hash table with
 * a bitmap in front (memprof_keep, memprof_drop), by which `free` of any other block costs one
 * test. At rate 1 the engine is not there at all.
 *
 * Two speeds. The functions called _fast are for threads that have events in the session already,
 * where nothing is special, and `ids` are the table: all in line, down to the packet. Where
 * something is (an old clock, a full packet, another thread that wants in), they do nothing and go
 * to the general ones, which do the same.
 *
 * Why not otherwise. Events in a queue for another thread: it would have to keep stacks, and what
 * is in the queue is lost with the process. The id in the block itself: a block may be freed behind
 * our back. An id that is the address: it is used again.
 *
 * What must hold. `busy` is set from before the first look at domain or table to after the last, so
 * that a signal handler waits for nothing: its event is dropped, and counted. The old block of a
 * realloc is taken out of the table before the real call, since another thread may be given its
 * address at once. A birth that cannot be written leaves nothing in the table. What the trail knows
 * of the last stack is that of the last allocation in the stream, or it is told to forget it. */
#ifndef RECORD_NATIVE_H
#define RECORD_NATIVE_H

#include "record/session.h"

/* Gives a session a table in which each address has a place; false if there is no memory. `filter`
 * then holds every address. */
bool native_start(struct session *s, memprof_filter *filter);

/* A block has come to be that was not counted yet: counts it and records it if it is sampled.
 * `site` is in the calling function; the type an enum call_type, or a language runtime's. */
void native_born(void *block, size_t bytes, unsigned type, const struct unwind_site *site);

/* A block that may be tracked is about to be freed. */
void native_died(void *block);

/* The same in a thread that has events in its session, `self.owner`, already, which has `ids`: what
 * nearly all are. A birth has as many samples as words. */
void native_born_fast(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp);
void native_died_fast(void *block);

/* A death in two steps, for realloc, where the old block may die or not: it is taken out before the
 * real call, and what that gave is settled after it, whether it is dead or lives on. 0: the block
 * is not known, and there is nothing to settle. */
uint64_t native_take(void *block);
void native_settle(void *block, uint64_t taken, bool dead);

/* The same for the blocks of a pool that the program has itself: they are counted and sampled as
 * malloc's are, and remembered by pools.h. The type is what the pool is called. All blocks of a
 * pool that there are may die at once. */
void native_born_in_pool(const void *pool, void *block, size_t bytes,
                         const struct unwind_site *site);
void native_died_in_pool(const void *pool, void *block);
void native_died_with_pool(const void *pool);

#endif
