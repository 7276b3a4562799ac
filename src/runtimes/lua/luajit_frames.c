/* luajit_frames.c: walks the frames on Lua's stack, and finds where they belong in the native
 * stack.
 *
 * The interpreter has a frame on the native stack for each active call from C, or of a coroutine.
 * The frame contains the lua_State, and the instruction at which the innermost function is. The
 * lua_State's functions up to the first one that C has called belong inside this frame.
 *
 * Compiled code has no unwind tables, so the native stack ends there. It runs in the frame of the
 * interpreter, which the lua_State points to. From there outwards, only the interpreter's frames
 * are known. Functions that compiled code has called may not have frames on Lua's stack yet. So the
 * function at which compiled code began is marked in its name.
 *
 * C functions of LuaJIT that Lua code calls get the name that Lua code has for them. Other C
 * functions are on the native stack. */
#include "runtimes/lua/luajit_frames.h"
#include <stdatomic.h>

#include "platform/module.h"
#include "platform/unwind_trail.h"
#include "runtimes/lua/luajit_names.h"
#include "runtimes/peek.h"
#include "runtimes/splice.h"

enum {
    CACHE_BITS = 12,
    CACHED = 1 << CACHE_BITS,
    STEPS_MAX = 1 << 16,
    SLOT = 8,
    OTHERS = 8,
    TRACES_BITS = 8
};

/* A cache entry for a frame. A GCproto may be freed and another one allocated at its address;
 * `source` and `line` tell them apart. */
struct cached {
    uintptr_t function, saved; /* of a C function, `saved` is its caller's */
    uintptr_t source;
    uint32_t line;
    uintptr_t slot;
};

struct luajit_frames {
    struct splice_stack stack;
    struct cached cache[CACHED];
    uint16_t traces[1 << TRACES_BITS]; /* trace numbers, hashed by addresses in their code */
    uint64_t memory[];
};

size_t luajit_frames_size(size_t depth) {
    return sizeof(luajit_frames) + splice_room(depth) * sizeof(uint64_t);
}

void luajit_frames_init(luajit_frames *f, size_t depth) {
    splice_init(&f->stack, depth, f->memory);
}

void luajit_frames_forget(luajit_frames *f) {
    f->stack.n_last = 0;
}

/* ---- frames on Lua's stack ------------------------------------------------------------------- */

enum frame_type { LINK_LUA, LINK_C, LINK_CONTINUED, LINK_VARARG, LINK_CALLS_C = 5 };

/* A position on Lua's stack: `at` is the address of the next frame's link, and its function is one
 * slot below. */
struct walk {
    uintptr_t state;
    uintptr_t at, bottom;
    uintptr_t saved; /* address after the function's current instruction; 0: unknown */
    unsigned steps;
};

enum frame_kind { FRAME_END, FRAME_LUA, FRAME_C };

struct frame {
    enum frame_kind kind;
    uintptr_t function; /* the GCproto, or the C function */
    uintptr_t saved;
    bool is_outermost; /* C has called it */
};

/* Begins a walk. While realloc moves the stack, lua_State still points to the old one. */
static struct walk walk_begin(uintptr_t state, uintptr_t base, uintptr_t saved,
                              const struct runtime_splice *native) {
    const uintptr_t stack = luajit_word(state + STATE_STACK);
    const uintptr_t moved =
        native->moved_from && stack == native->moved_from ? native->moved_to - stack : 0;
    return (struct walk){
        .state = state, .at = base + moved - SLOT, .bottom = stack + moved + SLOT, .saved = saved};
}

static struct frame frame_here(const struct walk *w) {
    const uintptr_t function = luajit_word(w->at - SLOT) & JIT_ADDRESS;
    if (!function || luajit_byte(function + JIT_TAG) != JIT_FUNCTION)
        return (struct frame){.kind = FRAME_END};
    if (luajit_byte(function + FUNCTION_KIND))
        return (struct frame){.kind = FRAME_C, .function = luajit_word(function + FUNCTION_C)};
    return (struct frame){.kind = FRAME_LUA,
                          .function = luajit_word(function + FUNCTION_CODE) - PROTO_CODE,
                          .saved = w->saved};
}

