/* lua_frames.c: walks Lua's frames, and finds where they belong in the native stack.
 *
 * The native stack has a frame for each active call from C into Lua. The notes of lua_calls.h tell
 * which lua_State each of these calls is for, and so whose Lua frames belong inside it. A lua_State
 * has a list of CallInfo, innermost first, for Lua and C functions. One call of the evaluator runs
 * a Lua function and the Lua functions that this one calls, so they take the place of the
 * evaluator's native frame. For example, where Lua's f calls g in a program that calls f through
 * lua_call:
 *
 *     native, outermost first:  main  lua_call  luaV_execute     luaH_new  realloc
 *     recorded:                 main            f (Lua)  g (Lua)
 *
 * A coroutine that has yielded leaves no native frames for what it had called. When it is resumed,
 * these functions are put inside the call of lua_resume.
 *
 * C functions of Lua itself are left out, except those that a Lua function calls. They get the name
 * that Lua code has for them, such as table.concat. C functions from elsewhere are on the native
 * stack, and stay there.
 *
 * realloc may just have moved the Lua stack while lua_State still points to the old one, which must
 * not be read. */
#include "runtimes/lua/lua_frames.h"

#include "record/calls.h"
#include "runtimes/lua/lua_names.h"
#include "runtimes/lua/lua_pc.h"
#include "runtimes/peek.h"
#include "runtimes/splice.h"

enum { CACHE_BITS = 12, CACHED = 1 << CACHE_BITS, STEPS_MAX = 1 << 16 };

/* A cache entry for a frame. A Proto may be freed and another one allocated at its address;
 * `source` and `line` tell them apart. */
struct cached {
    uintptr_t function, saved; /* of a C function, `saved` is its caller's */
    uintptr_t source;
    uint32_t line;
    uintptr_t slot;
};

/* A position in the list of CallInfo of a lua_State. */
struct walk {
    uintptr_t call;
    uintptr_t stack, stack_was; /* where the value stack is, and where the CallInfo believe it is */
    size_t stack_size;          /* bytes */
    uintptr_t first, saved;     /* 5.1: the outermost CallInfo, and the innermost one's saved pc */
    uintptr_t innermost;
    unsigned steps;
};

/* An active call into Lua. */
struct live {
    size_t point; /* the frame in the trail that it returns to */
    uintptr_t state;
    struct walk walk; /* `call` is 0: not begun yet */
};

struct lua_frames {
    struct splice_stack stack;
    size_t n_live;
    struct live live[LUA_CALLS_MAX]; /* innermost first */
    struct cached cache[CACHED];
    struct lua_pc pc;
    uint64_t memory[];
};

size_t lua_frames_size(size_t depth) {
    return sizeof(lua_frames) + splice_room(depth) * sizeof(uint64_t);
}

void lua_frames_init(lua_frames *f, size_t depth) {
    splice_init(&f->stack, depth, f->memory);
}

void lua_frames_forget(lua_frames *f) {
    f->stack.n_last = 0;
}

static uintptr_t word_at(uintptr_t address) {
    return *(const uintptr_t *)address;
}

static uint8_t byte_at(uintptr_t address) {
    return *(const uint8_t *)address;
}

static bool bits_are(const struct lua_bits *bits, unsigned flags) {
    return (flags & bits->mask) == bits->value;
}

/* ---- Lua's frames -------------------------------------------------------------------------- */

enum frame_kind { FRAME_END, FRAME_LUA, FRAME_C };

struct frame {
    enum frame_kind kind;
    uintptr_t function; /* the Proto, or the C function */
    uintptr_t saved;
    bool is_fresh, is_tail;
};

/* The same in all versions: tags of values on the stack, and of closures. Sizes and offsets in
 * bytes. */
enum { VALUE_TAG = 8, VALUE_SIZE = 16, EXTRA = 16 * VALUE_SIZE, OBJECT_TAG = 8, CLOSURE_IS_C = 10 };
enum { TAG_MASK = 0x3F, TAG_FUNCTION = 6, TAG_LIGHT_C = 0x16, TAG_C = 0x26 };

