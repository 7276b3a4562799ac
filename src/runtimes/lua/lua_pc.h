/* lua_pc.h: finds the instruction that luaV_execute is running. luaV_execute saves the pc before an
 * instruction that may call or fail. But 5.1 and 5.4 do not save it before they make a table, so
 * the saved pc is that of an earlier instruction. The true pc is then in a callee-saved register of
 * luaV_execute. The functions that it called may have pushed that register: the unwind tables say
 * where. The registers that nobody pushed were noted at the call of Lua's allocator. */
#ifndef LUA_PC_H
#define LUA_PC_H

#include "platform/cfi.h"
#include "runtimes/lua/lua_calls.h"
#include "runtimes/lua/lua_layout.h"

/* Where a function saved the callee-saved registers, keyed by a return address into it. */
struct lua_saves {
    uintptr_t key;
    int16_t from_cfa[LUA_KEPT]; /* bytes; 0: not changed; or LUA_SAVES_UNKNOWN */
};

/* The ways to find the pc, keyed by a return address into luaV_execute. One bit for each register
 * that may point after the instruction, then for each that may point to it, then for each of the
 * frame's first words that may point after it. */
struct lua_site {
    uintptr_t key;
    uint64_t ways;
};

/* A domain's cache; valid when zeroed. */
enum { LUA_SAVES_BITS = 8, LUA_SITES_BITS = 6 };
struct lua_pc {
    struct lua_saves saves[1 << LUA_SAVES_BITS];
    struct lua_site sites[1 << LUA_SITES_BITS];
    struct cfi_machine machine;
};

/* Returns the corrected `saved` of a Lua function that the luaV_execute frame at point `eval` runs,
 * while the function at point `born` makes the allocator call that `note` describes. Returns
 * `saved` itself if it is right, or if nothing better is known. */
uintptr_t lua_pc_of(struct lua_pc *pc, const struct lua_layout *l,
                    const struct runtime_splice *native, size_t eval, size_t born,
                    const struct lua_alloc_note *note, uintptr_t proto, uintptr_t saved);

#endif