/* Moves to the caller's frame. The callee's link tells the caller's current instruction. Returns
 * true if C is between them; then the interpreter's frame tells. */
static bool walk_out(struct walk *w) {
    enum { TYPE = 7, A = 8, CALLBACK = 1 };
    const uintptr_t link = luajit_word(w->at);
    if ((link & 3) == LINK_LUA) {
        w->saved = link;
        w->at -= SLOT * (2 + (uintptr_t)(luajit_half(link - 4) >> A & 255));
        return false;
    }
    const unsigned type = link & TYPE;
    const bool by_callback = type == LINK_CONTINUED && luajit_word(w->at - 3 * SLOT) == CALLBACK;
    w->saved = type == LINK_CONTINUED ? luajit_word(w->at - 2 * SLOT) : 0;
    w->at -= link & ~(uintptr_t)TYPE;
    return type == LINK_C || type == LINK_CALLS_C || by_callback;
}

/* Leaves a frame. A function with variable arguments has two. */
static bool walk_over(struct walk *w) {
    if ((luajit_word(w->at) & 7) == LINK_VARARG)
        w->at -= luajit_word(w->at) & ~UINT64_C(7);
    return w->at > w->bottom && walk_out(w);
}

static bool walk_has_more(const struct walk *w) {
    return w->at > w->bottom && w->steps < STEPS_MAX;
}

static struct frame walk_next(struct walk *w) {
    struct frame frame = {.kind = FRAME_END};
    while (walk_has_more(w) && (luajit_word(w->at - SLOT) & JIT_ADDRESS) == w->state)
        (void)walk_out(w); /* not a function's frame */
    if (walk_has_more(w))
        frame = frame_here(w);
    w->steps++;
    if (frame.kind == FRAME_END)
        w->at = w->bottom;
    else
        frame.is_outermost = walk_over(w);
    return frame;
}

/* ---- building a stack, from the innermost frame on ------------------------------------------ */

struct splicing {
    struct splice out;
    luajit_frames *f;
    const lua_runtime *r;
    const struct luajit_layout *l;
    struct walk walk; /* in the lua_State that was met last */
    struct walk others[OTHERS];
    size_t n_others;
    bool has_lua;       /* some Lua function was put */
    bool expects;       /* `expected` is set */
    uintptr_t expected; /* the next frame of the interpreter; 0: unknown */
};

static struct cached *cache_place(luajit_frames *f, uintptr_t function, uintptr_t saved) {
    return &f->cache[(function + saved) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CACHE_BITS)];
}

/* Returns the caller of `callee`, whose frame the walk has just left. C has no name for what it
 * calls. */
static struct luajit_place caller_of(const struct walk *w, const struct frame *callee) {
    struct walk outer = *w;
    const struct frame frame =
        callee->is_outermost ? (struct frame){.kind = FRAME_END} : walk_next(&outer);
    return frame.kind == FRAME_LUA ? (struct luajit_place){frame.function, frame.saved}
                                   : (struct luajit_place){0};
}

static uintptr_t slot_of_lua(const struct splicing *s, const struct frame *frame) {
    const uintptr_t source = luajit_word(frame->function + PROTO_SOURCE);
    const uint32_t line = luajit_half(frame->function + PROTO_LINE);
    struct cached *const c = cache_place(s->f, frame->function, frame->saved);
    if (__builtin_expect(c->function == frame->function && c->saved == frame->saved &&
                             c->source == source && c->line == line,
                         1))
        return c->slot;
    const struct luajit_place place = {frame->function, frame->saved};
    const struct luajit_place caller = caller_of(&s->walk, frame);
    const uintptr_t slot = luajit_names_slot(&place, &caller);
    *c = (struct cached){frame->function, frame->saved, source, line, slot};
    return slot;
}

