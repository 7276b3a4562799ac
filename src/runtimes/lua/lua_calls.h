/* lua_calls.h: which lua_State a thread is in. A malloc says nothing of it; who knows are the
 * functions by which programs enter Lua, and Lua its coroutines (lua_callk, lua_pcallk,
 * lua_resume): they are turned aside to note what they are called with and where the stack is, and
 * go on.
 *
 * What is noted is not taken back, for calls end by longjmp as well: a call goes on if the native
 * stack still has the frame that it returns to, just where it was. So nothing of ours is ever left
 * on the stack between the program and Lua. The same way it is known for what object of Lua an
 * allocator is called: lua_newstate is given a function in front of it, which notes the type. */
#ifndef LUA_CALLS_H
#define LUA_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/lua/lua_layout.h"

/* A call that goes on if there is a frame with this return address and sp. */
struct lua_call {
    uintptr_t sp, return_address, state;
};

enum { LUA_CALLS_MAX = 256 /* Lua allows 200 at once */ };

struct lua_calls {
    size_t n;
    struct lua_call calls[LUA_CALLS_MAX]; /* the innermost last */
    struct lua_call birth;                /* of an object: `state` is its type */
};

/* The calling thread's; NULL: it never was in Lua. */
const struct lua_calls *lua_calls_own(void);

/* Whether the functions can be turned aside; NULL or why not. Then, before the program runs, does
 * it: false if the kernel does not let their code be changed. */
const char *lua_calls_why_not(const lua_runtime *r);
bool lua_calls_begin(const lua_runtime *r);

#endif
