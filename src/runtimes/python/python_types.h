/* python_types.h: of which type a block is that may be an object of Python's. */
#ifndef PYTHON_TYPES_H
#define PYTHON_TYPES_H

#include "runtimes/python/python_layout.h"

/* What a domain remembers; legal when zeroed. */
typedef struct python_types python_types;
size_t python_types_size(void);

/* A block of `bytes` is new, and nobody has written to it: what might look like an object from an
 * earlier life is wiped. */
void python_types_forget_life(void *block, size_t bytes);

/* See record/runtime.h, `name_object`. Nobody else may be at objects meanwhile. */
bool python_types_name(python_types *t, const python_runtime *r, uint64_t *code,
                       const struct runtime_object *object);

/* A type dies. */
void python_types_type_dies(uintptr_t type);

#endif
