/* lua_calls.h: tracks which lua_State each thread is in.
 *
 * A call of malloc does not tell. The functions by which programs enter Lua, and Lua enters its
 * coroutines (lua_callk, lua_pcallk, lua_resume), do: each is patched to note its lua_State and the
 * stack pointer first, and then continues.
 *
 * Notes are never taken back when a call returns, because calls also end by longjmp. A noted call
 * is still active if the native stack still has the frame that it returns to, at the same address.
 * So we leave no frame of ours on the stack between the program and Lua. Calls of Lua's allocator
 * are noted in the same way: lua_newstate is given a wrapper of the allocator, which notes its
 * arguments. */
#ifndef LUA_CALLS_H
#define LUA_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/lua/lua_layout.h"

/* A call that is active if the stack has a frame with this return address and sp. */
struct lua_call {
    uintptr_t sp, return_address, state;
};

enum { LUA_CALLS_MAX = 256 /* Lua allows 200 at once */, LUA_KEPT = 6 /* registers */ };

/* A call of Lua's allocator, as lua_stubs.S notes it. */
struct lua_alloc_note {
    uintptr_t sp, return_address;
    uintptr_t type;           /* the type tag of a new object; 0: not an object */
    uintptr_t kept[LUA_KEPT]; /* callee-saved registers: bx, bp, 12, 13, 14, 15 */
};

struct lua_calls {
    struct lua_alloc_note note; /* the last one that was noted */
    uintptr_t global;    /* the global_State that the thread entered last, or lua_phases_none */
    uint8_t phase;       /* phase of `global` when it was last read: see lua_phases.h */
    unsigned noted;      /* value of lua_calls_noted when these calls were noted */
    bool is_whole;       /* no active call is missing: see lua_late.h */
    unsigned tries;      /* attempts to find the missing calls */
    uintptr_t allocates; /* LuaJIT: the global_State whose allocator was checked last */
    size_t n;
    struct lua_call calls[LUA_CALLS_MAX]; /* innermost last */
};

/* Returns the calling thread's calls, which only that thread changes; NULL: it has never been in
 * Lua. */
struct lua_calls *lua_calls_own(void);

/* Like lua_calls_own, but makes them first if need be. NULL: out of memory. */
struct lua_calls *lua_calls_make_own(void);

/* lua_calls_why_not returns NULL if the functions can be patched, else the reason. Then
 * lua_calls_begin patches them, before the program runs. It returns false if that fails, for
 * example because the kernel does not let their code be changed. In a program that is already
 * running it only prepares the change; lua_calls_codes returns the code to be changed. */
const char *lua_calls_why_not(const lua_runtime *r);
bool lua_calls_begin(const lua_runtime *r);
size_t lua_calls_codes(control_code codes[CONTROL_RUNTIME_CODES]);

/* The number of the recording in which all calls are noted; 0: some calls are not noted, so a note
 * may be of a call that has ended. It differs for each recording. In a program that is already
 * running it changes together with the code, while no thread runs, so that no call begins unnoted
 * while it is not 0. */
extern volatile unsigned lua_calls_noted __attribute__((visibility("hidden")));
static inline bool lua_calls_are_noted(void) {
    return lua_calls_noted != 0;
}

/* Returns whether the process has just one thread. */
bool lua_calls_are_alone(void);

/* Returns whether `pc` is a return address into one of the patched functions, and sets `is_resume`
 * if that is lua_resume. */
bool lua_calls_have(uintptr_t pc, bool *is_resume);

/* Returns the function that Lua must be given in place of `allocator`. It stays in place when the
 * recording ends. */
typedef void *lua_allocator(void *context, void *block, size_t old_size, size_t size);
lua_allocator *lua_calls_wrap(lua_allocator *allocator);

#endif
