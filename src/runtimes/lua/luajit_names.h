/* luajit_names.h: what frames of LuaJIT's are called, as lua_names.h has it for Lua. */
#ifndef LUAJIT_NAMES_H
#define LUAJIT_NAMES_H

#include "runtimes/lua/lua_names.h"
#include "runtimes/lua/luajit_layout.h"

/* A function of Lua's, and the address behind the instruction at work; 0: it is not known. */
struct luajit_place {
    uintptr_t proto, saved;
};

/* The slot of a function of Lua's that a place has called, whose proto is 0 if nobody knows who. */
uintptr_t luajit_names_slot(const struct luajit_place *place, const struct luajit_place *caller);

/* Of one that compiled code runs, somewhere behind the line; it may be in others meanwhile, which
 * it calls. */
uintptr_t luajit_names_slot_compiled(uintptr_t proto, const struct luajit_place *caller,
                                     uintptr_t line);

/* The slot of a function of C; 0: its caller has no name for it. */
uintptr_t luajit_names_slot_of_c(const struct luajit_place *caller);

/* The line of an instruction; 0: it is not known. */
uintptr_t luajit_names_line(uintptr_t proto, uintptr_t instruction);

#endif
