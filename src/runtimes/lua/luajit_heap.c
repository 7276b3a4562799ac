/* luajit_heap.c: the wrapper of LuaJIT's allocator, and the states that use it.
 *
 * A state is identified by the context argument of its allocator. While a state is in the table,
 * only its own calls use its entry, so these read the entry without a lock.
 *
 * When a state is closed while LuaJIT's own allocator is in place, LuaJIT frees all its memory at
 * once. So that allocator is put back when the stack of the main thread is freed, which is the last
 * block except for one or two. If the recording has ended, closing is no longer noticed. Then the
 * state's next call puts the allocator back; this is not done for all states at once, because other
 * threads may be closing theirs at that moment. */
#include "runtimes/lua/luajit_heap.h"

#include <stdatomic.h>
#include <sys/auxv.h>

#include "base/hot.h"
#include "platform/maps.h"
#include "record/lock.h"
#include "record/native.h"
#include "record/recorder.h"
#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_frames.h"
#include "runtimes/lua/lua_phases.h"
#include "runtimes/peek.h"

#define COLD HOT_CODE static __attribute__((noinline))

enum { STATES_MAX = 64, FOREIGN = 1 };

static struct {
    lock lock;                          /* protects adding and removing states */
    lua_allocator *_Atomic wrapped;     /* the allocator, the same for all states */
    const struct luajit_layout *layout; /* NULL: no state was met yet */
    bool is_unfit;                      /* a state had an unknown layout */
    _Atomic bool has_ended;             /* a recording that came late has ended */
    struct {
        _Atomic uintptr_t context; /* 0: free */
        uintptr_t global;
        bool is_closing;
        uint8_t phase;
        enum lua_phase told;
    } states[STATES_MAX];
    _Atomic size_t n; /* entries that were ever used */
} heap;

static size_t state_of(uintptr_t context) {
    const size_t n = atomic_load_explicit(&heap.n, memory_order_acquire);
    size_t i = 0;
    while (i < n && atomic_load_explicit(&heap.states[i].context, memory_order_acquire) != context)
        i++;
    return i < n ? i : STATES_MAX;
}

static size_t state_by_global(uintptr_t global) {
    const size_t n = atomic_load_explicit(&heap.n, memory_order_acquire);
    size_t i = 0;
    while (i < n && (heap.states[i].global != global || !atomic_load(&heap.states[i].context)))
        i++;
    return i < n ? i : STATES_MAX;
}

/* ---- collections --------------------------------------------------------------------------- */

static const uint8_t phases[] = {LUA_RESTS,  LUA_MARKS,  LUA_MARKS,
                                 LUA_SWEEPS, LUA_SWEEPS, LUA_FINALIZES};

static enum lua_phase phase_of(uint8_t phase) {
    return phase < sizeof phases ? (enum lua_phase)phases[phase] : LUA_UNTOLD;
}

static __attribute__((noinline)) void phase_changed(size_t i, uint8_t phase) {
    heap.states[i].phase = phase;
    heap.states[i].told = lua_phases_tell(heap.states[i].told, phase_of(phase));
}

static inline void look_at_phase(uintptr_t context) {
    const size_t i = state_of(context);
    if (i == STATES_MAX)
        return;
    const uint8_t phase = luajit_byte(heap.states[i].global + GLOBAL_PHASE);
    if (__builtin_expect(phase != heap.states[i].phase, 0))
        phase_changed(i, phase);
}

static atomic_uint closing; /* number of states that are being closed */

/* ---- the allocator ------------------------------------------------------------------------- */

static lua_allocator *own(void) {
    return atomic_load_explicit(&heap.wrapped, memory_order_relaxed);
}

static void leave(size_t i) {
    const uintptr_t global = heap.states[i].global;
    lua_allocator *const before = own();
    __atomic_store_n((lua_allocator **)(global + GLOBAL_ALLOCATOR), before, __ATOMIC_RELAXED);
    if (heap.states[i].is_closing)
        atomic_fetch_sub(&closing, 1);
    heap.states[i].is_closing = false;
    atomic_store(&heap.states[i].context, 0);
}

/* Ends the recording of a state that is being closed, if the block is the stack of its main thread.
 * The last block, of which no call will tell, counts as freed now. */
