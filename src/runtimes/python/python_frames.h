/* python_frames.h: puts Python frames into the calling thread's native stack: see record/runtime.h,
 * `splice`. */
#ifndef PYTHON_FRAMES_H
#define PYTHON_FRAMES_H

#include "runtimes/python/python_layout.h"

/* The state of a domain, for stacks of up to `depth` frames. */
typedef struct python_frames python_frames;
size_t python_frames_size(size_t depth);
void python_frames_init(python_frames *f, size_t depth);
void python_frames_forget(python_frames *f);

struct runtime_stack python_frames_splice(python_frames *f, const python_runtime *r, char *thread,
                                          const struct runtime_splice *native);

/* Returns whether a thread's frames look like Python frames. It trusts no address. */
bool python_frames_fit(const python_runtime *r, const char *thread);

#endif
