/* lua_stubs.h: the patched functions of Lua (lua_calls.h), for C and the assembler. Each jumps to
 * lua_stub_NAME first, and from there to the address in lua_go_on_NAME. And the wrappers of Lua's
 * allocators. */
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

/* X(n): lua_allocator_n wraps an allocator of the program, and calls it through lua_allocators. */
#define LUA_ALLOCATORS(X) X(0) X(1) X(2) X(3)

/* Offsets in struct lua_alloc_note, in bytes. */
#define LUA_NOTE_SP   0
#define LUA_NOTE_AT   8
#define LUA_NOTE_TYPE 16
#define LUA_NOTE_KEPT 24

/* Offsets in struct lua_calls, in bytes: see lua_phases.h. */
#define LUA_CALLS_GLOBAL 72
#define LUA_CALLS_PHASE  80

#endif