static void look_at_end(uintptr_t context, const void *block) {
    const size_t i = state_of(context);
    if (i == STATES_MAX || !heap.states[i].is_closing)
        return;
    const uintptr_t global = heap.states[i].global;
    if ((uintptr_t)block != luajit_word(luajit_word(global + GLOBAL_MAIN) + STATE_STACK))
        return;
    void *const last = (void *)luajit_word(global + GLOBAL_SEGMENTS);
    if (last && memprof_is_tracked(&recorder_filter, last))
        native_died(last);
    leave(i);
}

COLD void *cold_jit_free(void *context, void *block, size_t old_size) {
    native_died(block);
    return own()(context, block, old_size, 0);
}

/* Notes which state allocates: C code may have returned from a call into another state. */
static void note_state(uintptr_t context) {
    struct lua_calls *const calls = lua_calls_make_own();
    const size_t i = state_of(context);
    if (calls && i < STATES_MAX)
        calls->allocates = heap.states[i].global;
}

/* Must be called by the wrapper itself: the stack starts here, with as few of our frames as
 * possible. */
COLD void *cold_jit_allocate(void *context, void *block, size_t old_size, size_t size) {
    recorder_uncount(size);
    const uint64_t taken = block ? native_take(block) : 0;
    const int64_t left = recorder_pause();
    void *const moved = own()(context, block, old_size, size);
    recorder_resume(left);
    if (taken)
        native_settle(block, taken, moved != NULL);
    if (moved) {
        struct unwind_site site;
        note_state((uintptr_t)context);
        unwind_site_here(&site);
        if (!block && size > JIT_TAG)
            ((uint8_t *)moved)[JIT_TAG] = 0; /* not an object yet */
        self.moved = (struct moved){block, moved};
        if (recorder_has_room(site.sp))
            native_born(moved, size, N_CALL_TYPES, &site);
        self.moved = (struct moved){0};
    }
    return moved;
}

COLD void *cold_jit_leave(void *context, void *block, size_t old_size, size_t size) {
    const size_t i = state_of((uintptr_t)context);
    if (i < STATES_MAX)
        leave(i);
    return own()(context, block, old_size, size);
}

HOT_CODE static void *jit_allocate(void *context, void *block, size_t old_size, size_t size) {
    if (__builtin_expect(!lua_calls_are_noted(), 0))
        return cold_jit_leave(context, block, old_size, size);
    look_at_phase((uintptr_t)context);
    if (size == 0) {
        if (__builtin_expect(atomic_load_explicit(&closing, memory_order_relaxed) > 0, 0))
            look_at_end((uintptr_t)context, block);
        if (block && memprof_is_tracked(&recorder_filter, block))
            return cold_jit_free(context, block, old_size);
        const int64_t left = recorder_pause();
        own()(context, block, old_size, 0);
        recorder_resume(left);
        return NULL;
    }
    const bool is_sampled = memprof_count(&self.sampler, recorder_words(size));
    if (is_sampled || (block && memprof_is_tracked(&recorder_filter, block)))
        return cold_jit_allocate(context, block, old_size, size);
    const int64_t left = recorder_pause();
    void *const moved = own()(context, block, old_size, size);
    recorder_resume(left);
    return moved;
}

/* ---- which states -------------------------------------------------------------------------- */

static void refuse(void) {
    if (heap.is_unfit)
        return;
    heap.is_unfit = true;
    recorder_tell_user(
        "this version of LuaJIT has an unknown layout: only malloc is recorded, which "
        "its objects do not come from");
}

/* Returns the entry for a state: that of an earlier state with the same context, whose end was not
 * noticed, or a free one. */
static size_t place_for(uintptr_t context) {
    const size_t same = state_of(context), i = same < STATES_MAX ? same : state_of(0);
    return i < STATES_MAX ? i : atomic_load(&heap.n);
}

static void add_state(size_t i, uintptr_t global, uintptr_t context) {
    heap.states[i].global = global;
    heap.states[i].phase = luajit_byte(global + GLOBAL_PHASE);
    heap.states[i].told = heap.states[i].phase ? LUA_UNTOLD : LUA_RESTS;
    heap.states[i].is_closing = false;
    atomic_store(&heap.states[i].context, context);
    if (i == atomic_load(&heap.n))
        atomic_store(&heap.n, i + 1);
}

