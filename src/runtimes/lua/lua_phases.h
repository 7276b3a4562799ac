/* lua_phases.h: collections of Lua's and of LuaJIT's as marks in the trace.
 *
 * Lua tells nobody that it collects. Which phase its collector is in stands in its global_State,
 * which is looked at where its allocator is called: the function in front of it (lua_stubs.S) does
 * so if a register that functions keep has the global_State that the thread has entered last, as
 * Lua goes on with that when the allocator is back. So nothing is read but of the state that
 * allocates just now, whoever has closed another one. Where no register has it, there are no marks.
 */
#ifndef LUA_PHASES_H
#define LUA_PHASES_H

#include "runtimes/lua/lua_calls.h"

/* LUA_UNTOLD: a collection of which nothing is said, until it ends. */
enum lua_phase { LUA_RESTS, LUA_MARKS, LUA_SWEEPS, LUA_FINALIZES, LUA_UNTOLD };

/* The phase of a state that was told to be in `told`: makes a mark if it is another one. Gives what
 * is to be taken as told from now on. */
enum lua_phase lua_phases_tell(enum lua_phase told, enum lua_phase phase);

/* A thread enters a state of 5.1 to 5.4, or closes it. */
void lua_phases_enter_other(struct lua_calls *calls, const struct lua_layout *l, uintptr_t global);
static inline void lua_phases_enter(struct lua_calls *calls, const struct lua_layout *l,
                                    uintptr_t state) {
    const uintptr_t global = *(const uintptr_t *)(state + l->state_global);
    if (__builtin_expect(global != calls->global, 0))
        lua_phases_enter_other(calls, l, global);
}
void lua_phases_close(struct lua_calls *calls);

/* What a thread has for a global_State that has entered none: no other pointer is that. */
extern const uint8_t lua_phases_none[] __attribute__((visibility("hidden")));

#endif
