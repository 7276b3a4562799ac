/* lua_names.h: what a frame of Lua's is called: file, function and line. A function of Lua has no
 * name of its own; as in Lua's own tracebacks it is called what its caller calls it, where it first
 * has a name, and so it is called from then on. */
#ifndef LUA_NAMES_H
#define LUA_NAMES_H

#include "record/code.h"
#include "runtimes/lua/lua_layout.h"
#include "runtimes/names.h"

/* A frame in the trace: an entry of the table of names, and a line. */
enum { LUA_LINE_BITS = 22 };
_Static_assert(LUA_LINE_BITS + NAMES_BITS < RUNTIME_SPLICED_BITS, "fits a slot");

/* All that found no room have one entry, the first. */
enum { LUA_SLOT_FULL = 1 };

/* A function that is running: its Proto, which is alive, and the instruction at work. */
struct lua_place {
    uintptr_t proto; /* 0: there is none */
    size_t pc;
};

/* The place that `saved`, the instruction behind it, stands for. */
struct lua_place lua_names_place(const struct lua_layout *l, uintptr_t proto, uintptr_t saved);

/* The opcode of the instruction at work. */
unsigned lua_names_opcode(const struct lua_layout *l, const struct lua_place *place);

/* The slot of a function of Lua that a place has called, or nobody knows who. */
uintptr_t lua_names_slot(const struct lua_layout *l, const struct lua_place *place,
                         const struct lua_place *caller);

/* The slot of a function of C; 0: its caller has no name for it. */
uintptr_t lua_names_slot_of_c(const struct lua_layout *l, const struct lua_place *caller);

/* A function by its chunk and the line where its text begins, 0: the chunk itself; `name` gives
 * what its caller calls it, or NULL; `remark`, a literal, stands behind, or is NULL. */
struct lua_named {
    const char *source; /* as Lua has it; NULL: it is not known */
    unsigned line;
    const char *(*name)(const struct lua_named *f);
    const char *remark;
};

/* The slots of such a function at a line, and of a function of C. */
uintptr_t lua_names_slot_of(const struct lua_named *f, uintptr_t line);
uintptr_t lua_names_slot_called(const char *name);

/* See record/runtime.h. */
size_t lua_names_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                        size_t max);

#endif
