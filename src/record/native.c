/* native.c: the path of an event from preload.c to the packet. What many events go through is
 * inline; rare cases are kept out of line. */
#include "record/native.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/hot.h"
#include "base/inline.h"
#include "platform/unwind_trail_walk.h"
#include "record/ids.h"
#include "record/newborn.h"
#include "record/next.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "record/usdt.h"
#include "trace/writer_stream.h"

/* A bitmap of one word that contains every hash. */
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

/* Interval, µs, of checks for modules that were unloaded without dlclose. */
#define MODULES_INTERVAL 4096

static __attribute__((noinline)) void native_read_clock(struct session *s, struct domain *d,
                                                        uint64_t cycles) {
    uint64_t before = d->now;
    session_read_clock(s, d, cycles);
    session_look_at_name(s, d);
    span_look_at_more(&d->span, d->now);
    if (before / MODULES_INTERVAL != d->now / MODULES_INTERVAL)
        domain_check_modules(d);
}

/* Where events follow each other closely, the clock is not read for each. A time is then at most a
 * tenth of a millisecond old, or some microseconds where blocks are sampled. Reading the clock is
 * the most expensive part of a free, and traces at rate 1 compress to half the size if their times
 * change less often. After a pause the clock is read, so that the trace shows the time that the
 * program spent between two events. */
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

/* Size, in words, of blocks so large that a few of them are all that a program holds at its peak:
 * 32 KB. */
#define LARGE_WORDS ((uint64_t)1 << 12)

#define MOST_AHEAD 50 /* µs by which a time may be ahead of the clock */

/* Returns the time for the birth of a large block, read from the clock, and makes all later times
 * at least one microsecond later. Otherwise a block that is freed while the time stays the same
 * would never have been live in the trace. */
static __attribute__((noinline)) uint64_t native_now_large(struct session *s, struct domain *d) {
    native_read_clock(s, d, cpu_cycles());
    const uint64_t now = session_now_nearly(s, d);
    if (d->now <= session_now(s) + MOST_AHEAD)
        session_raise_latest(s, ++d->now);
    return now;
}

/* ---- entering and leaving ---------------------------------------------------------------- */

static void count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Marks the thread as busy. Returns false in a signal handler that has an event inside another one;
 * that event is dropped. */
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

/* Enters the calling thread's domain, with no visitor in it. Returns NULL if the event is
 * dropped. */
