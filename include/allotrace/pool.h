/* pool.h: the blocks of a program's own allocators (arenas, pools, slabs, free lists), in the trace
 * that is recorded of it, each with its stack, as malloc's are.
 *
 *     #include <allotrace/pool.h>
 *
 *     allotrace_pool_create(arena, "parser nodes");
 *
 *     long outer = allotrace_pool_take_begin();
 *     arena->chunk = malloc(CHUNK);  // the pool's: not recorded beside its blocks
 *     allotrace_pool_take_end(outer);
 *
 *     allotrace_pool_alloc(arena, block, bytes);  // in the function that gives it out
 *     allotrace_pool_free(arena, block);  // before the address can be used again
 *     allotrace_pool_reset(arena);  // all its blocks die
 *     allotrace_pool_destroy(arena);  // the same, and it has no name any more
 *
 * There is nothing to link with: the functions are found if the program runs under `allotrace run`,
 * or once `allotrace attach` records it, and otherwise a call is a test of a pointer. Any thread
 * may call.
 *
 * A pool is any address that stands for it. Its blocks are counted and sampled as malloc's are, at
 * every rate, and have the pool's name for a type (`allotrace types`); their size includes a word
 * for a header, as that of all blocks does (`--measure requested` leaves it out). The stack begins
 * at the caller of the function that tells, so let the function that gives out blocks be the one,
 * and no wrapper within. At most 1,023 different names in a process, of at most 63 bytes: name
 * kinds of pools, not each. A pool that has no name, such as one from before `attach`, has blocks
 * of the type `(unnamed pool)`: allotrace_pool_create may be called again, and then only names it.
 *
 * No byte twice: what a pool takes from malloc, mmap or another pool to cut blocks from it is a
 * chunk. There are two ways to say so:
 *
 *     take_begin, take_end   around the call that takes it: nothing that the thread takes from
 *                            malloc, mmap or a pool in between is recorded. The sound way.
 *     allotrace_pool_chunk   afterwards, of memory that somebody else has taken: from then on it is
 *                            not live. It stays among what was allocated, once.
 *
 * A pool that says neither has its chunks recorded beside its blocks, as malloc's. What of a chunk
 * is not given out is nobody's. When a chunk is given back nothing is to be said of it: but its
 * blocks must have died, by free, reset or destroy, or they stay in the trace.
 */
#ifndef ALLOTRACE_POOL_H
#define ALLOTRACE_POOL_H

#include <stddef.h>

#include "allotrace/mark.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL as long as the program has not been under a recorder. To be called by the macros below,
 * which have the same names: were these functions, they would stand on the stack. */
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

/* A block that is NULL is none. One that comes to be where another one of the pool is takes its
 * place. */
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

/* As malloc or mmap gave it, or a part of what mmap gave. */
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

/* Of the calling thread, which must come to the end, also when an exception leaves the call between
 * the two: what the beginning gave goes there. They may be nested. */
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
