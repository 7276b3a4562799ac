/* dense.c: see dense.h. This is the hot path of recording everything. */
#include "record/dense.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "platform/unwind_trail_walk.h"
#include "record/calls.h"
#include "record/ids.h"
#include "trace/writer_stream.h"

/* A bitmap of one word that holds every hash. */
static const struct { alignas(64) uint64_t bits; } every_address = {.bits = UINT64_MAX};
enum { HASH_SHIFT_OF_ONE_WORD = 64 - 6 };

bool dense_start(struct session *s, memprof_filter *filter) {
    s->ids = memory_alloc(&s->memory, sizeof *s->ids);
    if (!s->ids)
        return false;
    ids_init(s->ids, &s->memory, next_is_glibc());
    filter->bits = (const char *)&every_address + HASH_SHIFT_OF_ONE_WORD;
    return true;
}

/* ---- time -------------------------------------------------------------------------------- */

/* How often to look whether modules are gone that were unloaded without dlclose; µs. */
#define MODULES_INTERVAL 4096

static __attribute__((noinline)) void dense_check_modules(struct domain *d, uint32_t epoch) {
    unwind_cache_check(d->unwind);
    domain_renew_codes(d, epoch);
}

static __attribute__((noinline)) void dense_read_clock(struct session *s, struct domain *d,
                                                       uint64_t cycles) {
    uint64_t before = d->now;
    session_read_clock(s, d, cycles);
    if (before / MODULES_INTERVAL != d->now / MODULES_INTERVAL)
        dense_check_modules(d, code_epoch());
    session_sweep(s, d->now);
}

/* A time that was right a tenth of a millisecond ago at most, or where blocks are sampled some
 * microseconds ago: the clock is the dearest part of a free, and traces of everything become half
 * as large where they are compressed if their times change less often. */
static inline uint64_t dense_now(struct session *s, struct domain *d) {
    uint64_t cycles = cpu_cycles();
    if (session_clock_is_old(d, cycles, d->clock_lasts))
        dense_read_clock(s, d, cycles);
    return session_now_nearly(s, d);
}

/* Blocks of which a few are what a program holds at its peak: 32 KB. */
#define LARGE_WORDS ((uint64_t)1 << 12)

/* The birth of a large block is read from the clock, and whatever follows is later: as long as a
 * time stays what it was, what is freed meanwhile would never have been live. */
static __attribute__((noinline)) uint64_t dense_now_large(struct session *s, struct domain *d) {
    dense_read_clock(s, d, cpu_cycles());
    const uint64_t now = session_now_nearly(s, d);
    session_pass(s, d);
    return now;
}

/* ---- in and out -------------------------------------------------------------------------- */

static void count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* The calling thread's domain, and nobody else at it; NULL: the event is dropped. */
static inline struct domain *dense_enter(struct session *s) {
    if (__builtin_expect(self.sampler.busy, 0)) {
        count(&s->lost_busy);
        return NULL;
    }
    self.sampler.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    struct domain *d = self.domain ? self.domain : session_domain(s);
    if (__builtin_expect(d != NULL, 1)) {
        domain_enter(d);
        return d;
    }
    self.sampler.busy = 0;
    count(&s->lost_domain);
    return NULL;
}

static inline void dense_leave(struct domain *d) {
    domain_leave(d);
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = 0;
}

/* What dense_enter does where the thread has its domain, its time is right, and nobody else wants
 * anything. If not, says so, and the thread is where it was. */
static inline __attribute__((always_inline)) bool dense_enter_again(const struct session *s,
                                                                    struct domain *d) {
    if (__builtin_expect(self.sampler.busy, 0))
        return false;
    self.sampler.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(domain_enter_quickly(d) &&
                             !session_clock_is_old(d, cpu_cycles(), d->clock_lasts) &&
                             atomic_load_explicit(&s->latest, memory_order_relaxed) <= d->now,
                         1))
        return true;
    dense_leave(d);
    return false;
}

/* ---- call stacks ------------------------------------------------------------------------- */

/* A stack as the writer wants it. */
struct dense_stack {
    uint64_t *codes;
    size_t n;
    size_t common; /* so many of them, at least, are those of the stack before */
};

/* The codes of the frames from `first` on. Marks frames whose codes are their addresses. */
static __attribute__((noinline)) void dense_encode_slowly(struct session *s, struct domain *d,
                                                          size_t first, size_t n) {
    for (size_t i = first; i < n; i++) {
        const uintptr_t pc = unwind_trail_pc(d->trail, i);
        d->frames[1 + i] = code_remembered(&s->codes, &d->codes, pc);
        if (d->frames[1 + i] == pc)
            unwind_cache_mark(d->unwind, pc);
    }
}

/* The same without marks; calls nothing where all are remembered. */
static inline void dense_encode(struct session *s, struct domain *d, size_t first, size_t n) {
    const struct unwind_point *point = d->trail->points + first;
    uint64_t *const codes = d->frames + 1, *code = codes + first, *const end = codes + n;
    for (; code < end; code++, point++)
        if (__builtin_expect(!code_is_of(*code = code_recall(&d->codes, point->key), point->key),
                             0)) {
            dense_encode_slowly(s, d, (size_t)(code - codes), n);
            break;
        }
}