/* Adds a state and wraps its allocator. A state with an allocator of the program is only added,
 * under a context with the bit FOREIGN, which no context of LuaJIT has. */
static void adopt(const lua_runtime *r, uintptr_t global) {
    lua_allocator **const at = (lua_allocator **)(global + GLOBAL_ALLOCATOR);
    lua_allocator *const now = *at, *const known = own();
    const size_t i = place_for(luajit_word(global + GLOBAL_CONTEXT));
    if (now == jit_allocate || i == STATES_MAX)
        return;
    if (!lua_range_has(&r->module, (uintptr_t)now) || (known && known != now)) {
        if (lua_calls_are_noted() && state_by_global(global) == STATES_MAX)
            add_state(i, global, global | FOREIGN);
        return;
    }
    atomic_store(&heap.wrapped, now);
    add_state(i, global, luajit_word(global + GLOBAL_CONTEXT));
    __atomic_store_n(at, jit_allocate, __ATOMIC_RELEASE);
}

/* Returns whether a state was checked already. A new state may have the address of an old one, so
 * the allocator is checked, too. */
static bool is_known(const lua_runtime *r, const struct lua_calls *calls, uintptr_t global) {
    lua_allocator *const now = *(lua_allocator **)(global + GLOBAL_ALLOCATOR);
    return calls->allocates == global &&
           (now == jit_allocate || !lua_range_has(&r->module, (uintptr_t)now));
}

void luajit_heap_enter(const lua_runtime *r, uintptr_t state) {
    struct lua_calls *const calls = lua_calls_make_own();
    const uintptr_t global = luajit_word(state + STATE_GLOBAL);
    if (!calls || is_known(r, calls, global) || heap.is_unfit ||
        !lock_acquire_patiently(&heap.lock))
        return;
    const struct luajit_layout *const layout = luajit_layout_of(state);
    if (layout && (!heap.layout || heap.layout == layout)) {
        heap.layout = layout;
        calls->allocates = global;
        adopt(r, global);
    } else
        refuse();
    lock_release(&heap.lock);
}

/* ---- existing states ------------------------------------------------------------------------- */

/* Adopts the states of all interpreter frames on the stack. A word may only look like a return into
 * the interpreter, or be left over from a call that has ended. Its lua_State may then be gone, and
 * LuaJIT's own allocator has unmapped the memory, so nothing is read without asking the kernel. */
static void meet_states(const lua_runtime *r, uintptr_t low, uintptr_t high) {
    for (uintptr_t at = low; at + C_FRAME_END < high; at += sizeof at) {
        const uintptr_t c_frame = at + sizeof at;
        if (!lua_range_has(&r->eval, luajit_word(at) - 1))
            continue;
        const uintptr_t state = luajit_word(c_frame + C_FRAME_L);
        const struct luajit_layout *const layout = luajit_layout_of(state);
        lua_allocator *allocator = NULL;
        if (layout && peek_bytes(luajit_word(state + STATE_GLOBAL), &allocator, sizeof allocator) &&
            lua_range_has(&r->module, (uintptr_t)allocator))
            luajit_heap_enter(r, state);
    }
}

/* Forgets the states with allocators of the program. Since the last recording, it was not noticed
 * if they were closed. */
static void forget_foreign(void) {
    lock_acquire(&heap.lock);
    const size_t n = atomic_load(&heap.n);
    for (size_t i = 0; i < n; i++)
        if (atomic_load(&heap.states[i].context) & FOREIGN)
            atomic_store(&heap.states[i].context, 0);
    lock_release(&heap.lock);
}

/* We run on a borrowed stack, so the main thread's stack is found by an address from the auxiliary
 * vector. */
void luajit_heap_begin_late(const lua_runtime *r) {
    forget_foreign();
    atomic_store(&heap.has_ended, false);
    struct mapping stack;
    char path[8];
    const uintptr_t at = getauxval(AT_RANDOM);
    if (at && lua_calls_are_alone() && maps_find(at, &stack, path, sizeof path))
        meet_states(r, stack.low, stack.high);
}

