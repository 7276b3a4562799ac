/* unwind_trail.c: see unwind_trail.h. Owns the frames and words of the last walk; rows and steps
 * are those of unwind.c. */
#include "platform/unwind_trail.h"

#include "platform/unwind_walk.h"

/* A frame that the walk has come to, and how many words of the trail the steps from it outwards
 * depend on. */
struct point {
    struct frame frame;
    size_t n_words;
};

/* A frame that is new, and what the step from it has read. */
struct fresh {
    struct frame frame;
    struct word words[UNWIND_STEP_WORDS];
    size_t n_words;
};

struct unwind_trail {
    uintptr_t stack_low, stack_high;
    size_t n_points; /* a stack's frames, outermost first, and the frame that it was taken from */
    unsigned flags;
    uint32_t flushes;    /* of the row cache: its rows are those by which this was walked */
    struct fresh *fresh; /* of the walk, innermost first; the next two are the trail */
    struct word *words;  /* outermost first */
    struct point *points;
    char memory[];
};

/* One more than the frames: where the walk begins. */
static size_t points_of(size_t max) {
    return max + 1;
}

size_t unwind_trail_size(size_t max) {
    return sizeof(unwind_trail) + points_of(max) * (sizeof(struct fresh) + sizeof(struct point) +
                                                    UNWIND_STEP_WORDS * sizeof(struct word));
}

static void trail_lay_out(unwind_trail *trail, size_t max) {
    trail->fresh = (struct fresh *)trail->memory;
    trail->words = (struct word *)(trail->fresh + points_of(max));
    trail->points = (struct point *)(trail->words + UNWIND_STEP_WORDS * points_of(max));
}

uintptr_t unwind_trail_pc(const unwind_trail *trail, size_t i) {
    return trail->points[i].frame.key;
}

/* How many words, from the outermost one on, are what they were. Those further in than `sp` are no
 * stack any more. */
STACK_UNCHECKED static size_t trail_verify(const unwind_trail *trail, uintptr_t sp) {
    const struct word *words = trail->words;
    size_t n = trail->n_points ? trail->points[trail->n_points - 1].n_words : 0, i = 0;
    while (i < n && words[i].address >= sp &&
           cpu_strip_signature(stack_word(words[i].address)) == words[i].value)
        i++;
    return i;
}

/* Notes what a step depends on; false if that cannot be verified later, since it does not stand on
 * the thread's own stack. */
static inline bool fresh_note(struct fresh *fresh, const struct walk *walk, uintptr_t address,
                              uintptr_t value) {
    fresh->words[fresh->n_words++] = (struct word){.address = address, .value = value};
    return address - walk->stack_low < walk->stack_high - walk->stack_low;
}

/* One frame outwards by a common row; see step_by_row. */
static inline enum step step_noted(struct walk *walk, const struct row *row, struct frame *frame,
                                   struct fresh *fresh) {
    uintptr_t base = row->bits & ROW_FROM_BP ? frame->bp : frame->sp;
    uintptr_t ra_slot = base + (uintptr_t)row->offset;
    enum step step = step_by_row(&walk->view, row, frame);
    if (step != STEP_FAILED && !fresh_note(fresh, walk, ra_slot, frame->key))
        return STEP_COMPLEX;
    if (step != STEP_FAILED && row->bits & ROW_SAVES_BP &&
        !fresh_note(fresh, walk, ra_slot + (uintptr_t)(row->bp_words * WORD), frame->bp))
        return STEP_COMPLEX;
    return step;
}

static __attribute__((noinline)) enum step step_uncommon_noted(struct walk *walk,
                                                               const struct row *row,
                                                               struct frame *frame,
                                                               struct fresh *fresh) {
    walk->frame = *frame;
    walk->n_words = 0;
    enum step step = step_uncommon(walk, row);
    *frame = walk->frame;
    if (walk->n_words > UNWIND_STEP_WORDS || row->bits & ROW_RA_IN_LR)
        return STEP_COMPLEX;
    for (size_t i = 0; i < walk->n_words; i++)
        if (!fresh_note(fresh, walk, walk->words[i].address, walk->words[i].value))
            return STEP_COMPLEX;
    return step;
}

