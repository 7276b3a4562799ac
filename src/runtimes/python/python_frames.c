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
 * the interpreter. */
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

/* Frames up to `end` are run by one call of the evaluator, which has left `anchor` on the stack. */
struct run {
    uintptr_t anchor;
    size_t end;
};

struct python_frames {
    struct splice_stack stack;
    uintptr_t *slots; /* of Python's frames, innermost first */
    struct run *runs; /* the same */
    size_t n_slots, n_runs;
    bool is_cut; /* there are more of them */
    struct cached cache[CACHED];
    struct python_line_mark marks[MARKS];
    uint64_t memory[];
};

size_t python_frames_size(size_t depth) {
    return sizeof(python_frames) + (splice_room(depth) + depth) * sizeof(uint64_t) +
           (depth + 1) * sizeof(struct run);
}

void python_frames_init(python_frames *f, size_t depth) {
    splice_init(&f->stack, depth, f->memory);
    f->slots = (uintptr_t *)(f->memory + splice_room(depth));
    f->runs = (struct run *)(f->slots + depth);
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

static void put_frame(python_frames *f, const python_runtime *r, uint32_t epoch, uintptr_t frame) {
    const struct python_layout *l = r->layout;
    const uintptr_t code = code_of_frame(word_at(frame + l->frame_code));
    const uintptr_t slot =
        code ? slot_of(f, r, epoch, code, word_at(frame + l->frame_instruction)) : 0;
    if (slot)
        f->slots[f->n_slots++] = slot;
}

static void end_run(python_frames *f, uintptr_t anchor) {
    if (f->n_runs <= f->stack.depth)
        f->runs[f->n_runs++] = (struct run){.anchor = anchor, .end = f->n_slots};
}

static bool is_end(const struct python_layout *l, uintptr_t frame) {
    return *(const uint8_t *)(frame + l->frame_kind) >= l->frame_last;
}

static bool is_full(const python_frames *f) {
    return f->n_slots == f->stack.depth || f->n_runs == f->stack.depth;
}

/* 3.11: each cframe knows the innermost of the frames that its call runs, and a mark is at the
 * outermost. */
static void collect_by_cframes(python_frames *f, const python_runtime *r, uintptr_t thread) {
    const struct python_layout *l = r->layout;
    const uint32_t epoch = atomic_load_explicit(&python_names_epoch, memory_order_relaxed);
    uintptr_t cframe = word_at(thread + l->thread_frame), frame = 0;
    for (; cframe && word_at(cframe + l->cframe_outer);
         end_run(f, cframe), cframe = word_at(cframe + l->cframe_outer)) {
        bool is_last = false;
        for (frame = word_at(cframe + l->cframe_frame); frame && !is_last;
             frame = word_at(frame + l->frame_outer)) {
            if (is_full(f)) {
                f->is_cut = true;
                end_run(f, cframe);
                return;
            }
            is_last = *(const uint8_t *)(frame + l->frame_kind) >= l->frame_last;
            put_frame(f, r, epoch, frame);
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
static void collect_by_frames(python_frames *f, const python_runtime *r, uintptr_t thread) {
    const struct python_layout *l = r->layout;
    const uint32_t epoch = atomic_load_explicit(&python_names_epoch, memory_order_relaxed);
    uintptr_t frame = word_at(thread + l->thread_frame);
    if (l->has_cframe)
        frame = frame ? word_at(frame + l->cframe_frame) : 0;
    for (; frame && !f->is_cut; frame = word_at(frame + l->frame_outer)) {
        if (is_full(f) && !is_end(l, frame))
            frame = cut_off(f, l, frame);
        if (!frame)
            break;
        if (is_end(l, frame))
            end_run(f, frame);
        else
            put_frame(f, r, epoch, frame);
    }
}

static void collect(python_frames *f, const python_runtime *r, char *thread) {
    f->n_slots = f->n_runs = 0;
    f->is_cut = false;
    if (!thread)
        return;
    if (r->layout->has_cframe && r->layout->cframe_frame)
        collect_by_cframes(f, r, (uintptr_t)thread);
    else
        collect_by_frames(f, r, (uintptr_t)thread);
}

/* ---- both ---------------------------------------------------------------------------------- */

/* A stack in the making, from the innermost frame on. */
struct splicing {
    struct splice out;
    python_frames *f;
    const python_runtime *r;
    size_t run;  /* to be put next */
    size_t slot; /* of it */
};

static void put_run(struct splicing *s) {
    const struct run *run = &s->f->runs[s->run++];
    for (; s->slot < run->end && !s->out.is_full; s->slot++)
        splice_put_slot(&s->out, s->f->slots[s->slot]);
}

static bool is_between(uintptr_t pc, uintptr_t low, uintptr_t high) {
    return pc - low < high - low;
}

/* Whether the next frames of Python's are run by a native frame or by one within it. Where the
 * stack is not the thread's own, only the function that a frame is in can tell. */
static bool has_run(const struct splicing *s, size_t i, uintptr_t pc) {
    const struct unwind_point *points = s->out.native->trail->points;
    if (s->run == s->f->n_runs)
        return false;
    if (s->out.native->has_places)
        return s->f->runs[s->run].anchor < (i > 0 ? points[i - 1].sp : UINTPTR_MAX);
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
        const size_t before = s->run;
        while (has_run(s, i - 1, pc)) {
            put_run(s);
            if (!s->out.native->has_places)
                break;
        }
        if (any && s->run != before && s->run == s->f->n_runs) {
            shows_own = !s->f->is_cut && !is_program(s, i - 1);
            continue;
        }
        if (shows_own || !is_between(pc, s->r->low, s->r->high))
            splice_put_native(&s->out, pc);
    }
    while (s->run < s->f->n_runs && !s->out.is_full)
        put_run(s);
}

struct runtime_stack python_frames_splice(python_frames *f, const python_runtime *r, char *thread,
                                          const struct runtime_splice *native) {
    struct splicing s = {.out = splice_begin(&f->stack, native), .f = f, .r = r};
    collect(f, r, thread);
    put_all(&s);
    return splice_end(&s.out, f->is_cut);
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
