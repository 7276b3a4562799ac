/* backtrace.h: the call stack of a block of malloc's, in codes, as the trace wants it. It is taken
 * by what differs from the one before, of the same thread. */
#ifndef RECORD_BACKTRACE_H
#define RECORD_BACKTRACE_H

#include "platform/unwind_trail_walk.h"
#include "record/session.h"

struct backtrace {
    const uint64_t *codes; /* outermost first; the domain's, until the next one is taken */
    size_t n;
    size_t common; /* so many of them, at least, are those of the backtrace before */
};

/* Takes the stack of the calling thread, which owns the domain, from the site on, whatever it is
 * like: at most the session's depth, and a remark in front if there is more. `type` is that of
 * code_with_type. It is not noticed that modules have gone other than by dlclose: see
 * domain_check_modules. */
struct backtrace backtrace_take(struct session *s, struct domain *d, const struct unwind_site *site,
                                unsigned type);

/* Encodes the frames of the trail from `first` to `n`, and marks those whose codes are their
 * addresses. */
void backtrace_encode_slow(struct session *s, struct domain *d, size_t first, size_t n);

/* How many codes of a stack of `n` frames, of which `kept` are as they were, stand as they should:
 * the innermost of either stack bears a type. */
static inline size_t backtrace_common(const struct domain *d, size_t kept, size_t n,
                                      unsigned type) {
    const size_t before = d->n_frames, common = kept < before ? kept : before;
    const bool at_end = common == n || common == before;
    return common - (at_end && common > 0 && !(n == before && type == d->type));
}

/* backtrace_take in line, where nothing is special. No frames: something is. */
static inline __attribute__((always_inline)) struct backtrace
backtrace_take_fast(struct session *s, struct domain *d, uintptr_t return_address, uintptr_t sp,
                    unsigned type) {
    static const struct backtrace none = {0};
    unwind_trail *const trail = d->trail;
    uint64_t *const codes = d->frames + 1;
    bool marked;
    if (__builtin_expect(!trail_is_quick(trail, sp) || code_epoch() != d->codes.epoch, 0))
        return none;
    const struct unwind_taken taken = trail_take_fast(trail, return_address, sp, codes, &marked);
    if (__builtin_expect(taken.n == 0, 0))
        return none;
    if (__builtin_expect(taken.n > s->depth || taken.kept > d->n_frames, 0)) {
        domain_forget_stack(d); /* the next stack is the same to the trail */
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

#endif
