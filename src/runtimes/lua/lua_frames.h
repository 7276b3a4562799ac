/* lua_frames.h: puts Lua frames into the calling thread's native stack: see record/runtime.h,
 * `splice`. */
#ifndef LUA_FRAMES_H
#define LUA_FRAMES_H

#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* The state of a domain, for stacks of up to `depth` frames. */
typedef struct lua_frames lua_frames;
size_t lua_frames_size(size_t depth);
void lua_frames_init(lua_frames *f, size_t depth);
void lua_frames_forget(lua_frames *f);

/* X(name): the name of an object type in the trace. The first is for LuaJIT's blocks that are not
 * objects, or not yet. */
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

/* `calls` is NULL if the thread has never been in Lua. `fits` returns whether a lua_State that the
 * thread is in can be read. */
struct runtime_stack lua_frames_splice(lua_frames *f, const lua_runtime *r,
                                       const struct lua_calls *calls, bool fits(uintptr_t state),
                                       const struct runtime_splice *native);

/* Returns how many calls of the evaluator the functions in a lua_State's call list belong to. */
size_t lua_frames_runs(const lua_runtime *r, uintptr_t state, const struct runtime_splice *native);

/* Returns whether `state` looks like a lua_State, by checking up to `most` of its innermost calls.
 * It trusts no address. */
enum { LUA_FRAMES_FEW = 8 };
bool lua_frames_fit(const lua_runtime *r, uintptr_t state, size_t most);

#endif
