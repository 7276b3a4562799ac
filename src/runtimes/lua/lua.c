/* lua.c: puts Lua frames into the stacks of all allocations. Lua takes each of its objects from
 * realloc, through the allocator that it was given. So its heap consists of malloc blocks, which
 * are recorded already. But their native stacks do not help: they show the evaluator, whatever the
 * program does.
 *
 * Why not otherwise. A hook (lua_sethook) would slow each call down, replace the program's own
 * hook, and see no allocation. lua_getstack and lua_getinfo move pointers in a lua_State that is in
 * the middle of an operation, and need to be told which lua_State is meant.
 *
 * LuaJIT's blocks are recorded where it calls its own allocator (luajit_heap.h), and its frames
 * have another layout (luajit_frames.h). The rest is shared.
 *
 * What must hold. No function of Lua is called. Frames are read from memory (lua_frames.h) by the
 * known layout of each version (lua_layout.h), and names are copied once (lua_names.h). Nothing is
 * read of an unknown version of Lua: only malloc is recorded then. */
#include <stdatomic.h>

#include "base/hot.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_frames.h"
#include "runtimes/lua/lua_late.h"
#include "runtimes/lua/lua_layout.h"
#include "runtimes/lua/lua_names.h"
#include "runtimes/lua/luajit_frames.h"
#include "runtimes/lua/luajit_heap.h"

static lua_runtime lua; /* set by lua_layout_find */

static const char *const lua_type_names[] = {
#define TYPE_NAME(name) #name,
    LUA_TYPES(TYPE_NAME)};
enum { N_TYPES = sizeof lua_type_names / sizeof *lua_type_names };

/* ---- stacks -------------------------------------------------------------------------------- */

/* How often a lua_State may look invalid before Lua's layout counts as unknown: a single failure
 * can mean that its stack is just being moved. */
enum { FIT_TRIES = 16 };
static _Atomic bool lua_fits;
static _Atomic unsigned lua_tries;

static bool frames_fit(uintptr_t state) {
    if (__builtin_expect(atomic_load_explicit(&lua_fits, memory_order_relaxed), 1)) {
        if (recorder_runtime_is_late())
            lua_late_adopt(&lua, state);
        return true;
    }
    if (atomic_load(&lua_tries) >= FIT_TRIES)
        return false;
    if (lua_frames_fit(&lua, state, LUA_FRAMES_FEW)) {
        atomic_store(&lua_fits, true);
        return true;
    }
    if (atomic_fetch_add(&lua_tries, 1) == FIT_TRIES - 1)
        recorder_tell_user(
            "its Lua's frames have an unknown layout: stacks are recorded without them");
    return false;
}

static struct runtime_stack lua_splice(void *state, const struct runtime_splice *native) {
    if (lua.is_jit)
        return luajit_frames_splice(state, &lua, luajit_heap_layout(), luajit_heap_global(),
                                    native);
    const struct lua_calls *const calls =
        recorder_runtime_is_late() ? lua_late_calls(&lua, native) : lua_calls_own();
    return lua_frames_splice(state, &lua, calls, frames_fit, native);
}

/* ---- for the recorder ---------------------------------------------------------------------- */

HOT_CODE static enum runtime_kind lua_find(const char **why) {
    const enum runtime_kind kind = lua_layout_find(&lua, why);
    if (kind != RUNTIME_RECORDABLE)
        return kind;
    *why = lua_calls_why_not(&lua);
    return *why ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}

static bool lua_has_come(void) {
    return lua_calls_are_alone() && lua_layout_has_come();
}

static void lua_begin(void) {
    if (!lua_calls_begin(&lua))
        recorder_tell_user(
            "its Lua's functions cannot be turned aside: stacks are recorded without "
            "Lua's frames");
    else if (lua.is_jit && recorder_runtime_is_late())
        luajit_heap_begin_late(&lua);
}

static void lua_end(void) {
    if (lua.is_jit)
        luajit_heap_end();
}

static size_t lua_codes(control_code codes[CONTROL_RUNTIME_CODES]) {
    return recorder_is_late() ? lua_calls_codes(codes) : 0;
}

static const char *lua_parameters(void) {
    return NULL;
}

static size_t lua_domain_size(size_t depth) {
    return lua.is_jit ? luajit_frames_size(depth) : lua_frames_size(depth);
}

static void lua_domain_init(void *state, size_t depth) {
    if (lua.is_jit)
        luajit_frames_init(state, depth);
    else
        lua_frames_init(state, depth);
}

static void lua_domain_forget(void *state) {
    if (lua.is_jit)
        luajit_frames_forget(state);
    else
        lua_frames_forget(state);
}

static bool lua_name_object(void *state, uint64_t *code, const struct runtime_object *object) {
    const int type = luajit_heap_type(object->block, object->bytes);
    (void)state;
    if (type < 0)
        return false;
    const unsigned in_trace = N_CALL_TYPES + 1 + (unsigned)type;
    *code = code_is_of_runtime(*code)
                ? code_of_spliced(code_spliced_slot(code_runtime_slot(*code)), in_trace)
                : code_with_type(code_without_type(*code), in_trace);
    return true;
}

const struct runtime lua_runtime_row = {
    .find = lua_find,
    .begin = lua_begin,
    .end = lua_end,
    .codes = lua_codes,
    .has_come = lua_has_come,
    .parameters = lua_parameters,
    .domain_size = lua_domain_size,
    .domain_init = lua_domain_init,
    .domain_forget = lua_domain_forget,
    .splice = lua_splice,
    .type_names = lua_type_names,
    .n_types = N_TYPES,
    .n_object_types = LUA_TYPE_LuaJIT + 1,
    .may_look = luajit_heap_may_look,
    .name_object = lua_name_object,
    .locate = lua_names_locate,
};