static struct walk walk_begin(const struct lua_layout *l, uintptr_t state,
                              const struct runtime_splice *native) {
    struct walk w = {.call = word_at(state + l->state_call),
                     .stack_was = word_at(state + l->state_stack)};
    w.stack = w.stack_was;
    w.stack_size = word_at(state + l->state_stack_last) - w.stack_was + EXTRA;
    if (native->moved_from && w.stack_was == native->moved_from)
        w.stack = native->moved_to;
    if (l->call_size) {
        w.first = word_at(state + l->state_calls);
        w.saved = word_at(state + l->state_saved);
        if (native->moved_from && w.first == native->moved_from) {
            w.call += native->moved_to - w.first;
            w.first = native->moved_to;
        }
    }
    w.innermost = w.call;
    return w;
}

/* Returns the caller's CallInfo; 0: this is the base CallInfo, which is not a function's. */
static uintptr_t walk_outer(const struct lua_layout *l, const struct walk *w) {
    if (l->call_size)
        return w->call > w->first ? w->call - l->call_size : 0;
    return word_at(w->call + l->call_outer);
}

/* Returns the address of the CallInfo's function on the value stack; 0: it is out of bounds. While
 * the stack is moved, late releases of 5.4 store an offset from its start. */
static uintptr_t value_of_function(const struct lua_layout *l, const struct walk *w) {
    const uintptr_t at = word_at(w->call + l->call_function);
    const uintptr_t offset = at - w->stack_was < w->stack_size ? at - w->stack_was : at;
    return offset < w->stack_size ? w->stack + offset : 0;
}

static struct frame frame_of_c(uintptr_t function) {
    return (struct frame){.kind = FRAME_C, .function = function};
}

static struct frame frame_of_lua(const struct lua_layout *l, const struct walk *w,
                                 uintptr_t closure) {
    const uintptr_t proto = word_at(closure + l->closure_proto);
    const struct frame none = {.kind = FRAME_END};
    if (!proto || byte_at(proto + OBJECT_TAG) != l->proto_tag)
        return none;
    return (struct frame){.kind = FRAME_LUA,
                          .function = proto,
                          .saved = l->call_size && w->call == w->innermost
                                       ? w->saved
                                       : word_at(w->call + l->call_saved)};
}

static struct frame frame_by_tag(const struct lua_layout *l, const struct walk *w,
                                 uintptr_t value) {
    const unsigned tag = byte_at(value + VALUE_TAG) & TAG_MASK;
    const uintptr_t closure = word_at(value);
    if (tag == TAG_LIGHT_C)
        return frame_of_c(closure);
    if (tag == TAG_C || (l->call_size && tag == TAG_FUNCTION && byte_at(closure + CLOSURE_IS_C)))
        return frame_of_c(word_at(closure + l->closure_proto));
    if (tag == TAG_FUNCTION)
        return frame_of_lua(l, w, closure);
    return (struct frame){.kind = FRAME_END};
}

static struct frame frame_at(const struct lua_layout *l, const struct walk *w) {
    const uintptr_t value = walk_outer(l, w) ? value_of_function(l, w) : 0;
    struct frame frame = {.kind = FRAME_END};
    if (value)
        frame = frame_by_tag(l, w, value);
    if (frame.kind == FRAME_LUA && !l->call_size) {
        const unsigned flags = *(const uint8_t *)(w->call + l->call_flags);
        frame.is_fresh = bits_are(&l->is_fresh, flags);
        frame.is_tail = bits_are(&l->is_tail, flags);
        if (!bits_are(&l->is_lua, flags))
            frame.kind = FRAME_END;
    }
    return frame;
}

/* Returns the caller's frame. */
static struct frame frame_outer(const struct lua_layout *l, const struct walk *w) {
    struct walk outer = *w;
    outer.call = walk_outer(l, w);
    return outer.call ? frame_at(l, &outer) : (struct frame){.kind = FRAME_END};
}

