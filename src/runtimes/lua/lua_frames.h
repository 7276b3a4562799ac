/* lua_frames.h: the calling thread's stack with Lua's frames in it: see record/runtime.h,
 * `splice`. */
#ifndef LUA_FRAMES_H
#define LUA_FRAMES_H

#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* What a domain keeps, for stacks of up to `depth` frames. */
typedef struct lua_frames lua_frames;
size_t lua_frames_size(size_t depth);
void lua_frames_init(lua_frames *f, size_t depth);
void lua_frames_forget(lua_frames *f);

/* X(name): as an object of Lua is called in a trace. The first is what LuaJIT allocates that is
 * none, or not yet. */
#define LUA_TYPES(X)                                                                               \
    X(LuaJIT)                                                                                      \
    X(string)                                                                                      \
    X(table)                                                                                       \
    X(function)                                                                                    \
    X(userdata)                                                                                    \
    X(thread)                                                                                      \
    X(upvalue)                                                                                     \
    X(prototype)                                                                                   \
    X(trace)                                                                                       \
    X(cdata)

enum lua_type {
#define LUA_TYPE(name) LUA_TYPE_##name,
    LUA_TYPES(LUA_TYPE)
#undef LUA_TYPE
};

/* `calls` is NULL: the thread never was in Lua. `fits` says whether a lua_State that it is in can
 * be read. */
struct runtime_stack lua_frames_splice(lua_frames *f, const lua_runtime *r,
                                       const struct lua_calls *calls, bool fits(uintptr_t state),
                                       const struct runtime_splice *native);

/* Of how many calls of the evaluator a lua_State has functions. */
size_t lua_frames_runs(const lua_runtime *r, uintptr_t state, const struct runtime_splice *native);

/* Whether a lua_State can be one, with its innermost calls, as many as `most`: looks without
 * trusting any address. */
enum { LUA_FRAMES_FEW = 8 };
bool lua_frames_fit(const lua_runtime *r, uintptr_t state, size_t most);

#endif
