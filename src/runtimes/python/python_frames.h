/* python_frames.h: the calling thread's stack with Python's frames in it: see record/runtime.h,
 * `splice`. */
#ifndef PYTHON_FRAMES_H
#define PYTHON_FRAMES_H

#include "runtimes/python/python_layout.h"

/* What a domain keeps, for stacks of up to `depth` frames. */
typedef struct python_frames python_frames;
size_t python_frames_size(size_t depth);
void python_frames_init(python_frames *f, size_t depth);
void python_frames_forget(python_frames *f);

struct runtime_stack python_frames_splice(python_frames *f, const python_runtime *r, char *thread,
                                          const struct runtime_splice *native);

/* Whether what hangs at a thread can be frames of Python: looks without trusting any address. */
bool python_frames_fit(const python_runtime *r, const char *thread);

#endif