static struct lua_place place_of(const struct lua_layout *l, const struct frame *frame) {
    return frame->kind == FRAME_LUA ? lua_names_place(l, frame->function, frame->saved)
                                    : (struct lua_place){0};
}

/* 5.1 has no flag for it. If the caller is a Lua function and at a call instruction, then its
 * evaluator also runs the callee. Any other caller calls the evaluator anew. */
static bool is_fresh_in_51(const struct lua_layout *l, const struct walk *w) {
    const struct frame outer = frame_outer(l, w);
    if (outer.kind != FRAME_LUA)
        return true;
    const struct lua_place place = place_of(l, &outer);
    const unsigned opcode = lua_names_opcode(l, &place);
    return opcode != l->op.call && opcode != l->op.tail_call;
}

static struct frame walk_next(const struct lua_layout *l, struct walk *w) {
    struct frame frame = w->call ? frame_at(l, w) : (struct frame){.kind = FRAME_END};
    if (frame.kind == FRAME_LUA && l->call_size) {
        frame.is_fresh = is_fresh_in_51(l, w);
        frame.is_tail = *(const int32_t *)(w->call + l->call_flags) > 0;
    }
    w->call = frame.kind == FRAME_END || ++w->steps > STEPS_MAX ? 0 : walk_outer(l, w);
    return frame;
}

/* ---- building a stack, from the innermost frame on ------------------------------------------ */

struct splicing {
    struct splice out;
    lua_frames *f;
    const lua_runtime *r;
    const struct lua_layout *l;
    size_t born;                       /* the point that calls Lua's allocator, if `note` is set */
    const struct lua_alloc_note *note; /* the noted call of the allocator; NULL: none */
    bool has_begun;                    /* some Lua frame was put already */
    size_t live;       /* index in f->live of the call around the native frames; n_live: none */
    struct walk walk;  /* at the Lua frame that is put next */
    bool was_in_lua;   /* Lua's own code was met, not only the allocator that it was given */
    bool is_elsewhere; /* in a C function that is not Lua's own */
};

static struct cached *cache_place(lua_frames *f, uintptr_t function, uintptr_t saved) {
    return &f->cache[(function + saved) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CACHE_BITS)];
}

/* Returns the slot of a Lua function. `w` is at the caller of `frame`. */
static uintptr_t slot_of_lua(const struct splicing *s, const struct walk *w,
                             const struct frame *frame) {
    const struct lua_layout *const l = s->l;
    const uintptr_t source = word_at(frame->function + l->proto_source);
    const uint32_t line = *(const uint32_t *)(frame->function + l->proto_line);
    struct cached *const c = cache_place(s->f, frame->function, frame->saved);
    if (__builtin_expect(c->function == frame->function && c->saved == frame->saved &&
                             c->source == source && c->line == line,
                         1))
        return c->slot;
    const struct frame outer =
        w->call && !frame->is_tail ? frame_at(l, w) : (struct frame){.kind = FRAME_END};
    const struct lua_place place = place_of(l, frame), caller = place_of(l, &outer);
    const uintptr_t slot = lua_names_slot(l, &place, &caller);
    *c = (struct cached){frame->function, frame->saved, source, line, slot};
    return slot;
}

/* Returns the slot of a C function; 0: it has no name. */
static uintptr_t slot_of_c(const struct splicing *s, const struct walk *w,
                           const struct frame *frame) {
    const struct frame outer = w->call ? frame_at(s->l, w) : (struct frame){.kind = FRAME_END};
    if (outer.kind != FRAME_LUA)
        return 0;
    struct cached *const c = cache_place(s->f, frame->function, outer.saved);
    if (c->function == frame->function && c->saved == outer.saved && c->source == outer.function)
        return c->slot;
    const struct lua_place caller = place_of(s->l, &outer);
    const uintptr_t slot = lua_names_slot_of_c(s->l, &caller);
    *c = (struct cached){frame->function, outer.saved, outer.function, 0, slot};
    return slot;
}