static void put_c(struct splicing *s, const struct frame *frame) {
    if (!lua_range_has(&s->r->code, frame->function))
        return;
    const struct luajit_place caller = caller_of(&s->walk, frame);
    if (!caller.proto)
        return;
    struct cached *const c = cache_place(s->f, frame->function, caller.saved);
    if (c->function != frame->function || c->saved != caller.saved || c->source != caller.proto)
        *c = (struct cached){frame->function, caller.saved, caller.proto, 0,
                             luajit_names_slot_of_c(&caller)};
    if (c->slot)
        splice_put_slot(&s->out, c->slot);
    else
        splice_put_native(&s->out, frame->function + 1);
}

/* Puts the functions inside one frame of the interpreter. */
static void put_run(struct splicing *s) {
    while (!s->out.is_full) {
        const struct frame frame = walk_next(&s->walk);
        s->has_lua |= frame.kind == FRAME_LUA;
        if (frame.kind == FRAME_LUA)
            splice_put_slot(&s->out, slot_of_lua(s, &frame));
        else if (frame.kind == FRAME_C)
            put_c(s, &frame);
        if (frame.kind == FRAME_END || frame.is_outermost)
            return;
    }
}

/* Returns the walk of a lua_State. C code called by one lua_State may have entered another, and
 * from there the first one again. The walk of the first one then continues where it was. */
static struct walk walk_of(struct splicing *s, uintptr_t state) {
    if (s->walk.state && s->n_others < OTHERS)
        s->others[s->n_others++] = s->walk;
    for (size_t i = s->n_others; i > 0; i--)
        if (s->others[i - 1].state == state)
            return s->others[i - 1];
    return walk_begin(state, luajit_word(state + STATE_BASE), 0, s->out.native);
}

/* Returns whether Lua frames belong inside an interpreter frame. A frame that only catches the
 * errors of an internal function has the stack's height in it, and Lua frames below that height are
 * outside. */
static bool has_frames(const struct walk *w, uintptr_t c_frame) {
    const int32_t above = (int32_t)luajit_half(c_frame + C_FRAME_ABOVE);
    return above >= 0 || w->at >= w->bottom - SLOT + (uintptr_t) - (intptr_t)above;
}

static void put_c_frame(struct splicing *s, uintptr_t c_frame) {
    const uintptr_t state = luajit_word(c_frame + C_FRAME_L);
    if (state != s->walk.state)
        s->walk = walk_of(s, state);
    if (!has_frames(&s->walk, c_frame))
        return;
    if (!s->walk.saved)
        s->walk.saved = luajit_word(c_frame + C_FRAME_PC);
    put_run(s);
}

/* Returns whether all that remains is the start of the interpreter, which is of no interest. */
static bool is_over(const struct splicing *s) {
    return s->r->is_program && s->walk.state && !walk_has_more(&s->walk) &&
           s->walk.state == luajit_word(luajit_word(s->walk.state + STATE_GLOBAL) + GLOBAL_MAIN);
}

/* ---- compiled code --------------------------------------------------------------------------- */

static bool is_code(uintptr_t address) {
    struct module module;
    return module_find(address, &module);
}

static uintptr_t trace_at(uintptr_t traces, uint32_t number, uintptr_t pc) {
    uintptr_t trace;
    uint8_t bytes[TRACE_BYTES];
    uint64_t code;
    uint32_t size;
    if (!peek_bytes(traces + (uintptr_t)number * SLOT, &trace, sizeof trace) || !trace ||
        !peek_bytes(trace, bytes, sizeof bytes) || bytes[JIT_TAG] != JIT_TRACE)
        return 0;
    memcpy(&code, bytes + TRACE_CODE, sizeof code);
    memcpy(&size, bytes + TRACE_SIZE, sizeof size);
    return pc - code <= size ? trace : 0;
}

static uintptr_t find_trace(struct splicing *s, uintptr_t jit, uintptr_t pc) {
    enum { MANY = 1000 };
    uint16_t *const last = &s->f->traces[pc * UINT64_C(0x9E3779B97F4A7C15) >> (64 - TRACES_BITS)];
    uintptr_t traces, trace = 0;
    uint32_t n;
    uint8_t byte;
    if (!peek_bytes(jit + JIT_N_TRACES, &n, sizeof n) ||
        !peek_bytes(jit + JIT_TRACES, &traces, sizeof traces) || traces % SLOT ||
        !peek_bytes(traces, &byte, 1))
        return 0;
    if (*last && *last < n && (trace = trace_at(traces, *last, pc)))
        return trace;
    for (uint32_t i = 1; !trace && i < n && i < MANY; i++)
        if ((trace = trace_at(traces, i, pc)))
            *last = (uint16_t)i;
    return trace;
}

