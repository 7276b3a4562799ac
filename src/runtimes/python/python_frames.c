/* python_frames.c: walks Python's frames, and finds where they belong in the native stack.
 *
 * One call of the evaluator runs a Python frame and the frames that this one calls in Python. A
 * callback from C is another call of the evaluator. Each call of the evaluator leaves a structure
 * on the C stack that Python's frames lead to: up to 3.12 a _PyCFrame, later a frame of its own.
 * The native frame whose part of the C stack contains this structure is that call, whatever its
 * function is called. The Python frames replace this native frame.
 *
 * The interpreter's own functions are left out between and within Python's frames: they show how
 * Python works, not the program. Outside Python's frames they are kept if the program embeds the
 * interpreter.
 *
 * Most of a stack is the same as at the previous event. All frames are read again, as nothing tells
 * whether they have run meanwhile. But the slots of unchanged frames are kept, and where the native
 * frames around them are unchanged too, so are their codes. */
#include "runtimes/python/python_frames.h"

#include <string.h>

#include "runtimes/peek.h"
#include "runtimes/python/python_names.h"
#include "runtimes/splice.h"

enum { CACHE_BITS = 12, CACHED = 1 << CACHE_BITS, MARKS = 64 };

/* A cache entry for a current instruction. */
struct cached {
    uintptr_t code, instruction;
    uint32_t epoch;
    uintptr_t slot; /* 0: not shown */
};

/* A frame as it was seen, or the end of a call of the evaluator, which is outward of its frames. */
struct seen {
    uintptr_t frame;  /* at an end: the structure of the call on the C stack */
    uintptr_t code;   /* at an end: IS_END */
    uint32_t outward; /* at an end: codes of the last stack outward of it */
    uint32_t native;  /* at an end: native frames outward; UNKNOWN: the evaluator's was shown */
    uintptr_t instruction, slot;
};

enum { IS_END = 1 };
#define UNKNOWN UINT32_MAX

/* For each number of native frames that were left to put in the last stack: the codes outward of
 * there, and the entries of `seen` that were left. */
struct by_native {
    uint32_t codes, seen;
};

struct python_frames {
    struct splice_stack stack;
    struct by_native *by_native; /* by number of native frames left */
    /* Outermost first. While frames are collected, those that have changed are put at the end of
     * this array, from `fresh` on. */
    struct seen *seen;
    size_t n_seen, most_seen, fresh;
    size_t kept;    /* outermost entries that have not changed */
    uint32_t *ends; /* indices of ends in `seen` */
    size_t n_ends;
    size_t n_slots, n_runs; /* frames and calls collected so far */
    uint32_t epoch;         /* python_names_epoch of `seen` */
    bool is_cut;            /* there are more frames than `seen` has */
    bool may_keep;          /* the last stack was complete */
    size_t n_codes;         /* codes of the last stack */
    struct cached cache[CACHED];
    struct python_line_mark marks[MARKS];
    uint64_t memory[];
};

/* Returns the most frames and ends that are kept of one stack. */
static size_t most_at_once(size_t depth) {
    return 2 * (depth + 1);
}

size_t python_frames_size(size_t depth) {
    return sizeof(python_frames) + splice_room(depth) * sizeof(uint64_t) +
           2 * most_at_once(depth) * sizeof(struct seen) + (depth + 2) * sizeof(struct by_native) +
           (depth + 1) * sizeof(uint32_t);
}

void python_frames_init(python_frames *f, size_t depth) {
    splice_init(&f->stack, depth, f->memory);
    f->most_seen = 2 * most_at_once(depth);
    f->seen = (struct seen *)(f->memory + splice_room(depth));
    f->by_native = (struct by_native *)(f->seen + f->most_seen);
    f->ends = (uint32_t *)(f->by_native + depth + 2);
    f->n_seen = f->n_ends = f->n_codes = 0;
    f->may_keep = false;
}

void python_frames_forget(python_frames *f) {
    f->stack.n_last = 0;
}

static uintptr_t word_at(uintptr_t address) {
    return *(const uintptr_t *)address;
}

/* ---- Python's frames ----------------------------------------------------------------------- */

