/* lock.h: a lock for critical sections of a few dozen instructions, which works inside an allocator
 * in any state of the process: it neither allocates nor changes errno. Zero means unlocked. */
#ifndef MEMPROF_LOCK_H
#define MEMPROF_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct memprof_lock {
    atomic_bool taken;
} memprof_lock;

static inline bool memprof_lock_try(memprof_lock *l) {
    return !atomic_exchange_explicit(&l->taken, true, memory_order_acquire);
}

static inline void memprof_lock_take(memprof_lock *l) {
    for (int spins = 0; !memprof_lock_try(l);)
        while (atomic_load_explicit(&l->taken, memory_order_relaxed))
            if (++spins % 128 == 0)
                sched_yield(); /* the holder may be waiting for this processor */
}

static inline void memprof_lock_drop(memprof_lock *l) {
    atomic_store_explicit(&l->taken, false, memory_order_release);
}

#endif