static inline struct domain *native_enter(struct session *s) {
    if (!native_go_in(s))
        return NULL;
    struct domain *d = self.domain ? self.domain : session_domain(s);
    if (__builtin_expect(d != NULL, 1)) {
        domain_enter(d);
        newborn_settle(s, d, NULL);
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

/* Enters like native_enter if the thread has its domain, the time is recent and there is no
 * visitor. Otherwise returns false and leaves the thread as it was. */
static ALWAYS_INLINE bool native_enter_fast(const struct session *s, struct domain *d) {
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

/* ---- the stack --------------------------------------------------------------------------- */

/* A backtrace is taken by its difference from the thread's previous one. Only codes of new frames
 * are looked up (code.h), and the codes stay in the domain. */
struct backtrace {
    uint64_t *codes; /* outermost first; valid until the next backtrace of this domain is taken */
    size_t n;
    size_t common; /* at least this many codes are the same as in the previous backtrace */
};

/* Looks up the codes of the trail's frames from `first` to `n`, and marks the frames whose codes
 * equal their addresses. */
static __attribute__((noinline)) void backtrace_encode_slow(struct session *s, struct domain *d,
                                                            size_t first, size_t n) {
    for (size_t i = first; i < n; i++) {
        const uintptr_t pc = unwind_trail_pc(d->trail, i);
        d->frames[1 + i] = code_remembered(&s->codes, &d->codes, pc);
        if (d->frames[1 + i] == pc)
            unwind_cache_mark(d->unwind, pc);
    }
}

/* Looks up these codes without marking frames. It calls no function if all codes are cached. */
static inline void backtrace_encode(struct session *s, struct domain *d, size_t first, size_t n) {
    const struct unwind_point *point = d->trail->points + first;
    uint64_t *const codes = d->frames + 1, *code = codes + first, *const end = codes + n;
    for (; code < end; code++, point++)
        if (__builtin_expect(!code_is_of(*code = code_recall(&d->codes, point->key), point->key),
                             0)) {
            backtrace_encode_slow(s, d, (size_t)(code - codes), n);
            break;
        }
}

/* Handles a stack that is incomplete, or is not kept whole. A remark precedes the first frame that
 * is kept. If the previous stack has the same remark, the common part is found by comparing codes:
 * where frames were dropped, the trail's count does not apply. */
static __attribute__((noinline)) struct backtrace
backtrace_remarked(struct session *s, struct domain *d, size_t n, unsigned flags, unsigned type) {
    size_t first = n > s->depth ? n - s->depth : 0;
    uint64_t remark = first > 0 || flags & UNWIND_CUT ? CODE_CUT : CODE_LOST;
    size_t before = d->n_frames == 0 && d->frames[0] == remark ? d->n_remarked : 0;
    uint64_t *codes = d->frames;
    size_t common = before > 0;
    codes[0] = remark;
    n -= first;
    if (n == 0)
        codes[0] = code_with_type(remark, type);
    for (size_t i = 1; i <= n; i++) {
        uintptr_t pc = unwind_trail_pc(d->trail, first + i - 1);
        uint64_t code = code_remembered(&s->codes, &d->codes, pc);
        code = code_with_type(code, i == n ? type : 0);
        common += common == i && i <= before && codes[i] == code;
        codes[i] = code;
    }
    d->n_frames = 0; /* so that these codes are not taken for those of a whole stack */
    d->n_remarked = n;
    return (struct backtrace){.codes = codes, .n = 1 + n, .common = common};
}

/* Returns how many of `n` frames remain without the recorder's own, which are innermost. */
static __attribute__((noinline)) size_t backtrace_strip_own(const struct session *s,
                                                            const struct domain *d, size_t n) {
    while (n > 0 && session_is_own(s, unwind_trail_pc(d->trail, n - 1)))
        n--;
    return n;
}

/* Lets the language runtime insert its frames among the native ones. */
static __attribute__((noinline)) struct backtrace
backtrace_spliced(struct session *s, struct domain *d, struct unwind_taken taken, unsigned type) {
    const unsigned flags = unwind_trail_flags(d->trail);
    const struct runtime_splice native = {.trail = d->trail,
                                          .n = taken.n,
                                          .kept = taken.kept,
                                          .flags = flags,
                                          .has_places = !(flags & UNWIND_TOOK_ALL),
                                          .type = type,
                                          .moved_from = (uintptr_t)self.moved.from,
                                          .moved_to = (uintptr_t)self.moved.to,
                                          .codes = &s->codes,
                                          .cache = &d->codes};
    if (d->n_remarked == 0)
        s->runtime->domain_forget(d->runtime);
    const struct runtime_stack stack = s->runtime->splice(d->runtime, &native);
    d->n_frames = 0; /* none of these codes may be reused */
    d->n_remarked = 1;
    return (struct backtrace){.codes = stack.codes, .n = stack.n, .common = stack.common};
}

/* Returns how many codes can be reused for a stack of `n` frames, of which `kept` are unchanged.
 * The innermost code of either stack contains a type, so it may differ. */
static inline size_t backtrace_common(const struct domain *d, size_t kept, size_t n,
                                      unsigned type) {
    const size_t before = d->n_frames, common = kept < before ? kept : before;
    const bool at_end = common == n || common == before;
    return common - (at_end && common > 0 && !(n == before && type == d->type));
}

/* Takes the stack of the calling thread, which owns the domain, from the site outwards; it handles
 * every kind of stack. At most the session's depth is kept. An incomplete stack begins with a
 * remark that says why. `type` is that of code_with_type. Modules that were unloaded without
 * dlclose are not noticed here: see domain_check_modules. */
static __attribute__((noinline)) struct backtrace
backtrace_take(struct session *s, struct domain *d, const struct unwind_site *site, unsigned type) {
    if (__builtin_expect(code_epoch() != d->codes.epoch, 0))
        domain_check_modules(d);
    const struct unwind_taken taken = unwind_trail_take(d->trail, site);
    const unsigned flags = unwind_trail_flags(d->trail);
    size_t n = taken.n;
    if (s->splices) {
        if (flags & UNWIND_TOOK_ALL)
            n = backtrace_strip_own(s, d, n);
        return backtrace_spliced(s, d, (struct unwind_taken){.n = n, .kept = taken.kept}, type);
    }
    if (__builtin_expect(flags != 0 || n - 1 >= s->depth, 0)) {
        if (flags & UNWIND_TOOK_ALL)
            n = backtrace_strip_own(s, d, n);
        if (n - 1 >= s->depth || flags & (UNWIND_CUT | UNWIND_FAILED))
            return backtrace_remarked(s, d, n, flags, type);
    }
    const size_t common = backtrace_common(d, taken.kept, n, type);
    backtrace_encode(s, d, common, n);
    d->frames[n] = code_with_type(d->frames[n], type);
    d->n_frames = n;
    d->type = type;
    return (struct backtrace){.codes = d->frames + 1, .n = n, .common = common};
}

/* Takes the stack inline where nothing is special. Returns no frames if something is. */
static ALWAYS_INLINE struct backtrace backtrace_take_fast(struct session *s, struct domain *d,
                                                          uintptr_t return_address, uintptr_t sp,
                                                          unsigned type) {
    static const struct backtrace none = {0};
    unwind_trail *const trail = d->trail;
    uint64_t *const codes = d->frames + 1;
    bool marked;
    if (__builtin_expect(!trail_is_fast(trail, sp) || code_epoch() != d->codes.epoch, 0))
        return none;
    const struct unwind_taken taken = trail_take_fast(trail, return_address, sp, codes, &marked);
    if (__builtin_expect(taken.n == 0, 0))
        return none;
    if (__builtin_expect(taken.n > s->depth || taken.kept > d->n_frames, 0)) {
        domain_forget_stack(d); /* the trail has already advanced, so the codes can't be compared
                                 * with the next stack's */
        return none;
    }
    size_t common = taken.kept;
    if (common == taken.n || common == d->n_frames) {
        common = backtrace_common(d, common, taken.n, type);
        codes[common] = code_without_type(codes[common]);
    }
    if (__builtin_expect(!marked, 0))
        backtrace_encode_slow(s, d, common, taken.n);
    codes[taken.n - 1] = code_with_type(codes[taken.n - 1], type);
    d->n_frames = taken.n;
    d->type = type;
    return (struct backtrace){.codes = codes, .n = taken.n, .common = common};
}

/* Takes the stack with the name of a pool as its type. After the stack is written, backtrace_undo
 * must be called. The codes to reuse for the next stack are those of its frames, but the innermost
 * code in the trace is the pool's. Its type in the domain, 0, matches no other type, so it is never
 * reused. */
static struct backtrace backtrace_of_pool(struct session *s, struct domain *d,
                                          const struct unwind_site *site, uint16_t number,
                                          uint64_t *innermost) {
    struct backtrace stack = backtrace_take(s, d, site, 0);
    const size_t last = stack.n - 1;
    *innermost = stack.codes[last];
    stack.codes[last] = code_of_pool(&s->codes, *innermost, number);
    stack.common = stack.common < last ? stack.common : last;
    return stack;
}

static void backtrace_undo(struct domain *d, const struct backtrace *stack, uint64_t innermost) {
    stack->codes[stack->n - 1] = innermost;
    if (d->n_frames == 0)
        domain_forget_stack(d); /* an incomplete stack, or one with a runtime's frames */
}

/* ---- events ------------------------------------------------------------------------------ */

static inline void native_collect_in(struct session *s, struct domain *d, uint64_t taken) {
    memtrace_status status = memtrace_stream_collect(d->stream, native_now(s, d), taken - 1);
    if (__builtin_expect(status != MEMTRACE_OK, 0))
        session_note(s, status);
}

/* ---- the table of blocks ----------------------------------------------------------------- */

/* Removes the entry of the block at an address, and returns it. Without `ids`, the calling thread
 * must be busy (native_go_in). */
static inline uint64_t native_forget(struct session *s, void *block) {
    return s->ids ? ids_take(s->ids, (uintptr_t)block)
                  : (uintptr_t)memprof_drop(s->engine, (uintptr_t)block);
}

/* Stores the id of a block. `table` is the session's `ids` or NULL; `place` is in that table. */
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

/* Handles a block whose birth was not recorded. The entry of an earlier block at its address must
 * not be taken for it. Where removing that entry would take a lock, it stays until the next birth
 * at the address. */
static __attribute__((noinline)) void native_miss(struct session *s, void *block) {
    if (s->ids)
        ids_take(s->ids, (uintptr_t)block);
}

/* Records the death of an earlier block at the address, which was not seen. */
static __attribute__((noinline)) void native_imply(struct session *s, struct domain *d,
                                                   uint64_t taken) {
    count(&s->implied_deaths);
    native_collect_in(s, d, taken);
}

/* Keeps the id of a block whose birth has been written. */
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

/* ---- births and deaths ------------------------------------------------------------------- */

/* Writes a birth, with any kind of stack. */
static __attribute__((noinline)) memtrace_status
native_write(struct session *s, struct domain *d, uint64_t now, uint64_t words, uint64_t n_samples,
             unsigned type, const struct unwind_site *site, uint64_t *id) {
    const struct backtrace stack = backtrace_take(s, d, site, type);
    return stream_alloc_block(d->stream, now, words, n_samples, stack.codes, stack.n, stack.common,
                              id);
}

/* Returns how many of `n` samples are kept, when each is kept with probability 1/2, `level`
 * times. */
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

/* Adopts the requested level and marks in the trace where it begins. Returns how many samples are
 * kept. */
static __attribute__((noinline)) uint64_t native_thin(struct session *s, struct domain *d,
                                                      uint64_t now, uint64_t n_samples) {
    uint64_t level = atomic_load_explicit(&s->pace->level, memory_order_relaxed);
    level = level < PACE_MAX_LEVEL ? level : PACE_MAX_LEVEL;
    if (level != d->level) {
        d->level = level;
        session_put_remark(s, d, now, CODE_LEVEL, level);
    }
    return level ? native_thinned(d, n_samples, level) : n_samples;
}

/* Returns whether no sample of the block is kept, at a level that the trace already has. Then
 * nothing is written. Returns false if it is time to check for other work. */
static bool native_drops(const struct session *s, uint64_t cycles, uint64_t *n_samples,
                         bool *is_thinned) {
    enum { SHORTLY = 1 << 20 }; /* cycles */
    struct domain *d = self.domain;
    const uint64_t level = atomic_load_explicit(&s->pace->level, memory_order_relaxed);
    if (!d || !level || level != d->level || cycles - d->now_cycles > SHORTLY)
        return false;
    *n_samples = native_thinned(d, *n_samples, level);
    *is_thinned = true;
    return *n_samples == 0;
}

/* Adds the time that a sample took: to the time by which the rate is chosen, or apart if the sample
 * was dropped. The first sample of a process is not counted: it is mostly the start of the
 * recording, which a lower rate does not avoid. At most about half a millisecond is counted: in a
 * longer time, the thread has waited for its turn or for a module's tables. */
static void native_note_spent(struct session *s, uint64_t since, bool is_dropped) {
    enum { MOST = 1 << 20 }; /* cycles */
    const uint64_t took = cpu_cycles() - since, spent = took < MOST ? took : MOST;
    if (atomic_load_explicit(&s->rescue.orphaned, memory_order_relaxed))
        return;
    if (atomic_load_explicit(&s->pace_begun, memory_order_relaxed))
        atomic_fetch_add_explicit(is_dropped ? &s->pace->dropped : &s->pace->spent, spent,
                                  memory_order_relaxed);
    else
        atomic_store_explicit(&s->pace_begun, true, memory_order_relaxed);
    if (atomic_load_explicit(&s->cpu_due, memory_order_relaxed))
        session_put_cpu(s);
}

/* Holds the birth of a block that may become an object of the runtime. Its domain's stream may have
 * no other allocation until the birth is written, so all due work is done first. */
static __attribute__((noinline)) void native_hold(struct session *s, struct domain *d, uint64_t now,
                                                  void *block, uint64_t words, uint64_t n_samples,
                                                  unsigned type, const struct unwind_site *site) {
    session_sweep(s, d->now);
    now = session_now_nearly(s, d); /* a sweep states that everything earlier is written, so the
                                     * time must be later */
    const struct backtrace taken = backtrace_take(s, d, site, type);
    const struct runtime_stack stack = {.codes = taken.codes, .n = taken.n, .common = taken.common};
    const uint64_t id = newborn_hold(d, now, block, words, n_samples, &stack);
    native_keep(s, d, s->ids, s->ids ? ids_place(s->ids, (uintptr_t)block) : NULL, block, id);
}

static void native_write_and_keep(struct session *s, struct domain *d, uint64_t now, void *block,
                                  uint64_t words, uint64_t n_samples, unsigned type,
                                  const struct unwind_site *site) {
    uint64_t id;
    const memtrace_status status = native_write(s, d, now, words, n_samples, type, site, &id);
    if (status != MEMTRACE_OK)
        native_fail(s, d, block, status);
    else
        native_keep(s, d, s->ids, s->ids ? ids_place(s->ids, (uintptr_t)block) : NULL, block, id);
}

/* Writes the birth of a block in a pool, and keeps its id. */
static void native_write_in_pool(struct session *s, struct domain *d, uint64_t now,
                                 const void *pool, void *block, uint64_t words, uint64_t n_samples,
                                 const struct unwind_site *site) {
    uint64_t id, old, innermost;
    const struct backtrace stack = backtrace_of_pool(s, d, site, pools_name(pool), &innermost);
    const memtrace_status status = stream_alloc_block(d->stream, now, words, n_samples, stack.codes,
                                                      stack.n, stack.common, &id);
    backtrace_undo(d, &stack, innermost);
    if (status != MEMTRACE_OK) {
        session_note(s, status);
        domain_forget_stack(d);
        return;
    }
    if (!pools_put(&s->pools, pool, block, id, &old))
        count(&s->lost_id);
    if (old)
        native_imply(s, d, old);
}

/* Stands for no pool: the block is malloc's. */
static const char not_of_pool;
#define NOT_OF_POOL ((const void *)&not_of_pool)

/* Records the birth of a block with this many samples. */
static void native_record(struct session *s, const void *pool, void *block, uint64_t words,
                          uint64_t n_samples, unsigned type, const struct unwind_site *site) {
    const uint64_t began = s->pace ? cpu_cycles() : 0;
    bool is_thinned = false;
    if (s->pace && native_drops(s, began, &n_samples, &is_thinned)) {
        native_note_spent(s, began, true);
        return;
    }
    struct domain *d = native_enter(s);
    if (!d) {
        if (pool == NOT_OF_POOL)
            native_miss(s, block);
        return;
    }
    uint64_t now = words >= LARGE_WORDS ? native_now_large(s, d) : native_now(s, d);
    session_look_at_scope(s, d, now, type);
    session_look_at_span(s, d, now);
    if (newborn_waits(s, type)) {
        native_hold(s, d, now, block, words, n_samples, type, site);
    } else {
        if (s->pace && !is_thinned)
            n_samples = native_thin(s, d, now, n_samples);
        if (n_samples > 0 && pool != NOT_OF_POOL)
            native_write_in_pool(s, d, now, pool, block, words, n_samples, site);
        else if (n_samples > 0)
            native_write_and_keep(s, d, now, block, words, n_samples, type, site);
        session_sweep(s, d->now);
    }
    native_leave(d);
    if (n_samples > 0)
        usdt_alloc(block, words, n_samples, s->rate / (double)(UINT64_C(1) << d->level));
    if (s->pace)
        native_note_spent(s, began, n_samples == 0);
}

static __attribute__((noinline)) bool native_span_has_changed(struct domain *d) {
    memtrace_span span;
    return span_has_changed(&d->span, d->now, &span);
}

static ALWAYS_INLINE void native_born_inline(void *block, uint64_t words, uint64_t n_samples,
                                             unsigned type, uintptr_t return_address, uintptr_t sp,
                                             uintptr_t bp) {
    struct session *const s = self.owner;
    struct domain *const d = self.domain;
    struct ids *const table = s->ids;
    if (!table)
        __builtin_unreachable();
    uint64_t id;
    uint32_t *place = ids_place(table, (uintptr_t)block);
    __builtin_prefetch(place, 1); /* any address may be prefetched */
    cpu_prefetch_around(block);   /* see native_died_fast */
    if (__builtin_expect(words > STREAM_FAST_WORDS || self.scope != d->scope ||
                             (span_is_published() && native_span_has_changed(d)) ||
                             !native_enter_fast(s, d),
                         0)) {
        const struct unwind_site site = {return_address, sp, bp};
        native_record(s, NOT_OF_POOL, block, words, n_samples, type, &site);
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
    self.births++;
    native_born_inline(block, words, words, type, return_address, sp, bp);
}

static __attribute__((noinline)) void native_record_fast(void *block, uint64_t words,
                                                         uint64_t n_samples, unsigned type,
                                                         const struct unwind_site *site) {
    native_born_inline(block, words, n_samples, type, site->return_address, site->sp, site->bp);
}

/* Returns the number of samples in a block. */
HOT_CODE static uint64_t native_sample(uint64_t words, struct session **s) {
    if (!memprof_count(&self.sampler, words))
        return 0;
    *s = recorder_look();
    if (!*s && !(*s = recorder_enter_counted(words)))
        return 0;
    if (!(*s)->engine) {
        self.sampler.countdown = (*s)->records_malloc ? 0 : INT64_MAX;
        return 0;
    }
    const uint64_t n_samples = memprof_sample((*s)->engine, &self.sampler, words);
    return recorder_is_stopped() ? 0 : n_samples;
}

/* Returns the number of samples of a block that is to be recorded, and its session; 0: the block is
 * not recorded. */
HOT_CODE static inline uint64_t native_due(uint64_t words, struct session **s) {
    uint64_t n_samples = 0;
    if (__builtin_expect(self.paused, 0))
        return 0;
    if (recorder_took_everything)
        *s = recorder_enter();
    else
        n_samples = native_sample(words, s);
    if (*s && session_is_of_everything(*s) && !recorder_is_stopped())
        n_samples = words;
    self.births += n_samples > 0;
    return n_samples;
}

HOT_CODE void native_born(void *block, size_t bytes, unsigned type,
                          const struct unwind_site *site) {
    const uint64_t words = recorder_words(bytes);
    struct session *s = NULL;
    const uint64_t n_samples = native_due(words, &s);
    if (n_samples == 0)
        return;
    if (recorder_fast() == s)
        native_record_fast(block, words, n_samples, type + 1, site);
    else
        native_record(s, NOT_OF_POOL, block, words, n_samples, type + 1, site);
}

void native_born_in_pool(const void *pool, void *block, size_t bytes,
                         const struct unwind_site *site) {
    const uint64_t words = recorder_words(bytes);
    struct session *s = NULL;
    const uint64_t n_samples = native_due(words, &s);
    if (n_samples > 0 && s->records_malloc)
        native_record(s, pool, block, words, n_samples, 0, site);
}

/* If a block is freed in the event right after its birth, this is the last chance to find out its
 * type. */
static __attribute__((noinline)) void native_settle_dying(struct session *s, const void *block) {
    struct domain *const d = self.domain;
    if (self.sampler.busy || !native_go_in(s))
        return;
    domain_enter(d);
    newborn_settle(s, d, block);
    native_leave(d);
}

/* Removes a block from the table. Returns an id + 1; 0: the block is not known. */
static uint64_t native_take_from(struct session *s, void *block) {
    const struct domain *d = self.domain;
    if (s->n_object_types && d && atomic_load_explicit(&d->newborn.waits, memory_order_relaxed) &&
        d->newborn.block == block)
        native_settle_dying(s, block);
    if (s->ids)
        return ids_take(s->ids, (uintptr_t)block);
    if (!native_go_in(s))
        return 0;
    const uint64_t taken = native_forget(s, block);
    native_go_out();
    return taken;
}

static void native_bury(struct session *s, uint64_t taken) {
    if (!recorder_has_room((uintptr_t)__builtin_frame_address(0)))
        return;
    struct domain *d = native_enter(s);
    if (!d)
        return;
    native_collect_in(s, d, taken);
    session_sweep(s, d->now);
    native_leave(d);
}

static void native_put_back(struct session *s, void *block, uint64_t taken) {
    uint64_t old;
    uint32_t *const place = s->ids ? ids_place(s->ids, (uintptr_t)block) : NULL;
    if (!native_go_in(s))
        return;
    if (!native_remember(s, s->ids, place, block, taken - 1, &old))
        count(&s->lost_id);
    native_go_out();
}

void native_died(void *block) {
    struct session *s = recorder_enter_again();
    const uint64_t taken = s && s->records_malloc ? native_take_from(s, block) : 0;
    if (!taken)
        return;
    usdt_free(block);
    native_bury(s, taken);
}

/* Without a session in this process, no block is known. A session is not begun here, because a
 * signal handler may lack the stack for that. */
uint64_t native_take(void *block) {
    struct session *s = recorder_enter_begun();
    return s && s->records_malloc ? native_take_from(s, block) : 0;
}

void native_settle(void *block, uint64_t taken, bool dead) {
    struct session *s = recorder_come_back();
    if (!s)
        return;
    if (dead) {
        usdt_free(block);
        native_bury(s, taken);
    } else {
        native_put_back(s, block, taken);
    }
}

/* The allocator and the program will probably use memory close to this block next. Undisturbed, the
 * CPU works ahead across several calls and waits for all their cache misses at once. With the
 * recorder's work between the calls, it would wait for each miss separately. So that memory is
 * prefetched now. */
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

/* ---- pools ------------------------------------------------------------------------------- */

/* Returns the session that may know of blocks in pools; NULL: there is none. */
static struct session *native_enter_pools(void) {
    struct session *s = recorder_enter_again();
    return s && s->records_malloc ? s : NULL;
}

void native_died_in_pool(const void *pool, void *block) {
    struct session *s = native_enter_pools();
    if (!s || !pools_may_know(&s->pools, pool, block) || !native_go_in(s))
        return;
    const uint64_t taken = pools_take(&s->pools, pool, block);
    native_go_out();
    if (!taken)
        return;
    usdt_free(block);
    native_bury(s, taken);
}

/* Returns the number of known blocks in the pool. */
static size_t native_count_in_pool(struct session *s, const void *pool) {
    if (!pools_may_know_any(&s->pools, pool) || !native_go_in(s))
        return 0;
    const size_t n = pools_count(&s->pools, pool);
    native_go_out();
    return n;
}

/* The number of blocks is read first, because other threads may keep adding to the pool. */
void native_died_with_pool(const void *pool) {
    struct session *s = native_enter_pools();
    const void *block;
    for (size_t n = s ? native_count_in_pool(s, pool) : 0; n > 0 && native_go_in(s); n--) {
        const uint64_t taken = pools_take_oldest(&s->pools, pool, &block);
        native_go_out();
        if (!taken)
            return;
        usdt_free(block);
        native_bury(s, taken);
    }
}