static uintptr_t slot_of(python_frames *f, const python_runtime *r, uint32_t epoch, uintptr_t code,
                         uintptr_t instruction) {
    const uint64_t hash = (code + instruction) * UINT64_C(0x9E3779B97F4A7C15);
    struct cached *c = &f->cache[hash >> (64 - CACHE_BITS)];
    if (__builtin_expect(c->code == code && c->instruction == instruction && c->epoch == epoch, 1))
        return c->slot;
    struct python_line_mark *mark = &f->marks[code / 64 % MARKS];
    *c = (struct cached){.code = code, .instruction = instruction, .epoch = epoch};
    return c->slot = python_names_slot(r, mark, epoch, code, instruction);
}

/* Returns the code object. From 3.14 on the lowest bits of the word tell who counts the
 * reference. */
static uintptr_t code_of_frame(uintptr_t word) {
    return word & ~(uintptr_t)3;
}

/* The position in the frames of the previous event while frames are collected, from the innermost
 * on. */
struct previous {
    size_t at;  /* the next entry outward is the one before this index */
    size_t top; /* entries from `at` up to here are unchanged; 0: the last one had changed */
};

/* Searches for a frame further outward in the previous stack: the frames within it have
 * returned. */
static bool find_again(const python_frames *f, struct previous *before, uintptr_t frame,
                       uintptr_t code) {
    enum { FAR = 32 };
    const size_t last = before->at > FAR ? before->at - FAR : 0;
    for (size_t i = before->at; i > last; i--)
        if (f->seen[i - 1].frame == frame && f->seen[i - 1].code == code) {
            before->at = i;
            return true;
        }
    return false;
}

/* Moves the entries from `at` up to `top` to the fresh ones: they have not changed, but something
 * outward of them has. */
static void give_up(python_frames *f, struct previous *before) {
    const size_t n = before->top - before->at;
    f->fresh -= n;
    memmove(&f->seen[f->fresh], &f->seen[before->at], n * sizeof *f->seen);
    before->top = 0;
}

static void put_seen(python_frames *f, struct previous *before, struct seen what) {
    if (before->top)
        give_up(f, before);
    f->seen[--f->fresh] = what;
}

static inline bool is_as_it_was(const struct seen *s, uintptr_t frame, uintptr_t code,
                                uintptr_t instruction) {
    return s->frame == frame && s->code == code && s->instruction == instruction;
}

static inline bool follow(const python_frames *f, struct previous *before, uintptr_t frame,
                          uintptr_t code, uintptr_t instruction) {
    if (before->at == 0)
        return false;
    if (!is_as_it_was(&f->seen[before->at - 1], frame, code, instruction) &&
        !(before->top == 0 && find_again(f, before, frame, code) &&
          is_as_it_was(&f->seen[before->at - 1], frame, code, instruction)))
        return false;
    if (before->top == 0)
        before->top = before->at;
    before->at--;
    return true;
}

static void put_frame(python_frames *f, const python_runtime *r, struct previous *before,
                      uintptr_t frame) {
    const struct python_layout *l = r->layout;
    const uintptr_t code = code_of_frame(word_at(frame + l->frame_code));
    const uintptr_t instruction = word_at(frame + l->frame_instruction);
    uintptr_t slot = 0;
    if (follow(f, before, frame, code, instruction)) {
        f->n_slots++;
    } else if (code && (slot = slot_of(f, r, f->epoch, code, instruction))) {
        f->n_slots++;
        put_seen(
            f, before,
            (struct seen){.frame = frame, .code = code, .instruction = instruction, .slot = slot});
    }
}

static void end_run(python_frames *f, struct previous *before, uintptr_t anchor) {
    if (f->n_runs > f->stack.depth)
        return;
    f->n_runs++;
    if (!follow(f, before, anchor, IS_END, 0))
        put_seen(f, before, (struct seen){.frame = anchor, .code = IS_END});
}

static bool is_end(const struct python_layout *l, uintptr_t frame) {
    return *(const uint8_t *)(frame + l->frame_kind) >= l->frame_last;
}

static bool is_full(const python_frames *f) {
    return f->n_slots == f->stack.depth || f->n_runs == f->stack.depth;
}