/* Puts a C function of Lua itself; others are on the native stack. The outermost C function of all
 * has no name and says nothing, so it is left out. */
static void put_c(struct splicing *s, const struct frame *frame) {
    if (!lua_range_has(&s->r->code, frame->function))
        return;
    const uintptr_t slot = slot_of_c(s, &s->walk, frame);
    if (slot)
        splice_put_slot(&s->out, slot);
    else if (s->walk.call && walk_outer(s->l, &s->walk))
        splice_put_native(&s->out, frame->function + 1);
}

/* Corrects the saved pc of the innermost Lua function, which may be making a table. */
static void find_pc(struct splicing *s, struct frame *frame, size_t eval) {
    if (!s->has_begun && s->note)
        frame->saved = lua_pc_of(&s->f->pc, s->l, s->out.native, eval, s->born, s->note,
                                 frame->function, frame->saved);
    s->has_begun = true;
}

/* Puts the functions that one call of the evaluator runs, whose native frame is point `eval`. */
static void put_run(struct splicing *s, size_t eval) {
    while (!s->out.is_full) {
        struct frame frame = walk_next(s->l, &s->walk);
        if (frame.kind == FRAME_END)
            return;
        if (frame.kind == FRAME_C) {
            s->has_begun = true;
            put_c(s, &frame);
            continue;
        }
        find_pc(s, &frame, eval);
        splice_put_slot(&s->out, slot_of_lua(s, &s->walk, &frame));
        if (frame.is_fresh)
            return;
    }
}

static void put_rest(struct splicing *s) {
    s->has_begun = true;
    while (s->walk.call && !s->out.is_full)
        put_run(s, 0);
}

/* ---- which calls are active ------------------------------------------------------------------ */

static bool is_at(const struct unwind_point *point, uintptr_t return_address, uintptr_t sp) {
    return point->key == return_address && point->sp == sp;
}

/* Returns whether the native stack tells which calls are active. If the places of frames are
 * unknown, a call that has ended might seem active, and its lua_State might be gone. If a signal
 * handler is running, what it has interrupted may be half done. */
static bool can_tell(const struct runtime_splice *native) {
    return native->has_places && !(native->flags & UNWIND_SIGNAL);
}

/* Finds the active calls: those that were noted and whose frame is on the native stack. */
static void find_live(lua_frames *f, const struct lua_calls *calls,
                      const struct runtime_splice *native) {
    size_t c = calls->n;
    for (size_t i = native->n; i > 0 && c > 0; i--) {
        const struct unwind_point *const point = &native->trail->points[i - 1];
        while (c > 0 && calls->calls[c - 1].sp < point->sp)
            c--;
        if (c == 0)
            return;
        const struct lua_call *const call = &calls->calls[c - 1];
        if (is_at(point, call->return_address, call->sp)) {
            f->live[f->n_live++] = (struct live){.point = i - 1, .state = call->state};
            c--;
        }
    }
}

static void begin_walk(struct splicing *s) {
    struct live *const live = s->f->live;
    if (s->live < s->f->n_live)
        s->walk = live[s->live].walk.call ? live[s->live].walk
                                          : walk_begin(s->l, live[s->live].state, s->out.native);
    s->is_elsewhere = false;
}

/* Leaves an active call: the next native frames are around it. If an outer call entered the same
 * lua_State, that call continues with the rest of the Lua frames. */
static void leave_call(struct splicing *s) {
    struct live *const live = s->f->live;
    const uintptr_t state = live[s->live++].state;
    size_t k = s->live;
    while (k < s->f->n_live && live[k].state != state)
        k++;
    if (k < s->f->n_live)
        live[k].walk = s->walk;
    else
        put_rest(s);
    begin_walk(s);
}

/* ---- native and Lua frames together -------------------------------------------------------- */