/* Returns the trace that contains an address; 0: unknown. Traces continue in other traces and leave
 * no record, so it is a guess which trace began. */
static uintptr_t trace_of(struct splicing *s, uintptr_t global, uintptr_t pc) {
    enum { N_JITS = sizeof s->l->jit / sizeof *s->l->jit };
    static _Atomic uint16_t known; /* offset of jit_State, once a trace was found */
    const uint16_t sure = atomic_load_explicit(&known, memory_order_relaxed);
    uintptr_t trace = sure ? find_trace(s, global + sure, pc) : 0;
    for (size_t i = 0; !sure && !trace && i < N_JITS; i++)
        if ((trace = find_trace(s, global + s->l->jit[i], pc)))
            atomic_store_explicit(&known, s->l->jit[i], memory_order_relaxed);
    return trace;
}

/* Returns the line at which a trace begins, if that is in the function, else the function's first
 * line. */
static uintptr_t line_of_trace(uintptr_t trace, uintptr_t proto) {
    if (trace && luajit_word(trace + TRACE_PROTO) == proto)
        return luajit_names_line(proto, luajit_word(trace + TRACE_PC));
    return luajit_half(proto + PROTO_LINE);
}

/* Puts the function at which compiled code began. */
static void put_compiled(struct splicing *s, uintptr_t trace) {
    const struct frame frame = walk_next(&s->walk);
    if (frame.kind != FRAME_LUA)
        return;
    s->has_lua = true;
    const struct luajit_place caller = caller_of(&s->walk, &frame);
    splice_put_slot(&s->out, luajit_names_slot_compiled(frame.function, &caller,
                                                        line_of_trace(trace, frame.function)));
    if (!frame.is_outermost)
        put_run(s);
}

/* Returns the next interpreter frame outward without using the native stack: the one that called
 * this one, or else the previous one of the same lua_State. 0: there is none. */
static uintptr_t outer_c_frame(const struct splicing *s, uintptr_t c_frame) {
    if (lua_range_has(&s->r->eval, luajit_word(c_frame + C_FRAME_RETURN) - 1))
        return c_frame + C_FRAME_END;
    return luajit_word(c_frame + C_FRAME_OUTER) & C_FRAME_ADDRESS;
}

static bool is_in_stack(const struct splicing *s, uintptr_t c_frame) {
    return c_frame % SLOT == 0 && unwind_trail_is_in_stack(s->out.native->trail, c_frame) &&
           unwind_trail_is_in_stack(s->out.native->trail, c_frame + C_FRAME_END);
}

/* Puts the frames outward of compiled code, where the native stack ends: those inside the
 * interpreter frame that the code runs in, and those inside the outer interpreter frames. Returns
 * true if only the start of the interpreter is missing. */
static bool put_from(struct splicing *s, uintptr_t state, uintptr_t base, uintptr_t trace) {
    uintptr_t c_frame = s->expected, outer;
    s->walk = walk_begin(state, base, 0, s->out.native);
    put_compiled(s, trace);
    while ((outer = outer_c_frame(s, c_frame)) > c_frame && is_in_stack(s, outer)) {
        put_c_frame(s, outer);
        c_frame = outer;
    }
    return is_over(s);
}

/* Sets the interpreter frame that is expected next. The thread must be in Lua: otherwise another
 * thread may be closing the state that this thread was in last. */
static void expect(struct splicing *s, uintptr_t global) {
    if (s->expects)
        return;
    const uintptr_t state = global ? luajit_word(global + s->l->current) : 0;
    const bool has_begun = state && luajit_word(state + STATE_STACK);
    const uintptr_t c_frame = has_begun ? luajit_word(state + STATE_C_FRAME) & C_FRAME_ADDRESS : 0;
    s->expected = is_in_stack(s, c_frame) ? c_frame : 0;
    s->expects = true;
}

