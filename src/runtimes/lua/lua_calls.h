/* lua_calls.h: which lua_State a thread is in. A malloc says nothing of it; who knows are the
 * functions by which programs enter Lua, and Lua its coroutines (lua_callk, lua_pcallk,
 * lua_resume): they are turned aside to note what they are called with and where the stack is, and
 * go on.
 *
 * What is noted is not taken back, for calls end by longjmp as well: a call goes on if the native
 * stack still has the frame that it returns to, just where it was. So nothing of ours is ever left
 * on the stack between the program and Lua. The same way it is known for what Lua calls its
 * allocator: lua_newstate is given a function in front of it, which notes what it is called with.
 */
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

enum { LUA_CALLS_MAX = 256 /* Lua allows 200 at once */, LUA_KEPT = 6 /* registers */ };

/* A call of Lua's allocator, as lua_stubs.S notes it. */
struct lua_birth {
    uintptr_t sp, return_address;
    uintptr_t type;           /* what Lua says of a new object's; 0: it is none */
    uintptr_t kept[LUA_KEPT]; /* registers that functions keep: bx, bp, 12, 13, 14, 15 */
};

struct lua_calls {
    struct lua_birth birth; /* the last one */
    uintptr_t global;       /* the global_State that was entered last, or lua_phases_none */
    uint8_t phase;          /* of it, as was seen last: see lua_phases.h */
    unsigned noted;         /* what lua_calls_noted was when these were */
    bool is_whole;          /* there are no others that go on: see lua_late.h */
    unsigned tries;         /* to find those */
    uintptr_t allocates;    /* LuaJIT's: the global_State whose allocator was looked at last */
    size_t n;
    struct lua_call calls[LUA_CALLS_MAX]; /* the innermost last */
};

/* The calling thread's, to change which is its own business; NULL: it never was in Lua. */
struct lua_calls *lua_calls_own(void);

/* The same; NULL: there is no memory. */
struct lua_calls *lua_calls_make_own(void);

/* Whether the functions can be turned aside; NULL or why not. Then, before the program runs, does
 * it: false if the kernel does not let their code be changed. In a program that runs already, it is
 * only made ready: what is to be changed is lua_calls_codes. */
const char *lua_calls_why_not(const lua_runtime *r);
bool lua_calls_begin(const lua_runtime *r);
size_t lua_calls_codes(control_code codes[CONTROL_RUNTIME_CODES]);

/* 0: not all calls are noted, so that what is noted may be of calls that have ended. Else they are,
 * each time that they begin to be another number. In a program that runs already it is changed with
 * the code, while no thread runs: no call ever begins unseen while it says that none does. */
extern volatile unsigned lua_calls_noted __attribute__((visibility("hidden")));
static inline bool lua_calls_are_noted(void) {
    return lua_calls_noted != 0;
}

/* Whether the process has one thread. */
bool lua_calls_are_alone(void);

/* Is this a return address into one of the functions, which one is resume? */
bool lua_calls_have(uintptr_t pc, bool *is_resume);

/* What is to be given to Lua in place of an allocator. It stays there when the recording ends. */
typedef void *lua_allocator(void *context, void *block, size_t old_size, size_t size);
lua_allocator *lua_calls_in_front_of(lua_allocator *allocator);

#endif