/* Passes unchanged frames up to an end, which are nearly all of a deep stack. Their addresses are
 * read from `seen`, so that no load waits for the one before. */
static uintptr_t pass_kept(python_frames *f, const struct python_layout *l, struct previous *before,
                           uintptr_t frame) {
    const size_t code = l->frame_code, instruction = l->frame_instruction, kind = l->frame_kind;
    const size_t outer = l->frame_outer, room = f->stack.depth - f->n_slots;
    const size_t last = before->at > room ? before->at - room : 0;
    const uint8_t end = l->frame_last;
    size_t at = before->at;
    for (; at > last; at--) {
        const struct seen *s = &f->seen[at - 1];
        if (s->frame != frame || code_of_frame(word_at(s->frame + code)) != s->code ||
            word_at(s->frame + instruction) != s->instruction ||
            *(const uint8_t *)(s->frame + kind) >= end)
            break;
        frame = word_at(s->frame + outer);
    }
    f->n_slots += before->at - at;
    before->at = at;
    return frame;
}

/* 3.11: each cframe has the innermost of the frames that its call runs, and the outermost one is
 * marked. */
static void collect_by_cframes(python_frames *f, const python_runtime *r, struct previous *before,
                               uintptr_t thread) {
    const struct python_layout *l = r->layout;
    uintptr_t cframe = word_at(thread + l->thread_frame), frame = 0;
    for (; cframe && word_at(cframe + l->cframe_outer);
         end_run(f, before, cframe), cframe = word_at(cframe + l->cframe_outer)) {
        bool is_last = false;
        for (frame = word_at(cframe + l->cframe_frame); frame && !is_last;
             frame = word_at(frame + l->frame_outer)) {
            if (before->top)
                frame = pass_kept(f, l, before, frame);
            if (!frame)
                break;
            if (is_full(f)) {
                f->is_cut = true;
                end_run(f, before, cframe);
                return;
            }
            is_last = *(const uint8_t *)(frame + l->frame_kind) >= l->frame_last;
            put_frame(f, r, before, frame);
        }
    }
}

/* Skips the rest of a call's frames if there are too many. Returns the end of the call. */
static uintptr_t cut_off(python_frames *f, const struct python_layout *l, uintptr_t frame) {
    f->is_cut = true;
    while (frame && !is_end(l, frame))
        frame = word_at(frame + l->frame_outer);
    return frame;
}

/* 3.12 and later: each call has a frame of its own after those that it runs. */
static void collect_by_frames(python_frames *f, const python_runtime *r, struct previous *before,
                              uintptr_t thread) {
    const struct python_layout *l = r->layout;
    uintptr_t frame = word_at(thread + l->thread_frame);
    if (l->has_cframe)
        frame = frame ? word_at(frame + l->cframe_frame) : 0;
    for (; frame && !f->is_cut; frame = word_at(frame + l->frame_outer)) {
        if (before->top)
            frame = pass_kept(f, l, before, frame);
        if (frame && is_full(f) && !is_end(l, frame))
            frame = cut_off(f, l, frame);
        if (!frame)
            break;
        if (is_end(l, frame))
            end_run(f, before, frame);
        else
            put_frame(f, r, before, frame);
    }
}

/* Appends the changed entries to the unchanged ones. */
static void join_fresh(python_frames *f, struct previous *before) {
    if (before->top && before->at > 0)
        give_up(f, before);
    const size_t n = f->most_seen - f->fresh;
    f->kept = before->top;
    memmove(&f->seen[f->kept], &f->seen[f->fresh], n * sizeof *f->seen);
    f->n_seen = f->kept + n;
    while (f->n_ends > 0 && f->ends[f->n_ends - 1] >= f->kept)
        f->n_ends--;
    for (size_t i = f->kept; i < f->n_seen; i++)
        if (f->seen[i].code == IS_END)
            f->ends[f->n_ends++] = (uint32_t)i;
}