/* Puts all frames from `pc` outward if that is in compiled code. Returns false if it is not. */
static bool put_from_compiled(struct splicing *s, uintptr_t global, uintptr_t pc,
                              bool *is_complete) {
    expect(s, global);
    const uintptr_t base =
        global && s->expected ? luajit_word(global + s->l->current + CURRENT_BASE) : 0;
    const uintptr_t trace = base ? trace_of(s, global, pc) : 0;
    if (!trace)
        return false;
    *is_complete = put_from(s, luajit_word(global + s->l->current), base, trace);
    return true;
}

/* Puts all frames while compiled code is being left. Registers are saved below the interpreter's
 * frame, and the functions that the code had called are only now getting their frames. */
static bool put_from_exit(struct splicing *s, uintptr_t global) {
    const uintptr_t state = luajit_word(global + s->l->current);
    return put_from(s, state, luajit_word(state + STATE_BASE), 0);
}

/* Returns whether an interpreter frame is at an address that no pointer has led to, by checking its
 * lua_State. */
static bool is_c_frame(const struct splicing *s, uintptr_t c_frame) {
    return is_in_stack(s, c_frame) && luajit_layout_of(luajit_word(c_frame + C_FRAME_L)) == s->l;
}

/* Puts the frames inside a native frame at `at` that is in the interpreter's code. Returns true if
 * the rest of the native stack must not be used. */
static bool put_interpreter(struct splicing *s, uintptr_t global, uintptr_t at, bool *is_complete) {
    if (global && at < s->expected && !s->has_lua) {
        *is_complete = put_from_exit(s, global);
        return true;
    }
    if (at != s->expected && !is_c_frame(s, at))
        return false;
    put_c_frame(s, at);
    s->expected = outer_c_frame(s, at);
    if (!is_in_stack(s, s->expected))
        s->expected = 0;
    *is_complete = is_over(s);
    return *is_complete;
}

/* ---- native and Lua frames together -------------------------------------------------------- */

/* Returns true if only the start of the interpreter is missing. */
static bool put_all(struct splicing *s, uintptr_t global) {
    const struct runtime_splice *const native = s->out.native;
    const bool has_places = s->l && native->has_places && !(native->flags & UNWIND_SIGNAL);
    for (size_t i = native->n; i > 0 && !s->out.is_full; i--) {
        const uintptr_t pc = unwind_trail_pc(native->trail, i - 1);
        bool is_complete = false;
        if (has_places && lua_range_has(&s->r->eval, pc - 1)) {
            expect(s, global);
            if (put_interpreter(s, global, native->trail->points[i - 1].sp, &is_complete))
                return is_complete;
        } else if (lua_range_has(&s->r->code, pc - 1)) {
            continue;
        } else if (has_places && !is_code(pc) && put_from_compiled(s, global, pc, &is_complete)) {
            return is_complete;
        } else {
            splice_put_native(&s->out, pc);
        }
    }
    return false;
}

/* Puts native frames only, which say more while LuaJIT compiles a chunk, or while only its library
 * is called. */
static void put_native(struct splicing *s) {
    const struct runtime_splice *const native = s->out.native;
    s->out = splice_begin(&s->f->stack, native);
    for (size_t i = native->n; i > 0 && !s->out.is_full; i--)
        splice_put_native(&s->out, unwind_trail_pc(native->trail, i - 1));
}

struct runtime_stack luajit_frames_splice(luajit_frames *f, const lua_runtime *r,
                                          const struct luajit_layout *layout, uintptr_t global,
                                          const struct runtime_splice *native) {
    struct runtime_splice whole = *native;
    struct splicing s = {.out = splice_begin(&f->stack, native), .f = f, .r = r, .l = layout};
    if (put_all(&s, layout ? global : 0)) {
        whole.flags &= ~(unsigned)UNWIND_FAILED;
        s.out.native = &whole;
    }
    if (!s.has_lua) {
        s.out.native = native;
        put_native(&s);
    }
    return splice_end(&s.out, false, 0);
}
