/* lua_pc.h: the instruction at which luaV_execute is. It writes that down where an instruction may
 * call or fail, but 5.1 and 5.4 do not before they make a table: what is written is an earlier one.
 * Then the right one is in a register of luaV_execute's, which the functions that it has called
 * have kept: the tables for unwinding say where, and the rest was noted where Lua calls its
 * allocator. */
#ifndef LUA_PC_H
#define LUA_PC_H

#include "platform/cfi.h"
#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* What a function has done with the registers that it keeps, by a return address into it. */
struct lua_saves {
    uintptr_t key;
    int16_t from_cfa[LUA_KEPT]; /* 0: they are as they were; LUA_SAVES_UNKNOWN */
};

/* How the pc may be told, by a return address into luaV_execute: a bit for each register that
 * points behind the instruction, then for each that points to it, then for each of the first words
 * of its frame that does the former. */
struct lua_site {
    uintptr_t key;
    uint64_t ways;
};

/* What a domain remembers; legal when zeroed. */
enum { LUA_SAVES_BITS = 8, LUA_SITES_BITS = 6 };
struct lua_pc {
    struct lua_saves saves[1 << LUA_SAVES_BITS];
    struct lua_site sites[1 << LUA_SITES_BITS];
    struct cfi_machine machine;
};

/* What `saved` is to be, of a function of Lua that the frame of luaV_execute at point `eval` runs,
 * while the function at point `born` calls the allocator as was noted. If nothing is known, or it
 * was right, gives it back. */
uintptr_t lua_pc_of(struct lua_pc *pc, const struct lua_layout *l,
                    const struct runtime_splice *native, size_t eval, size_t born,
                    const struct lua_birth *birth, uintptr_t proto, uintptr_t saved);

#endif
