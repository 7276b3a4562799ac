/* backtrace.c: a stack from the unwinder's trail (platform/unwind_trail.h) to the codes that the
 * writer takes: between native.c, which asks for it, and trace/writer. Only the frames that differ
 * from the stack before are named (code.h), and the codes stay in the domain. A stack that is not
 * whole gets a remark in front that says why. */
#include "record/backtrace.h"

#include "record/runtime.h"

void backtrace_encode_slow(struct session *s, struct domain *d, size_t first, size_t n) {
    for (size_t i = first; i < n; i++) {
        const uintptr_t pc = unwind_trail_pc(d->trail, i);
        d->frames[1 + i] = code_remembered(&s->codes, &d->codes, pc);
        if (d->frames[1 + i] == pc)
            unwind_cache_mark(d->unwind, pc);
    }
}

/* The same without marks; calls nothing where all are remembered. */
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

/* A stack that is not whole, or not whole in the trace: a remark goes in front of the first frame
 * that is kept. What it shares with the stack before, if that has the same remark, shows when they
 * are compared: where frames were dropped, the trail's do not say it. */
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
    d->n_frames = 0; /* these are not the codes of whole stacks */
    d->n_remarked = n;
    return (struct backtrace){.codes = codes, .n = 1 + n, .common = common};
}

/* How many of `n` frames are not the recorder's own, which stand innermost. */
static __attribute__((noinline)) size_t backtrace_strip_own(const struct session *s,
                                                            const struct domain *d, size_t n) {
    while (n > 0 && session_is_own(s, unwind_trail_pc(d->trail, n - 1)))
        n--;
    return n;
}

/* The language runtime puts its frames among the native ones. */
static __attribute__((noinline)) struct backtrace
backtrace_spliced(struct session *s, struct domain *d, size_t n, unsigned type) {
    const unsigned flags = unwind_trail_flags(d->trail);
    const struct runtime_splice native = {.trail = d->trail,
                                          .n = n,
                                          .flags = flags,
                                          .has_places = !(flags & UNWIND_TOOK_ALL),
                                          .type = type,
                                          .codes = &s->codes,
                                          .cache = &d->codes};
    if (d->n_remarked == 0)
        s->runtime->domain_forget(d->runtime);
    const struct runtime_stack stack = s->runtime->splice(d->runtime, &native);
    d->n_frames = 0; /* none of these may be found again */
    d->n_remarked = 1;
    return (struct backtrace){.codes = stack.codes, .n = stack.n, .common = stack.common};
}

struct backtrace backtrace_take(struct session *s, struct domain *d, const struct unwind_site *site,
                                unsigned type) {
    if (__builtin_expect(code_epoch() != d->codes.epoch, 0))
        domain_check_modules(d);
    const struct unwind_taken taken = unwind_trail_take(d->trail, site);
    const unsigned flags = unwind_trail_flags(d->trail);
    size_t n = taken.n;
    if (s->splices)
        return backtrace_spliced(s, d, flags & UNWIND_TOOK_ALL ? backtrace_strip_own(s, d, n) : n,
                                 type);
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
