/* luajit_heap.h: records what LuaJIT allocates. LuaJIT has an allocator of its own, which takes
 * memory from mmap. Each global_State calls it through a pointer. From the first call into one of
 * its lua_States on, that pointer leads to a wrapper here, so that its blocks are recorded like
 * malloc's. If the program gave a state an allocator of its own, the state's blocks are recorded as
 * malloc's, if they come from there. */
#ifndef LUAJIT_HEAP_H
#define LUAJIT_HEAP_H

#include "runtimes/lua/luajit_layout.h"

/* Note that a call into a lua_State begins, and that the next call closes it. */
void luajit_heap_enter(const lua_runtime *r, uintptr_t state);
void luajit_heap_close(uintptr_t state);

/* Adopts the states that the only thread of a running program is in. States of other threads are
 * adopted at the next calls into them. */
void luajit_heap_begin_late(const lua_runtime *r);

/* The recording ends. Each state gets its allocator back when it calls the wrapper next. From now
 * on blocks are freed unnoticed, so they must not be read. */
void luajit_heap_end(void);

/* Returns whether blocks may be read: only LuaJIT's blocks are asked about, at an allocation, when
 * no other thread is in this thread's state. */
bool luajit_heap_may_look(void);

/* luajit_heap_global returns the global_State that the thread was in last; 0: there is none, or it
 * no longer exists. luajit_heap_layout returns the layout of all states; NULL: no state was met. */
uintptr_t luajit_heap_global(void);
const struct luajit_layout *luajit_heap_layout(void);

/* Returns the type of the object in a block, one of LUA_TYPES in lua_frames.h; -1: it is not an
 * object. */
int luajit_heap_type(const void *block, size_t bytes);

#endif
