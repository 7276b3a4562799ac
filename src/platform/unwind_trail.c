/* unwind_trail.c: keeps the frames of the last walk and finds out which of them still hold. Rows
 * and steps are those of unwind.c.
 * Nearly all steps read the caller's return address and, where it was saved, the caller's bp. The
 * return address must always be verified. A bp matters only if it is used to find some frame
 * further out before another value is restored to it, which is rare in optimized code. So the bp is
 * at first not even read. Steps that depend on anything else are never verified: the walk always
 * repeats them and all steps further in. */
#include "platform/unwind_trail.h"

#include <stddef.h>
#include <string.h>

#include "base/inline.h"
#include "platform/unwind_trail_walk.h"

/* Returns how many points to allocate: one before the first, which no walk passes, and one after
 * the last. */
static size_t points_of(size_t max) {
    return max + 2;
}

size_t unwind_trail_size(size_t max) {
    return sizeof(unwind_trail) +
           points_of(max) * (sizeof(struct unwind_point) + sizeof(struct point_data) +
                             sizeof(struct fresh) + STEP_WORDS * sizeof(struct word));
}

/* ---- what is unchanged ------------------------------------------------------------------- */

STACK_UNCHECKED static inline bool word_persists(const struct word *word) {
    return cpu_strip_signature(stack_word(word->address)) == word->value;
}

/* Returns how many of the first `n` words are unchanged. Overwrites words[n] as a sentinel. */
static inline size_t words_verify(struct word *const words, size_t n) {
    words[n] = (struct word){.address = (uintptr_t)&changing, .value = ~changing};
    for (const struct word *word = words;; word += 4) {
        if (!word_persists(word))
            return (size_t)(word - words);
        if (!word_persists(word + 1))
            return (size_t)(word + 1 - words);
        if (!word_persists(word + 2))
            return (size_t)(word + 2 - words);
        if (!word_persists(word + 3))
            return (size_t)(word + 3 - words);
    }
}

struct unwind_point *trail_verify_words(const unwind_trail *trail, struct unwind_point *end) {
    const struct point_data *data = trail->point_data + (end - trail->points);
    size_t n_words = words_verify(trail->words, data[-1].needs.n_words);
    for (; end > trail->points && data[-1].needs.n_words > n_words; data--)
        end--;
    return end;
}

