/* unwind_trail.c: see unwind_trail.h. Owns the frames of the last walk; rows and steps are those of
 * unwind.c.
 *
 * Nearly all steps read the caller's return address and, where it was saved, the caller's bp. The
 * return address must always be verified. A bp matters only where some frame further out is found
 * by it, before it is restored to another value: rarely in optimised code. Steps that depend on
 * anything else are never verified: all from there inwards is walked each time. */
#include "platform/unwind_trail.h"

#include "platform/unwind_walk.h"

/* A frame that is new, and what the step from it has read. */
struct fresh {
    struct unwind_frame frame;
    uintptr_t key_at; /* where the caller's key was; 0: nowhere */
    uintptr_t bp_at;  /* where its bp was; 0: it is that of this frame */
    bool uses_bp;     /* to find the caller */
};

enum { WORDS_OF_A_STEP = 2 };

/* With room for a walk to notice that there are too many, and in front of the first for a point
 * that all walks stop at. */
static size_t points_of(size_t max) {
    return max + 2;
}

size_t unwind_trail_size(size_t max) {
    return sizeof(unwind_trail) +
           points_of(max) * (sizeof(struct unwind_point) + sizeof(struct fresh) +
                             WORDS_OF_A_STEP * sizeof(struct word));
}

/* ---- what is as it was ------------------------------------------------------------------- */

/* A word's difference from what it was. */
STACK_UNCHECKED static inline uintptr_t word_change(const struct word *word) {
    return cpu_strip_signature(stack_word(word->address)) ^ word->value;
}

/* How many of the first `n` words are what they were. */
static inline size_t trail_verify_words(const struct word *words, size_t n) {
    const struct word *word = words, *const end = words + n, *const fours = words + n / 4 * 4;
    for (; word < fours; word += 4)
        if ((word_change(word) | word_change(word + 1)) |
            (word_change(word + 2) | word_change(word + 3)))
            break;
    while (word < end && word_change(word) == 0)
        word++;
    return (size_t)(word - words);
}

/* How many points, from the outermost one, are as they were. The words of a frame are in it or
 * further out, so those of frames that are not beyond `sp` can be read. */
static inline size_t trail_verify(const unwind_trail *trail, uintptr_t sp) {
    const struct unwind_point *points = trail->points, *last = points + trail->n_points - 1;
    while (last->frame.sp < sp)
        last--;
    size_t n_words = trail_verify_words(trail->words, last->n_words);
    while (last->n_words > n_words)
        last--;
    return (size_t)(last + 1 - points);
}

