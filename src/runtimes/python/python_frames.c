/* python_frames.c: walks Python's frames, and finds where in the native stack they belong.
 *
 * A call of the evaluator runs one frame of Python and those that it calls in Python; what calls
 * back from C is another call of the evaluator. Each leaves something on the C stack that Python's
 * frames lead to: up to 3.12 a _PyCFrame, later a frame of its own. So it is known which frames
 * belong to which call of the evaluator, whatever that function is called: the one whose part of
 * the stack holds it. In place of that native frame stand Python's.
 *
 * The interpreter's own functions are left out between Python's frames, and within them: they say
 * how Python works, not the program. Outside of Python's frames they are the program's if it embeds
 * the interpreter.
 *
 * Most of a stack is what it was at the event before. Frames are read again all the same, as
 * nothing tells whether they ran meanwhile, but what is known of those that did not is kept; and
 * where the native frames around them did not change either, so are their codes. */
#include "runtimes/python/python_frames.h"

#include <string.h>

#include "runtimes/peek.h"
#include "runtimes/python/python_names.h"
#include "runtimes/splice.h"

enum { CACHE_BITS = 12, CACHED = 1 << CACHE_BITS, MARKS = 64 };

/* What is known of an instruction at work. */
struct cached {
    uintptr_t code, instruction;
    uint32_t epoch;
    uintptr_t slot; /* 0: not to be shown */
};

/* A frame as it was seen, or the end of a call of the evaluator, which is outward of its frames. */
struct seen {
    uintptr_t frame;  /* at an end: what the call left on the stack */
    uintptr_t code;   /* at an end: IS_END */
    uint32_t outward; /* of an end: how many codes of the stack taken last are outward of it */
    uint32_t
        native; /* the same of native frames, beside the evaluator's; UNKNOWN: that was shown */
    uintptr_t instruction, slot;
};

enum { IS_END = 1 };
#define UNKNOWN UINT32_MAX

/* Of the stack taken last, where so many native frames were left to be put: what else was. */
struct rest {
    uint32_t codes, seen;
};

struct python_frames {
    struct splice_stack stack;
    struct rest *rests; /* by number of native frames */
    /* Outermost first. While frames are collected, those that are not as they were are put at the
     * end of this, from `fresh` on. */
    struct seen *seen;
    size_t n_seen, most_seen, fresh;
    size_t kept;    /* so many outermost ones are as they were */
    uint32_t *ends; /* where ends are in `seen` */
    size_t n_ends;
    size_t n_slots, n_runs; /* collected so far */
    uint32_t epoch;         /* of the names of those seen */
    bool is_cut;            /* there are more of them */
    bool may_keep;          /* the last stack was whole */
    size_t n_codes;         /* of the last stack */
    struct cached cache[CACHED];
    struct python_line_mark marks[MARKS];
    uint64_t memory[];
};

/* Frames and ends. */
static size_t most_at_once(size_t depth) {
    return 2 * (depth + 1);
}

size_t python_frames_size(size_t depth) {
    return sizeof(python_frames) + splice_room(depth) * sizeof(uint64_t) +
           2 * most_at_once(depth) * sizeof(struct seen) + (depth + 2) * sizeof(struct rest) +
           (depth + 1) * sizeof(uint32_t);
}

