/* unwind_trail_walk.h: the walk along a trail that most stacks take, inline because the recorder
 * does it some million times a second. Part of unwind_trail.c, which describes it. */
#ifndef PLATFORM_UNWIND_TRAIL_WALK_H
#define PLATFORM_UNWIND_TRAIL_WALK_H

#include <stddef.h>

#include "base/inline.h"
#include "platform/unwind_walk.h"

/* Further data of a point. */
struct point_data {
    uintptr_t bp; /* valid if the bp is needed */
    struct needs {
        uint32_t n_words; /* steps from the point outwards depend on the trail's first n_words */
        uint32_t bp;      /* not 0: these steps depend on the point's bp, too */
    } needs;
};

/* A new frame, and what the step from it has read. */
struct fresh {
    struct unwind_frame frame;
    uintptr_t key_at; /* address of the caller's key; 0: none */
    uintptr_t bp_at;  /* address of the caller's saved bp; 0: the caller's bp is this frame's */
    bool uses_bp;     /* the step used this frame's bp */
};

enum {
    STEP_WORDS = 2,
    /* A call pushes the return address, so it lies right below the sp that the caller will have. So
     * the point itself says which word the step to it has read. */
    KEY_BELOW_SP = !UNWIND_RA_IS_REGISTER
};

/* A word that always compares as changed. It stands for a word that cannot be read again. */
static const uintptr_t changing = UINTPTR_MAX;

/* Returns whether the return address into a frame is unchanged. */
STACK_UNCHECKED static inline bool unwind_point_persists(const struct unwind_point *point) {
    return stack_word(point->sp - WORD) == point->key;
}

/* Returns the first changed point from `point` on. Overwrites *end as a sentinel that counts as
 * changed. */
static inline struct unwind_point *unwind_points_verify(struct unwind_point *point,
                                                        struct unwind_point *end) {
    end->key = ~changing;
    end->sp = (uintptr_t)&changing + WORD;
    for (;; point += 4) {
        if (!unwind_point_persists(point))
            return point;
        if (!unwind_point_persists(point + 1))
            return point + 1;
        if (!unwind_point_persists(point + 2))
            return point + 2;
        if (!unwind_point_persists(point + 3))
            return point + 3;
    }
}

/* Returns what the steps from a point outwards need. */
static inline struct needs unwind_needs_of(const unwind_trail *trail,
                                           const struct unwind_point *point) {
    return trail->needs ? trail->point_data[point - trail->points].needs : (struct needs){0};
}

/* Returns the end of the points whose words are unchanged, from the outermost one on. */
struct unwind_point *trail_verify_words(const unwind_trail *trail, struct unwind_point *end);

/* Returns the end of the points that are unchanged, from the outermost one on. The words of a frame
 * are in that frame or further out, so the words of frames at or beyond `sp` can be read. */
static inline struct unwind_point *trail_verify(const unwind_trail *trail, uintptr_t sp) {
    struct unwind_point *const points = trail->points, *end = points + trail->n_points;
    while (end[-1].sp < sp)
        end--;
    if (KEY_BELOW_SP)
        end = unwind_points_verify(points, end);
    if (trail->needs && end > points && unwind_needs_of(trail, end - 1).n_words)
        end = trail_verify_words(trail, end);
    return end;
}

enum { FAST_FRAMES = 16 };

/* Returns the fast step for a row, if the row finds the return address from sp and the caller's sp
 * right above it. Returns 0 otherwise. The caller's bp may be anywhere. */
fast_step unwind_fast_learn(unwind_cache *cache, uintptr_t key);

/* Gives the `n` frames further in than the first `kept` ones the same needs. If the needs include a
 * bp, changes nothing and returns false. */
static inline bool trail_pass_needs(unwind_trail *trail, size_t kept, size_t n) {
    struct point_data *data = trail->point_data + kept;
    const struct needs needs = data[-1].needs;
    for (size_t i = 0; i < n && !needs.bp; i++)
        data[i].needs = needs;
    return !needs.bp;
}

/* Takes a stack with a few new frames, none of which needs a bp. Returns no frames if the stack
 * needs more than this; the trail is then unchanged. Unless they are NULL, writes the keys of the
 * new frames to `keys` at the same indices, and sets `*marked` to whether all new frames are
 * marked. */
STACK_UNCHECKED static ALWAYS_INLINE struct unwind_taken
trail_take_fast(unwind_trail *trail, uintptr_t key, uintptr_t sp, uint64_t *keys, bool *marked) {
    static const struct unwind_taken none = {0};
    const uintptr_t last = trail->stack_high - WORD;
    struct fresh *const first = trail->fresh, *const end = first + FAST_FRAMES, *fresh = first;
    fast_step all = FAST_MARK;
    struct unwind_point *const points = trail->points, *point = trail_verify(trail, sp);
    for (;; fresh++) {
        while (point[-1].sp < sp)
            point--;
        if (point[-1].sp == sp && point[-1].key == key)
            break;
        fast_step step = *unwind_cache_fast(trail->cache, key);
        if (__builtin_expect(step >> FAST_BYTES_BITS != key, 0) &&
            !(step = unwind_fast_learn(trail->cache, key)))
            return none;
        all &= step;
        const uintptr_t at = sp + (step & FAST_BYTES);
        if (__builtin_expect(at > last || fresh == end, 0))
            return none;
        fresh->frame.key = key;
        fresh->frame.sp = sp;
        key = stack_word(at);
        sp = at + WORD;
        if (__builtin_expect(!key, 0))
            return none;
    }
    const size_t n_kept = (size_t)(point - points);
    if (__builtin_expect(n_kept + FAST_FRAMES > trail->max, 0) ||
        (trail->needs && !trail_pass_needs(trail, n_kept, (size_t)(fresh - first))))
        return none;
    uint64_t *key_to = keys ? keys + n_kept : NULL;
    while (fresh > first) {
        fresh--;
        if (keys)
            *key_to++ = fresh->frame.key;
        point->key = fresh->frame.key;
        __asm__("" ::: "memory"); /* a single load of both, just stored apart, would stall */
        point->sp = fresh->frame.sp;
        point++;
    }
    trail->n_points = (size_t)(point - points);
    if (marked)
        *marked = all & FAST_MARK;
    return (struct unwind_taken){.n = trail->n_points, .kept = n_kept};
}

/* Returns whether a stack that begins at `sp` may be walked along the trail by fast steps. */
static inline bool trail_is_usable(const unwind_trail *trail, uintptr_t sp) {
    return trail->flushes == trail->cache->flushes && sp >= trail->stack_low;
}

/* Returns whether the next walk is likely to need no bp. */
static inline bool trail_is_plain(const unwind_trail *trail) {
    return KEY_BELOW_SP && !trail->by_bp;
}

/* Returns whether trail_take_fast may be tried for a stack that begins at `sp`. */
static inline bool trail_is_fast(const unwind_trail *trail, uintptr_t sp) {
    return trail->fast && trail_is_usable(trail, sp);
}

#endif
