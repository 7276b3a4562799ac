/* lua_stubs.h: the functions of Lua's that are turned aside (lua_calls.h), for C and the assembler:
 * each first goes to lua_stub_NAME, and from there to where lua_go_on_NAME says. */
#ifndef LUA_STUBS_H
#define LUA_STUBS_H

/* X(name): lua_NAME enters the lua_State that is its first argument. */
#define LUA_CALLS(X)                                                                               \
    X(call)                                                                                        \
    X(callk)                                                                                       \
    X(pcall)                                                                                       \
    X(pcallk)                                                                                      \
    X(cpcall)                                                                                      \
    X(resume)                                                                                      \
    X(close)

#endif