void python_frames_init(python_frames *f, size_t depth) {
    splice_init(&f->stack, depth, f->memory);
    f->most_seen = 2 * most_at_once(depth);
    f->seen = (struct seen *)(f->memory + splice_room(depth));
    f->rests = (struct rest *)(f->seen + f->most_seen);
    f->ends = (uint32_t *)(f->rests + depth + 2);
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

/* From 3.14 on, bits of the word say who counts the reference. */
static uintptr_t code_of_frame(uintptr_t word) {
    return word & ~(uintptr_t)3;
}

/* Follows what was seen before while frames are collected, from the innermost on. */
struct following {
    size_t at;  /* the next one outward is before this */
    size_t top; /* from the one before this on all are as they were; 0: the last was not */
};

/* The frame was there before, further outward: those within it have returned. */
static bool find_again(const python_frames *f, struct following *before, uintptr_t frame,
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

/* Those from `top` down to `at` are as they were, but something outward of them is not. */
static void give_up(python_frames *f, struct following *before) {
    const size_t n = before->top - before->at;
    f->fresh -= n;
    memmove(&f->seen[f->fresh], &f->seen[before->at], n * sizeof *f->seen);
    before->top = 0;
}

static void put_seen(python_frames *f, struct following *before, struct seen what) {
    if (before->top)
        give_up(f, before);
    f->seen[--f->fresh] = what;
}

static inline bool is_as_it_was(const struct seen *s, uintptr_t frame, uintptr_t code,
                                uintptr_t instruction) {
    return s->frame == frame && s->code == code && s->instruction == instruction;
}

static inline bool follow(const python_frames *f, struct following *before, uintptr_t frame,
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

static void put_frame(python_frames *f, const python_runtime *r, struct following *before,
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

static void end_run(python_frames *f, struct following *before, uintptr_t anchor) {
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

/* Passes frames that are as they were, up to an end: nearly all of a deep stack. Where they are was
 * known before, so that none of them is waited for. */
static uintptr_t pass_kept(python_frames *f, const struct python_layout *l,
                           struct following *before, uintptr_t frame) {
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

/* 3.11: each cframe knows the innermost of the frames that its call runs, and a mark is at the
 * outermost. */
static void collect_by_cframes(python_frames *f, const python_runtime *r, struct following *before,
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

/* The end of a call whose frames are too many. */
static uintptr_t cut_off(python_frames *f, const struct python_layout *l, uintptr_t frame) {
    f->is_cut = true;
    while (frame && !is_end(l, frame))
        frame = word_at(frame + l->frame_outer);
    return frame;
}

/* Later ones: each call has a frame of its own behind those that it runs. */
static void collect_by_frames(python_frames *f, const python_runtime *r, struct following *before,
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

/* What was not as before follows what was. */
static void join_fresh(python_frames *f, struct following *before) {
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
    struct following before = {.at = f->n_seen};
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

/* A stack in the making, from the innermost frame on. */
struct splicing {
    struct splice out;
    python_frames *f;
    const python_runtime *r;
    size_t left; /* of those seen, to be put */
    size_t ends; /* of them */
    size_t rest; /* the last of `rests` that was written */
    bool may_keep;
    size_t kept; /* codes: those that are outward of here are those of the stack before */
};

/* The last stack's outermost codes. */
static bool keep_codes(struct splicing *s, size_t n) {
    if (n >= s->f->n_codes || splice_is_innermost(&s->out) ||
        !splice_put_last(&s->out, n, s->f->n_codes))
        return false;
    s->kept = n;
    return true;
}

/* Whether what is outward of here, where so many native frames are left, is as it was. Outward of
 * all of Python's there is little, which may depend on more. */
static bool keep_natives(struct splicing *s, size_t native) {
    const struct rest *rest = &s->f->rests[native];
    return s->may_keep && native <= s->out.native->kept && s->ends > 0 && s->left <= s->f->kept &&
           rest->seen == s->left && keep_codes(s, rest->codes);
}

/* Whether what is outward of a frame came out of the same before: its part of the call, of which
 * all are shown, and what is outward of the call. */
static bool keep_rest(struct splicing *s, size_t end, uint32_t native) {
    const struct seen *call = &s->f->seen[end];
    const size_t n = s->left - end - 1 + call->outward;
    return s->may_keep && s->left <= s->f->kept && native != UNKNOWN && call->native == native &&
           native <= s->out.native->kept && keep_codes(s, n);
}

/* The frames of a call; `native` is what the struct seen of its end says. True: all the rest is as
 * it was, and put as well. */
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
    s->f->seen[end].outward = (uint32_t)s->out.at; /* see end_counts */
    return false;
}

/* How many codes are outward is known at the end: until now, it was where. */
static void end_counts(struct splicing *s) {
    const uint32_t at = (uint32_t)s->out.at;
    for (size_t i = s->ends; i < s->f->n_ends; i++)
        s->f->seen[s->f->ends[i]].outward -= at;
    for (size_t i = s->rest; i <= s->out.native->n && i <= s->f->stack.depth + 1; i++)
        s->f->rests[i].codes -= at;
}

static bool is_between(uintptr_t pc, uintptr_t low, uintptr_t high) {
    return pc - low < high - low;
}

/* Whether the next frames of Python's are run by a native frame or by one within it. Where the
 * stack is not the thread's own, only the function that a frame is in can tell. */
static bool has_run(const struct splicing *s, size_t i, uintptr_t pc) {
    const struct unwind_point *points = s->out.native->trail->points;
    if (s->ends == 0)
        return false;
    if (s->out.native->has_places)
        return s->f->seen[s->f->ends[s->ends - 1]].frame < (i > 0 ? points[i - 1].sp : UINTPTR_MAX);
    return is_between(pc, s->r->eval_low, s->r->eval_high);
}

/* Whether the program is `python3`: then its main function is no more of interest than the rest. */
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
            s->f->rests[i] = (struct rest){(uint32_t)s->out.at, (uint32_t)s->left};
            s->rest = i;
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

/* A stack of which something is missing, or of which it is not known where its frames are, says
 * nothing of the next one. */
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
    s.rest = native->n + 1;
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