/* The native frame is in a C function that is not Lua's own, or in something that this function
 * called. Puts Lua's own C functions that it called, which are further in. */
static void pass_elsewhere(struct splicing *s) {
    if (!s->was_in_lua || s->is_elsewhere)
        return;
    s->is_elsewhere = true;
    for (struct walk w = s->walk;; s->walk = w) {
        const struct frame frame = walk_next(s->l, &w);
        if (frame.kind != FRAME_C || !lua_range_has(&s->r->code, frame.function))
            return;
        const struct walk before = s->walk;
        s->has_begun = true;
        s->walk = w;
        put_c(s, &frame);
        s->walk = before;
    }
}

static void pass_own(struct splicing *s) {
    s->was_in_lua = true;
    if (!s->is_elsewhere)
        return;
    s->is_elsewhere = false;
    struct walk w = s->walk;
    const struct frame frame = walk_next(s->l, &w);
    if (frame.kind == FRAME_C && !lua_range_has(&s->r->code, frame.function))
        s->walk = w;
}

static bool is_eval(const lua_runtime *r, uintptr_t pc) {
    return lua_range_has(&r->eval, pc - 1) || lua_range_has(&r->cold, pc - 1);
}

/* Puts a native frame inside a call into Lua. */
static void put_inside(struct splicing *s, size_t point, uintptr_t pc) {
    const bool is_own = lua_range_has(&s->r->code, pc - 1);
    if (is_own)
        pass_own(s);
    else
        pass_elsewhere(s);
    if (is_eval(s->r, pc))
        put_run(s, point);
    else if (!is_own)
        splice_put_native(&s->out, pc);
}

size_t lua_frames_runs(const lua_runtime *r, uintptr_t state, const struct runtime_splice *native) {
    struct walk w = walk_begin(r->layout, state, native);
    size_t n = 0;
    for (;;) {
        const struct frame frame = walk_next(r->layout, &w);
        if (frame.kind == FRAME_END)
            return n;
        n += frame.kind == FRAME_LUA && frame.is_fresh;
    }
}

/* Returns whether some Lua function runs. Native frames alone say more while Lua compiles a
 * program, or while only its library is called. */
static bool runs_lua(const struct splicing *s) {
    for (size_t i = 0; i < s->f->n_live; i++) {
        struct walk w = walk_begin(s->l, s->f->live[i].state, s->out.native);
        for (;;) {
            const struct frame frame = walk_next(s->l, &w);
            if (frame.kind == FRAME_LUA)
                return true;
            if (frame.kind == FRAME_END)
                break;
        }
    }
    return false;
}