/* How many codes of a stack of `n` frames, of which `kept` are as they were, stand as they should:
 * the innermost of either stack bears a type. */
static inline size_t dense_common(const struct domain *d, size_t kept, size_t n, unsigned type) {
    const size_t before = d->n_frames, common = kept < before ? kept : before;
    const bool at_end = common == n || common == before;
    return common - (at_end && common > 0 && !(n == before && type == d->type));
}

/* A stack that is not whole, or not whole in the trace: a remark goes in front of the first frame
 * that is kept. What it shares with the stack before, if that has the same remark, shows when they
 * are compared: where frames were dropped, the trail's do not say it. */
static __attribute__((noinline)) struct dense_stack
dense_stack_remarked(struct session *s, struct domain *d, size_t n, unsigned flags, unsigned type) {
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
    d->n_frames = 0; /* these are not the codes of whole stacks */
    d->n_remarked = n;
    return (struct dense_stack){.codes = codes, .n = 1 + n, .common = common};
}

/* How many of `n` frames are not the recorder's own, which stand innermost. */
static __attribute__((noinline)) size_t dense_strip_own(const struct session *s,
                                                        const struct domain *d, size_t n) {
    while (n > 0 && session_is_own(s, unwind_trail_pc(d->trail, n - 1)))
        n--;
    return n;
}

/* Takes the stack, whatever it is. `d->frames` holds the codes of all frames from index 1 on. */
static inline struct dense_stack dense_stack_take(struct session *s, struct domain *d,
                                                  const struct unwind_site *site, unsigned type) {
    uint32_t epoch = code_epoch();
    if (__builtin_expect(epoch != d->codes.epoch, 0))
        dense_check_modules(d, epoch);
    const struct unwind_taken taken = unwind_trail_take(d->trail, site);
    const unsigned flags = unwind_trail_flags(d->trail);
    size_t n = taken.n;
    if (__builtin_expect(flags != 0 || n - 1 >= s->depth, 0)) {
        if (flags & UNWIND_TOOK_ALL)
            n = dense_strip_own(s, d, n);
        if (n - 1 >= s->depth || flags & (UNWIND_CUT | UNWIND_FAILED))
            return dense_stack_remarked(s, d, n, flags, type);
    }
    const size_t common = dense_common(d, taken.kept, n, type);
    dense_encode(s, d, common, n);
    d->frames[n] = code_with_type(d->frames[n], type);
    d->n_frames = n;
    d->type = type;
    return (struct dense_stack){.codes = d->frames + 1, .n = n, .common = common};
}

/* The same in line, where nothing is special. No frames: something is. */
static inline __attribute__((always_inline)) struct dense_stack
dense_stack_quickly(struct session *s, struct domain *d, uintptr_t return_address, uintptr_t sp,
                    unsigned type) {
    static const struct dense_stack none = {0};
    unwind_trail *const trail = d->trail;
    uint64_t *const codes = d->frames + 1;
    bool marked;
    if (__builtin_expect(!trail_is_quick(trail, sp) || code_epoch() != d->codes.epoch, 0))
        return none;
    const struct unwind_taken taken = trail_take_plainly(trail, return_address, sp, codes, &marked);
    if (__builtin_expect(taken.n == 0, 0))
        return none;
    if (__builtin_expect(taken.n > s->depth || taken.kept > d->n_frames, 0)) {
        domain_forget_stack(d); /* the next stack is the same to the trail */
        return none;
    }
    size_t common = taken.kept;
    if (common == taken.n || common == d->n_frames) {
        common = dense_common(d, common, taken.n, type);
        codes[common] = code_without_type(codes[common]);
    }
    if (__builtin_expect(!marked, 0))
        dense_encode_slowly(s, d, common, taken.n);
    codes[taken.n - 1] = code_with_type(codes[taken.n - 1], type);
    d->n_frames = taken.n;
    d->type = type;
    return (struct dense_stack){.codes = codes, .n = taken.n, .common = common};
}

/* ---- events ------------------------------------------------------------------------------ */

static inline void dense_collect_in(struct session *s, struct domain *d, uint64_t taken) {
    memtrace_status status = memtrace_stream_collect(d->stream, dense_now(s, d), taken - 1);
    if (__builtin_expect(status != MEMTRACE_OK, 0))
        session_note(s, status);
}

/* Nobody will know the block's id: nor shall that of an earlier one be taken for it. */
static __attribute__((noinline)) void dense_miss(struct session *s, void *block) {
    ids_take(s->ids, (uintptr_t)block);
}

/* An earlier block at the address has died unseen. */
static __attribute__((noinline)) void dense_imply(struct session *s, struct domain *d,
                                                  uint64_t taken) {
    count(&s->implied_deaths);
    dense_collect_in(s, d, taken);
}