void luajit_heap_close(uintptr_t state) {
    struct lua_calls *const calls = lua_calls_own();
    const size_t i = state_by_global(luajit_word(state + STATE_GLOBAL));
    if (i == STATES_MAX)
        return;
    if (calls)
        calls->allocates = 0;
    if (atomic_load(&heap.states[i].context) & FOREIGN) {
        atomic_store(&heap.states[i].context, 0);
        return;
    }
    heap.states[i].is_closing = true;
    atomic_fetch_add(&closing, 1);
}

bool luajit_heap_may_look(void) {
    return !atomic_load(&heap.has_ended);
}

void luajit_heap_end(void) {
    atomic_store(&heap.has_ended, true);
}

const struct luajit_layout *luajit_heap_layout(void) {
    return heap.layout;
}

uintptr_t luajit_heap_global(void) {
    const struct lua_calls *const calls = lua_calls_own() ? lua_calls_make_own() : NULL;
    return calls && calls->allocates && state_by_global(calls->allocates) < STATES_MAX
               ? calls->allocates
               : 0;
}

/* ---- types --------------------------------------------------------------------------------- */

static bool is_string(uintptr_t o, size_t bytes) {
    const size_t least = STRING_AT + (size_t)luajit_half(o + STRING_LENGTH) + 1;
    return bytes >= least && bytes < least + 2 * sizeof o;
}

/* Returns whether the block is a Lua function. The number of upvalues is taken from its GCproto, as
 * the function's own count may not be set yet. */
static bool is_function_of_lua(uintptr_t o, size_t bytes) {
    uint8_t tag, n;
    const uintptr_t proto =
        bytes >= FUNCTION_BYTES ? luajit_word(o + FUNCTION_CODE) - PROTO_CODE : 0;
    return proto && peek_bytes(proto + JIT_TAG, &tag, 1) && tag == JIT_PROTO &&
           peek_bytes(proto + PROTO_N_UPVALUES, &n, 1) && bytes == FUNCTION_BYTES + n * sizeof o;
}

static bool is_function(uintptr_t o, size_t bytes) {
    if (!luajit_byte(o + FUNCTION_KIND))
        return is_function_of_lua(o, bytes);
    return bytes == FUNCTION_C_BYTES + luajit_byte(o + FUNCTION_UPVALUES) * sizeof o;
}

static bool is_table(uintptr_t o, size_t bytes) {
    enum { PARTS = 127 };
    return bytes == TABLE_BYTES + (luajit_byte(o + TABLE_PARTS) & PARTS) * sizeof o;
}

static bool is_data(uintptr_t o, size_t bytes) {
    const size_t least = DATA_BYTES + (size_t)luajit_half(o + DATA_LENGTH);
    return bytes >= least && bytes < least + sizeof o;
}

static bool is_proto(uintptr_t o, size_t bytes) {
    return bytes >= PROTO_CODE && bytes - luajit_half(o + PROTO_SIZE) < sizeof o;
}

/* A tag counts only if the size fits such an object. */
int luajit_heap_type(const void *block, size_t bytes) {
    const uintptr_t o = (uintptr_t)block;
    enum { LEAST = 16 };
    if (bytes < LEAST || luajit_word(o) % sizeof o || luajit_word(o) > JIT_ADDRESS)
        return -1;
    switch (luajit_byte(o + JIT_TAG)) {
    case JIT_STRING:
        return bytes > STRING_AT && is_string(o, bytes) ? LUA_TYPE_string : -1;
    case JIT_UPVALUE:
        return bytes == UPVALUE_BYTES ? LUA_TYPE_upvalue : -1;
    case JIT_THREAD:
        return bytes == STATE_SIZE || bytes == STATE_SIZE + STATE_MORE ? LUA_TYPE_thread : -1;
    case JIT_PROTO:
        return is_proto(o, bytes) ? LUA_TYPE_prototype : -1;
    case JIT_FUNCTION:
        return is_function(o, bytes) ? LUA_TYPE_function : -1;
    case JIT_TRACE:
        return bytes >= TRACE_BYTES ? LUA_TYPE_trace : -1;
    case JIT_CDATA:
        return LUA_TYPE_cdata;
    case JIT_TABLE:
        return is_table(o, bytes) ? LUA_TYPE_table : -1;
    case JIT_USERDATA:
        return bytes >= DATA_BYTES && is_data(o, bytes) ? LUA_TYPE_userdata : -1;
    default:
        return -1;
    }
}