/* Returns whether the walk has reached this point of the trail. */
static inline bool point_is(const unwind_trail *trail, const struct unwind_point *point,
                            const struct unwind_frame *frame) {
    return point->sp == frame->sp && point->key == frame->key &&
           (!unwind_needs_of(trail, point).bp ||
            trail->point_data[point - trail->points].bp == frame->bp);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* Returns the address of a word that the step from `fresh` has read, or that of `changing` if the
 * word cannot be read again safely. */
static inline uintptr_t verifiable(const struct fresh *fresh, const struct walk *walk,
                                   uintptr_t address) {
    return address >= fresh->frame.sp && address < walk->stack_high ? address
                                                                    : (uintptr_t)&changing;
}

/* Steps one frame outwards by a common row and notes what was read; see walk_step_by_row. */
static inline enum step step_noted(struct walk *walk, const struct row *row,
                                   struct unwind_frame *frame, struct fresh *fresh) {
    fresh->uses_bp = row->bits & ROW_FROM_BP;
    uintptr_t key_at = (fresh->uses_bp ? frame->bp : frame->sp) + (uintptr_t)row->offset;
    enum step step = walk_step_by_row(&walk->view, row, frame);
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

/* Makes any other step that does not need all registers, and notes what was read. */
static __attribute__((noinline)) enum step step_uncommon_noted(struct walk *walk,
                                                               const struct row *row,
                                                               struct unwind_frame *frame,
                                                               struct fresh *fresh) {
    fresh->uses_bp = (row->bits & ROW_KIND) != ROW_END;
    fresh->key_at = fresh->bp_at = 0;
    if (row->bits & ROW_RA_IN_LR)
        return STEP_COMPLEX; /* this walk has no start and so knows no registers */
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

/* Walks outwards from walk->frame until it reaches a point that is unchanged. Then it returns
 * STEP_ON, and the *kept outermost points remain. Otherwise it walks to the end of the stack. *n is
 * the number of new frames. */
static inline enum step trail_walk(unwind_trail *trail, struct walk *walk, size_t max, size_t *kept,
                                   size_t *n) {
    struct unwind_frame frame = walk->frame;
    const struct unwind_point *points = trail->points, *point = trail_verify(trail, frame.sp);
    struct fresh *fresh = trail->fresh;
    enum step step;
    do {
        while (point[-1].sp < frame.sp)
            point--;
        if (point_is(trail, &point[-1], &frame)) {
            *kept = (size_t)(point - points);
            *n = (size_t)(fresh - trail->fresh);
            return STEP_ON;
        }
        if (fresh == trail->fresh + max + 1)
            return STEP_COMPLEX;
        const struct row *row = unwind_cache_row(walk->cache, frame.key, &walk->uncached);
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

/* Notes whether the new frames, which are further in than the `kept` points, have any needs. */
static inline void trail_note_needs(unwind_trail *trail, size_t kept, bool any) {
    if (__builtin_expect(any && !trail->needs, 0))
        for (size_t i = 0; i < kept; i++)
            trail->point_data[i].needs = (struct needs){0};
    trail->needs = any || (kept && trail->needs);
}

/* Adds `n` new frames to the trail, further in than the `kept` points. If none are kept, `end` is
 * the frame at which the walk ended. */
static void trail_join(unwind_trail *trail, size_t kept, size_t n, struct unwind_frame end) {
    const struct fresh *fresh = trail->fresh + n;
    struct unwind_point *point = trail->points + kept;
    struct point_data *data = trail->point_data + kept;
    struct unwind_frame caller =
        kept ? (struct unwind_frame){point[-1].key, point[-1].sp, data[-1].bp} : end;
    struct needs needs = kept ? unwind_needs_of(trail, point - 1) : (struct needs){0};
    struct word *word = trail->words + needs.n_words;
    bool is_point = kept > 0, in_stack = true, any = false;
    for (; fresh-- > trail->fresh; point++, data++, is_point = true) {
        bool implied = KEY_BELOW_SP && is_point && fresh->key_at == caller.sp - WORD;
        if (fresh->key_at && !implied)
            *word++ = (struct word){.address = fresh->key_at, .value = caller.key};
        if (fresh->bp_at && needs.bp)
            *word++ = (struct word){.address = fresh->bp_at, .value = caller.bp};
        needs.bp = fresh->uses_bp || (needs.bp && !fresh->bp_at);
        needs.n_words = (uint32_t)(word - trail->words);
        any |= needs.bp || needs.n_words;
        in_stack &= fresh->frame.sp <= (is_point ? caller.sp : trail->stack_high);
        caller = fresh->frame;
        *point = (struct unwind_point){.key = caller.key, .sp = caller.sp};
        *data = (struct point_data){.bp = caller.bp, .needs = needs};
    }
    trail->n_points = in_stack ? kept + n : 0; /* others may be unmapped at the next walk */
    trail_note_needs(trail, kept, any);
    trail->by_bp = needs.bp;
}

/* ---- the fast walk for most stacks ------------------------------------------------------- */

/* Returns whether [address, address + WORD) is in the stack and not further in than `sp`. `last` is
 * the address of the stack's last word. */
static inline bool is_further_out(uintptr_t address, uintptr_t sp, uintptr_t last) {
    return address - sp <= last - sp;
}

/* Steps by a common row, without stack views: the bounds of the stack suffice. Returns false if the
 * step needs more. */
STACK_UNCHECKED static inline bool step_fast(const struct row *row, struct unwind_frame *frame,
                                             uintptr_t last, struct fresh *fresh) {
    const uintptr_t sp = frame->sp;
    uintptr_t base = sp;
    if ((fresh->uses_bp = row->bits & ROW_FROM_BP)) {
        base = frame->bp;
        __asm__("" : "+r"(base)); /* forces a branch: see walk_step_by_row */
    }
    const uintptr_t key_at = base + (uintptr_t)row->offset;
    const uintptr_t cfa = key_at + (uintptr_t)row->cfa_words * WORD;
    if (__builtin_expect(!is_further_out(key_at, sp, last) || cfa - sp - 1 >= last - sp, 0))
        return false;
    fresh->frame = *frame;
    fresh->key_at = key_at;
    fresh->bp_at = 0;
    if (row->bits & ROW_SAVES_BP) {
        const uintptr_t bp_at = key_at + (uintptr_t)row->bp_words * WORD;
        if (__builtin_expect(!is_further_out(bp_at, sp, last), 0))
            return false;
        fresh->bp_at = bp_at;
        frame->bp = stack_word(bp_at);
    }
    frame->key = cpu_strip_signature(stack_word(key_at));
    frame->sp = cfa;
    return true;
}

/* Steps out of a function that has a frame pointer. */
STACK_UNCHECKED static inline bool step_framed(struct unwind_frame *frame, uintptr_t last,
                                               struct fresh *fresh) {
    const uintptr_t bp = frame->bp, cfa = bp + 2 * WORD;
    if (__builtin_expect(bp < frame->sp || !is_further_out(cfa, frame->sp, last), 0))
        return false;
    *fresh = (struct fresh){.frame = *frame, .key_at = bp + WORD, .bp_at = bp, .uses_bp = true};
    *frame = (struct unwind_frame){
        .key = cpu_strip_signature(stack_word(bp + WORD)), .sp = cfa, .bp = stack_word(bp)};
    return true;
}

static __attribute__((noinline)) bool step_on_by_row(unwind_cache *cache,
                                                     struct unwind_frame *frame, uintptr_t last,
                                                     struct fresh *fresh) {
    const uintptr_t key = frame->key;
    const struct row *row = unwind_cache_known(cache, key);
    if (row->key != key || row->bits & ROW_UNCOMMON)
        return false;
    if (row->bits == (ROW_FROM_BP | ROW_SAVES_BP) && row->offset == WORD && row->cfa_words == 1 &&
        row->bp_words == -1 && !(key >> FAST_KEY_BITS))
        *unwind_cache_fast(cache, key) = unwind_fast_framed(key);
    return step_fast(row, frame, last, fresh);
}

/* Steps one frame outwards. Returns false if the step needs more than this, or if the stack
 * ends. */
static inline bool step_on(unwind_cache *cache, struct unwind_frame *frame, uintptr_t last,
                           struct fresh *fresh) {
    const bool framed = *unwind_cache_fast(cache, frame->key) == unwind_fast_framed(frame->key);
    return (framed ? step_framed(frame, last, fresh) : step_on_by_row(cache, frame, last, fresh)) &&
           frame->key;
}

/* Adds `n` new frames further in than the `kept` points, as trail_join does. All frames lie in the
 * stack, in order, and `kept` is not 0. */
static inline void trail_join_fast(unwind_trail *trail, size_t kept, size_t n) {
    struct unwind_point *point = trail->points + kept;
    struct point_data *data = trail->point_data + kept;
    struct needs needs = unwind_needs_of(trail, point - 1);
    struct word *word = trail->words + needs.n_words;
    uintptr_t key = point[-1].key, sp = point[-1].sp, bp = data[-1].bp;
    bool any = false;
    for (const struct fresh *fresh = trail->fresh + n; fresh-- > trail->fresh; point++, data++) {
        if (!KEY_BELOW_SP || __builtin_expect(fresh->key_at != sp - WORD, 0))
            *word++ = (struct word){.address = fresh->key_at, .value = key};
        if (needs.bp && fresh->bp_at)
            *word++ = (struct word){.address = fresh->bp_at, .value = bp};
        needs.bp = fresh->uses_bp || (needs.bp && !fresh->bp_at);
        needs.n_words = (uint32_t)(word - trail->words);
        any |= needs.bp || needs.n_words;
        point->key = key = fresh->frame.key;
        __asm__("" ::: "memory"); /* a single load of both, just stored apart, would stall */
        point->sp = sp = fresh->frame.sp;
        data->bp = bp = fresh->frame.bp;
        data->needs = needs;
    }
    trail->n_points = kept + n;
    trail_note_needs(trail, kept, any);
    trail->by_bp = needs.bp;
}

/* Takes a stack with a few new frames and no special steps. Returns no frames if the stack needs
 * more than this; the trail is then unchanged. */
static ALWAYS_INLINE struct unwind_taken trail_take_compared(unwind_trail *trail,
                                                             const struct unwind_site *site) {
    static const struct unwind_taken none = {0};
    const uintptr_t last = trail->stack_high - WORD;
    struct unwind_frame frame = {.key = site->return_address, .sp = site->sp, .bp = site->bp};
    struct fresh *fresh = trail->fresh, *const end = fresh + FAST_FRAMES;
    if (frame.sp > last)
        return none;
    const struct unwind_point *point = trail_verify(trail, frame.sp);
    for (;; fresh++) {
        while (point[-1].sp < frame.sp)
            point--;
        if (point_is(trail, &point[-1], &frame))
            break;
        if (__builtin_expect(fresh == end || !step_on(trail->cache, &frame, last, fresh), 0))
            return none;
    }
    const size_t kept = (size_t)(point - trail->points), n = (size_t)(fresh - trail->fresh);
    if (__builtin_expect(kept + n > trail->max, 0))
        return none;
    trail_join_fast(trail, kept, n);
    return (struct unwind_taken){.n = kept + n, .kept = kept};
}

/* ---- the fast walk where no bp is needed ------------------------------------------------- */

fast_step unwind_fast_learn(unwind_cache *cache, uintptr_t key) {
    const struct row *row = unwind_cache_known(cache, key);
    if (row->key != key || (row->bits & ~ROW_SAVES_BP) || row->cfa_words != 1 ||
        row->offset % WORD || (uint32_t)row->offset >> FAST_BYTES_BITS || key >> FAST_KEY_BITS)
        return 0;
    return *unwind_cache_fast(cache, key) =
               (uint64_t)key << FAST_BYTES_BITS | (uint32_t)row->offset;
}

void unwind_cache_mark(unwind_cache *cache, uintptr_t key) {
    fast_step *step = unwind_cache_fast(cache, key);
    if (*step >> FAST_BYTES_BITS == key)
        *step |= FAST_MARK;
}

/* ---- entry points ------------------------------------------------------------------------ */

void unwind_trail_init(unwind_trail *trail, unwind_cache *cache, size_t max) {
    trail->points = (struct unwind_point *)trail->memory + 1;
    trail->points[-1] = (struct unwind_point){.sp = UINTPTR_MAX};
    trail->point_data = (struct point_data *)(trail->points + points_of(max) - 1);
    trail->words = (struct word *)(trail->point_data + points_of(max));
    trail->fresh = (struct fresh *)(trail->words + STEP_WORDS * points_of(max));
    trail->cache = cache;
    trail->max = max;
    trail->flushes = cache->flushes;
}

void unwind_trail_set_stack(unwind_trail *trail, uintptr_t stack_low, uintptr_t stack_high) {
    trail->stack_low = stack_low;
    trail->stack_high = stack_high;
    trail->n_points = 0;
    trail->fast = false;
}

/* Takes the stack without the trail. The next walk can't use the trail either. */
static struct unwind_taken trail_take_whole(unwind_trail *trail) {
    struct unwind_start start;
    unwind_here(&start);
    uintptr_t *pcs = (uintptr_t *)trail->fresh;
    size_t n = unwind_stack(trail->cache, &start, trail->stack_low, trail->stack_high, pcs,
                            trail->max, &trail->flags);
    for (size_t i = 0; i < n; i++)
        trail->points[i].key = pcs[n - 1 - i];
    trail->n_points = 0;
    trail->flags |= UNWIND_TOOK_ALL;
    return (struct unwind_taken){.n = n};
}

static __attribute__((noinline)) struct unwind_taken
trail_take_slow(unwind_trail *trail, const struct unwind_site *site) {
    struct unwind_taken taken;
    struct walk walk; /* not initialized as a whole: it is large, and little of it is used */
    enum step step;
    size_t n;
    if (trail->flushes != trail->cache->flushes) {
        trail->flushes = trail->cache->flushes;
        trail->n_points = 0;
    }
    if (!unwind_trail_is_in_stack(trail, site->sp))
        return trail_take_whole(trail);
    if (trail->n_points > 0 && trail_is_plain(trail)) {
        taken = trail_take_compared(trail, site);
        if (taken.n > 0)
            return taken;
    }
    walk.cache = trail->cache;
    walk.start = NULL;
    walk.stack_low = trail->stack_low;
    walk.stack_high = trail->stack_high;
    walk.frame = (struct unwind_frame){.key = site->return_address, .sp = site->sp, .bp = site->bp};
    walk.flags = 0;
    walk_look_at(&walk, site->sp);
    step = trail_walk(trail, &walk, trail->max, &taken.kept, &n);
    taken.n = taken.kept + n;
    if (__builtin_expect(step == STEP_COMPLEX || taken.n > trail->max, 0))
        return trail_take_whole(trail);
    if (step != STEP_ON)
        trail->flags = step == STEP_FAILED ? UNWIND_FAILED : 0;
    trail_join(trail, taken.kept, n, walk.frame);
    return taken;
}

static inline struct unwind_taken trail_take(unwind_trail *trail, const struct unwind_site *site) {
    if (trail_is_usable(trail, site->sp)) {
        const struct unwind_taken taken =
            trail_is_plain(trail)
                ? trail_take_fast(trail, site->return_address, site->sp, NULL, NULL)
                : trail_take_compared(trail, site);
        if (__builtin_expect(taken.n > 0, 1))
            return taken;
    }
    return trail_take_slow(trail, site);
}

struct unwind_taken unwind_trail_take(unwind_trail *trail, const struct unwind_site *site) {
    const struct unwind_taken taken = trail_take(trail, site);
    trail->fast = !trail->flags && trail_is_plain(trail) && trail->n_points > 0;
    return taken;
}