/* A block whose birth is in the trace: keeps its id. */
static inline void dense_keep(struct session *s, struct domain *d, uint32_t *place, void *block,
                              uint64_t id) {
    uint64_t old;
    if (!ids_put_at(s->ids, place, (uintptr_t)block, id, &old))
        count(&s->lost_id);
    if (__builtin_expect(old != 0, 0))
        dense_imply(s, d, old);
}

static __attribute__((noinline)) void dense_fail(struct session *s, struct domain *d, void *block,
                                                 memtrace_status status) {
    session_note(s, status);
    domain_forget_stack(d);
    dense_miss(s, block);
}

/* Writes a birth, whatever the stack is like. */
static __attribute__((noinline)) memtrace_status
dense_write(struct session *s, struct domain *d, uint64_t now, uint64_t words, uint64_t n_samples,
            unsigned type, const struct unwind_site *site, uint64_t *id) {
    const struct dense_stack stack = dense_stack_take(s, d, site, type);
    return stream_alloc_block(d->stream, now, words, n_samples, stack.codes, stack.n, stack.common,
                              id);
}

void dense_born(struct session *s, void *block, uint64_t words, uint64_t n_samples, unsigned type,
                const struct unwind_site *site) {
    uint64_t id;
    struct domain *d = dense_enter(s);
    if (!d) {
        dense_miss(s, block);
        return;
    }
    uint64_t now = words >= LARGE_WORDS ? dense_now_large(s, d) : dense_now(s, d);
    const memtrace_status status = dense_write(s, d, now, words, n_samples, type, site, &id);
    if (status != MEMTRACE_OK)
        dense_fail(s, d, block, status);
    else
        dense_keep(s, d, ids_place(s->ids, (uintptr_t)block), block, id);
    dense_leave(d);
}

static inline __attribute__((always_inline)) void
dense_born_quickly(void *block, uint64_t words, uint64_t n_samples, unsigned type,
                   uintptr_t return_address, uintptr_t sp, uintptr_t bp) {
    struct session *const s = self.owner;
    struct domain *const d = self.domain;
    uint64_t id;
    uint32_t *place = ids_place(s->ids, (uintptr_t)block);
    __builtin_prefetch(place, 1); /* of any address */
    cpu_prefetch_around(block);   /* see dense_died_again */
    if (__builtin_expect(words > STREAM_EASY_WORDS || !dense_enter_again(s, d), 0)) {
        const struct unwind_site site = {return_address, sp, bp};
        dense_born(s, block, words, n_samples, type, &site);
        return;
    }
    const struct dense_stack stack = dense_stack_quickly(s, d, return_address, sp, type);
    memtrace_status status;
    if (__builtin_expect(stack.n > 0, 1)) {
        status = stream_alloc_block(d->stream, d->now, words, n_samples, stack.codes, stack.n,
                                    stack.common, &id);
    } else {
        const struct unwind_site site = {return_address, sp, bp};
        status = dense_write(s, d, d->now, words, n_samples, type, &site, &id);
    }
    if (__builtin_expect(status != MEMTRACE_OK, 0))
        dense_fail(s, d, block, status);
    else
        dense_keep(s, d, place, block, id);
    dense_leave(d);
}

void dense_born_again(void *block, uint64_t words, unsigned type, uintptr_t return_address,
                      uintptr_t sp, uintptr_t bp) {
    dense_born_quickly(block, words, words, type, return_address, sp, bp);
}

void dense_sampled_again(void *block, uint64_t words, uint64_t n_samples, unsigned type,
                         const struct unwind_site *site) {
    dense_born_quickly(block, words, n_samples, type, site->return_address, site->sp, site->bp);
}

uint64_t dense_take(struct session *s, void *block) {
    return ids_take(s->ids, (uintptr_t)block);
}

void dense_bury(struct session *s, uint64_t taken) {
    struct domain *d = dense_enter(s);
    if (!d)
        return;
    dense_collect_in(s, d, taken);
    dense_leave(d);
}

void dense_untake(struct session *s, void *block, uint64_t taken) {
    uint64_t old;
    if (!ids_put(s->ids, (uintptr_t)block, taken - 1, &old))
        count(&s->lost_id);
}

void dense_died(struct session *s, void *block) {
    uint64_t taken = dense_take(s, block);
    if (taken)
        dense_bury(s, taken);
}

/* Next, allocator and program will mostly be about blocks close to this one. Undisturbed, the CPU
 * works ahead across several calls and waits for all that these miss at once; with our work between
 * them it would wait for each. So their memory is asked for while we are at it. */
void dense_died_again(void *block) {
    struct session *const s = self.owner;
    struct domain *const d = self.domain;
    cpu_prefetch_around(block);
    const uint64_t taken = dense_take(s, block);
    if (!taken)
        return;
    if (__builtin_expect(dense_enter_again(s, d), 1)) {
        const bool done = stream_collect_quickly(d->stream, d->now, taken);
        dense_leave(d);
        if (__builtin_expect(done, 1))
            return;
    }
    dense_bury(s, taken);
}
