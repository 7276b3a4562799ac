/* lock.h: a mutex of four bytes on a futex, valid when zeroed. Unlike a pthread mutex, it can be
 * discarded while another thread holds it (in the child of a fork), it never calls the program's C
 * library, and it keeps errno. Not recursive. */
#ifndef RECORD_LOCK_H
#define RECORD_LOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/cpu.h"
#include "platform/syscall.h"

typedef struct lock {
    _Atomic uint32_t word; /* 0: free; 1: held; 2: held, and some thread may be asleep */
} lock;

static inline bool lock_try(lock *l) {
    uint32_t unlocked = 0;
    return atomic_compare_exchange_strong_explicit(&l->word, &unlocked, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline bool lock_spin(lock *l) {
    for (int i = 0; i < 100; i++) {
        if (lock_try(l))
            return true;
        cpu_pause();
    }
    return false;
}

static inline void lock_acquire(lock *l) {
    if (lock_spin(l))
        return;
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0)
        syscall4(SYS_futex, (long)&l->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0);
}

enum { LOCK_PATIENCE = 1000 }; /* naps */

static inline void lock_nap(void) {
    struct {
        int64_t seconds, nanoseconds;
    } pause = {.nanoseconds = 20000};
    syscall4(SYS_nanosleep, (long)&pause, 0, 0, 0);
}

/* Waits for some hundredths of a second at most. For callers that may have interrupted the lock's
 * owner. */
static inline bool lock_acquire_patiently(lock *l) {
    for (int i = 0; i < LOCK_PATIENCE; i++) {
        if (lock_spin(l))
            return true;
        lock_nap();
    }
    return false;
}

static inline void lock_release(lock *l) {
    if (atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)
        syscall4(SYS_futex, (long)&l->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0);
}

#endif
