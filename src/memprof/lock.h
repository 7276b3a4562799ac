/* lock.h: a lock for critical sections of a few dozen instructions, which works inside an allocator
 * in any state of the process: it neither allocates nor changes errno. Zero means unlocked. */
#ifndef MEMPROF_LOCK_H
#define MEMPROF_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct lock {
    atomic_bool taken;
} lock;

static inline bool lock_try(lock *l) {
    return !atomic_exchange_explicit(&l->taken, true, memory_order_acquire);
}

static inline void lock_take(lock *l) {
    for (int spins = 0; !lock_try(l);)
        while (atomic_load_explicit(&l->taken, memory_order_relaxed))
            if (++spins % 128 == 0)
                sched_yield(); /* the holder may be waiting for this processor */
}

static inline void lock_drop(lock *l) {
    atomic_store_explicit(&l->taken, false, memory_order_release);
}

#endif
