/* native.c: see native.h. What many events pass through is in line. */
#include "record/native.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "record/backtrace.h"
#include "record/ids.h"
#include "record/next.h"
#include "record/recorder.h"
#include "record/usdt.h"
#include "trace/writer_stream.h"

/* A bitmap of one word that holds every hash. */
static const struct { alignas(64) uint64_t bits; } every_address = {.bits = UINT64_MAX};
enum { HASH_SHIFT_OF_ONE_WORD = 64 - 6 };

bool native_start(struct session *s, memprof_filter *filter) {
    s->ids = memory_alloc(&s->memory, sizeof *s->ids);
    if (!s->ids)
        return false;
    ids_init(s->ids, &s->memory, next_is_glibc() && !s->splices);
    filter->bits = (const char *)&every_address + HASH_SHIFT_OF_ONE_WORD;
    return true;
}

/* ---- time -------------------------------------------------------------------------------- */

/* How often to look whether modules are gone that were unloaded without dlclose; µs. */
#define MODULES_INTERVAL 4096

static __attribute__((noinline)) void native_read_clock(struct session *s, struct domain *d,
                                                        uint64_t cycles) {
    uint64_t before = d->now;
    session_read_clock(s, d, cycles);
    if (before / MODULES_INTERVAL != d->now / MODULES_INTERVAL)
        domain_check_modules(d);
}

/* Where events follow closely upon each other, a time was right a tenth of a millisecond ago at
 * most, or where blocks are sampled some microseconds ago: the clock is the dearest part of a free,
 * and traces of everything become half as large where they are compressed if their times change
 * less often. After a pause the clock is read: what a program does between two events takes its
 * time in the trace. */
static inline bool native_clock_is_old(const struct domain *d, uint64_t cycles) {
    return session_clock_is_old(d, cycles, d->clock_lasts) ||
           __builtin_expect(cycles - d->event_cycles >= CPU_CYCLES_PAUSE, 0);
}

static inline uint64_t native_now(struct session *s, struct domain *d) {
    uint64_t cycles = cpu_cycles();
    if (native_clock_is_old(d, cycles))
        native_read_clock(s, d, cycles);
    d->event_cycles = cycles;
    return session_now_nearly(s, d);
}

/* Blocks of which a few are what a program holds at its peak: 32 KB. */
#define LARGE_WORDS ((uint64_t)1 << 12)

#define MOST_AHEAD 50 /* us, of the clock, that a time may be */

/* The birth of a large block is read from the clock, and whatever follows is later by a
 * microsecond: as long as a time stays what it was, what is freed meanwhile would never have been
 * live. */
static __attribute__((noinline)) uint64_t native_now_large(struct session *s, struct domain *d) {
    native_read_clock(s, d, cpu_cycles());
    const uint64_t now = session_now_nearly(s, d);
    if (d->now <= session_now(s) + MOST_AHEAD)
        session_raise_latest(s, ++d->now);
    return now;
}

/* ---- in and out -------------------------------------------------------------------------- */

