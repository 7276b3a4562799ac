/* lua_phases.h: marks garbage collections of Lua and LuaJIT in the trace.
 *
 * Lua reports its collections to nobody, but its global_State contains the collector's phase. The
 * allocator wrapper (lua_stubs.S) reads the phase if one of the callee-saved registers contains the
 * global_State that the thread entered last: Lua keeps it there because it uses it after the
 * allocator returns. So we only read the state that is allocating, which cannot be one that another
 * thread has closed. If no register contains it, no marks are made. */
#ifndef LUA_PHASES_H
#define LUA_PHASES_H

#include "runtimes/lua/lua_calls.h"

/* LUA_UNTOLD: a collection of which nothing is reported until it ends. */
enum lua_phase { LUA_RESTS, LUA_MARKS, LUA_SWEEPS, LUA_FINALIZES, LUA_UNTOLD };

/* Reports the phase of a state whose last reported phase was `told`: makes a mark if it differs.
 * Returns the new reported phase. */
enum lua_phase lua_phases_tell(enum lua_phase told, enum lua_phase phase);

/* Note that a thread enters a state of Lua 5.1 to 5.4, or closes it. */
void lua_phases_enter_other(struct lua_calls *calls, const struct lua_layout *l, uintptr_t global);
static inline void lua_phases_enter(struct lua_calls *calls, const struct lua_layout *l,
                                    uintptr_t state) {
    const uintptr_t global = *(const uintptr_t *)(state + l->state_global);
    if (__builtin_expect(global != calls->global, 0))
        lua_phases_enter_other(calls, l, global);
}
void lua_phases_close(struct lua_calls *calls);

/* Stands for the global_State in a thread that has entered none. No other pointer equals it. */
extern const uint8_t lua_phases_none[] __attribute__((visibility("hidden")));

#endif