/* Walks from the site until a frame of the trail is reached that depends on verified words alone;
 * then *kept is one more than its index, and the step is STEP_ON. Else to the end. */
static enum step trail_walk(unwind_trail *trail, struct walk *walk, size_t max, size_t *kept,
                            size_t *n_fresh) {
    struct frame frame = walk->frame;
    const struct point *point = trail->points + trail->n_points;
    size_t n_verified = trail_verify(trail, frame.sp), n = 0;
    enum step step;
    do {
        while (point > trail->points && point[-1].frame.sp < frame.sp)
            point--;
        const struct point *same = point - 1;
        if (point > trail->points && same->frame.sp == frame.sp && same->frame.key == frame.key &&
            same->frame.bp == frame.bp && same->n_words <= n_verified) {
            step = STEP_ON;
            break;
        }
        if (n == points_of(max)) {
            step = STEP_COMPLEX;
            break;
        }
        const struct row *row = cache_row(walk->cache, frame.key, &walk->uncached);
        struct fresh *fresh = &trail->fresh[n++];
        fresh->frame = frame;
        fresh->n_words = 0;
        step = __builtin_expect(row->bits & ROW_UNCOMMON, 0)
                   ? step_uncommon_noted(walk, row, &frame, fresh)
                   : step_noted(walk, row, &frame, fresh);
    } while (step == STEP_ON);
    *n_fresh = n;
    *kept = step == STEP_ON ? (size_t)(point - trail->points) : 0;
    return step;
}

/* Puts what is new in front of what is kept. */
static void trail_join(unwind_trail *trail, size_t kept, size_t n_fresh) {
    size_t n_words = kept ? trail->points[kept - 1].n_words : 0;
    trail->n_points = kept;
    while (n_fresh > 0) {
        const struct fresh *fresh = &trail->fresh[--n_fresh];
        for (size_t i = 0; i < fresh->n_words; i++)
            trail->words[n_words++] = fresh->words[i];
        trail->points[trail->n_points++] =
            (struct point){.frame = fresh->frame, .n_words = n_words};
    }
}

/* Takes the stack without the trail, which can't be used for the next one either. */
static __attribute__((noinline)) size_t trail_take_whole(unwind_trail *trail, unwind_cache *cache,
                                                         size_t max, unsigned *flags) {
    struct unwind_start start;
    unwind_here(&start);
    uintptr_t *pcs = (uintptr_t *)trail->words;
    size_t n = unwind_stack(cache, &start, trail->stack_low, trail->stack_high, pcs, max, flags);
    for (size_t i = 0; i < n; i++)
        trail->points[i].frame.key = pcs[n - 1 - i];
    trail->n_points = 0;
    return n;
}

size_t unwind_trail_take(unwind_trail *trail, unwind_cache *cache, const struct unwind_site *site,
                         uintptr_t stack_low, uintptr_t stack_high, size_t max, size_t *kept,
                         unsigned *flags) {
    struct walk walk = {.cache = cache,
                        .stack_low = stack_low,
                        .stack_high = stack_high,
                        .frame = {.key = site->pc + 1, .sp = site->sp, .bp = site->bp}};
    size_t n_fresh;
    *kept = 0;
    if (trail->stack_low != stack_low || trail->stack_high != stack_high ||
        trail->flushes != cache->flushes || !trail->fresh) {
        trail_lay_out(trail, max);
        trail->n_points = 0;
        trail->stack_low = stack_low;
        trail->stack_high = stack_high;
        trail->flushes = cache->flushes;
    }
    if (site->sp - stack_low >= stack_high - stack_low)
        return trail_take_whole(trail, cache, max, flags);
    walk_look_at(&walk, site->sp);
    enum step step = trail_walk(trail, &walk, max, kept, &n_fresh);
    if (step == STEP_COMPLEX || *kept + n_fresh > points_of(max)) {
        *kept = 0;
        return trail_take_whole(trail, cache, max, flags);
    }
    if (step != STEP_ON)
        trail->flags = step == STEP_FAILED ? UNWIND_FAILED : 0;
    trail_join(trail, *kept, n_fresh);
    *flags = trail->flags;
    return trail->n_points - 1;
}