static void collect(python_frames *f, const python_runtime *r, char *thread) {
    const uint32_t epoch = atomic_load_explicit(&python_names_epoch, memory_order_relaxed);
    if (epoch != f->epoch || !f->may_keep)
        f->n_seen = f->n_ends = 0;
    struct previous before = {.at = f->n_seen};
    f->epoch = epoch;
    f->n_slots = f->n_runs = 0;
    f->fresh = f->most_seen;
    f->is_cut = false;
    if (!thread)
        before.at = 0;
    else if (r->layout->has_cframe && r->layout->cframe_frame)
        collect_by_cframes(f, r, &before, (uintptr_t)thread);
    else
        collect_by_frames(f, r, &before, (uintptr_t)thread);
    join_fresh(f, &before);
}

/* ---- both ---------------------------------------------------------------------------------- */

/* A stack that is built from the innermost frame on. */
struct splicing {
    struct splice out;
    python_frames *f;
    const python_runtime *r;
    size_t left;    /* entries of `seen` left to put */
    size_t ends;    /* ends among them */
    size_t written; /* index in `by_native` that was written last */
    bool may_keep;
    size_t kept; /* outermost codes that were taken from the last stack */
};

/* Puts the `n` outermost codes of the last stack. */
static bool keep_codes(struct splicing *s, size_t n) {
    if (n >= s->f->n_codes || splice_is_innermost(&s->out) ||
        !splice_put_last(&s->out, n, s->f->n_codes))
        return false;
    s->kept = n;
    return true;
}

/* Returns whether all that is outward of here, with `native` native frames left, is unchanged, and
 * puts it. Outward of all Python frames this is not tried: little is left there, and it may depend
 * on more. */
static bool keep_natives(struct splicing *s, size_t native) {
    const struct by_native *last = &s->f->by_native[native];
    return s->may_keep && native <= s->out.native->kept && s->ends > 0 && s->left <= s->f->kept &&
           last->seen == s->left && keep_codes(s, last->codes);
}

/* Returns whether all codes outward of a frame can be kept, and puts them: the rest of its call,
 * all of whose frames are shown, and what is outward of the call. */
static bool keep_rest(struct splicing *s, size_t end, uint32_t native) {
    const struct seen *call = &s->f->seen[end];
    const size_t n = s->left - end - 1 + call->outward;
    return s->may_keep && s->left <= s->f->kept && native != UNKNOWN && call->native == native &&
           native <= s->out.native->kept && keep_codes(s, n);
}

/* Puts the frames of a call; `native` is that of struct seen. True: all that is outward is
 * unchanged, and was put as well. */
static bool put_run(struct splicing *s, uint32_t native) {
    const size_t end = s->f->ends[--s->ends];
    while (s->left > end + 1 && s->left > s->f->kept && !s->out.is_full)
        splice_put_slot(&s->out, s->f->seen[--s->left].slot);
    if (!s->out.is_full && keep_rest(s, end, native)) {
        s->ends++;
        return true;
    }
    while (s->left > end + 1 && !s->out.is_full)
        splice_put_slot(&s->out, s->f->seen[--s->left].slot);
    s->left = end;
    s->f->seen[end].native = native;
    s->f->seen[end].outward = (uint32_t)s->out.at; /* a position until end_counts */
    return false;
}

/* Turns positions into numbers of codes, now that the end is known. */
static void end_counts(struct splicing *s) {
    const uint32_t at = (uint32_t)s->out.at;
    for (size_t i = s->ends; i < s->f->n_ends; i++)
        s->f->seen[s->f->ends[i]].outward -= at;
    for (size_t i = s->written; i <= s->out.native->n && i <= s->f->stack.depth + 1; i++)
        s->f->by_native[i].codes -= at;
}

static bool is_between(uintptr_t pc, uintptr_t low, uintptr_t high) {
    return pc - low < high - low;
}

/* Returns whether the next Python frames are run by a native frame, or by one within it. If the
 * stack is not the thread's own, only the native frame's function can tell. */
static bool has_run(const struct splicing *s, size_t i, uintptr_t pc) {
    const struct unwind_point *points = s->out.native->trail->points;
    if (s->ends == 0)
        return false;
    if (s->out.native->has_places)
        return s->f->seen[s->f->ends[s->ends - 1]].frame < (i > 0 ? points[i - 1].sp : UINTPTR_MAX);
    return is_between(pc, s->r->eval_low, s->r->eval_high);
}