/* Whether the walk has come to a frame that is known. */
static inline bool point_is(const struct unwind_point *point, const struct unwind_frame *frame) {
    return point->frame.sp == frame->sp && point->frame.key == frame->key &&
           (point->frame.bp == frame->bp || !point->needs_bp);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* A word that is never what it was, in place of one that cannot be read again. */
static const uintptr_t changing = UINTPTR_MAX;

/* Where the step from `fresh` has read a word. */
static inline uintptr_t verifiable(const struct fresh *fresh, const struct walk *walk,
                                   uintptr_t address) {
    return address >= fresh->frame.sp && address < walk->stack_high ? address
                                                                    : (uintptr_t)&changing;
}

/* One frame outwards by a common row; see step_by_row. */
static inline enum step step_noted(struct walk *walk, const struct row *row,
                                   struct unwind_frame *frame, struct fresh *fresh) {
    fresh->uses_bp = row->bits & ROW_FROM_BP;
    uintptr_t key_at = (fresh->uses_bp ? frame->bp : frame->sp) + (uintptr_t)row->offset;
    enum step step = step_by_row(&walk->view, row, frame);
    if (__builtin_expect(step == STEP_FAILED, 0)) {
        fresh->key_at = fresh->bp_at = 0;
        return step;
    }
    fresh->key_at = verifiable(fresh, walk, key_at);
    fresh->bp_at = row->bits & ROW_SAVES_BP
                       ? verifiable(fresh, walk, key_at + (uintptr_t)(row->bp_words * WORD))
                       : 0;
    return step;
}

/* Any other step without all registers. */
static __attribute__((noinline)) enum step step_uncommon_noted(struct walk *walk,
                                                               const struct row *row,
                                                               struct unwind_frame *frame,
                                                               struct fresh *fresh) {
    fresh->uses_bp = true;
    fresh->key_at = fresh->bp_at = 0;
    if (row->bits & ROW_RA_IN_LR)
        return STEP_COMPLEX; /* this walk knows no register: it has no start */
    walk->frame = *frame;
    walk->n_words = 0;
    enum step step = step_uncommon(walk, row);
    *frame = walk->frame;
    for (size_t i = 0; i < walk->n_words; i++) {
        const struct word *word = &walk->words[i];
        bool known = i < UNWIND_STEP_WORDS && step == STEP_ON;
        if (known && !fresh->key_at && cpu_strip_signature(word->value) == frame->key) {
            fresh->key_at = verifiable(fresh, walk, word->address);
        } else if (known && !fresh->bp_at && word->value == frame->bp) {
            fresh->bp_at = verifiable(fresh, walk, word->address);
        } else {
            fresh->key_at = (uintptr_t)&changing;
            break;
        }
    }
    return step;
}

/* Walks from walk->frame until a point is reached that is as it was, which STEP_ON says: then *kept
 * points remain. Else to the end of the stack. *n frames are new. */
static inline enum step trail_walk(unwind_trail *trail, struct walk *walk, size_t max, size_t *kept,
                                   size_t *n) {
    struct unwind_frame frame = walk->frame;
    const struct unwind_point *points = trail->points,
                              *point = points + trail_verify(trail, frame.sp);
    struct fresh *fresh = trail->fresh;
    enum step step;
    do {
        while (point[-1].frame.sp < frame.sp)
            point--;
        if (point_is(&point[-1], &frame)) {
            *kept = (size_t)(point - points);
            *n = (size_t)(fresh - trail->fresh);
            return STEP_ON;
        }
        if (fresh == trail->fresh + max + 1)
            return STEP_COMPLEX;
        const struct row *row = cache_row(walk->cache, frame.key, &walk->uncached);
        fresh->frame = frame;
        step = __builtin_expect(row->bits & ROW_UNCOMMON, 0)
                   ? step_uncommon_noted(walk, row, &frame, fresh)
                   : step_noted(walk, row, &frame, fresh);
        fresh++;
    } while (step == STEP_ON);
    walk->frame = frame;
    *kept = 0;
    *n = (size_t)(fresh - trail->fresh);
    return step;
}

/* Puts the new frames, of which there are `n`, in front of those that are kept. `end` is what the
 * walk came to if none are. */
static inline void trail_join(unwind_trail *trail, size_t kept, size_t n, struct unwind_frame end) {
    const struct fresh *fresh = trail->fresh + n;
    struct unwind_point *point = trail->points + kept;
    struct unwind_frame caller = kept ? point[-1].frame : end;
    bool needs_bp = kept && point[-1].needs_bp;
    struct word *word = trail->words + (kept ? point[-1].n_words : 0);
    for (; fresh-- > trail->fresh; point++) {
        if (fresh->key_at)
            *word++ = (struct word){.address = fresh->key_at, .value = caller.key};
        if (fresh->bp_at && needs_bp)
            *word++ = (struct word){.address = fresh->bp_at, .value = caller.bp};
        needs_bp = fresh->uses_bp || (needs_bp && !fresh->bp_at);
        caller = point->frame = fresh->frame;
        point->n_words = (uint32_t)(word - trail->words);
        point->needs_bp = needs_bp;
    }
    trail->n_points = kept + n;
}

/* Takes the stack without the trail, which can't be used for the next one either. */
static __attribute__((noinline)) size_t trail_take_whole(unwind_trail *trail, unwind_cache *cache,
                                                         size_t max, unsigned *flags) {
    struct unwind_start start;
    unwind_here(&start);
    uintptr_t *pcs = (uintptr_t *)trail->fresh;
    size_t n = unwind_stack(cache, &start, trail->stack_low, trail->stack_high, pcs, max, flags);
    for (size_t i = 0; i < n; i++)
        trail->points[i].frame.key = pcs[n - 1 - i];
    trail->n_points = 0;
    return n;
}

/* ---- the walk of nearly all stacks ------------------------------------------------------- */

enum { QUICK_FRAMES = 16 };

/* Whether [address, address + WORD) is in the stack and not further in than `frame`; `last` is the
 * stack's last word. */
static inline bool is_further_out(uintptr_t address, const struct unwind_frame *frame,
                                  uintptr_t last) {
    return address - frame->sp <= last - frame->sp;
}

/* A step by a common row that needs no more looking at. */
STACK_UNCHECKED static inline bool step_quickly(const struct row *row, struct unwind_frame *frame,
                                                uintptr_t last, struct fresh *fresh) {
    uintptr_t base = frame->sp;
    if ((fresh->uses_bp = row->bits & ROW_FROM_BP)) {
        base = frame->bp;
        __asm__("" : "+r"(base)); /* see step_by_row */
    }
    uintptr_t key_at = base + (uintptr_t)row->offset;
    uintptr_t cfa = key_at + (uintptr_t)row->cfa_words * WORD;
    if (__builtin_expect(
            !is_further_out(key_at, frame, last) || cfa - frame->sp - 1 >= last - frame->sp, 0))
        return false;
    fresh->frame = *frame;
    fresh->key_at = key_at;
    fresh->bp_at = 0;
    if (row->bits & ROW_SAVES_BP) {
        uintptr_t bp_at = key_at + (uintptr_t)row->bp_words * WORD;
        if (__builtin_expect(!is_further_out(bp_at, frame, last), 0))
            return false;
        fresh->bp_at = bp_at;
        frame->bp = stack_word(bp_at);
    }
    frame->key = cpu_strip_signature(stack_word(key_at));
    frame->sp = cfa;
    return true;
}

/* Where a few frames are new, and nothing about them is special. False: it takes more than this,
 * and the trail is as it was. */
static inline bool trail_take_quickly(unwind_trail *trail, const unwind_cache *cache,
                                      const struct unwind_site *site, size_t max, size_t *kept) {
    const uintptr_t last = trail->stack_high - WORD;
    struct unwind_frame frame = {.key = site->return_address, .sp = site->sp, .bp = site->bp};
    struct fresh *fresh = trail->fresh, *end = fresh + QUICK_FRAMES;
    if (frame.sp > last)
        return false;
    const struct unwind_point *point = trail->points + trail_verify(trail, frame.sp);
    for (;; fresh++) {
        while (point[-1].frame.sp < frame.sp)
            point--;
        if (point_is(&point[-1], &frame))
            break;
        const struct row *row = cache_place((unwind_cache *)cache, frame.key);
        if (__builtin_expect(row->key != frame.key, 0) &&
            (row = cache_known(cache, frame.key))->key != frame.key)
            return false;
        if (__builtin_expect(row->bits & ROW_UNCOMMON || fresh == end ||
                                 !step_quickly(row, &frame, last, fresh) || !frame.key,
                             0))
            return false;
    }
    *kept = (size_t)(point - trail->points);
    size_t n = (size_t)(fresh - trail->fresh);
    if (__builtin_expect(*kept + n > max, 0))
        return false;
    trail_join(trail, *kept, n, frame);
    return true;
}

/* ---- either ------------------------------------------------------------------------------ */

/* What is known is of another stack, or by other rows. */
static void trail_reset(unwind_trail *trail, const unwind_cache *cache, uintptr_t stack_low,
                        uintptr_t stack_high, size_t max) {
    trail->points = (struct unwind_point *)trail->memory + 1;
    trail->points[-1] = (struct unwind_point){.frame.sp = UINTPTR_MAX};
    trail->words = (struct word *)(trail->points + points_of(max) - 1);
    trail->fresh = (struct fresh *)(trail->words + WORDS_OF_A_STEP * points_of(max));
    trail->n_points = 0;
    trail->stack_low = stack_low;
    trail->stack_high = stack_high;
    trail->flushes = cache->flushes;
}

static __attribute__((noinline)) size_t trail_take(unwind_trail *trail, unwind_cache *cache,
                                                   const struct unwind_site *site,
                                                   uintptr_t stack_low, uintptr_t stack_high,
                                                   size_t max, size_t *kept, unsigned *flags) {
    struct walk walk; /* is large, and little of it is used */
    enum step step;
    size_t n;
    *kept = 0;
    if (trail->stack_low != stack_low || trail->stack_high != stack_high ||
        trail->flushes != cache->flushes || !trail->fresh)
        trail_reset(trail, cache, stack_low, stack_high, max);
    if (site->sp - stack_low >= stack_high - stack_low)
        return trail_take_whole(trail, cache, max, flags);
    walk.cache = cache;
    walk.start = NULL;
    walk.stack_low = stack_low;
    walk.stack_high = stack_high;
    walk.frame = (struct unwind_frame){.key = site->return_address, .sp = site->sp, .bp = site->bp};
    walk.flags = 0;
    walk_look_at(&walk, site->sp);
    step = trail_walk(trail, &walk, max, kept, &n);
    if (__builtin_expect(step == STEP_COMPLEX || *kept + n > max, 0)) {
        *kept = 0;
        return trail_take_whole(trail, cache, max, flags);
    }
    if (step != STEP_ON)
        trail->flags = step == STEP_FAILED ? UNWIND_FAILED : 0;
    trail_join(trail, *kept, n, walk.frame);
    *flags = trail->flags;
    return trail->n_points;
}

size_t unwind_trail_take(unwind_trail *trail, unwind_cache *cache, const struct unwind_site *site,
                         uintptr_t stack_low, uintptr_t stack_high, size_t max, size_t *kept,
                         unsigned *flags) {
    bool same = trail->stack_low == stack_low && trail->stack_high == stack_high &&
                trail->flushes == cache->flushes && trail->n_points > 0;
    if (__builtin_expect(same && site->sp - stack_low < stack_high - stack_low &&
                             trail_take_quickly(trail, cache, site, max, kept),
                         1)) {
        *flags = trail->flags;
        return trail->n_points;
    }
    return trail_take(trail, cache, site, stack_low, stack_high, max, kept, flags);
}
