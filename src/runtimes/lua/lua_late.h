/* lua_late.h: Lua in a program that was running before the recorder was attached. It finds the
 * calls into Lua that began earlier and were not noted, and wraps the allocators of lua_States that
 * exist already. */
#ifndef LUA_LATE_H
#define LUA_LATE_H

#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* Returns the calling thread's calls, including those that began before the recording. NULL: its
 * lua_State is unknown, or nothing is noted yet. */
const struct lua_calls *lua_late_calls(const lua_runtime *r, const struct runtime_splice *native);

/* Wraps the allocator of a lua_State that the thread is in (lua_calls.h). */
void lua_late_adopt(const lua_runtime *r, uintptr_t state);

#endif
