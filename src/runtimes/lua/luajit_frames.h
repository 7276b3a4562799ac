/* luajit_frames.h: puts LuaJIT frames into the calling thread's native stack: see record/runtime.h,
 * `splice`. */
#ifndef LUAJIT_FRAMES_H
#define LUAJIT_FRAMES_H

#include "runtimes/lua/luajit_layout.h"

/* The state of a domain, for stacks of up to `depth` frames. */
typedef struct luajit_frames luajit_frames;
size_t luajit_frames_size(size_t depth);
void luajit_frames_init(luajit_frames *f, size_t depth);
void luajit_frames_forget(luajit_frames *f);

/* `global` is the global_State that the thread was in last, if it still exists; else 0. */
struct runtime_stack luajit_frames_splice(luajit_frames *f, const lua_runtime *r,
                                          const struct luajit_layout *layout, uintptr_t global,
                                          const struct runtime_splice *native);

#endif