static void put_all(struct splicing *s) {
    const struct runtime_splice *const native = s->out.native;
    if (!runs_lua(s))
        s->f->n_live = 0;
    const bool is_cut = s->f->n_live > 0 && s->r->is_program;
    begin_walk(s);
    for (size_t i = native->n; i > 0 && !s->out.is_full; i--) {
        const uintptr_t pc = unwind_trail_pc(native->trail, i - 1);
        if (s->live < s->f->n_live && s->f->live[s->live].point == i - 1)
            leave_call(s);
        if (s->live < s->f->n_live)
            put_inside(s, i - 1, pc);
        else if (is_cut)
            return; /* the start of the interpreter is of no interest */
        else
            splice_put_native(&s->out, pc);
    }
    if (s->live < s->f->n_live)
        put_rest(s);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Returns the type for the tag that Lua passes to its allocator; 0: not an object. */
static unsigned type_of_tag(const struct lua_layout *l, uintptr_t tag) {
    enum { FIRST = 4, COMMON = 5 };
    if (l->minor == 1 || tag < FIRST || tag > FIRST + COMMON + 1)
        return 0;
    if (tag < FIRST + COMMON)
        return N_CALL_TYPES + 1 + LUA_TYPE_string + (unsigned)tag - FIRST;
    const bool is_prototype = (tag == FIRST + COMMON) == (l->minor < 4);
    return N_CALL_TYPES + 1 + (is_prototype ? LUA_TYPE_prototype : LUA_TYPE_upvalue);
}

/* Sets `note` if the noted call of Lua's allocator is still active. Few frames can be further
 * in. */
static void find_birth(struct splicing *s, const struct lua_calls *calls) {
    enum { FEW = 6 };
    const struct runtime_splice *const native = s->out.native;
    for (size_t i = 0; i < FEW && i < native->n; i++)
        if (is_at(&native->trail->points[native->n - 1 - i], calls->note.return_address,
                  calls->note.sp)) {
            s->born = native->n - 1 - i;
            s->note = &calls->note;
            return;
        }
}

struct runtime_stack lua_frames_splice(lua_frames *f, const lua_runtime *r,
                                       const struct lua_calls *calls, bool fits(uintptr_t state),
                                       const struct runtime_splice *native) {
    struct splicing s = {.out = splice_begin(&f->stack, native), .f = f, .r = r, .l = r->layout};
    f->n_live = 0;
    if (calls && can_tell(native)) {
        find_birth(&s, calls);
        find_live(f, calls, native);
    }
    const unsigned type = s.note ? type_of_tag(s.l, s.note->type) : 0;
    if (type)
        s.out.type = type;
    if (f->n_live > 0 && !fits(f->live[0].state))
        f->n_live = 0;
    put_all(&s);
    return splice_end(&s.out, false, 0);
}

/* ---- the check ------------------------------------------------------------------------------- */

static bool peek_word(uintptr_t address, uintptr_t *word) {
    return peek_bytes(address, word, sizeof *word);
}

static bool is_proto(const struct lua_layout *l, uintptr_t closure) {
    uintptr_t proto, words[3];
    uint8_t tag;
    return peek_word(closure + l->closure_proto, &proto) &&
           peek_bytes(proto + OBJECT_TAG, &tag, 1) && tag == l->proto_tag &&
           peek_word(proto + l->proto_code, &words[0]) && peek_word(words[0], &words[1]) &&
           peek_word(proto + l->proto_source, &words[2]) &&
           (!words[2] || peek_word(words[2], &words[1]));
}

/* Returns whether `call` looks like a CallInfo of a function. */
static bool is_call(const struct lua_layout *l, uintptr_t call, uintptr_t low, uintptr_t high) {
    uintptr_t function, closure;
    uint8_t tag;
    if (!peek_word(call + l->call_function, &function) || function < low || function >= high ||
        !peek_word(function, &closure) || !peek_bytes(function + VALUE_TAG, &tag, 1))
        return false;
    tag &= TAG_MASK;
    if (tag == TAG_LIGHT_C || tag == TAG_C)
        return true;
    if (tag != TAG_FUNCTION)
        return false;
    if (l->call_size && peek_bytes(closure + CLOSURE_IS_C, &tag, 1) && tag)
        return true;
    return is_proto(l, closure);
}

bool lua_frames_fit(const lua_runtime *r, uintptr_t state, size_t most) {
    enum { TAG_THREAD = 8 };
    const struct lua_layout *const l = r->layout;
    uintptr_t call, low, high, first = 0;
    uint8_t tag;
    if (!peek_bytes(state + OBJECT_TAG, &tag, 1) || (tag & TAG_MASK) != TAG_THREAD ||
        !peek_word(state + l->state_call, &call) || !peek_word(state + l->state_stack, &low) ||
        !peek_word(state + l->state_stack_last, &high) || low >= high ||
        (l->call_size && !peek_word(state + l->state_calls, &first)))
        return false;
    for (size_t i = 0; i < most; i++) {
        uintptr_t outer = call > first ? call - l->call_size : 0;
        if (!l->call_size && !peek_word(call + l->call_outer, &outer))
            return false;
        if (!outer)
            return true;
        if (!is_call(l, call, low, high))
            return false;
        call = outer;
    }
    return true;
}
