/* lua_names.h: the file, function name and line of a Lua frame. A Lua function has no name of its
 * own. As in Lua's own tracebacks, it gets the name by which its caller calls it. The first name
 * that is found is kept. */
#ifndef LUA_NAMES_H
#define LUA_NAMES_H

#include "record/code.h"
#include "runtimes/lua/lua_layout.h"
#include "runtimes/names.h"

/* A frame's slot in the trace: an entry of the table of names, and a line. */
enum { LUA_LINE_BITS = 22 };
_Static_assert(LUA_LINE_BITS + NAMES_BITS < RUNTIME_SPLICED_BITS, "fits a slot");

/* The slot of all functions for which the table had no room. */
enum { LUA_SLOT_FULL = 1 };

/* A place in a running function: its Proto, which is alive, and the index of the current
 * instruction. */
struct lua_place {
    uintptr_t proto; /* 0: there is none */
    size_t pc;
};

/* Returns the place for `saved`, the address after the current instruction. */
struct lua_place lua_names_place(const struct lua_layout *l, uintptr_t proto, uintptr_t saved);

/* Returns the opcode of the current instruction. */
unsigned lua_names_opcode(const struct lua_layout *l, const struct lua_place *place);

/* Returns the slot of a Lua function that `caller` called. A caller whose proto is 0 is unknown. */
uintptr_t lua_names_slot(const struct lua_layout *l, const struct lua_place *place,
                         const struct lua_place *caller);

/* Returns the slot of a C function; 0: its caller has no name for it. */
uintptr_t lua_names_slot_of_c(const struct lua_layout *l, const struct lua_place *caller);

/* A function, identified by its chunk and the line where its text begins (0: the chunk itself).
 * `name` returns the name by which its caller calls it, or NULL. `remark` is a literal that is
 * appended to the name, or NULL. */
struct lua_named {
    const char *source; /* as Lua keeps it; NULL: unknown */
    unsigned line;
    const char *(*name)(const struct lua_named *f);
    const char *remark;
};

/* Return the slot of such a function at a line, and the slot of a C function. */
uintptr_t lua_names_slot_of(const struct lua_named *f, uintptr_t line);
uintptr_t lua_names_slot_called(const char *name);

/* `locate` of record/runtime.h. */
size_t lua_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                        size_t max);

#endif
