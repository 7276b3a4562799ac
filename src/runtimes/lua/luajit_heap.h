/* luajit_heap.h: what LuaJIT allocates, which takes its memory from mmap by an allocator of its
 * own: each global_State calls that by a pointer, which leads here instead, from the first call
 * into one of its lua_States on. Its blocks are blocks like any other. Of a state that was given an
 * allocator by the program, the blocks are malloc's, or nobody's. */
#ifndef LUAJIT_HEAP_H
#define LUAJIT_HEAP_H

#include "runtimes/lua/luajit_layout.h"

/* A call into a lua_State begins; it is closed by the next one. */
void luajit_heap_enter(const lua_runtime *r, uintptr_t state);
void luajit_heap_close(uintptr_t state);

/* In a program that runs already: the states that its only thread is in. Those of other threads are
 * met by the next calls into them. */
void luajit_heap_begin_late(const lua_runtime *r);

/* All get back their allocators when they call them next. From now on blocks die unseen, and must
 * not be looked at. */
void luajit_heap_end(void);

/* Only LuaJIT's blocks are asked about: Lua says it when it allocates them. Nobody else is in the
 * thread's state. */
bool luajit_heap_may_look(void);

/* The global_State that the thread was in last; 0: none that is still there. And the layout of all;
 * NULL: none was met. */
uintptr_t luajit_heap_global(void);
const struct luajit_layout *luajit_heap_layout(void);

/* The block is an object by now: its type, as in LUA_TYPES of lua_frames.h; -1: it is none. */
int luajit_heap_type(const void *block, size_t bytes);

#endif
