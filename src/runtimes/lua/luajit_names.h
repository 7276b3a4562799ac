/* luajit_names.h: the names of LuaJIT's frames, as lua_names.h has those of Lua's. */
#ifndef LUAJIT_NAMES_H
#define LUAJIT_NAMES_H

#include "runtimes/lua/lua_names.h"
#include "runtimes/lua/luajit_layout.h"

/* A place in a Lua function. `saved` is the address after the current instruction; 0: unknown. */
struct luajit_place {
    uintptr_t proto, saved;
};

/* Returns the slot of a Lua function that `caller` called. A caller whose proto is 0 is unknown. */
uintptr_t luajit_names_slot(const struct luajit_place *place, const struct luajit_place *caller);

/* Returns the slot of a function that compiled code runs, somewhere after `line`. Compiled code may
 * by now be in other functions that this one calls. */
uintptr_t luajit_names_slot_compiled(uintptr_t proto, const struct luajit_place *caller,
                                     uintptr_t line);

/* Returns the slot of a C function; 0: its caller has no name for it. */
uintptr_t luajit_names_slot_of_c(const struct luajit_place *caller);

/* Returns the line of an instruction; 0: unknown. */
uintptr_t luajit_names_line(uintptr_t proto, uintptr_t instruction);

#endif
