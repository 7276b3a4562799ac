/* lua_late.h: Lua in a program that ran already when the recorder came: calls into Lua that had
 * begun before, which nobody has noted, and lua_States that were given their allocator before. */
#ifndef LUA_LATE_H
#define LUA_LATE_H

#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* The calling thread's calls with those that began before; NULL: which lua_State it is in is not
 * known, or nothing is noted yet. */
const struct lua_calls *lua_late_calls(const lua_runtime *r, const struct runtime_splice *native);

/* The allocator of a lua_State that the thread is in gets a function in front (lua_calls.h). */
void lua_late_adopt(const lua_runtime *r, uintptr_t state);

#endif
