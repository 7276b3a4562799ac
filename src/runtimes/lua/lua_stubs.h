/* lua_stubs.h: the functions of Lua's that are turned aside (lua_calls.h), for C and the assembler:
 * each first goes to lua_stub_NAME, and from there to where lua_go_on_NAME says. And what stands in
 * front of Lua's allocators. */
#ifndef LUA_STUBS_H
#define LUA_STUBS_H

/* X(name): lua_NAME enters the lua_State that is its first argument. */
#define LUA_CALLS(X)                                                                               \
    X(call)                                                                                        \
    X(callk)                                                                                       \
    X(pcall)                                                                                       \
    X(pcallk)                                                                                      \
    X(cpcall)                                                                                      \
    X(resume)

/* X(n): lua_allocator_n stands in front of an allocator of the program's, which is called by way of
 * lua_allocators. */
#define LUA_ALLOCATORS(X) X(0) X(1) X(2) X(3)

/* Where struct lua_birth has what is noted. */
#define LUA_BIRTH_SP   0
#define LUA_BIRTH_AT   8
#define LUA_BIRTH_TYPE 16
#define LUA_BIRTH_KEPT 24

/* And struct lua_calls what lua_phases.h is about. */
#define LUA_CALLS_GLOBAL 72
#define LUA_CALLS_PHASE  80

#endif