static void count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* False: a signal handler is about an event inside another, which is dropped. */
static inline bool native_go_in(struct session *s) {
    if (__builtin_expect(self.sampler.busy, 0)) {
        count(&s->lost_busy);
        return false;
    }
    self.sampler.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void native_go_out(void) {
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = 0;
}

/* The calling thread's domain, and nobody else at it; NULL: the event is dropped. */
static inline struct domain *native_enter(struct session *s) {
    if (!native_go_in(s))
        return NULL;
    struct domain *d = self.domain ? self.domain : session_domain(s);
    if (__builtin_expect(d != NULL, 1)) {
        domain_enter(d);
        return d;
    }
    native_go_out();
    count(&s->lost_domain);
    return NULL;
}

static inline void native_leave(struct domain *d) {
    domain_leave(d);
    native_go_out();
}

/* What native_enter does where the thread has its domain, its time is right, and nobody else wants
 * anything. If not, says so, and the thread is where it was. */
static inline __attribute__((always_inline)) bool native_enter_fast(const struct session *s,
                                                                    struct domain *d) {
    if (__builtin_expect(self.sampler.busy, 0))
        return false;
    self.sampler.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    const uint64_t cycles = cpu_cycles();
    if (__builtin_expect(domain_enter_fast(d) && !native_clock_is_old(d, cycles) &&
                             atomic_load_explicit(&s->latest, memory_order_relaxed) <= d->now,
                         1)) {
        d->event_cycles = cycles;
        return true;
    }
    native_leave(d);
    return false;
}

/* ---- events ------------------------------------------------------------------------------ */

static inline void native_collect_in(struct session *s, struct domain *d, uint64_t taken) {
    memtrace_status status = memtrace_stream_collect(d->stream, native_now(s, d), taken - 1);
    if (__builtin_expect(status != MEMTRACE_OK, 0))
        session_note(s, status);
}

/* ---- the table ---- */

/* What is known of the block at an address, which is forgotten. The calling thread is in the
 * recorder, unless there are `ids`. */
static inline uint64_t native_forget(struct session *s, void *block) {
    return s->ids ? ids_take(s->ids, (uintptr_t)block)
                  : (uintptr_t)memprof_drop(s->engine, (uintptr_t)block);
}

/* `table` is the session's `ids`, `place` is in there. */
static inline bool native_remember(struct session *s, struct ids *table, uint32_t *place,
                                   void *block, uint64_t id, uint64_t *old) {
    void *before;
    if (table)
        return ids_put_at(table, place, (uintptr_t)block, id, old);
    const bool kept =
        memprof_keep(s->engine, (uintptr_t)block, (void *)(uintptr_t)(id + 1), &before);
    *old = (uintptr_t)before;
    return kept;
}

/* Nobody will know the block's id: nor shall that of an earlier one be taken for it. Where that
 * takes a lock, it waits for the next birth at the address. */
static __attribute__((noinline)) void native_miss(struct session *s, void *block) {
    if (s->ids)
        ids_take(s->ids, (uintptr_t)block);
}

/* An earlier block at the address has died unseen. */
static __attribute__((noinline)) void native_imply(struct session *s, struct domain *d,
                                                   uint64_t taken) {
    count(&s->implied_deaths);
    native_collect_in(s, d, taken);
}

/* A block whose birth is in the trace: keeps its id. */
static inline void native_keep(struct session *s, struct domain *d, struct ids *table,
                               uint32_t *place, void *block, uint64_t id) {
    uint64_t old;
    if (!native_remember(s, table, place, block, id, &old))
        count(&s->lost_id);
    if (__builtin_expect(old != 0, 0))
        native_imply(s, d, old);
}

static __attribute__((noinline)) void native_fail(struct session *s, struct domain *d, void *block,
                                                  memtrace_status status) {
    session_note(s, status);
    domain_forget_stack(d);
    native_forget(s, block);
}

/* ---- births and deaths ---- */

/* Writes a birth, whatever the stack is like. */
static __attribute__((noinline)) memtrace_status
native_write(struct session *s, struct domain *d, uint64_t now, uint64_t words, uint64_t n_samples,
             unsigned type, const struct unwind_site *site, uint64_t *id) {
    const struct backtrace stack = backtrace_take(s, d, site, type);
    return stream_alloc_block(d->stream, now, words, n_samples, stack.codes, stack.n, stack.common,
                              id);
}

/* Of `n` samples, each goes on with a probability of one half, `level` times. */
static uint64_t native_thinned(struct domain *d, uint64_t n, uint64_t level) {
    const uint64_t all = (UINT64_C(1) << level) - 1;
    uint64_t kept = 0;
    if (!d->random)
        d->random = hash_u64(cpu_cycles() ^ (uintptr_t)d);
    for (uint64_t i = 0; i < n; i++) {
        d->random += UINT64_C(0x9E3779B97F4A7C15);
        kept += (hash_u64(d->random) & all) == 0;
    }
    return kept;
}

/* Follows the level that is asked for; says in the trace from where on. How many samples go on. */
static __attribute__((noinline)) uint64_t native_thin(struct session *s, struct domain *d,
                                                      uint64_t now, uint64_t n_samples) {
    uint64_t level = atomic_load_explicit(&s->rescue.head->level, memory_order_relaxed);
    level = level < RESCUE_MAX_LEVEL ? level : RESCUE_MAX_LEVEL;
    if (level != d->level) {
        d->level = level;
        session_put_remark(s, d, now, CODE_LEVEL, level);
    }
    return level ? native_thinned(d, n_samples, level) : n_samples;
}

/* How long a sample took: what its rate is chosen by. */
static void native_note_spent(struct session *s, uint64_t since) {
    if (!atomic_load_explicit(&s->rescue.orphaned, memory_order_relaxed))
        atomic_fetch_add_explicit(&s->rescue.head->spent, cpu_cycles() - since,
                                  memory_order_relaxed);
}

void native_born(struct session *s, void *block, uint64_t words, uint64_t n_samples, unsigned type,
                 const struct unwind_site *site) {
    const uint64_t began = s->thins ? cpu_cycles() : 0;
    uint64_t id;
    struct domain *d = native_enter(s);
    if (!d) {
        native_miss(s, block);
        return;
    }
    uint64_t now = words >= LARGE_WORDS ? native_now_large(s, d) : native_now(s, d);
    if (!s->thins || (n_samples = native_thin(s, d, now, n_samples)) > 0) {
        const memtrace_status status = native_write(s, d, now, words, n_samples, type, site, &id);
        if (status != MEMTRACE_OK)
            native_fail(s, d, block, status);
        else
            native_keep(s, d, s->ids, s->ids ? ids_place(s->ids, (uintptr_t)block) : NULL, block,
                        id);
    }
    session_sweep(s, d->now);
    native_leave(d);
    if (n_samples > 0)
        usdt_alloc(block, words, n_samples, s->rate / (double)(UINT64_C(1) << d->level));
    if (s->thins)
        native_note_spent(s, began);
}

static inline __attribute__((always_inline)) void
native_born_inline(void *block, uint64_t words, uint64_t n_samples, unsigned type,
                   uintptr_t return_address, uintptr_t sp, uintptr_t bp) {
    struct session *const s = self.owner;
    struct domain *const d = self.domain;
    struct ids *const table = s->ids;
    if (!table)
        __builtin_unreachable();
    uint64_t id;
    uint32_t *place = ids_place(table, (uintptr_t)block);
    __builtin_prefetch(place, 1); /* of any address */
    cpu_prefetch_around(block);   /* see native_died_fast */
    if (__builtin_expect(words > STREAM_EASY_WORDS || !native_enter_fast(s, d), 0)) {
        const struct unwind_site site = {return_address, sp, bp};
        native_born(s, block, words, n_samples, type, &site);
        return;
    }
    const struct backtrace stack = backtrace_take_fast(s, d, return_address, sp, type);
    memtrace_status status;
    if (__builtin_expect(stack.n > 0, 1)) {
        status = stream_alloc_block(d->stream, d->now, words, n_samples, stack.codes, stack.n,
                                    stack.common, &id);
    } else {
        const struct unwind_site site = {return_address, sp, bp};
        status = native_write(s, d, d->now, words, n_samples, type, &site, &id);
    }
    if (__builtin_expect(status != MEMTRACE_OK, 0))
        native_fail(s, d, block, status);
    else
        native_keep(s, d, table, place, block, id);
    native_leave(d);
    usdt_alloc(block, words, n_samples, s->rate);
}

void native_born_fast(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp) {
    native_born_inline(block, words, words, type, return_address, sp, bp);
}

void native_sampled_fast(void *block, uint64_t words, uint64_t n_samples, unsigned type,
                         const struct unwind_site *site) {
    native_born_inline(block, words, n_samples, type, site->return_address, site->sp, site->bp);
}

uint64_t native_take(struct session *s, void *block) {
    if (s->ids)
        return ids_take(s->ids, (uintptr_t)block);
    if (!native_go_in(s))
        return 0;
    const uint64_t taken = native_forget(s, block);
    native_go_out();
    return taken;
}

void native_bury(struct session *s, uint64_t taken) {
    if (!recorder_has_room((uintptr_t)__builtin_frame_address(0)))
        return;
    struct domain *d = native_enter(s);
    if (!d)
        return;
    native_collect_in(s, d, taken);
    session_sweep(s, d->now);
    native_leave(d);
}

void native_untake(struct session *s, void *block, uint64_t taken) {
    uint64_t old;
    uint32_t *const place = s->ids ? ids_place(s->ids, (uintptr_t)block) : NULL;
    if (!native_go_in(s))
        return;
    if (!native_remember(s, s->ids, place, block, taken - 1, &old))
        count(&s->lost_id);
    native_go_out();
}

void native_died(struct session *s, void *block) {
    uint64_t taken = native_take(s, block);
    if (!taken)
        return;
    usdt_free(block);
    native_bury(s, taken);
}

/* Next, allocator and program will mostly be about blocks close to this one. Undisturbed, the CPU
 * works ahead across several calls and waits for all that these miss at once; with our work between
 * them it would wait for each. So their memory is asked for while we are at it. */
void native_died_fast(void *block) {
    struct session *const s = self.owner;
    struct domain *const d = self.domain;
    cpu_prefetch_around(block);
    const uint64_t taken = ids_take(s->ids, (uintptr_t)block);
    if (!taken)
        return;
    usdt_free(block);
    if (__builtin_expect(native_enter_fast(s, d), 1)) {
        const bool done = stream_collect_fast(d->stream, d->now, taken);
        native_leave(d);
        if (__builtin_expect(done, 1))
            return;
    }
    native_bury(s, taken);
}
