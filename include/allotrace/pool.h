/* pool.h: the blocks of a program's own allocators (arenas, pools, slabs, free lists), in the trace
 * recorded of it, each with its stack, like malloc's blocks.
 *
 *     #include <allotrace/pool.h>
 *
 *     allotrace_pool_create(arena, "parser nodes");
 *
 *     long outer = allotrace_pool_take_begin();
 *     arena->chunk = malloc(CHUNK);  // belongs to the pool: not recorded besides its blocks
 *     allotrace_pool_take_end(outer);
 *
 *     allotrace_pool_alloc(arena, block, bytes);  // in the function that returns the block
 *     allotrace_pool_free(arena, block);  // before the address can be used again
 *     allotrace_pool_reset(arena);  // all its blocks die
 *     allotrace_pool_destroy(arena);  // all its blocks die, and the pool loses its name
 *
 * There is nothing to link with: the functions are found if the program runs under `allotrace run`,
 * or once `allotrace attach` records it; otherwise a call only tests a pointer. Any thread may
 * call.
 *
 * A pool is identified by any address. Its blocks are counted and sampled like malloc's, at every
 * rate, and have the pool's name as their type (`allotrace types`). Like all blocks, their size
 * includes a word for a header (`--measure requested` leaves it out). The stack begins at the
 * caller of the function that reports the block, so the function that returns blocks should report
 * them, not a wrapper inside it. A process has at most 1,023 different names of at most 63 bytes:
 * name kinds of pools, not each pool. If a pool has no name, for instance because it is older than
 * `attach`, its blocks have the type `(unnamed pool)`. allotrace_pool_create may be called again,
 * and then only sets the name.
 *
 * No byte should be counted twice. Memory that a pool takes from malloc, mmap or another pool in
 * order to cut blocks from it is a chunk. There are two ways to report a chunk:
 *
 *     take_begin, take_end   around the call that takes it: nothing that the thread takes from
 *                            malloc, mmap or a pool in between is recorded. The sound way.
 *     allotrace_pool_chunk   afterwards, for memory that other code has taken: from then on it is
 *                            not live. It stays among what was allocated, once.
 *
 * If a pool does neither, its chunks are recorded as malloc's besides its blocks. The part of a
 * chunk that is in no block is not counted. Returning a chunk need not be reported, but its blocks
 * must have died before, by free, reset or destroy, or they stay in the trace. */
#ifndef ALLOTRACE_POOL_H
#define ALLOTRACE_POOL_H

#include <stddef.h>

#include "allotrace/mark.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL unless the program is or was under a recorder. To be called through the macros of the same
 * names below: functions would appear in the stack. */
extern void allotrace_pool_create(const void *pool, const char *name) __attribute__((weak));
extern void allotrace_pool_alloc(const void *pool, void *address, size_t bytes)
    __attribute__((weak));
extern void allotrace_pool_free(const void *pool, void *address) __attribute__((weak));
extern void allotrace_pool_reset(const void *pool) __attribute__((weak));
extern void allotrace_pool_destroy(const void *pool) __attribute__((weak));
extern void allotrace_pool_chunk(const void *pool, void *address, size_t bytes)
    __attribute__((weak));
extern long allotrace_pool_take(long outer) __attribute__((weak));

/* Arguments are evaluated once, recorded or not. `name` is copied. */
#define allotrace_pool_create(pool, name)                                                          \
    do {                                                                                           \
        const void *allotrace_pool_ = (pool);                                                      \
        const char *allotrace_name_ = (name);                                                      \
        void (*allotrace_tell_)(const void *, const char *);                                       \
        ALLOTRACE_FIND_(allotrace_pool_create, allotrace_tell_);                                   \
        if (allotrace_tell_)                                                                       \
            allotrace_tell_(allotrace_pool_, allotrace_name_);                                     \
    } while (0)

/* A NULL block is ignored. A block at the address of another one of the pool replaces it. */
#define allotrace_pool_alloc(pool, address, bytes)                                                 \
    ALLOTRACE_TELL_MEMORY_(allotrace_pool_alloc, pool, address, bytes)
#define allotrace_pool_free(pool, address)                                                         \
    do {                                                                                           \
        const void *allotrace_pool_ = (pool);                                                      \
        void *allotrace_address_ = (address);                                                      \
        void (*allotrace_tell_)(const void *, void *);                                             \
        ALLOTRACE_FIND_(allotrace_pool_free, allotrace_tell_);                                     \
        if (allotrace_tell_)                                                                       \
            allotrace_tell_(allotrace_pool_, allotrace_address_);                                  \
    } while (0)

#define allotrace_pool_reset(pool)   ALLOTRACE_TELL_POOL_(allotrace_pool_reset, pool)
#define allotrace_pool_destroy(pool) ALLOTRACE_TELL_POOL_(allotrace_pool_destroy, pool)

/* The memory must be as returned by malloc or mmap, or a part of what mmap returned. */
#define allotrace_pool_chunk(pool, address, bytes)                                                 \
    ALLOTRACE_TELL_MEMORY_(allotrace_pool_chunk, pool, address, bytes)

#define ALLOTRACE_TELL_POOL_(function, pool)                                                       \
    do {                                                                                           \
        const void *allotrace_pool_ = (pool);                                                      \
        void (*allotrace_tell_)(const void *);                                                     \
        ALLOTRACE_FIND_(function, allotrace_tell_);                                                \
        if (allotrace_tell_)                                                                       \
            allotrace_tell_(allotrace_pool_);                                                      \
    } while (0)

#define ALLOTRACE_TELL_MEMORY_(function, pool, address, bytes)                                     \
    do {                                                                                           \
        const void *allotrace_pool_ = (pool);                                                      \
        void *allotrace_address_ = (address);                                                      \
        size_t allotrace_bytes_ = (bytes);                                                         \
        void (*allotrace_tell_)(const void *, void *, size_t);                                     \
        ALLOTRACE_FIND_(function, allotrace_tell_);                                                \
        if (allotrace_tell_)                                                                       \
            allotrace_tell_(allotrace_pool_, allotrace_address_, allotrace_bytes_);                \
    } while (0)

/* For the calling thread. Every begin needs an end, also if an exception leaves the code in
 * between; the end takes the value that the begin returned. Pairs may be nested. */
static inline long allotrace_pool_take_begin(void) {
    long (*take)(long outer);
    ALLOTRACE_FIND_(allotrace_pool_take, take);
    return take ? take(-1) : 0;
}
static inline void allotrace_pool_take_end(long outer) {
    long (*take)(long outer);
    ALLOTRACE_FIND_(allotrace_pool_take, take);
    if (take && outer > 0)
        take(outer);
}

#ifdef __cplusplus
}
#endif

#endif