/* Returns whether the program is `python3`, whose main function is as uninteresting as the rest of
 * the interpreter. */
static bool is_program(const struct splicing *s, size_t n) {
    for (size_t i = n; i > 0; i--)
        if (is_between(unwind_trail_pc(s->out.native->trail, i - 1), s->r->main_low,
                       s->r->main_high))
            return true;
    return false;
}

static void put_all(struct splicing *s) {
    const bool any = s->f->n_slots > 0;
    bool shows_own = !any;
    for (size_t i = s->out.native->n; i > 0 && !s->out.is_full; i--) {
        const uintptr_t pc = unwind_trail_pc(s->out.native->trail, i - 1);
        const size_t before = s->ends;
        if (i <= s->f->stack.depth + 1) {
            if (keep_natives(s, i))
                return;
            s->f->by_native[i] = (struct by_native){(uint32_t)s->out.at, (uint32_t)s->left};
            s->written = i;
        }
        const bool is_own = is_between(pc, s->r->low, s->r->high);
        while (has_run(s, i - 1, pc)) {
            if (put_run(s, is_own ? (uint32_t)i - 1 : UNKNOWN))
                return;
            if (!s->out.native->has_places)
                break;
        }
        if (any && s->ends != before && s->ends == 0) {
            shows_own = !s->f->is_cut && !is_program(s, i - 1);
            continue;
        }
        if (shows_own || !is_own)
            splice_put_native(&s->out, pc);
    }
    while (s->ends > 0 && !s->out.is_full && !put_run(s, UNKNOWN))
        ;
}

/* Returns whether the next stack may reuse this one's codes: not if frames are missing, or if their
 * places are unknown. */
static bool may_be_kept(const struct splicing *s) {
    const struct runtime_splice *native = s->out.native;
    return !s->f->is_cut && !s->out.is_full && native->has_places && s->f->n_slots > 0 &&
           !(native->flags & (UNWIND_CUT | UNWIND_FAILED));
}

struct runtime_stack python_frames_splice(python_frames *f, const python_runtime *r, char *thread,
                                          const struct runtime_splice *native) {
    struct splicing s = {.out = splice_begin(&f->stack, native), .f = f, .r = r};
    const bool may_keep = f->may_keep;
    collect(f, r, thread);
    s.may_keep = may_keep && may_be_kept(&s);
    s.left = f->n_seen;
    s.ends = f->n_ends;
    s.written = native->n + 1;
    put_all(&s);
    end_counts(&s);
    f->may_keep = may_be_kept(&s);
    const struct runtime_stack stack = splice_end(&s.out, f->is_cut, s.kept);
    f->n_codes = stack.n;
    return stack;
}

/* ---- the check ----------------------------------------------------------------------------- */

static bool is_code(const python_runtime *r, uintptr_t code) {
    uintptr_t type, words[4];
    const uint16_t offsets[] = {r->code.file, r->code.name, r->code.lines};
    if (!peek_bytes(code + 8, &type, sizeof type) || type != (uintptr_t)r->code_type)
        return false;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        if (!peek_bytes(code + offsets[i], &words[i], sizeof *words) ||
            !peek_bytes(words[i], words + 3, 8))
            return false;
    return true;
}

bool python_frames_fit(const python_runtime *r, const char *thread) {
    const struct python_layout *l = r->layout;
    uintptr_t frame, code;
    uint8_t kind;
    if (!peek_bytes((uintptr_t)thread + l->thread_frame, &frame, sizeof frame) ||
        (l->has_cframe && !peek_bytes(frame + l->cframe_frame, &frame, sizeof frame)))
        return false;
    for (int i = 0; frame && i < 8; i++) {
        if (!peek_bytes(frame + l->frame_kind, &kind, 1) ||
            !peek_bytes(frame + l->frame_code, &code, sizeof code))
            return false;
        const bool is_own = !(l->has_cframe && l->cframe_frame) && kind >= l->frame_last;
        if ((!is_own && !is_code(r, code_of_frame(code))) ||
            !peek_bytes(frame + l->frame_outer, &frame, sizeof frame))
            return false;
    }
    return true;
}
